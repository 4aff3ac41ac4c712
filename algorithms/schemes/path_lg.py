"""Path worms, less greedy algorithm."""

from .multi_drop import MultiDropScheme

__all__ = ["PathLessGreedy"]


class PathLessGreedy(MultiDropScheme):
    """One worm per chain of switches. One node of each switch with the message sends.

    As `PathGreedy`, but in every step at most one worm starts at each switch, not counting worms from the source. This
    needs at least as many steps as `PathGreedy`, but fewer worms of a step wait for each other's links. [Sivaram98]
    uses this algorithm for all comparisons.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-lg"
    description = "a worm for each chain of switches that links down lead along, sent on by one node of each switch"
    provenance = "Sivaram et al. 1998, 5.2.2 to 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = False
