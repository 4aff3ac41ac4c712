"""Rows of an array that come at its end and go at its front."""

import numpy as np

__all__ = ["Growing"]

#: How many times the rows there is room for when they have moved: it is no memory before it is written to.
GROWTH = 4

#: Rows that are moved at a time at least.
BLOCK = 1 << 12


class Growing:
    """Rows with room behind them: to add some takes no longer than these do, on average, however many there are.

    Parameters
    ----------
    rows : array [rows, ...]
        Those at the start.

    Attributes
    ----------
    rows : array [rows, ...]
        All of them, in a row; a view, which is of no use when rows have been added or forgotten.
    """

    def __init__(self, rows: np.ndarray):
        self.rows = self._room = rows

    @property
    def state(self) -> np.ndarray:
        """The rows, without the room behind them."""
        return self.rows.copy()

    @state.setter
    def state(self, state: np.ndarray) -> None:
        self.rows = self._room = state

    def extend(self, more: np.ndarray) -> None:
        """Add rows at the end; where there is no room for them, all move to a larger one."""
        there, end = len(self.rows), len(self.rows) + len(more)
        if end > len(self._room):
            room = np.empty((max(GROWTH * there, end), *self.rows.shape[1:]), self.rows.dtype)
            room[:there] = self.rows
            self._room = room
        self._room[there:end] = more
        self.rows = self._room[:end]

    def forget(self, first: int) -> None:
        """Take the first so many rows away; the others move to the front."""
        left, step = len(self.rows) - first, max(first, BLOCK)
        for at in range(0, left, step) if first else ():
            end = min(at + step, left)
            self._room[at:end] = self.rows[at + first:end + first]
        self.rows = self._room[:left]
