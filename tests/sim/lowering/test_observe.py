"""An observer shows what Amaranth's simulator shows: the same names, and in every cycle the same values."""

import random
import warnings

import pytest
import waves
from amaranth.hdl import Cat, Module, Signal, unsigned
from amaranth.lib import data, enum, memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from wormcast.sim.lowering import LoweringError, observe_cached
from wormcast.sim.lowering.observe import observe

from .agreement import component, fill, lower_ports, ports, random_value, word_values
from .random_designs import RandomExpressions, RandomMachine

ABOVE = "bench.top.inside."
SETTINGS = {"derandomize": True, "deadline": None, "database": None, "phases": [Phase.generate]}
seeds = st.integers(0, 2**32)


def observed(kernel, observer, stimulus, n):
    """Return each signal's values, {name: (signal, [cycles][instances])}. Names are those of waveforms."""
    block = kernel.allocate(n)
    out = observer.allocate()
    seen = {".".join((*signal.scope, signal.name)): (signal, []) for signal in observer.signals if not signal.clock}
    for cycle in stimulus:
        for name, values in cycle.items():
            fill(block.input(name), kernel.input(name).bits, values)
        before = block.state.copy(), block.outputs.copy()
        shown = {name: [] for name in observer.words}
        for first in range(0, n, kernel.vector_width):
            observer.observe(block, first, out)
            for name in observer.words:
                shown[name] += word_values(observer.word(out, name), kernel.vector_width)
        assert (before[0] == block.state).all()
        assert (before[1] == block.outputs).all()
        for signal, values in seen.values():
            values.append([0] * n if signal.word is None else shown[signal.word][:n])
        kernel.step(block)
    return seen


def simulated(factory, stimulus, path):
    """The waveform of the component inside a larger design that uses all its ports."""
    inside = factory()
    module = Module()
    module.submodules.inside = inside
    every = Cat(value for _, value, _ in ports(inside))
    module.d.comb += Signal(len(every)).eq(every)
    signals = {name: value for name, value, _ in ports(inside)}

    async def bench(ctx):
        for cycle in stimulus:
            for name, value in cycle.items():
                signal = signals[name]
                signed = signal.shape().signed and value >> len(signal) - 1
                ctx.set(signal, value - (1 << len(signal)) if signed else value)
            await ctx.tick()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulator = Simulator(module)
        simulator.add_clock(1e-9)
        simulator.add_testbench(bench)
        with simulator.write_vcd(str(path)):
            simulator.run()
    return {name.removeprefix(ABOVE): wave for name, wave in waves.read(path).items() if name.startswith(ABOVE)}


def as_written(signal, value):
    """Return a value as a waveform writes it."""
    if signal.labels is not None:
        return f"s{signal.labels.get(value, '[unknown]')}"
    return f"{value:b}"


