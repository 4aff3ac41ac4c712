"""Relations that spread worms over parallel links between two switches."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from .base import ChangedRelation, Choices, Relation, Routes

__all__ = ["PARALLEL", "spread_over_parallel_links"]

Ports = npt.NDArray[np.int64]


class _Spread(ChangedRelation):
    """Wrapper of another relation: spreads its worms over parallel links.

    Parameters
    ----------
    relation : Relation
    how : str
        One of `PARALLEL`.
    """

    def __init__(self, relation: Relation, how: str) -> None:
        super().__init__(relation, f":parallel={how}", f"over parallel links by {how}")
        self.how = how

    def choices(self, topology: Topology) -> Choices:
        """Return the candidates of `self.relation`, spread over parallel links.

        Refuse a network without parallel links, and a relation with several candidates.
        """
        routes = self.relation.on(topology)
        if not routes.deterministic:
            raise WormcastError(f"relation {self.name} is not valid: {self.relation.name} has several candidates. "
                                "Allowed: relations with one candidate.")
        mates, sizes = _parallel_ports(routes)
        if sizes.max(initial=1) == 1:
            raise WormcastError(f"relation {self.name} is not valid: {topology.name} has no parallel links. Allowed: "
                                f"{self.relation.name}.")
        return PARALLEL[self.how](routes, mates, sizes)


def _by_destination(routes: Routes, mates: Ports, sizes: Ports) -> Choices:
    """All worms to a node take the same link from one switch to the next.

    So worms from one node to another have one path. With one virtual channel and one consumption channel, worms from
    one node to another arrive in the order of sending.
    """
    numbers = np.arange(routes.topology.nodes)[:, None]
    options = _spread(routes.options, len(routes.classes), mates, sizes, numbers)
    return Choices(options, routes.phase_of_link, routes.classes, routes.together, routes.phase_of_node)


def _by_turns(routes: Routes, mates: Ports, sizes: Ports) -> Choices:
    """Each input of a switch uses the parallel links to the next switch in turn. Worms from one node to another may
    overtake each other."""
    turns = range(int(sizes.max()))
    classes = len(routes.classes)
    options = np.concatenate([_spread(routes.options, classes, mates, sizes, turn) for turn in turns], axis=-1)
    ports = np.where(routes.options < 0, 0, routes.options // classes)
    count = sizes[np.arange(routes.topology.switches)[:, None, None], ports]
    options[np.arange(len(turns)) >= count] = -1
    return Choices(options, routes.phase_of_link, routes.classes, routes.together, routes.phase_of_node, in_turn=True)


def _by_input(routes: Routes, mates: Ports, sizes: Ports) -> Choices:
    """All worms that arrive at a switch by the same input take the same link to the next switch.

    So worms from one node to another have one path. With one virtual channel and one consumption channel, worms from
    one node to another arrive in the order of sending. The inputs of a switch are its nodes, then the links that end
    there, sorted by the switch where they begin. The inputs that may continue to a next switch are assigned in turn to
    the parallel links to that switch. Each input of a switch is a phase of its own.
    """
    topology, count = routes.topology, len(routes.classes)
    nodes_at, links_at = topology.injections[:, 0], topology.links[:, 2]
    phase_of_node, phase_of_link = np.zeros(topology.nodes, np.int8), np.zeros(len(topology.links), np.int8)
    most = int((np.bincount(nodes_at, minlength=topology.switches) +
                np.bincount(links_at, minlength=topology.switches)).max())
    options = np.repeat(routes.options[:1], most, axis=0)
    ranks = np.zeros((most, *sizes.shape), np.int64)
    far = np.where(topology.link_of_port < 0, -1, links_at[topology.link_of_port])
    for switch in range(topology.switches):
        nodes = np.flatnonzero(nodes_at == switch)
        links = np.flatnonzero(links_at == switch)
        links = links[np.lexsort((topology.links[links, 3], topology.links[links, 0]))]
        phase_of_node[nodes] = np.arange(len(nodes))
        phase_of_link[links] = np.arange(len(nodes), len(nodes) + len(links))
        before = np.concatenate([routes.phase_of_node[nodes], routes.phase_of_link[links]])
        origin = np.concatenate([np.full(len(nodes), -1), topology.links[links, 0]])
        options[:len(before), switch] = routes.options[before, switch]
        asks = np.zeros((len(before), sizes.shape[1]), bool)
        for phase in np.unique(before):
            known = routes.options[phase, switch]
            asks[before == phase] = np.isin(np.arange(sizes.shape[1]), known[known >= 0] // count)
        # the first of several parallel links represents all of them
        first = mates[switch, :, 0]
        together = np.array([asks[:, first == one].any(axis=1) for one in first]).T
        goes_on = together & (far[switch] != origin[:, None])
        ranks[:len(before), switch] = np.where(goes_on, np.cumsum(goes_on, axis=0) - 1, 0)
    ports = np.where(options < 0, 0, options // count)
    phases, switches = np.ogrid[:most, :topology.switches]
    rank = ranks[phases[..., None, None], switches[..., None, None], ports]
    return Choices(_spread(options, count, mates, sizes, rank), phase_of_link, routes.classes,
                   phase_of_node=phase_of_node)


#: Values of the parameter ``parallel`` of relations, which select the parallel link of each worm.
PARALLEL: dict[str, Callable[[Routes, Ports, Ports], Choices]] = {
    "destination": _by_destination, "input": _by_input, "turns": _by_turns}


def _spread(options: npt.NDArray[np.int16], classes: int, mates: Ports, sizes: Ports,
            number: npt.ArrayLike) -> npt.NDArray[np.int16]:
    """Replace the port of each option by its parallel port `number`, modulo the number of parallel links."""
    known = options >= 0
    ports = np.where(known, options // classes, 0)
    switches = np.arange(len(sizes))[:, None, None]
    others = mates[switches, ports, np.asarray(number) % sizes[switches, ports]]
    return np.where(known, others * classes + options % classes, -1).astype(np.int16)


def _parallel_ports(routes: Routes) -> tuple[Ports, Ports]:
    """For each port, the ports parallel to it (same next switch and phase), [switches, ports, ports], and their number.

    A port without a link forms a group of its own.
    """
    topology = routes.topology
    ports = topology.link_of_port.shape[1]
    mates = np.tile(np.arange(ports)[:, None], (topology.switches, 1, ports))
    sizes = np.ones((topology.switches, ports), np.int64)
    for switch in range(topology.switches):
        groups: dict[tuple[int, int], list[int]] = {}
        for port, link in enumerate(topology.link_of_port[switch].tolist()):
            if link >= 0:
                groups.setdefault((int(topology.links[link, 2]), int(routes.phase_of_link[link])), []).append(port)
        for group in groups.values():
            mates[switch, group, :len(group)] = group
            sizes[switch, group] = len(group)
    return mates, sizes


@lru_cache
def spread_over_parallel_links(relation: Relation, how: str) -> Relation:
    """Return the relation that spreads worms over parallel links; for equal arguments the same object."""
    return _Spread(relation, how)
