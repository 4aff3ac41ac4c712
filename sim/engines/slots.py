"""Who holds what in the interfaces with retransmission slots of a network: their consumption channels, their slots."""

from collections.abc import Iterator
from dataclasses import dataclass

from wormcast.algorithms.channels import Resource
from wormcast.hw.interface.front import SlotsFront

from ..build.fabric import Link
from ..host import Packet
from .snapshot import Snapshot

__all__ = ["InSlots", "Place"]

TAIL = 2  # mark of a flit


@dataclass(frozen=True)
class Place:
    """Where packets are, front first, and what the first one waits for there.

    Parameters
    ----------
    resource : str
        A consumption channel or a retransmission slot.
    packets : tuple of (Packet or None)
    waits : tuple of str
        Of which any one will do; empty where it waits for nothing.
    holders : tuple of (Packet or None)
        Because of whom it cannot have each; None for one that is not held for ever.
    arriving : Packet or None
        The packet whose flits come in by themselves.
    """

    resource: str
    packets: tuple[Packet | None, ...]
    waits: tuple[str, ...] = ()
    holders: tuple[Packet | None, ...] = ()
    arriving: Packet | None = None


class InSlots:
    """The interfaces of a lane in one cycle."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        network = snapshot.network
        self._in = {link.node: link for link in network.fabric.of_kind("consumption")}
        self._out = {link.node: link for link in network.fabric.of_kind("injection")}
        self._packets: dict[tuple[int, int], Packet | None] = {}

    def slots(self) -> Iterator[Place]:
        """All retransmission slots that packets are in."""
        for node in range(self.snapshot.network.nodes):
            front = self.snapshot.interface(node)
            for slot in range(front.slots):
                filled = front.filled(slot)
                if not filled and front.storing(slot) is None:
                    continue
                packets = (self.packet(node, slot),)
                if not filled or (slot == front.next_slot and front.sending):
                    yield Place(self._slot(node, slot), packets)
                elif slot != front.next_slot:
                    before = front.next_slot
                    yield Place(self._slot(node, slot), packets, (self._slot(node, before),),
                                (self.packet(node, before),))
                else:
                    yield Place(self._slot(node, slot), packets, *self._injection(node, front))

    def consumption(self) -> Iterator[Place]:
        """All consumption channels behind the routers with packets in their buffers, or on their way there."""
        for node in range(self.snapshot.network.nodes):
            front, link = self.snapshot.interface(node), self._in[node]
            for vc in range(front.channels):
                packets, sender = self._consumed(node, vc), self._sender(link, vc)
                arriving = None if self.full(node, vc) else sender
                if not packets and arriving is None:
                    continue
                name = str(Resource.cons(node, link.first + vc))
                if front.waits(vc):
                    slots = range(front.slots)
                    yield Place(name, packets, tuple(self._slot(node, slot) for slot in slots),
                                tuple(self.packet(node, slot) for slot in slots), arriving)
                else:
                    yield Place(name, packets, arriving=arriving)

    def packet(self, node: int, slot: int) -> Packet | None:
        """The packet in a slot: what a payload flit says, or who is bringing its header."""
        if (node, slot) not in self._packets:
            front = self.snapshot.interface(node)
            flits, channel = front.flits_in(slot), front.storing(slot)
            found = self.snapshot.named(flits)
            if found is None and channel is not None:
                behind = self._consumed(node, channel)
                found = behind[0] if behind else self._sender(self._in[node], channel)
            self._packets[node, slot] = found
        return self._packets[node, slot]

    def full(self, node: int, vc: int) -> bool:
        """Whether the buffer of a consumption channel has no room."""
        return self.snapshot.interface(node).full(vc, len(self.snapshot.on_link(self._in[node], vc)))

    def consumed(self, node: int, vc: int) -> Packet | None:
        """The packet at the front of the buffer of a consumption channel."""
        return next(iter(self._consumed(node, vc)), None)

    def _consumed(self, node: int, vc: int) -> tuple[Packet | None, ...]:
        """Packets in that buffer, front first."""
        link = self._in[node]
        pieces: list[list[int]] = [[]]
        for flit in self.snapshot.interface(node).stored(vc) + self.snapshot.on_link(link, vc):
            pieces[-1].append(flit)
            if flit & TAIL:
                pieces.append([])
        return tuple(self.snapshot.named(piece) or self._sender(link, vc) for piece in pieces if piece)

    def _sender(self, link: Link, vc: int) -> Packet | None:
        """The packet whose flits are still to come on a consumption channel."""
        return self.snapshot.first(self.snapshot.owners.get((link.source, link.output or 0, vc)))

    def _slot(self, node: int, slot: int) -> str:
        return str(Resource.retrans(node, slot))

    def _injection(self, node: int, front: SlotsFront) -> tuple[tuple[str, ...], tuple[Packet | None, ...]]:
        """What a packet waits for that is to be sent next from a slot, and who has it."""
        link = self._out[node]
        under_way, vcs = front.injects_on, range(self.snapshot.vcs)
        if under_way is not None:
            return self._named_channels(node, [under_way]), (self.snapshot.injecting(link, under_way),)
        # or behind a host's worm that waits for the same
        behind = [(link.target, link.input or 0, vc) for vc in vcs]
        return self._named_channels(node, vcs), tuple(
            self.snapshot.first(channel) if self.snapshot.full(channel) else None for channel in behind)

    @staticmethod
    def _named_channels(node: int, vcs) -> tuple[str, ...]:
        return tuple(str(Resource.inj(node, 0, vc)) for vc in vcs)
