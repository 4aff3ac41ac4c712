"""U-torus: a tree of unicasts that halves the sorted nodes recursively, on tori."""

from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .halving import halving_worms
from .unicast import UnicastScheme

__all__ = ["UTorus"]


class UTorus(UnicastScheme):
    """Halve the sorted nodes, source first, recursively: a node with the message sends it to a node of the other half.

    Source and destinations are sorted by their coordinates, first by the coordinate that e-cube routes first, which is
    the last one. The chain is rotated until the source is first. A node that serves a piece of the chain sends to the
    first node of the upper half of the piece, which then serves this half.

    On one-way rings the worms of one step share no link ([Robinson95]). By `UTorus` worms take the shorter way around a
    ring, and may share links; ``wormcast plan`` reports worms that share links.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm per step, and a destination
    begins in the step after its receipt. A worm also carries the list of nodes that its receiver must serve, as payload
    that is not counted. Source: [Robinson95]; reconstructed from general knowledge.
    """

    name = "u-torus"
    description = "a tree of unicasts by e-cube on tori, in the fewest steps that one port allows"
    provenance = "reconstructed (U-torus of [Robinson95], from general knowledge)"
    kinds = ("torus", "ring")

    def form(self, topology: Topology) -> str:
        """Describe the order of the chain."""
        return "the chain sorted by the last dimension first, as e-cube routes, and turned to begin at the source"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms by `halving_worms`."""
        return halving_worms(topology, messages, turned=True)
