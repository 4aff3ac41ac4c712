"""Cycles of dependencies in which each label is there once: what tokens leave of them."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled

__all__ = ["may_return"]

WORD = 64

Integers = npt.NDArray[np.int32]


def may_return(resources: int, starts: Integers, ends: Integers, labels: Integers) -> bool:
    """Whether there may be a cycle in which no two edges have the same label; False is a proof that there is none.

    A worm that waits along a labelled edge holds the label's token. So it alone does; and were it in a cycle of waits
    with two such edges, the cycle could be cut short where the worm is entered first and left last.

    Labels are gone through, the last first. What is reached by way of labels gone through so far, each once, is reached
    to where an edge of the next label begins, and on from where it ends. A cycle has one label that is gone through
    last; so it would be found there. True is no proof, as between two edges of one label another may be found twice.

    Parameters
    ----------
    starts, ends : int32 arrays [edges]
    labels : int32 array [edges]
        From 0; -1: none, and any number of such edges may be in the cycle.
    """
    order = np.lexsort((ends, -labels.astype(np.int64)))
    order = np.concatenate([order[labels[order] < 0], order[labels[order] >= 0]])
    return bool(_may_return(resources, starts[order], ends[order], labels[order]))


@compiled
def _may_return(resources, starts, ends, labels):
    words = (resources + WORD - 1) // WORD
    reached = np.zeros((resources, words), np.uint64)  # from each, itself included
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
