"""U-mesh: a tree of unicasts in which no two sent in the same step share a link."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..worms import Worms
from .halving import halving_worms
from .mesh import MeshScheme
from .unicast import UnicastScheme

__all__ = ["UMesh"]


class UMesh(UnicastScheme, MeshScheme):
    """Halve the sorted nodes again and again: whoever has the message sends it to a node of the other half.

    Source and destinations are sorted by their coordinates, the one that e-cube routes first (the last) foremost. The
    holder of a piece of this chain cuts it in two, the upper piece having one more of an odd number, and sends the
    message to the nearest node of the piece that it is not in: the first of the upper or the last of the lower
    one, which goes on with that piece. So the worms of one step go between nodes of the chain that do not
    interleave, and by e-cube they share no link.

    The order is that of meshes: on a torus, where worms also go around the edge, the chain would have to begin at the
    source, and networks without coordinates have no order of dimensions.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm a step, a destination from
    the step after its receipt. The list of nodes that a destination is to serve travels as payload, uncounted.
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
        """Compute the worms, as `halving_worms`."""
        return halving_worms(topology, sources, destination_offsets, destinations, turned=False)
