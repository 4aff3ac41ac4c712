"""Single-switch replication, less greedy algorithm."""

from .multi_drop import MultiDropScheme

__all__ = ["SsrLessGreedy"]


class SsrLessGreedy(MultiDropScheme):
    """One worm per switch with destinations. One node of each switch with the message sends.

    As `SsrGreedy`, but in every step at most one worm starts at each switch, not counting worms from the source. This
    needs at least as many steps as `SsrGreedy`, but fewer worms of a step wait for each other's links.

    Source: [Sivaram98], sections 5.2.1 and 5.2.5.
    """

    name = "ssr-lg"
    description = "a worm for each switch with destinations, sent on by one node of each switch"
    provenance = "Sivaram et al. 1998, 5.2.1 and 5.2.5 (ties: ours)"
    whole_chains = False
    all_send = False
