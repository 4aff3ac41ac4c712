# amaranth: UnusedElaboratable=no
"""Streams at hosts: the rules of valid and ready, credits, and the way of each beat."""

from amaranth.hdl import Array, Module, Mux, Signal, Value

from wormcast.hw.interface.consumption import HOST_DEPTH
from wormcast.hw.link import flit_layout
from wormcast.hw.streams import StreamReceiver, StreamSender

from .harness import Harness, Inside, Property, entry, implies
from .mutants import Mutant
from .reference import Queue

__all__ = ["StreamReceiverHarness", "StreamSenderHarness"]


def stays(m, stream, name):
    """The rule of valid and ready: a beat that is not accepted is offered again, unchanged."""
    waits, beat = Signal(name=f"{name}_waits"), Signal(len(Value.cast(stream.payload)), name=f"{name}_beat")
    m.d.sync += [waits.eq(stream.valid & ~stream.ready), beat.eq(Value.cast(stream.payload))]
    return implies(waits, stream.valid & (Value.cast(stream.payload) == beat))


class StreamReceiverHarness(Harness):
    """The receiving side of a host's streams, with a sender that keeps to its credits.

    Flits are arbitrary, and need not form worms. The host accepts beats in arbitrary cycles.
    """

    component = "StreamReceiver"
    properties = (
        Property("stays", "A beat that is offered and not accepted is offered in the next cycle, unchanged.",
                 Mutant("streams.receiver.StreamReceiver.elaborate", "~self.messages.valid | self.messages.ready",
                        "~self.messages.payload.last | self.messages.ready")),
        Property("order", "Each payload flit of a channel becomes one beat, in the order of arrival, with its data, "
                          "its channel, the source in the first flit of its worm, and `last` at the end of the worm.",
                 Mutant("streams.receiver.StreamReceiver.elaborate", "within[v].eq(~flit.tail)", "within[v].eq(1)")),
        Property("room", "No flit arrives at a full buffer, and a credit is returned for each flit and for nothing "
                         "else.",
                 Mutant("streams.receiver.StreamReceiver.elaborate", "self.host.credit.eq(buffer.freed)",
                        "self.host.credit.eq(reader.has)")),
    )

    def __init__(self, *, vcs, width):
        super().__init__()
        self.receiver = StreamReceiver(width=width, vcs=vcs, nodes=1 << width)

    def elaborate(self, platform):
        m = Module()
        dut = self.receiver
        vcs, layout = range(dut.vcs), flit_layout(dut.width)
        link, out = dut.host, dut.messages
        self.leave_free(link.valid, link.vc, link.flit, out.ready)
        self.assume(m, link.vc < dut.vcs)
        inside = Inside(dut)
        m.submodules.receiver = inside.fragment

        self.claim(m, "stays", stays(m, out, "messages"))
        flits, sources, within = [], [], []
        for v in vcs:
            queue = Queue(f"vc{v}", depth=HOST_DEPTH, width=layout.size, readers=1)
            owed = Signal(range(HOST_DEPTH + 2), name=f"vc{v}_owed")  # flits whose credit has not come back
            arrives, take = link.valid & (link.vc == v), Signal(name=f"vc{v}_takes")
            m.d.comb += take.eq(inside["pop"] & (inside["channel_next"] == 1 << v))
            m.d.sync += owed.eq(owed + arrives - link.credit[v])
            self.assume(m, implies(arrives, owed < HOST_DEPTH))
            queue.step(m, write=arrives, data=Value.cast(link.flit), targets=1, take=[take], skip=0)
            self.claim(m, "room", ~dut.overflow[v])
            self.claim(m, "room", owed == queue.count + link.credit[v])
            of, begun = Signal(dut.width, name=f"vc{v}_of"), Signal(name=f"vc{v}_begun")
            front = Signal(layout, name=f"vc{v}_front")
            m.d.comb += Value.cast(front).eq(queue.data[0])
            with m.If(take):
                m.d.sync += begun.eq(~front.tail)
                with m.If(~begun):
                    m.d.sync += of.eq(front.data)
            flits.append((take, front))
            sources.append(of)
            within.append(begun)
            if self.inductive:
                self.invariant(m, queue.count <= HOST_DEPTH)
                self.invariant(m, queue.front < HOST_DEPTH)
                self.invariant(m, queue.passed[0] == 0)
                self.invariants_of(m, queue.stands(inside.parts["buffer"], "read0_at", "filled0", 0))
                self.invariants_of(m, queue.stored(inside.parts["buffer"]))
                self.invariant(m, inside["within"][v] == begun)
                self.invariant(m, implies(begun, inside[f"vc{v}_source"] == of))
        # the beat that must be offered now
        there, beat = Signal(), Signal.like(Value.cast(out.payload), name="wanted")
        beat_view = out.payload.shape()(beat)
        hands = [take & begun for (take, _), begun in zip(flits, within, strict=True)]
        m.d.sync += there.eq((there & ~out.ready) | Value.cast(sum(hands, 0)).bool())
        for v in vcs:
            _, front = flits[v]
            with m.If(hands[v]):
                m.d.sync += [beat_view.data.eq(front.data), beat_view.last.eq(front.tail),
                             beat_view.source.eq(sources[v]), beat_view.channel.eq(v),
                             beat_view.damaged.eq(front.head)]
            self.claim(m, "order", implies(hands[v], ~there | out.ready))
        self.claim(m, "order", out.valid == there)
        self.claim(m, "order", implies(there, Value.cast(out.payload) == beat))
        return m


