"""Past states of a run, from which it can be simulated again. Older states are sparser."""

from typing import Generic, TypeVar

__all__ = ["RUNG", "PastStates"]

T = TypeVar("T")

#: Distance of the newest stored states from each other, in cycles.
RUNG = 4096

#: Number of doublings of the distance between stored states, from the newest states to the oldest ones.
DOUBLINGS = 8

#: Memory limit of all states in bytes. If states need more bytes, the oldest are deleted until the others fit, or until
#: `LEAST` states are left.
MOST_BYTES = 1 << 28
LEAST = 4


class PastStates(Generic[T]):
    """Past states of a run, at most `MOST` states; more than four only if all together have at most 256 MiB.

    For each k from 0 to 8 the newest three states at multiples of 4096 x 2**k cycles are kept. So for every x from 4096
    to about a million cycles there is a state with an age between x and 2x, or the state of the start, unless the limit
    of memory has deleted it. With ``rarer`` above 1 (see `due`), there is a state with an age between x and 2x only for
    x from ``rarer`` x 4096 cycles on. After cycle 4096 the age of the newest state is at most half the cycles of the
    run.
    """

    MOST = 3 * (DOUBLINGS + 1) + 1

    def __init__(self) -> None:
        self._rungs: dict[int, tuple[int, T]] = {}

    def __len__(self) -> int:
        return len(self._rungs)

    def due(self, cycle: int, rarer: int = 1) -> bool:
        """Return whether the state of this cycle is to be stored.

        Parameters
        ----------
        rarer : int
            A power of two. Only each ``rarer``-th state, and the states of 4096 x 2**n cycles, are stored, because
            storing takes long.
        """
        rung = cycle // RUNG
        return rung not in self._rungs and (not self._rungs or rung % rarer == 0 or not rung & rung - 1)

    def add(self, cycle: int, state: T, size: int = 0) -> None:
        """Store the newest state, which has ``size`` bytes, and delete states that are not kept any more."""
        newest = cycle // RUNG
        first = next(iter(self._rungs), newest)
        self._rungs[newest] = cycle, state
        for rung in list(self._rungs):
            if rung != first and not _stays(rung, newest):
                del self._rungs[rung]
        while len(self._rungs) > LEAST and len(self._rungs) * size > MOST_BYTES:
            del self._rungs[next(iter(self._rungs))]

    def before(self, cycle: int) -> T:
        """Return the newest state that is not later than ``cycle``; the oldest state if all are later."""
        states = list(self._rungs.values())
        return next((state for at, state in reversed(states) if at <= cycle), states[0][1])


def _stays(rung: int, newest: int) -> bool:
    doublings = min(DOUBLINGS, (rung & -rung).bit_length() - 1) if rung else DOUBLINGS
    return (newest >> doublings) - (rung >> doublings) < 3
