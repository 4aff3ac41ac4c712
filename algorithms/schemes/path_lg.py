"""Path worms, less greedy."""

from .multi_drop import MultiDropScheme

__all__ = ["PathLessGreedy"]


class PathLessGreedy(MultiDropScheme):
    """A worm for each chain of switches; one node of each switch that has the message sends the rest of them.

    As `PathGreedy`, but in every step no more than one worm starts at a switch, beside those of the source. It takes as
    many steps or more, and fewer worms of a step wait for each other's links. The paper takes it for all comparisons.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-lg"
    description = "a worm for each chain of switches that links down lead along, sent on by one node of each switch"
    provenance = "Sivaram et al. 1998, 5.2.2 to 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = False
