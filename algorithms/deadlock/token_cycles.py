"""Cycles of dependencies in which no token occurs twice."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled

__all__ = ["may_return"]

WORD = 64

Integers = npt.NDArray[np.int32]


def may_return(resources: int, starts: Integers, ends: Integers, labels: Integers) -> bool:
    """Return whether a cycle may exist in which no two edges have the same token. The result False proves that each
    cycle has two edges with the same token.

    A worm that waits along an edge with a token holds this token, and one worm at a time holds a token. So two edges of
    a cycle with the same token belong to one worm. A cycle that contains one worm twice can be shortened to a cycle
    that contains this worm once.

    The tokens are processed in turn. After each token, the reachability covers paths that use each processed token at
    most once. A path that uses the next token leads to the start of an edge with that token, and on from the end of the
    edge. Each cycle is found when the last of its tokens is processed. The result True does not prove that a cycle
    without a repeated token exists: the search joins two paths, and both may contain the same earlier token.

    Parameters
    ----------
    starts, ends : int32 arrays [edges]
    labels : int32 array [edges]
        Token of each edge, from 0. Edges without a token have -1, and a cycle may contain any number of edges without a
        token.
    """
    order = np.lexsort((ends, -labels.astype(np.int64)))
    order = np.concatenate([order[labels[order] < 0], order[labels[order] >= 0]])
    return bool(_may_return(resources, starts[order], ends[order], labels[order]))


@compiled
def _may_return(resources, starts, ends, labels):
    words = (resources + WORD - 1) // WORD
    reached = np.zeros((resources, words), np.uint64)  # row: a resource; bits: the resources reached from it
    one = np.uint64(1)
    plain = 0
    while plain < len(labels) and labels[plain] < 0:
        reached[starts[plain], ends[plain] // WORD] |= one << np.uint64(ends[plain] % WORD)
        plain += 1
    for middle in range(resources):
        for start in range(resources):
            if reached[start, middle // WORD] >> np.uint64(middle % WORD) & one:
                reached[start] |= reached[middle]
    for one_of in range(resources):
        if reached[one_of, one_of // WORD] >> np.uint64(one_of % WORD) & one:
            return True
        reached[one_of, one_of // WORD] |= one << np.uint64(one_of % WORD)
    before, asking = np.empty_like(reached), np.empty(words, np.uint64)
    first = plain
    while first < len(labels):
        before[:] = reached
        end = first
        while end < len(labels) and labels[end] == labels[first]:
            to = ends[end]
            asking[:] = 0
            while end < len(labels) and labels[end] == labels[first] and ends[end] == to:
                asking[starts[end] // WORD] |= one << np.uint64(starts[end] % WORD)
                end += 1
            for start in range(resources):
                for word in range(words):
                    if before[start, word] & asking[word]:
                        if start == to:
                            return True
                        reached[start] |= before[to]
                        break
        first = end
    return False
