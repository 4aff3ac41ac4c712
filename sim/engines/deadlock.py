"""Deadlock proof: wait-for graph of the packets in a network, read from its registers and reduced.

In this module a packet is a unit with a header of its own: a host's worm, or one of the packets into which the worm
is cut.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from wormcast.hw.input_probe import TOKEN
from wormcast.hw.interface.interface_probe import InterfaceProbe, RetransmissionProbe
from wormcast.hw.interface.smart.smart_probe import PacketBufferProbe

from ..host import NOW, Packet
from .bulk import BulkEngine
from .ni_buffers import BufferedPackets
from .ni_wait_graph import BufferEntry, InterfaceWaits, Standing
from .resources import Channel, resource, wanted
from .retransmission_waits import AbsorbedPackets
from .snapshot import Snapshot

__all__ = ["Deadlock", "Hold", "find_deadlock"]

#: Wait-for graph inside interfaces, by the probe of the variant. In interfaces of other variants, no packet waits for
#: another packet.
INSIDE: Mapping[type[InterfaceProbe], type[InterfaceWaits]] = {
    PacketBufferProbe: BufferedPackets, RetransmissionProbe: AbsorbedPackets}

Integers = npt.NDArray[np.int64]

Waiting = TypeVar("Waiting", bound=Hashable)

Wait = tuple[list[str], list[Standing | None]]
"""A wait of a packet: resources (any one suffices), and the holder of each; None: free, or assumed to become free."""


@dataclass(frozen=True)
class Hold:
    """Packet of a cyclic wait, which holds a resource that the packet before it in the cycle waits for.

    Parameters
    ----------
    worm : int
    packet : int or None
        Number of the packet in the worm, from 0; None for a worm of one packet.
    holds, waits : tuple of str
        Names, as in JSON, of the resources that the packet holds, and of the resources that it waits for (any one
        suffices).
    """

    worm: int
    packet: int | None
    holds: tuple[str, ...]
    waits: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name in text: ``worm 3``, or ``worm 3, packet 0``."""
        return f"worm {self.worm}" if self.packet is None else f"worm {self.worm}, packet {self.packet}"

    def to_dict(self) -> dict[str, Any]:
        """Return the hold as plain data for JSON; with the packet's number if the worm has several packets."""
        packet = {} if self.packet is None else {"packet": self.packet}
        return {"worm": self.worm, **packet, "holds": list(self.holds), "waits": list(self.waits)}


@dataclass(frozen=True)
class Deadlock:
    """Packets that no future event can release.

    Parameters
    ----------
    at : int
        Cycle of the proof.
    moved : int
        Last cycle in which a host sent or received a flit of one of the worms in the cyclic wait.
    cycle : tuple of Hold
        Cyclic wait: each packet waits for the next one, the last for the first.
    packets : frozenset of (int, int)
        All packets that cannot be released, each as the numbers of its worm and of the packet in the worm. Packets that
        are wholly at their source are left out, because they hold nothing.
    closed : frozenset of (int, int)
        Small subset of ``packets`` that wait only for each other. If a packet waits for any one of several resources,
        the holders of all these resources are in ``closed``, too. A packet is left out of ``closed`` if it waits for
        packets in ``closed``, and no packet in ``closed`` waits for it.
    """

    at: int
    moved: int
    cycle: tuple[Hold, ...]
    packets: frozenset[Packet]
    closed: frozenset[Packet]

    @property
    def worms(self) -> frozenset[int]:
        """Worms of ``packets``."""
        return frozenset(worm for worm, _ in self.packets)

    def counted_from(self, before: int) -> "Deadlock":
        """Return the same deadlock with worm numbers increased by ``before``, the number of dropped worms."""
        return Deadlock(self.at, self.moved, tuple(replace(hold, worm=hold.worm + before) for hold in self.cycle),
                        *(frozenset((worm + before, number) for worm, number in packets)
                          for packets in (self.packets, self.closed)))

    def to_dict(self) -> dict[str, Any]:
        """Return the deadlock as plain data for JSON."""
        return {"at": self.at, "cycle": [hold.to_dict() for hold in self.cycle]}


def find_deadlock(engine: BulkEngine, lane: int = 0) -> Deadlock | None:
    """Return a proof that packets of a lane wait for each other for ever, or None.

    Vertices of the wait-for graph are packets. A packet waits for a consumption channel or a virtual channel of a link:
    any one that it may use suffices (OR). In each buffer where a packet is behind another one, the packet behind also
    waits for the packet at the front (AND). A packet is released if in each of its waits one resource is free, or is
    held by a released packet. The packets that are not released are the deadlock. Hosts always accept flits. Packets
    that cannot be identified are assumed to make progress (conservative).

    With retransmission slots a packet with further destinations holds its consumption channel until it has a slot (any
    of the node's), and waits in the slot for the injection port. In a smart interface a packet to be forwarded holds
    its consumption channel until it has a packet buffer entry, and the entry until its last copy is sent.

    A packet whose rear flits can still move counts as released, because its tail may then release channels. A proved
    deadlock never ends: before the first of its packets could move, another of its packets would have to release a
    channel. After a deadlock has formed, the proof succeeds once the buffers of its packets have filled.
    """
    snapshot = Snapshot(engine, lane)
    inside = _inside(snapshot)
    if inside is None and not _may_deadlock(snapshot):
        return None
    waits: dict[Standing, list[Wait]] = {}
    holds: dict[Standing, list[str]] = {}
    moving: set[Standing | None] = set()

    def stand(place: BufferEntry) -> None:
        """Add the packet in a consumption channel, buffer entry or slot of an interface to the graph."""
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


