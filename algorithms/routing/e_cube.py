"""Dimension order on meshes, tori and rings."""

import numpy as np

from ..errors import WormcastError
from ..topologies.base import Topology
from ..topologies.grid import GRIDS, mesh_directions
from .base import ChoiceRelation, Choices, one_way

__all__ = ["E_CUBE", "ECube"]


class ECube(ChoiceRelation):
    """Dimension order, last dimension first: in a row to the right column, then in that column.

    On a torus the shorter way around each ring; where both are as long, upwards (+). There the virtual channels of a
    link are of two classes, so that no worms wait for each other around a ring: a worm that crosses the ring's edge
    on its way takes class ``p`` up to that hop and with it, and after it ``h`` (upwards) or ``l`` (downwards) as one
    that never crosses it. A ring's edge lies between its last node and its first::

        0 --- 1 --- 2 --- 3 --- 0       1 to 3: h h      2 to 0: p p      3 to 1: p h
           h     h    h p    p          (as far both ways: upwards)

    A link has at most two of the three: ``l`` and ``h`` are one class, for links down and up.
    Source: paper 002, section 2 ("row first"); paper 004 for the classes.
    """

    name = "e-cube"
    description = "dimension order, last dimension first: along the row, then along the column"

    def choices(self, topology: Topology) -> Choices:
        """Give the one way to each node; defined on meshes, tori and rings."""
        if topology.kind not in GRIDS:
            raise WormcastError(f"relation e-cube: {topology.name} is no mesh, torus or ring, "
                                "e-cube is defined on these")
        wraps = topology.kind != "mesh"
        own = topology.ports[0].index("local")
        table = np.full((topology.nodes, topology.nodes), own, np.int8)
        crossing = np.zeros(table.shape, bool)  # whether what is left of this ring goes over its edge
        # Backwards, as later writes win: the last dimension comes first among the ports and in the route.
        for port, (dimension, step) in reversed(list(enumerate(mesh_directions(topology.shape)))):
            at = topology.coordinates[:, None, dimension]
            to = topology.coordinates[None, :, dimension]
            straight = (to - at) * step > 0
            if wraps:
                extent = topology.shape[dimension]
                away = (to - at) * step % extent
                taken = (away > 0) & ((2 * away < extent) | ((2 * away == extent) & (step > 0)))
                crossing[taken] = ~straight[taken]
            else:
                taken = straight
            table[taken] = port
        if not wraps:
            return one_way(topology, table)
        return one_way(topology, table, np.where((table != own) & ~crossing, 1, 0), ("p", "l/h"))


E_CUBE = ECube()