class StreamSenderHarness(Harness):
    """The sending side of a host's streams, with a host and a table of sets that keep beats until they are accepted.

    Messages, their lengths and the headers of their sets are arbitrary. The interface returns credits in arbitrary
    cycles, one for each flit.
    """

    component = "StreamSender"
    properties = (
        Property("credits", "A flit is sent only if there is a credit for it.",
                 Mutant("streams.sender.StreamSender.elaborate", "Mux(send, offer.ready_after, offer.ready)",
                        "offer.ready")),
        Property("form", "A worm has one header flit or more, then a flit with the id of this node, then one payload "
                         "flit or more. The tail mark is at the last flit and at no other.",
                 Mutant("streams.sender.StreamSender.elaborate", "flit.data.eq(self.strap_node)", "flit.data.eq(0)")),
        Property("payload", "The first worm has each accepted beat of the message, one cycle later, up to the longest "
                            "message.",
                 Mutant("streams.sender.StreamSender.elaborate", "self.messages.ready.eq(credit)",
                        "self.messages.ready.eq(1)")),
        Property("copies", "Each further worm has the same payload as the first.",
                 Mutant("streams.sender.StreamSender.elaborate", "read.addr.eq(at + credit)",
                        "read.addr.eq(at)")),
    )

    def __init__(self, *, queue, message, width):
        super().__init__()
        self.sender = StreamSender(width=width, queue=queue, message=message, nodes=1 << width, set_bits=1)

    def elaborate(self, platform):
        m = Module()
        dut = self.sender
        link, messages, headers = dut.host, dut.messages, dut.headers
        node = self.free(dut.width, name="node")
        kept = Signal.like(node, name="same_node")
        begun = Signal()
        m.d.sync += [kept.eq(node), begun.eq(1)]
        self.assume(m, implies(begun, node == kept))
        m.d.comb += dut.strap_node.eq(node)
        self.leave_free(messages.valid, messages.payload, headers.valid, headers.payload, dut.sets.ready, link.credit)
        self.assume(m, stays(m, messages, "messages"))
        self.assume(m, stays(m, headers, "headers"))
        inside = Inside(dut)
        m.submodules.sender = inside.fragment

        # headers are those of one set, and only the first flit of a set may say that there is none
        asked, first = Signal(), Signal(init=1)
        with m.If(dut.sets.valid & dut.sets.ready):
            m.d.sync += [asked.eq(1), first.eq(1)]
        with m.Elif(headers.valid & headers.ready):
            m.d.sync += [asked.eq(~(headers.payload.none | (headers.payload.last & headers.payload.ends))),
                         first.eq(0)]
        self.assume(m, implies(headers.valid, asked))
        self.assume(m, implies(headers.payload.none, first))
        self.assume(m, implies(headers.payload.last, headers.payload.ends))

        owed = Signal(range(dut.queue + 2))  # flits whose credit has not come back, without the one on the link
        now_owed = owed + link.valid
        m.d.sync += owed.eq(now_owed - link.credit[0])
        self.assume(m, implies(link.credit[0], now_owed != 0))
        self.claim(m, "credits", now_owed <= dut.queue)

        # 0: between worms, 1: in the header, 2: the source has been sent, 3: in the payload
        state, flit = Signal(2), link.flit
        head, both = flit.head & ~flit.tail, flit.head & flit.tail
        self.claim(m, "form", implies(link.valid & (state == 0), head))
        self.claim(m, "form", implies(link.valid & (state == 1), ~flit.tail & (head | (flit.data == node))))
        self.claim(m, "form", implies(link.valid & (state == 2), ~flit.head))
        self.claim(m, "form", implies(link.valid & (state == 3), ~flit.head | both))
        with m.If(link.valid):
            m.d.sync += state.eq(Mux(flit.tail, 0, Mux(flit.head, 1, Mux(state == 1, 2, 3))))

        # beats of the message that have been accepted, and whether further ones are dropped
        count, drops = Signal(range(dut.message + 2)), Signal()
        accepted = messages.valid & messages.ready
        sent, word, last, full = Signal(), Signal(dut.width), Signal(), Signal()
        stored = Array(Signal(dut.width, name=f"stored{k}") for k in range(dut.message + 1))
        ended = Signal()  # the last flit of the first worm was due in the cycle before
        over = count == dut.message
        none = headers.valid & headers.ready & headers.payload.none
        m.d.sync += [sent.eq(accepted & ~drops), word.eq(messages.payload.data), last.eq(messages.payload.last),
                     full.eq(over)]
        with m.If(accepted):
            m.d.sync += [count.eq(Mux(messages.payload.last, 0, Mux(over, count, count + 1))),
                         drops.eq(~messages.payload.last & (drops | over))]
            with m.If(~drops):
                m.d.sync += entry(stored, count).eq(messages.payload.data)
        with m.Elif(none):
            m.d.sync += drops.eq(1)
        self.claim(m, "payload", implies(sent, link.valid & (flit.tail == (last | full)) & (flit.head == full)))
        self.claim(m, "payload", implies(sent & ~full, flit.data == word))

        # payload flits of the worm on the link, and of the first worm
        place, length, cut = (Signal(range(dut.message + 2), name=name) for name in ("place", "length", "cut"))
        m.d.comb += ended.eq(sent & (last | full))
        with m.If(link.valid & (state >= 2)):
            m.d.sync += place.eq(Mux(flit.tail, 0, place + 1))
        with m.If(ended):
            m.d.sync += [length.eq(place), cut.eq(full)]
        further = link.valid & (state >= 2) & ~sent
        self.claim(m, "copies", implies(further, (flit.tail == (place == length)) & (place <= length)))
        self.claim(m, "copies", implies(further & flit.tail, flit.head == cut[0]))
        self.claim(m, "copies", implies(further & ~flit.head, flit.data == entry(stored, place)))
        return m
