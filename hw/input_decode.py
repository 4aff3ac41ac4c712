"""Write side of an input: frames flits into worms, decodes headers, and detects errors."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from .bundles import strap_ports, straps_of
from .decoders import ArrivingHeader, PathDecoder
from .faults import Cause
from .link import flit_layout
from .logic import bit_at, bits_for
from .mark import Mark

__all__ = ["InputDecode", "ejection_port_bits", "row_layout"]


def row_layout(width: int, code_bits: int) -> data.StructLayout:
    """Return the layout of a buffer row: the flit's data, its head mark, and the decoder's code or a `Mark`."""
    return data.StructLayout({"data": width, "head": 1, "code": code_bits})


def ejection_port_bits(decoder: PathDecoder, port: int) -> int:
    """Return the width of the number of an ejection port among those that worms from an input port can use."""
    return bits_for(len(decoder.ejection_ports(port)))


class FrameState(enum.Enum, shape=2):
    """Part of the arriving worm that a virtual channel has received."""

    FIRST = 0  #: no flit; a first header flit must follow
    LIST = 1  #: header flits that announce further header flits
    START = 2  #: all header flits; payload must follow
    PAYLOAD = 3  #: payload, without the tail


class InputDecode(wiring.Component):
    """First stage of an input: turns each arriving flit into a buffer row, counts its readers, and detects its errors.

    *Latency*: none; all outputs follow the link in the same cycle. *Throughput*: a flit per cycle. *Reset*: no worm is
    under way on any virtual channel.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    vcs, width : int
        Virtual channels of the link, and data bits of its flits.
    decoder : PathDecoder
    outputs : list of int
        The outputs to other switches that a worm of this input can use.
    readers : 1 or 2
        1: one reader for all outputs of a worm; 2: one reader for the links, and one for the consumption channels.

    Members
    -------
    valid, vc, flit : In
        The link.
    strap_{name} : In
        The decoder's straps.
    table : In(Decoder.table_layout)
        Writes to the decoder's table, if it has one.
    full : In(vcs)
        Virtual channels whose buffer is full.
    row : Out(row_layout)
        The flit to store, as a row of the buffer. The buffer drops the flit if its virtual channel is full.
    count : Out
        Number of readers that take the row.
    cause : Out(Cause)
        Error of the flit.
    """

    def __init__(self, port: int, *, vcs: int, width: int, decoder: PathDecoder, outputs: list[int], readers: int = 1):
        self.port = port
        self.vcs = vcs
        self.width = width
        self.decoder = decoder
        self.outputs = outputs
        self.readers = readers
        # code of a row without a head mark: two bits of `Mark`, and with `Mark.FINAL` the number of the ejection port
        self.row_layout = row_layout(width, max(2 + ejection_port_bits(decoder, port), decoder.code_width(port)))
        super().__init__({
            "valid": In(1),
            "vc": In(range(vcs)),
            "flit": In(flit_layout(width)),
            **strap_ports(decoder),
            "full": In(vcs),
            "row": Out(self.row_layout),
            "count": Out(range(readers + 1)),
            "cause": Out(Cause),
        })

    def elaborate(self, platform):
        m = Module()
        vc = self.vc
        frames = Array(Signal(FrameState, name=f"vc{v}_frame").as_value() for v in range(self.vcs))
        stripped = Array(Signal(name=f"vc{v}_stripped") for v in range(self.vcs))
        accepted, head, frame = Signal(), Signal(), Signal(FrameState)
        after_strip, begins, first = Signal(), Signal(), Signal()
        m.d.comb += [
            accepted.eq(self.valid & ~bit_at(self.full, vc)),
            head.eq(self.flit.head & ~self.flit.tail),
            frame.eq(frames[vc]),
            after_strip.eq(stripped[vc] & (frame == FrameState.LIST)),
            begins.eq(head & ((frame == FrameState.FIRST) | (frame == FrameState.PAYLOAD))),
            first.eq(begins | (head & after_strip)),
        ]
        straps = straps_of(self)
        arrival = ArrivingHeader(data=self.flit.data, first=first, after_strip=after_strip, commit=accepted & first)
        decoded = self.decoder.decode(m, self.port, straps, arrival)
        with m.If(accepted):
            with m.If(head):
                m.d.sync += [
                    frames[vc].eq(Mux(decoded.last, FrameState.START, FrameState.LIST)),
                    stripped[vc].eq(decoded.strip),
                ]
            with m.Else():
                ends = self.flit.tail | (frame == FrameState.FIRST)
                m.d.sync += frames[vc].eq(Mux(ends, FrameState.FIRST, FrameState.PAYLOAD))

        # a header flit too many ends the worm in front, as a tail does; a next worm that has no route ends it, too
        closes = Signal()
        no_route = decoded.outside | decoded.wrong_order
        m.d.comb += closes.eq(
            head & ((frame == FrameState.START) | ((frame == FrameState.PAYLOAD) & no_route & ~decoded.ends_here)))
        self._judge(m, accepted, head, frame, decoded)

        is_header, over = head & ~closes, self.flit.tail | closes
        mark = Cat(over, closes | (self.flit.head & self.flit.tail))
        several = ejection_port_bits(self.decoder, self.port) > 0
        final = Cat(C(Mark.FINAL.value, 2), decoded.ejection_port) if several else Mark.FINAL
        code = Mux(is_header, Mux(decoded.ends_here, final, decoded.code), mark)
        m.d.comb += [
            self.row.data.eq(decoded.data),
            self.row.head.eq(is_header & ~decoded.ends_here),
            self.row.code.eq(code),
            self.count.eq(1),
        ]
        if self.readers > 1:
            self._count(m, accepted, decoded, begins & ~closes, first & ~closes, over)
        return m

    def _judge(self, m, accepted, head, frame, decoded):
        """Drive ``cause``."""
        with m.If(self.valid & ~accepted):
            m.d.comb += self.cause.eq(Cause.OVERFLOW)
        with m.Elif(self.valid):
            with m.If(~head & (frame == FrameState.FIRST)):
                m.d.comb += self.cause.eq(Cause.NO_HEADER)
            with m.Elif(~head & (frame == FrameState.LIST)):
                m.d.comb += self.cause.eq(Cause.LIST_CUT)
            with m.Elif(head & (frame == FrameState.START)):
                m.d.comb += self.cause.eq(Cause.LIST_TOO_LONG)
            with m.Elif(head & (frame == FrameState.PAYLOAD)):
                m.d.comb += self.cause.eq(Cause.NO_TAIL)
            with m.Elif(decoded.outside):
                m.d.comb += self.cause.eq(Cause.NO_SUCH_DESTINATION)
            with m.Elif(decoded.wrong_order):
                m.d.comb += self.cause.eq(Cause.WRONG_ORDER)

    def _count(self, m, accepted, decoded, begins, new, over):
        """Count each flit's readers: its worm goes to a link, to a consumption channel, or to both."""
        request = self.decoder.request(self.port, decoded.code)
        onward = Array(Signal(name=f"vc{v}_onward") for v in range(self.vcs))
        here = Array(Signal(name=f"vc{v}_here") for v in range(self.vcs))
        goes_on, stays = Signal(), Signal()
        ejection_ports = self.decoder.ejection_ports(self.port)
        copies = request.all_of[ejection_ports[0]] if len(ejection_ports) == 1 else C(0)
        m.d.comb += [
            goes_on.eq(Mux(new, Cat(request.all_of[o] for o in self.outputs).any(), onward[self.vc])),
            stays.eq((here[self.vc] & ~begins)
                     | (new & (copies | decoded.ends_here))),
            self.count.eq(goes_on + stays),
        ]
        with m.If(accepted):
            m.d.sync += [onward[self.vc].eq(goes_on & ~over), here[self.vc].eq(stays & ~over)]
