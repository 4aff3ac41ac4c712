"""Tree worms with serial replication."""

from .atbm import TreeScheme

__all__ = ["TreeSerial"]


class TreeSerial(TreeScheme):
    """A tree worm whose branches take turns at their buffer's read port, which reads a flit for one branch per cycle.

    The branches are as independent as with asynchronous replication.

    Cost: one start-up for any number of destinations.
    Source: [Varavithya], section 2: flits can be copied to several outputs in sequence.
    """

    name = "tree-serial"
    description = "a tree worm as atbm's, copied to one output after the other"
    provenance = "Varavithya and Mohapatra, section 2 (copies in sequence)"
    replication = "serial"
