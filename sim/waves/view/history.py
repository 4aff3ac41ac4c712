"""Recorded history of a network: holds and waits of worms on virtual channels, as plain data."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.channels import Resource, link_rows

from ...common.text import resource_text
from .chunks import RecordedChunk, RecordedReading

__all__ = ["History", "RecordedBuffer", "RecordedHold", "RecordedLink", "RecordedWorm", "Wait"]

REST = 3  # after the last flit, `trimmed` keeps 1/REST of the number of cycles from first to last flit
LEAST_REST = 10  # smallest number of cycles kept after the last flit; in these cycles blocked headers begin to wait


@dataclass(frozen=True)
class RecordedLink:
    """A unidirectional link.

    Parameters
    ----------
    name : str
        ``link:0>1`` between routers, ``inj:NODE:PORT`` and ``cons:NODE#LINK`` between a router and its node,
        ``retrans:NODE`` for the retransmission slots of a node. The name of a virtual channel is its link's name and
        one more number. Exception: a consumption channel is named ``cons:NODE:i``, without its link.
    kind : "network", "injection", "consumption" or "slots"
    source, target : int
        Start and end of the link: two switches for ``"network"``, node and switch for ``"injection"``, switch and node
        for ``"consumption"`` and ``"slots"``.
    vcs : int
        Number of virtual channels, consumption channels or slots.
    """

    name: str
    kind: str
    source: int
    target: int
    vcs: int

    @property
    def node(self) -> int | None:
        """Node of an injection link, consumption link or slots; None for a link between switches."""
        return {"network": None, "injection": self.source, "consumption": self.target, "slots": self.target}[
            self.kind]

    @property
    def number(self) -> int:
        """Index of an injection or consumption link among the node's links of this kind."""
        return int(re.split("[:#]", self.name)[-1])

    @property
    def switches(self) -> tuple[int, ...]:
        """Switches at the link's ends."""
        return {"network": (self.source, self.target), "injection": (self.target,),
                "consumption": (self.source,), "slots": (self.source,)}[self.kind]


@dataclass(frozen=True)
class RecordedWorm:
    """A worm of a waveform; ``number`` is its number in the waveform.

    Parameters
    ----------
    number, message, source : int
    destinations : tuple of int
        In visiting order.
    length : int
        Number of payload flits.
    """

    number: int
    message: int
    source: int
    destinations: tuple[int, ...]
    length: int


@dataclass(frozen=True)
class RecordedHold:
    """Period in which a worm holds a virtual channel of a link, from its first flit on this channel to its tail.

    A consumption channel is held from the cycle of its reservation. A hold may have no flit in the history.

    Parameters
    ----------
    link : int
        Index of the link in the history.
    vc, worm : int
    first, last : int
        First and last cycle of the hold. ``last`` is the cycle of the tail, or the last cycle of the history if
        ``ended`` is False.
    flits : tuple of int
        Cycles with a flit of the worm on this virtual channel, in order.
    ended : bool
        True if the worm's tail has passed on this channel.
    """

    link: int
    vc: int
    worm: int
    first: int
    last: int
    flits: tuple[int, ...]
    ended: bool

    @property
    def runs(self) -> list[tuple[int, int]]:
        """Runs of consecutive cycles with flits, first and last cycle of each."""
        found: list[tuple[int, int]] = []
        for cycle in self.flits:
            if found and found[-1][1] == cycle - 1:
                found[-1] = found[-1][0], cycle
            else:
                found.append((cycle, cycle))
        return found


@dataclass(frozen=True)
class Wait:
    """Period in which a worm's header waits at the end of a virtual channel, as its request is not granted.

    Parameters
    ----------
    worm : int
    link : int
        Index of the link on which the header arrived.
    vc : int
    first, last : int
        First and last cycle of the wait.
    resources : tuple of str
        ``link:U>V:vc``, ``cons:NODE:i``, ``inj:NODE:port:vc``, ``retrans:NODE:i`` or ``token:STAGE:GROUP``. The header
        needs one of the resources; if switches replicate worms (`History.replicates`), one channel of each output.
    """

    worm: int
    link: int
    vc: int
    first: int
    last: int
    resources: tuple[str, ...]


