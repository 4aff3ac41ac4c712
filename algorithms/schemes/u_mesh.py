"""U-mesh: a tree of unicasts without shared links within a step."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..worms import Worms
from .halving import halving_worms
from .mesh import MeshScheme
from .unicast import UnicastScheme

__all__ = ["UMesh"]


class UMesh(UnicastScheme, MeshScheme):
    """Halve the sorted nodes recursively: a node with the message sends it to a node of the other half.

    Source and destinations are sorted by their coordinates, first by the one that e-cube routes first (the last). The
    holder of a piece of this chain cuts it in two; of an odd number the upper piece has one more. It sends the message
    to the nearest node of the piece without itself: the first of the upper or the last of the lower piece. That node
    continues with its piece. So the worms of one step go between nodes of the chain that do not interleave, and by
    e-cube they share no link.

    The scheme is defined on meshes only. On a torus, where worms also cross the edge, the chain would have to begin at
    the source. Networks without coordinates have no order of dimensions.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm per step, a destination from
    the step after its receipt. The list of nodes that a destination serves travels as payload, uncounted.
    Source: [McKinley94]; reconstructed from general knowledge.
    """

    name = "u-mesh"
    description = "a tree of unicasts by e-cube, in the fewest steps that one port allows"
    provenance = "reconstructed (U-mesh of McKinley, Xu, Esfahanian and Ni, from general knowledge)"
    in_two_dimensions = "the chain sorted by column, then row"
    in_more_dimensions = "the chain sorted by the last dimension first, as e-cube routes"

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms by `halving_worms`."""
        return halving_worms(topology, sources, destination_offsets, destinations, turned=False)
