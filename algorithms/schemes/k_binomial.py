"""k-binomial trees of unicasts that network interfaces forward."""

from collections.abc import Mapping
from copy import copy
from typing import ClassVar

from ..k_binomial import BEST, MOST_CHILDREN
from .chain_tree import ChainTree

__all__ = ["KBinomial"]

MOST_PACKETS = 2**40
"""As flits of a message."""


class KBinomial(ChainTree):
    """A tree whose nodes have k children at most, each packet forwarded by network interfaces as soon as it is there.

    The more packets a message has, the fewer children a node should have: while it sends a packet to all of them, the
    next one waits. Of all k from 1 to ceil(log2(n)) for n nodes, the source among them, the best one is taken for the
    packets of a message (`best_k`), or that of ``k-binomial:k=...``; with ``packets=...`` the best one for so many.
    The chain is that of `chains_of`, as for `Binomial`: ``order=...``.

    Cost: L1 + (m - 1) k packet steps at most, of one packet that an interface sends; t_hs and t_hr once.
    Source: [Sivaram98], section 4.3.
    """

    name = "k-binomial"
    description = ("a tree of unicasts with at most k children a node, that network interfaces forward packet by "
                   "packet, on every network; k-binomial:k=K,order=ORDER,packets=M")
    provenance = "Sivaram et al. 1998, 4.3 (order cco from the abstract of Kesavan et al. 1997)"
    forwarded = True
    parameters: ClassVar[Mapping[str, str]] = {"k": "", "packets": "", **ChainTree.parameters}
    chosen_for = 0
    """Packets for which a user has asked; 0: for those of the message."""

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Take k, and the packets that the best one is for."""
        super().set_parameters(given)
        if given["k"]:
            self.k = self._number(given, "k", 1, MOST_CHILDREN)
        if given["packets"]:
            self.packets = self.chosen_for = self._number(given, "packets", 1, MOST_PACKETS)

    def for_packets(self, packets: int) -> "KBinomial":
        """Give the scheme with the best k for messages of so many packets, where no k and no packets are given."""
        if self.k != BEST or self.chosen_for:
            return self
        other = copy(self)
        other.packets = packets
        return other
