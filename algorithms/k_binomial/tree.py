"""k-binomial trees on chains of nodes, for many multicasts."""

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..worms import AT_ONCE, Worms, unicasts
from .sizes import MOST_CHILDREN, best_k_of

__all__ = ["BEST", "BINOMIAL", "tree_worms"]

BEST = 0
"""Value of ``k`` that stands for the best k for each multicast, by its numbers of nodes and packets."""

BINOMIAL = MOST_CHILDREN
"""The k with which all trees are binomial."""


def tree_worms(
    chain: npt.NDArray[np.int32],
    destination_offsets: npt.NDArray[np.int64],
    *,
    k: int,
    packets: int = 1,
    forwarded: bool,
) -> Worms:
    """Make one worm per destination. Worms of one sender and message are consecutive, in the order of sending.

    The tree covers a piece of the chain in s steps, from the piece's first node, which has the message. The first node
    sends to the first node of the piece's last block, of N(s - 1, k) nodes (`covered`). The first node of the piece
    then sends to the first node of the block of N(s - 2, k) nodes before the last block, and so on. A node sends at
    most k worms. Each receiver covers its block of nodes in the same way as the sender. A sender's worms are followed
    by the worms of its first child and of all nodes below this child, then by the worms of the second child.

    Source: [Sivaram98], section 4.3.4 and Figure 10.

    Parameters
    ----------
    chain : int32 array [all destinations + messages]
        Nodes of each message in the order in which its tree is built, the source first.
    destination_offsets : int64 array [messages + 1]
        As in `Scheme.batch`.
    k : int
        Largest number of children of a node, or ``BEST``.
    packets : int
        Number of packets of a message, for which the best k is computed.
    forwarded : bool
        True: network interfaces forward the message (``INTERFACE``); False: hosts forward the message.
    """
    worms = unicasts(destination_offsets, *_tree(chain, destination_offsets, k, packets))
    return worms.forwarded_by_interfaces() if forwarded else worms


@compiled_from(LINEAR)
def _tree(chain, destination_offsets, k, packets):
    count = destination_offsets[-1]
    source = np.empty(count, np.int32)
    rank = np.empty(count, np.int32)
    after = np.empty(count, np.int64)
    visits = np.empty(count, np.int32)
    longest = np.diff(destination_offsets).max() + 1 if len(destination_offsets) > 1 else 1
    best = np.zeros(longest + 1, np.int64)  # best k by number of nodes; 0: not computed yet
    # sizes[s]: number of nodes that a tree with at most `children` children per node covers in s steps
    sizes = np.empty(longest + 1, np.int64)
    sizes_k, known = -1, 0
    # pieces still to be covered: index of the first node, end, steps, and the worm that brings the message to this node
    pieces = np.empty((longest + 1, 4), np.int64)
    for message in range(len(destination_offsets) - 1):
        first, worm = destination_offsets[message] + message, destination_offsets[message]
        nodes = destination_offsets[message + 1] - worm + 1
        children = k
        if k == BEST:
            if best[nodes] == 0:
                best[nodes] = best_k_of(nodes, packets)
            children = best[nodes]
        if children != sizes_k:
            sizes[0], sizes_k, known = 1, children, 0
        while sizes[known] < nodes:
            known += 1
            sizes[known] = 1
            for child in range(1, min(children, known) + 1):
                sizes[known] += sizes[known - child]
        pieces[0] = first, first + nodes, known, AT_ONCE
        left = 1
        while left > 0:
            left -= 1
            sender, end, steps, receipt = pieces[left]
            while steps > 0 and sizes[steps - 1] >= end - sender:
                steps -= 1
            begun, sent = left, 0
            while end - sender > 1:
                to = max(end - sizes[steps - 1 - sent], sender + 1)
                source[worm], rank[worm], after[worm], visits[worm] = chain[sender], sent, receipt, chain[to]
                pieces[left] = to, end, steps - 1 - sent, worm
                left += 1
                sent += 1
                worm += 1
                end = to
            # reverse the new pieces: the loop next processes the last piece, which must be that of the first child
            for place in range((left - begun) // 2):
                for field in range(4):
                    one, other = begun + place, left - 1 - place
                    pieces[one, field], pieces[other, field] = pieces[other, field], pieces[one, field]
    return source, rank, after, visits
