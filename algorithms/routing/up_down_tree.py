"""Up until a switch leads down to all destinations, then down by reachability strings."""

import numpy as np

from ..topologies.base import Topology
from .base import ChoiceRelation, Choices
from .reachability import reachability
from .up_down import DOWNWARDS, UPWARDS, goes_up

__all__ = ["UP_DOWN_TREE", "UpDownTree"]


class UpDownTree(ChoiceRelation):
    """Links up towards the root until links down lead to all destinations, then down by restricted strings.

    A worm for several destinations goes up as one; from where it turns down the ways to two nodes part once and do not
    meet again. So a copy for each way reaches each node once.

    Source: [Sivaram98], sections 5.3.2 and 5.3.3; of the links up it leaves the choice open, here it is the lowest port
    to the level above.
    """

    name = "up-down-tree"
    description = ("links up towards a root until some lead down to all destinations, then down, by reachability "
                   "strings")

    def choices(self, topology: Topology) -> Choices:
        """Give the one way to each node; defined everywhere, though one-way links may leave no way."""
        strings, up = reachability(topology), goes_up(topology)
        down = np.where(strings.total, strings.restricted.argmax(axis=1), -1)
        options = np.stack([np.where(strings.total, down, strings.up[:, None]), down]).astype(np.int16)
        return Choices(options[..., None], np.where(up, UPWARDS, DOWNWARDS).astype(np.int8), together=True)


UP_DOWN_TREE = UpDownTree()