def _inside(snapshot: Snapshot) -> InterfaceWaits | None:
    """Return the wait-for graph inside interfaces; None if no packet in an interface can wait."""
    graph = INSIDE.get(snapshot.network.interface_probe)
    inside = graph(snapshot) if graph else None
    return inside if inside and inside.may_wait() else None


def _packets(standing: Iterable[Standing]) -> frozenset[Packet]:
    return frozenset((worm, number) for worm, number, *_ in standing)


def _unreleased(stuck: set[Waiting], waits: Mapping[Waiting, Iterable[Sequence[Waiting | None]]]) -> set[Waiting]:
    """Remove each packet of which every wait has a holder that is None or not in ``stuck``, until no packet can be
    removed. Return the other packets."""
    while True:
        before = len(stuck)
        for one in [*stuck]:
            if not any(map(stuck.issuperset, waits[one])):
                stuck.remove(one)
        if len(stuck) == before:
            return stuck


def _closed(stuck: set[Standing], waits: Mapping[Standing, Iterable[Sequence[Standing | None]]]
            ) -> frozenset[Standing]:
    """Grow, from each packet, a set of packets that wait only for packets of the set; return the smallest set."""
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
    """Return whether there may be a deadlock, by a test that takes far less time than the proof.

    The test treats only the packet at the front of each buffer. The packet at a front waits for a channel, for the
    front of the next buffer, or, if it is a branch, for the front that it is copied from. A deadlock is possible only
    if the packet at some front waits for ever.
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
            waits[channel].append([sender])  # another branch of the worm may block the sender
        found += [other for others in waits[channel] for other in others if other is not None]
    return bool(_unreleased(set(waits), waits))


def _at_front(snapshot: Snapshot, inside: InterfaceWaits | None, channel: Channel) -> tuple[list[str], list[Wait]]:
    """Return the resources that the packet at the front of a buffer holds beyond that buffer, and its waits."""
    switch, network = channel[0], snapshot.network
    held = [resource(network, switch, *target) for target in snapshot.held(channel)]
    return held, [([resource(network, switch, *target) for target in targets],
                   [_holder(snapshot, inside, switch, *target) for target in targets])
                  for targets in wanted(network, channel, snapshot.waiting(channel))]


def _held_by(snapshot: Snapshot, switch: int, output: int, vc: int) -> Channel | None:
    """Return the input virtual channel whose packet prevents the grant of an output's virtual channel, or None."""
    owner = snapshot.owners.get((switch, output, vc))
    if owner is not None or snapshot.to_node(switch, output):
        return owner
    # a channel without owner is granted when the next buffer is empty (``enters_empty``), else when it has room
    behind = snapshot.far_end(switch, output, vc)
    return behind if _enters_empty(snapshot, switch) or snapshot.full(behind) else None


def _enters_empty(snapshot: Snapshot, switch: int) -> bool:
    return snapshot.network.home(switch).router.decoder.enters_empty


def _holder(snapshot: Snapshot, inside: InterfaceWaits | None, switch: int, output: int, vc: int) -> Standing | None:
    """Return the packet that prevents the grant of an output's virtual channel, or None."""
    channel = _held_by(snapshot, switch, output, vc)
    if channel is None:
        if (output, vc) == TOKEN:
            return None  # the token is on its way to the next switch
        # a consumption channel without owner is granted when the interface has accepted the last packet from it
        link = snapshot.fabric.links[snapshot.fabric.out_of[switch, output]]
        return inside.consumed(link.node, vc) if inside and link.node is not None else None
    if (switch, output, vc) not in snapshot.owners and _enters_empty(snapshot, switch):
        # the output's virtual channel is granted after the last packet has left the buffer at the channel's end
        return next(iter(snapshot.occupants(channel)[-1:]), None)
    return snapshot.first(channel)


def _add(holds: dict[Standing, list[str]], packet: Standing, resource: str) -> None:
    if resource not in holds.setdefault(packet, []):
        holds[packet].append(resource)


def _cycle(stuck: set[Standing], waits: dict[Standing, list[Wait]], holds: dict[Standing, list[str]],
           packets: Integers) -> tuple[Hold, ...]:
    """Return a cyclic wait, found by following the waits of deadlocked packets until a packet repeats.

    ``packets``: number of packets of each worm.
    """
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
