"""Binomial trees of unicasts that hosts send on."""

from ..k_binomial import BINOMIAL
from .chain_tree import ChainTree

__all__ = ["Binomial"]


class Binomial(ChainTree):
    """A binomial tree on a chain of source and destinations, each host sending on what it has received as a whole.

    Whoever has the message sends it to one other node in a step, and a node begins in the step after its receipt, so
    that the number of those who have it doubles. The chain is that of `chains_of`: in irregular networks by cco, on
    meshes, tori and rings by dimension, in multistage networks by id; ``binomial:order=...`` has another one, as
    ``binomial:order=random,seed=1``.

    Cost: ceil(log2(d + 1)) steps for d destinations, each with t_hs and t_hr; the fewest that one port allows.
    Source: [Sivaram98], section 3.3; the tree on the chain is that of section 4.3.4.
    """

    name = "binomial"
    description = "a binomial tree of unicasts that hosts send on, on every network; binomial:order=ORDER"
    provenance = "Sivaram et al. 1998, 3.3 and 4.3.4 (order cco from the abstract of Kesavan et al. 1997)"
    k = BINOMIAL
