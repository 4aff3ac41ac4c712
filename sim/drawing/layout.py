"""Layout of a network: positions of nodes and switches, and lines of links, for all drawings and the replay.

The layout is computed from the topology's `places`. A three-dimensional network is drawn as planes, one above the
other, in an oblique view.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from .boxes import BETWEEN, Boxes
from .cables import cables_of, ways_of

__all__ = ["LineName", "NetworkLayout", "layout_of"]

Floats = npt.NDArray[np.float64]

GAP = 0.7  # distance between two planes, in cells
DEPTH = 0.6  # distance between rows of a plane in the oblique view, in cells
HIGHEST_PLANE = 2.4  # largest height of a plane, in cells; with many rows, the distance between rows is smaller
WIDE_NAMES = 100  # largest number of columns that all have labels; if there are more, every second column has a label


@dataclass(frozen=True)
class LineName:
    """Name of a row, column or plane of nodes, and its position.

    A name with the side ``outer`` is drawn left of the names of rows.
    """

    text: str
    at: tuple[float, float]
    side: Literal["above", "left", "outer"]


@dataclass(frozen=True, eq=False)
class NetworkLayout:
    """Positions in cells, x to the right and y down. A cell is the distance of two neighbours in a row.

    Parameters
    ----------
    switches : float array [switches, 2]
    nodes, sinks : float array [nodes, 2]
        Positions of nodes for injection and for consumption, which differ only in networks drawn from left to right.
    boxes : float array [switches, 2]
        Half the width and height of each switch's box, or 0 if the switch and its node share a position and a mark.
    links : tuple of float array [points, 2]
        Line of each link, in the topology's order. The two directions of a link share a line.
    one_way : bool array [links]
        The link has no opposite link.
    injections, consumptions : tuple of float array [points, 2]
        Lines from each node to its switch, and from its switch to the node. If nodes have the positions of their
        switches, ``injections`` and ``consumptions`` are empty.
    names : tuple of LineName
        Names of rows, columns and planes.
    narrowest : float
        Smallest distance between parallel lines, and between a line and another switch, in cells; at most 1.
    planes : tuple of float array [corners, 2]
        Areas of the planes of a three-dimensional network.
    """

    switches: Floats
    nodes: Floats
    sinks: Floats
    boxes: Floats
    links: tuple[Floats, ...]
    one_way: npt.NDArray[np.bool_]
    injections: tuple[Floats, ...]
    consumptions: tuple[Floats, ...]
    names: tuple[LineName, ...]
    narrowest: float
    planes: tuple[Floats, ...] = ()

    @cached_property
    def corners(self) -> Floats:
        """Smallest and largest x and y of all positions and lines, [2, 2]."""
        places = np.concatenate([self.nodes, self.sinks, self.switches - self.boxes, self.switches + self.boxes,
                                 *self.links])
        return np.stack([places.min(axis=0), places.max(axis=0)])

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the network, in cells."""
        least, largest = self.corners
        return tuple((largest - least).tolist())

    @cached_property
    def drawn_twice(self) -> bool:
        """Flag: nodes have different positions for injection and consumption."""
        return not np.array_equal(self.nodes, self.sinks)

    @cached_property
    def shared(self) -> npt.NDArray[np.bool_]:
        """Flag for each switch: the switch and its node share one mark, bool [switches]."""
        return np.logical_not(self.boxes.any(axis=1))


