"""Run a component lowered and in Amaranth's simulator, on the same random inputs, and compare."""

import random
import warnings

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.sim import Simulator

from wormcast.sim.lowering import Kernel
from wormcast.sim.lowering.lower import lower
from wormcast.sim.lowering.netlist import port_name

__all__ = ["agree", "component", "fill", "lower_ports", "ports", "word_values"]


def ports(component):
    """Flat (name, value, is input) of every port."""
    return [
        (port_name(path), Value.cast(value), member.flow == wiring.In)
        for path, member, value in component.signature.flatten(component)
    ]


def lower_ports(component, **options) -> Kernel:
    """Lower with a word per port; ports of no bits have none."""
    named = [(name, is_input) for name, value, is_input in ports(component) if len(value)]
    empty = [(name, is_input) for name, value, is_input in ports(component) if not len(value)]
    inputs = {name: [name] for name, is_input in named if is_input}
    outputs = {name: [name] for name, is_input in named if not is_input}
    for name, is_input in empty:
        words = inputs if is_input else outputs
        words[next(iter(words))].append(name)
    return lower(component, inputs=inputs, outputs=outputs, **options)


def fill(array, bits, values):
    """Put Python integers into the word ``array``."""
    if array.ndim == 1:
        array[: len(values)] = values
    else:
        for part, row in enumerate(array):
            row[: len(values)] = [value >> 64 * part & (1 << 64) - 1 for value in values]


def word_values(array, n):
    """Python integers in the first ``n`` elements of a word."""
    if array.ndim == 1:
        return [int(value) for value in array[:n]]
    return [sum(int(part) << 64 * index for index, part in enumerate(column)) for column in array[:, :n].T]


def random_value(rng, width):
    """A value of ``width`` bits, often small, large or sparse."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.getrandbits(width) if width else 0
    if kind == 1:
        return min(rng.randrange(4), (1 << width) - 1)
    if kind == 2:
        return (1 << width) - 1 - min(rng.randrange(3), (1 << width) - 1)
    return (rng.getrandbits(width) & rng.getrandbits(width)) if width else 0


def agree(factory, *, cycles=12, n=5, seed=0, lanes=None, vector_width=None):
    """Step ``n`` instances with random inputs; every output of ``lanes`` must be the simulator's, every cycle.

    ``factory`` makes the component. Return the kernel and its block.
    """
    component = factory()
    kernel = lower_ports(component, vector_width=vector_width)
    block = kernel.allocate(n)
    lanes = sorted({0, n // 2, n - 1}) if lanes is None else lanes
    rng = random.Random(seed)
    inputs = [(name, len(value)) for name, value, is_input in ports(component) if is_input and len(value)]
    outputs = [(name, len(value)) for name, value, is_input in ports(component) if not is_input and len(value)]

    stimulus = [{name: [random_value(rng, bits) for _ in range(n)] for name, bits in inputs} for _ in range(cycles)]
    seen = []
    for cycle in range(cycles + 1):
        seen.append({name: word_values(block.output(name), n) for name, _ in outputs})
        if cycle < cycles:
            for name, bits in inputs:
                fill(block.input(name), bits, stimulus[cycle][name])
            kernel.step(block)

    for lane in lanes:
        expected = simulate(factory, [{name: cycle[name][lane] for name in cycle} for cycle in stimulus])
        for cycle, (ours, theirs) in enumerate(zip(seen, expected, strict=True)):
            for name, _ in outputs:
                assert ours[name][lane] == theirs[name], f"{name}, cycle {cycle}, instance {lane}"
    return kernel, block


def simulate(factory, stimulus):
    """Outputs before each cycle and after the last one, from Amaranth's simulator."""
    component = factory()
    signals = {name: value for name, value, _ in ports(component)}
    outputs = [name for name, value, is_input in ports(component) if not is_input and len(value)]
    seen = []

    async def bench(ctx):
        def look():
            found = {}
            for name in outputs:
                found[name] = ctx.get(signals[name]) & (1 << len(signals[name])) - 1
            seen.append(found)

        look()
        for cycle in stimulus:
            for name, value in cycle.items():
                signal = signals[name]
                if signal.shape().signed and value >> len(signal) - 1:
                    value -= 1 << len(signal)
                ctx.set(signal, value)
            await ctx.tick()
            look()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulator(component)
        sim.add_clock(1e-6)
        sim.add_testbench(bench)
        sim.run()
    return seen


def component(ports, build):
    """Factory of components with ``ports`` whose module is filled by ``build(m, self)``."""

    class Built(wiring.Component):
        def __init__(self):
            super().__init__(ports)

        def elaborate(self, platform):
            m = Module()
            return build(m, self) or m

    return Built
