# amaranth: UnusedElaboratable=no
"""Receiving side of a host's streams: worms from the network interface become messages."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..buffer import ReplicationBuffer
from ..interface.consumption import HOST_DEPTH
from ..link import LinkSignature, flit_layout
from ..logic import bits_for, next_of
from .beats import delivery_beat

__all__ = ["StreamReceiver"]


class StreamReceiver(wiring.Component):
    """Receiver of messages at a host: removes the source's id from the worms of one link, and hands out their payload.

    ::

        host ─▶ buffer (all channels) ─▶ round robin ─┬─ payload ─▶ register ─▶ messages
                                                      └─ first flit of a worm: source of the channel's message

    The consumption channels take turns, beat by beat: a message must not hold back the messages of other channels,
    because worms that wait for each other's consumption channels would deadlock. The host must accept all beats in the
    end. A worm without payload is dropped.

    ``messages.valid`` and ``messages.payload`` come from flip-flops. A valid beat stays unchanged until the host
    accepts it.

    *Latency*: a beat is valid 2 cycles after its flit was on the link. *Throughput*: a beat per cycle, also if all
    beats are of one channel; the source's id takes a further cycle for each message. *Reset*: empty.

    Parameters
    ----------
    width, vcs : int
        Data bits of a flit, and consumption channels of the link.
    nodes : int
        Number of nodes.
    storage : "lutram" or "registers"

    Members
    -------
    host : In(LinkSignature)
        From the network interface, with ``HOST_DEPTH`` flits of buffer per channel here.
    messages : Out(stream of delivery_beat)
        Received messages.
    overflow : Out(vcs)
        A flit for a full buffer is received and dropped in this cycle.
    """

    def __init__(self, *, width: int, vcs: int, nodes: int, storage: str = "lutram"):
        self.width = width
        self.vcs = vcs
        self.nodes = nodes
        self.storage = storage
        super().__init__({
            "host": In(LinkSignature(vcs=vcs, width=width)),
            "messages": Out(stream.Signature(delivery_beat(width, bits_for(nodes), bits_for(vcs)))),
            "overflow": Out(vcs),
        })

    def elaborate(self, platform):
        m = Module()
        layout = flit_layout(self.width)
        m.submodules.buffer = buffer = ReplicationBuffer(
            vcs=self.vcs, depth=HOST_DEPTH, width=layout.size, storage=self.storage)
        [reader] = buffer.readers
        m.d.comb += [
            buffer.write.eq(self.host.valid),
            buffer.write_vc.eq(self.host.vc),
            buffer.write_data.eq(self.host.flit),
            buffer.write_count.eq(1),
            self.overflow.eq(Cat(self.host.valid & (self.host.vc == v) & buffer.full[v] for v in range(self.vcs))),
        ]
        m.d.sync += self.host.credit.eq(buffer.freed)

        last = Signal(self.vcs, name="last_channel")  # one-hot
        chosen = next_of(m, "channel", reader.has, last)
        flit = Signal(layout)
        within = Signal(self.vcs)  # the id of the worm's source has been taken, its tail has not
        sources = Array(Signal(bits_for(self.nodes), name=f"vc{v}_source") for v in range(self.vcs))
        pop = Signal()
        delivers = Signal()
        beat = self.messages.payload
        with m.Switch(chosen):
            for v in range(self.vcs):
                with m.Case(1 << v):
                    m.d.comb += reader.vc.eq(v)
        m.d.comb += [
            flit.eq(reader.data),
            pop.eq(reader.has.any() & (~self.messages.valid | self.messages.ready)),
            reader.pop.eq(pop),
            delivers.eq(pop & (within & chosen).any()),
        ]
        with m.If(pop):
            m.d.sync += [last.eq(chosen), self.messages.valid.eq(delivers)]
        with m.Elif(self.messages.ready):
            m.d.sync += self.messages.valid.eq(0)
        for v in range(self.vcs):
            with m.If(pop & chosen[v]):
                m.d.sync += within[v].eq(~flit.tail)
                with m.If(~within[v]):
                    m.d.sync += sources[v].eq(flit.data)
        with m.If(delivers):
            m.d.sync += [
                beat.data.eq(flit.data),
                beat.last.eq(flit.tail),
                beat.source.eq(sources[reader.vc] if self.vcs > 1 else sources[0]),
                beat.channel.eq(reader.vc),
                beat.damaged.eq(flit.head),
            ]
        return m
