"""Relations that spread worms over parallel links between two switches."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from .base import ChangedRelation, Choices, Relation, Routes

__all__ = ["PARALLEL", "spread_over_parallel_links"]

#: Values of the parameter ``parallel`` of relations: by what worms are spread.
PARALLEL = ("destination",)


class _Spread(ChangedRelation):
    """Another relation whose worms choose among parallel links by their destination.

    All worms to a node take the same link from one switch to the next, and so keep their order.
    """

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation, ":parallel=destination", "over parallel links by destination")

    def choices(self, topology: Topology) -> Choices:
        """Give the other relation's ways by other links; refused where none are parallel, or it leaves a choice."""
        routes = self.relation.on(topology)
        if not routes.deterministic:
            raise WormcastError(f"relation {self.name}: {self.relation.name} leaves a choice, which parallel links are "
                                "part of; relations without one may be spread")
        mates, sizes = _parallel_ports(routes)
        if sizes.max(initial=1) == 1:
            raise WormcastError(f"relation {self.name}: {topology.name} has no parallel links, over which worms would "
                                f"be spread; allowed is {self.relation.name}")
        count = len(routes.classes)
        known = routes.options >= 0
        ports = np.where(known, routes.options // count, 0)
        switches, nodes = (np.arange(of).reshape(shape) for of, shape in (
            (topology.switches, (-1, 1, 1)), (topology.nodes, (-1, 1))))
        others = mates[switches, ports, nodes % sizes[switches, ports]]
        options = np.where(known, others * count + routes.options % count, -1).astype(np.int16)
        return Choices(options, routes.phase_of_link, routes.classes, routes.together)


def _parallel_ports(routes: Routes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Ports of a switch whose links lead to the same switch, in one phase: int [switches, ports, ports], and how many.

    A port without a link stands alone.
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
def spread_over_parallel_links(relation: Relation) -> Relation:
    """Give the relation as it spreads worms over parallel links, always the same one."""
    return _Spread(relation)
