"""What happened in a network in some cycles, as plain data: which worm held which virtual channel, and who waited."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.channels import Resource, link_rows

from ...common.text import resource_text
from .chunks import RecordedChunk, RecordedReading

__all__ = ["History", "RecordedHold", "RecordedLink", "RecordedWorm", "Wait"]

REST = 3  # of the time with flits, what is kept after it
LEAST_REST = 10  # cycles: a header that asks in vain has begun to by then


@dataclass(frozen=True)
class RecordedLink:
    """One unidirectional link.

    Parameters
    ----------
    name : str
        ``link:0>1`` between routers, ``inj:NODE:PORT`` and ``cons:NODE#LINK`` between a router and its node. A
        virtual channel's name has one more number, a consumption channel's is ``cons:NODE:i`` on whichever link.
        ``retrans:NODE`` are the retransmission slots of a node.
    kind : "network", "injection", "consumption" or "slots"
    source, target : int
        Switches; of an injection link the node and its switch, of a consumption link or slots the switch and its node.
    vcs : int
        Virtual channels; of a consumption link these are consumption channels, of slots the slots.
    """

    name: str
    kind: str
    source: int
    target: int
    vcs: int

    @property
    def node(self) -> int | None:
        """The node that injects or consumes by it."""
        return {"network": None, "injection": self.source, "consumption": self.target, "slots": self.target}[
            self.kind]

    @property
    def number(self) -> int:
        """Its place among the links by which the node injects or consumes."""
        return int(re.split("[:#]", self.name)[-1])

    @property
    def switches(self) -> tuple[int, ...]:
        """The switches at its ends."""
        return {"network": (self.source, self.target), "injection": (self.target,),
                "consumption": (self.source,), "slots": (self.source,)}[self.kind]


@dataclass(frozen=True)
class RecordedWorm:
    """One worm, by the host's number.

    Parameters
    ----------
    number, message, source : int
    destinations : tuple of int
        In visiting order.
    length : int
        Payload flits.
    """

    number: int
    message: int
    source: int
    destinations: tuple[int, ...]
    length: int


@dataclass(frozen=True)
class RecordedHold:
    """A worm has a virtual channel of a link, from its first flit there to its tail.

    It has a consumption channel from the cycle in which this is reserved. There may be no flit yet, or none any more
    in the cycles of the history.

    Parameters
    ----------
    link : int
        Index among the history's links.
    vc, worm : int
    first, last : int
        Cycles, both included; ``last`` is the tail's, or the last of the history where ``ended`` is False.
    flits : tuple of int
        Cycles with a flit of it on the link, in order.
    ended : bool
        Whether the tail has passed.
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
        """Stretches of cycles with flits, first and last cycle of each."""
        found: list[tuple[int, int]] = []
        for cycle in self.flits:
            if found and found[-1][1] == cycle - 1:
                found[-1] = found[-1][0], cycle
            else:
                found.append((cycle, cycle))
        return found


@dataclass(frozen=True)
class Wait:
    """A worm's header stands behind a virtual channel of a link and asks in vain for what comes next.

    Parameters
    ----------
    worm : int
    link : int
        Index of the link that the header came by.
    vc : int
    first, last : int
        Cycles, both included.
    resources : tuple of str
        Of which any one will do: ``link:U>V:vc``, ``cons:NODE:i``, ``inj:NODE:port:vc``.
    """

    worm: int
    link: int
    vc: int
    first: int
    last: int
    resources: tuple[str, ...]


