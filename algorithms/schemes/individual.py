"""Individual unicasts: one worm for each destination."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..worms import Worms
from .grouping import grouped_worms
from .mesh import UnicastScheme

__all__ = ["Individual"]


class Individual(UnicastScheme):
    """Send each destination a worm of its own, in the order of ascending ids.

    Cost: as many start-ups as destinations, as many hops as the sum of the distances.
    Source: [Boppana98], section 2; the paper leaves the order of sending open.
    """

    name = "individual"
    description = "one unicast worm a destination, by e-cube, in ascending order of ids"
    provenance = "Boppana et al. 1998, 2 (order of sending: ours)"
    in_more_dimensions = "e-cube, the last dimension first"

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms, one for each destination: its node is its group."""
        keys = np.int64(topology.nodes**2 + 1) * destinations
        return grouped_worms(sources, destination_offsets, keys, topology.nodes)
