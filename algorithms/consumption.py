"""Consumption classes: which consumption channel a worm may reserve at a destination on its way."""

import re
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from .compiled import LINEAR, compiled_from
from .errors import WormcastError
from .routing import Routes, last_option, walk
from .topologies.base import Topology
from .topologies.direct import GRIDS, mesh_directions
from .worms import Worms

__all__ = ["NO_CLASS", "ClassMap", "ConsumptionClasses", "require_any_channel"]

DIRECTION = re.compile("(up|down|(0|[1-9][0-9]?)[+-])([.](0|[1-9][0-9]?))?")

NO_CLASS = -1
"""Class of a hop that belongs to no directed network."""


class ClassMap(Protocol):
    """What says which class of consumption channels a worm takes: `ConsumptionClasses`, or anything else with these."""

    @property
    def by(self) -> str:
        """Which hop decides: ``"next"`` or ``"last"``."""

    def __len__(self) -> int: ...

    def of_channels(self, topology: Topology, vc_classes: int = 1) -> npt.NDArray[np.int8]:
        """Class of each hop, int8 [links * vc_classes], ``NO_CLASS`` where it has none."""

    def at_stop(self, last: npt.ArrayLike, following: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Class that a worm takes at a destination on its way, by the classes of its last and its next hop."""


@dataclass(frozen=True)
class ConsumptionClasses:
    """A map from directed networks to classes of consumption channels ([Boppana98], section 3.2).

    A worm that stops at a destination on its way reserves a channel of the class of a hop: its next one
    (``by="next"``, Lemma 2; where the next hop has no class, the last one) or its last one
    (``by="last"``). At its last destination a worm may take any free channel.

    Parameters
    ----------
    networks : tuple of tuple of str
        For each class the directions of its hops: ``"0+"`` and ``"0-"`` are steps up and down dimension 0, and
        so on; ``"up"`` and ``"down"`` are hops to higher and to lower Hamiltonian labels. No direction twice.
        Empty where every worm may take any channel.
    by : "next" or "last"

    Raises
    ------
    WormcastError
        A direction is given twice, or is none.
    """

    networks: tuple[tuple[str, ...], ...] = ()
    by: Literal["next", "last"] = "next"

    def __post_init__(self) -> None:
        named = [direction for network in self.networks for direction in network]
        for direction in named:
            if not DIRECTION.fullmatch(direction):
                raise WormcastError(
                    f"classes: {direction!r} is no direction, allowed are 0+, 0-, 1+, ... and up, down, and each of "
                    "them on one class of virtual channels, as 0+.1"
                )
        whole = {direction for direction in named if not _vc_of(direction)}
        hops = {_hop_of(direction) for direction in named}
        twice = any(_vc_of(direction) and _hop_of(direction) in whole for direction in named)
        if twice or len(set(named)) < len(named) or any(not network for network in self.networks):
            raise WormcastError(f"classes: {self} must name each direction once, and at least one in each class")
        if {"up", "down"} & hops and not {"up", "down"} >= hops:
            raise WormcastError(
                f"classes: {self} names labels and dimensions, a hop would be of both; allowed is one or the other"
            )
        if self.by not in ("next", "last"):
            raise WormcastError(f"classes: by {self.by!r} is given, allowed are next, last")
        if self.by == "next" and self.by_vc:
            raise WormcastError(f"classes: {self} tells virtual channels of the next hop apart, which are not known "
                                "before; allowed are those of the last hop, :last")

    def __len__(self) -> int:
        return len(self.networks)

    def __str__(self) -> str:
        """Write the map as the command line takes it: ``0+/0-:next``."""
        return "/".join(",".join(network) for network in self.networks) + f":{self.by}"

    @classmethod
    def parse(cls, text: str) -> "ConsumptionClasses":
        """Read ``"1+,0+/1-/0-:last"``: classes apart by ``/``, directions by commas, then the rule."""
        networks, colon, by = text.partition(":")
        return cls(
            tuple(tuple(network.split(",")) for network in networks.split("/")) if networks else (),
            by if colon else "next",  # type: ignore[arg-type]
        )

    @property
    def channels(self) -> int:
        """Number of consumption channels at each node that give each class one of its own; at least one."""
        return max(1, len(self))

    @property
    def by_vc(self) -> bool:
        """Whether classes of virtual channels are told apart."""
        return any(_vc_of(direction) for network in self.networks for direction in network)

    def of_direction(self, direction: str, vc_class: int | None = None) -> int:
        """Class of a hop in this direction, on virtual channels of this class, or ``NO_CLASS``."""
        names = {direction, f"{direction}.{vc_class}"}
        return next((k for k, network in enumerate(self.networks) if names.intersection(network)), NO_CLASS)

    def at_stop(self, last: npt.ArrayLike, following: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Class that a worm takes at a destination on its way: the rule itself, of as many worms as are given.

        Parameters
        ----------
        last, following : int8 arrays
            Classes of the hops by which worms came there, and by which they go on; ``NO_CLASS`` for a hop that has
            none, or is not known.
        """
        if self.by == "last":
            return np.asarray(last, np.int8)
        return np.where(np.equal(following, NO_CLASS), last, following).astype(np.int8)

    def of_channels(self, topology: Topology, vc_classes: int = 1) -> npt.NDArray[np.int8]:
        """Class of each hop of a topology, int8 [links * vc_classes], ``NO_CLASS`` where it has none.

        Parameters
        ----------
        vc_classes : int
            Classes of virtual channels of each link; a hop is ``link * vc_classes + class``.

        Raises
        ------
        WormcastError
            The topology has no such directions: it is no mesh, torus or ring, or not of so many dimensions; or it has
            no labels for ``up`` and ``down``. There is no such class of virtual channels.
        """
        classes = np.full((len(topology.links), vc_classes), NO_CLASS, np.int8)
        for k, network in enumerate(self.networks):
            for direction in network:
                runs, vc = _runs(topology, _hop_of(direction)), _vc_of(direction)
                if vc and int(vc) >= vc_classes:
                    raise WormcastError(f"classes: {direction!r} is given where links of {topology.name} have "
                                        f"{vc_classes} classes of virtual channels: allowed are 0 to {vc_classes - 1}")
                classes[runs, int(vc) if vc else slice(None)] = k
        return classes.reshape(-1)

    def of_visits(self, routes: Routes, worms: Worms) -> npt.NDArray[np.int8]:
        """Class that each worm takes at each of its destinations, int8 [all destinations].

        ``NO_CLASS`` at its last one, where any channel will do, and where the rule gives none.

        Raises
        ------
        WormcastError
            The routes do not lead there; or as `of_channels`.
        """
        topology = routes.topology
        routes.hops(worms)  # refuses those that do not arrive
        last, following = _hops_of_visits(
            self.of_channels(topology, len(routes.classes)),
            routes.arrays,
            topology.injections[worms.source, 0],
            routes.phase_of_node[worms.source],
            worms.destination_offsets,
            worms.destinations,
        )
        return self.at_stop(last, following)


def require_any_channel(classes: ClassMap | None, names: str) -> None:
    """Refuse classes for worms that are copied on their way, of schemes of these names.

    Raises
    ------
    WormcastError
        There are some.
    """
    if classes is not None and len(classes):
        raise WormcastError(f"classes: {classes} is given, worms of {names} take any consumption channel where a copy "
                            'ends: allowed is ""')


def _hop_of(direction: str) -> str:
    """The direction itself, without the class of virtual channels."""
    return direction.partition(".")[0]


def _vc_of(direction: str) -> str:
    """The class of virtual channels of a direction; empty where it is any."""
    return direction.partition(".")[2]


def _runs(topology: Topology, hop: str) -> npt.NDArray[np.bool_]:
    """Links that run in a direction, bool [links]."""
    start, out, end, _ = topology.links.T
    if hop in ("up", "down"):
        labels = topology.hamiltonian_labels
        return np.equal(labels[end] > labels[start], hop == "up")
    if topology.kind not in GRIDS:
        raise WormcastError(f"classes: {hop!r} is given for {topology.name}, "
                            "only meshes, tori and rings have directions of dimensions")
    dimension, sign = int(hop[:-1]), 1 if hop[-1] == "+" else -1
    if dimension >= len(topology.shape):
        raise WormcastError(f"classes: {hop!r} is no direction of {topology.name}, "
                            f"dimensions go from 0 to {len(topology.shape) - 1}")
    steps = mesh_directions(topology.shape)
    if (dimension, sign) not in steps:
        return np.zeros(len(topology.links), bool)
    return np.equal(out, steps.index((dimension, sign)))


@compiled_from(LINEAR)
def _hops_of_visits(by_channel, arrays, starts, phases, destination_offsets, destinations):
    """Classes of the last and the next hop at each destination; none at a worm's last one.

    Of several ways the next hop is that of the last alternative, the last one that of the way that is preferred.
    """
    options, vc_classes, link_of_port, switch_of_link, phase_of_link, _ = arrays
    last = np.full(len(destinations), NO_CLASS, np.int8)
    following = np.full(len(destinations), NO_CLASS, np.int8)
    path = np.empty(options.shape[0] * options.shape[1], np.int32)
    for worm in range(len(starts)):
        switch, phase = starts[worm], phases[worm]
        taken = np.int8(NO_CLASS)  # class of the hop that was taken last
        first, end = destination_offsets[worm], destination_offsets[worm + 1]
        waiting = first  # the first destination whose next hop has not been seen
        for visit in range(first, end):
            node = destinations[visit]
            hops = walk(arrays, switch, phase, node, path)
            if hops > 0:
                code = last_option(options, phase, switch, node)
                asked = link_of_port[switch, code // vc_classes] * vc_classes + code % vc_classes
                following[waiting:visit] = by_channel[asked]
                waiting = visit
                taken = by_channel[path[hops - 1]]
                link = path[hops - 1] // vc_classes
                switch, phase = switch_of_link[link], phase_of_link[link]
            if visit + 1 < end:
                last[visit] = taken
    return last, following
