"""Path worms, greedy algorithm."""

from .multi_drop import MultiDropScheme

__all__ = ["PathGreedy"]


class PathGreedy(MultiDropScheme):
    """One worm per chain of switches. All nodes with the message send.

    A worm replicates to the destinations at each switch of its chain (`chains`). In every step each node with the
    message sends one worm, so that these worms need the fewest steps. The number of worms is the number of chains,
    which is small but not always minimal.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-g"
    description = "a worm for each chain of switches along down links, sent on by all nodes that have the message"
    provenance = "Sivaram et al. 1998, 5.2.2 to 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = True
