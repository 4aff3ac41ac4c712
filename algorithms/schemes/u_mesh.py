"""U-mesh: a tree of unicasts in which no two sent in the same step share a link."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..topologies.base import Topology
from ..worms import AT_ONCE, Worms
from .mesh import MeshScheme
from .unicast import UnicastScheme

__all__ = ["UMesh"]


class UMesh(UnicastScheme, MeshScheme):
    """Halve the sorted nodes again and again: whoever has the message sends it to a node of the other half.

    Source and destinations are sorted by their coordinates, the one that e-cube routes first (the last) foremost. The
    holder of a piece of this chain cuts it in two, the upper piece having one more of an odd number, and sends the
    message to the nearest node of the piece that it is not in: the first of the upper or the last of the lower
    one, which goes on with that piece. So the worms of one step go between nodes of the chain that do not
    interleave, and by e-cube they share no link.

    The order is that of meshes: on a torus, where worms also go around the edge, the chain would have to begin at the
    source, and networks without coordinates have no order of dimensions.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm a step, a destination from
    the step after its receipt. The list of nodes that a destination is to serve travels as payload, uncounted.
    Source: [McKinley94]; reconstructed from general knowledge.
    """

    name = "u-mesh"
    description = "a tree of unicasts by e-cube, in the fewest steps that one port allows"
    provenance = "reconstructed (U-mesh of McKinley, Xu, Esfahanian and Ni, from general knowledge)"
    in_two_dimensions = "the chain sorted by column, then row"
    in_more_dimensions = "the chain sorted by the last dimension first, as e-cube routes"

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
        source, rank, after, visits = _u_mesh(order, place, sources, destination_offsets, destinations)
        return Worms(
            message_offsets=destination_offsets.copy(),
            source=source,
            rank=rank,
            after=after,
            destination_offsets=np.arange(len(visits) + 1),
            destinations=visits,
        )


@compiled
def _u_mesh(order, place, sources, destination_offsets, destinations):
    count = len(destinations)
    source = np.empty(count, np.int32)
    rank = np.empty(count, np.int32)
    after = np.empty(count, np.int64)
    visits = np.empty(count, np.int32)
    piece = np.empty((count, 2), np.int64)  # first and last of the chain that the receiver of a worm goes on with
    chain = np.empty(len(order), np.int32)
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        nodes = end - begin + 1
        chain[0] = place[sources[message]]
        for visit in range(begin, end):
            chain[visit - begin + 1] = place[destinations[visit]]
        chain[:nodes].sort()
        worm = begin
        for receipt in range(begin - 1, end):  # the source first, then each receiver in the order of the worms
            if receipt < begin:
                sender, first, last = sources[message], np.int64(0), nodes - 1
            else:
                sender, first, last = visits[receipt], piece[receipt, 0], piece[receipt, 1]
            place_of_sender = place[sender]
            sent = 0
            while first < last:
                middle = first + (last - first + 1) // 2
                if place_of_sender < chain[middle]:
                    piece[worm, 0], piece[worm, 1] = middle, last
                    to = middle
                    last = middle - 1
                else:
                    piece[worm, 0], piece[worm, 1] = first, middle - 1
                    to = middle - 1
                    first = middle
                source[worm] = sender
                rank[worm] = sent
                after[worm] = receipt if receipt >= begin else AT_ONCE
                visits[worm] = order[chain[to]]
                sent += 1
                worm += 1
    return source, rank, after, visits
