"""Owners of all channels and contents of all buffers in one cycle, read from routers and interfaces."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.hw.input_probe import TOKEN, InputProbe
from wormcast.hw.interface.interface_probe import InterfaceProbe, oldest_packet
from wormcast.hw.mark import Mark

from ..build.fabric import FabricLink
from ..host import Packet, brought_by, packet_at_interface, packet_of
from .bulk import BulkEngine
from .copies import by_header, child_of
from .resources import Channel, Registers, wanted

__all__ = ["Snapshot"]

Integers = npt.NDArray[np.int64]
MARKS = {mark.value: mark for mark in Mark}


class _Fronts:
    """Registers of the fronts that one input virtual channel has in the routers of a kind. Lists are by router.

    Parameters
    ----------
    probe : InputProbe
    read : callable
        Function from a register's full name to its values, int64 [routers].
    """

    def __init__(self, probe: InputProbe, read: Callable[[str], Integers]):
        self.probe, self._of = probe, Registers(probe, read)
        self.waiting: list[int] = probe.waiting(self._of).tolist()
        self.active: list[bool] = probe.active(self._of).tolist()
        self.consuming: list[tuple[int, list[bool]]] = [(r, consumes.tolist())
                                                        for r, consumes in probe.consuming(self._of)]
        self._owns = [(output, whether.tolist(), vc.tolist()) for output, whether, vc in probe.owns(self._of)]
        self.unread: list[list[int]] = np.stack(probe.unread(read), axis=-1).tolist()
        self.ready: list[list[int]] = np.stack(probe.ready(read), axis=-1).tolist()

    def held(self, router: int) -> list[tuple[int, int]]:
        """Return the channels that the packet at a front holds beyond its input, as (output, virtual channel)."""
        return [(output, vc[router]) for output, whether, vc in self._owns if whether[router]]


class Snapshot:
    """State of one lane of a network in one cycle. A packet is a worm, or a part of it with a header of its own."""

    def __init__(self, engine: BulkEngine, lane: int = 0):
        self.engine, self.lane = engine, lane
        network, configuration = engine.network, engine.network.configuration
        self.network, self.host, self.fabric = network, engine.host, network.fabric
        self.vcs, self.depth, self.width = configuration.vcs, configuration.buffer, configuration.flit_width
        self._registers: dict[tuple[str, str], list[Any]] = {}
        self._links: dict[tuple[str, str], list[int]] = {}
        self._fronts: dict[tuple[str, int, int], _Fronts] = {}
        self._occupants: dict[Channel, list[Packet | None]] = {}
        self._pieces: dict[Channel, list[list[int]]] = {}
        self._interfaces: dict[int, InterfaceProbe] = {}

    def register(self, kind: str, name: str, instance: int) -> Any:
        """Return the value of a register of one instance; instances are numbered within the lane."""
        values = self._registers.get((kind, name))
        if values is None:
            values = self._registers[kind, name] = self._of_lane(kind, self.engine.register(kind, name)).tolist()
        return values[instance]

    def _of_lane(self, kind: str, values: np.ndarray) -> np.ndarray:
        count = self.network.count(kind)
        return values[self.lane * count:(self.lane + 1) * count]

    def _front(self, channel: Channel) -> tuple[_Fronts, int]:
        """Return a channel's registers in all routers of its router's kind, and the router's index among these."""
        switch, port, vc = channel
        home = self.network.home(switch)
        key = home.kind, port, vc
        if key not in self._fronts:
            def read(name: str) -> Integers:
                return self._of_lane(home.kind, self.engine.register(home.kind, name)).astype(np.int64)

            self._fronts[key] = _Fronts(self.network.probe(*key), read)
        return self._fronts[key], home.instance

    def waiting(self, channel: Channel) -> int:
        """Return the waits of the packet at the front of an input virtual channel: a code of `InputProbe.waiting`."""
        fronts, router = self._front(channel)
        return fronts.waiting[router]

    def held(self, channel: Channel) -> list[tuple[int, int]]:
        """Return the channels that the packet at the front of an input virtual channel holds beyond the input."""
        fronts, router = self._front(channel)
        return fronts.held(router)

    def channels(self) -> Iterator[Channel]:
        """Yield the virtual channels of all switch inputs to which a link leads."""
        for switch, port in sorted(self.fabric.into):
            for vc in range(self.vcs):
                yield switch, port, vc

    def interface(self, node: int) -> Any:
        """Return the probe of a node's interface. The probe's class depends on the variant of the network's
        interfaces."""
        if node not in self._interfaces:
            read = partial(self._built, node) if self.network.interface_probe.reads_missing else partial(
                self.register, "interface", instance=node)
            self._interfaces[node] = self.network.interface_probe(self.network.interface, read)
        return self._interfaces[node]

    def _built(self, node: int, name: str) -> Any:
        """Return a register of a node's interface, or 0 if the interface has no such register."""
        return self.register("interface", name, node) if name in self.engine.kernels["interface"].state else 0

    def named(self, flits: Sequence[int], *, begins: bool = False) -> Packet | None:
        """Return the packet that flits (numbers: head mark in bit 0, tail mark, data) belong to, or None if unknown.

        ``begins``: the first of the flits is the packet's first payload flit.
        """
        payload = [flit >> 2 for flit in flits if not flit & 1]
        return packet_of(self.host, payload, begins=begins or bool(flits[0] & 1)) if payload else None

    @cached_property
    def owners(self) -> dict[tuple[int, int, int], Channel]:
        """Input virtual channel of the owning packet, for each owned virtual channel (switch, output, number)."""
        found = {(channel[0], *target): channel for channel in self.channels() for target in self.held(channel)}
        for switch, *target in [*found]:
            if tuple(target) == TOKEN:  # a token that one switch holds is taken for its whole group
                ring = self.network.rings[self.network.ring_of(switch)]
                found |= {(other, *TOKEN): found[switch, *TOKEN] for other in ring}
        return found

    def to_node(self, switch: int, output: int) -> bool:
        """Return whether an output leads to a node or is the output of `TOKEN`, so that no switch's buffer follows
        it."""
        return output == TOKEN[0] or self.fabric.links[self.fabric.out_of[switch, output]].node is not None

    def far_end(self, switch: int, output: int, vc: int) -> Channel:
        """Return the input virtual channel at the far end of an output's virtual channel."""
        link = self.fabric.links[self.fabric.out_of[switch, output]]
        assert link.input is not None
        return link.target, link.input, vc

    def link(self, channel: Channel) -> FabricLink:
        """Return the link that leads to an input virtual channel."""
        switch, port, _ = channel
        return self.fabric.links[self.fabric.into[switch, port]]

    def _unread(self, channel: Channel) -> list[int]:
        """Return, for each reader of a buffer, the number of stored flits that it has not read."""
        fronts, router = self._front(channel)
        return fronts.unread[router]

    def full(self, channel: Channel) -> bool:
        """Return whether a buffer has no room for another flit; a flit on the link to it counts as stored."""
        return max(self._unread(channel)) + len(self._arriving(channel)) == self.depth

    def stored(self, channel: Channel) -> list[int]:
        """Return the flits in a buffer, oldest first, then the flit on the link to it, as numbers of `row_layout`."""
        fronts, router = self._front(channel)
        read = partial(self.register, self.network.home(channel[0]).kind, instance=router)
        stored = fronts.probe.flits(read) if max(fronts.unread[router]) else []
        return stored + self._arriving(channel)

    def _arriving(self, channel: Channel) -> list[int]:
        """Return the flit on the link to a buffer, if any, as a number of `row_layout`."""
        rows = []
        for flit in self.on_link(self.link(channel), channel[2]):
            head, tail, data = flit & 1, flit >> 1 & 1, flit >> 2
            mark = Mark.TAIL if tail else Mark.PAYLOAD
            rows.append(data | (1 if head else mark.value << 1) << self.width)
        return rows

    def on_link(self, link: FabricLink, vc: int) -> list[int]:
        """Return the flit on a link for a virtual channel, if any: head mark in bit 0, tail mark, data."""
        kind, instance, port = link.near
        word = self._driven(kind, port)[instance]
        vc_bits = (link.vcs - 1).bit_length()
        if not word & 1 or word >> 1 & (1 << vc_bits) - 1 != vc:
            return []
        return [word >> 1 + vc_bits]

    def _driven(self, kind: str, port: str) -> list[int]:
        if (kind, port) not in self._links:
            self._links[kind, port] = self._of_lane(kind, self.engine.output(kind, port)).tolist()
        return self._links[kind, port]

    def occupants(self, channel: Channel) -> list[Packet | None]:
        """Return the packets in a buffer, front first; None for a packet that cannot be identified."""
        if channel not in self._occupants:
            self._occupants[channel] = []  # ends a recursion: `_find_occupants` may ask for this channel again
            self._occupants[channel] = self._find_occupants(channel)
        return self._occupants[channel]

    def _find_occupants(self, channel: Channel) -> list[Packet | None]:
        return [self._name(piece, channel, place) for place, piece in enumerate(self.pieces(channel))]

    def pieces(self, channel: Channel) -> list[list[int]]:
        """Return the flits of each packet in a buffer, oldest first; an empty list for a packet without flits there."""
        if channel not in self._pieces:
            self._pieces[channel] = self._find_pieces(channel)
        return self._pieces[channel]

    def _find_pieces(self, channel: Channel) -> list[list[int]]:
        pieces: list[list[int]] = [[]]
        for row in self.stored(channel):
            pieces[-1].append(row)
            if self._mark(row) is Mark.TAIL:
                pieces.append([])
        fronts, router = self._front(channel)
        if not pieces[-1] and (len(pieces) > 1 or not fronts.active[router]):
            pieces.pop()
        return pieces

    def _mark(self, row: int) -> Mark | None:
        """Return the mark of a stored flit (see `row_layout`); None for a header flit, unless it has `Mark.FINAL`."""
        head, code = row >> self.width & 1, row >> self.width + 1
        return None if head else MARKS[code & 3]

    def _name(self, rows: list[int], channel: Channel, place: int) -> Packet | None:
        """Return the packet to which flits in a buffer belong.

        The packet is identified by a payload flit in the buffer or in a later buffer on its way, or else by the sender.
        Header flits do not identify a packet. A packet with only header flits in a buffer is still being sent, because
        no packet ends in a header flit.
        """
        found = self._apart(self._of_payload(rows), channel, place)
        if found is None and place == 0:
            found = self._ahead(channel)
        return found if found is not None or self._ended(rows) else self.sender(channel)

    def _ahead(self, channel: Channel) -> Packet | None:
        """Return the packet at the front of a buffer, identified by its first flits in buffers further on its way."""
        for output, vc in self.held(channel):
            if self.to_node(channel[0], output):
                continue
            following = self.far_end(channel[0], output, vc)
            pieces = self.pieces(following)
            if not pieces or self._ended(pieces[-1]):
                continue
            found = self._apart(self._of_payload(pieces[-1]), following, len(pieces) - 1)
            if found is None and len(pieces) == 1:
                found = self._ahead(following)
            if found is not None:
                return found
        return None

    def _of_payload(self, rows: list[int]) -> Packet | None:
        """Return the packet that flits belong to, identified by their payload, or None."""
        marks = [self._mark(row) for row in rows]
        payload = [row & (1 << self.width) - 1 for row, mark in zip(rows, marks, strict=True)
                   if mark in (Mark.PAYLOAD, Mark.TAIL)]
        return packet_of(self.host, payload, begins=marks[0] in (None, Mark.FINAL)) if payload else None

    def _apart(self, packet: Packet | None, channel: Channel, place: int) -> Packet | None:
        """Return the copy that is in a buffer, for a packet that interfaces forward; return any other packet unchanged.

        All copies of a packet that interfaces forward have the same payload. Copies differ in their headers, and in the
        nodes to which they are delivered.
        """
        if packet is None or self.host.worms["posting"][packet[0]] < 0:
            return packet
        root, number = packet
        while 0 <= place < len(pieces := self.pieces(channel)):
            header = [row & (1 << self.width) - 1 for row in pieces[place]
                      if self._mark(row) in (None, Mark.FINAL)]
            held = self.held(channel) if place == 0 else []
            asked = wanted(self.network, channel, self.waiting(channel)) if place == 0 else []
            for output, _ in (*held, *(target for targets in asked for target in targets)):
                node = self._node_at(channel[0], output)
                if node is not None:
                    return self.brought(node, packet)
            if header:
                worm = by_header(self.host, root, header)
                return None if worm is None else (worm, number)
            onward = [target for target in held if not self.to_node(channel[0], target[0])]
            if not onward:
                break
            channel = self.far_end(channel[0], *onward[0])
            place = len(self.pieces(channel)) - 1
            if place >= 0 and self._ended(self.pieces(channel)[place]):
                break
        return None

    def _ended(self, rows: list[int]) -> bool:
        return bool(rows) and self._mark(rows[-1]) in (Mark.TAIL, Mark.CUT)

    def _node_at(self, switch: int, output: int) -> int | None:
        """Return the node that an output leads to, or None."""
        return None if output == TOKEN[0] else self.fabric.links[self.fabric.out_of[switch, output]].node

    def brought(self, node: int, packet: Packet) -> Packet | None:
        """Return the copy of a forwarded packet that is delivered to a node.

        ``packet``: first worm of the message, and number of the packet.
        """
        worm = brought_by(self.host, self.lane * self.network.nodes + node, packet[0])
        return None if worm < 0 else (worm, packet[1])

    def offered(self, node: int) -> Packet | None:
        """Return the packet that a node's interface forwards now or next, from a slot or as a copy, if any."""
        probe = self.interface(node)
        payload, begins = probe.offered
        packet = packet_of(self.host, payload, begins=begins) if payload else None
        if packet is None or not probe.forwards:
            return packet
        worm = child_of(self.host, self.lane * self.network.nodes + node, packet[0], *probe.copied_header)
        return None if worm is None else (worm, packet[1])

    def _leaving(self, channel: Channel) -> list[int]:
        """Return flits that have left the previous router's buffers and wait at its output to this channel's link."""
        link = self.link(channel)
        if link.output is None:
            return []
        home = self.network.home(link.source)
        read = partial(self.register, home.kind, instance=home.instance)
        return self.network.probe(home.kind, 0, 0).leaving(link.output, read)

    def first(self, channel: Channel | None) -> Packet | None:
        """Return the packet at the front of a buffer."""
        found = self.occupants(channel) if channel else []
        return found[0] if found else None

    def sender(self, channel: Channel) -> Packet | None:
        """Return the packet whose remaining flits will arrive on an input virtual channel, or None."""
        link = self.link(channel)
        if link.node is not None:
            return self.injecting(link, channel[2])
        owner = self.sending(channel)
        if owner is None and (rows := self._leaving(channel)):
            return self._apart(self._of_payload(rows), channel, len(self.pieces(channel)) - 1)
        return self.first(owner)

    def sending(self, channel: Channel) -> Channel | None:
        """Return the previous switch's input virtual channel whose packet owns the link to an input virtual channel."""
        link = self.link(channel)
        return None if link.output is None else self.owners.get((link.source, link.output, channel[2]))

    def injecting(self, link: FabricLink, vc: int) -> Packet | None:
        """Return the packet that a node's interface is sending on virtual channel ``vc`` of an injection link."""
        node = link.near.instance
        if self.network.interface_probe.sends_on and (probe := self.interface(node)).sending:
            return self.offered(node) if vc == probe.injects_on else None
        if self.network.configuration.requests_rows:
            return None  # it may be a control packet

        def register(name: str, _: int) -> Any:
            if self.vcs == 1 and name.endswith(".packet_vc"):
                return 0  # with one virtual channel no register holds its number
            return self.register("interface", name, node)

        instance, port = self.lane * self.network.nodes + node, link.number
        if store := self.network.interface.injections[port].store:
            if not register(f"injection_{port}.owns", node) or register(f"injection_{port}.packet_vc", node) != vc:
                return None
            return self.named(oldest_packet(f"injection_{port}.packets", store.places, store.flits,
                                            partial(self.register, "interface", instance=node)), begins=True)
        return packet_at_interface(self.host, register, self.network.configuration.queue,
                                   self.engine.on_host_link(instance, port), instance, port, vc)

    def moves(self, channel: Channel) -> list[Packet | None]:
        """Return the packets that can move at an input virtual channel without another grant.

        An arriving packet can move if the buffer has room, and other branches of the packet do not keep the previous
        router from sending. The packet at the front can move if a reader that sends only to nodes can send a flit, or
        release its channel.
        """
        moving: list[Packet | None] = []
        sender = self.sender(channel)
        if sender is not None and not self.full(channel) and self._sends(channel):
            moving.append(sender)
        front = self.first(channel)
        fronts, router = self._front(channel)
        for reader, consumes in fronts.consuming:
            # a reader that sends only to nodes can send while the buffer has flits that it has not read
            # if all flits of the packet have come and are read, it can still release its consumption channel
            if consumes[router] and (fronts.ready[router][reader] or sender != front) and not self._refused(
                    channel, reader):
                moving.append(front)
        return moving

    def _refused(self, channel: Channel, reader: int) -> bool:
        """Return whether a reader of a buffer must wait because a node's interface accepts no flit from it."""
        if not self.network.interface_probe.sends_on:
            return False
        fronts, _ = self._front(channel)
        nodes = ((self._node_at(channel[0], output), vc) for output, vc in self.held(channel)
                 if fronts.probe.reader(output) == reader)
        return any(node is not None and self.refuses(node, vc) for node, vc in nodes)

    def refuses(self, node: int, vc: int) -> bool:
        """Return whether an interface accepts no more flits of a consumption channel.

        A smart interface accepts no flit while the channel's buffer is full and the first packet in the buffer waits
        for a packet buffer entry. An interface with a receive queue accepts no flit while the buffer is full, the
        channel has no free place in the queue, and the packet that leaves the queue next waits for an entry, or for the
        absorb buffer of its channel.
        """
        probe = self.interface(node)
        return probe.stops(vc) and len(self.consumed(node, vc)) == probe.depth

    def has_for(self, channel: Channel, output: int) -> bool:
        """Return whether the packet at the front of a buffer has a flit that is stored or arriving, for an output."""
        fronts, router = self._front(channel)
        return bool(fronts.ready[router][fronts.probe.reader(output)]) or bool(self._arriving(channel))

    def consumed(self, node: int, vc: int) -> list[int]:
        """Return the flits of a consumption channel in an interface's buffer, then the flit on the link to it."""
        return self.interface(node).stored(vc) + self.on_link(self._into[node], vc)

    @cached_property
    def _into(self) -> dict[int, FabricLink]:
        return {link.target: link for link in self.fabric.of_kind("consumption")}

    def _sends(self, channel: Channel) -> bool:
        """Return whether the readers of the previous router can send a flit to an input virtual channel."""
        link, owner = self.link(channel), self.sending(channel)
        if owner is None or link.output is None or self._leaving(channel):
            return True
        fronts, router = self._front(owner)
        together = fronts.probe.together(link.output)
        if not together:
            return True
        # outputs in ``together`` receive each flit in the same cycle
        # a branch with an unsent flit is blocked while the buffer after another output in ``together`` is full
        if fronts.ready[router][fronts.probe.reader(link.output)] or self._arriving(owner):
            return not any(self.full(self.far_end(owner[0], *target)) for target in self.held(owner)
                           if target[0] in together and not self.to_node(owner[0], target[0]))
        home = self.network.home(link.source)
        # with fast delays, routers have a register between crossbar and link
        staged = self.network.configuration.delays == "fast"
        return staged and bool(self.register(home.kind, f"{home.router.outputs[link.output].name}_output.sent",
                                             home.instance))
