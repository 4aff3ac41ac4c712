"""Deadlock, proved: the wait-for graph of the packets in a network, read from its registers and reduced.

A packet is what the network takes for a worm: a host's worm, or a piece of it with a header of its own.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from wormcast.hw.front import TOKEN

from ..host import NOW, Packet
from .bulk import BulkEngine
from .front import Channel, resource, wanted
from .ni_buffers import InPlaces
from .ni_wait_graph import BufferEntry, Inside, Standing
from .retransmission_waits import InSlots
from .snapshot import Snapshot

__all__ = ["Deadlock", "Hold", "find_deadlock"]

Integers = npt.NDArray[np.int64]

Waiting = TypeVar("Waiting", bound=Hashable)

Wait = tuple[list[str], list[Standing | None]]
"""Resources of which any one will do, and who holds each; None for one that is not held for ever."""


@dataclass(frozen=True)
class Hold:
    """One packet of a cyclic wait: it holds what its predecessor waits for. Resources are written as in JSON.

    Parameters
    ----------
    worm : int
    packet : int or None
        Which packet of the worm, from 0; None where the worm is of one packet.
    holds, waits : tuple of str
    """

    worm: int
    packet: int | None
    holds: tuple[str, ...]
    waits: tuple[str, ...]

    @property
    def name(self) -> str:
        """Who it is, in words: ``worm 3``, or ``worm 3, packet 0``."""
        return f"worm {self.worm}" if self.packet is None else f"worm {self.worm}, packet {self.packet}"

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON; with a packet where the worm has several."""
        packet = {} if self.packet is None else {"packet": self.packet}
        return {"worm": self.worm, **packet, "holds": list(self.holds), "waits": list(self.waits)}


@dataclass(frozen=True)
class Deadlock:
    """Packets that no future event can release.

    Parameters
    ----------
    at : int
        Cycle in which it was proved.
    moved : int
        Cycle in which a host last sent or received a flit of a worm in its cycle.
    cycle : tuple of Hold
        One cycle inside: each waits for the next one, the last for the first.
    packets : frozenset of (int, int)
        All in the routers that cannot be released, worm and number; those wholly at their source, waiting behind
        one, apart: they hold nothing.
    closed : frozenset of (int, int)
        Few of these that wait for none but each other: where one may take any of several resources, who holds them
        all is among them, who waits behind them is not.
    """

    at: int
    moved: int
    cycle: tuple[Hold, ...]
    packets: frozenset[Packet]
    closed: frozenset[Packet]

    @property
    def worms(self) -> frozenset[int]:
        """The worms that these packets belong to."""
        return frozenset(worm for worm, _ in self.packets)

    def counted_from(self, before: int) -> "Deadlock":
        """The same with worms numbered from the first one of all, where the host has forgotten so many."""
        return Deadlock(self.at, self.moved, tuple(replace(hold, worm=hold.worm + before) for hold in self.cycle),
                        *(frozenset((worm + before, number) for worm, number in packets)
                          for packets in (self.packets, self.closed)))

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {"at": self.at, "cycle": [hold.to_dict() for hold in self.cycle]}


