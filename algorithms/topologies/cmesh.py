"""Concentrated meshes: several nodes at each router of a mesh."""

import dataclasses

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..phrases import count
from .base import Places, Topology
from .direct import grid
from .parameters import MOST_PORTS, MOST_SWITCHES, read_extents

__all__ = ["cmesh", "routers_of"]

Integers = npt.NDArray[np.int32]

# in cells, see `Places`
OUT, UP = 1.2, 0.6  # distance of a router's first nodes from it, across and down
APART = 0.7  # distance between a router's first nodes and its further ones
SIDE = 0.1  # nodes are farther across than down by this distance, so that their lines end on the sides of the box
BETWEEN = 1.4  # distance between the nodes of neighbouring routers


def cmesh(extents: str) -> Topology:
    """Build the concentrated mesh with these extents: ``"4x4x2"``, a mesh of 4x4 routers with two nodes each.

    Routers, links and ports between routers are those of the mesh ``"4x4"``. In place of its port ``local`` a router
    has a port for each node, ``n0``, ``n1`` and so on. A node's coordinates are those of its router, and then its
    number at the router::

        0.0.0   0.0.1      0.1.0   0.1.1
             \\  /               \\  /
              s0 ---------------- s1        cmesh:1x2x2

    Source: [Balfour06], without the express links around the edge of that paper's networks.

    Raises
    ------
    WormcastError
        The extents are not three whole numbers from 1 joined by ``x``; there are fewer than two routers, or nodes at a
        router; or there are more than 1024 routers, 4096 nodes, or 32 ports at a router.
    """
    shape = read_extents("cmesh", extents, syntax="ROWSxCOLUMNSxNODES", dimensions=3)
    routers, nodes = shape[0] * shape[1], shape[2]
    if not 2 <= routers <= MOST_SWITCHES:
        raise WormcastError(f"topology: 'cmesh:{extents}' has {count(routers, 'router')}. Allowed: 2 to "
                            f"{MOST_SWITCHES} routers.")
    mesh = grid("mesh", shape[:2], wraps=False)
    links = len(mesh.ports[0]) - 1
    if not 2 <= nodes <= MOST_PORTS - links:
        raise WormcastError(f"topology: 'cmesh:{extents}' has {count(nodes, 'node')} at each router. Allowed: 2 to "
                            f"{MOST_PORTS - links} nodes.")
    router, number = np.divmod(np.arange(routers * nodes), nodes)
    ends = np.stack([router, links + number], axis=1).astype(np.int32)
    network = dataclasses.replace(
        mesh,
        name=f"cmesh:{'x'.join(map(str, shape))}",
        kind="cmesh",
        shape=shape,
        ports=((*mesh.ports[0][:-1], *(f"n{one}" for one in range(nodes))),) * routers,
        injections=ends,
        consumptions=ends.copy(),
        coordinates=np.column_stack([mesh.coordinates[router], number]).astype(np.int32),
        switch_names=(),
        origin="",
    )
    return dataclasses.replace(network, places=_places(mesh.coordinates[:, ::-1], router, number))


def _places(at: Integers, router: Integers, number: Integers) -> Places:
    """Place routers by column and row, and the nodes of a router on its left and right, above and below its links."""
    across, down, high = np.where(number % 2, 1, -1), np.where(number // 2 % 2, 1, -1), UP + APART * (number // 4)
    beside = np.stack([across * max(OUT, high.max() + SIDE), down * high], axis=1)
    switches = at * (2 * np.abs(beside).max(axis=0) + BETWEEN)
    return Places(np.round(switches, 4), np.round(switches[router] + beside, 4))


def routers_of(topology: Topology) -> Topology:
    """Return the mesh whose nodes are the routers of a concentrated mesh. This mesh and the concentrated mesh have the
    same links and the same ports of links."""
    return grid("mesh", topology.shape[:-1], wraps=False)
