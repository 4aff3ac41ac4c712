"""Messages as they are created, and what creates them."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Created", "Stream"]

Integers = npt.NDArray[np.int64]

NO_WAITS = np.zeros((0, 2), np.int64)


class Created(NamedTuple):
    """Messages in the order of their cycles, those of a cycle by source or as their file has them."""

    at: Integers  # [messages]
    source: npt.NDArray[np.int32]  # [messages]
    length: Integers  # [messages], payload flits
    multicast: npt.NDArray[np.bool_]  # [messages]
    offsets: Integers  # [messages + 1]
    destinations: npt.NDArray[np.int32]
    #: Receipts that messages wait for, by message: place here, and how many messages before it the one lies whose
    #: receipt at this message's source it waits for.
    waits: Integers = NO_WAITS  # [waits, 2]

    def reordered(self, order: Integers) -> "Created":
        """Give the messages in another order: their present places. None of them may wait for a receipt."""
        counts = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(self.offsets[:-1][order] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Created(self.at[order], self.source[order], self.length[order], self.multicast[order], offsets,
                       self.destinations[places])


class Stream(Protocol):
    """The messages of one network, created as time goes on: the same ones, however the time is cut."""

    @property
    def ended(self) -> bool:
        """Whether there are no further messages."""

    @property
    def next(self) -> int:
        """First cycle, of those that are not created yet, in which there may be a message; `NEVER` at the end."""

    @property
    def state(self) -> np.ndarray:
        """Where the stream is, as an array; another one of the same traffic goes on from there when it is set."""

    @state.setter
    def state(self, state: np.ndarray) -> None: ...

    def until(self, cycle: int) -> Created:
        """Create the messages of all cycles before this one that are not created yet."""
