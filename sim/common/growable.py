"""Growable FIFO array: rows are appended at the end and removed at the front."""

import numpy as np

__all__ = ["Growing"]

#: Growth factor of the allocated rows. Pages of memory that are never written to take no physical memory.
GROWTH = 4

#: Least number of rows of the blocks in which `forget` copies rows, except the last block.
BLOCK = 1 << 12


class Growing:
    """Growable FIFO array: appending costs amortised O(1) per row.

    Parameters
    ----------
    rows : array [rows, ...]
        Initial content.

    Attributes
    ----------
    rows : array [rows, ...]
        All rows, as a view. A view that was read before a call of `extend` or `forget` is invalid after the call.
    """

    def __init__(self, rows: np.ndarray):
        self.rows = self._room = rows

    @property
    def state(self) -> np.ndarray:
        """Copy of the rows, without the free space behind them."""
        return self.rows.copy()

    @state.setter
    def state(self, state: np.ndarray) -> None:
        self.rows = self._room = state

    def extend(self, more: np.ndarray) -> None:
        """Append rows. If the allocated array has no room for the new rows, all rows move to a larger array."""
        there, end = len(self.rows), len(self.rows) + len(more)
        if end > len(self._room):
            room = np.empty((max(GROWTH * there, end), *self.rows.shape[1:]), self.rows.dtype)
            room[:there] = self.rows
            self._room = room
        self._room[there:end] = more
        self.rows = self._room[:end]

    def forget(self, first: int) -> None:
        """Remove the first ``first`` rows, and move the other rows to the start of the array."""
        left, step = len(self.rows) - first, max(first, BLOCK)
        for at in range(0, left, step) if first else ():
            end = min(at + step, left)
            self._room[at:end] = self.rows[at + first:end + first]
        self.rows = self._room[:left]
