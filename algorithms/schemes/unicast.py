"""Bases of schemes of unicasts."""

import numpy as np
import numpy.typing as npt

from ..consumption import ConsumptionClasses
from ..headers import Unicast
from ..routing import E_CUBE, Relation, usual_relation
from ..topologies.base import Topology
from .base import Scheme

__all__ = ["UnicastAnywhere", "UnicastScheme"]


class UnicastScheme(Scheme):
    """A scheme whose worms have one destination each."""

    relation: Relation = E_CUBE
    header = Unicast

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return no class: a unicast has no stops on its way."""
        return ConsumptionClasses()

    def visit_triples(self, topology: Topology) -> npt.NDArray[np.int32]:
        """Return no triples: a unicast has no stops on its way."""
        return np.empty((0, 3), np.int32)


class UnicastAnywhere(UnicastScheme):
    """A scheme of unicasts on every network, routed by the network's default relation for unicasts.

    `TopologyKind.relation` names the relation of each kind of network; for users' own networks it is up*/down*.
    """

    kinds: tuple[str, ...] = ()

    def relation_on(self, topology: Topology) -> Relation:
        """Return the relation that the user chose, by default that of unicasts on this kind of network."""
        return self.relation if "relation" in vars(self) else usual_relation(topology.kind)
