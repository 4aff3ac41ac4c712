# amaranth: UnusedElaboratable=no
"""Sending side of a host's streams: a message becomes the worms of its destination set."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..link import LinkSignature, flit_layout
from ..output_unit import OutputUnit
from ..port import PortSpec
from .beats import header_flit, message_beat

__all__ = ["MOST_MESSAGE", "StreamSender"]

#: Largest number of flits of a message that a sender stores.
MOST_MESSAGE = 4096


class StreamSender(wiring.Component):
    """Sender of messages at a host: sends each message as the worms of its destination set.

    ::

        messages ─┬─ first beat: set ─▶ sets ─▶ table or mask ─▶ headers ─┐
                  │                                                       ▼
                  ├─ payload ──────────────────────────▶ header, source, payload ─▶ OutputUnit ─▶ host
                  └─▶ message memory ─ further worms ─▶──────────────────▲

    A worm has the header flits of its destinations, then a flit with the id of this node, then the message. The first
    worm takes the message from the stream and stores it; the further worms take it from the memory. A message longer
    than the memory is cut after ``message`` flits: the rest is dropped, and a flit with both marks ends each worm of
    the message. A message to a set without worms is dropped.

    ``messages.ready`` does not depend on ``messages.valid`` in the same cycle.

    *Latency*: the first header flit is on the link 2 cycles after the message's first beat is valid, with a table of
    sets. *Throughput*: a flit per cycle with a ``queue`` of 4 flits or more. A message of L flits to a set of W worms
    with H header flits in all takes H + W (L + 1) + 1 cycles with a table of sets. *Reset*: no message is under way.

    Parameters
    ----------
    width : int
        Data bits of a flit.
    queue : int
        Flits of buffer at the interface.
    message : int
        Flits of the message memory. Range: 1 to 4096.
    nodes : int
        Number of nodes. A flit must hold the id of a node.
    set_bits : int
        Bits of a destination set.

    Members
    -------
    messages : In(stream of message_beat)
        Messages from the host.
    sets : Out(stream of unsigned)
        Destination set of the next message.
    headers : In(stream of header_flit)
        Header flits of the set's worms.
    host : Out(LinkSignature)
        To the network interface.
    strap_node : In(range(nodes))
        Id of this node.
    unknown_set : Out(1)
        A message to a set without worms is dropped from this cycle on.
    too_long : Out(1)
        A message is cut.
    credit_error : Out(1)
        As in `OutputUnit`.
    """

    def __init__(self, *, width: int, queue: int, message: int, nodes: int, set_bits: int):
        if not 1 <= message <= MOST_MESSAGE:
            raise WormcastError(f"StreamSender.message: {message} is not valid. Allowed: 1 to {MOST_MESSAGE}.")
        if nodes > 1 << width:
            raise WormcastError(f"StreamSender.width: {width} is not valid: a flit must hold the id of one of {nodes} "
                                f"nodes. Allowed: {(nodes - 1).bit_length()} or more.")
        self.width = width
        self.queue = queue
        self.message = message
        super().__init__({
            "messages": In(stream.Signature(message_beat(width, set_bits))),
            "sets": Out(stream.Signature(set_bits)),
            "headers": In(stream.Signature(header_flit(width))),
            "host": Out(LinkSignature(vcs=1, width=width)),
            "strap_node": In(range(nodes)),
            "unknown_set": Out(1),
            "too_long": Out(1),
            "credit_error": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.output = output = OutputUnit(
            PortSpec("host", vcs=1, depth=self.queue), width=self.width, classes=[1])
        [drive], offer = output.sends, output.offer
        wiring.connect(m, output.links[0], wiring.flipped(self.host))
        store: memory.Memory = memory.Memory(shape=self.width, depth=self.message, init=[],
                                             attrs={"ram_style": "block"})
        m.submodules.memory = store
        write, read = store.write_port(), store.read_port()

        flit = Signal(flit_layout(self.width))
        # `valid`: a flit is to be sent; `send`: it is sent
        valid = Signal()
        send = Signal()
        credit = Signal()
        first = Signal()  # the worm under way is the message's first one
        more = Signal()  # further worms of the message follow
        at = Signal(range(self.message + 1))  # payload flits of the worm that have been sent, up to its last flit
        final = Signal(range(self.message + 1))  # value of `at` for the worm's last flit
        cut = Signal()  # the message was longer than the memory
        over = Signal()  # the memory is full
        beat, header = self.messages.payload, self.headers.payload
        m.d.comb += [
            send.eq(valid & credit),
            drive.flit.eq(flit),
            drive.vc_active.eq(send),
            drive.send.eq(send),
            drive.tail.eq(flit.tail),
            self.credit_error.eq(output.credit_error),
            self.sets.payload.eq(beat.to),
            over.eq(at == self.message),
            write.addr.eq(at),
            write.data.eq(beat.data),
        ]
        m.d.sync += credit.eq(Mux(send, offer.ready_after, offer.ready))
        with m.FSM():
            with m.State("SET"):
                m.d.comb += self.sets.valid.eq(self.messages.valid)
                with m.If(self.messages.valid & self.sets.ready):
                    m.d.sync += first.eq(1)
                    m.next = "HEADER"
            with m.State("HEADER"):
                m.d.comb += [
                    valid.eq(self.headers.valid & ~header.none),
                    flit.head.eq(1),
                    flit.data.eq(header.data),
                    self.headers.ready.eq(credit | header.none),
                    self.unknown_set.eq(self.headers.valid & header.none),
                ]
                with m.If(self.unknown_set):
                    m.d.sync += more.eq(0)
                    m.next = "DROP"
                with m.Elif(send & header.ends):
                    m.d.sync += more.eq(~header.last)
                    m.next = "SOURCE"
            with m.State("SOURCE"):
                m.d.comb += [valid.eq(1), flit.data.eq(self.strap_node)]
                m.d.sync += at.eq(0)
                with m.If(send & first):
                    m.next = "PAYLOAD"
                with m.Elif(send):
                    m.next = "REPEAT"
            with m.State("PAYLOAD"):
                m.d.comb += [
                    valid.eq(self.messages.valid),
                    self.messages.ready.eq(credit),
                    flit.data.eq(beat.data),
                    flit.tail.eq(beat.last | over),
                    flit.head.eq(over),
                    self.too_long.eq(send & over),
                    write.en.eq(send & ~over),
                ]
                m.d.sync += at.eq(at + send)
                with m.If(send & flit.tail):
                    m.d.sync += [final.eq(at), cut.eq(over), first.eq(0)]
                    with m.If(~beat.last):
                        m.next = "DROP"
                    with m.Elif(more):
                        m.next = "HEADER"
                    with m.Else():
                        m.next = "SET"
            with m.State("REPEAT"):
                m.d.comb += [
                    valid.eq(1),
                    flit.data.eq(read.data),
                    flit.tail.eq(at == final),
                    flit.head.eq(flit.tail & cut),
                    read.addr.eq(at + credit),  # not `at + send`: `send` depends on the headers
                ]
                m.d.sync += at.eq(at + credit)
                with m.If(send & flit.tail & more):
                    m.next = "HEADER"
                with m.Elif(send & flit.tail):
                    m.next = "SET"
            with m.State("DROP"):
                m.d.comb += self.messages.ready.eq(1)
                with m.If(self.messages.valid & beat.last & more):
                    m.next = "HEADER"
                with m.Elif(self.messages.valid & beat.last):
                    m.next = "SET"
        return m