@lru_cache(maxsize=4)
def layout_of(topology: Topology) -> NetworkLayout:
    """Compute the layout of a network from its topology's `places`."""
    given = topology.places
    sinks = given.nodes if given.sinks is None else given.sinks
    together = np.concatenate([given.switches, given.nodes, sinks])
    flat = together.shape[1] == 2
    seen = together.astype(float) if flat else _seen(together)
    switches, nodes, sinks = np.split(seen, [topology.switches, topology.switches + topology.nodes])
    cables = cables_of(topology)
    boxes = Boxes(topology, switches, nodes, sinks, cables)
    if boxes.half.any():
        ways = [boxes.cable_way(number) for number in range(len(cables))]
        narrowest = 1.0 if all(cable.back is None for cable in cables) else BETWEEN
    else:
        ways, narrowest = ways_of(switches, cables)
    links: list[Floats] = [np.zeros((0, 2))] * len(topology.links)
    one_way = np.zeros(len(topology.links), bool)
    for cable, way in zip(cables, ways, strict=True):
        links[cable.there] = way
        if cable.back is None:
            one_way[cable.there] = True
        else:
            links[cable.back] = way[::-1]
    if not flat:
        narrowest = min(narrowest, *_steps(together))
    joined = range(topology.nodes) if boxes.half.any() else ()
    layout = NetworkLayout(switches, nodes, sinks, boxes.half, tuple(links), one_way,
                    tuple(boxes.node_way(node, sink=False) for node in joined),
                    tuple(boxes.node_way(node, sink=True) for node in joined), (), narrowest,
                    () if flat else _planes(together[:topology.switches], switches))
    return replace(layout, names=_names(topology, layout))


def _steps(places: Floats) -> tuple[float, float]:
    """Return the horizontal and vertical offset of a plane's row from the row behind it, in cells."""
    rows = float(np.ptp(places[:, 2])) + 1
    return 1 / rows, min(DEPTH, HIGHEST_PLANE / rows)


def _seen(places: Floats) -> Floats:
    """Project three dimensions: planes of equal y one above the other, x to the right, z down and a little to the left.

    The Hamiltonian path of [Amnah] visits the planes of equal y one after the other. Each row of a plane is shifted
    by a fraction of a cell, so that links between planes pass between the nodes of a plane.
    """
    shift, depth = _steps(places)
    x, y, z = (places - places.min(axis=0)).T
    height = z.max() * depth + GAP
    return np.stack([x - z * shift, (y.max() - y) * height + z * depth], axis=1)


def _planes(places: Floats, seen: Floats) -> tuple[Floats, ...]:
    """Return the corners of each plane of equal y; all planes have the network's full width and depth."""
    shift, depth = _steps(places)
    x, _, z = (places - places.min(axis=0)).T
    found = []
    for y in np.unique(places[:, 1]):
        inside = places[:, 1] == y
        top = float((seen[inside, 1] - z[inside] * depth)[0])
        found.append(np.array([[across - down * shift, top + down * depth]
                               for across, down in ((0, 0), (x.max(), 0), (x.max(), z.max()), (0, z.max()))]))
    return tuple(found)


def _names(topology: Topology, layout: NetworkLayout) -> tuple[LineName, ...]:
    """Return the names of rows, columns and planes, if the nodes' positions equal their coordinates; else none."""
    places, shape = topology.places.nodes, topology.shape
    if len(shape) == 2 and np.array_equal(places, topology.coordinates[:, ::-1]):
        left, top = layout.corners[0].tolist()
        rows, columns = shape
        step = 1 if columns <= WIDE_NAMES else 2
        return (*(LineName(str(column), (column, top), "above") for column in range(0, columns, step)),
                *(LineName(str(row), (left, row), "left") for row in range(rows)))
    if len(shape) == 3 and np.array_equal(places, topology.coordinates):
        columns, planes, rows = shape
        at = dict(zip(map(tuple, topology.coordinates.tolist()), layout.nodes.tolist(), strict=True))
        left, top = layout.corners[0].tolist()
        names = [LineName(f"x={column}" if column == 0 else str(column), (at[column, planes - 1, 0][0], top), "above")
                 for column in range(columns)]
        for plane in range(planes):
            heights = [at[0, plane, row][1] for row in range(rows)]
            names += [LineName(f"z={row}", (left, height), "left") for row, height in enumerate(heights)]
            names.append(LineName(f"y={plane}", (left, (heights[0] + heights[-1]) / 2), "outer"))
        return tuple(names)
    return ()
