"""Validation of worms: types, shapes, ranges, receipts, ranks, and each destination visited once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import WormcastError
from .phrases import count
from .topologies.base import Topology
from .worms import AT_ONCE, HOST, INTERFACE, MessageBatch, Worms

__all__ = ["validate_worms", "visits_are_wanted"]

Integers = npt.NDArray[np.int64]

#: Types that `Worms` states.
TYPES: dict[str, type[np.signedinteger[Any]]] = {
    "message_offsets": np.int64, "source": np.int32, "rank": np.int32, "after": np.int64,
    "destination_offsets": np.int64, "destinations": np.int32, "signs": np.int64, "steps": np.int32, "tier": np.int8}

MOST_STEPS = int(np.iinfo(np.int32).max)


def validate_worms(
    worms: Worms, topology: Topology, messages: MessageBatch, where: Callable[[int | None], str]
) -> Worms:
    """Check the worms of valid messages, and return them with arrays of the types that `Worms` states.

    Parameters
    ----------
    messages : MessageBatch
    where : function
        Returns the beginning of a refusal from the index of a message, or from None for all messages.

    Raises
    ------
    WormcastError
        The worms violate the documentation of `Worms`, or do not visit each destination of each message once.
    """
    try:
        given = _arrays(worms, len(messages.sources))
        found = _Rows(given, topology.nodes)
        found.require_ranges(topology)
        found.require_visits(messages.destination_offsets, messages.destinations)
        found.require_releases(messages.sources)
        found.require_ranks()
    except _Invalid as fault:
        whose = where(fault.message)
        raise WormcastError(f"{whose}: {fault}") from None
    return replace(worms, **{name: np.ascontiguousarray(array, TYPES[name]) for name, array in given.items()})


def visits_are_wanted(worms: Worms, nodes: int, messages: MessageBatch) -> bool:
    """Return whether the worms of each message visit the message's destinations once, and no other node.

    This check is a small part of `validate_worms`, and takes about a tenth of its time. The arrays of the worms must
    have the shapes that `Worms` states.
    """
    if not np.array_equal(worms.destination_offsets[worms.message_offsets], messages.destination_offsets):
        return False
    if np.array_equal(worms.destinations, messages.destinations):  # in loads of unicasts
        return True
    message = _owners(messages.destination_offsets) * nodes
    return np.array_equal(np.sort(message + worms.destinations), np.sort(message + messages.destinations))


class _Invalid(Exception):
    """Reason why worms are not valid, and the index of their message; None if no single message is concerned."""

    def __init__(self, reason: str, message: int | None = None) -> None:
        super().__init__(reason)
        self.message = message


def _arrays(worms: Worms, messages: int) -> dict[str, Integers]:
    """Return the arrays by name, after a check of their types, lengths and offsets."""
    found: dict[str, Integers] = {}
    sent = visits = None
    for name in ("source", "destinations", *TYPES):
        array = getattr(worms, name)
        if name in found or (array is None and name in ("signs", "steps")):
            continue
        needed = {"source": sent, "destinations": visits, "message_offsets": messages + 1,
                  "destination_offsets": (sent or 0) + 1, "signs": visits}.get(name, sent)
        if (not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu"
                or not np.can_cast(array.dtype, np.int64) or needed not in (None, len(array))):
            is_array = isinstance(array, np.ndarray)
            actual = f"{array.dtype} {list(array.shape)}" if is_array else f"of type {type(array).__name__}"
            length = needed if needed is not None else "worms" if name == "source" else "all destinations"
            raise _Invalid(f"the array {name} of its worms is {actual}. Needed: {np.dtype(TYPES[name])} [{length}].")
        found[name] = np.asarray(array, np.int64)
        sent, visits = (len(found[one]) if one in found else None for one in ("source", "destinations"))
    for name, end in (("message_offsets", sent), ("destination_offsets", visits)):
        offsets = found[name]
        if offsets[0] != 0 or offsets[-1] != end or (offsets[1:] < offsets[:-1]).any():
            raise _Invalid(f"the array {name} of its worms is not valid. Needed: numbers from 0 to {end} that never "
                           "fall.")
    return found


class _Rows:
    """Arrays of all worms and of all their destinations, with the message of each worm and of each destination."""

    def __init__(self, arrays: dict[str, Integers], nodes: int) -> None:
        self.arrays = arrays
        self.nodes = nodes
        self.first = arrays["message_offsets"]
        self.source, self.after, self.rank = arrays["source"], arrays["after"], arrays["rank"]
        self.message = _owners(self.first)
        self.worm_of_visit = _owners(arrays["destination_offsets"])

    def invalid(self, worm: int, reason: str) -> _Invalid:
        """Return the refusal of a worm. The refusal names the worm by its index in its message."""
        message = int(self.message[worm])
        return _Invalid(f"worm {worm - self.first[message]} {reason}", message)

    def require_ranges(self, topology: Topology) -> None:
        """Check the ranges of the worms' nodes, signs and steps, and their tiers (sent by a host or by a network
        interface)."""
        last = self.nodes - 1
        destinations, tier = self.arrays["destinations"], self.arrays["tier"]
        for row in _rows(_outside(self.source, 0, last)):
            raise self.invalid(row, f"is sent by node {self.source[row]} (array source). Allowed: 0 to {last}.")
        for row in _rows(_outside(destinations, 0, last)):
            raise self.invalid(self.worm_of_visit[row],
                               f"visits node {destinations[row]} (array destinations). Allowed: 0 to {last}.")
        if "signs" in self.arrays:
            signs, most = self.arrays["signs"], (1 << topology.coordinates.shape[1]) - 1
            for row in _rows(_outside(signs, 0, most)):
                raise self.invalid(self.worm_of_visit[row],
                                   f"has signs {signs[row]} (array signs). Allowed: 0 to {most}.")
        if "steps" in self.arrays:
            steps = self.arrays["steps"]
            for row in _rows(_outside(steps, 1, MOST_STEPS)):
                raise self.invalid(row, f"has step {steps[row]} (array steps). Allowed: 1 to {MOST_STEPS}.")
        for row in _rows((tier != HOST) & (tier != INTERFACE)):
            raise self.invalid(row, f"has tier {tier[row]} (array tier). Allowed: {HOST} (sent by a host), "
                               f"{INTERFACE} (by a network interface).")

    def require_visits(self, destination_offsets: npt.NDArray[np.int64], destinations: npt.NDArray[np.int32]) -> None:
        """Check that the worms of each message visit its destinations once, and no other node."""
        wanted = np.sort(_owners(destination_offsets) * self.nodes + destinations)
        self.visits = self.message[self.worm_of_visit] * self.nodes + self.arrays["destinations"]
        self.order = np.argsort(self.visits, kind="stable")
        found = self.visits[self.order]
        if not np.array_equal(found, wanted):
            shorter = min(len(found), len(wanted))
            differs = np.flatnonzero(found[:shorter] != wanted[:shorter])
            at = int(differs[0]) if len(differs) else shorter
            key = min(int(keys[at]) for keys in (found, wanted) if at < len(keys))
            message, node = divmod(key, self.nodes)
            times, expected = (int((keys == key).sum()) for keys in (found, wanted))
            needed = count(expected, "visit") if expected else "no visit, as it is not a destination"
            raise _Invalid(f"node {node} is visited {count(times, 'time')}. Needed: {needed}.", message)
        for row in _rows(np.diff(self.arrays["destination_offsets"]) == 0):
            raise self.invalid(row, "has no destination. Needed: 1 or more.")

    def require_releases(self, sources: npt.NDArray[np.int32]) -> None:
        """Check that each worm is sent by the message's source at once, or by a destination after its receipt."""
        source, after, first = self.source, self.after, self.first[self.message]
        at_once = after == AT_ONCE
        for row in _rows((self.arrays["tier"] == INTERFACE) & at_once):
            raise self.invalid(row, "is forwarded by a network interface, and depends on no worm (array after). "
                               "Needed: the index of the worm whose packets the interface forwards.")
        start = np.asarray(sources, np.int64)[self.message]
        for row in _rows(at_once & (source != start)):
            raise self.invalid(row, f"waits for no other worm, and has source {source[row]}. Needed: "
                               f"{start[row]}, the source of the multicast.")
        for row in _rows(~at_once & ((after < first) | (after >= np.arange(len(after))))):
            other = after[row] - first[row] if after[row] >= 0 else after[row]
            raise self.invalid(row, f"depends on worm {other} (array after). Allowed: an earlier worm of the message, "
                               f"or {AT_ONCE} if the message's source sends the worm at once.")
        senders = self.message * self.nodes + source
        places = np.searchsorted(self.visits[self.order], senders)
        received = np.append(self.order, 0)[places]  # index of the visit by which the sender receives the message
        at = np.append(self.worm_of_visit, 0)[received]
        receives = np.append(self.visits, -1)[received] == senders
        for row in _rows(~at_once & ~(receives & (at == after))):
            sender = f"node {source[row]}"
            raise self.invalid(row, f"is sent by {sender}, and depends on worm {after[row] - first[row]}, which does "
                               f"not reach {sender}. Needed: a worm that reaches {sender}.")

    def require_ranks(self) -> None:
        """Check that the ranks of each sender's worms of a message are 0, 1, 2 and so on."""
        senders = self.message * self.nodes + self.source
        order = np.lexsort((self.rank, senders))
        ranks, sorted_senders = self.rank[order], senders[order]
        again = np.zeros(len(ranks), bool)
        again[order[1:]] = (np.diff(ranks) == 0) & (np.diff(sorted_senders) == 0)
        for row in _rows(again):
            equal = ((senders == senders[row]) & (self.rank == self.rank[row])).sum()
            raise _Invalid(f"node {self.source[row]} sends {equal} worms of rank {self.rank[row]}. Allowed: one.",
                           int(self.message[row]))
        sent = np.searchsorted(sorted_senders, senders, "right") - np.searchsorted(sorted_senders, senders)
        for row in _rows(_outside(self.rank, 0, sent - 1)):
            raise self.invalid(row, f"has rank {self.rank[row]} (array rank). Allowed: 0 to {sent[row] - 1}, as node "
                               f"{self.source[row]} sends {count(int(sent[row]), 'worm')}.")


def _rows(wrong: npt.NDArray[np.bool_]) -> list[int]:
    """Return a list with the first wrong row, or an empty list."""
    found: list[int] = np.flatnonzero(wrong)[:1].tolist()
    return found


def _owners(offsets: npt.NDArray[np.int64]) -> Integers:
    """Return, for groups given by offsets, the number of the group of each entry."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _outside(numbers: Integers, first: int, last: Any) -> npt.NDArray[np.bool_]:
    return (numbers < first) | (numbers > last)
