"""Path worms, greedy."""

from .multi_drop import MultiDropScheme

__all__ = ["PathGreedy"]


class PathGreedy(MultiDropScheme):
    """A worm for each chain of switches; all who have the message send the rest of them.

    A worm is copied to the destinations at each switch of its chain (`chains`). In every step all who have the message
    send a worm each: the fewest steps that so many worms take. Worms are as few as chains, which are few, not always
    the fewest.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-g"
    description = "a worm for each chain of switches that links down lead along, sent on by all who have the message"
    provenance = "Sivaram et al. 1998, 5.2.2 to 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = True
