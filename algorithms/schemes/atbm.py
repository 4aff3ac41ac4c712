"""ATBM: one worm for all destinations, copied where its ways part."""

import numpy as np
import numpy.typing as npt

from ..consumption import ConsumptionClasses
from ..errors import WormcastError
from ..headers import BitString
from ..routing import DESTINATION_TAGS, Routes, spread, spread_hops
from ..topologies.base import Topology
from ..worms import AT_ONCE, Worms
from .base import Scheme

__all__ = ["REPLICATION", "Atbm", "TreeScheme"]

REPLICATION = ("asynchronous", "synchronous", "serial")


class TreeScheme(Scheme):
    """A scheme whose multicast is one worm with a bit string, copied at each switch to all outputs that it leads to.

    Attributes
    ----------
    replication : str
        How switches copy it, see `TreeInput`.
    """

    kinds = ("min",)
    relation = DESTINATION_TAGS
    header = BitString
    spreads = True
    replication = "asynchronous"

    def check(self, topology: Topology) -> None:
        """Refuse also a way to copy that switches do not have."""
        super().check(topology)
        if self.replication not in REPLICATION:
            raise WormcastError(f"scheme {self.name}: its replication is {self.replication!r}, allowed are "
                                f"{', '.join(REPLICATION)}")

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """No class: each copy ends where it is consumed."""
        return ConsumptionClasses()

    def legs(self, topology: Topology) -> npt.NDArray[np.int32]:
        """No worm goes on from a destination."""
        return np.empty((0, 3), np.int32)

    def taken(self, routes: Routes, source: int, destinations: list[int]) -> list[int]:
        """List the channels of the tree."""
        return spread(routes, source, destinations)

    def hops(self, routes: Routes, worms: Worms) -> npt.NDArray[np.int64]:
        """Count the links of each tree."""
        return spread_hops(routes, worms)

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """One worm for each message."""
        count = len(sources)
        message = np.repeat(np.arange(count), np.diff(destination_offsets))
        return Worms(
            message_offsets=np.arange(count + 1),
            source=sources,
            rank=np.zeros(count, np.int32),
            after=np.full(count, AT_ONCE),
            destination_offsets=destination_offsets.copy(),
            destinations=destinations[np.lexsort((destinations, message))],
        )


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
