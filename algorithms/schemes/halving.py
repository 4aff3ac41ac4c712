"""Trees of unicasts that halve a chain of nodes recursively, for u-mesh, u-torus and cmin-halving."""

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..topologies.base import Topology
from ..worms import AT_ONCE, MessageBatch, Worms, unicasts

__all__ = ["halving_worms"]


def halving_worms(topology: Topology, messages: MessageBatch, *, turned: bool) -> Worms:
    """Make one worm per destination. Worms of one sender are consecutive, in the order of sending.

    Source and destinations are sorted into a chain by their coordinates, first by the coordinate that e-cube routes
    first, which is the last one. A node that serves a piece of the chain cuts the piece in two; of an odd number of
    nodes the upper piece gets one more. The node sends the message to the nearest node of the new piece to which the
    sender does not belong. The receiver then serves the piece to which the receiver belongs.

    Parameters
    ----------
    turned : bool
        The chain is rotated until the source is first, so that each sender sends to the first node of the upper piece.
    """
    # node ids sorted by the last coordinate, then by the second last, and so on
    order = np.lexsort(topology.coordinates.T).astype(np.int32)
    place = np.argsort(order).astype(np.int32)
    return unicasts(messages.destination_offsets, *_halved(order, place, *messages, turned))


@compiled_from(LINEAR)
def _halved(order, place, sources, destination_offsets, destinations, turned):
    count, size = len(destinations), len(order)
    source = np.empty(count, np.int32)
    rank = np.empty(count, np.int32)
    after = np.empty(count, np.int64)
    visits = np.empty(count, np.int32)
    piece = np.empty((count, 2), np.int64)  # first and last node of the piece that each worm's receiver serves
    chain = np.empty(size, np.int32)
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        nodes = end - begin + 1
        start = place[sources[message]] if turned else 0
        chain[0] = (place[sources[message]] - start) % size
        for visit in range(begin, end):
            chain[visit - begin + 1] = (place[destinations[visit]] - start) % size
        chain[:nodes].sort()
        worm = begin
        for receipt in range(begin - 1, end):  # senders: the source, then each worm's receiver
            if receipt < begin:
                sender, first, last = sources[message], np.int64(0), nodes - 1
            else:
                sender, first, last = visits[receipt], piece[receipt, 0], piece[receipt, 1]
            place_of_sender = (place[sender] - start) % size
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
                visits[worm] = order[(chain[to] + start) % size]
                sent += 1
                worm += 1
    return source, rank, after, visits
