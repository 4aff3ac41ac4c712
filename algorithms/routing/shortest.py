"""Shortest-path routing, which may deadlock if links form rings."""

import numpy as np

from ..topologies.base import Topology
from .base import ChoiceRelation, Choices
from .distances import shortest_choices

__all__ = ["SHORTEST", "Shortest"]


class Shortest(ChoiceRelation):
    """A shortest path to each node. Of several hops nearer to the node, the relation takes the hop by the lowest output
    port.

    Nothing prevents worms from waiting in a cycle. This relation demonstrates the deadlocks that other relations avoid.
    """

    name = "shortest"
    description = "a shortest path, ties to the lowest port; deadlocks where links form a ring"

    def choices(self, topology: Topology) -> Choices:
        """Return the one path to each node. Defined on all networks."""
        links = len(topology.links)
        return shortest_choices(topology, np.ones((1, links), bool), np.zeros(links, np.int8), alternatives=False)


SHORTEST = Shortest()
