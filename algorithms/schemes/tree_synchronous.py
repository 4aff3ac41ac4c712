"""Trees whose copies leave a switch in lockstep."""

from .atbm import TreeScheme

__all__ = ["TreeSynchronous"]


class TreeSynchronous(TreeScheme):
    """A tree worm that takes all outputs that it needs at a switch at once, or none; then each flit goes to all of them
    in the same cycle.

    Within one switch two worms cannot wait for each other so; in two switches they can, and tokens are as needed as by
    asynchronous copies.

    Cost: one start-up, whatever the number of destinations.
    Source: own design, after what [Varavithya] says of synchronous replication in sections 1 and 2.
    """

    name = "tree-synchronous"
    description = "a tree worm as atbm's, copied in lockstep within each switch"
    provenance = "reconstructed (lockstep within one switch, after Varavithya and Mohapatra, sections 1 and 2)"
    replication = "synchronous"