def find_deadlock(engine: BulkEngine, lane: int = 0) -> Deadlock | None:
    """Prove that packets of a lane wait for each other for ever, or return None.

    The graph's vertices are packets. One waits for a consumption channel or a virtual channel of a link (any one of
    those it may take: OR), and for the packets before it in each buffer that it stands in (all: AND). Packets that
    wait for nothing, or for something that a releasable packet holds, are released; the rest is the deadlock.
    Consumption itself always goes on, and a packet that no register names counts as releasable. With retransmission
    slots a packet that goes on from a destination holds its consumption channel until it has one (any of the node's),
    and waits there for the injection port. In a smart interface one that is to be forwarded holds its consumption
    channel until it has a place, and that one until its last copy is sent.

    So does one whose flits can still close up behind its header: its tail may yet pass what it holds. The others of a
    deadlock have come to rest, so that the first of them to move would need what another one must give free before.
    Every deadlock comes to rest within the time that its buffers take to fill.
    """
    snapshot = Snapshot(engine, lane)
    inside = _inside(snapshot)
    if inside is None and not _may_deadlock(snapshot):
        return None
    waits: dict[Standing, list[Wait]] = {}
    holds: dict[Standing, list[str]] = {}
    moving: set[Standing | None] = set()

    def stand(place: BufferEntry) -> None:
        """A packet has a place in an interface."""
        moving.add(place.arriving)
        if place.packet is not None:
            _add(holds, place.packet, place.resource)
            waits.setdefault(place.packet, [])
            if place.waits:
                waits[place.packet].append((list(place.waits), list(place.holders)))

    for place in inside.kept() if inside else ():
        stand(place)
    for channel in snapshot.channels():
        moving.update(snapshot.moves(channel))
        packets = snapshot.occupants(channel)
        if not packets:
            continue
        link, vc = snapshot.link(channel), channel[2]
        arrived = f"{link.name}:{vc}"
        for behind, packet in enumerate(packets):
            if packet is None:
                continue
            waits.setdefault(packet, [])
            if link.kind == "network" or inside:
                _add(holds, packet, arrived)
            if behind:
                waits[packet].append(([arrived], [packets[0]]))
        front = packets[0]
        if front is not None:
            held, wait = _at_front(snapshot, inside, channel)
            for resource in held:
                _add(holds, front, resource)
            waits[front] += wait

    for place in inside.consumption() if inside else ():
        stand(place)

    holders = {packet: [others for _, others in of] for packet, of in waits.items()}
    stuck = _unreleased(set(waits) - moving, holders)
    if not stuck:
        return None
    cycle = _cycle(stuck, waits, holds, engine.host.packets)
    moved = max(int(engine.host.touched[hold.worm]) for hold in cycle)
    return Deadlock(int(engine.host.counters[NOW]), moved, cycle, _packets(stuck), _packets(_closed(stuck, holders)))


def _inside(snapshot: Snapshot) -> Inside | None:
    """What packets wait for inside interfaces, where they may."""
    configuration = snapshot.network.configuration
    if configuration.slots:
        return InSlots(snapshot)
    in_places = InPlaces(snapshot) if configuration.smart else None
    return in_places if in_places and in_places.any_refused() else None


def _packets(standing: Iterable[Standing]) -> frozenset[Packet]:
    return frozenset((worm, number) for worm, number, *_ in standing)


def _unreleased(stuck: set[Waiting], waits: Mapping[Waiting, Iterable[Sequence[Waiting | None]]]) -> set[Waiting]:
    """Take away those that are released: what each waits for are several others, of which any one will do."""
    while True:
        before = len(stuck)
        for one in [*stuck]:
            if not any(map(stuck.issuperset, waits[one])):
                stuck.remove(one)
        if len(stuck) == before:
            return stuck


def _closed(stuck: set[Standing], waits: Mapping[Standing, Iterable[Sequence[Standing | None]]]
            ) -> frozenset[Standing]:
    """Few of these that wait for none but each other: the fewest that any of them has to wait for."""
    best = frozenset(stuck)
    for packet in sorted(stuck):
        found = {packet}
        todo = [packet]
        for one in todo:
            missing = min((set(others) - found for others in waits[one] if stuck.issuperset(others)), key=len)
            todo += sorted(filter(None, missing))
            found.update(todo)
            if len(found) >= len(best):
                break
        else:
            best = frozenset(found)
    return best


