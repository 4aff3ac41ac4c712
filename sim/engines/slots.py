"""Who holds what in interfaces with retransmission slots: the consumption channels, and the slots."""

from collections.abc import Iterator
from dataclasses import dataclass

from wormcast.algorithms.channels import Resource
from wormcast.hw.interface.front import SlotsFront

from ..host import Packet
from .snapshot import Snapshot

__all__ = ["InSlots", "Place"]

TAIL = 2  # mark of a flit


@dataclass(frozen=True)
class Place:
    """A consumption channel or a retransmission slot.

    Parameters
    ----------
    resource : str
    packets : tuple of (Packet or None)
        First the one that holds it, then those that have come behind it, and wait for that one.
    waits : tuple of str
        What the first one waits for here: of these any one will do; empty where it waits for nothing.
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
    """What is in the interfaces of a lane in one cycle: they have retransmission slots."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        fabric = snapshot.fabric
        self._in = {link.target: link for link in fabric.of_kind("consumption")}
        self._out = {link.source: link for link in fabric.of_kind("injection")}

    def slots(self) -> Iterator[Place]:
        """All slots that packets are in."""
        for node in self._in:
            front = self.snapshot.interface(node)
            for slot in front.filled():
                packets, first = (self.packet(node, slot),), front.next_slot
                if slot != first:
                    waits, holders = (_slot(node, first),), (self.packet(node, first),)
                elif front.sending:
                    waits, holders = (), ()
                else:
                    waits, holders = self._injection(node, front)
                yield Place(_slot(node, slot), packets, waits, holders)

    def consumption(self) -> Iterator[Place]:
        """All consumption channels that packets are in behind the routers, or are coming to."""
        for node, link in self._in.items():
            front = self.snapshot.interface(node)
            for vc in range(front.channels):
                packets = self.behind_router(node, vc)
                arriving = None if self.full(node, vc) else self._sender(node, vc)
                slots = range(front.slots) if front.waits(vc) else ()
                if packets or arriving is not None:
                    yield Place(str(Resource.cons(node, link.first + vc)), packets,
                                tuple(_slot(node, slot) for slot in slots),
                                tuple(self.packet(node, slot) for slot in slots), arriving)

    def packet(self, node: int, slot: int) -> Packet | None:
        """The packet in a slot; None where there is none."""
        front = self.snapshot.interface(node)
        return self.snapshot.named(front.in_slot(slot)) if slot in front.filled() else None

    def full(self, node: int, vc: int) -> bool:
        """Whether the buffer of a consumption channel has no room."""
        return self.snapshot.interface(node).full(vc, len(self.snapshot.on_link(self._in[node], vc)))

    def behind_router(self, node: int, vc: int) -> tuple[Packet | None, ...]:
        """Packets in a consumption channel, first to last: whole and without a slot, and then in its buffer."""
        front = self.snapshot.interface(node)
        found = [self.snapshot.named(front.absorbed(vc))] if front.waits(vc) else []
        pieces: list[list[int]] = [[]]
        for flit in front.stored(vc) + self.snapshot.on_link(self._in[node], vc):
            pieces[-1].append(flit)
            if flit & TAIL:
                pieces.append([])
        return (*found, *(self.snapshot.named(piece) or self._sender(node, vc) for piece in pieces if piece))

    def _sender(self, node: int, vc: int) -> Packet | None:
        """The packet whose flits are still to come on a consumption channel."""
        link = self._in[node]
        assert link.output is not None
        return self.snapshot.first(self.snapshot.owners.get((link.source, link.output, vc)))

    def _injection(self, node: int, front: SlotsFront) -> tuple[tuple[str, ...], tuple[Packet | None, ...]]:
        """What the packet waits for that is to be sent next from a slot, and who has it."""
        link, under_way = self._out[node], front.injects_on
        assert link.input is not None
        # or behind a host's worm that has none yet, and waits for any one as well
        vcs = range(self.snapshot.vcs) if under_way is None else (under_way,)
        waits = tuple(str(Resource.inj(node, link.number, vc)) for vc in vcs)
        if under_way is not None:
            return waits, (self.snapshot.injecting(link, under_way),)
        channels = [(link.target, link.input, vc) for vc in vcs]
        return waits, tuple(self.snapshot.first(channel) if self.snapshot.full(channel) else None
                            for channel in channels)


def _slot(node: int, slot: int) -> str:
    return str(Resource.retrans(node, slot))
