"""ATBM: one worm for all destinations, copied where its ways part."""

from ..errors import WormcastError
from ..routing import DESTINATION_TAGS
from ..topologies.base import Topology
from .one_tree import OneTree

__all__ = ["REPLICATION", "Atbm", "TreeScheme"]

REPLICATION = ("asynchronous", "synchronous", "serial")


class TreeScheme(OneTree):
    """One tree in a multistage network, through buffers that hold a part of it.

    Attributes
    ----------
    replication : str
        How switches copy it, see `TreeInput`.
    """

    kinds = ("min",)
    relation = DESTINATION_TAGS
    replication = "asynchronous"

    def check(self, topology: Topology) -> None:
        """Refuse also a way to copy that switches do not have."""
        super().check(topology)
        if self.replication not in REPLICATION:
            raise WormcastError(f"scheme {self.name}: its replication is {self.replication!r}, allowed are "
                                f"{', '.join(REPLICATION)}")


class Atbm(TreeScheme):
    """Asynchronous tree-based multicasting: each copy goes at its own pace, and tokens keep copies from deadlock.

    A worm that is to go to several outputs of a switch waits for the token of the switch's group (`token_groups`), and
    holds it until the headers of all copies made there have arrived (``--tokens``).

    Cost: one start-up, whatever the number of destinations.
    Source: [Varavithya], section 3.
    """

    name = "atbm"
    description = "a tree: one worm, copied asynchronously in a multistage network, serialised by tokens"
    provenance = "Varavithya and Mohapatra, section 3.2"
