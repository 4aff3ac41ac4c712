"""Path worms, greedy."""

from .multi_drop import MultiDropScheme

__all__ = ["PathGreedy"]


class PathGreedy(MultiDropScheme):
    """A worm for each chain of switches, copied at each to the destinations there, sent by all who have the message.

    The worms that a multicast takes are at most as many as with `ssr`, as chains of one switch are chains.

    In every step all who have the message send a worm each, so that steps are as few as these worms allow; several may
    leave a switch at once.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-g"
    description = "a worm for each chain of switches, down links from one to the next, sent by all who have the message"
    provenance = "Sivaram et al. 1998, 5.2.2, 5.2.4 and 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = True
