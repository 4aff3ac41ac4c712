"""Up*/down* routing, free of deadlock on every network whose links go both ways."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..topologies.coordinates import levels
from .base import ChoiceRelation, Choices, Relation
from .distances import shortest_choices

__all__ = ["UP_DOWN", "UP_DOWN_ADAPTIVE", "UpDown", "goes_up", "links_up"]

UPWARDS, DOWNWARDS = 0, 1
"""Phases: a worm that may still go up, and one that has gone down."""


class UpDown(ChoiceRelation):
    """Links up towards a root first, then links down: never up after down.

    The level of a switch is its number of hops from the root, over links in either direction. The up end of a link is
    the end nearer to the root; between switches of one level, the end with the lower id. So no cycle of links leads
    only up, or only down. A worm takes zero or more links up, then zero or more links down, on a shortest such path.

    Source: [Sivaram98], section 2.2 (Autonet). The root is `Topology.root`, by default switch 0. A network with several
    roots, as a fat tree, has levels by the nearest root. In a network with several roots, links up must lead from any
    two nodes to a common switch.

    Parameters
    ----------
    name, description : str
    adaptive : bool
        Any hop on such a shortest path is a candidate, in the order of output ports. If `adaptive` is False, only the
        first such hop is a candidate.
    """

    def __init__(self, name: str, description: str, *, adaptive: bool) -> None:
        self.name = name
        self.description = description
        self.adaptive = adaptive

    def choices(self, topology: Topology) -> Choices:
        """Return the links on the shortest paths that go up and then down. The relation is defined on all networks, but
        one-way links may leave no path."""
        up = goes_up(topology)
        may = np.stack([np.ones(len(up), bool), ~up])
        phase_of_link = np.where(up, UPWARDS, DOWNWARDS).astype(np.int8)
        return shortest_choices(topology, may, phase_of_link, alternatives=self.adaptive)


def goes_up(topology: Topology) -> npt.NDArray[np.bool_]:
    """Return the links that lead up, bool [links]."""
    level = levels(topology)
    start, _, end, _ = topology.links.T
    return (level[end] < level[start]) | ((level[end] == level[start]) & (end < start))


def links_up(relation: Relation, topology: Topology) -> npt.NDArray[np.bool_] | None:
    """Return the links that lead up, bool [links], if the phases of a relation are those of up*/down*; else None."""
    up = goes_up(topology)
    return up if np.array_equal(relation.on(topology).phase_of_link, np.where(up, UPWARDS, DOWNWARDS)) else None


UP_DOWN = UpDown("up-down", "links up towards a root, then down, on a shortest such way; ties to the lowest port",
                 adaptive=False)
UP_DOWN_ADAPTIVE = UpDown("up-down-adaptive", "links up towards a root, then down, by any hop on a shortest such way",
                          adaptive=True)
