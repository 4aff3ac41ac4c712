"""Base of schemes that send one tree worm per multicast."""

import numpy as np
import numpy.typing as npt

from ..consumption import ConsumptionClasses
from ..headers import BitString, Header
from ..routing import Routes, count_tree_links, find_tree_channels
from ..topologies.base import Topology
from ..worms import AT_ONCE, MessageBatch, Worms
from .base import Scheme

__all__ = ["OneTree"]


class OneTree(Scheme):
    """A scheme that sends one worm with a bit-string header, which replicates to all outputs with destinations."""

    header: type[Header] = BitString
    is_tree = True

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return no class: each branch ends where it is consumed."""
        return ConsumptionClasses()

    def visit_triples(self, topology: Topology) -> npt.NDArray[np.int32]:
        """Return no triples: each branch of a tree worm ends at a destination."""
        return np.empty((0, 3), np.int32)

    def channels(self, routes: Routes, source: int, destinations: list[int]) -> list[int]:
        """List the channels of the tree."""
        return find_tree_channels(routes, source, destinations)

    def hops(self, routes: Routes, worms: Worms) -> npt.NDArray[np.int64]:
        """Count the links of each tree."""
        return count_tree_links(routes, worms)

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one per message."""
        count = len(messages.sources)
        message = np.repeat(np.arange(count, dtype=np.int64), np.diff(messages.destination_offsets))
        in_order = np.sort(message * topology.nodes + messages.destinations) % topology.nodes
        return Worms(
            message_offsets=np.arange(count + 1),
            source=messages.sources,
            rank=np.zeros(count, np.int32),
            after=np.full(count, AT_ONCE),
            destination_offsets=messages.destination_offsets.copy(),
            destinations=in_order.astype(np.int32),
        )
