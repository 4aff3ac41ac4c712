"""Positions of networks in drawings, with a default layout by breadth-first levels."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]

__all__ = ["FARTHEST", "Places", "circle", "levels", "places_around", "places_by_default", "places_by_level",
           "places_in_grid"]

FARTHEST = 10**9
"""Largest coordinate, and with a minus sign the smallest. Arithmetic with larger coordinates would lose precision."""

GAP = 2.0
"""Least distance, in cells, between the drawings of one level and the next level."""

ROW = 8
"""Number of nodes of a switch that are always drawn in one row. More nodes are drawn in several rows."""

BESIDE, FARTHER = 0.6, 1.3
"""`BESIDE`: distance between neighbouring nodes in a row. `FARTHER`: extra distance of every second node of a row from
its switch. Unit: cells."""

SIDES, LINK = 1.3, 0.7
"""`SIDES`: distance between the nodes of neighbouring switches. `LINK`: additional distance for every two links from a
switch to lower levels, which pass beside its nodes. Unit: cells."""

RING = 1.5
"""Distance between neighbours in a network that is drawn as a ring with chords, in cells."""

ARC = 1.0
"""Height of the arc on which a level's switches are drawn, in cells. Because of the arc, links within a level pass
beside other switches."""


class Wired(Protocol):
    """Network with the fields from which positions in drawings are computed. `Topology` documents the fields."""

    @property
    def links(self) -> Integers: ...
    @property
    def injections(self) -> Integers: ...
    @property
    def consumptions(self) -> Integers: ...
    @property
    def root(self) -> int | tuple[int, ...]: ...
    @property
    def switches(self) -> int: ...
    @property
    def direct(self) -> bool: ...


@dataclass(frozen=True, eq=False)
class Places:
    """Positions in a drawing: x to the right, y down; or x to the right, y up and z towards the reader.

    Three dimensions are drawn as planes of equal y. The unit of positions is a cell, the distance between two
    neighbours in a row of a mesh. The arrays are read-only.

    Parameters
    ----------
    switches : float array [switches, 2 or 3]
    nodes : float array [nodes, 2 or 3]
        Positions where nodes inject. In a direct network the nodes have the positions of their switches.
    sinks : float array [nodes, 2 or 3], optional
        Positions where nodes consume, in a network whose nodes are drawn twice: where they inject and where they
        consume.
    """

    switches: Floats
    nodes: Floats
    sinks: Floats | None = None

    def __post_init__(self) -> None:
        for array in (self.switches, self.nodes, self.sinks):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)


def levels(topology: Wired) -> Integers:
    """Return each switch's distance from the nearest root, over links in either direction, int32 [switches]; -1: no
    path."""
    found = np.full(topology.switches, -1, np.int32)
    found[np.atleast_1d(topology.root)] = level = 0
    while (front := found == level).any():
        level += 1
        for start, end in ((0, 2), (2, 0)):
            reached = topology.links[front[topology.links[:, start]], end]
            found[reached[found[reached] < 0]] = level
    return found


def circle(count: int) -> Floats:
    """Return positions on a circle, clockwise from the top, with one cell between neighbours; float [count, 2]."""
    around = 2 * np.pi * np.arange(count) / count
    radius = 0.5 / np.sin(np.pi / count)
    return np.round(radius * np.stack([np.sin(around), -np.cos(around)], axis=1), 4) + 0.0


def places_by_default(topology: Wired) -> Places:
    """Lay out a network that has no positions: a ring, with or without chords, as a ring; others by levels.

    A ring is a direct network of at least three switches in which each switch is linked to the next one by number, and
    the last switch to the first one. No chord of a circle passes through a third switch.
    """
    count = topology.switches
    pairs = {(min(start, end), max(start, end)) for start, end in topology.links[:, [0, 2]].tolist()}
    if topology.direct and count >= 3 and {(0, count - 1), *((one, one + 1) for one in range(count - 1))} <= pairs:
        return places_around(topology, RING * circle(count))
    return places_by_level(topology)


def places_by_level(topology: Wired) -> Places:
    """Lay a network out from the root on top downwards: one level per row, each switch with its nodes below it.

    Within a level switches are sorted by the average position of their neighbours above. Nodes of a switch are below
    it, every second node farther down. More than eight nodes are in several rows. In a direct network a node has the
    position of its switch.
    """
    level = levels(topology)
    level[level < 0] = level.max() + 1
    homes, ends = topology.injections[:, 0], topology.consumptions[:, 0]
    elsewhere = bool((homes != ends).any())
    wide, high = _size(int(np.bincount(homes).max()))
    above = _size(int(np.bincount(ends).max()))[1] if elsewhere else 0.0
    cell = 1.5 if topology.direct else (wide - 1) * BESIDE + SIDES + LINK * _most_beside(topology, level)
    high = 0.0 if topology.direct else high

    places = np.zeros((topology.switches, 2))
    for one in range(level.max() + 1):
        row = np.flatnonzero(level == one)
        row = row[np.argsort([_mean_above(topology, places, level, switch) for switch in row.tolist()], kind="stable")]
        across = np.arange(len(row)) - (len(row) - 1) / 2
        places[row, 0] = across * cell
        bend = ARC * (across / max(across.max(), 1)) ** 2 if len(row) > 2 else 0.0
        places[row, 1] = one * (high + GAP + ARC + above) - bend
    places = np.round(places - places.min(axis=0), 4)
    return places_around(topology, places)


def places_around(topology: Wired, places: Floats) -> Places:
    """Place nodes at their switches in a direct network, otherwise below the switch that they inject into.

    If some node consumes at another switch than it injects into, all nodes have second positions, above the switches
    where they consume.
    """
    if topology.direct:
        return Places(places, places)
    homes, ends = topology.injections[:, 0], topology.consumptions[:, 0]
    return Places(places, _block(places, homes, 1), _block(places, ends, -1) if (homes != ends).any() else None)


def places_in_grid(topology: Wired, columns: npt.ArrayLike, rows: npt.ArrayLike) -> Places:
    """Place switches in rows and columns that leave space for the nodes below each switch.

    Parameters
    ----------
    columns, rows : int array [switches]
        Column, and row from the top, of each switch.
    """
    wide, high = _size(int(np.bincount(topology.injections[:, 0]).max()))
    cell = np.array([(wide - 1) * BESIDE + SIDES + LINK, high + GAP])
    return places_around(topology, np.round(np.stack([columns, rows], axis=1) * cell, 4))


def _most_beside(topology: Wired, level: Integers) -> int:
    """Return half of the largest number of links between a switch and lower levels in one direction. In the drawing,
    half of a switch's links to lower levels pass on each side of its nodes."""
    start, end = topology.links[:, 0], topology.links[:, 2]
    down = np.bincount(start[level[end] > level[start]], minlength=topology.switches)
    up = np.bincount(end[level[start] > level[end]], minlength=topology.switches)
    return -(-int(np.maximum(down, up).max()) // 2)


def _mean_above(topology: Wired, places: Floats, level: Integers, switch: int) -> float:
    """Average x of a switch's neighbours one level up."""
    ends = topology.links[:, [0, 2]]
    beside = np.concatenate([ends[ends[:, 0] == switch, 1], ends[ends[:, 1] == switch, 0]])
    above = beside[level[beside] == level[switch] - 1]
    return float(places[above, 0].mean()) if len(above) else 0.0


def _size(nodes: int) -> tuple[int, float]:
    """Number of nodes in a row, and distance from the switch to the last row, in cells, for this number of nodes."""
    wide = min(nodes, max(ROW, int(np.ceil(np.sqrt(2 * nodes)))))
    return wide, (-(-nodes // wide) - 1) * 2 * FARTHER + 1.0 + FARTHER * (wide > 1)


def _block(places: Floats, homes: Integers, down: int) -> Floats:
    """Positions of nodes in rows below (1) or above (-1) their switches; every second node of a row is farther away."""
    numbers = np.zeros(len(homes), int)
    counts = np.bincount(homes, minlength=len(places))
    for switch in np.flatnonzero(counts):
        numbers[homes == switch] = np.arange(counts[switch])
    wide, _ = _size(int(counts.max()))
    row, column = np.divmod(numbers, wide)
    in_row = np.minimum(counts[homes] - row * wide, wide)
    beside = np.zeros((len(homes), places.shape[1]))
    beside[:, :2] = np.stack([BESIDE * (column - (in_row - 1) / 2),
                              down * (1.0 + 2 * FARTHER * row + FARTHER * (column % 2))], axis=1)
    return np.round(places[homes] + beside, 4)
