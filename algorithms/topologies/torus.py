"""Tori of two or more dimensions, and rings: one router per node, with links around the edges."""

import dataclasses

from .base import Places, Topology
from .coordinates import circle
from .direct import grid
from .parameters import MOST_NODES, read_extents, whole_number

__all__ = ["ring", "torus"]


def torus(extents: str) -> Topology:
    """Build the torus with these extents: ``"4x4"`` is XxY, ``"4x4x4"`` XxYxZ.

    Coordinates, ids and ports are those of a mesh with the same extents, so that in two dimensions ``x`` is the row
    and ``y`` the column. The last node of each dimension has a link to the first. Between two nodes of a dimension of
    extent 2 there are two links each way, which are parallel.

    Raises
    ------
    WormcastError
        The extents are not two to twelve whole numbers from 1 joined by ``x``, or there are fewer than two nodes, or
        more than 4096.
    """
    return grid("torus", read_extents("torus", extents), wraps=True)


def ring(nodes: str) -> Topology:
    """Build the ring with this number of nodes: a torus of one dimension, with ports ``d0+``, ``d0-`` and ``local``.

    Raises
    ------
    WormcastError
        The text is not a whole number from 2 to 4096.
    """
    count = whole_number(f"ring:{nodes}", "N", nodes, 2, MOST_NODES)
    network = grid("ring", (count,), wraps=True)
    places = circle(count)
    return dataclasses.replace(network, places=Places(places, places))
