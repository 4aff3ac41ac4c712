"""Up*/down* routing of trees by reachability strings."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from .base import ChoiceRelation, Choices
from .reachability import reachability
from .up_down import DOWNWARDS, UPWARDS, goes_up

__all__ = ["UP_DOWN_TREE", "UP_DOWN_TREE_ADAPTIVE", "UP_DOWN_TREE_ANY", "UpDownTree"]


class UpDownTree(ChoiceRelation):
    """Links up towards the root until links down lead to all destinations, then down by restricted reachability
    strings.

    A worm with several destinations goes up in one piece. After it turns down, the paths to two nodes part once and do
    not meet again, so that each node is reached by one branch.

    Source: [Sivaram98], sections 5.3.2 and 5.3.3. The paper leaves the choice of the link up open: by local traffic
    conditions, or in turn.

    Parameters
    ----------
    name, description : str
    any_up : bool
        Any link up is a candidate, in the order of output ports. If `any_up` is False, the only candidate up is the
        lowest port to the level above.
    in_turn : bool
        Each input takes the candidates in turn, as in `Choices`. If `in_turn` is False, a worm takes a free candidate.
    """

    def __init__(self, name: str, description: str, *, any_up: bool, in_turn: bool = False) -> None:
        self.name = name
        self.description = description
        self.any_up = any_up
        self.in_turn = in_turn

    def choices(self, topology: Topology) -> Choices:
        """Return the candidates to each node. The relation is defined on all networks, but one-way links may leave no
        path."""
        strings, up = reachability(topology), goes_up(topology)
        upwards = _ports_up(topology, up) if self.any_up else strings.up[:, None]
        down = np.full((*strings.total.shape, upwards.shape[1]), -1, np.int64)
        down[..., 0] = strings.down
        options = np.stack([np.where(strings.total[..., None], down, upwards[:, None, :]), down]).astype(np.int16)
        return Choices(options, np.where(up, UPWARDS, DOWNWARDS).astype(np.int8), together=True, in_turn=self.in_turn)


def _ports_up(topology: Topology, up: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Output ports of each switch that lead up, ascending, int [switches, most such ports]; unused entries are -1."""
    count = topology.link_of_port.shape[1]
    ports = np.full((topology.switches, count), count)
    for switch, port, *_ in topology.links[up].tolist():
        ports[switch, port] = port
    ports = np.sort(ports, axis=1)[:, :max(1, int((ports < count).sum(axis=1).max()))]
    return np.where(ports < count, ports, -1)


UP_DOWN_TREE = UpDownTree("up-down-tree", "links up towards a root until some lead down to all destinations, then "
                          "down, by reachability strings", any_up=False)
UP_DOWN_TREE_ANY = UpDownTree("up-down-tree-any", "as up-down-tree, by any link up: switches take theirs in turn",
                              any_up=True, in_turn=True)
UP_DOWN_TREE_ADAPTIVE = UpDownTree("up-down-tree-adaptive", "as up-down-tree, by a link up that is free, or the first "
                                   "that becomes free", any_up=True)
