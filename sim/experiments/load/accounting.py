"""What a window's messages add up to, compiled: as they begin, and all of them once more."""

import numpy as np

from wormcast.algorithms.compiled import compiled

__all__ = ["AUDIT", "MESSAGE", "SUMS", "add_all", "add_begun", "audit", "first_open"]


def _record(*fields: str) -> np.dtype:
    return np.dtype([(field, np.int64) for field in fields])


#: ``message``: its number in its lane; ``length``: payload flits; ``worm``: its first one in the host.
MESSAGE = np.dtype([(field, np.int32) for field in ("lane", "message", "length", "multicast", "worm")])

#: Of messages of one lane: how many there are, their payload flits, the same times their destinations, their worms.
SUMS = _record("begun", "created", "wanted", "worms")

#: Of one lane: messages that are created and not forgotten, payload flits of theirs to be consumed, worms of theirs not
#: begun to be sent, and worms under way.
AUDIT = _record("held", "outstanding", "waiting", "under_way")


@compiled
def _end(messages, worms, message):
    """The worm behind a message's last one."""
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
    """Add to `SUMS` by lane the messages that have begun, and say how many of all belong to cycles before this one.

    Parameters
    ----------
    freed : int
        Worms that have been released since the last time (`RELEASE`).
    now : int
        Cycles that have been run.
    seen : int
        What was said the last time.
    """
    message = seen
    while message < len(messages) and worms[messages[message].worm].ready < now:
        if worms[messages[message].worm].waits == 0:
            _add(sums, messages, worms, message)
        message += 1
    for k in range(freed):
        first, end = 0, seen  # those behind are added already
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
    """The first message, from this one on, of which some receipt is outstanding."""
    while first < len(messages):
        end = worms[_end(messages, worms, first) - 1].delivery_end
        for delivery in range(worms[messages[first].worm].delivery, end):
            if deliveries[delivery].received < 0:
                return first
        first += 1
    return first


@compiled
def audit(messages, worms, deliveries, first, late, found):
    """Look at all messages from this one on.

    Parameters
    ----------
    late : `SUMS` records [lanes]
        Where those are added that have not begun.
    found : `AUDIT` records [lanes]
        Where the others are.
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
