"""Waiting times of the worms to the last destinations of messages, at their senders and in the network."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.compiled import compiled

from ...engines.channel_grants import GRANT
from ...engines.packet_tracker import BUFFER, CONSUMPTION, INJECTION, LINK, PACKET_BITS

__all__ = ["GrantLog", "HeaderWaits", "SendingTimes", "sending"]

Integers = npt.NDArray[np.int64]


class SendingTimes(NamedTuple):
    """Parts of the time from a message's creation until the worm to its last destination is sent, [messages].

    A worm is sent when its first flit is handed to the interface of the worm's sender. ``relayed``: cycles until the
    sender had noted the receipts that the worm waited for; 0 if the sender is the message's source. ``preparation``:
    cycles in which the sender's processor worked on the message's worms up to this worm. ``earlier_copies``: cycles in
    which the posted worm waited while its injection port sent other worms of the message. ``queue``: all other cycles.
    """

    relayed: Integers
    queue: Integers
    preparation: Integers
    earlier_copies: Integers


class HeaderWaits(NamedTuple):
    """Hops and waiting cycles of the first packets that arrived at the last destinations, [messages].

    ``hops``: links between routers. ``injection_wait``, ``buffer_wait``, ``link_wait``, ``consumption_wait``: waiting
    cycles for each kind of resource. The waits of message m are the rows ``offsets[m]`` to ``offsets[m + 1]`` - 1 of
    ``waits``, in the order of time. A row of ``waits``: kind of the resource (`GRANT`), switch, message that held the
    resource (by its number in the lane), waiting cycles. `NOBODY` in place of a message: the channel was free, and the
    router served another worm first.
    """

    hops: Integers
    injection_wait: Integers
    buffer_wait: Integers
    link_wait: Integers
    consumption_wait: Integers
    offsets: Integers
    waits: Integers


class GrantLog:
    """Log of the grants to the worms of the messages in a `MessageWindow`. Each grant is a `GRANT` record.

    Parameters
    ----------
    coupled : bool
        A flit to a node and its copy to the next link leave together (`InputUnit`), so a delivery waits for the link,
        too.
    """

    def __init__(self, *, coupled: bool):
        self._coupled = coupled
        self._rows = np.zeros(0, GRANT)
        self._new: list[npt.NDArray[np.void]] = []

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """Add grants in the order of cycles."""
        self._new.append(rows)

    def forget(self, first: int) -> None:
        """Remove the grants of worms with numbers below ``first``."""
        rows = np.concatenate([self._rows, *self._new])
        self._rows, self._new = rows[rows["worm"] >= first], []

    def along(self, worms: Integers, packets: Integers, switches: Integers) -> HeaderWaits:
        """Return hops and waits of packets, from their grants up to the switches of their destinations."""
        rows = np.concatenate([self._rows, *self._new])
        # rows are almost sorted, so the stable sort is fast
        self._rows, self._new = rows[np.argsort(_packet(rows["worm"], rows["packet"]), kind="stable")], []
        all_, these = _packet(self._rows["worm"], self._rows["packet"]), _packet(worms, packets)
        begin, end = np.searchsorted(all_, these), np.searchsorted(all_, these, side="right")
        sums, counts = np.zeros((5, len(worms)), np.int64), np.zeros(len(worms), np.int64)
        waits = np.empty((int((end - begin).sum()), 4), np.int64)
        waits = waits[:_add_up(self._rows, begin, end, switches, self._coupled, sums, counts, waits)]
        return HeaderWaits._make([*sums, np.concatenate([[0], np.cumsum(counts)]), waits])


def _packet(worms: Integers, packets: Integers) -> Integers:
    """Return a number that identifies a packet of a worm."""
    return worms << PACKET_BITS | packets


@compiled
def _add_up(rows, begin, end, switches, coupled, sums, counts, waits):
    """Fill in the arrays of a `HeaderWaits`, and return the number of waits."""
    found = 0
    for message in range(len(begin)):
        there = False
        for at in range(begin[message], end[message]):
            row = rows[at]
            if there and (not coupled or row.kind != LINK):
                break
            if row.kind == LINK and not there:
                sums[0, message] += 1
            if row.kind == INJECTION:
                sums[1, message] += row.wait
            elif row.kind == BUFFER:
                sums[2, message] += row.wait
            elif row.kind == LINK:
                sums[3, message] += row.wait
            else:
                sums[4, message] += row.wait
            if row.wait > 0:
                waits[found, 0], waits[found, 1], waits[found, 2], waits[found, 3] = (
                    row.kind, row.switch, row.behind, row.wait)
                counts[message] += 1
                found += 1
            if there:
                break
            there = row.kind == CONSUMPTION and row.switch == switches[message]
    return found


def sending(worms: npt.NDArray[np.void], starts: Integers, ends: Integers, last: Integers) -> SendingTimes:
    """Return the parts of the time until the worm to a message's last destination is sent, for each message.

    Parameters
    ----------
    worms : WORM records
        Worms in the hosts' program.
    starts, ends, last : int64 arrays [messages]
        Indices in ``worms``: each message's first worm, the worm after its last one, the worm to its last destination.
    """
    found = np.zeros((4, len(last)), np.int64)
    _split(worms, starts, ends, last, found)
    return SendingTimes._make(found)


@compiled
def _split(worms, starts, ends, last, found):
    """Write the fields of a `SendingTimes` into the rows of ``found``, [4, messages]."""
    for message in range(len(last)):
        worm = worms[last[message]]
        for other in worms[starts[message]:ends[message]]:
            if other.source == worm.source and other.ready == worm.ready and other.posted <= worm.posted:
                found[2, message] += other.cost
        # go back to the first of the message's worms that the port sends directly one after the other
        first = last[message]
        while starts[message] <= worms[first].previous < ends[message]:
            first = worms[first].previous
        if first != last[message]:
            found[3, message] = worm.injected - max(worm.posted, worms[first].injected)
        found[0, message] = worm.ready - worms[starts[message]].ready
        found[1, message] = worm.injected - worm.ready - found[2, message] - found[3, message]
