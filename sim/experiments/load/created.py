"""Created messages, and the interface of streams that create them."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Created", "Stream"]

Integers = npt.NDArray[np.int64]

NO_WAITS = np.zeros((0, 2), np.int64)


class Created(NamedTuple):
    """Messages in the order of their cycles; messages of one cycle by source, or in the order of their file."""

    at: Integers  # [messages]
    source: npt.NDArray[np.int32]  # [messages]
    length: Integers  # [messages], payload flits
    multicast: npt.NDArray[np.bool_]  # [messages]
    offsets: Integers  # [messages + 1]
    destinations: npt.NDArray[np.int32]
    #: Receipts that messages wait for: index of the message, and the distance to the earlier message whose receipt at
    #: this message's source it waits for.
    waits: Integers = NO_WAITS  # [waits, 2]

    def reordered(self, order: Integers) -> "Created":
        """Return the messages in another order, given as their present indices. No message may wait for a receipt."""
        counts = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(self.offsets[:-1][order] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Created(self.at[order], self.source[order], self.length[order], self.multicast[order], offsets,
                       self.destinations[places])


class Stream(Protocol):
    """Messages of one network, created as time proceeds. The messages do not depend on the calls' cycles."""

    @property
    def ended(self) -> bool:
        """There are no further messages."""

    @property
    def next(self) -> int:
        """Earliest cycle in which the next message may be created; `NEVER` at the end."""

    @property
    def state(self) -> np.ndarray:
        """State of the stream as an array. Another stream of the same traffic continues from it when it is set."""

    @state.setter
    def state(self, state: np.ndarray) -> None: ...

    def until(self, cycle: int) -> Created:
        """Create the messages of all cycles before ``cycle`` that are not created yet."""
