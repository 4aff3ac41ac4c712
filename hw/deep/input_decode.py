"""Write side of a deep input: frames flits into worms, decodes headers, and detects errors."""

from amaranth.hdl import C, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bundles import strap_ports, straps_of
from ..decoders.branching import BranchingDecoder
from ..faults import Cause
from ..link import flit_layout
from ..logic import bits_for

__all__ = ["DeepInputDecode"]


class DeepInputDecode(wiring.Component):
    """First stage of a deep input: determines the branches of each arriving worm, and detects its errors.

    A worm becomes *known* when the header flit arrives that determines its branches: at the latest, the last header
    flit. A worm that requests nothing, or whose header is cut, is *void*: the rest of it is not stored. If a worm
    begins before the tail of the worm in front has arrived, the first flit of the new worm becomes the tail of the worm
    in front, and the rest of the new worm is lost.

    *Latency*: none; all outputs follow the flit in the same cycle. *Throughput*: a flit per cycle. *Reset*: no worm is
    under way.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    decoder : BranchingDecoder

    Members
    -------
    valid, flit : In
        The flit that arrived by the link.
    full : In(1)
        There is no room for the flit.
    strap_{name} : In
        The decoder's straps.
    table : In(Decoder.table_layout)
        Writes to the decoder's tables, if it has any.
    write : Out(1)
        The flit is stored.
    void : Out(1)
        The flit is counted and not stored.
    row : Out(flit_layout)
        The flit to store.
    first : Out(1)
        The flit is a worm's first one.
    known : Out(1)
        This flit determines the worm's branches.
    branches : Out
        With ``known``: the worm's branches, a bit for each of the decoder's `leads`, all 0 for a void worm.
    alternatives : Out(1)
        With ``known``: the branches to other switches are alternatives. ``alternatives`` exists only if the decoder is
        `adaptive`.
    drops : Out(1)
        With ``known``: the worm's copies to other switches lose the header flits that the decoder `strips`.
    closes : Out(1)
        The worm is cut off with this flit, which is not the last one that its sender sends.
    cause : Out(Cause)
        Error of the flit.
    """

    def __init__(self, port: int, *, decoder: BranchingDecoder):
        self.port = port
        self.decoder = decoder
        self.leads = decoder.leads(port)
        flit = flit_layout(decoder.header.flit_width)
        super().__init__({
            "valid": In(1),
            "flit": In(flit),
            "full": In(1),
            **strap_ports(decoder),
            "write": Out(1),
            "void": Out(1),
            "row": Out(flit),
            "first": Out(1),
            "known": Out(1),
            "branches": Out(len(self.leads)),
            **({"alternatives": Out(1)} if decoder.adaptive else {}),
            "drops": Out(1),
            "closes": Out(1),
            "cause": Out(Cause),
        })

    def elaborate(self, platform):
        m = Module()
        flits = self.decoder.flits
        under_way = Signal()  # a worm's first flit has arrived, its last one has not
        within = Signal()  # the payload of the worm under way has begun
        lost = Signal()  # the rest of the worm under way is not stored
        # header flits that have arrived of a worm whose branches are not known yet; otherwise 0
        place = Signal(bits_for(flits), name="header_flit")
        branches_known = Signal()  # the branches of the worm under way are known
        accepted = Signal()
        head = Signal()
        stray = Signal()
        cut = Signal()
        too_long = Signal()
        no_tail = Signal()
        requested = Signal(len(self.leads))
        m.d.comb += [
            accepted.eq(self.valid & ~self.full),
            head.eq(self.flit.head & ~self.flit.tail),
            self.first.eq(head & ~under_way),
            stray.eq(~head & ~under_way),
            cut.eq(~head & under_way & ~branches_known & ~lost),
            too_long.eq(C(0) if self.decoder.variable_length else head & under_way & ~within & branches_known & ~lost),
            no_tail.eq(head & under_way & within & ~lost),
            self.closes.eq(accepted & (too_long | no_tail)),
        ]
        straps = straps_of(self)
        seen = self.decoder.seen(m, self.port, straps, self.flit.data, place)
        kept = Signal.like(seen, name="kept")
        so_far = Signal.like(seen, name="so_far")
        header = Signal()
        whole = Signal()  # the worm's branches can be decoded
        m.d.comb += [
            header.eq(accepted & head & ~branches_known & ~lost),
            so_far.eq(Mux(self.first, 0, kept) | seen),
            whole.eq(header & self.decoder.known(self.port, straps, so_far, place)),
            requested.eq(self.decoder.branches(m, self.port, straps, so_far, whole)),
            self.known.eq(whole | (accepted & cut)),
            self.branches.eq(Mux(cut, 0, requested)),
            self.drops.eq(self.decoder.drops(self.port, straps, so_far)),
        ]
        if self.decoder.adaptive:
            m.d.comb += self.alternatives.eq(self.decoder.alternatives(self.port, straps, so_far))
        nothing = Signal()
        lacks = Signal()
        m.d.comb += [
            nothing.eq(self.known & ~self.branches.any()),
            lacks.eq(self.known & self.decoder.unreachable(self.port, straps, so_far)),
            self.void.eq(accepted & (lost | stray | nothing)),
            self.write.eq(accepted & ~self.void),
            self.row.data.eq(self.flit.data),
            self.row.head.eq(self.flit.head),
            self.row.tail.eq(self.flit.tail | self.closes),
        ]
        with m.If(header):
            m.d.sync += kept.eq(so_far)
        with m.If(accepted):
            m.d.sync += [
                # if the next worm's header has cut off a worm, the next worm's payload follows
                under_way.eq(~self.flit.tail),
                lost.eq((lost | stray | nothing | self.closes) & ~self.flit.tail),
                within.eq(~head & ~self.flit.tail),
                branches_known.eq((branches_known | self.known) & ~self.flit.tail),
                place.eq(Mux(header & ~self.known, place + 1, 0)),
            ]
        with m.If(self.valid & self.full):
            m.d.comb += self.cause.eq(Cause.OVERFLOW)
        with m.Elif(self.valid):
            for cause, found in ((Cause.NO_SUCH_DESTINATION, (nothing | lacks) & ~cut), (Cause.NO_TAIL, no_tail),
                                 (Cause.LIST_TOO_LONG, too_long), (Cause.LIST_CUT, cut), (Cause.NO_HEADER, stray)):
                with m.If(found):
                    m.d.comb += self.cause.eq(cause)
        return m