@dataclass(frozen=True)
class RecordedToken:
    """Period in which a worm holds the token of a group of switches.

    Parameters
    ----------
    resource : str
        ``token:STAGE:GROUP``.
    worm : int
    first, last : int
        First and last cycle in which the worm holds the token.
    """

    resource: str
    worm: int
    first: int
    last: int


@dataclass(frozen=True)
class RecordedBuffer:
    """Fill level of the buffer at a virtual channel's end, and credits in use at the channel's start.

    Parameters
    ----------
    link, vc : int
        Index of the link in the history, and virtual channel.
    stored : tuple of (int, int)
        Changes of the number of stored flits: cycle and new number. A flit is stored in the cycle after the one in
        which it is on the link. ``stored`` is empty if the channel ends at a node.
    spent : tuple of (int, int)
        Changes of the number of credits in use: cycle and new number. ``spent`` is empty if the channel's start is not
        recorded.
    """

    link: int
    vc: int
    stored: tuple[tuple[int, int], ...]
    spent: tuple[tuple[int, int], ...]

    def between(self, first: int, end: int) -> "RecordedBuffer":
        """Return the record of cycles ``first`` to ``end`` - 1.

        A number that is still valid in cycle ``first`` counts as changed in this cycle.
        """
        return replace(self, stored=_changes_between(self.stored, first, end),
                       spent=_changes_between(self.spent, first, end))


