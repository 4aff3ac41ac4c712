"""Benchmarks of whole networks and of load experiments."""

import contextlib
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wormcast.algorithms import SCHEMES, WormcastError, find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.configurations import hardware
from wormcast.sim.build.network import Network
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.port_packing import words
from wormcast.sim.experiments.load import Experiment, MessageTable, Traffic, load
from wormcast.sim.host import check_receipts, lay_out
from wormcast.sim.lowering import lower_cached

from .kernels import LENGTH, REPEATS, engine_of, least_time

__all__ = ["amaranth_ratio", "backlog_speeds", "compile_times", "deep_speed", "load_speed", "network_speed",
           "plan_speed", "planned_on", "table_speed", "tree_speed"]

PLANS = 100_000

#: Networks of 64 nodes on which `plan_speed` plans.
PLANNED_ON = ("mesh:8x8", "mesh:4x4x4", "torus:8x8", "min:b=2,stages=6")


def network_speed(mesh: str, rate: float, cycles: int) -> float:
    """Return cycles per second of a network, in processor time, at ``rate`` unicast flits per node and cycle."""
    network = Network(topology(mesh), SCHEMES["individual"], Configuration())
    random = np.random.default_rng(1)
    created = np.sort(random.integers(0, cycles, max(1, round(rate * network.nodes * cycles / LENGTH))))
    sources = random.integers(0, network.nodes, len(created))
    ends = (sources + random.integers(1, network.nodes, len(created))) % network.nodes
    worms = network.scheme.batch(network.topology, sources, np.arange(len(created) + 1), ends)
    engine = BulkEngine(network, lay_out(network, created, np.full(len(created), LENGTH), worms))
    engine.run(cycles // 10, beyond=True)
    started = time.process_time()
    engine.run(cycles - cycles // 10, beyond=True)
    spent = time.process_time() - started
    check_receipts(engine.host)
    return (cycles - cycles // 10) / spent


def tree_speed(network: str, scheme: str, rate: float, cycles: int, lanes: int) -> float:
    """Return cycles per second of a network with or without replication, all lanes together, in processor time.

    Traffic is that of [Varavithya], section 4: 20 % of the messages are multicasts of 64 flits, on average to half of
    the nodes, the others are unicasts of 128 flits. ``rate`` is the number of payload flits that a node creates per
    cycle. A multicast counts once.
    """
    nodes = topology(network).nodes
    traffic = Traffic(rate, length=64, unicast_length=128, multicast_fraction=0.2, destinations_mean=nodes / 2,
                      destinations_distribution="normal", destinations_deviation=nodes / 4)
    return _speed(network, scheme, {"configuration": "atbm_64"}, traffic, cycles, lanes)


def deep_speed(network: str, scheme: str, rate: float, cycles: int, lanes: int) -> float:
    """Return cycles per second of a network of deep switches, all lanes together, in processor time.

    Interfaces are smart if the scheme needs smart ones. Traffic is that of [Sivaram98], section 6.5: multicasts of 128
    flits to 15 nodes, with the paper's default overheads.
    """
    options = {"configuration": "sivaram_32", "t_hs": 1000, "t_hr": 1000, "ratio": "1", "dma": "4/3"}
    if find_scheme(scheme, topology(network)).forwarded:
        options |= {"ni": "fpfs", "packet": 128, "rows": 16, "places": 1}
    return _speed(network, scheme, options, Traffic(rate, length=128, destinations_mean=15), cycles, lanes)


def _speed(network: str, scheme: str, options: Mapping[str, Any], traffic: Traffic, cycles: int, lanes: int) -> float:
    """Return cycles per second of a network with some traffic, all lanes together, in processor time."""
    built = topology(network)
    planned = find_scheme(scheme, built)
    configuration = hardware(built, planned, options).for_headers(built, planned, built.nodes)
    engine = engine_of(Network(built, planned, configuration, lanes), traffic, (REPEATS + 1) * cycles)
    engine.run(cycles, beyond=True)
    return lanes * cycles / least_time(lambda: engine.run(cycles, beyond=True))


def amaranth_ratio(mesh: str, cycles: int) -> tuple[float, float]:
    """Return cycles per second, in processor time, of the engines `bulk` and `amaranth` for equal unicasts."""
    network = Network(topology(mesh), SCHEMES["individual"], Configuration())
    nodes = np.arange(network.nodes)
    worms = network.scheme.batch(network.topology, nodes, np.arange(len(nodes) + 1), (nodes + 1) % len(nodes))
    speeds = []
    for make, count in ((BulkEngine, 1000 * cycles), (AmaranthEngine, cycles)):
        engine = make(network, lay_out(network, np.zeros_like(nodes), np.full(len(nodes), LENGTH), worms))
        if make is BulkEngine:
            engine.run(1)  # the first cycle loads compiled code, and is not timed
        started = time.process_time()
        engine.run(count, beyond=True)
        speeds.append(count / (time.process_time() - started))
    return speeds[0], speeds[1]


def compile_times(network: Network, kind: str, vector_width: int | None) -> tuple[float, float]:
    """Return the processor seconds to build a kernel with an empty cache on disk, and to load it from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for _ in range(2):
            started = time.process_time()
            kernel = lower_cached(network.kinds[kind].build, words=words, name=kind, cache_key=kind,
                                  vector_width=vector_width, folder=Path(folder))
            kernel.allocate(1)  # which loads the code
            times.append(time.process_time() - started)
    return times[0], times[1]


def load_speed(mesh: str, seeds: int, cycles: int, workers: int) -> float:
    """Return wall-clock cycles per second of all seeds of a load experiment: multicasts to 10 nodes, dual-path."""
    traffic = Traffic(0.008, length=LENGTH, destinations_mean=10)
    started = time.perf_counter()
    load(topology(mesh), SCHEMES["dual-path"], traffic, configuration=Configuration(consumption=2), cycles=cycles,
         seeds=range(seeds), workers=workers)
    return cycles * seeds / (time.perf_counter() - started)


def table_speed(mesh: str, seeds: int, cycles: int) -> tuple[float, float]:
    """Return cycles per second of a load experiment in one thread, without and with a table of messages.

    Seconds are processor time. The simulator must track worms to fill a table of messages.
    """
    speeds = []
    for tabled in (False, True):
        traffic = Traffic(0.008, length=LENGTH, destinations_mean=10)
        experiment = Experiment(topology(mesh), SCHEMES["dual-path"], traffic, parts=[range(seeds)], cycles=cycles,
                                warmup=None, configuration=Configuration(consumption=2))
        table = MessageTable(experiment) if tabled else None
        experiment.run()
        if table:
            with tempfile.TemporaryDirectory() as folder:
                table.write(Path(folder, "messages.csv"), parquet=False, warmup=0)
        speeds.append(cycles * seeds / experiment.seconds)
    return speeds[0], speeds[1]


def backlog_speeds(scheme: str, rates: Sequence[float], lengths: Sequence[int]) -> list[float]:
    """Return cycles per second of load experiments below and beyond saturation, 4 seeds together, in processor time.

    Parameters
    ----------
    rates : sequence of float
        Rates below and beyond saturation, on mesh:8x8: of unicasts with the scheme individual, else of multicasts to
        10 nodes.
    lengths : sequence of int
        Cycles of the experiments beyond saturation. The experiment below saturation has ``lengths[0]`` cycles.
    """
    speeds = []
    for rate, cycles in ((rates[0], lengths[0]), *((rates[1], cycles) for cycles in lengths)):
        traffic = Traffic(rate, multicast_fraction=float(scheme != "individual"))
        experiment = Experiment(topology("mesh:8x8"), SCHEMES[scheme], traffic, configuration=Configuration(),
                                cycles=cycles, warmup=None, parts=[range(4)], rewind=True)
        experiment.run()
        speeds.append(4 * cycles / experiment.seconds)
    return speeds


def plan_speed(scheme: str, network: str) -> float:
    """Return the multicasts to 10 nodes that a scheme plans per second of processor time, in one batch."""
    built, random = topology(network), np.random.default_rng(1)
    planned = find_scheme(scheme, built)
    nodes = np.argsort(random.random((PLANS, built.nodes), np.float32), axis=1)[:, :11].astype(np.int32)
    messages = nodes[:, 0], np.arange(PLANS + 1) * 10, nodes[:, 1:].ravel()
    best = np.inf
    for _ in range(4):  # the first call may compile code
        started = time.process_time()
        planned.batch(built, *messages)
        best = min(best, time.process_time() - started)
    return PLANS / best


def planned_on(scheme: str) -> str | None:
    """Return the first network in `PLANNED_ON` that a scheme supports.

    The result is None if the scheme supports none of these networks, or supports broadcast only.
    """
    for network in PLANNED_ON if not SCHEMES[scheme].broadcasts else ():
        with contextlib.suppress(WormcastError):
            find_scheme(scheme, topology(network))
            return network
    return None