def agree(factory, path, *, cycles=8, n=3, seed=0, vector_width=None):
    """Observe ``n`` instances on random inputs, and compare all that three of them show; return the signals."""
    rng = random.Random(seed)
    lowered = factory()
    inputs = [(name, len(value)) for name, value, is_input in ports(lowered) if is_input and len(value)]
    stimulus = [{name: [random_value(rng, bits) for _ in range(n)] for name, bits in inputs} for _ in range(cycles)]
    kernel = lower_ports(lowered, vector_width=vector_width)
    seen = observed(kernel, observe(factory(), kernel), stimulus, n)
    for lane in sorted({0, n // 2, n - 1}):
        theirs = simulated(factory, [{name: cycle[name][lane] for name in cycle} for cycle in stimulus], path)
        theirs = {name: wave for name, wave in theirs.items() if name.split(".")[-1] != "clk"}
        assert seen.keys() == theirs.keys()
        for name, (signal, values) in seen.items():
            assert (signal.width, theirs[name].kind) == (
                (signal.width, "string") if signal.labels is not None else (theirs[name].size, "wire")), name
            for cycle in range(cycles):
                expected = theirs[name].at(cycle * waves.PERIOD)
                assert as_written(signal, values[cycle][lane]) == expected, f"{name}, cycle {cycle}, instance {lane}"
    return seen


@settings(max_examples=4, **SETTINGS)
@given(seed=seeds, depth=st.integers(1, 4))
def test_expressions(tmp_path_factory, seed, depth):
    path = tmp_path_factory.mktemp("expressions") / "wave.vcd"
    agree(lambda: RandomExpressions(random.Random(seed), depth=depth), path, seed=seed)


@pytest.mark.parametrize("examples", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_machines(tmp_path_factory, examples):
    @settings(max_examples=examples, **SETTINGS)
    @given(seed=seeds, n=st.sampled_from([1, 5, 67]), width=st.sampled_from([None, None, 16, 32]))
    def same(seed, n, width):
        path = tmp_path_factory.mktemp("machines") / "wave.vcd"
        agree(lambda: RandomMachine(random.Random(seed)), path, seed=seed, n=n, vector_width=width)

    same()


class Colour(enum.Enum, shape=unsigned(2)):
    RED = 0
    GREEN = 2


PIXEL = data.StructLayout({"colour": Colour, "at": data.ArrayLayout(5, 3), "sign": 1})


def pixels(m, self):
    kept = Signal(PIXEL)
    colour = Signal(Colour)
    part = memory.Memory(shape=PIXEL, depth=3, init=[])
    write = part.write_port()
    m.submodules.rows = part
    m.d.comb += [write.addr.eq(self.i), write.data.eq(Cat(self.i, self.i, self.i)), write.en.eq(1), colour.eq(self.i)]
    m.d.sync += [kept.eq(write.data), self.o.eq(kept.as_value() ^ colour.as_value())]


PIXELS = component({"i": In(6), "o": Out(18)}, pixels)


def test_fields_and_enumerations_are_shown_as_amaranth_shows_them(tmp_path):
    seen = agree(PIXELS, tmp_path / "pixels.vcd", cycles=20)
    assert {"kept", "\\kept.colour", "\\kept.at", "\\kept.at[2]", "\\rows[1].sign", "colour"} <= seen.keys()
    values = {as_written(signal, value) for signal, shown in [seen["colour"]] for cycle in shown for value in cycle}
    assert values == {"sRED", "sGREEN", "s[unknown]"}


def tangle(m, self):
    """Signals that nobody uses, and a word that depends on itself bit by bit."""
    unused, word, above = Signal(70, name="unused"), Signal(5, name="word"), Signal(5, name="above")
    m.d.comb += [unused.eq(self.i + 1 << 3), above.eq(word), word[0].eq(self.i[0])]
    m.d.comb += [word[bit + 1].eq(above[bit] ^ self.i[bit]) for bit in range(4)]
    m.d.sync += self.o.eq(self.i)


TANGLE = component({"i": In(66), "o": Out(66)}, tangle)


def test_signals_that_nobody_uses_are_shown(tmp_path):
    assert {"unused", "word", "above"} <= agree(TANGLE, tmp_path / "tangle.vcd", cycles=12).keys()


def deep(m, self):
    """A memory of more rows than are kept one by one."""
    part = memory.Memory(shape=37, depth=40, init=range(5, 25))
    m.submodules.part = part
    write, read = part.write_port(), part.read_port(domain="comb")
    m.d.comb += [write.addr.eq(self.i), write.data.eq(self.i * 0x123456789), write.en.eq(self.i), read.addr.eq(self.i)]
    m.d.sync += self.o.eq(read.data)


DEEP = component({"i": In(12), "o": Out(37)}, deep)


def test_rows_of_a_deep_memory_are_shown(tmp_path):
    seen = agree(DEEP, tmp_path / "deep.vcd", cycles=20, n=67)
    assert "\\part[39]" in seen


def test_registers_are_what_the_kernel_reads():
    kernel = lower_ports(PIXELS())
    observer = observe(PIXELS(), kernel)
    block, out = kernel.allocate(3), observer.allocate()
    block.input("i")[:3] = [1, 2, 3]
    kernel.step(block, 3)
    observer.observe(block, 0, out)
    assert observer.word(out, "kept")[:3].tolist() == kernel.read(block, "kept").tolist()
    rows = [observer.word(out, f"\\rows[{row}]")[:3].tolist() for row in range(3)]
    assert rows == kernel.read(block, "rows").T.tolist()
    assert any(map(any, rows))


def test_a_kernel_of_another_component_is_refused():
    with pytest.raises(LoweringError, match="kernel: top is not valid: it has no 'o' of 37 bits"):
        observe(DEEP(), lower_ports(component({"i": In(12), "o": Out(36)}, lambda m, self: None)()))


def test_the_block_of_another_kernel_is_refused():
    observer = observe(DEEP(), lower_ports(DEEP()))
    with pytest.raises(LoweringError, match="block: top is not valid: the observer of top is for another kernel"):
        observer.observe(lower_ports(PIXELS()).allocate(1), 0, observer.allocate())


def test_an_observer_is_found_again_as_long_as_the_kernel_is_the_same(tmp_path):
    calls = []

    def factory():
        calls.append(1)
        return TANGLE()

    def get(kernel):
        return observe_cached(factory, kernel, cache_key="tangle", folder=tmp_path)

    kernel = lower_ports(TANGLE())
    assert get(kernel) == get(kernel)
    assert len(calls) == 1
    get(lower_ports(TANGLE(), vector_width=16))
    assert len(calls) == 2
    assert len(list(tmp_path.glob("*.kernel"))) == 2
    assert len(list(tmp_path.glob("*.netlist"))) == 1
