"""Tree worms with synchronous replication."""

from .atbm import TreeScheme

__all__ = ["TreeSynchronous"]


class TreeSynchronous(TreeScheme):
    """A tree worm that reserves all requested outputs of a switch at once, or none. Each flit goes to all these outputs
    in the same cycle.

    Within one switch, two worms cannot wait for each other. Worms that replicate in two different switches can, so that
    tokens are needed as with asynchronous replication.

    Cost: one start-up for any number of destinations.
    Source: own design, following the description of synchronous replication in [Varavithya], sections 1 and 2.
    """

    name = "tree-synchronous"
    description = "a tree worm as atbm's, copied in lockstep within each switch"
    provenance = "reconstructed (lockstep within one switch, after Varavithya and Mohapatra, sections 1 and 2)"
    replication = "synchronous"
