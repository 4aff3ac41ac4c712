"""Meshes of two or more dimensions: one router per node, no links around the edge."""

import dataclasses

import numpy as np
import numpy.typing as npt

from .base import Topology
from .direct import direction_name, grid, mesh_directions, port_name
from .parameters import read_extents

__all__ = ["direction_name", "mesh", "mesh_directions", "port_name"]


def mesh(extents: str) -> Topology:
    """Build the mesh with these extents: ``"8x8"`` is ROWSxCOLUMNS, ``"4x4x4"`` XxYxZ.

    Each router has two ports for each dimension with more than one node, last dimension first and upwards first, and
    then ``local``::

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
        The extents are not two to twelve whole numbers from 1 joined by ``x``, or there are fewer than two nodes, or
        more than 4096.
    """
    network = grid("mesh", read_extents("mesh", extents), wraps=False)
    return dataclasses.replace(network, labels=hamiltonian_labels(network.coordinates, network.shape))


def hamiltonian_labels(coordinates: npt.NDArray[np.int32], shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """Label the nodes along a Hamiltonian path: the reflected mixed-radix code of their coordinates.

    The coordinates are digits, in the order of `label_axes`. A digit counts backwards if the sum of the coordinates
    before it in the order of `label_axes` is odd. Each step along the path changes one coordinate by one, so that the
    sum before a digit alternates between even and odd.

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
    """Sort the dimensions from the slowest to the fastest along the Hamiltonian path: in 3-D y, z, x ([Amnah])."""
    return (1, 2, 0) if dimensions == 3 else tuple(range(dimensions))
