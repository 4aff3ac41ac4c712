"""Single-switch replication, greedy algorithm."""

from .multi_drop import MultiDropScheme

__all__ = ["SsrGreedy"]


class SsrGreedy(MultiDropScheme):
    """One worm per switch with destinations. All nodes with the message send.

    Switches with more destinations are served first, and those with the same number in the order of their chains. In
    every step each node with the message sends one worm, so that these worms need the fewest steps.

    Source: [Sivaram98], sections 5.2.1 and 5.2.5.
    """

    name = "ssr-g"
    description = "a worm for each switch with destinations, sent on by all nodes that have the message"
    provenance = "Sivaram et al. 1998, 5.2.1 and 5.2.5 (ties: ours)"
    whole_chains = False
    all_send = True
