"""U-torus: a tree of unicasts that halves the sorted nodes, on tori."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..topologies.base import Topology
from ..worms import AT_ONCE, Worms
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
        """Compute the worms, one for each destination; those of one sender are neighbours, in the order of sending."""
        order = np.lexsort(topology.coordinates.T).astype(np.int32)  # by the last coordinate, then the one before
        place = np.argsort(order).astype(np.int32)
        source, rank, after, visits = _u_torus(order, place, sources, destination_offsets, destinations)
        return Worms(
            message_offsets=destination_offsets.copy(),
            source=source,
            rank=rank,
            after=after,
            destination_offsets=np.arange(len(visits) + 1),
            destinations=visits,
        )


@compiled
def _u_torus(order, place, sources, destination_offsets, destinations):
    count, nodes = len(destinations), len(order)
    source = np.empty(count, np.int32)
    rank = np.empty(count, np.int32)
    after = np.empty(count, np.int64)
    visits = np.empty(count, np.int32)
    last_of = np.empty(count, np.int64)  # last place of the piece of the chain that a worm's receiver goes on with
    first_of = np.empty(count, np.int64)
    chain = np.empty(nodes, np.int32)
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        start = place[sources[message]]
        chain[0] = 0
        for visit in range(begin, end):
            chain[visit - begin + 1] = (place[destinations[visit]] - start) % nodes
        chain[:end - begin + 1].sort()
        worm = begin
        for receipt in range(begin - 1, end):  # the source first, then each receiver in the order of the worms
            if receipt < begin:
                sender, first, last = sources[message], np.int64(0), end - begin
            else:
                sender, first, last = visits[receipt], first_of[receipt], last_of[receipt]
            sent = 0
            while first < last:
                middle = first + (last - first + 1) // 2
                source[worm] = sender
                rank[worm] = sent
                after[worm] = receipt if receipt >= begin else AT_ONCE
                visits[worm] = order[(chain[middle] + start) % nodes]
                first_of[worm] = middle
                last_of[worm] = last
                last = middle - 1
                sent += 1
                worm += 1
    return source, rank, after, visits
