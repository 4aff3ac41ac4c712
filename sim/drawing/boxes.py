"""Boxes of switches that are drawn apart from their nodes: sizes, and the ends of lines on them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from .cables import Cable, Obstacles
from .ways import arc

__all__ = ["Boxes"]

Floats = npt.NDArray[np.float64]
Side = Literal["left", "right", "above", "below"]
Key = tuple[Literal["cable", "node", "sink"], int]

HALF = 0.42  # half of the smallest width and height of a box, in cells
BETWEEN = 0.35  # distance between the ends of lines on a side of a box, in cells
STAGE = 1.0  # distance between the ends of lines on a side of a box in a network drawn from left to right, in cells
MARGIN = 0.3  # distance of the outermost end of a line from the box's corner, in cells
FAN = 0.5  # offset of a node's line from the middle of the box, as a share of the node's offset from this middle
NODES = 0.42  # distance of a node from lines that pass it, in cells
LEVEL = 1.1  # largest vertical distance between switches that count as one row, in cells
STEEP = 1.5  # least vertical distance of the ends of a line that begins with a vertical piece, in cells
AROUND = (0.4, 0.6, 0.8, 1.1, 1.5, 2.0)  # distances from the straight line, in cells, at which curves are tried
STUB, STUB_SHARE = 0.5, 0.2  # least vertical piece at a box: STUB cells, but at most this share of the line's height
PASSES = 0.25  # least distance of a straight line from other boxes and nodes, in cells
FEWEST = 6  # least number of switches around a circle
LETTER = 0.2  # half the width of a letter of a switch's name, in cells
SIDES: dict[Side, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "above": (0, -1), "below": (0, 1)}


@dataclass
class _End:
    """End of a line on a box: the line, its other end, the side of the box, and the offset from the side's middle."""

    key: Key
    towards: Floats
    side: Side
    offset: float = 0.0


