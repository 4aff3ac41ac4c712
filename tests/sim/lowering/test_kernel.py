"""The kernel as its users see it: words, registers by name, blocks, and calls from compiled code."""

import pickle
import re

import numpy as np
import pytest
from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.compiled import compiled
from wormcast.sim.lowering import LoweringError, call_step
from wormcast.sim.lowering.lower import lower

from .agreement import component, lower_ports, word_values

LINK = wiring.Signature({"valid": Out(1), "flit": Out(data.StructLayout({"data": 32, "head": 1, "tail": 1}))})


class Unit(wiring.Component):
    """One of two channels: counts, and stores what comes."""

    def __init__(self):
        super().__init__({"link": In(LINK), "count": Out(5, init=3)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = store = memory.Memory(shape=34, depth=4, init=[7, 8])
        write, read = store.write_port(), store.read_port()
        wide = Signal(100, init=1 << 99)
        offset = Signal(signed(4), init=-2)
        m.d.comb += [write.addr.eq(self.count), write.data.eq(self.link.flit), write.en.eq(self.link.valid)]
        with m.If(self.link.valid):
            m.d.sync += [self.count.eq(self.count + 1), wide.eq(Cat(self.link.flit.data, wide))]
            m.d.sync += offset.eq(offset - 1)
        m.d.comb += read.addr.eq(offset)
        return m


class Pair(wiring.Component):
    def __init__(self):
        super().__init__({"port": In(LINK).array(2), "sum": Out(6), "seen": Out(70), "last": Out(LINK)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit_0 = first = Unit()
        m.submodules.unit_1 = second = Unit()
        wiring.connect(m, wiring.flipped(self.port[0]), first.link)
        wiring.connect(m, wiring.flipped(self.port[1]), second.link)
        m.d.comb += self.sum.eq(first.count + second.count)
        m.d.sync += self.seen.eq(Cat(self.port[0].flit, self.port[1].flit))
        m.d.sync += [self.last.valid.eq(self.port[1].valid), self.last.flit.eq(self.port[1].flit)]
        return m


WORDS = {
    "inputs": {
        "data_0": ["port_0.flit.data"],
        "flags_0": ["port_0.flit.tail", "port_0.valid", "port_0.flit.head"],
        "port_1": ["port_1.valid", "port_1.flit"],
    },
    "outputs": {"sum": ["sum"], "seen": ["seen"], "last": ["last.valid", "last.flit"]},
}


@pytest.fixture(scope="module")
def kernel():
    return lower(Pair(), **WORDS, name="pair")


def test_words(kernel):
    described = {name: (word.bits, word.dtype.name, word.parts) for name, word in kernel.inputs.items()}
    assert described == {"data_0": (32, "uint32", 1), "flags_0": (3, "uint8", 1), "port_1": (35, "uint64", 1)}
    assert kernel.outputs["seen"].bits == 70
    assert kernel.outputs["seen"].parts == 2
    assert kernel.inputs["port_1"].ports == {"port_1.valid": (0, 1), "port_1.flit": (1, 34)}


@pytest.mark.parametrize("n", [1, 64, 65, 200])
def test_block(kernel, n):
    block = kernel.allocate(n)
    assert block.n_padded == -(-n // 64) * 64
    for array in (block.state, block.inputs, block.outputs):
        assert array.ctypes.data % 64 == 0
    for name in kernel.inputs:
        view = block.input(name)
        assert view.shape[-1] == block.n_padded
        assert view.ctypes.data == block.inputs.ctypes.data + kernel.inputs[name].offset(block.n_padded)
    assert block.output("seen").shape == (2, block.n_padded)
    assert set(block.output("sum")) == {6}


def test_registers_have_the_names_of_the_modules(kernel):
    assert {"unit_0.count", "unit_1.count", "unit_0.wide", "unit_1.offset", "unit_0.memory"} <= set(kernel.state)
    assert {"seen", "last__valid", "last__flit", "unit_0.memory.read_0"} <= set(kernel.state)


def test_registers_after_reset(kernel):
    block = kernel.allocate(70)
    assert kernel.read(block, "unit_1.count").tolist() == [3] * 70
    assert kernel.read(block, "unit_0.wide").tolist() == [1 << 99] * 70
    assert kernel.read(block, "unit_0.offset").tolist() == [14] * 70
    assert kernel.read(block, "unit_0.memory").tolist() == [[7, 8, 0, 0]] * 70


def test_step_and_read(kernel):
    block = kernel.allocate(70)
    numbers = np.arange(block.n_padded, dtype=np.uint32) * 1000003
    block.input("data_0")[:] = numbers
    block.input("flags_0")[:] = 0b110
    block.input("port_1")[:] = [lane % 2 | int(number) << 1 for lane, number in enumerate(numbers)]
    kernel.step(block)
    assert kernel.read(block, "unit_0.count").tolist() == [4] * 70
    assert kernel.read(block, "unit_1.count").tolist() == [3 + lane % 2 for lane in range(70)]
    assert block.output("sum")[:70].tolist() == [7 + lane % 2 for lane in range(70)]
    flits = [int(number) | 1 << 32 for number in numbers[:70]]
    assert kernel.read(block, "unit_0.memory")[:, 3].tolist() == flits
    assert kernel.read(block, "unit_0.memory")[:, :3].tolist() == [[7, 8, 0]] * 70
    seen = [flit | int(number) << 34 for flit, number in zip(flits, numbers, strict=False)]
    assert word_values(block.output("seen"), 70) == seen
    assert kernel.read(block, "seen").tolist() == seen
    assert kernel.read(block, "unit_0.wide")[1] == (1 << 99 << 32 | int(numbers[1])) & (1 << 100) - 1


@pytest.mark.parametrize("name", ["unit_0.count", "unit_1.wide", "unit_0.memory", "unit_1.offset", "seen"])
def test_write_then_read(kernel, name):
    block = kernel.allocate(67)
    field = kernel.state[name]
    before = {other: kernel.read(block, other).tolist() for other in kernel.state if other != name}
    rng = np.random.default_rng(1)
    shape = kernel.read(block, name).shape
    values = np.array([int.from_bytes(rng.bytes(16)) % (1 << field.width) for _ in range(np.prod(shape))], object)
    kernel.write(block, name, values.reshape(shape))
    assert kernel.read(block, name).tolist() == values.reshape(shape).tolist()
    assert before == {other: kernel.read(block, other).tolist() for other in before}


def test_settle(kernel):
    block = kernel.allocate(3)
    kernel.write(block, "unit_0.count", [5, 6, 31])
    assert block.output("sum")[:3].tolist() == [6, 6, 6]
    kernel.settle(block)
    assert block.output("sum")[:3].tolist() == [8, 9, 34]


def test_checkpoint(kernel):
    block = kernel.allocate(3)
    block.input("flags_0")[:] = 2
    kernel.step(block, 3)
    copy = block.copy()
    kernel.step(block, 4)
    assert kernel.read(copy, "unit_0.count").tolist() == [6, 6, 6]
    kernel.step(copy, 4)
    assert (copy.state == block.state).all()
    assert (copy.outputs == block.outputs).all()


def test_bits_above_a_word_are_ignored(kernel):
    clean, dirty = kernel.allocate(1), kernel.allocate(1)
    for block, above in ((clean, 0), (dirty, 0xFF)):
        block.input("flags_0")[:] = 0b010 | above & ~0b111
        block.input("port_1")[:] = 5 | (above << 35)
        kernel.step(block, 2)
    assert (clean.state == dirty.state).all()
    assert (clean.outputs == dirty.outputs).all()


@compiled
def run(address, state, inputs, outputs, n, cycles):
    for _ in range(cycles):
        call_step(address, state, inputs, outputs, n)


def test_call_from_compiled_code(kernel):
    block, other = kernel.allocate(67), kernel.allocate(67)
    for each in (block, other):
        each.input("flags_0")[:] = 2
    pointers = (array.ctypes.data for array in (block.state, block.inputs, block.outputs))
    run(kernel.address, *pointers, block.n_padded, 9)
    kernel.step(other, 9)
    assert (block.state == other.state).all()
    assert (block.outputs == other.outputs).all()
    assert kernel.read(block, "unit_0.count").tolist() == [12] * 67


def test_pickle(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    block = again.allocate(2)
    again.step(block)
    assert again.read(block, "unit_0.count").tolist() == [3, 3]


def test_numbers(kernel):
    assert kernel.operations > 20
    assert kernel.state_bytes * kernel.vector_width == kernel.tile_bytes
    assert kernel.vector_width in (16, 32, 64)
    assert 0 < kernel.compile_seconds < 60


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda k, b: k.read(b, "unit_2.count"), "'unit_2.count' is not a register of pair. Allowed: "),
        (lambda k, b: k.input("x"), "'x' is not an input word of pair. Allowed: data_0, flags_0, port_1"),
        (lambda k, b: b.output("x"), "'x' is not an output word of pair. Allowed: sum, seen, last"),
        (lambda k, b: k.allocate(0), "n: 0 is not valid. Allowed: 1 or more."),
        (lambda k, b: k.write(b, "unit_0.count", 32), "write: 32 is not valid for unit_0.count. Allowed: 0 to 31 (5"),
        (lambda k, b: k.write(b, "unit_0.count", -1), "write: -1 is not valid for unit_0.count. Allowed: 0 to 31"),
    ],
)
def test_refused(kernel, act, sentence):
    with pytest.raises(LoweringError, match=re.escape(sentence)):
        act(kernel, kernel.allocate(2))


def test_block_of_another_kernel(kernel):
    def build(m, self):
        m.d.sync += self.o.eq(self.a)

    other = lower_ports(component({"a": In(1), "o": Out(1)}, build)(), name="other")
    with pytest.raises(LoweringError, match=r"block: pair is not valid\. Allowed: blocks of this other\."):
        other.step(kernel.allocate(1))


@pytest.mark.parametrize("name", ["unit_0.wide", "unit_0.memory", "unit_1.offset", "seen"])
def test_parts_are_the_value_in_numbers_of_64_bits(kernel, name):
    block = kernel.allocate(5)
    kernel.write(block, name, (1 << kernel.state[name].width) - 3)
    parts = kernel.read_parts(block, name)
    assert parts.dtype == np.uint64
    assert len(parts) == -(-kernel.state[name].width // 64)
    values = kernel.read(block, name)
    assert sum(part.astype(object) << 64 * k for k, part in enumerate(parts)).tolist() == values.tolist()
    kernel.write(block, name, 0)
    kernel.write_parts(block, name, parts)
    assert kernel.read(block, name).tolist() == values.tolist()
