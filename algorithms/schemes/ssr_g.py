"""Single-switch replication, greedy."""

from .multi_drop import MultiDropScheme

__all__ = ["SsrGreedy"]


class SsrGreedy(MultiDropScheme):
    """A worm for each switch with destinations, copied there to all of them, sent by all who have the message.

    Whoever sends needs to know at which switch nodes are; links decide only in which order switches come.

    In every step all who have the message send a worm each, so that steps are as few as these worms allow; several may
    leave a switch at once.

    Source: [Sivaram98], sections 5.2.1 and 5.2.5.
    """

    name = "ssr-g"
    description = "a worm for each switch with destinations, sent by all who have the message"
    provenance = "Sivaram et al. 1998, 5.2.1, 5.2.5 (ties: ours)"
    whole_chains = False
    all_send = True
