"""Reachability strings: the nodes that a switch reaches by links down, in total and per port."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..topologies.coordinates import levels
from .up_down import goes_up

__all__ = ["Reachability", "reachability"]


@dataclass(frozen=True, eq=False)
class Reachability:
    """Reachability strings of all switches. Ports of a switch's own nodes lead down, too.

    Parameters
    ----------
    up : int64 array [switches]
        Output port by which worms go up: the lowest port to the level above; -1 at the root.
    total : bool array [switches, nodes]
        Some port of the switch that leads down leads to the node.
    whole : bool array [switches, ports, nodes]
        The port leads down to the node.
    restricted : bool array [switches, ports, nodes]
        The port is the one by which worms go down to the node.
    """

    up: npt.NDArray[np.int64]
    total: npt.NDArray[np.bool_]
    whole: npt.NDArray[np.bool_]
    restricted: npt.NDArray[np.bool_]

    @property
    def down(self) -> npt.NDArray[np.int64]:
        """Port by which worms go down to each node, -1 if no port leads down to it, [switches, nodes]."""
        return np.where(self.total, self.restricted.argmax(axis=1), -1)


@lru_cache(maxsize=16)
def reachability(topology: Topology, keeps: Literal["highest", "lowest"] = "highest") -> Reachability:
    """Compute the reachability strings of a network, level by level, from the switches farthest from the root to the
    root.

    Switches of one level are processed from the highest id to the lowest, as a link between two switches of one level
    leads down to the higher id.
    [Sivaram98], Figure 18, leaves the order within a level open.

    Parameters
    ----------
    keeps : "highest" or "lowest"
        Port that worms use if several ports lead down to a node. [Sivaram98], Figure 18, uses the highest port; a
        footnote of section 5.3.2 seems to use the lowest port.
    """
    level, up = levels(topology), goes_up(topology)
    ports = topology.link_of_port.shape[1]
    strings = np.zeros((topology.switches, ports, topology.nodes), bool)
    homes, exits = topology.consumptions.T
    strings[homes, exits, np.arange(topology.nodes)] = True
    total = np.zeros((topology.switches, topology.nodes), bool)
    rows = topology.links.tolist()
    for switch in sorted(range(topology.switches), key=lambda switch: (level[switch], switch), reverse=True):
        for link in topology.link_of_port[switch].tolist():
            if link >= 0 and not up[link]:
                strings[switch, rows[link][1]] = total[rows[link][2]]
        total[switch] = strings[switch].any(axis=0)
    behind = strings[:, ::-1] if keeps == "highest" else strings
    only = behind & (np.cumsum(behind, axis=1) == 1)
    upwards = np.full(topology.switches, -1, np.int64)
    for start, port, end, _ in reversed(rows):
        if level[end] < level[start] and (upwards[start] < 0 or port < upwards[start]):
            upwards[start] = port
    found = Reachability(upwards, total, strings, only[:, ::-1] if keeps == "highest" else only)
    for array in (found.up, found.total, found.whole, found.restricted):
        array.setflags(write=False)
    return found
