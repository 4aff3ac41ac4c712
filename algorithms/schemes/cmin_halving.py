"""Chain halving in multistage networks: a tree of unicasts by the order of node ids."""

from ..routing import DESTINATION_TAGS
from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .halving import halving_worms
from .unicast import UnicastScheme

__all__ = ["CminHalving"]


class CminHalving(UnicastScheme):
    """Halve the sorted nodes, source first, recursively: a node with the message sends it to a node of the other half.

    Source and destinations are sorted by their ids, and the chain is rotated until the source is first. A node that
    serves a piece of the chain sends to the first node of the upper half of the piece, which then serves this half.

    In the indirect cube and in omega networks no two worms of one step of a broadcast share a link. On the baseline
    network, worms of one step to the same half of the nodes may share links; `Cmin` has fewer of these conflicts.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm per step, and a destination
    begins in the step after its receipt. A worm also carries the list of nodes that its receiver must serve, as payload
    that is not counted. Source: [Chiang95]; reconstructed from its abstract and [Varavithya], section 4.
    """

    name = "cmin-halving"
    description = "a tree of unicasts in multistage networks that halves the nodes in the order of their ids"
    provenance = "reconstructed (software multicast of [Chiang95], from its abstract: the chain is ours)"
    kinds = ("min",)
    relation = DESTINATION_TAGS

    def form(self, topology: Topology) -> str:
        """Describe the order of the chain."""
        return "the chain sorted by ids, and turned to begin at the source"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms by `halving_worms`."""
        return halving_worms(topology, messages, turned=True)
