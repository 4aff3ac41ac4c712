"""Parts of a compilation that exist only to make it fast: they change neither results nor Amaranth."""

import io
import random
from itertools import pairwise

import amaranth.hdl._ast as _ast
import amaranth.hdl._dsl as _dsl
import amaranth.hdl._ir as _ir
import amaranth.hdl._nir as _nir
import amaranth.hdl._xfrm as _xfrm
import pytest
from amaranth.hdl import Cat, ClockSignal, Const, Fragment, Module, ResetSignal, Signal, Value
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from wormcast.sim.build.components import blueprint_of, build_component
from wormcast.sim.lowering import LoweringError, netlist
from wormcast.sim.lowering.cells import Operator
from wormcast.sim.lowering.elaboration import make_simulator
from wormcast.sim.lowering.graph import Graph
from wormcast.sim.lowering.phases import WINDOW, Store, Write, flag_runs, needs

from .agreement import agree, component

PORTS = {"a": In(8), "b": In(8), "o": Out(8), "p": Out(8)}


def random_steps(seed):
    """Steps on flags and on bytes in a random mixture, each after the steps that it needs, and two writes."""
    rng, graph = random.Random(seed), Graph()
    flags = [graph.node("state", 1, (), slot) for slot in range(8)]
    numbers = [graph.node("state", 8, (), 8 + slot) for slot in range(8)]
    steps = []
    for place in range(300):
        if place in (100, 200):
            steps.append(Write(99, numbers[0], flags[-1], numbers[-1]))
        kind = rng.choice(["flag", "flag", "not", "number", "test", "store"])
        if kind == "number":
            made = graph.node("select", 8, (rng.choice(flags), rng.choice(numbers), rng.choice(numbers)), place)
            numbers.append(made)
        elif kind == "test":
            made = graph.node("eq", 1, (rng.choice(numbers), rng.choice(numbers)), place)
            flags.append(made)
        elif kind == "store":
            made = Store(place, rng.choice(flags + numbers))
        else:
            args = [rng.choice(flags) for _ in range(2)]
            made = graph.node("and", 1, [graph.not_(arg) for arg in args] if kind == "not" else args, place)
            flags.append(made)
        steps.append(made)
    return steps


@pytest.mark.parametrize("seed", range(5))
def test_flags_are_apart_and_follow_what_they_need(seed):
    steps = random_steps(seed)
    runs = flag_runs(steps)
    ordered = [step for _, run in runs for step in run]
    assert sorted(map(id, ordered)) == sorted(map(id, steps))
    own = {step for step in steps if not isinstance(step, Store | Write)}
    done = set()
    for step in ordered:
        assert all(node in done for node in needs(step) if node in own)
        done.add(step)
    assert all(a != b for (a, _), (b, _) in pairwise(runs))
    for flags, run in runs:
        if flags:
            assert all(node.width == 1 for step in run for node in needs(step))
            assert not any(isinstance(step, Write) for step in run)
    assert len(runs) < 60  # in their first order, these steps change more than 150 times between flags and others
    writes = [step for step in steps if isinstance(step, Write)]
    assert [step for step in ordered if isinstance(step, Write)] == writes
    for write in writes:
        assert {id(step) for step in steps[:steps.index(write)]} == {id(step) for step in
                                                                     ordered[:ordered.index(write)]}


def test_a_run_of_flags_does_not_reach_beyond_its_window():
    graph = Graph()
    byte = graph.node("eq", 1, (graph.node("state", 8, (), 0), graph.node("state", 8, (), 1)))
    waits = [graph.node("and", 1, (byte, graph.node("state", 1, (), 2 + k))) for k in range(WINDOW)]
    free = [graph.node("or", 1, (graph.node("state", 1, (), 2 + k), graph.node("state", 1, (), 3 + k)))
            for k in range(20)]
    runs = flag_runs([byte, *waits, *free])
    assert [flags for flags, _ in runs] == [False, True]
    assert runs[1][1] == [*waits, *free]


def shared(m, self):
    total = self.a + self.b
    m.d.sync += [self.o.eq(total), self.p.eq(total ^ 1)]


def clocked(m, self):
    total = self.a + self.b
    m.d.sync += [self.o.eq(total), self.p.eq(Cat(total[:7], ResetSignal()))]


@pytest.mark.parametrize("build", [shared, clocked])
def test_a_shared_expression_is_one_cell(build):
    made = netlist.read(component(PORTS, build)())
    assert sum(isinstance(cell, Operator) and cell.operator == "+" for cell in made.cells) == 1
    agree(component(PORTS, build))


def methods():
    kinds = (Const, Signal, _ast.Concat, _ast.Operator, _ast.Part, _ast.Slice, _ast.SignalDict, _ast.SwitchValue,
             _nir.Value, _dsl, _ir.Design, _xfrm)
    return [dict(vars(kind)) for kind in kinds]


def broken(m, self):
    m.d.sync += self.o.eq(ClockSignal())


def test_amaranth_is_unchanged_after_an_elaboration():
    before = methods()
    netlist.read(component(PORTS, shared)())
    assert methods() == before
    with pytest.raises(LoweringError, match="clock"):
        netlist.read(component(PORTS, broken)())
    assert methods() == before
    make_simulator(component(PORTS, shared)())
    assert methods() == before
    Fragment.get(Module(), None)


def test_a_loop_of_cells_that_is_no_loop_of_bits_is_lowered():
    def chain(m, self):
        bits = Signal(8)
        m.d.comb += bits.eq(Cat(self.a[0], bits[:7] ^ self.b[:7]))
        m.d.sync += self.o.eq(bits)

    agree(component(PORTS, chain))


def test_a_loop_of_bits_is_refused_even_if_nothing_depends_on_it():
    def loop(m, self):
        bits = Signal(2)
        m.d.comb += bits.eq(~bits[::-1])
        m.d.sync += self.o.eq(self.a)

    with pytest.raises(LoweringError, match="combinational cycle"):
        netlist.read(component(PORTS, loop)())


def waveform(construct):
    """Lines of the waveform at each time, of a router with random inputs, in a simulator that ``construct`` makes."""
    router = build_component(blueprint_of({"topology": "mesh:1x2", "vcs": 1}), "router")
    rng = random.Random(1)

    async def testbench(context):
        for _ in range(30):
            for _, member, port in router.signature.flatten(router):
                if member.flow == In:
                    value = Value.cast(port)
                    context.set(value, rng.getrandbits(len(value)))
            await context.tick()

    simulator = construct(router)
    simulator.add_clock(1e-9)
    simulator.add_testbench(testbench)
    text = io.StringIO()
    with simulator.write_vcd(text):
        simulator.run()
    return [sorted(lines.split("\n")) for lines in text.getvalue().split("$timescale")[1].split("\n#")]


def test_a_simulator_simulates_as_amaranths():
    assert waveform(make_simulator) == waveform(Simulator)