class Boxes:
    """Boxes of switches, and the lines that end on them.

    A line ends on the side of the box that faces the line's other end. On a side, the ends are sorted by the directions
    of their lines. If nodes are above or below a box, lines to other switches on this side first run vertically past
    these nodes. If the switches are around a circle, as in a dragonfly, lines are straight from centre to centre.

    Parameters
    ----------
    switches, nodes, sinks : float array [switches or nodes, 2]
        Positions of switches, and of nodes for injection and for consumption.
    cables : sequence of Cable

    Attributes
    ----------
    places, half : float array [switches, 2]
        Centres, and half the width and height of boxes; 0 if switch and node share a mark.
    """

    def __init__(self, topology: Topology, switches: Floats, nodes: Floats, sinks: Floats, cables: Sequence[Cable]):
        self.places = switches
        self.half = np.zeros_like(switches)
        self._topology, self._nodes, self._sinks, self._cables = topology, nodes, sinks, cables
        self._homes = topology.injections[:, 0], topology.consumptions[:, 0]
        self._twice = not np.array_equal(nodes, sinks)
        if topology.direct and np.array_equal(switches, nodes):
            return
        together = {home for home, place in zip(self._homes[0].tolist(), nodes, strict=True)
                    if np.array_equal(place, switches[home])}
        self._around = self._around_circle()
        if self._around:
            self.half[:] = [[max(HALF, LETTER * len(name)), HALF] for name in topology.switch_names]
            return
        # a network with a one-way link is drawn from left to right
        self._onwards = any(cable.back is None for cable in cables)
        ends = self._ends_of()
        for switch in range(topology.switches):
            if switch not in together:
                self.half[switch] = self._spread(switch, ends[switch])
        self._ends = {(switch, end.key): end for switch, found in ends.items() for end in found}
        self._obstacles = Obstacles(
            np.concatenate([switches, nodes, sinks]),
            np.concatenate([self.half, np.full((2 * len(nodes), 2), NODES - PASSES)]))
        row = np.abs(switches[:, None, 1] - switches[None, :, 1]) <= LEVEL
        lowest, highest = self._own_reach()
        self._floor = np.where(row, lowest, -np.inf).max(axis=1)
        self._ceiling = np.where(row, highest, np.inf).min(axis=1)

    def node_way(self, node: int, *, sink: bool) -> Floats:
        """Return the line from a node to its switch, or for a sink from the switch to the node; float [points, 2]."""
        switch = int(self._homes[sink][node])
        place = (self._sinks if sink else self._nodes)[node]
        if self._around:
            line = np.stack([place, self._towards(switch, place)])
            return line[::-1] if sink else line
        key: Key = ("sink" if sink and self._twice else "node", node)
        line = np.stack([place, self._at(switch, key)])
        return line[::-1] if sink else line

    def cable_way(self, number: int) -> Floats:
        """Return the line of a cable, from its start to its end; float [points, 2]."""
        cable = self._cables[number]
        if self._around:
            return np.stack([self._towards(cable.start, self.places[cable.end]),
                             self._towards(cable.end, self.places[cable.start])])
        key: Key = ("cable", number)
        start, end = self._at(cable.start, key), self._at(cable.end, key)
        stubs = [self._stub(cable.start, key, start, end), self._stub(cable.end, key, end, start)]
        inner = [one for one in stubs if one is not None]
        if inner:
            return np.array([start, *inner, end])
        others = self._others(cable)
        straight = np.stack([start, end])
        if self._obstacles.distance(straight, others) >= PASSES:
            return straight
        up = 1.0 if end[1] - start[1] > end[0] - start[0] else -1.0
        ways = [straight, *(arc(start, end, side * bulge) for bulge in AROUND for side in (up, -up))]
        return max(ways, key=lambda way: min(PASSES, self._obstacles.distance(way, others)))

    def _around_circle(self) -> bool:
        """Return whether the switches are around a circle with their nodes outside of it, and straight lines between
        them pass no other switch or node."""
        if len(self.places) < FEWEST or any(cable.back is None or cable.among > 1 for cable in self._cables):
            return False
        middle = self.places.mean(axis=0)
        reach = np.linalg.norm(self.places - middle, axis=1)
        nodes = np.linalg.norm(self._nodes - middle, axis=1)
        if (reach < reach.max() / 2).any() or (nodes <= reach[self._homes[0]]).any():
            return False
        obstacles = Obstacles(np.concatenate([self.places, self._nodes]), np.concatenate(
            [np.full_like(self.places, HALF), np.full_like(self._nodes, NODES - PASSES)]))
        return all(obstacles.distance(self.places[[cable.start, cable.end]], (cable.start, cable.end)) >= PASSES
                   for cable in self._cables)

    def _towards(self, switch: int, other: Floats) -> Floats:
        """Return where the line from a box's centre to another position leaves the box."""
        way = other - self.places[switch]
        return self.places[switch] + way * (self.half[switch] / np.maximum(np.abs(way), 1e-9)).min()

    def _others(self, cable: Cable) -> list[int]:
        """Return the obstacles that a cable may touch: the boxes of its two switches."""
        return [cable.start, cable.end]

    def _at(self, switch: int, key: Key) -> Floats:
        end = self._ends[switch, key]
        across, down = SIDES[end.side]
        if not self.half[switch].any():
            return self.places[switch]
        return self.places[switch] + np.array([across, down]) * self.half[switch] + end.offset * np.array(
            [abs(down), abs(across)])

    def _stub(self, switch: int, key: Key, at: Floats, other: Floats) -> Floats | None:
        """Return the end of the vertical piece with which a line leaves a box, beyond the nodes of the switch's row.

        Return None if the line leaves the box at the left or right, or needs no vertical piece.
        """
        side = self._ends[switch, key].side
        if side not in ("above", "below") or abs(other[1] - at[1]) < STEEP:
            return None
        short = min(STUB, STUB_SHARE * abs(other[1] - at[1]))
        if side == "below":
            return np.array([at[0], max(self._floor[switch], at[1] + short)])
        beyond = self._ceiling[switch] if self._has_nodes(switch, "above") else np.inf
        return np.array([at[0], min(beyond, at[1] - short)])

    def _has_nodes(self, switch: int, side: Side) -> bool:
        return any(end.side == side for (at, (kind, _)), end in self._ends.items() if at == switch and kind != "cable")

    def _own_reach(self) -> tuple[Floats, Floats]:
        """Return the largest and the smallest y of each switch's box together with its nodes below and above it."""
        lowest, highest = self.places[:, 1] + self.half[:, 1], self.places[:, 1] - self.half[:, 1]
        for (switch, (kind, _)), end in self._ends.items():
            if kind != "cable" and end.side == "below":
                lowest[switch] = max(lowest[switch], end.towards[1] + NODES)
            elif kind != "cable" and end.side == "above":
                highest[switch] = min(highest[switch], end.towards[1] - NODES)
        return lowest, highest

    def _ends_of(self) -> dict[int, list[_End]]:
        """Return the ends of all lines at each switch, each with its side of the box."""
        found: dict[int, list[_End]] = defaultdict(list)
        for node, (switch, other) in enumerate(zip(*map(np.ndarray.tolist, self._homes), strict=True)):
            found[switch].append(self._end(switch, ("node", node), self._nodes[node], onwards=self._twice))
            if self._twice:
                found[other].append(self._end(other, ("sink", node), self._sinks[node], onwards=self._twice))
        for number, cable in enumerate(self._cables):
            for switch, other in ((cable.start, cable.end), (cable.end, cable.start)):
                found[switch].append(self._end(switch, ("cable", number), self.places[other],
                                               onwards=cable.back is None))
        return found

    def _end(self, switch: int, key: Key, towards: Floats, *, onwards: bool) -> _End:
        across, down = (towards - self.places[switch]).tolist()
        high = abs(down) > STEEP or abs(down) >= abs(across)
        if across and ((onwards and self._onwards) or not high):
            return _End(key, towards, "right" if across > 0 else "left")
        return _End(key, towards, "below" if down >= 0 else "above")

    def _spread(self, switch: int, ends: Sequence[_End]) -> Floats:
        """Set the offset of each line's end at a switch, and return half the width and height of the switch's box."""
        half = np.array([HALF, HALF])
        for side, (across, _) in SIDES.items():
            axis = 1 if across else 0
            here = sorted((end for end in ends if end.side == side), key=lambda end: self._order(switch, end, axis))
            nodes = [end for end in here if end.key[0] != "cable"]
            if nodes and not across:
                self._beside_nodes(switch, nodes, [end for end in here if end.key[0] == "cable"])
            else:
                between = STAGE if self._onwards else BETWEEN
                for place, end in enumerate(here):
                    end.offset = (place - (len(here) - 1) / 2) * between
            half[axis] = max([half[axis], *(abs(end.offset) + MARGIN for end in here)])
        return half

    def _beside_nodes(self, switch: int, nodes: Sequence[_End], cables: Sequence[_End]) -> None:
        """Set where lines end on the upper or lower side of a box: lines to nodes in the middle, cables beside
        these."""
        away = [float(end.towards[0] - self.places[switch, 0]) for end in nodes]
        for end, across in zip(nodes, away, strict=True):
            end.offset = across * FAN
        wide = max(map(abs, away)) + NODES
        left = sum(end.towards[0] < self.places[switch, 0] for end in cables)
        left = min(max(left, len(cables) // 2), -(-len(cables) // 2))
        for place, end in enumerate(cables):
            end.offset = -wide - (left - 1 - place) * BETWEEN if place < left else wide + (place - left) * BETWEEN

    def _order(self, switch: int, end: _End, axis: int) -> tuple[float, float, int]:
        """Return the sort key of an end: slope of its line, distance along the side, number of its node or `Cable`."""
        way = end.towards - self.places[switch]
        slope = float(way[axis] / max(abs(float(way[1 - axis])), 1e-3))
        return round(slope, 6), float(way[axis]), end.key[1]
