"""U-mesh: a tree of unicasts without shared links within a step."""

from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .halving import halving_worms
from .mesh import MeshScheme
from .unicast import UnicastScheme

__all__ = ["UMesh"]


class UMesh(UnicastScheme, MeshScheme):
    """Halve the sorted nodes recursively: a node with the message sends it to a node of the other half.

    Source and destinations are sorted into a chain by their coordinates, first by the coordinate that e-cube routes
    first, which is the last one. A node that serves a piece of the chain cuts the piece in two; of an odd number of
    nodes the upper piece gets one more. The node sends the message to the nearest node of the new piece to which the
    sender does not belong: the first node of the upper piece, or the last node of the lower piece. The receiver then
    serves the piece to which the receiver belongs. So senders and receivers of the worms of one step do not interleave
    in the chain, and by e-cube these worms share no link.

    The scheme is defined on meshes only. On a torus, where worms also cross the edge, the chain would have to begin at
    the source. Networks without coordinates have no order of dimensions.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm per step, and a destination
    begins in the step after its receipt. A receiver needs the list of nodes that it must serve; simulated worms have no
    flits for this list. Source: [McKinley94]; reconstructed from general knowledge.
    """

    name = "u-mesh"
    description = "a tree of unicasts by e-cube, in the fewest steps that one port allows"
    provenance = "reconstructed (U-mesh of [McKinley94], from general knowledge)"
    in_two_dimensions = "the chain sorted by column, then row"
    in_more_dimensions = "the chain sorted by the last dimension first, as e-cube routes"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms by `halving_worms`."""
        return halving_worms(topology, messages, turned=False)
