"""What has just arrived at a deep input, for those who can take it in passing."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from ..logic import bits_for

__all__ = ["Window"]


class Window(wiring.Component):
    """A queue that delays flits until their worm's branches are known, and then lets one pass a cycle.

    ::

        write ─▶ flits of the header, waiting ─▶ flit: taken in this cycle, or not at all
        known ───────────────────────▲

    A worm's first flit passes in the cycle after the worm is known, and the others follow without a gap, or as they
    arrive.

    *Latency*: one cycle where a header has one flit, else as many as the header took to come. *Throughput*: a flit a
    cycle. *Reset*: empty.

    Parameters
    ----------
    flits : int
        Flits of a header, 1 or more: with the last of them a worm is known.
    width : int
        Bits of a flit.

    Members
    -------
    write, data, first : In
        A flit comes; it is a worm's first.
    known : In(1)
        The worm that arrives is known with this flit; of each worm once, with the last flit of its header or earlier.
    valid, flit, begins : Out
        A flit passes; it is a worm's first.
    """

    def __init__(self, *, flits: int, width: int):
        self.flits = flits
        self.width = width
        super().__init__({
            "write": In(1),
            "data": In(width),
            "first": In(1),
            "known": In(1),
            "valid": Out(1),
            "flit": Out(width),
            "begins": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        if self.flits == 1:
            m.d.sync += [self.valid.eq(self.write), self.flit.eq(self.data), self.begins.eq(self.first)]
            return m
        # the worm in front may have as many flits waiting as its header has, while the next one begins
        bits = bits_for(self.flits + 1)
        store: memory.Memory = memory.Memory(shape=self.width + 1, depth=1 << bits, init=[],
                                             attrs={"ram_style": "distributed"})
        m.submodules.memory = store
        write, read = store.write_port(), store.read_port(domain="comb")
        put, get = Signal(bits + 1, name="put"), Signal(bits + 1, name="get")
        waiting = Signal(range(self.flits + 2))  # worms that are known, and whose first flit is here
        some = Signal()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(put[:bits]),
            write.data[0].eq(self.first),
            write.data[1:].eq(self.data),
            read.addr.eq(get[:bits]),
            some.eq(put != get),
            self.begins.eq(some & read.data[0] & (waiting != 0)),
            self.valid.eq(some & (~read.data[0] | (waiting != 0))),
            self.flit.eq(read.data[1:]),
        ]
        m.d.sync += [
            waiting.eq(waiting + self.known - self.begins),
            put.eq(Mux(self.write, put + 1, put)),
            get.eq(Mux(self.valid, get + 1, get)),
        ]
        return m
