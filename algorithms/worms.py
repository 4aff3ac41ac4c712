"""Worms of many multicasts, as arrays."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["AT_ONCE", "HOST", "INTERFACE", "TIERS", "MessageBatch", "Worms", "select_entries", "steps_of", "unicasts"]

AT_ONCE = -1
"""Value of ``after`` for a worm that waits for no receipt."""

HOST, INTERFACE = 0, 1
"""Values of ``tier``: a host sends the worm; a network interface forwards the worm packet by packet."""

TIERS = ("host", "ni")
"""Names of the tiers in results."""


class MessageBatch(NamedTuple):
    """Messages, as arrays of their sources and destinations.

    Parameters
    ----------
    sources : int32 array [messages]
    destination_offsets : int64 array [messages + 1]
        Destinations of message m are destinations[destination_offsets[m]:destination_offsets[m + 1]].
    destinations : int32 array [all destinations]
        Nodes in any order. A message's source is not among its destinations, and no node is among them twice.
    """

    sources: npt.NDArray[np.int32]
    destination_offsets: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int32]

    def of(self, message: int) -> list[int]:
        """Return the destinations of a message."""
        first, end = self.destination_offsets[message:message + 2]
        return self.destinations[first:end].tolist()

    def copy(self) -> "MessageBatch":
        """Return the same messages with copies of the arrays."""
        return MessageBatch(self.sources.copy(), self.destination_offsets.copy(), self.destinations.copy())


@dataclass(frozen=True, eq=False)
class Worms:
    """Worms of a batch of messages: one row per worm, messages in the order given.

    A worm may start when its message is created, or when its sender has received the worm in `after`. A node sends its
    worms in the order of `rank`.

    Parameters
    ----------
    message_offsets : int64 array [messages + 1]
        Worms of message m are the rows message_offsets[m] to message_offsets[m + 1] - 1.
    source : int32 array [worms]
        Node that sends the worm: the message's source, or a destination that has received the message.
    rank : int32 array [worms]
        Index of the worm among its sender's sends for this message, from 0.
    after : int64 array [worms]
        Worm (an earlier row, of the same message) whose receipt at this worm's source releases this worm, or
        ``AT_ONCE``.
    destination_offsets : int64 array [worms + 1]
        Destinations of worm w are destinations[destination_offsets[w]:destination_offsets[w + 1]].
    destinations : int32 array [all destinations]
        Nodes in visiting order; for a tree, in any order.
    signs : int64 array [all destinations], optional
        Signs of each destination in the header: bit d for dimension d, set for downwards. A sign selects the way around
        a ring where both ways have the same length. Default: `default_signs`. Signs are used only with ``--ties
        signed``.
    steps : int32 array [worms], optional
        Message-passing step of each worm, from 1, if the scheme counts the steps itself. By default, a node sends one
        worm per step, beginning in the step after its receipt.
    tier : int8 array [worms], optional
        Sender of each worm: ``HOST`` (default), or ``INTERFACE``: the sender's network interface forwards each packet
        of the worm in `after` when the packet has arrived.
    """

    message_offsets: npt.NDArray[np.int64]
    source: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    after: npt.NDArray[np.int64]
    destination_offsets: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int32]
    signs: npt.NDArray[np.int64] | None = None
    steps: npt.NDArray[np.int32] | None = None
    tier: npt.NDArray[np.int8] = None  # type: ignore[assignment]  # always an array after construction

    def __post_init__(self) -> None:
        if self.tier is None:
            object.__setattr__(self, "tier", np.full(len(self.source), HOST, np.int8))

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

    def forwarded_by_interfaces(self) -> "Worms":
        """Return the same worms, but network interfaces forward the worms that wait for a receipt."""
        return replace(self, tier=np.where(self.after == AT_ONCE, HOST, INTERFACE).astype(np.int8))


def unicasts(
    destination_offsets: npt.NDArray[np.int64],
    source: npt.NDArray[np.int32],
    rank: npt.NDArray[np.int32],
    after: npt.NDArray[np.int64],
    destinations: npt.NDArray[np.int32],
) -> Worms:
    """Make one worm per destination of messages.

    Parameters
    ----------
    destination_offsets : int64 array [messages + 1]
        As in `Scheme.batch`.
    source, rank, after, destinations
        Fields of each worm, as in `Worms`. In a message, a worm comes after the worm that releases it.
    """
    return Worms(destination_offsets.copy(), source, rank, after, np.arange(len(destinations) + 1), destinations)


def select_entries(
    messages: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Select the entries of some messages from arrays with the entries of all messages.

    Parameters
    ----------
    offsets : int64 array [all messages + 1]
        Entries offsets[m] to offsets[m + 1] - 1 belong to message m.

    Returns
    -------
    (int64 array, int64 array)
        Indices of the entries, in the order of `messages`; and the offset of each of these messages in the indices,
        with the end.
    """
    counts = np.diff(offsets)[messages]
    found = np.concatenate([[0], np.cumsum(counts)])
    return np.repeat(offsets[messages] - found[:-1], counts) + np.arange(found[-1]), found


def steps_of(worms: Worms) -> list[int]:
    """Return the message-passing step of each worm, from 1, by the scheme's count or by the default count.

    In the default count a node sends one worm per step, beginning in the step after its receipt.
    """
    if worms.steps is not None:
        return worms.steps.tolist()
    found: list[int] = []
    for rank, after in zip(worms.rank.tolist(), worms.after.tolist(), strict=True):
        found.append((0 if after == AT_ONCE else found[after]) + rank + 1)
    return found
