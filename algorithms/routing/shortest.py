"""Shortest paths: what deadlocks where links form rings."""

import numpy as np

from ..topologies.base import Topology
from .base import ChoiceRelation, Choices
from .distances import shortest_choices

__all__ = ["SHORTEST", "Shortest"]


class Shortest(ChoiceRelation):
    """A shortest path to each node; of several hops that lead nearer the one by the lowest output port.

    Nothing keeps worms from waiting in a circle: this relation is there to show what others avoid.
    """

    name = "shortest"
    description = "a shortest path, ties to the lowest port; deadlocks where links form a ring"

    def choices(self, topology: Topology) -> Choices:
        """Give the one way to each node; defined everywhere."""
        links = len(topology.links)
        return shortest_choices(topology, np.ones((1, links), bool), np.zeros(links, np.int8), alternatives=False)


SHORTEST = Shortest()