@dataclass(frozen=True)
class History:
    """What happened in cycles ``first`` to ``end`` - 1.

    Parameters
    ----------
    topology : Topology
    scheme : str
    first, end : int
    links : tuple of RecordedLink
        Those that were looked at, in the order of the waveform.
    worms : dict of int to RecordedWorm
        By their numbers; all that were sent, whether they were seen or not.
    holds : tuple of RecordedHold
        By first cycle, then link and virtual channel.
    waits : tuple of Wait
        By first cycle, then link and virtual channel.
    deadlock : dict or None
        As in JSON: ``{"at": cycle, "cycle": [{"worm", "holds": [RESOURCE], "waits": [RESOURCE]}]}``.
    configuration : dict
        Options of the hardware by name.
    chunks : tuple of RecordedChunk
        Of deep switches what was in their rows, by first cycle.
    readings : tuple of RecordedReading
        And what their outputs took from them.
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

    @property
    def deliveries(self) -> list[RecordedHold]:
        """Holds of consumption links that the tail has passed: of a worm in packets, that of the last one.

        Of its packets before the first cycle nothing is known, so that a delivery after it may be missing.
        """
        found, passed = [], Counter[tuple[int, int]]()
        for hold in sorted(self.holds, key=lambda hold: hold.last):
            if hold.ended and self.links[hold.link].kind == "consumption":
                passed[hold.worm, self.links[hold.link].target] += 1
                if passed[hold.worm, self.links[hold.link].target] == self._packets(hold.worm):
                    found.append(hold)
        return found

    def _packets(self, worm: int) -> int:
        """Packets that a worm is sent in."""
        payload = self.configuration.get("packet", 0)
        return -(-self.worms[worm].length // payload) if payload else 1

    @cached_property
    def is_whole(self) -> bool:
        """Whether all links between routers are recorded."""
        return sum(link.kind == "network" for link in self.links) == len(self.topology.links)

    def is_cut(self, hold: RecordedHold) -> bool:
        """Whether a hold may have begun before the first cycle."""
        return hold.first == self.first > 0

    @cached_property
    def rows(self) -> dict[str, int]:
        """Rows of the topology's links by the names of the history's."""
        return {f"link:{name}": row for name, row in link_rows(self.topology).items()}

    @cached_property
    def _channels(self) -> dict[str, tuple[int, int]]:
        """Link and virtual channel of each resource that was looked at."""
        return {str(self._resource(link, vc)): (link, vc)
                for link, one in enumerate(self.links) for vc in range(one.vcs)}

    @cached_property
    def _firsts(self) -> dict[int, int]:
        """The first consumption channel on each consumption link: those of a node may be on several."""
        found, taken = {}, Counter[int]()
        for index, link in sorted(enumerate(self.links), key=lambda one: one[1].kind != "network" and one[1].number):
            if link.kind == "consumption":
                found[index] = taken[link.target]
                taken[link.target] += link.vcs
        return found

    def _resource(self, link: int, vc: int) -> Resource:
        """What a virtual channel of a link is called."""
        one = self.links[link]
        if one.kind == "network":
            return Resource.link(one.name.removeprefix("link:"), vc)
        if one.kind == "injection":
            return Resource.inj(one.source, one.number, vc)
        if one.kind == "slots":
            return Resource.retrans(one.target, vc)
        return Resource.cons(one.target, self._firsts[link] + vc)

    def between(self, first: int, end: int) -> "History":
        """What happened in cycles ``first`` to ``end`` - 1 alone.

        A deadlock stays in it if its worms have come to rest by then.

        Raises
        ------
        WormcastError
            There are no such cycles in it.
        """
        if not self.first <= first < end <= self.end:
            raise WormcastError(f"window: {first}:{end} is given, the waveform has cycles {self.first} to "
                                f"{self.end - 1}, allowed is A:B with {self.first} <= A < B <= {self.end}")
        holds = [
            replace(hold, first=max(hold.first, first), last=min(hold.last, end - 1),
                    flits=tuple(cycle for cycle in hold.flits if first <= cycle < end),
                    ended=hold.ended and hold.last < end)
            for hold in self.holds if hold.first < end and hold.last >= first
        ]
        waits = [replace(wait, first=max(wait.first, first), last=min(wait.last, end - 1))
                 for wait in self.waits if wait.first < end and wait.last >= first]
        chunks = tuple(one.between(first, end) for one in self.chunks if one.first < end and one.last >= first)
        readings = tuple(one.between(first, end) for one in self.readings if one.first < end and one.last >= first)
        shown = replace(self, first=first, end=end, holds=tuple(holds), waits=tuple(waits), deadlock=None,
                        chunks=chunks, readings=readings)
        return replace(shown, deadlock=self.deadlock) if shown._rests_in(self.deadlock) else shown

    def _rests_in(self, deadlock: dict[str, Any] | None) -> bool:
        """Whether all worms of a deadlock are seen, and none of their flits in the last cycle."""
        worms = {one["worm"] for one in deadlock["cycle"]} if deadlock else set()
        return bool(worms) and worms <= {hold.worm for hold in self.holds} and self.at_rest(worms) < self.end

    def trimmed(self) -> "History":
        """What happened, without the cycles long before the first flit and long after the last one."""
        flits = [hold.flits for hold in self.holds if hold.flits]
        if not flits:
            return self
        first, end = min(seen[0] for seen in flits) - 1, max(seen[-1] for seen in flits) + 1
        return self.between(max(self.first, first), min(self.end, end + max(LEAST_REST, (end - first) // REST)))

    def at_rest(self, worms: Iterable[int]) -> int:
        """The first cycle after which no flit of these worms is seen."""
        chosen = set(worms)
        return max((hold.flits[-1] for hold in self.holds if hold.worm in chosen and hold.flits),
                   default=self.first - 1) + 1

    def channel(self, resource: str) -> tuple[int, int] | None:
        """Link and virtual channel that a resource stands for; None if it was not looked at."""
        return self._channels.get(resource)

    def channel_name(self, link: int, vc: int) -> str:
        """A virtual channel of a link for people: ``link:0.1>0.2:0``, ``cons:0.2:0``, ``inj:0.1:0:0``."""
        return resource_text(self.topology, str(self._resource(link, vc)))

    def resource_name(self, resource: str) -> str:
        """A resource in the same words, whether it was looked at or not."""
        return resource_text(self.topology, resource)
