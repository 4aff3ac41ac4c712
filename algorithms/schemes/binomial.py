"""Binomial trees of unicasts that hosts forward."""

from ..k_binomial import BINOMIAL
from .chain_tree import ChainTree

__all__ = ["Binomial"]


class Binomial(ChainTree):
    """A binomial tree on a chain of source and destinations. Each host forwards a message after it has received the
    whole message.

    In each step every node with the message sends it to one other node, and a node begins in the step after its
    receipt. So the number of nodes with the message doubles in each step, except perhaps in the last one. `chains_of`
    sorts the nodes into the chain: by dimension on meshes, concentrated meshes, tori, rings, fat trees and dragonflies.
    On networks of other kinds, `chains_of` sorts by `cco` (chain after chain of switches) if all links go both ways,
    else by id. ``binomial:order=...`` selects another order, as ``binomial:order=random,seed=1``.

    Cost: ceil(log2(d + 1)) steps for d destinations, the fewest with one port. Each step costs t_hs at the sender and
    t_hr at the receiver.
    Source: [Sivaram98], section 3.3; the tree on the chain is that of section 4.3.4.
    """

    name = "binomial"
    description = "a binomial tree of unicasts that hosts send on, on every network; binomial:order=ORDER"
    provenance = "[Sivaram98], sections 3.3 and 4.3.4 (order cco from the abstract of Kesavan et al. 1997)"
    k = BINOMIAL
