"""ATBM and its variants: one worm for all destinations that replicates where its paths part."""

from collections.abc import Collection, Mapping
from typing import ClassVar

from ..errors import WormcastError
from ..headers import BitString, Header, MixedHeader
from ..routing import DESTINATION_TAGS
from ..topologies.base import Topology
from .one_tree import OneTree

__all__ = ["REPLICATION", "Atbm", "TreeScheme", "TreeSerial", "TreeSynchronous"]

REPLICATION = ("asynchronous", "synchronous", "serial")

UNICASTS: dict[str, type[Header]] = {"string": BitString, "tag": MixedHeader}
"""Header formats of a network, by the header of its unicasts."""


class TreeScheme(OneTree):
    """A scheme that sends one tree worm per multicast through a multistage network, whose buffers may be shorter than
    the worm.

    Attributes
    ----------
    replication : str
        Replication in switches, see `TreeInput`.

    Parameters
    ----------
    unicasts : str
        Header of a worm with one destination: ``string``, a bit string as other worms have, or ``tag``, a routing tag.
    """

    kinds = ("min",)
    parameters: ClassVar[Mapping[str, str]] = {"unicasts": "string"}
    choices: ClassVar[Mapping[str, Collection[str]]] = {"unicasts": UNICASTS}
    relation = DESTINATION_TAGS
    replication = "asynchronous"

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Set the header format."""
        self.header = UNICASTS[given["unicasts"]]

    def form(self, topology: Topology) -> str:
        """Describe how unicasts and multicasts are sent if unicasts have a routing tag; else as `Scheme.form`."""
        return "unicasts by routing tag, and a tree for each multicast" if self.header is MixedHeader else (
            super().form(topology))

    def check(self, topology: Topology) -> None:
        """Refuse topologies as `Scheme.check` does, and an unknown kind of replication."""
        super().check(topology)
        if self.replication not in REPLICATION:
            raise WormcastError(f"scheme {self.name}: replication {self.replication!r} is not valid. Allowed: "
                                f"{', '.join(REPLICATION)}.")


class Atbm(TreeScheme):
    """Asynchronous tree-based multicasting: each branch proceeds at its own pace, and tokens prevent deadlock.

    A worm that replicates in a switch waits for the token of the switch's group (`token_groups`). The worm holds the
    token until the header of every branch from this switch has reached its destinations. If consumption channels
    suffice for all worms (`all_consumed`), the token is released when the headers of all branches from this switch have
    reached the last stage.

    Cost: one start-up for any number of destinations.
    Source: [Varavithya], section 3.
    """

    name = "atbm"
    description = "a tree: one worm, copied asynchronously in a multistage network, serialised by tokens"
    provenance = "[Varavithya], section 3.2"


class TreeSynchronous(TreeScheme):
    """A tree worm that reserves all requested outputs of a switch at once, or none. Each flit of the worm goes to all
    requested outputs in the same cycle.

    Within one switch, two worms cannot wait for each other. Worms that replicate in two different switches can wait for
    each other, so that tokens are needed as with asynchronous replication.

    Cost: one start-up for any number of destinations.
    Source: own design, following the description of synchronous replication in [Varavithya], sections 1 and 2.
    """

    name = "tree-synchronous"
    description = "a tree worm as atbm's, copied in lockstep within each switch"
    provenance = "reconstructed (lockstep within one switch, after [Varavithya], sections 1 and 2)"
    replication = "synchronous"


class TreeSerial(TreeScheme):
    """A tree worm whose branches take turns at their buffer's read port, which reads a flit for one branch per cycle.

    Apart from these turns, each branch advances at its own pace, as with asynchronous replication.

    Cost: one start-up for any number of destinations.
    Source: [Varavithya], section 2: flits can be copied to several outputs in sequence.
    """

    name = "tree-serial"
    description = "a tree worm as atbm's, copied to one output after the other"
    provenance = "[Varavithya], section 2 (copies in sequence)"
    replication = "serial"
