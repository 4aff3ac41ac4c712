"""Individual unicasts: one worm for each destination."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ConsumptionClasses
from ..headers import Unicast
from ..routing import E_CUBE
from ..topologies.base import Topology
from ..worms import AT_ONCE, Worms
from .mesh import MeshScheme

__all__ = ["Individual"]


class Individual(MeshScheme):
    """Send each destination a worm of its own, in the order of ascending ids.

    Cost: as many start-ups as destinations, as many hops as the sum of the distances.
    Source: paper 002, section 2; the paper leaves the order of sending open.
    """

    name = "individual"
    description = "one unicast worm a destination, by e-cube, in ascending order of ids"
    provenance = "paper 002 2 (order of sending: ours)"
    relation = E_CUBE
    header = Unicast
    in_more_dimensions = "e-cube, the last dimension first"

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """No class: a unicast stops nowhere on its way."""
        return ConsumptionClasses()

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms: rows are the destinations, sorted within each message."""
        source, rank, ordered = _individual(sources, destination_offsets, destinations)
        return Worms(
            message_offsets=destination_offsets.copy(),
            source=source,
            rank=rank,
            after=np.full(len(source), AT_ONCE),
            destination_offsets=np.arange(len(source) + 1),
            destinations=ordered,
        )


@compiled
def _individual(sources, destination_offsets, destinations):
    source = np.empty(len(destinations), np.int32)
    rank = np.empty(len(destinations), np.int32)
    ordered = np.empty(len(destinations), np.int32)
    for message in range(len(sources)):
        first, end = destination_offsets[message], destination_offsets[message + 1]
        ordered[first:end] = np.sort(destinations[first:end])
        for worm in range(first, end):
            source[worm] = sources[message]
            rank[worm] = worm - first
    return source, rank, ordered
