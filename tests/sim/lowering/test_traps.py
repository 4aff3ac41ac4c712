"""One small component for each thing that is easily lowered wrong, against Amaranth's simulator."""

import numpy as np
import pytest
from amaranth.hdl import (
    Array,
    Cat,
    Const,
    DomainRenamer,
    EnableInserter,
    Module,
    Mux,
    ResetInserter,
    ResetSignal,
    Signal,
    signed,
    unsigned,
)
from amaranth.lib import data, enum, memory
from amaranth.lib.wiring import In, Out

from .agreement import agree, component, lower_ports


class Colour(enum.Enum, shape=unsigned(3)):
    RED = 0
    GREEN = 5


def inits(m, self):
    count = Signal(7, init=93)
    m.d.sync += [count.eq(count + self.a), self.o.eq(count)]


def comb_init(m, self):
    wire = Signal(8, init=0xA5)
    with m.If(self.a[0]):
        m.d.comb += wire[2:5].eq(self.a)
    m.d.sync += self.o.eq(wire)


def undriven(m, self):
    never = Signal(8, init=77)
    m.d.sync += self.o.eq(never ^ self.a)


def inserters(m, self):
    inner = Module()
    kept, lost = Signal(8, init=9, reset_less=True), Signal(8, init=200)
    inner.d.sync += [kept.eq(kept + self.a), lost.eq(lost - self.a), self.o.eq(Cat(lost[:4], kept[:4]))]
    m.submodules.inner = EnableInserter(self.a[7])(ResetInserter(self.a[0] & self.a[3])(inner))


def enabled_memory(m, self):
    inner = Module()
    inner.submodules.store = store = memory.Memory(shape=8, depth=4, init=[1, 2, 3, 4])
    write, read = store.write_port(), store.read_port()
    inner.d.comb += [write.addr.eq(self.a), write.data.eq(self.a), write.en.eq(1), read.addr.eq(self.a[1:])]
    inner.d.comb += self.o.eq(read.data)
    m.submodules.inner = EnableInserter(self.a[7])(inner)


def renamed_domain(m, self):
    inner = Module()
    inner.d.fast += self.o.eq(self.o + self.a)
    m.submodules.inner = DomainRenamer({"fast": "sync"})(inner)


def part_past_the_end(m, self):
    value = Signal(11)
    m.d.comb += value.eq(Cat(self.a, self.a[:3]))
    m.d.sync += self.o.eq(Cat(value.bit_select(self.a[:4], 3), value.word_select(self.a[4:7], 5)))


def signed_part_past_the_end(m, self):
    value = Signal(signed(11))
    m.d.comb += value.eq(self.a.as_signed() * 3)
    m.d.sync += self.o.eq(value.bit_select(self.a[:5], 8))


def long_part(m, self):
    value = Signal(200)
    m.d.sync += [value.eq(Cat(self.a, value)), self.o.eq(value.bit_select(self.a, 8))]


def part_with_odd_stride(m, self):
    value = Signal(60)
    m.d.sync += [value.eq(Cat(self.a, value)), self.o.eq(value.word_select(self.a[:6], 3))]


def assigned_part(m, self):
    m.d.sync += self.o.bit_select(self.a[:4], 3).eq(self.a[4:])
    m.d.sync += self.o.word_select(self.a[4:6], 3).eq(self.a[2:])


def assigned_array(m, self):
    registers = Array(Signal(3 + index, name=f"r{index}", init=index) for index in range(3))
    m.d.sync += [registers[self.a[:2]].eq(self.a), self.o.eq(Cat(registers[self.a[2:4]], registers[0]))]


def assigned_apart(m, self):
    """Bit by bit, each from the one below: no cycle, though it looks like one."""
    chain = Signal(8)
    m.d.comb += chain[0].eq(self.a[0])
    for bit in range(1, 8):
        m.d.comb += chain[bit].eq(chain[bit - 1] ^ self.a[bit])
    m.d.sync += self.o.eq(chain)


