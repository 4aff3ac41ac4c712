"""k-binomial trees of unicasts that network interfaces forward."""

from collections.abc import Mapping
from copy import copy
from typing import ClassVar

from ..k_binomial import BEST, MOST_CHILDREN
from .chain_tree import ChainTree

__all__ = ["KBinomial"]

MOST_PACKETS = 2**40
"""Largest value of the scheme's parameter ``packets``."""


class KBinomial(ChainTree):
    """A tree whose nodes have at most k children. Network interfaces forward each packet as soon as it arrives.

    The more packets a message has, the fewer children a node should have: while a node sends a packet to all its
    children, the next packet waits. By default k is the number from 1 to ceil(log2(n)) with the fewest steps for the
    packets of a message (`best_k`), with n nodes, the source included. ``k-binomial:k=...`` sets k;
    ``k-binomial:packets=...`` sets the number of packets for which the best k is computed. As for `Binomial`,
    `chains_of` sorts the nodes into a chain, in the order that ``order=...`` selects.

    Cost: at most L1 + (m - 1) k packet steps for m packets, and t_hs and t_hr once. L1 is the number of steps for the
    first packet. A packet step is the time in which an interface sends a packet.
    Source: [Sivaram98], section 4.3.
    """

    name = "k-binomial"
    description = ("a tree of unicasts with at most k children a node, that network interfaces forward packet by "
                   "packet, on every network; k-binomial:k=K,order=ORDER,packets=M")
    provenance = "[Sivaram98], section 4.3 (order cco from the abstract of Kesavan et al. 1997)"
    forwarded = True
    parameters: ClassVar[Mapping[str, str]] = {"k": "", "packets": "", **ChainTree.parameters}
    chosen_for = 0
    """Number of packets that a user has set for the best k. If the user has set no number (0), the best k is computed
    for the packets of a message."""

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Set k, and the number of packets for the best k."""
        super().set_parameters(given)
        if given["k"]:
            self.k = self._number(given, "k", 1, MOST_CHILDREN)
        if given["packets"]:
            self.packets = self.chosen_for = self._number(given, "packets", 1, MOST_PACKETS)

    def for_packets(self, packets: int) -> "KBinomial":
        """Return the scheme with the best k for this number of packets, if neither k nor packets are set."""
        if self.k != BEST or self.chosen_for:
            return self
        other = copy(self)
        other.packets = packets
        return other
