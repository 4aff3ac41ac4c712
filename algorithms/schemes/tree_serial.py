"""Trees whose copies leave a switch one after the other."""

from .atbm import TreeScheme

__all__ = ["TreeSerial"]


class TreeSerial(TreeScheme):
    """A tree worm whose copies take turns at one read port: a switch sends one of them in a cycle.

    The copies are as independent as those of asynchronous replication.

    Cost: one start-up, whatever the number of destinations.
    Source: [Varavithya], section 2: flits can be copied to several outputs in sequence.
    """

    name = "tree-serial"
    description = "a tree worm as atbm's, copied to one output after the other"
    provenance = "Varavithya and Mohapatra, section 2 (copies in sequence)"
    replication = "serial"
