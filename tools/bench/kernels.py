"""Benchmarks of kernels, and of the parts of a network's cycle."""

import time
from collections.abc import Callable

import numpy as np

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.compiled import compiled
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import SIZES, BulkEngine
from wormcast.sim.experiments.load import Traffic
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.host.program import gather
from wormcast.sim.lowering import Kernel, call_step

__all__ = ["LENGTH", "REPEATS", "ablation", "block_bytes", "engine_for", "engine_of", "kernel_speed", "least_time"]

SECONDS = 1.0
LENGTH = 20
REPEATS = 4


@compiled
def _step(cycles, address, state, quiet, busy, outputs, n):
    for cycle in range(cycles):
        call_step(address, state, busy if cycle & 1 else quiet, outputs, n)


@compiled
def _copies(cycles, runs, inputs, outputs):
    for _ in range(cycles):
        gather(runs, inputs, outputs)


def kernel_speed(kernel: Kernel, instances: int) -> float:
    """Return the cycles per second of processor time in which a kernel steps this number of instances."""
    block = kernel.allocate(instances)
    busy = block.copy()
    for name in kernel.inputs:
        busy.input(name)[...] = np.iinfo(busy.input(name).dtype).max
    arguments = (kernel.address, block.state.ctypes.data, block.inputs.ctypes.data, busy.inputs.ctypes.data,
                 block.outputs.ctypes.data, block.n_padded)
    _step(4, *arguments)
    cycles = 16
    while True:
        started = time.process_time()
        _step(cycles, *arguments)
        spent = time.process_time() - started
        if spent > SECONDS:
            return cycles / spent
        cycles *= 2


def engine_for(mesh: str, scheme: str, rate: float, destinations: int, lanes: int, cycles: int) -> BulkEngine:
    """Return an engine for a scheme on a mesh, with random messages of the first ``cycles`` cycles."""
    configuration = Configuration(consumption=2).for_headers(topology(mesh), SCHEMES[scheme], destinations)
    network = Network(topology(mesh), SCHEMES[scheme], configuration, lanes)
    return engine_of(network, Traffic(rate, length=LENGTH, destinations_mean=destinations), cycles)


def engine_of(network: Network, traffic: Traffic, cycles: int) -> BulkEngine:
    """Return an engine for a network with messages of the first ``cycles`` cycles, different ones in each lane."""
    window = MessageWindow(network, [Source(traffic, network.topology, seed) for seed in range(network.lanes)], cycles)
    return BulkEngine(network, window.host)


def least_time(work: Callable[[], object]) -> float:
    """Return the shortest processor time of several runs, in seconds."""
    best = np.inf
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def ablation(mesh: str, lanes: int, rate: float, cycles: int) -> dict[str, float]:
    """Return processor times per cycle of all lanes, in microseconds: total, kernels, wiring, hosts (the remainder).

    ``traffic``: time to create and plan the messages of a cycle. ``measuring``: additional time to count flits and
    waiting cycles.
    """
    started = time.process_time()
    engine = engine_for(mesh, "dual-path", rate, 10, lanes, (REPEATS + 1) * cycles)
    laid_out = time.process_time() - started
    started = time.process_time()
    sources = [Source(Traffic(rate, length=LENGTH, destinations_mean=10), engine.network.topology, seed)
               for seed in range(lanes)]
    window = MessageWindow(engine.network, sources, (REPEATS + 1) * cycles)
    traffic = min(laid_out, time.process_time() - started) / (REPEATS + 1)
    engine.run(cycles, beyond=True)
    parts = {"all": least_time(lambda: engine.run(cycles, beyond=True))}
    for name, block in engine.blocks.items():
        apart = block.copy()
        arguments = (block.kernel.address, apart.state.ctypes.data, apart.inputs.ctypes.data,
                     apart.inputs.ctypes.data, apart.outputs.ctypes.data, apart.n_padded)
        parts[name] = least_time(lambda arguments=arguments: _step(cycles, *arguments))  # type: ignore[misc]
    inputs, outputs = (tuple(array.view(f"u{size}") for size in SIZES) for array in (engine.inputs, engine.outputs))
    _copies(1, engine._runs, inputs, outputs)
    parts["wiring"] = least_time(lambda: _copies(cycles, engine._runs, inputs, outputs))
    parts["hosts"] = parts["all"] - sum(parts[name] for name in ("router", "interface", "wiring"))
    parts["traffic"] = traffic
    metered = BulkEngine(engine.network, window.host, measure=True)
    metered.run(cycles, beyond=True)
    parts["measuring"] = least_time(lambda: metered.run(cycles, beyond=True)) - parts["all"]
    return {name: seconds / cycles * 1e6 for name, seconds in parts.items()}


def block_bytes(kernel: Kernel, instances: int = 4096) -> float:
    """Return the bytes of state, inputs and outputs of a kernel, per instance."""
    block = kernel.allocate(instances)
    return sum(array.nbytes for array in (block.state, block.inputs, block.outputs)) / instances
