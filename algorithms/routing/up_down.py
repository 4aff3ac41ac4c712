"""Up*/down*: free of deadlock on every network whose links go both ways."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..topologies.coordinates import levels
from .base import ChoiceRelation, Choices
from .distances import shortest_choices

__all__ = ["UP_DOWN", "UP_DOWN_ADAPTIVE", "UpDown", "goes_up"]

UPWARDS, DOWNWARDS = 0, 1
"""Phases: a worm that may still go up, and one that has gone down."""


class UpDown(ChoiceRelation):
    """Links up towards a root first, then links down: never up after down.

    A breadth-first search from the root gives each switch its level. The up end of a link is the end of the lower
    level, or between switches of one level that of the lower id, so that no circle of links leads up all along, nor
    down all along; a worm goes up some links (or none) and then down. Of the ways that do, it takes a shortest one.

    Source: [Sivaram98], section 2.2 (Autonet). The root is the topology's, which is switch 0 where nobody says
    otherwise.

    Parameters
    ----------
    name, description : str
    adaptive : bool
        Any hop on such a shortest way will do, in the order of output ports; or the first of them alone.
    """

    def __init__(self, name: str, description: str, *, adaptive: bool) -> None:
        self.name = name
        self.description = description
        self.adaptive = adaptive

    def choices(self, topology: Topology) -> Choices:
        """Give the hops on shortest ways up and down; defined everywhere, though one-way links may leave no way."""
        up = goes_up(topology)
        may = np.stack([np.ones(len(up), bool), ~up])
        phase_of_link = np.where(up, UPWARDS, DOWNWARDS).astype(np.int8)
        return shortest_choices(topology, may, phase_of_link, alternatives=self.adaptive)


def goes_up(topology: Topology) -> npt.NDArray[np.bool_]:
    """Say of each link whether it leads up, bool [links]."""
    level = levels(topology)
    start, _, end, _ = topology.links.T
    return (level[end] < level[start]) | ((level[end] == level[start]) & (end < start))



UP_DOWN = UpDown("up-down", "links up towards a root, then down, on a shortest such way; ties to the lowest port",
                 adaptive=False)
UP_DOWN_ADAPTIVE = UpDown("up-down-adaptive", "links up towards a root, then down, by any hop on a shortest such way",
                          adaptive=True)
