"""Receiving end of a link to a deep switch: input decode, chunk buffer, cut-through window, and the worm in front."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bundles import by_name, connect_straps, named, strap_ports
from ..decoders.branching import BranchingDecoder
from ..faults import Cause
from ..link import LinkSignature, flit_layout
from ..logic import bits_for
from ..port import PortSpec
from .chunk_buffer import ChunkBuffer, row_bits
from .cut_through import CutThroughWindow
from .input_decode import DeepInputDecode
from .worm import DeepState, DeepWorm

__all__ = ["DeepInput"]


class DeepInput(wiring.Component):
    """Input port of a switch with deep buffers ([Sivaram98], section 5.1.2).

    ::

        link ─▶ register ─▶ decode ─┬─▶ ChunkBuffer ───────────────────▶ fetched rows ─▶ RowReaders
                             │      └─▶ CutThroughWindow ─▶ the flit that passes ───────────────▶ RowReaders
                             │ known
                             ▼
                        worms behind ─▶ wants ─▶ allocator ─▶ granted

    Worms are served in the order of their arrival. The next worm requests its outputs when all branches of the worm in
    front have read its last flit. A worm that arrives at an idle input requests its outputs as its first flit passes
    the `CutThroughWindow`. Outputs that are granted in the cycle in which a worm's first flit passes take its flits in
    cut-through. Outputs that are granted after the worm's first flit has passed fetch the worm row by row.

    *Latency*, from link to link, in cut-through: 3 cycles, plus the number of header flits that determine the worm's
    branches, minus one. *Throughput*: in, a flit per cycle; out, a flit per cycle and branch. *Reset*: empty.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    spec : PortSpec
        One virtual channel; its buffer's depth is a multiple of its chunk.
    outputs : int
        Number of outputs of the switch.
    decoder : BranchingDecoder

    Members
    -------
    link : In(LinkSignature)
        A credit is a chunk.
    strap_{name} : In
        The decoder's straps.
    table : In(Decoder.table_layout)
        Writes to the decoder's tables, if it has any.
    wants_{output} : Out(1)
        The worm in front requests the output.
    free : In(outputs)
        Outputs that can be granted in this cycle. ``free`` and ``chosen`` exist only if the decoder is `adaptive`.
    chosen : Out(outputs)
        The alternative that the worm in front requests in this cycle, one-hot.
    granted : In(outputs)
        The outputs that are granted to the worm in front in this cycle.
    still_read : In(1)
        From the readers: some reader still reads the worm in front after this cycle.
    follows : In(range(outputs + 1))
        Number of the switch's readers that take the passing flit in this cycle, or strip it, and so need not fetch it.
    starts : Out(1)
        The first flit of the worm in front passes: outputs that are granted in this cycle take it.
    start_row : Out
        First row of the worm in front.
    skips : Out(1)
        The copies of the worm in front to other switches lose the header flits that the decoder `strips`.
    passes : Out(1)
        A flit passes the cut-through window: outputs can take it in this cycle.
    closes : Out(1)
        The passing flit is the last one of its row.
    passing : Out
        The passing flit.
    fetch, fetch_row, row, row_ends, closed_row : In, In, Out, Out, Out
        As in `ChunkBuffer`.
    busy : Out(1)
        The input closes a row in this cycle, so its rows cannot be fetched in this cycle.
    cause, cause_vc : Out(Cause), Out(1)
        Error of the flit that was on the link two cycles before.
    state_{v} : Out(DeepState)
        State of the worm in front; there is one virtual channel.
    """

    def __init__(self, port: int, spec: PortSpec, *, outputs: int, decoder: BranchingDecoder):
        self.port = port
        self.spec = spec
        self.outputs = outputs
        self.decoder = decoder
        self.width = decoder.header.flit_width
        self.leads = decoder.leads(port)
        self.rows = spec.depth // spec.chunk
        #: Outputs that may be alternatives for a worm of this input.
        self.choices = decoder.choices(port)
        flit = flit_layout(self.width)
        row = row_bits(self.rows)
        super().__init__({
            "link": In(LinkSignature(vcs=1, width=self.width)),
            **strap_ports(decoder),
            "wants": Out(named({decoder.outputs[o]: 1 for o in self.leads})),
            **({"free": In(outputs), "chosen": Out(outputs)} if decoder.adaptive else {}),
            "granted": In(outputs),
            "still_read": In(1),
            "follows": In(range(outputs + 1)),
            "starts": Out(1),
            "start_row": Out(row),
            "skips": Out(1),
            "passes": Out(1),
            "closes": Out(1),
            "passing": Out(flit),
            "fetch": In(1),
            "fetch_row": In(row),
            "row": Out(spec.chunk * flit.size),
            "row_ends": Out(1),
            "closed_row": Out(row),
            "busy": Out(1),
            "cause": Out(Cause),
            "cause_vc": Out(1),
            "state": Out(DeepState).array(1),
        })
        self.wants_of = dict(zip(self.leads, by_name(self.wants).values(), strict=True))  #: Members ``wants_{output}``.

    def elaborate(self, platform):
        m = Module()
        flit = flit_layout(self.width)
        m.submodules.intake = intake = DeepInputDecode(self.port, decoder=self.decoder)
        m.submodules.store = store = ChunkBuffer(rows=self.rows, chunk=self.spec.chunk, width=flit.size,
                                                readers=len(self.leads))
        m.submodules.window = window = CutThroughWindow(flits=self.decoder.flits, width=flit.size + 1,
                                          info_bits=bits_for(self.outputs + 1))
        arrived = Signal(flit)
        arrives = Signal()
        m.d.sync += [
            arrives.eq(self.link.valid),
            arrived.eq(self.link.flit),
            self.link.credit.eq(store.freed),
            self.cause.eq(intake.cause),
        ]
        connect_straps(m, self, intake)
        m.d.comb += [
            intake.valid.eq(arrives),
            intake.flit.eq(arrived),
            intake.full.eq(store.full),
            store.write.eq(intake.write),
            store.void.eq(intake.void),
            store.data.eq(intake.row),
            store.ends.eq(arrived.tail),
            store.cut.eq(intake.closes),
            window.write.eq(intake.write),
            window.data.eq(Cat(intake.row, store.closes)),
            window.first.eq(intake.first),
            window.known.eq(intake.known),
            self.passes.eq(window.valid),
            self.passing.eq(window.flit[:flit.size]),
            self.closes.eq(window.flit[flit.size]),
            store.fetch.eq(self.fetch),
            store.fetch_row.eq(self.fetch_row),
            self.row.eq(store.row),
            self.row_ends.eq(store.row_ends),
            self.closed_row.eq(store.closed_row),
            self.busy.eq(store.close),
        ]
        requested = self._spread(m, intake.branches)
        self._close(m, store, window, requested, intake.alternatives if self.decoder.adaptive else None)
        self._serve(m, intake, store, requested)
        return m

    def _spread(self, m, branches):
        """Return the branches as a mask of the switch's outputs."""
        requested = Signal(self.outputs, name="requested")
        m.d.comb += [requested[o].eq(branch) for o, branch in zip(self.leads, branches, strict=True)]
        return requested

    def _count(self, requested, alternatives):
        """Return the number of branches; alternatives are one branch."""
        if not self.decoder.adaptive:
            return sum(requested, start=requested[0] & 0)
        onward = Cat(requested[o] for o in self.choices)
        here = [requested[o] for o in self.leads if o not in self.choices]
        return Mux(alternatives, onward.any(), sum(onward)) + sum(here)

    def _close(self, m, store, window, requested, alternatives):
        """Close a row when its last flit has passed; count the readers that did not take this flit in passing, and have
        to fetch the row."""
        m.d.comb += window.worm_info_in.eq(self._count(requested, alternatives))
        m.d.sync += [
            store.close.eq(self.passes & self.closes),
            store.needed.eq(window.worm_info - self.follows),
        ]

    def _serve(self, m, intake, store, requested):
        """Serve the input's worms one after the other."""
        leads = {self.decoder.outputs[o]: o for o in self.leads}
        m.submodules.channel_0 = worm = DeepWorm(outputs=self.outputs, leads=leads, rows=self.rows,
                                                 choices=self.choices)
        if self.choices:
            m.d.comb += [
                worm.alternatives.eq(intake.alternatives),
                worm.free.eq(self.free),
                self.chosen.eq(worm.chosen),
            ]
        begins = Signal(row_bits(self.rows))  # first row of the arriving worm
        with m.If(intake.first):
            m.d.sync += begins.eq(store.write_row)
        m.d.comb += [
            worm.known.eq(intake.known & requested.any()),
            worm.requested_outputs.eq(requested),
            worm.start.eq(Mux(intake.first, store.write_row, begins)),
            worm.drops.eq(intake.drops),
            worm.granted.eq(self.granted),
            worm.still_read.eq(self.still_read),
            self.starts.eq(worm.starts),
            self.start_row.eq(worm.start_row),
            self.skips.eq(worm.skips),
            self.state[0].eq(worm.state),
        ]
        wiring.connect(m, worm.wants, wiring.flipped(self.wants))