def _may_deadlock(snapshot: Snapshot) -> bool:
    """Whether there may be a deadlock, in a small part of the time that it takes to tell whose it is.

    What a packet waits for, the front of one of the buffers that it stands in waits for: for a channel, for the front
    of the next buffer to which its link leads, or, of one that is copied, for the front that sends to it. So where a
    packet is not released there is such a front.
    """
    waits: dict[Channel, list[list[Channel | None]]] = {}
    found = [channel for channel in snapshot.channels() if snapshot.waiting(channel)]
    for channel in found:
        if channel in waits:
            continue
        switch, of = channel[0], wanted(snapshot.network, channel, snapshot.waiting(channel))
        waits[channel] = [[_held_by(snapshot, switch, *target) for target in targets] for targets in of]
        waits[channel] += [[snapshot.far_end(switch, *target)] for target in snapshot.held(channel)
                           if not snapshot.to_node(switch, target[0])]
        if snapshot.network.home(switch).router.copies and (sender := snapshot.sending(channel)) is not None:
            waits[channel].append([sender])  # which may be held up by another branch
        found += [other for others in waits[channel] for other in others if other is not None]
    return bool(_unreleased(set(waits), waits))


def _at_front(snapshot: Snapshot, inside: Inside | None, channel: Channel) -> tuple[list[str], list[Wait]]:
    """What the packet at the front of a buffer holds from there on, and what it waits for."""
    switch, network = channel[0], snapshot.network
    held = [resource(network, switch, *target) for target in snapshot.held(channel)]
    return held, [([resource(network, switch, *target) for target in targets],
                   [_holder(snapshot, inside, switch, *target) for target in targets])
                  for targets in wanted(network, channel, snapshot.waiting(channel))]


def _held_by(snapshot: Snapshot, switch: int, output: int, vc: int) -> Channel | None:
    """The buffer because of whose packets a virtual channel of an output cannot be taken."""
    owner = snapshot.owners.get((switch, output, vc))
    if owner is not None or snapshot.to_node(switch, output):
        return owner
    # nobody owns it: it can be taken when all that are in the buffer behind it have left, or as soon as that has room
    behind = snapshot.far_end(switch, output, vc)
    return behind if _enters_empty(snapshot, switch) or snapshot.full(behind) else None


def _enters_empty(snapshot: Snapshot, switch: int) -> bool:
    return snapshot.network.home(switch).router.decoder.enters_empty


def _holder(snapshot: Snapshot, inside: Inside | None, switch: int, output: int, vc: int) -> Standing | None:
    """The packet because of which a virtual channel of an output cannot be taken."""
    channel = _held_by(snapshot, switch, output, vc)
    if channel is None:
        if (output, vc) == TOKEN:
            return None  # on its way to the next switch
        # of a node: it can be taken as soon as what it has brought is gone
        link = snapshot.fabric.links[snapshot.fabric.out_of[switch, output]]
        return inside.consumed(link.node, vc) if inside and link.node is not None else None
    if (switch, output, vc) not in snapshot.owners and _enters_empty(snapshot, switch):
        return next(iter(snapshot.occupants(channel)[-1:]), None)  # the last one has to leave, too
    return snapshot.first(channel)


def _add(holds: dict[Standing, list[str]], packet: Standing, resource: str) -> None:
    if resource not in holds.setdefault(packet, []):
        holds[packet].append(resource)


def _cycle(stuck: set[Standing], waits: dict[Standing, list[Wait]], holds: dict[Standing, list[str]],
           packets: Integers) -> tuple[Hold, ...]:
    """Follow the waits among packets that cannot be released until one comes round; worms have so many packets."""
    path: list[Standing] = []
    why: list[tuple[str, ...]] = []
    packet = min(stuck)
    while packet not in path:
        path.append(packet)
        resources, first = next(
            (resources, holders[0]) for resources, holders in waits[packet]
            if all(holder in stuck for holder in holders)
        )
        why.append(tuple(resources))
        assert first is not None
        packet = first
    start = path.index(packet)
    return tuple(
        Hold(one[0], one[1] if packets[one[0]] > 1 else None, tuple(holds.get(one, ())), reasons)
        for one, reasons in zip(path[start:], why[start:], strict=True)
    )
