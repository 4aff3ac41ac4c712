"""Meshes of two or more dimensions: one router a node, no links around the edge."""

import math
import re

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from .base import Topology

__all__ = ["direction_name", "mesh", "mesh_directions", "port_name"]

MOST_NODES = 4096
"""A routing table has a byte for each pair of nodes, and some more while it is made."""

MOST_DIMENSIONS = 12
"""As many as the extents of 4096 nodes can fill."""


def mesh(extents: str) -> Topology:
    """Build the mesh with these extents: ``"8x8"`` is ROWSxCOLUMNS, ``"4x4x4"`` XxYxZ.

    Each router has two ports for each dimension that extends beyond one node, last dimension first and
    upwards first, and then ``local``::

                 north (row-1)
                   |
        west ---- 3.2 ---- east (column+1)     local: the node itself
                   |
                 south (row+1)

    Ids are row-major, so that id = row*COLUMNS + column. In two dimensions the ports are named as drawn, in
    three ``z+ z- y+ y- x+ x-``, beyond that ``d3+ d3- ...``. The labels are those of a boustrophedon Hamiltonian
    path ([Boppana98] in two dimensions, [Amnah] in three; [Lin94]).

    Raises
    ------
    WormcastError
        The extents are not two (up to twelve) whole numbers from 1 joined by ``x``, or there are fewer than
        two nodes, or more than 4096.
    """
    shape = parse_extents(extents)
    nodes = math.prod(shape)
    coordinates = np.stack(np.unravel_index(np.arange(nodes), shape), axis=1).astype(np.int32)
    directions = mesh_directions(shape)
    ports = (*(port_name(len(shape), dimension, step) for dimension, step in directions), "local")

    links = []
    for out, (dimension, step) in enumerate(directions):
        into = out ^ 1  # the two ports of a dimension are neighbours in the list: 0 and 1, 2 and 3
        target = coordinates.copy()
        target[:, dimension] += step
        inside = (target[:, dimension] >= 0) & (target[:, dimension] < shape[dimension])
        start = np.flatnonzero(inside)
        end = np.ravel_multi_index(tuple(target[inside].T), shape)
        links.append(np.stack([start, np.full_like(start, out), end, np.full_like(start, into)], axis=1))
    rows = np.concatenate(links)

    own = np.stack([np.arange(nodes), np.full(nodes, len(ports) - 1)], axis=1).astype(np.int32)
    return Topology(
        name=f"mesh:{'x'.join(map(str, shape))}",
        kind="mesh",
        shape=shape,
        ports=(ports,) * nodes,
        links=rows[np.lexsort((rows[:, 1], rows[:, 0]))].astype(np.int32),
        injections=own,
        consumptions=own.copy(),
        coordinates=coordinates,
        labels=hamiltonian_labels(coordinates, shape),
    )


def parse_extents(extents: str) -> tuple[int, ...]:
    """Read ``"8x8"`` as (8, 8), or refuse it."""
    digits = re.compile("[0-9]{1,9}")
    shape = tuple(int(field) if digits.fullmatch(field) else 0 for field in extents.split("x"))
    if not 2 <= len(shape) <= MOST_DIMENSIONS or min(shape) < 1:
        raise WormcastError(
            f"topology: 'mesh:{extents}' is not mesh:ROWSxCOLUMNS (or mesh:XxYxZ, or more) with whole numbers from 1"
        )
    if not 2 <= math.prod(shape) <= MOST_NODES:
        raise WormcastError(
            f"topology: 'mesh:{extents}' is a mesh of size {math.prod(shape)}, allowed are 2 to {MOST_NODES} nodes"
        )
    return shape


def mesh_directions(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """List dimension and step (+1 or -1) of each port to another router, in the order of the ports."""
    return [(dim, step) for dim in reversed(range(len(shape))) if shape[dim] > 1 for step in (1, -1)]


def direction_name(dimension: int, step: int) -> str:
    """Name of the steps up (+1) or down (-1) a dimension, as class maps write it: ``0+``, ``0-``, ``1+``, ..."""
    return f"{dimension}{'+' if step > 0 else '-'}"


def port_name(dimensions: int, dimension: int, step: int) -> str:
    """Name of the port that leads one step up (+1) or down (-1) a dimension."""
    if dimensions == 2:
        return {(1, 1): "east", (1, -1): "west", (0, 1): "south", (0, -1): "north"}[dimension, step]
    name = "xyz"[dimension] if dimensions == 3 else f"d{dimension}"
    return name + ("+" if step > 0 else "-")


def hamiltonian_labels(coordinates: npt.NDArray[np.int32], shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """Label the nodes along a Hamiltonian path: the reflected mixed-radix code of their coordinates.

    The coordinates are taken as digits, in the order of `label_axes`. A digit counts backwards where the sum of the
    coordinates before it is odd: each step along the path changes one of them by one, so this sum tells even places
    from odd.

    Source: [Boppana98], section 2.1: label(r, c) = k*r + (c if r is even else k-1-c), k columns; [Amnah], the
    labels of three-dimensional meshes. Beyond three dimensions: ours.
    """
    labels = np.zeros(len(coordinates), np.int32)
    before = np.zeros(len(coordinates), np.int32)
    for axis in label_axes(len(shape)):
        digit = coordinates[:, axis]
        labels = labels * shape[axis] + np.where(before % 2 == 0, digit, shape[axis] - 1 - digit)
        before = before + digit
    return labels


def label_axes(dimensions: int) -> tuple[int, ...]:
    """Order the dimensions from the slowest along the Hamiltonian path to the fastest: y, z, x of three ([Amnah])."""
    return (1, 2, 0) if dimensions == 3 else tuple(range(dimensions))
