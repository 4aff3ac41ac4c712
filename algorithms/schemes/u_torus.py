"""U-torus: a tree of unicasts that halves the sorted nodes, on tori."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..worms import Worms
from .halving import halving_worms
from .unicast import UnicastScheme

__all__ = ["UTorus"]


class UTorus(UnicastScheme):
    """Halve the sorted nodes again and again, the source in front: whoever has the message sends it to the other half.

    Source and destinations are sorted by their coordinates, the one that e-cube routes first (the last) foremost, and
    the chain is turned until the source is first. The holder of a piece of it sends to the first node of its upper
    half, which goes on with that half.

    On rings whose links lead one way the worms of one step share no link ([Robinson95]); here worms go the shorter way
    around, and ``plan`` tells which of them share links all the same.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm a step, a destination from
    the step after its receipt. The list of nodes that a destination is to serve travels as payload, uncounted.
    Source: [Robinson95]; reconstructed from general knowledge.
    """

    name = "u-torus"
    description = "a tree of unicasts by e-cube on tori, in the fewest steps that one port allows"
    provenance = "reconstructed (U-torus of Robinson, McKinley and Cheng 1995, from general knowledge)"
    kinds = ("torus", "ring")

    def form(self, topology: Topology) -> str:
        """Say by which dimension the chain is sorted."""
        return "the chain sorted by the last dimension first, as e-cube routes, and turned to begin at the source"

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms, as `halving_worms`."""
        return halving_worms(topology, sources, destination_offsets, destinations, turned=True)