def ripple_through_an_operator(m, self):
    chain = Signal(8)
    m.d.comb += chain.eq(Cat(Const(1, 1), chain[:-1]) & self.a)
    m.d.sync += self.o.eq(chain)


def mixed_signs(m, self):
    a, b = self.a.as_signed(), self.a[:4]
    m.d.sync += self.o.eq(Cat(a < b, a <= b, b > a, a == b, (a - b)[3:5], (a * b)[9], -a > b))


def division(m, self):
    a, b = self.a[:4].as_signed(), self.a[4:].as_signed()
    m.d.sync += self.o.eq(Cat((a // b)[:4], (a % b)[:4]))


def division_by_zero(m, self):
    m.d.sync += self.o.eq(Cat((self.a // (self.a & 1))[:4], (self.a % (self.a & 1))[:4]))


def shifts(m, self):
    m.d.sync += self.o.eq((self.a.as_signed() >> self.a[:4]) ^ (self.a << self.a[5:])[3:])


def zero_width(m, self):
    nothing = Signal(0)
    m.d.comb += nothing.eq(self.a)
    m.d.sync += self.o.eq(Cat(nothing, self.a + nothing, nothing.any(), nothing.all()))


def machine(m, self):
    with m.FSM(init="B"):
        with m.State("A"):
            m.d.sync += self.o.eq(self.o + 1)
            with m.If(self.a[0]):
                m.next = "B"
        with m.State("B"):
            m.d.sync += self.o.eq(self.o ^ self.a)
            with m.If(self.a[1]):
                m.next = "C"
        with m.State("C"):
            m.next = "A"


def views(m, self):
    layout = data.StructLayout({"low": 3, "pair": data.ArrayLayout(signed(2), 2), "flag": 1})
    view = Signal(layout, init={"low": 5, "flag": 1})
    m.d.sync += [view.low.eq(self.a), view.pair[self.a[0]].eq(self.a[3:]), view.flag.eq(view.pair[1] < 0)]
    m.d.comb += self.o.eq(view.as_value())


def enums(m, self):
    colour = Signal(Colour, init=Colour.GREEN)
    with m.If(colour == Colour.GREEN):
        m.d.sync += [colour.eq(Colour.RED), self.o.eq(self.a)]
    with m.Elif(self.a[0]):
        m.d.sync += colour.eq(Colour.GREEN)


def overlapping_cases(m, self):
    with m.Switch(self.a):
        with m.Case("1-------"):
            m.d.sync += self.o.eq(1)
        with m.Case("-1------", "------11"):
            m.d.sync += self.o[4:].eq(2)
        with m.Case():
            m.d.sync += self.o.eq(99)
        with m.Default():
            m.d.sync += self.o.eq(self.o + 3)
    with m.If(self.a[0]), m.If(self.a[1]):
        m.d.sync += self.o[0].eq(1)


def selection(m, self):
    m.d.sync += self.o.eq(Mux(self.a[:3], self.a.rotate_left(3), Mux(self.a == 0, -1, self.a.replicate(2)[3:])))


SMALL = [
    inits, comb_init, undriven, inserters, enabled_memory, renamed_domain, part_past_the_end,
    signed_part_past_the_end, long_part, part_with_odd_stride, assigned_part, assigned_array, assigned_apart,
    ripple_through_an_operator, mixed_signs, division, division_by_zero, shifts, zero_width, machine, views,
    enums, overlapping_cases, selection,
]  # fmt: skip


@pytest.mark.parametrize("build", SMALL, ids=lambda build: build.__name__)
def test_small(build):
    agree(component({"a": In(8), "o": Out(8)}, build), cycles=60, n=5)


@pytest.mark.parametrize("depth", [1, 2, 3, 8, 13, 32, 33, 50, 64])
@pytest.mark.parametrize("kind", ["comb", "sync", "transparent"])
def test_memory(depth, kind):
    """Depths that are no power of two, read and written past the end; partial writes; two writers."""

    def build(m, self):
        m.submodules.store = store = memory.Memory(shape=24, depth=depth, init=range(1, depth + 1))
        first, second = store.write_port(granularity=8), store.write_port()
        read = store.read_port(
            domain="comb" if kind == "comb" else "sync",
            transparent_for=[first, second] if kind == "transparent" else (),
        )
        m.d.comb += [
            first.addr.eq(self.a), first.data.eq(self.data), first.en.eq(self.en),
            second.addr.eq(self.b), second.data.eq(~self.data), second.en.eq(self.en[:2].all()),
            read.addr.eq(self.c),
        ]  # fmt: skip
        if kind == "comb":
            m.d.sync += self.o.eq(read.data)
        else:
            m.d.comb += [read.en.eq(self.en[2]), self.o.eq(read.data)]

    ports = {"a": In(6), "b": In(6), "c": In(6), "data": In(24), "en": In(3), "o": Out(24)}
    agree(component(ports, build), cycles=120, n=3, lanes=[0, 2])


@pytest.mark.parametrize("depth", [5, 40])
def test_output_read_from_a_memory(depth):
    """An output that reads a memory without a register shows what was written at the clock edge."""

    def build(m, self):
        m.submodules.store = store = memory.Memory(shape=70, depth=depth, init=[3, 1, 4])
        write, read = store.write_port(), store.read_port(domain="comb")
        place = Signal(3, init=2)
        m.d.sync += place.eq(self.a)
        m.d.comb += [write.addr.eq(self.a[1:]), write.data.eq(self.a.replicate(9)), write.en.eq(self.a[7])]
        m.d.comb += [read.addr.eq(place), self.o.eq(read.data)]

    agree(component({"a": In(8), "o": Out(70)}, build), cycles=60)


@pytest.mark.parametrize("width", [1, 8, 9, 32, 33, 63, 64, 65, 128, 129, 300])
def test_widths(width):
    """Everything at the widths where a value changes its lane or its number of parts."""

    def build(m, self):
        a, b = self.a, self.b
        m.d.sync += [
            self.sum.eq(a + b), self.difference.eq(a - b), self.less.eq(Cat(a < b, a == b, a.as_signed() < b)),
            self.up.eq(a << b[:5]), self.down.eq(a.as_signed() >> b[:9]), self.parity.eq(Cat(a.xor(), b.all())),
            self.part.eq(a.bit_select(b[:9], 70)),
        ]  # fmt: skip

    wide = {name: Out(width + 1) for name in ("sum", "difference", "up", "down")}
    ports = {"a": In(width), "b": In(width), **wide, "less": Out(3), "parity": Out(2), "part": Out(70)}
    agree(component(ports, build), cycles=20)


def test_reset_is_never_asserted():
    """A component that reads its own reset sees zero."""

    def build(m, self):
        m.d.sync += self.o.eq(Cat(self.a[:7], ResetSignal()))

    agree(component({"a": In(8), "o": Out(8)}, build))


def late(module, port):
    """Registers that copy each other: what they held must be read before it is replaced, however far apart that is."""
    first, second, third, other, late = (Signal(name=name) for name in ("first", "second", "third", "other", "late"))
    product, wide = Signal(64), Signal(64)
    module.d.sync += [first.eq(port.i[0]), second.eq(first), third.eq(~second), other.eq(third)]
    module.d.sync += [product.eq(product * 5 + port.i), wide.eq((product + other + second) * (port.i | 3))]
    module.d.sync += [late.eq(other ^ third ^ wide[63]), port.o.eq(late)]


def test_copies_of_registers_in_bits():
    built = component({"i": In(8), "o": Out(1)}, late)
    words, bits = (lower_ports(built(), vector_width=width) for width in (64, 512))
    mine, other = words.allocate(5), bits.allocate(5)
    draws = np.random.default_rng(1)
    for _ in range(40):
        for kernel, block in ((words, mine), (bits, other)):
            block.input("i")[:5] = draws.integers(0, 256, 5) if block is mine else mine.input("i")[:5]
            kernel.step(block)
        for name in words.state:
            assert np.array_equal(words.read(mine, name), bits.read(other, name)), name
