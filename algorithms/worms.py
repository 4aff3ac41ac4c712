"""The worms of many multicasts, as arrays."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["AT_ONCE", "Worms"]

AT_ONCE = -1
"""``after`` of a worm that waits for no receipt."""


@dataclass(frozen=True, eq=False)
class Worms:
    """What a batch of messages becomes: one row a worm, messages in the order given.

    A worm is free to start when its message is created, or when its sender has received the worm it comes `after`;
    a node sends its own in the order of `rank`.

    Parameters
    ----------
    message_offsets : int64 array [messages + 1]
        Worms of message m are the rows message_offsets[m] to message_offsets[m + 1].
    source : int32 array [worms]
        Node that sends the worm: the message's source, or a destination that passes it on.
    rank : int32 array [worms]
        Place of the worm among its sender's sends for this message, from 0.
    after : int64 array [worms]
        The worm (an earlier row, of the same message) whose receipt at this worm's source releases it, or
        ``AT_ONCE``.
    destination_offsets : int64 array [worms + 1]
        Destinations of worm w are destinations[destination_offsets[w]:destination_offsets[w + 1]].
    destinations : int32 array [all destinations]
        Nodes in visiting order.
    """

    message_offsets: npt.NDArray[np.int64]
    source: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    after: npt.NDArray[np.int64]
    destination_offsets: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int32]

    def __len__(self) -> int:
        """Number of worms."""
        return len(self.source)

    @property
    def messages(self) -> int:
        """Number of messages."""
        return len(self.message_offsets) - 1

    def visits(self, worm: int) -> npt.NDArray[np.int32]:
        """Destinations of one worm in visiting order."""
        return self.destinations[self.destination_offsets[worm] : self.destination_offsets[worm + 1]]
