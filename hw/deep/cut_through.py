"""Cut-through window: recent flits that an output forwards without reading the buffer."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from ..logic import bits_for

__all__ = ["CutThroughWindow"]


class CutThroughWindow(wiring.Component):
    """Queue that delays flits until their worm's branches are known, and then passes one flit per cycle.

    ::

        write ─▶ header flits wait ─▶ flit: passes for one cycle, in which outputs can take it
        known ───────────▲ the branches are known: the worm's flits pass

    After a worm's first flit its other flits pass without a gap, or as they arrive.

    *Latency*: a worm's first flit passes one cycle after the arrival of the header flit that determines the worm's
    branches. *Throughput*: a flit per cycle. *Reset*: empty.

    Parameters
    ----------
    flits : int
        Flits of a header, 1 or more. At the latest, a worm's branches are known when its last header flit arrives.
    width, info_bits : int
        Bits of a flit, and of the information about a worm.

    Members
    -------
    write : In(1)
        A flit arrives.
    data : In(width)
        The arriving flit.
    first : In(1)
        The arriving flit is its worm's first one.
    known : In(1)
        The arriving flit determines its worm's branches; it is the worm's last header flit or an earlier one.
    worm_info_in : In(info_bits)
        With ``known``: information about the arriving worm.
    valid : Out(1)
        ``flit`` passes in this cycle: outputs can take it from the window in this cycle only.
    flit : Out(width)
        The flit that passes.
    worm_info : Out(info_bits)
        Information about the worm whose flit passes.
    """

    def __init__(self, *, flits: int, width: int, info_bits: int):
        self.flits = flits
        self.width = width
        self.info_bits = info_bits
        super().__init__({
            "write": In(1),
            "data": In(width),
            "first": In(1),
            "known": In(1),
            "worm_info_in": In(info_bits),
            "valid": Out(1),
            "flit": Out(width),
            "worm_info": Out(info_bits),
        })

    def elaborate(self, platform):
        m = Module()
        if self.flits == 1:
            m.d.sync += [self.valid.eq(self.write), self.flit.eq(self.data)]
            with m.If(self.known):
                m.d.sync += self.worm_info.eq(self.worm_info_in)
            return m
        # if a worm was cut in its header, all flits of this header may still wait here when the next worm begins
        bits = bits_for(self.flits + 1)
        store: memory.Memory = memory.Memory(shape=self.width + 1, depth=1 << bits, init=[],
                                             attrs={"ram_style": "distributed"})
        m.submodules.memory = store
        write, read = store.write_port(), store.read_port(domain="comb")
        put, get = Signal(bits + 1, name="put"), Signal(bits + 1, name="get")
        waiting = Signal(range(self.flits + 2))  # worms with known branches whose first flit has not passed
        some = Signal()
        begins = Signal()  # a worm's first flit passes
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(put[:bits]),
            write.data[0].eq(self.first),
            write.data[1:].eq(self.data),
            read.addr.eq(get[:bits]),
            some.eq(put != get),
            begins.eq(some & read.data[0] & (waiting != 0)),
            self.valid.eq(some & (~read.data[0] | (waiting != 0))),
            self.flit.eq(read.data[1:]),
        ]
        m.d.sync += [
            waiting.eq(waiting + self.known - begins),
            put.eq(Mux(self.write, put + 1, put)),
            get.eq(Mux(self.valid, get + 1, get)),
        ]
        self._delay_info(m, bits, begins)
        return m

    def _delay_info(self, m, bits, begins):
        """Store the information about each worm until the worm passes: flits of the worm before it may still wait."""
        store: memory.Memory = memory.Memory(shape=self.info_bits, depth=1 << bits, init=[],
                                             attrs={"ram_style": "distributed"})
        m.submodules.known = store
        write, read = store.write_port(), store.read_port(domain="comb")
        put, get = Signal(bits, name="known_put"), Signal(bits, name="known_get")
        passing = Signal(self.info_bits)
        m.d.comb += [
            write.en.eq(self.known),
            write.addr.eq(put),
            write.data.eq(self.worm_info_in),
            read.addr.eq(get),
            self.worm_info.eq(Mux(begins, read.data, passing)),
        ]
        m.d.sync += [
            put.eq(put + self.known),
            get.eq(get + begins),
            passing.eq(self.worm_info),
        ]
