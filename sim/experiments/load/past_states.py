"""Past states of a run, to go back to: the further back, the fewer."""

from typing import Generic, TypeVar

__all__ = ["RUNG", "PastStates"]

T = TypeVar("T")

#: Cycles from one state to the next, among the newest ones.
RUNG = 4096

#: How often the distance between states doubles on the way back.
DOUBLINGS = 8

#: Memory that states may take, in bytes: where they are too large, the oldest ones go; but four always stay.
MOST_BYTES = 1 << 28
LEAST = 4


class PastStates(Generic[T]):
    """Past states of a run, at most `MOST` of them, and 256 MiB.

    For every x from 4096 to about a million cycles there is one whose age lies between x and 2x, or that of the
    start: of all states taken at multiples of 4096 x 2**k cycles the newest three stay, for each k from 0 to 8. Where
    states are `due` more rarely, this holds from as many times 4096 on, or else the newest is half as old as the run
    at most.
    """

    MOST = 3 * (DOUBLINGS + 1) + 1

    def __init__(self) -> None:
        self._rungs: dict[int, tuple[int, T]] = {}

    def __len__(self) -> int:
        return len(self._rungs)

    def due(self, cycle: int, rarer: int = 1) -> bool:
        """Whether the state of this cycle is wanted.

        Parameters
        ----------
        rarer : int
            A power of two: only each so many-th is wanted, as it takes long; and those of 4096 x 2**n cycles.
        """
        rung = cycle // RUNG
        return rung not in self._rungs and (not self._rungs or rung % rarer == 0 or not rung & rung - 1)

    def add(self, cycle: int, state: T, size: int = 0) -> None:
        """Keep a state of so many bytes, the newest one, and forget others."""
        newest = cycle // RUNG
        first = next(iter(self._rungs), newest)
        self._rungs[newest] = cycle, state
        for rung in list(self._rungs):
            if rung != first and not _stays(rung, newest):
                del self._rungs[rung]
        while len(self._rungs) > LEAST and len(self._rungs) * size > MOST_BYTES:
            del self._rungs[next(iter(self._rungs))]

    def before(self, cycle: int) -> T:
        """Give the newest state of this cycle or an earlier one; the oldest one where there is none."""
        states = list(self._rungs.values())
        return next((state for at, state in reversed(states) if at <= cycle), states[0][1])


def _stays(rung: int, newest: int) -> bool:
    doublings = min(DOUBLINGS, (rung & -rung).bit_length() - 1) if rung else DOUBLINGS
    return (newest >> doublings) - (rung >> doublings) < 3
