"""Where the nodes and switches of a network lie in its pictures, and the ways of its links: one geometry for all.

It follows from the topology's `places`. Three dimensions become planes, one above the other and seen at an angle.
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

GAP = 0.7  # between two planes, in cells
DEPTH = 0.6  # from row to row of a plane that is seen at an angle, in cells
HIGHEST_PLANE = 2.4  # of more rows than that are closer together
WIDE_NAMES = 100  # columns: three digits are as wide as the least cell


@dataclass(frozen=True)
class LineName:
    """What a line of nodes is called: written beside the place, ``outer`` beyond other names."""

    text: str
    at: tuple[float, float]
    side: Literal["above", "left", "outer"]


@dataclass(frozen=True, eq=False)
class NetworkLayout:
    """Places in cells, x to the right and y down; a cell is what two neighbours in a row are apart.

    Parameters
    ----------
    switches : float array [switches, 2]
    nodes, sinks : float array [nodes, 2]
        Where nodes inject and consume: the same place, but in networks that are drawn from left to right.
    boxes : float array [switches, 2]
        Half the width and height of each switch's box; 0 where a switch is at the place of its node, and one mark
        stands for both.
    links : tuple of float array [points, 2]
        The way of each link, in the order of the topology's; those that lead there and back have the same one.
    one_way : bool array [links]
        Whether no link leads back on the same way.
    injections, consumptions : tuple of float array [points, 2]
        The way of each node to its switch, and to it from the one where it consumes; none where both are in one place.
    names : tuple of Name
        Of rows, columns and the like.
    narrowest : float
        What the nearest parallel links that are not on the same way are apart, in cells; at most 1.
    planes : tuple of float array [corners, 2]
        Areas that hold together what lies in them.
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
        """Least and largest x and y of all places and ways, [2, 2]."""
        places = np.concatenate([self.nodes, self.sinks, self.switches - self.boxes, self.switches + self.boxes,
                                 *self.links])
        return np.stack([places.min(axis=0), places.max(axis=0)])

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height that all takes, in cells."""
        least, largest = self.corners
        return tuple((largest - least).tolist())

    @cached_property
    def drawn_twice(self) -> bool:
        """Whether nodes have a place for each end of their worms."""
        return not np.array_equal(self.nodes, self.sinks)

    @cached_property
    def shared(self) -> npt.NDArray[np.bool_]:
        """Whether one mark stands for a switch and its node, bool [switches]."""
        return np.logical_not(self.boxes.any(axis=1))


@lru_cache(maxsize=4)
def layout_of(topology: Topology) -> NetworkLayout:
    """Lay a network out by its places; the same layout for all pictures, and for the replay."""
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
    """What a row of a plane is shifted by against the one behind it, and how far down it lies, in cells."""
    rows = float(np.ptp(places[:, 2])) + 1
    return 1 / rows, min(DEPTH, HIGHEST_PLANE / rows)


def _seen(places: Floats) -> Floats:
    """Lay out planes of equal y one above the other, x to the right and z to the front: down, and a little to the left.

    So the planes are those that the Hamiltonian path ([Amnah]) goes through one after the other. Each row is shifted
    by its share of a cell, so that links up and down pass between the nodes of their own plane.
    """
    shift, depth = _steps(places)
    x, y, z = (places - places.min(axis=0)).T
    height = z.max() * depth + GAP
    return np.stack([x - z * shift, (y.max() - y) * height + z * depth], axis=1)


def _planes(places: Floats, seen: Floats) -> tuple[Floats, ...]:
    """The area of each plane of equal y: from its first row to its last, as wide as the widest."""
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
    """Names of rows and columns, and of planes: where nodes lie as their coordinates say."""
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
