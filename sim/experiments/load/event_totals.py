"""Events in routers and interfaces, summed by time slice."""

import numpy as np

from ...build.network import Network
from ...engines.event_counters import COUNTED, Events

__all__ = ["EventTotals"]


class EventTotals:
    """Events by time slice.

    Parameters
    ----------
    network : Network
    edges : int array [slices + 1]
        Cycles in which the slices begin, and the end of the last one.

    Attributes
    ----------
    lanes : int64 array [slices, events, lanes]
        Events of all routers and interfaces, in the order of `COUNTED`.
    routers : int64 array [slices, events, switches]
        Sums over all lanes.
    interfaces : int64 array [slices, events, nodes]
        Sums over all lanes.
    """

    def __init__(self, network: Network, edges: np.ndarray):
        self._sizes = network.lanes, network.topology.switches, network.nodes
        self.lanes, self.routers, self.interfaces = self._zeros(edges)

    def _zeros(self, edges: np.ndarray) -> list[np.ndarray]:
        return [np.zeros((len(edges) - 1, len(COUNTED), size), np.int64) for size in self._sizes]

    def extend(self, edges: np.ndarray) -> None:
        """Append time slices. ``edges`` begins with the last edge of the present slices."""
        self.lanes, self.routers, self.interfaces = (
            np.concatenate([old, new])
            for old, new in zip((self.lanes, self.routers, self.interfaces), self._zeros(edges), strict=True))

    def add(self, at: int, events: Events) -> None:
        """Add events to a time slice."""
        self.lanes[at] += events.routers.sum(axis=2) + events.interfaces.sum(axis=2)
        self.routers[at] += events.routers.sum(axis=1)
        self.interfaces[at] += events.interfaces.sum(axis=1)
