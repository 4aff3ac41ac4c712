"""Wait-for graph inside smart interfaces: holders of consumption channels and packet buffer entries."""

from collections.abc import Iterator

from wormcast.algorithms.channels import Resource

from ..build.fabric import FabricLink
from ..host import Packet, children_at, packet_of
from .ni_wait_graph import BufferEntry, InterfaceWaits, Standing, packets_of
from .resources import Channel
from .snapshot import Snapshot

__all__ = ["BufferedPackets"]


class BufferedPackets(InterfaceWaits):
    """Packets in the smart interfaces of a lane in one cycle.

    In the graph, a stored packet is named by its copy to the last child, whose sending frees the entry. While a copy of
    the packet is being sent, the packet is named by this copy. A packet that waits for an entry therefore waits for
    copies of the same interface, and these copies wait for channels and interfaces ahead.
    """

    def __init__(self, snapshot: Snapshot):
        super().__init__(snapshot)
        self._links = list(snapshot.fabric.of_kind("consumption"))
        self._link = {link.target: link for link in self._links}

    def may_wait(self) -> bool:
        """Return whether a packet waits for a buffer entry in any interface.

        If no packet waits for a buffer entry, interfaces do not stall ejection.
        """
        return any(self.snapshot.interface(link.target).refused(vc) is not None
                   for link in self._links for vc in range(link.vcs))

    def kept(self) -> Iterator[BufferEntry]:
        for link in self._links:
            node = link.target
            probe = self.snapshot.interface(node)
            copied = probe.copied()
            for place in probe.taken():
                held, writer = (self._name(node, place), self._holder(node, place)), probe.coming().get(place)
                if writer is not None:
                    yield BufferEntry(*held, *self._rest(link, writer, held[1]))
                elif place == copied and not probe.sending:
                    yield BufferEntry(*held, *self.injection(node, probe.injects_on))
                elif place == copied or copied is None:
                    yield BufferEntry(*held)
                else:
                    yield BufferEntry(*held, (self._name(node, copied),), (self._holder(node, copied),))

    def consumption(self) -> Iterator[BufferEntry]:
        for link in self._links:
            for vc in range(link.vcs):
                node, channel = link.target, str(Resource.cons(link.target, link.first + vc))
                probe = self.snapshot.interface(node)
                refused, blocking = probe.refused(vc), probe.blocking
                if refused is None and blocking is None:
                    continue
                sender = self._sender(link, vc)
                comes = sender if not self.snapshot.refuses(node, vc) and self._sends(link, vc) else None
                if refused is not None:
                    first, *behind = self._standing(node, vc)
                    ahead = channel
                    yield BufferEntry(channel, first, (self._name(node, refused),), (self._holder(node, refused),),
                                      comes)
                else:  # the packet that leaves the receive queue next came by another channel
                    first, *_ = self._standing(node, blocking)
                    behind, ahead = self._standing(node, vc), str(Resource.cons(node, link.first + blocking))
                    yield BufferEntry(channel, None, arriving=comes)
                for one in dict.fromkeys((*behind, sender if probe.stops(vc) else None)):
                    if one not in (first, None):
                        yield BufferEntry(channel, one, (ahead,), (first,))

    def consumed(self, node: int, vc: int) -> Standing | None:
        return self._standing(node, vc)[0] if self.snapshot.refuses(node, vc) else None

    def _standing(self, node: int, vc: int) -> list[Standing | None]:
        """Return the packets in a consumption channel, in its receive queue and buffer, in order."""
        found: list[Standing | None] = []
        # a packet begins with its first payload flit, or a header flit: interfaces drop header flits
        for flits, whole in packets_of(self.snapshot.interface(node).queued(vc) + self.snapshot.consumed(node, vc)):
            packet = self._here(node, self.snapshot.named(flits, begins=True))
            found.append(packet if packet or whole else self._at(node, self._sender(self._link[node], vc)))
        return found

    def _here(self, node: int, packet: Packet | None) -> Standing | None:
        """Return the part of a packet that is at a node; of a packet that interfaces forward, its copy to the node."""
        if packet is not None and self.snapshot.host.worms["posting"][packet[0]] >= 0:
            packet = self.snapshot.brought(node, packet)
        return self._at(node, packet)

    def _at(self, node: int, packet: Packet | None) -> Standing | None:
        """Return a packet as the part of it that is at a node, if its worm has several destinations; see `Standing`."""
        if packet is None:
            return None
        row = self.snapshot.host.worms[packet[0]]
        return packet if row["delivery_end"] - row["delivery"] == 1 else (*packet, node)

    def _holder(self, node: int, place: tuple[int, int]) -> Standing | None:
        """Return the packet that holds a packet buffer entry; None if it is unknown or arrives from the host."""
        probe, host = self.snapshot.interface(node), self.snapshot.host
        coming = probe.coming()
        if place in coming:
            if coming[place] == probe.channels:
                return None  # the host never stalls
            return self._here(node, packet_of(host, probe.flits(place, coming[place]), begins=True))
        if place == probe.copied():
            return self.snapshot.offered(node)
        packet = packet_of(host, probe.flits(place), begins=True)
        if packet is None:
            return None
        *_, last = children_at(host, self.snapshot.lane * self.snapshot.network.nodes + node, packet[0])
        return last, packet[1]

    def _rest(self, link: FabricLink, writer: int, holder: Standing | None
              ) -> tuple[tuple[str, ...], tuple[Standing | None, ...]]:
        """Return the waits of a packet that fills a packet buffer entry: it waits for its flits that are in routers.

        A packet from the host, or from a receive queue, which holds it whole, does not wait.
        """
        if writer == link.vcs or self.snapshot.interface(link.target).queues:
            return (), ()
        if any(flit >> 1 & 1 for flit in self.snapshot.consumed(link.target, writer)):
            return (), ()
        sender = self._sender(link, writer)
        # a worm with one destination is holder and sender; its waits in routers are added with the routers' buffers
        return ((), ()) if sender == holder else ((str(Resource.cons(link.target, link.first + writer)),), (sender,))

    def _sender(self, link: FabricLink, vc: int) -> Packet | None:
        """Return the packet whose remaining flits a router will send on a consumption channel."""
        return self.snapshot.first(self._owner(link, vc))

    def _sends(self, link: FabricLink, vc: int) -> bool:
        """Return whether a consumption channel has no owner, or the owner's buffer has a flit for it."""
        owner = self._owner(link, vc)
        assert link.output is not None
        return owner is None or self.snapshot.has_for(owner, link.output)

    def _owner(self, link: FabricLink, vc: int) -> Channel | None:
        assert link.output is not None
        return self.snapshot.owners.get((link.source, link.output, vc))

    def _name(self, node: int, place: tuple[int, int]) -> str:
        row, number = place
        return str(Resource.place(node, row * self.snapshot.network.configuration.places + number))
