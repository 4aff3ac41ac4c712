"""Path worms, less greedy."""

from .multi_drop import MultiDropScheme

__all__ = ["PathLessGreedy"]


class PathLessGreedy(MultiDropScheme):
    """A worm for each chain of switches, copied at each to the destinations there, sent by one node of each switch.

    The worms that a multicast takes are at most as many as with `ssr`, as chains of one switch are chains.

    In every step the source and one destination of each switch that was reached send a worm each, so that fewer worms
    of a step leave by the same links; it may take more steps.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-lg"
    description = "a worm for each chain of switches, down links from one to the next, sent by one node of each switch that has it"
    provenance = "Sivaram et al. 1998, 5.2.2, 5.2.4 and 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = False