def _changes_between(changes: Sequence[tuple[int, int]], first: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the changes before cycle ``end``, of which the last one up to cycle ``first`` is moved to ``first``."""
    before = [value for cycle, value in changes if cycle <= first][-1:]
    return *((first, value) for value in before), *((cycle, value) for cycle, value in changes if first < cycle < end)


@dataclass(frozen=True)
class History:
    """Recorded events of a network in cycles ``first`` to ``end`` - 1.

    Parameters
    ----------
    topology : Topology
    scheme : str
    first, end : int
    links : tuple of RecordedLink
        Recorded links, in the order of the waveform.
    worms : dict of int to RecordedWorm
        By number: all worms of the waveform, also those that use no link in cycles ``first`` to ``end`` - 1.
    holds : tuple of RecordedHold
        Sorted by first cycle, link and virtual channel.
    waits : tuple of Wait
        Sorted by first cycle, link and virtual channel.
    deadlock : dict or None
        As in JSON: ``{"at": cycle, "cycle": [{"worm", "holds": [RESOURCE], "waits": [RESOURCE]}]}``.
    configuration : dict
        Hardware options by name.
    chunks : tuple of RecordedChunk
        Contents of the rows of deep switches, by first cycle.
    readings : tuple of RecordedReading
        Reads of buffer rows by the outputs of deep switches.
    buffers : tuple of RecordedBuffer
        Fill levels of buffers and credits in use, by link and virtual channel. ``buffers`` is empty for waveforms of
        earlier versions.
    tokens : tuple of RecordedToken
        Tokens that worms hold. ``tokens`` is empty for waveforms of earlier versions.
    replicates : bool
        Switches replicate worms. ``replicates`` is False for waveforms of earlier versions.
    vc_classes : int
        Classes of virtual channels of a link that the relation distinguishes. ``vc_classes`` is 1 for waveforms of
        earlier versions.
    """

    topology: Topology
    scheme: str
    first: int
    end: int
    links: tuple[RecordedLink, ...]
    worms: dict[int, RecordedWorm]
    holds: tuple[RecordedHold, ...]
    waits: tuple[Wait, ...]
    deadlock: dict[str, Any] | None
    configuration: dict[str, Any]
    chunks: tuple[RecordedChunk, ...] = ()
    readings: tuple[RecordedReading, ...] = ()
    buffers: tuple[RecordedBuffer, ...] = ()
    tokens: tuple[RecordedToken, ...] = ()
    replicates: bool = False
    vc_classes: int = 1

    @property
    def depth(self) -> int:
        """Number of flits in a full input buffer of a router, and of credits for the buffer.

        The number is 0 in networks with deep buffers, whose credits stand for chunks, or if it is unknown.
        """
        known = self.configuration.get("buffer_kind", "shallow") == "shallow"
        return int(self.configuration.get("buffer", 0)) if known else 0

    @property
    def deliveries(self) -> list[RecordedHold]:
        """Holds of consumption channels that ended with a tail.

        For a worm sent in packets, only the hold of the last packet at each destination is included. If a packet of
        a worm was ejected at a destination before the first cycle, the worm's delivery at this destination is missing.
        """
        found, passed = [], Counter[tuple[int, int]]()
        for hold in sorted(self.holds, key=lambda hold: hold.last):
            if hold.ended and self.links[hold.link].kind == "consumption":
                passed[hold.worm, self.links[hold.link].target] += 1
                if passed[hold.worm, self.links[hold.link].target] == self._packets(hold.worm):
                    found.append(hold)
        return found

    def _packets(self, worm: int) -> int:
        """Return the number of packets of a worm."""
        payload = self.configuration.get("packet", 0)
        return -(-self.worms[worm].length // payload) if payload else 1

    @cached_property
    def is_whole(self) -> bool:
        """All links between routers are recorded."""
        return sum(link.kind == "network" for link in self.links) == len(self.topology.links)

    def is_cut(self, hold: RecordedHold) -> bool:
        """Return whether the hold may have begun before the first cycle of the history."""
        return hold.first == self.first > 0

    @cached_property
    def rows(self) -> dict[str, int]:
        """Index of each link in the topology's links, by the link's name in a history."""
        return {f"link:{name}": row for name, row in link_rows(self.topology).items()}

    @cached_property
    def _channels(self) -> dict[str, tuple[int, int]]:
        """Index of the link, and number of the virtual channel, of each recorded resource, by the resource's name."""
        return {str(self._resource(link, vc)): (link, vc)
                for link, one in enumerate(self.links) for vc in range(one.vcs)}

    @cached_property
    def _firsts(self) -> dict[int, int]:
        """Number of the first consumption channel of each consumption link, by the link's index in the history.

        A node's consumption channels may be on several links.
        """
        found, taken = {}, Counter[int]()
        for index, link in sorted(enumerate(self.links), key=lambda one: one[1].kind != "network" and one[1].number):
            if link.kind == "consumption":
                found[index] = taken[link.target]
                taken[link.target] += link.vcs
        return found

    def _resource(self, link: int, vc: int) -> Resource:
        """Convert virtual channel ``vc`` of a link to a `Resource`."""
        one = self.links[link]
        if one.kind == "network":
            return Resource.link(one.name.removeprefix("link:"), vc)
        if one.kind == "injection":
            return Resource.inj(one.source, one.number, vc)
        if one.kind == "slots":
            return Resource.retrans(one.target, vc)
        return Resource.cons(one.target, self._firsts[link] + vc)

    def between(self, first: int, end: int) -> "History":
        """Return the part of the history in cycles ``first`` to ``end`` - 1.

        A deadlock is kept if its worms hold channels in this part, and no flit of them is on a link in the part's last
        cycle.
        """
        if not self.first <= first < end <= self.end:
            reason = (f"the waveform has cycles {self.first} to {self.end - 1}" if first < end else
                      f"{first} is not below {end}")
            raise WormcastError(f"window: {first}:{end} is not valid: {reason}. "
                                f"Allowed: A:B with {self.first} <= A < B <= {self.end}.")
        holds = [
            replace(hold, first=max(hold.first, first), last=min(hold.last, end - 1),
                    flits=tuple(cycle for cycle in hold.flits if first <= cycle < end),
                    ended=hold.ended and hold.last < end)
            for hold in self.holds if hold.first < end and hold.last >= first
        ]
        waits = [replace(wait, first=max(wait.first, first), last=min(wait.last, end - 1))
                 for wait in self.waits if wait.first < end and wait.last >= first]
        tokens = tuple(replace(one, first=max(one.first, first), last=min(one.last, end - 1))
                       for one in self.tokens if one.first < end and one.last >= first)
        chunks = tuple(one.between(first, end) for one in self.chunks if one.first < end and one.last >= first)
        readings = tuple(one.between(first, end) for one in self.readings if one.first < end and one.last >= first)
        shown = replace(self, first=first, end=end, holds=tuple(holds), waits=tuple(waits), deadlock=None,
                        chunks=chunks, readings=readings, tokens=tokens,
                        buffers=tuple(one.between(first, end) for one in self.buffers))
        return replace(shown, deadlock=self.deadlock) if shown._rests_in(self.deadlock) else shown

    def _rests_in(self, deadlock: dict[str, Any] | None) -> bool:
        """Return whether all worms of the deadlock hold channels in this history, and are at rest in its last cycle.

        A worm is at rest in a cycle if none of its flits is on a link. The result is False without a deadlock.
        """
        worms = {one["worm"] for one in deadlock["cycle"]} if deadlock else set()
        return bool(worms) and worms <= {hold.worm for hold in self.holds} and self.at_rest(worms) < self.end

    def trimmed(self) -> "History":
        """Return the history without idle cycles before the first flit and long after the last one."""
        flits = [hold.flits for hold in self.holds if hold.flits]
        if not flits:
            return self
        first, end = min(seen[0] for seen in flits) - 1, max(seen[-1] for seen in flits) + 1
        return self.between(max(self.first, first), min(self.end, end + max(LEAST_REST, (end - first) // REST)))

    def at_rest(self, worms: Iterable[int]) -> int:
        """Return the cycle after the last flit of these worms on a link, or ``first`` if there is no flit."""
        chosen = set(worms)
        return max((hold.flits[-1] for hold in self.holds if hold.worm in chosen and hold.flits),
                   default=self.first - 1) + 1

    def knot_closed(self) -> int | None:
        """Return the first cycle from which on the worms of the deadlock wait only for one another.

        The worms of the deadlock's cyclic wait count. If such a worm may take any of several resources, the holders of
        all these resources count, too. The result is None without a deadlock, or if the wait of a counted worm is not
        recorded, for example of a worm behind another one in a buffer.
        """
        last = self.end - 1
        held = {(hold.link, hold.vc): hold for hold in self.holds if hold.last == last and not hold.ended}
        waits = [wait for wait in self.waits if wait.last == last]
        asked = {step["worm"]: set(step["waits"]) for step in self.deadlock["cycle"]} if self.deadlock else {}
        closed, todo = self.first, list(asked)
        for worm in todo:
            wait = next((wait for wait in waits if wait.worm == worm and asked.get(worm, set()) <= {*wait.resources}),
                        None)
            if wait is None:
                return None
            holds = [held[place] for place in map(self.channel, wait.resources) if place in held]
            closed = max(closed, wait.first, *(hold.first for hold in holds))
            todo += {hold.worm for hold in holds} - {*todo}
        return closed if todo else None

    def channel(self, resource: str) -> tuple[int, int] | None:
        """Return link and virtual channel of a resource, or None if the history has no such channel."""
        return self._channels.get(resource)

    def channel_name(self, link: int, vc: int) -> str:
        """Return the label of a virtual channel: ``link:0.1>0.2:0``, ``cons:0.2:0``, ``inj:0.1:0:0``."""
        return resource_text(self.topology, str(self._resource(link, vc)))

    def resource_name(self, resource: str) -> str:
        """Return the label of any resource, recorded or not, in the form of `channel_name`."""
        return resource_text(self.topology, resource)
