"""Where the nodes and switches of a network lie in its pictures: one function for each kind of topology."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology, WormcastError

__all__ = ["LAYOUTS", "Layout", "Name", "layout_of"]

Floats = npt.NDArray[np.float64]

GAP = 0.7  # between two planes, in cells
DEPTH = 0.6  # from row to row of a plane that is seen at an angle, in cells
HIGHEST_PLANE = 2.4  # of more rows than that are closer together


@dataclass(frozen=True)
class Name:
    """What a line of nodes is called: written beside the place, ``outer`` beyond other names."""

    text: str
    at: tuple[float, float]
    side: Literal["above", "left", "outer"]


@dataclass(frozen=True, eq=False)
class Layout:
    """Places in cells, x to the right and y down; a cell is what two neighbours in a row are apart.

    Parameters
    ----------
    nodes : float array [nodes, 2]
    switches : float array [switches, 2]
        That of a node's own router is the node's.
    names : tuple of Name
        Of rows, columns and the like.
    narrowest : float
        What the nearest parallel links that are not between the same two switches are apart, in cells.
    planes : tuple of float array [corners, 2]
        Areas that hold together what lies in them.
    """

    nodes: Floats
    switches: Floats
    names: tuple[Name, ...]
    narrowest: float
    planes: tuple[Floats, ...] = ()

    @property
    def corners(self) -> Floats:
        """Least and largest x and y of all places, [2, 2]."""
        places = np.concatenate([self.nodes, self.switches])
        return np.stack([places.min(axis=0), places.max(axis=0)])

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height that the places take, in cells."""
        least, largest = self.corners
        return tuple((largest - least).tolist())


def layout_of(topology: Topology) -> Layout:
    """Lay out a network as its kind is drawn.

    Raises
    ------
    WormcastError
        There is no layout for the kind, or a mesh has more than three dimensions.
    """
    if topology.kind not in LAYOUTS:
        raise WormcastError(f"plot: {topology.name} is given, topologies that can be drawn are {', '.join(LAYOUTS)}")
    return LAYOUTS[topology.kind](topology)


def _mesh(topology: Topology) -> Layout:
    if len(topology.shape) == 2:
        return _flat(topology)
    if len(topology.shape) == 3:
        return _planes(topology)
    raise WormcastError(f"plot: {topology.name} is given, meshes of two and three dimensions can be drawn")


def _flat(topology: Topology) -> Layout:
    """Lay rows out from top to bottom, columns from left to right, with their numbers beside them ([Boppana98])."""
    rows, columns = topology.shape
    places = topology.coordinates[:, ::-1].astype(float)
    step = 1 if columns <= 100 else 2  # three digits are as wide as the least cell
    names = [Name(str(column), (column, 0), "above") for column in range(0, columns, step)]
    names += [Name(str(row), (0, row), "left") for row in range(rows)]
    return Layout(places, places, tuple(names), 1.0)


def _planes(topology: Topology) -> Layout:
    """Lay out planes of equal y one above the other, x to the right and z to the front: down, and a little to the left.

    So the planes are those that the Hamiltonian path ([Amnah]) goes through one after the other. Each row is shifted
    by its share of a cell, so that links up and down pass between the nodes of their own plane.
    """
    columns, planes, rows = topology.shape
    x, y, z = topology.coordinates.T.astype(float)
    shift, depth = 1 / rows, min(DEPTH, HIGHEST_PLANE / rows)
    height = (rows - 1) * depth + GAP
    places = np.stack([x - z * shift, (planes - 1 - y) * height + z * depth], axis=1)
    left = -(rows - 1) * shift
    areas = []
    names = [Name(f"x={column}" if column == 0 else str(column), (column, 0), "above") for column in range(columns)]
    for plane in range(planes):
        top = (planes - 1 - plane) * height
        inside = places[y == plane].reshape(columns, rows, 2)
        areas.append(inside[[0, -1, -1, 0], [0, 0, -1, -1]])
        names += [Name(f"z={row}", (left, top + row * depth), "left") for row in range(rows)]
        names.append(Name(f"y={plane}", (left, top + (rows - 1) * depth / 2), "outer"))
    return Layout(places, places, tuple(names), min(shift, depth), tuple(areas))


LAYOUTS: Mapping[str, Callable[[Topology], Layout]] = {"mesh": _mesh}
"""The layout of each kind of topology."""
