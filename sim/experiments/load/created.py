"""Created messages, and the interface of streams that create them."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Created", "Stream", "with_replies"]

Integers = npt.NDArray[np.int64]

NO_WAITS = np.zeros((0, 2), np.int64)


class Created(NamedTuple):
    """Created messages in the order of their cycles; within a cycle by source, or in the order of a trace's file."""

    at: Integers  # [messages]
    source: npt.NDArray[np.int32]  # [messages]
    length: Integers  # [messages], payload flits
    multicast: npt.NDArray[np.bool_]  # [messages]
    offsets: Integers  # [messages + 1]
    destinations: npt.NDArray[np.int32]
    #: Pairs of messages: a message waits until its source has noted the receipt of an earlier message.
    #: Columns of ``waits``: index of the waiting message, and this index minus the index of the earlier message.
    waits: Integers = NO_WAITS  # [waits, 2]

    def reordered(self, order: Integers) -> "Created":
        """Return the messages in another order, given as their present indices. ``waits`` must be empty."""
        counts = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(self.offsets[:-1][order] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Created(self.at[order], self.source[order], self.length[order], self.multicast[order], offsets,
                       self.destinations[places])


def with_replies(created: Created, length: int) -> tuple[Created, Integers]:
    """Let each destination of each message reply to its source with a unicast, after the receipt of the message.

    Parameters
    ----------
    length : int
        Payload flits of a reply.

    Returns
    -------
    Created
        Each message, followed by its replies in the order of its destinations. The replies wait for the message.
    int64 array [all messages]
        Index of the request that each message answers; for a request, its own index.
    """
    counts = np.diff(created.offsets)
    request = np.repeat(np.arange(len(counts)) + created.offsets[:-1], counts + 1)
    index = np.arange(len(request))
    reply = request != index
    of = np.repeat(np.arange(len(counts)), counts + 1)
    source = created.source[of]
    source[reply] = created.destinations
    counts = np.where(reply, 1, counts[of])
    destinations = created.source[np.repeat(of, counts)]
    destinations[~np.repeat(reply, counts)] = created.destinations
    return Created(
        at=created.at[of], source=source, length=np.where(reply, length, created.length[of]),
        multicast=created.multicast[of] & ~reply, offsets=np.concatenate([[0], np.cumsum(counts)]),
        destinations=destinations, waits=np.stack([index[reply], (index - request)[reply]], axis=1)), request


class Stream(Protocol):
    """Messages of one network, created as time proceeds.

    The messages do not depend on the cycles for which `until` is called.
    """

    @property
    def ended(self) -> bool:
        """There are no further messages."""

    @property
    def next(self) -> int:
        """Earliest cycle in which the next message may be created; `NEVER` if there are no further messages."""

    @property
    def state(self) -> np.ndarray:
        """State of the stream as an array.

        If another stream of the same traffic is set to this state, it continues from there.
        """

    @state.setter
    def state(self, state: np.ndarray) -> None: ...

    def until(self, cycle: int) -> Created:
        """Create the messages of all cycles before ``cycle`` that are not created yet."""
