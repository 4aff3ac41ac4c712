"""EDN: broadcast by extended dominating nodes, reconstructed."""

from ..topologies.base import Topology
from .broadcast import Block, BroadcastTree, TorusBroadcast
from .cost import Cost
from .dcf import hops_of_blocks, tree_of_blocks

__all__ = ["Edn"]


class Edn(TorusBroadcast):
    """Divide the torus into 4 x 4 units as `Dcf` does. In both steps every informed node of a block sends three worms.

    ::

            -3  -2  -1   0   1   2   3    x, routed first
        -1   a   A   a
         0       a   s   S   s               S: B (0,2), C (2,1), A (-2,-1)
         1                   s   c   C   c
         2           b   B   b   c
         3               b
         y

    After every second step, the extent of a unit is divided by four, as in `Dcf`. In the first two steps a ring of the
    torus has four units. In the first two steps, B is two units from S along y, C two units along x, and A two units
    along x the other way. Both ways around a ring of four units to a unit at distance two are equally long, so that EDN
    needs signs (``--ties signed``). With ``--ties plus``, worms to the unit A at (-2, -1) go to the right, too, and
    share channels with worms of the same step to the unit C at (2, 1).

    Reconstructed from the abstract of [Tsai96] and from [Hou]. For n = 4^k, [Hou] states the cost 6 k t_s + 4 (4^k - 1)
    / 3 t_c + 2 k (L t_c + t_r). [Hou] also states that no contention occurs within steps. Eight translation-invariant
    patterns of two steps with three sends each meet both statements of [Hou]; they differ in reflections only. `Edn`
    uses one of the eight patterns that meet both statements of [Hou].

    Cost if no worm waits: log2(n) steps. With n = 4^k the start-ups take 6 k t_s, with n = 2 4^k they take 3 (2 k + 1)
    t_s. Apart from the start-ups, the terms of EDN's latency are those of `Dcf`. Worms of different steps may wait for
    each other.
    """

    name = "edn"
    description = "broadcast by extended dominating nodes (reconstructed): three sends of each node in a step"
    provenance = "reconstructed (EDN of [Tsai96], from its abstract and its description in [Hou])"

    block: Block = (
        ((0, 2), (2, 1), (-2, -1)),
        dict.fromkeys(((0, 0), (0, 2), (2, 1), (-2, -1)), ((1, 0), (-1, 0), (0, 1))),
    )

    def tree(self, extent: int) -> BroadcastTree:
        """Build the broadcast from node (0, 0)."""
        return tree_of_blocks(extent, self.block)

    def cost(self, topology: Topology) -> Cost:
        """Return the cost of the broadcast without contention."""
        steps = topology.shape[0].bit_length() - 1
        return Cost(3 * steps, hops_of_blocks(topology.shape[0]), steps)
