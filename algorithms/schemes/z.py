"""Z: the simple broadcast of [Hou], in which a node sends one worm to each other quarter of its part of the torus."""

from ..topologies.base import Topology
from .broadcast import BroadcastTree, TorusBroadcast
from .cost import Cost

__all__ = ["Z"]


class Z(TorusBroadcast):
    """Divide the torus into quarters, send to one node of each of the other three quarters, and repeat in each quarter.

    A block has 2 x 2 units of d x d nodes each; d halves from n / 2 to 1. The source of a block sends to the offsets
    (d, 0), (0, d) and, farthest and last, (-d, d). In the first step, both ways around a ring have the same length.
    Signs in the header of the worm to (-d, d) select the way to the left.

    Cost: log2(n) steps, 3 log2(n) t_s + 2 (n - 1) t_hop + log2(n) (c + t_r) if no worm waits. On tori of 4 x 4
    nodes or more, worms of different steps may wait for each other.
    Source: [Hou], sections 5.1 and 5.2, figures 5 and 6; the order of the sends is ours.
    """

    name = "z"
    description = "broadcast by blocks of 2 x 2 units; worms of different steps may wait for each other"
    provenance = "[Hou], section 5.1 (order of sending: ours)"

    def tree(self, extent: int) -> BroadcastTree:
        """Build the broadcast from node (0, 0)."""
        tree, unit, step = BroadcastTree(extent), extent, 0
        while unit > 1:
            unit //= 2
            step += 1
            z_step(tree, unit, step)
        return tree

    def cost(self, topology: Topology) -> Cost:
        """Return the cost of the broadcast without contention."""
        steps = topology.shape[0].bit_length() - 1
        return Cost(3 * steps, 2 * (topology.shape[0] - 1), steps)


def z_step(tree: BroadcastTree, unit: int, step: int) -> None:
    """Send from every informed node to one node in each of the other three units of its block. A block has 2 x 2
    units."""
    for node in list(tree.informed):
        for x, y in ((1, 0), (0, 1), (-1, 1)):
            tree.send(node, (x * unit, y * unit), step)
