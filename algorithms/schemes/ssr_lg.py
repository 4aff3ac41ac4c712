"""Single-switch replication, less greedy."""

from .multi_drop import MultiDropScheme

__all__ = ["SsrLessGreedy"]


class SsrLessGreedy(MultiDropScheme):
    """A worm for each switch with destinations, copied there to all of them, sent by one node of each switch.

    Whoever sends needs to know at which switch nodes are; links decide only in which order switches come.

    In every step the source and one destination of each switch that was reached send a worm each, so that fewer worms
    of a step leave by the same links; it may take more steps.

    Source: [Sivaram98], sections 5.2.1 and 5.2.5.
    """

    name = "ssr-lg"
    description = "a worm for each switch with destinations, sent by one node of each switch that has it"
    provenance = "Sivaram et al. 1998, 5.2.1, 5.2.5 (ties: ours)"
    whole_chains = False
    all_send = False
