# amaranth: UnusedElaboratable=no
"""Table of destination sets: the host writes the headers of each set's worms, and messages name the set."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..interface.smart.children import ChildTable
from ..logic import bit_at, bits_for
from .beats import header_flit, set_beat

__all__ = ["SetTable"]


class SetTable(wiring.Component):
    """Headers of the worms of destination sets, in a `ChildTable` whose rows are the sets.

    The host computes the headers, by any scheme, and writes them set by set. A set has worms from the cycle after its
    last beat on. Before its last beat is written, a set has no worms. A set must not be written while a message to it
    is sent.

    *Latency*: the first header flit is valid in the cycle after the set was accepted. *Throughput*: a beat written per
    cycle, and a header flit read per cycle. *Reset*: no set has worms.

    Parameters
    ----------
    sets : int
        Number of destination sets, a power of two. Range: 1 to 64.
    flits : int
        Largest number of header flits of a set, for all its worms together. Range: 1 to 1024.
    width : int
        Data bits of a flit, 8 or more.

    Members
    -------
    table : In(stream of set_beat)
        From the host; ``ready`` is always 1.
    sets : In(stream of unsigned)
        Number of the set of the next message.
    headers : Out(stream of header_flit)
        The headers of the set, worm by worm.
    table_error : Out(1)
        The host begins to write a set that does not exist, or writes more header flits than a set has room for. A set
        with too many header flits has no worms.
    """

    def __init__(self, *, sets: int, flits: int, width: int):
        self.rows = ChildTable(rows=sets, flits=flits, width=width, counts=False)
        super().__init__({
            "table": In(stream.Signature(set_beat(width))),
            "sets": In(stream.Signature(bits_for(sets))),
            "headers": Out(stream.Signature(header_flit(width))),
            "table_error": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = self.rows
        beat, header = self.table.payload, self.headers.payload
        row = Signal.like(rows.row)
        at = Signal.like(rows.at)
        next_at = Signal.like(rows.at)
        has_worms = Signal()
        m.d.comb += [
            self.table.ready.eq(1),
            rows.link.valid.eq(self.table.valid),
            rows.link.flit.data.eq(beat.data),
            rows.link.flit.tail.eq(beat.ends | beat.last),
            rows.link.flit.head.eq(beat.last),
            self.table_error.eq(rows.outside | rows.too_long),
            self.sets.ready.eq(~self.headers.valid),
            # the word is valid in the cycle after its request
            rows.row.eq(Mux(self.sets.ready, self.sets.payload, row)),
            rows.at.eq(next_at),
            header.data.eq(rows.word.data),
            header.ends.eq(rows.word.ends),
            header.last.eq(rows.word.last),
            header.none.eq(~has_worms),
        ]
        m.d.sync += at.eq(next_at)
        with m.If(self.sets.ready):
            m.d.sync += [
                row.eq(self.sets.payload),
                has_worms.eq(bit_at(rows.children, self.sets.payload)),
                self.headers.valid.eq(self.sets.valid),
            ]
        with m.Elif(self.headers.ready):
            m.d.comb += next_at.eq(at + 1)
            m.d.sync += self.headers.valid.eq(has_worms & ~header.last)
        with m.Else():
            m.d.comb += next_at.eq(at)
        return m
