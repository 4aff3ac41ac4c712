"""Sums over the messages of a window, compiled: updated as messages begin, and recomputed for an audit."""

import numpy as np

from wormcast.algorithms.compiled import compiled

__all__ = ["AUDIT", "MESSAGE", "NO_REQUEST", "SUMS", "add_all", "add_begun", "audit", "first_open"]


def _record(*fields: str) -> np.dtype:
    return np.dtype([(field, np.int64) for field in fields])


#: Record of a message. ``message``: the message's number in its lane. ``length``: number of the message's payload
#: flits. ``worm``: index of the message's first worm in the program of the hosts. ``request``: of a reply, the number
#: of the message that it answers; else `NO_REQUEST`. ``last_reply``: the message has the highest number of all replies
#: to its request.
MESSAGE = np.dtype([(field, np.int32) for field in (
    "lane", "message", "length", "multicast", "worm", "request", "last_reply")])

NO_REQUEST = -1

#: Sums over messages of a lane: their number, payload flits, payload flits times destinations, worms.
SUMS = _record("begun", "created", "wanted", "worms")

#: State of a lane. ``held``: number of messages that have begun and that `MessageWindow.take_done` has not returned.
#: ``outstanding``: payload flits of the ``held`` messages that destinations have not received.
#: ``waiting``: worms of the ``held`` messages that have not sent a flit.
#: ``under_way``: worms of the ``held`` messages that have sent a flit and still have outstanding deliveries.
AUDIT = _record("held", "outstanding", "waiting", "under_way")


@compiled
def _end(messages, worms, message):
    """Return the index of the worm after a message's last worm."""
    return messages[message + 1].worm if message + 1 < len(messages) else len(worms)


@compiled
def _add(sums, messages, worms, message):
    """Add a message to its lane's `SUMS`."""
    row, end = messages[message], _end(messages, worms, message)
    lane = sums[row.lane]
    lane.begun += 1
    lane.created += row.length
    lane.wanted += row.length * (worms[end - 1].delivery_end - worms[row.worm].delivery)
    lane.worms += end - row.worm


@compiled
def add_all(sums, messages, worms):
    """Add all messages to `SUMS` by lane."""
    for message in range(len(messages)):
        _add(sums, messages, worms, message)


@compiled
def add_begun(sums, messages, worms, releases, freed, now, seen):
    """Add the messages that have newly begun to their lanes' `SUMS`.

    Parameters
    ----------
    freed : int
        Number of worms released since the last call (`RELEASE`).
    now : int
        Cycles simulated.
    seen : int
        Result of the previous call, minus the number of messages removed from the window since then.

    Returns
    -------
    int
        Number of messages in the window with a cycle before ``now``.
    """
    message = seen
    while message < len(messages) and worms[messages[message].worm].ready < now:
        if worms[messages[message].worm].waits == 0:
            _add(sums, messages, worms, message)
        message += 1
    for k in range(freed):
        first, end = 0, seen  # messages from ``seen`` on are already added by the first loop
        while first < end:
            middle = (first + end) // 2
            if messages[middle].worm < releases[k].freed:
                first = middle + 1
            else:
                end = middle
        if first < seen and messages[first].worm == releases[k].freed:
            _add(sums, messages, worms, first)
    return message


@compiled
def first_open(messages, worms, deliveries, first):
    """Return the index of the first message from ``first`` on with a receipt outstanding, or the number of messages."""
    while first < len(messages):
        end = worms[_end(messages, worms, first) - 1].delivery_end
        for delivery in range(worms[messages[first].worm].delivery, end):
            if deliveries[delivery].received < 0:
                return first
        first += 1
    return first


@compiled
def audit(messages, worms, deliveries, first, late, found):
    """Sum up the messages from index ``first`` on, lane by lane.

    Parameters
    ----------
    late : `SUMS` records [lanes]
        Sums of the messages that have not begun.
    found : `AUDIT` records [lanes]
        Sums of the messages that have begun.
    """
    for message in range(first, len(messages)):
        row = messages[message]
        if worms[row.worm].waits != 0:
            _add(late, messages, worms, message)
            continue
        lane = found[row.lane]
        lane.held += 1
        for worm in range(row.worm, _end(messages, worms, message)):
            if worms[worm].injected < 0:
                lane.waiting += 1
            elif worms[worm].left > 0:
                lane.under_way += 1
            for delivery in range(worms[worm].delivery, worms[worm].delivery_end):
                lane.outstanding += deliveries[delivery].due
