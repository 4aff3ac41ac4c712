"""Tseng's broadcast on tori by dilated diagonals."""

from .broadcast import BroadcastTree, TorusBroadcast

__all__ = ["Tseng"]


class Tseng(TorusBroadcast):
    """Inform a node of each row, gather on the diagonal, and multiply the diagonals until they cover the torus.

    On a torus of n x n nodes, n = 5^s, from node (0, 0):

    1. steps t = 1 to s, with d = n / 5^t: each informed node sends to the offsets (d, d), (-d, -d), (0, 2d) and (0,
       -2d). After step s one node of each row is informed.
    2. step s + 1: each informed node off the main diagonal sends along its row to the diagonal.
    3. steps s + 1 + t for t = 1 to s, again with d = n / 5^t: each node of the diagonals sends to the offsets (d, 0),
       (-d, 0), (0, 2d) and (0, -2d). Each step after step s + 1 multiplies the number of informed diagonals by five.

    Nodes that have the message are skipped. Extents are odd, so that there are no ties.

    Cost: 2 log5(n) + 1 steps. No two worms of a step share a link.
    Source: Tseng's scheme as described in [Hou], section 4. The offsets and their order are ours,
    because only an abstract of Tseng's paper was available.
    """

    name = "tseng"
    description = "broadcast by dilated diagonals (reconstructed), on tori of 5^s x 5^s nodes"
    provenance = "reconstructed (Tseng's dilated diagonals, from an abstract and [Hou], section 4)"
    extents = "tori of 5^s x 5^s nodes"

    def allows(self, extent: int) -> bool:
        """Return whether the scheme is defined on tori of this extent: a power of five."""
        while extent > 1 and extent % 5 == 0:
            extent //= 5
        return extent == 1

    def tree(self, extent: int) -> BroadcastTree:
        """Build the broadcast from node (0, 0)."""
        tree, step, unit = BroadcastTree(extent), 0, extent
        units = []
        while unit > 1:
            unit //= 5
            units.append(unit)
        for d in units:
            step += 1
            for node in list(tree.informed):
                self._send(tree, node, ((d, d), (-d, -d), (0, 2 * d), (0, -2 * d)), step)
        step += 1
        for x, y in list(tree.informed):
            away = (y - x + extent // 2) % extent - extent // 2
            self._send(tree, (x, y), ((away, 0),), step)
        diagonals = [(y, y) for y in range(extent)]
        for d in units:
            step += 1
            reached = []
            for node in diagonals:
                offsets = ((d, 0), (-d, 0), (0, 2 * d), (0, -2 * d))
                self._send(tree, node, offsets, step)
                reached += [tree.at(node, offset) for offset in offsets]
            diagonals += reached
        return tree

    @staticmethod
    def _send(tree: BroadcastTree, node: tuple[int, int], offsets: tuple[tuple[int, int], ...], step: int) -> None:
        """Send to the nodes at these offsets that do not have the message."""
        for offset in offsets:
            if not tree.has(tree.at(node, offset)):
                tree.send(node, offset, step)
