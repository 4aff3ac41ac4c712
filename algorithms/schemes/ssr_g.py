"""Single-switch replication, greedy."""

from .multi_drop import MultiDropScheme

__all__ = ["SsrGreedy"]


class SsrGreedy(MultiDropScheme):
    """A worm for each switch with destinations; all who have the message send the rest of them.

    Switches come in the order of their chains, those with more destinations first. In every step all who have the
    message send a worm each: the fewest steps that so many worms take.


    Source: [Sivaram98], sections 5.2.1 and 5.2.5.
    """

    name = "ssr-g"
    description = "a worm for each switch with destinations, sent on by all who have the message"
    provenance = "Sivaram et al. 1998, 5.2.1 and 5.2.5 (ties: ours)"
    whole_chains = False
    all_send = True
