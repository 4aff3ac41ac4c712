"""Wait-for graph inside interfaces with retransmission slots: holders of consumption channels and slots."""

from collections.abc import Iterator

from wormcast.algorithms.channels import Resource

from ..host import Packet
from .ni_wait_graph import BufferEntry, InterfaceWaits, packets_of
from .snapshot import Snapshot

__all__ = ["AbsorbedPackets"]


class AbsorbedPackets(InterfaceWaits):
    """Wait-for graph of the packets in retransmission slots and consumption channels, in one lane and one cycle."""

    def __init__(self, snapshot: Snapshot):
        super().__init__(snapshot)
        self._in = {link.target: link for link in snapshot.fabric.of_kind("consumption")}

    def kept(self) -> Iterator[BufferEntry]:
        """Yield all slots that hold packets."""
        for node in self._in:
            probe = self.snapshot.interface(node)
            for slot in probe.filled():
                first = probe.next_slot
                place = _slot(node, slot), self.packet(node, slot)
                if slot != first:
                    yield BufferEntry(*place, (_slot(node, first),), (self.packet(node, first),))
                elif probe.sending:
                    yield BufferEntry(*place)
                else:
                    yield BufferEntry(*place, *self.injection(node, probe.injects_on))

    def consumption(self) -> Iterator[BufferEntry]:
        """Yield all consumption channels, each with the packet in its absorb buffer, if any.

        While the first packet of a receive queue waits until the absorb buffer of its channel is empty, also yield each
        packet in this queue, with the packet's channel.
        """
        for node, link in self._in.items():
            probe = self.snapshot.interface(node)
            for vc in range(probe.channels):
                channel = str(Resource.cons(node, link.first + vc))
                slots = range(probe.slots) if probe.waits(vc) else ()
                full = len(self.snapshot.consumed(node, vc)) == self.snapshot.depth
                stops = probe.stops(vc) or not probe.queues
                yield BufferEntry(channel, self._absorbed(node, vc) if slots else self.consumed(node, vc),
                            tuple(_slot(node, slot) for slot in slots),
                            tuple(self.packet(node, slot) for slot in slots),
                            None if full and stops else self._sender(node, vc))
                if probe.blocking is not None:
                    ahead = str(Resource.cons(node, link.first + probe.blocking))
                    for one in self._queued(node, vc):
                        yield BufferEntry(channel, one, (ahead,), (self._absorbed(node, probe.blocking),))

    def packet(self, node: int, slot: int) -> Packet | None:
        """Return the packet in a slot, or None."""
        probe = self.snapshot.interface(node)
        return self.snapshot.named(probe.in_slot(slot)) if slot in probe.filled() else None

    def consumed(self, node: int, vc: int) -> Packet | None:
        """Return the packet in a consumption channel: a whole packet that waits for a slot, or one that is arriving.

        With a receive queue, only the packet that is arriving prevents the grant of the channel.
        """
        probe = self.snapshot.interface(node)
        if probe.waits(vc) and not probe.queues:
            return self._absorbed(node, vc)
        flits = self.snapshot.consumed(node, vc)
        return self.snapshot.named(flits) or (self._sender(node, vc) if flits else None)

    def _absorbed(self, node: int, vc: int) -> Packet | None:
        """Return the packet that is whole in the absorb buffer of a channel, and waits for a slot."""
        return self.snapshot.named(self.snapshot.interface(node).absorbed(vc))

    def _queued(self, node: int, vc: int) -> Iterator[Packet | None]:
        """Yield the packets of a channel that are whole in the receive queue, and the one that waits for a place."""
        probe = self.snapshot.interface(node)
        for flits, whole in packets_of(probe.queued(vc)):
            if whole:
                yield self.snapshot.named(flits, begins=True)
        if probe.stops(vc):
            yield self.consumed(node, vc)

    def _sender(self, node: int, vc: int) -> Packet | None:
        """Return the packet whose remaining flits a router will send on a consumption channel."""
        link = self._in[node]
        assert link.output is not None
        return self.snapshot.first(self.snapshot.owners.get((link.source, link.output, vc)))


def _slot(node: int, slot: int) -> str:
    return str(Resource.retrans(node, slot))
