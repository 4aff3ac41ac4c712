"""SP, six-phase: up to three worms up the Hamiltonian path and three down, in three dimensions."""

from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .dual_path import LabelOrder, side_keys
from .grouping import grouped_worms

__all__ = ["SixPhase"]


class SixPhase(LabelOrder):
    """Divide dual-path's two sets by the destinations' x: greater than the source's, smaller, and the same.

    Each worm goes by R directly from the source. A worm without destinations is not sent.

    Cost: at most six start-ups. The paper's worms leave by six outputs at once. By R two worms may leave by the same
    output: in the paper's own example two worms take the same first link. Of two worms with the same first link, the
    one sent first goes ahead of the other, even with an injection port per link. On 5x5x5, 72 % of random multicasts to
    12 destinations have worms with a common first link, and 98 % of those to 100 destinations. The 72 % are measured
    with ``wormcast plan mesh:5x5x5 sp --random 10000 --destinations-distribution fixed --destinations-mean 12``.
    Source: [Amnah], SP.
    Ours: the order of sending. Worms to greater x are sent first, then worms to smaller x, then worms to the same x; of
    each two worms, the worm to higher labels is sent first.
    """

    name = "sp"
    description = "six-phase: dual-path's two sets each divided by x greater, smaller, or the source's"
    provenance = "[Amnah], SP (order of sending: ours)"
    in_two_dimensions = ""
    in_three_dimensions = "as printed"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one to six per message."""
        keys = side_keys(topology.hamiltonian_labels, topology.coordinates[:, 0].copy(), 2, *messages)
        return grouped_worms(messages, keys, topology.nodes)
