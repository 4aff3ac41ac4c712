"""Networks with one router per node, joined along the dimensions of their coordinates: meshes and tori."""

import numpy as np
import numpy.typing as npt

from .base import Places, Topology

__all__ = ["GRIDS", "direction_name", "grid", "grid_places", "mesh_directions", "port_name"]

GRIDS = ("mesh", "torus", "ring")
"""Kinds of topology whose ports lead one step up or down a dimension of the coordinates."""


def grid(kind: str, shape: tuple[int, ...], *, wraps: bool) -> Topology:
    """Build a mesh, or with links around the edges a torus. The network's name is ``KIND:`` and the extents.

    Each router has two ports for each dimension with more than one node, last dimension first and upwards first, and
    then ``local``. In each dimension, a link leads from a router's upward port to the downward port of the next
    router, and another link leads back.
    """
    nodes = int(np.prod(shape))
    coordinates = np.stack(np.unravel_index(np.arange(nodes), shape), axis=1).astype(np.int32)
    steps = mesh_directions(shape)
    ports = (*(port_name(len(shape), dimension, step) for dimension, step in steps), "local")

    links = []
    for out, (dimension, step) in enumerate(steps):
        into = out ^ 1  # the two ports of a dimension are neighbours in the list: 0 and 1, 2 and 3
        target = coordinates.copy()
        target[:, dimension] += step
        inside = (target[:, dimension] >= 0) & (target[:, dimension] < shape[dimension]) | wraps
        start = np.flatnonzero(inside)
        end = np.ravel_multi_index(tuple(target[inside].T), shape, mode="wrap" if wraps else "raise")
        links.append(np.stack([start, np.full_like(start, out), end, np.full_like(start, into)], axis=1))
    rows = np.concatenate(links)

    own = np.stack([np.arange(nodes), np.full(nodes, len(ports) - 1)], axis=1).astype(np.int32)
    places = grid_places(coordinates, shape)
    return Topology(
        name=f"{kind}:{'x'.join(map(str, shape))}",
        kind=kind,
        shape=shape,
        ports=(ports,) * nodes,
        links=rows[np.lexsort((rows[:, 1], rows[:, 0]))].astype(np.int32),
        injections=own,
        consumptions=own.copy(),
        coordinates=coordinates,
        places=Places(places, places),
    )


def mesh_directions(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """List the dimension and step (+1 or -1) of each port to another router, in the order of the ports."""
    return [(dim, step) for dim in reversed(range(len(shape))) if shape[dim] > 1 for step in (1, -1)]


def direction_name(dimension: int, step: int) -> str:
    """Return the name of steps up (+1) or down (-1) a dimension in class maps: ``0+``, ``0-``, ``1+``, ..."""
    return f"{dimension}{'+' if step > 0 else '-'}"


def port_name(dimensions: int, dimension: int, step: int) -> str:
    """Return the name of the port one step up (+1) or down (-1) a dimension."""
    if dimensions == 2:
        return {(1, 1): "east", (1, -1): "west", (0, 1): "south", (0, -1): "north"}[dimension, step]
    name = "xyz"[dimension] if dimensions == 3 else f"d{dimension}"
    return name + ("+" if step > 0 else "-")


def grid_places(coordinates: npt.NDArray[np.int32], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Place the nodes. Two dimensions: column, row. Three: x, y, z. Four and more dimensions: grids of grids in the
    plane.

    From four dimensions on, the last dimension runs along x, the one before it along y, the one before that along x
    again. A step of an outer dimension is one cell more than the size of the inner grids.
    """
    if len(shape) == 3:
        return coordinates.astype(float)
    places = np.zeros((len(coordinates), 2))
    stride = [1, 1]
    for number, dimension in enumerate(reversed(range(len(shape)))):
        places[:, number % 2] += coordinates[:, dimension] * stride[number % 2]
        stride[number % 2] = stride[number % 2] * shape[dimension] + 1
    return places

