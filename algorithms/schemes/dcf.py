"""DCF: the depth contention-free broadcast of [Hou], in its two forms."""

from ..topologies.base import Topology
from .broadcast import Block, BroadcastTree, TorusBroadcast
from .cost import Cost
from .z import z_step

__all__ = ["Dcf", "Dcf2"]


class Dcf(TorusBroadcast):
    """Divide the torus into 4 x 4 units, inform one node of each unit in two steps, and repeat in each unit.

    A block's source S sends to A, B, C and D by four different channels. In the second step A sends to its four
    neighbours, B to three, C to two, D and S to one each, all one unit away::

                 -2  -1   0   1   2   3    x, routed first
            -2        b
            -1    b   B   D   d                 S: A (2,1), B (-1,-1), C (0,2), D (0,-1), then s (1,0)
             0        b   S   s   a
             1            c   a   A   a
             2            C   c   a
             y

    A unit has n / 4 x n / 4 nodes in the first two steps, n / 16 x n / 16 in the next two, and so on. If units of 2 x 2
    nodes are left, as on 8 x 8, the last step is that of `Z`. The paper's figure 7 is not available. The paper's text
    determines the block of `Dcf`, except that either B or C sends to three neighbours: see `Dcf2`.

    Cost: log2(n) steps. With n = 4^k, the latency (see `Cost`) is 5 k t_s + 4 (4^k - 1) / 3 t_hop + 2 k (c + t_r).
    With n = 2 4^k, the latency is (5 k + 3) t_s + 2 (4^(k+1) - 1) / 3 t_hop + (2 k + 1) (c + t_r). No worm waits for a
    worm of another sender.
    Source: [Hou], sections 5.2 and 6.1.
    """

    name = "dcf"
    description = "broadcast by blocks of 4 x 4 units, in which no worm waits for another node's"
    provenance = "[Hou], section 5.2 (Figure 7 from its text: first of two blocks that fit)"

    block: Block = (
        ((2, 1), (-1, -1), (0, 2), (0, -1)),
        {(2, 1): ((1, 0), (-1, 0), (0, 1), (0, -1)), (-1, -1): ((-1, 0), (0, 1), (0, -1)), (0, 2): ((1, 0), (0, -1)),
         (0, -1): ((1, 0),), (0, 0): ((1, 0),)},
    )

    def tree(self, extent: int) -> BroadcastTree:
        """Build the broadcast from node (0, 0)."""
        return tree_of_blocks(extent, self.block)

    def cost(self, topology: Topology) -> Cost:
        """Return the cost of the broadcast; units of 2 x 2 nodes at the end need a step of `Z`."""
        phases, left = divmod(topology.shape[0].bit_length() - 1, 2)
        return Cost(5 * phases + 3 * left, hops_of_blocks(topology.shape[0]), 2 * phases + left)


class Dcf2(Dcf):
    """DCF with the other block that fits the paper's text: B = (0, 2) sends to three, C = (-1, -1) to two.

    The unit at offset (-1, 2) from the source, modulo 4, is informed by the unit at (0, 2) in `Dcf2`, and by the unit
    at (-1, -1) in `Dcf`. Cost and source as for `Dcf`.
    """

    name = "dcf-2"
    description = "dcf with the other block that fits its paper's text"
    provenance = "[Hou], section 5.2 (Figure 7 from its text: second of two blocks that fit)"

    block: Block = (
        ((2, 1), (0, 2), (-1, -1), (0, -1)),
        {(2, 1): ((1, 0), (-1, 0), (0, 1), (0, -1)), (0, 2): ((1, 0), (-1, 0), (0, -1)), (-1, -1): ((-1, 0), (0, 1)),
         (0, -1): ((1, 0),), (0, 0): ((1, 0),)},
    )


def tree_of_blocks(extent: int, block: Block) -> BroadcastTree:
    """Build the broadcast from node (0, 0) by these blocks, with a last step of `Z` if units of 2 x 2 nodes are left.
    """
    tree, unit, step = BroadcastTree(extent), extent, 1
    while unit >= 4:
        unit //= 4
        for node in list(tree.informed):
            tree.send_block(node, block, unit, step)
        step += 2
    if unit == 2:
        z_step(tree, 1, step)
    return tree


def hops_of_blocks(extent: int) -> int:
    """Count the hops of the longest chain of unicasts: four times the unit's extent in nodes for each pair of steps,
    and two for a last step of `Z`."""
    hops, unit = 0, extent
    while unit >= 4:
        unit //= 4
        hops += 4 * unit
    return hops + 2 * (unit == 2)
