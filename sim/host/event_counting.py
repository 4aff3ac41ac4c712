"""Counting of events in a running network, compiled."""

from ..lowering import call_observe
from ..lowering.native import native

__all__ = ["count_events"]


@native()
def count_events(kinds, terms, seen, counts):
    """Count the events of a cycle, after the links are copied.

    Parameters
    ----------
    kinds : int64 [kinds of components, 8]
        Arguments of `call_observe`: addresses of the observer, of the state and of the inputs, number of instances.
        The other columns are the number of instances of a tile, the first column in ``counts``, and the range of rows
        in ``terms``.
    terms : int64 [terms, 4]
        Row of ``counts``, number of flits, and where in ``seen`` the values of two signals begin. The two signals may
        be the same.
    seen : uint8 [bytes]
        Memory for the signals of a tile.
    counts : int64 [events, instances of all kinds]
    """
    for kind in range(len(kinds)):
        observe, state, inputs, instances, width, column, begin, end = kinds[kind]
        for first in range(0, instances, width):
            call_observe(observe, state, inputs, seen.ctypes.data, instances, first)
            for term in range(begin, end):
                event, flits, one, other = terms[term]
                for k in range(width):
                    counts[event, column + first + k] += flits * (seen[one + k] & seen[other + k])
