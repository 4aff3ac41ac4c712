"""What became of messages whose receipts are all noted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .header_waits import Sending, Way, sending

__all__ = ["DONE", "CompletedRows", "Tell", "Through", "done_of", "through_of"]

Integers = npt.NDArray[np.int64]

#: What is known of a message that is through. ``lane``; ``message``: its number there, in the order of creation;
#: ``source``; ``created``; ``injected``: its first flit; ``handed``: the last flit that its source sends; ``tail``: its
#: last destination's last flit; ``received``: the last receipt; ``length``, ``destinations``, ``multicast``; ``worms``:
#: how many it is sent as.
DONE = np.dtype([(field, np.int64) for field in (
    "lane", "message", "source", "created", "injected", "handed", "tail", "received", "length", "destinations",
    "multicast", "worms")])


class CompletedRows(NamedTuple):
    """Messages that follow each other, at least one, and what a host knows of them.

    ``messages``, ``worms``, ``deliveries``: records of these alone; ``starts``, ``places``: first worm and delivery
    of each.
    """

    messages: np.ndarray
    worms: np.ndarray
    deliveries: np.ndarray
    starts: Integers
    places: Integers


@dataclass(frozen=True)
class Through:
    """Messages that are through, and where they went.

    Parameters
    ----------
    done : DONE [messages]
    last : int64 array [messages]
        The destination whose receipt was noted last, of several the first in the order of ``destinations``.
    worm, packet : int64 array [messages]
        Number of the worm to that one in the host, and which packet of it came there first.
    sent : int64 array [messages]
        Cycle in which the first flit of that worm was handed to its sender's interface.
    sending : Sending
    way : Way or None
        None where worms are not followed.
    head, end : int64 array [messages]
        Cycles in which that one took the first and the last payload flit, the last without t_nr.
    offsets : int64 array [messages + 1]
        Destinations of message m are destinations[offsets[m]:offsets[m + 1]].
    destinations : int64 array [all destinations]
        Worm by worm, in visiting order.
    """

    done: np.ndarray
    last: Integers
    worm: Integers
    packet: Integers
    sent: Integers
    sending: Sending
    head: Integers
    end: Integers
    offsets: Integers
    destinations: Integers
    way: Way | None = None


Tell = Callable[[Through], None]
"""Who wants to know what became of messages."""


def done_of(rows: CompletedRows, nodes: int) -> np.ndarray:
    """Say what has become of messages, `DONE`; ``received`` is -1 of those that some destination lacks.

    Parameters
    ----------
    nodes : int
        Of a lane.
    """
    messages, worms, deliveries, starts, places = rows
    result = np.zeros(len(messages), DONE)
    for field in ("lane", "message", "length", "multicast"):
        result[field] = messages[field]
    result["worms"] = np.diff(starts, append=len(worms))
    result["source"] = worms["source"][starts] % nodes
    result["created"] = worms["ready"][starts]
    result["destinations"] = np.diff(places, append=len(deliveries))
    result["injected"] = np.minimum.reduceat(worms["injected"], starts)
    own = worms["source"] == np.repeat(worms["source"][starts], result["worms"])
    result["handed"] = np.maximum.reduceat(np.where(own, worms["handed"], -1), starts)
    result["tail"] = np.maximum.reduceat(deliveries["tail"], places)
    open_ = np.minimum.reduceat(deliveries["received"], places) < 0
    result["received"] = np.where(open_, -1, np.maximum.reduceat(deliveries["received"], places))
    return result


def through_of(rows: CompletedRows, done: np.ndarray, nodes: int, worms: np.ndarray) -> Through:
    """Say where those messages went that are received.

    Parameters
    ----------
    done : DONE [messages]
        What `done_of` says of all of them.
    nodes : int
        Of a lane.
    worms : WORM records
        All of the host, which those of the rows are numbered by.
    """
    there = done["received"] >= 0
    counts, done = done["destinations"], done[there]
    deliveries = rows.deliveries[np.repeat(there, counts)]
    offsets = np.concatenate([[0], np.cumsum(done["destinations"])])
    latest = np.flatnonzero(deliveries["received"] == np.repeat(done["received"], done["destinations"]))
    last = deliveries[latest[np.searchsorted(latest, offsets[:-1])]]
    worm, starts = last["worm"].astype(np.int64), rows.messages["worm"][there].astype(np.int64)
    return Through(done, last["node"] % nodes, worm, last["first"].astype(np.int64), worms["injected"][worm],
                   sending(worms, starts, starts + done["worms"], worm), last["head"], last["tail"], offsets,
                   deliveries["node"] % nodes)
