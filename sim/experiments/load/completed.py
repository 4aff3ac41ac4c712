"""Records of received messages: messages with all receipts noted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...host import EXCHANGE
from .accounting import NO_REQUEST
from .header_waits import HeaderWaits, SendingTimes, sending

__all__ = ["DONE", "CompletedMessages", "CompletedRows", "MessageCallback", "done_of", "through_of"]

Integers = npt.NDArray[np.int64]

#: Record of a received message. ``message``: the message's number in its lane, in the order of creation.
#: ``injected``: cycle in which the source hands the first flit of the message to its interface. ``handed``: cycle in
#: which the source hands the last flit of its worms of the message to its interface.
#: ``tail``: the latest cycle ``tail`` (see the glossary) of the message's destinations.
#: ``received``: cycle of the message's last receipt. ``multicast``: 1 for a multicast, 0 for a unicast.
#: ``destinations``, ``worms``: number of the message's destinations, and number of its worms.
#: ``reply``: 1 for a reply. ``request``: of a reply, the number of the message that it answers; else `NO_REQUEST`.
#: ``asked``: cycle in which the request was created. ``issued``, ``closed``: cycles of the request's `EXCHANGE`.
#: Only the reply with the highest number of all replies to a request has ``asked``, ``issued`` and
#: ``closed``, if all these replies are received; else they are 0.
DONE = np.dtype([(field, np.int64) for field in (
    "lane", "message", "source", "created", "injected", "handed", "tail", "received", "length", "destinations",
    "multicast", "worms", "reply", "request", "asked", "issued", "closed")])

NO_EXCHANGES = np.zeros(0, EXCHANGE)


class CompletedRows(NamedTuple):
    """Records of one or more consecutive messages, and of their worms and deliveries.

    ``messages``: `MESSAGE` records. ``worms``, ``deliveries``: records from `Host`, the program of all hosts.
    ``starts``: index in ``worms`` of each message's first worm. ``places``: index in ``deliveries`` of each message's
    first delivery. ``exchanges``: `EXCHANGE` records to which the worms refer.
    """

    messages: np.ndarray
    worms: np.ndarray
    deliveries: np.ndarray
    starts: Integers
    places: Integers
    exchanges: np.ndarray = NO_EXCHANGES


@dataclass(frozen=True)
class CompletedMessages:
    """Received messages with their destinations, and the path of the worm to the last destination.

    Parameters
    ----------
    done : DONE [messages]
    last : int64 array [messages]
        The destination with the last receipt; of several the first in the order of ``destinations``.
    worm : int64 array [messages]
        Number, in the hosts' program, of the worm that delivered to the destination ``last``.
    packet : int64 array [messages]
        Number of the first packet of ``worm`` that arrived at the destination ``last``.
    sent : int64 array [messages]
        Cycle in which the first flit of ``worm`` was handed to its sender's interface.
    sending : SendingTimes
        Parts of the time from the creation of each message to ``sent``.
    way : HeaderWaits or None
        Hops and waiting cycles of ``packet``; None if worms are not followed.
    head, end : int64 array [messages]
        Cycles ``head`` and ``tail`` (see the glossary) of the destination ``last``.
    offsets : int64 array [messages + 1]
        Destinations of message m are destinations[offsets[m]:offsets[m + 1]].
    destinations : int64 array [all destinations]
        Destinations of all messages, worm by worm, in visiting order.
    """

    done: np.ndarray
    last: Integers
    worm: Integers
    packet: Integers
    sent: Integers
    sending: SendingTimes
    head: Integers
    end: Integers
    offsets: Integers
    destinations: Integers
    way: HeaderWaits | None = None


MessageCallback = Callable[[CompletedMessages], None]
"""Callback for received messages."""


def done_of(rows: CompletedRows, nodes: int) -> np.ndarray:
    """Return `DONE` records of messages. ``received`` is -1 if a receipt is outstanding.

    Parameters
    ----------
    nodes : int
        Nodes of a lane.
    """
    messages, worms, deliveries, starts, places, exchanges = rows
    result = np.zeros(len(messages), DONE)
    for field in ("lane", "message", "length", "multicast", "request"):
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
    result["reply"] = messages["request"] != NO_REQUEST
    last = np.flatnonzero(messages["last_reply"])
    answered = exchanges[worms["answers"][starts[last]]]
    last, answered = last[answered["due"] == 0], answered[answered["due"] == 0]
    for field, cycle in (("asked", "created"), ("issued", "issued"), ("closed", "closed")):
        result[field][last] = answered[cycle]
    return result


def through_of(rows: CompletedRows, done: np.ndarray, nodes: int, worms: np.ndarray) -> CompletedMessages:
    """Return those messages of ``rows`` that are received, with their destinations and worms.

    Parameters
    ----------
    done : DONE [messages]
        Result of `done_of` for all messages.
    nodes : int
        Nodes of a lane.
    worms : WORM records
        All worms in the hosts' program. Messages and deliveries in ``rows`` refer to a worm by its index in ``worms``.
    """
    there = done["received"] >= 0
    counts, done = done["destinations"], done[there]
    deliveries = rows.deliveries[np.repeat(there, counts)]
    offsets = np.concatenate([[0], np.cumsum(done["destinations"])])
    latest = np.flatnonzero(deliveries["received"] == np.repeat(done["received"], done["destinations"]))
    last = deliveries[latest[np.searchsorted(latest, offsets[:-1])]]
    worm, starts = last["worm"].astype(np.int64), rows.messages["worm"][there].astype(np.int64)
    return CompletedMessages(done, last["node"] % nodes, worm, last["first"].astype(np.int64), worms["injected"][worm],
                   sending(worms, starts, starts + done["worms"], worm), last["head"], last["tail"], offsets,
                   deliveries["node"] % nodes)
