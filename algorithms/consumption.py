"""Consumption classes: the consumption channels that a worm may reserve at a stop."""

import re
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from .compiled import LINEAR, compiled_from
from .errors import WormcastError
from .phrases import count
from .routing import Routes, last_option, walk
from .topologies.base import Topology
from .topologies.direct import GRIDS, direction_name, mesh_directions
from .worms import Worms

__all__ = ["MOST_CONSUMPTION", "NO_CLASS", "ClassMap", "ConsumptionClasses", "missing_directions",
           "require_any_channel", "without_default"]

DIRECTION = re.compile("(up|down|(0|[1-9][0-9]?)[+-])([.](0|[1-9][0-9]?))?")

MOST_CONSUMPTION = 16
"""Largest number of consumption channels of an ejection port."""

NO_CLASS = -1
"""Value in place of a class, for a hop that belongs to no directed network of the map."""


class ClassMap(Protocol):
    """Map from hops to consumption classes: `ConsumptionClasses`, or an object with the same methods."""

    @property
    def by(self) -> str:
        """Hop that decides the class at a stop: ``"next"``, by which the worm continues, or ``"last"``, by which it
        arrives."""

    def __len__(self) -> int: ...

    def of_channels(self, topology: Topology, vc_classes: int = 1) -> npt.NDArray[np.int8]:
        """Consumption class of each hop, int8 [links * vc_classes]; ``NO_CLASS`` for a hop without a class."""

    def at_stop(self, last: npt.ArrayLike, following: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Consumption class that a worm reserves at a stop, from the classes of the hops by which the worm arrives and
        continues."""


@dataclass(frozen=True)
class ConsumptionClasses:
    """A map from directed networks to classes of consumption channels ([Boppana98], section 3.2).

    At a stop on its way a worm reserves a channel of one consumption class. With ``by="last"`` the hop by which the
    worm arrives decides the consumption class, with ``by="next"`` the hop by which it continues. With ``by="next"``, if
    the hop by which the worm continues has no class, the hop by which it arrives decides. At its last destination a
    worm may reserve any free consumption channel.

    Parameters
    ----------
    networks : tuple of tuple of str
        Directions of each class: ``"0+"`` and ``"0-"`` are steps up and down dimension 0, and so on; ``"up"`` and
        ``"down"`` are hops to higher and to lower Hamiltonian labels. Each direction occurs at most once. If the map
        has no networks, every worm may reserve any consumption channel.
    by : "next" or "last"
        The hop that decides the class at a stop: the hop after the stop, or the hop before it.

    Raises
    ------
    WormcastError
        A direction is not valid or repeated.
    """

    networks: tuple[tuple[str, ...], ...] = ()
    by: Literal["next", "last"] = "next"

    def __post_init__(self) -> None:
        named = [direction for network in self.networks for direction in network]
        typed = without_default(self)
        for direction in named:
            if not DIRECTION.fullmatch(direction):
                raise WormcastError(
                    f"classes: {typed} is not valid: {direction!r} is not a direction. Allowed: 0+ and 0- (the first "
                    "coordinate of nodes rises and falls), 1+ and so on; or up and down (labels rise and fall)"
                    f"{'; on one class of virtual channels as 0+.1:last' * ('.' in direction)}."
                )
        whole = {direction for direction in named if not _vc_of(direction)}
        hops = {_hop_of(direction) for direction in named}
        twice = any(_vc_of(direction) and _hop_of(direction) in whole for direction in named)
        if twice or len(set(named)) < len(named) or any(not network for network in self.networks):
            again = [one for one in named if named.count(one) > 1] or [
                _hop_of(one) for one in named if _vc_of(one) and _hop_of(one) in whole]
            reason = f"direction {again[0]} occurs twice" if again else "a class has no direction"
            raise WormcastError(f"classes: {typed} is not valid: {reason}. Allowed: each direction once, and at least "
                                "one in each class.")
        if {"up", "down"} & hops and not {"up", "down"} >= hops:
            raise WormcastError(
                f"classes: {typed} is not valid: directions of labels (up, down) and of dimensions are mixed. Allowed: "
                "directions of labels, or of dimensions."
            )
        if self.by not in ("next", "last"):
            raise WormcastError(f"classes: {typed} is not valid: {self.by!r} is not a hop. Allowed: next or "
                                "last after the colon, at the end of all classes.")
        if self.by == "next" and self.by_vc:
            raise WormcastError(f"classes: {typed} is not valid: the virtual channel of the next hop is not known in "
                                "advance. Allowed: the virtual channel of the last hop, with :last at the end.")

    def __len__(self) -> int:
        return len(self.networks)

    def __str__(self) -> str:
        """Write the map as on the command line: ``0+/0-:next``."""
        return f"{'/'.join(','.join(network) for network in self.networks)}:{self.by}"

    @classmethod
    def parse(cls, text: str) -> "ConsumptionClasses":
        """Read a map, as ``"1+,0+/1-/0-:last"``: classes separated by ``/``, directions by commas, then the hop that
        decides."""
        networks, colon, by = text.partition(":")
        return cls(
            tuple(tuple(network.split(",")) for network in networks.split("/")) if networks else (),
            by if colon else "next",  # type: ignore[arg-type]
        )

    @property
    def channels(self) -> int:
        """Number of consumption channels per node with which each class has its own channel; at least 1."""
        return max(1, len(self))

    @property
    def by_vc(self) -> bool:
        """The map distinguishes classes of virtual channels."""
        return any(_vc_of(direction) for network in self.networks for direction in network)

    def of_direction(self, direction: str, vc_class: int | None = None) -> int:
        """Return the class of a hop in this direction on virtual channels of class ``vc_class``, or ``NO_CLASS``."""
        names = {direction, f"{direction}.{vc_class}"}
        return next((k for k, network in enumerate(self.networks) if names.intersection(network)), NO_CLASS)

    def at_stop(self, last: npt.ArrayLike, following: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the consumption class that each worm reserves at a stop.

        Parameters
        ----------
        last, following : int8 arrays
            Classes of the hops by which the worms arrive and continue. ``NO_CLASS``: the hop has no class, or is
            unknown.
        """
        if self.by == "last":
            return np.asarray(last, np.int8)
        return np.where(np.equal(following, NO_CLASS), last, following).astype(np.int8)

    def of_channels(self, topology: Topology, vc_classes: int = 1) -> npt.NDArray[np.int8]:
        """Return the consumption class of each hop of a topology, int8 [links * vc_classes]; ``NO_CLASS`` for a hop
        without a class.

        Parameters
        ----------
        vc_classes : int
            Classes of virtual channels of each link; a hop is ``link * vc_classes + class``.

        Raises
        ------
        WormcastError
            The topology has no such directions: it is no mesh, torus or ring, has fewer dimensions, or has no labels
            for ``up`` and ``down``. Another reason: the map names a class of virtual channels that the links do not
            have.
        """
        classes = np.full((len(topology.links), vc_classes), NO_CLASS, np.int8)
        for k, network in enumerate(self.networks):
            for direction in network:
                runs, vc = _runs(topology, _hop_of(direction)), _vc_of(direction)
                if vc and int(vc) >= vc_classes:
                    hop = _hop_of(direction)
                    raise WormcastError(f"classes: {direction!r} is not valid: links of {topology.name} have "
                                        f"{count(vc_classes, 'class')} of virtual channels. Allowed: {hop}, "
                                        f"{', '.join(f'{hop}.{one}' for one in range(vc_classes))}.")
                classes[runs, int(vc) if vc else slice(None)] = k
        return classes.reshape(-1)

    def of_visits(self, routes: Routes, worms: Worms) -> npt.NDArray[np.int8]:
        """Return the consumption class that each worm reserves at each of its destinations, int8 [all destinations].

        The class is ``NO_CLASS`` at a worm's last destination, where any channel is allowed, and at stops without a
        class.

        Raises
        ------
        WormcastError
            The routes do not reach a destination; or as `of_channels`.
        """
        topology = routes.topology
        routes.hops(worms)  # this call refuses worms that do not reach their destinations
        last, following = _hops_of_visits(
            self.of_channels(topology, len(routes.classes)),
            routes.arrays,
            topology.injections[worms.source, 0],
            routes.phase_of_node[worms.source],
            worms.destination_offsets,
            worms.destinations,
        )
        return self.at_stop(last, following)


def without_default(classes: ClassMap) -> str:
    """Return a map as text for refusals, without ``:next``, which is the default on the command line."""
    return str(classes).removesuffix(":next")


def require_any_channel(classes: ClassMap | None, names: str) -> None:
    """Refuse consumption classes for schemes whose worms replicate in switches."""
    if classes is not None and len(classes):
        raise WormcastError(f"classes: {without_default(classes)} is not valid: worms of {names} reserve any "
                            'consumption channel where a branch ends. Allowed: "", no classes.')


def missing_directions(classes: ConsumptionClasses, topology: Topology) -> list[str]:
    """List the directions that a class map lacks: directions of labels if the map has one of them, else directions of
    the network's dimensions."""
    has = {_hop_of(direction) for network in classes.networks for direction in network}
    every = ["up", "down"] if has & {"up", "down"} else [
        direction_name(*step) for step in mesh_directions(topology.shape)] if topology.kind in GRIDS else []
    return [direction for direction in every if direction not in has]


def _hop_of(direction: str) -> str:
    """Return a direction without its class of virtual channels: ``0+`` for ``0+.1``."""
    return direction.partition(".")[0]


def _vc_of(direction: str) -> str:
    """Return the class of virtual channels of a direction: ``1`` for ``0+.1``; empty if the direction has no class."""
    return direction.partition(".")[2]


def _runs(topology: Topology, hop: str) -> npt.NDArray[np.bool_]:
    """Return the links in a direction, bool [links]."""
    start, out, end, _ = topology.links.T
    if hop in ("up", "down"):
        if topology.labels is None:
            raise WormcastError(f"classes: {hop!r} is not valid: {topology.name} has no Hamiltonian labels. Allowed: "
                                "directions of dimensions on meshes, tori and rings (0+, 0-, 1+ and so on), and \"\".")
        labels = topology.hamiltonian_labels
        return np.equal(labels[end] > labels[start], hop == "up")
    if topology.kind not in GRIDS:
        labelled = "" if topology.labels is None else "up, down, "
        raise WormcastError(f"classes: {hop!r} is not valid: {topology.name} has no directions of dimensions, which "
                            f"meshes, tori and rings have. Allowed: {labelled}\"\".")
    dimension, sign = int(hop[:-1]), 1 if hop[-1] == "+" else -1
    if dimension >= len(topology.shape):
        allowed = ", ".join(f"{one}{sign}" for one in range(len(topology.shape)) for sign in "+-")
        raise WormcastError(f"classes: {hop!r} is not a direction of {topology.name}. Allowed: {allowed}.")
    steps = mesh_directions(topology.shape)
    if (dimension, sign) not in steps:
        return np.zeros(len(topology.links), bool)
    return np.equal(out, steps.index((dimension, sign)))


@compiled_from(LINEAR)
def _hops_of_visits(by_channel, arrays, starts, phases, destination_offsets, destinations):
    """Return the classes of the hops by which worms reach and leave each destination; ``NO_CLASS`` at a worm's last
    destination.

    If routing has several candidates, the hop by which a worm leaves is the last candidate. The hop by which a worm
    arrives is the last hop of the preferred path.
    """
    options, vc_classes, link_of_port, switch_of_link, phase_of_link, _ = arrays
    last = np.full(len(destinations), NO_CLASS, np.int8)
    following = np.full(len(destinations), NO_CLASS, np.int8)
    path = np.empty(options.shape[0] * options.shape[1], np.int32)
    for worm in range(len(starts)):
        switch, phase = starts[worm], phases[worm]
        taken = np.int8(NO_CLASS)  # class of the hop by which the worm has arrived
        first, end = destination_offsets[worm], destination_offsets[worm + 1]
        waiting = first  # first destination whose next hop is not known yet
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
