"""Write side of a tree input: frames flits into worms, decodes headers, and detects errors."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bundles import strap_ports, straps_of
from ..decoders.branching import TreeDecoder
from ..faults import Cause
from ..input_decode import FrameState, row_layout
from ..link import flit_layout
from ..logic import bit_at, bits_for

__all__ = ["TreeInputDecode"]


class TreeInputDecode(wiring.Component):
    """First stage of a tree input: turns each arriving flit into a buffer row, and determines the branches of its worm.

    The stage also detects errors of flits.

    ::

        link ─▶ header flit, payload or tail? ─┬─▶ row: data, mark, code of the header flit ─▶ buffer
                                               └─▶ branches: outputs to the worm's destinations ─▶ worm

    When the last flit of its header arrives, a worm becomes *known*: its branches and its report bit are determined.
    For a worm that requests nothing, ``known`` is also set, and the worm is dropped later.

    *Latency*: none; all outputs follow the link in the same cycle. *Throughput*: a flit per cycle. *Reset*: no worm is
    under way on any virtual channel.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    vcs : int
        Virtual channels of the link.
    decoder : TreeDecoder

    Members
    -------
    valid, vc, flit : In
        The link.
    strap_{name} : In
        The decoder's straps.
    full : In(vcs)
        Virtual channels whose buffer is full.
    row : Out(row_layout)
        The arriving flit, as a row of the buffer. If the virtual channel is full, the buffer drops the row. The decoder
        determines the code of a header flit.
    known : Out(1)
        This flit determines the worm's branches.
    branches : Out(branches)
        With ``known``: the worm's outputs, a bit for each of the decoder's `leads`. A worm without an output has lost
        its header or bits of it.
    reports : Out(1)
        With ``known``: the worm's report bit. ``reports`` is also set for a worm without an output, because its lost
        report bit may have been set.
    cause : Out(Cause)
        Error of the flit.
    """

    def __init__(self, port: int, *, vcs: int, decoder: TreeDecoder):
        self.port = port
        self.vcs = vcs
        self.decoder = decoder
        self.leads = decoder.leads(port)
        self.width = decoder.header.flit_width
        self.row_layout = row_layout(self.width, max(2, bits_for(decoder.codes)))
        super().__init__({
            "valid": In(1),
            "vc": In(range(vcs)),
            "flit": In(flit_layout(self.width)),
            **strap_ports(decoder),
            "full": In(vcs),
            "row": Out(self.row_layout),
            "known": Out(1),
            "branches": Out(len(self.leads)),
            "reports": Out(1),
            "cause": Out(Cause),
        })

    def elaborate(self, platform):
        m = Module()
        vc, flits = self.vc, self.decoder.flits
        frames = Array(Signal(FrameState, name=f"vc{v}_frame").as_value() for v in range(self.vcs))
        accepted = Signal()
        head = Signal()
        frame = Signal(FrameState)
        begins = Signal()
        stray = Signal()
        too_long = Signal()
        cut = Signal()
        last = Signal()
        place = Signal(bits_for(flits), name="header_flit")
        seen = Signal(self.decoder.seen_bits(self.port))
        straps = straps_of(self)
        m.d.comb += [
            accepted.eq(self.valid & ~bit_at(self.full, vc)),
            head.eq(self.flit.head & ~self.flit.tail),
            frame.eq(frames[vc]),
            begins.eq(head & ((frame == FrameState.FIRST) | (frame == FrameState.PAYLOAD))),
            stray.eq(~head & (frame == FrameState.FIRST)),
            cut.eq(~head & (frame == FrameState.LIST)),
            too_long.eq(head & (frame == FrameState.START)),
            last.eq(self.decoder.known(self.port, straps, seen, place)),
        ]
        report = self._header(m, accepted & head, begins, place, seen)
        asked = self.decoder.branches(m, self.port, straps, seen, accepted & head & ~too_long & last)
        m.d.comb += [
            self.known.eq(accepted & ((head & ~too_long & last) | stray | cut)),
            self.branches.eq(Mux(stray, 0, asked)),
            self.reports.eq(report | ~self.branches.any()),
        ]
        with m.If(accepted):
            with m.If(head & ~too_long):
                m.d.sync += frames[vc].eq(Mux(last, FrameState.START, FrameState.LIST))
            with m.Else():
                m.d.sync += frames[vc].eq(Mux(self.flit.tail | too_long, FrameState.FIRST, FrameState.PAYLOAD))
        self._judge(m, accepted, {
            Cause.NO_HEADER: stray,
            Cause.LIST_CUT: cut,
            Cause.LIST_TOO_LONG: too_long,
            Cause.NO_TAIL: head & (frame == FrameState.PAYLOAD),
            Cause.NO_SUCH_DESTINATION: head & last & ~asked.any(),
        })

        is_header, over = head & ~too_long, self.flit.tail | too_long
        mark = Cat(over, too_long | (self.flit.head & self.flit.tail))
        m.d.comb += [
            self.row.data.eq(self.flit.data),
            self.row.head.eq(is_header),
            self.row.code.eq(Mux(is_header, self.decoder.code(seen, place), mark)),
        ]
        return m

    def _header(self, m, comes, begins, place, seen):
        """Return the report bit of the worm under way.

        ``comes``: a header flit is accepted. ``place`` is driven with the header flit's number in the header, ``seen``
        with the information that the decoder has collected from the header flits up to now.
        """
        flits, vc, straps = self.decoder.flits, self.vc, straps_of(self)
        in_flit, reports = seen if flits == 1 else Signal.like(seen, name="seen_in_flit"), Signal(name="flit_reports")
        m.d.comb += [
            in_flit.eq(self.decoder.seen(m, self.port, straps, self.flit.data, place)),
            reports.eq(self.decoder.reports(self.flit.data)),
        ]
        if flits == 1:
            return reports
        places = Array(Signal(range(flits), name=f"vc{v}_header_flit") for v in range(self.vcs))
        kept = Array(Signal.like(seen, name=f"vc{v}_seen") for v in range(self.vcs))
        kept_report = Array(Signal(name=f"vc{v}_reports") for v in range(self.vcs))
        report = Signal(name="report")
        m.d.comb += [
            place.eq(Mux(begins, 0, places[vc])),
            seen.eq(Mux(begins, 0, kept[vc]) | Mux(comes, in_flit, 0)),
            report.eq(Mux(begins, reports, kept_report[vc])),
        ]
        with m.If(comes):
            m.d.sync += [places[vc].eq(place + 1), kept[vc].eq(seen), kept_report[vc].eq(report)]
        return report

    def _judge(self, m, accepted, causes):
        """Drive ``cause`` with the first error in ``causes`` that has occurred; an overflow precedes them."""
        with m.If(self.valid & ~accepted):
            m.d.comb += self.cause.eq(Cause.OVERFLOW)
        with m.Elif(self.valid):
            for cause, found in reversed(causes.items()):
                with m.If(found):
                    m.d.comb += self.cause.eq(cause)
