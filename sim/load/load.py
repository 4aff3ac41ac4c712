"""A load experiment: traffic for many cycles, with several seeds side by side."""

import heapq
import itertools
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology, WormcastError

from ..configuration import Configuration
from ..deadlock import Deadlock, find_deadlock
from ..engines.bulk import BulkEngine, kernels
from ..engines.meter import take
from ..host import NOW, UNDELIVERED, check_receipts
from ..network import Network
from .checks import require_conservation, require_no_faults
from .result import TOTALS, Load, Totals, steady_from
from .trace import MOST_CYCLES, Trace
from .traffic import Traffic
from .utilisation import LINKS, LinkTotals
from .window import Window

__all__ = ["CYCLES", "MOST_CYCLES", "MOST_SEEDS", "SEEDS", "check", "load", "load_until_interval"]

#: Cycles for which messages are created at a time: what is in memory follows from it, results do not.
CHUNK = 2048

#: Slices of time in which results are kept, so that the warm-up can be found in the end.
SLICES = 200

#: Cycles without a flit of some worm under way, beyond its interfaces' waits, after which a deadlock is looked for.
PATIENCE = 8192

MOST_SEEDS = 1024

#: Where an experiment would end that goes on until all is received.
FOR_EVER = MOST_CYCLES + 1

#: What an experiment has where nothing is said: cycles, and how many seeds.
CYCLES, SEEDS = 100_000, 4


def load(
    topology: Topology,
    scheme: Scheme,
    traffic: Traffic | Trace,
    *,
    configuration: Configuration,
    cycles: int | None = CYCLES,
    warmup: int | None = None,
    seeds: Sequence[int] | None = None,
    workers: int | None = None,
) -> Load:
    """Run traffic through a network for so many cycles, random traffic once for each seed, all side by side.

    Parameters
    ----------
    cycles : int or None
        Cycles of each seed, the warm-up included; None, of a trace alone: until all of it is received.
    warmup : int, optional
        Cycles at the start that do not count. If it is not given it is found (`steady_from`), to a two-hundredth of
        all; of a trace, everything counts.
    seeds : sequence of int, optional
        0, 1, 2, 3 if it is not given; of a trace, in which nothing is random, one.
    workers : int, optional
        Threads that share the seeds; as many as there are processors if it is not given. Results do not depend on it.

    Raises
    ------
    WormcastError
        Bad input, in a sentence.
    """
    trace = isinstance(traffic, Trace)
    seeds = seeds if seeds is not None else (0,) if trace else range(SEEDS)
    check(topology, traffic, configuration, cycles, warmup, seeds)
    warmup = 0 if warmup is None and trace else warmup
    configuration = configuration.for_headers(topology, traffic.most_destinations(topology))
    workers = min(workers or os.cpu_count() or 1, len(seeds))
    parts = [seeds[len(seeds) * k // workers:len(seeds) * (k + 1) // workers] for k in range(workers)]
    networks = [Network(topology, scheme, configuration, len(part)) for part in parts]
    edges = _slices(_horizon(topology, traffic, cycles), warmup)
    if cycles is None:
        edges = np.append(edges, FOR_EVER)
    started, end = time.process_time(), _End(int(edges[-1]))
    kernels(networks[0])  # once, not in each thread
    with ThreadPoolExecutor(workers) as pool:
        pieces = list(pool.map(
            lambda network, part: _run(network, traffic, part, edges, end), networks, parts))
    spent = time.process_time() - started
    deadlocks = [piece for piece in pieces if piece.deadlock and piece.deadlock.at <= end.at]
    found = deadlocks[0] if deadlocks else None
    edges = np.minimum(edges, end.at)[:int(np.searchsorted(edges, end.at)) + 1]
    slices = np.concatenate([piece.slices for piece in pieces], axis=1)[:len(edges) - 1]
    first = _steady(slices, edges) if warmup is None else int(np.searchsorted(edges, min(warmup, end.at)))
    links = {kind: sum(piece.links[kind][first:len(edges) - 1].sum(axis=0, dtype=np.int64) for piece in pieces)
             for kind in LINKS}
    return Load(topology, scheme, configuration, traffic, tuple(seeds), edges, first, slices, links,
                found.deadlock if found else None, found.deadlock_seed if found and not trace else None, spent)


def load_until_interval(topology: Topology, scheme: Scheme, traffic: Traffic | Trace, *, cycles: int = CYCLES,
                        warmup: int | None = None, **options: Any) -> Load:
    """Run experiments of a sixteenth of ``cycles``, of twice as many and so on up to ``cycles``; see `load`.

    The first one that is `Load.precise`, saturated or in deadlock is the result, or else the last one. A warm-up that
    is given takes at most half of each but the last.
    """
    if isinstance(traffic, Trace):
        raise WormcastError("until_interval: a trace is given, which has a length of its own, it needs random traffic")
    least = 2 * (warmup or 0) + 1
    for length in [*(part for shift in range(4, 0, -1) if (part := cycles >> shift) >= least), cycles]:
        result = load(topology, scheme, traffic, cycles=length, warmup=warmup, **options)
        if result.precise or result.saturated or result.deadlock:
            break
    return result


def _horizon(topology: Topology, traffic: Traffic | Trace, cycles: int | None) -> int:
    """Cycles of an experiment; where it goes on until all is received, those in which messages are created."""
    if cycles is not None:
        return cycles
    if isinstance(traffic, Trace):
        return traffic.facts(topology).last + 1
    raise WormcastError("cycles: none are given, only a trace is run until all of it is received")


def _slices(cycles: int, warmup: int | None) -> np.ndarray:
    """Edges of the slices of time; the warm-up ends at one."""
    edges = np.linspace(0, cycles, min(SLICES, cycles) + 1)
    return np.unique([*edges.astype(np.int64), warmup or 0])


def _steady(slices: np.ndarray, edges: np.ndarray) -> int:
    """The first slice from which on both throughput and latency are steady, seeds taken together."""
    consumed = slices["consumed"].sum(axis=1) / np.diff(edges)
    messages = slices["messages"].sum(axis=1)
    latency = slices["latency"].sum(axis=1)[messages > 0] / messages[messages > 0]
    lasting = np.flatnonzero(messages > 0)
    by_latency = int(lasting[steady_from(latency)]) if len(lasting) else 0
    return max(steady_from(consumed), by_latency)


class _End:
    """Where all parts end: the cycle of the earliest deadlock that any of them has found, whoever finds it first."""

    def __init__(self, cycles: int):
        self.at = cycles
        self._lock = threading.Lock()

    def lower(self, cycle: int) -> None:
        with self._lock:
            self.at = min(self.at, cycle)


@dataclass(frozen=True)
class _Piece:
    """What came of some of the seeds."""

    slices: np.ndarray
    links: dict[str, np.ndarray]
    deadlock: Deadlock | None
    deadlock_seed: int | None


def _run(network: Network, traffic: Traffic | Trace, seeds: Sequence[int], edges: np.ndarray, end: _End) -> _Piece:
    """Run a network with a lane for each seed."""
    totals, links = Totals(edges, len(seeds)), LinkTotals(network, edges)
    window = Window(network, [traffic.source(network.topology, seed) for seed in seeds],
                    int(min(CHUNK, edges[1])))
    engine = BulkEngine(network, window.host, measure=True)
    deadlock, deadlock_seed, now, before = None, None, 0, np.zeros(len(seeds), TOTALS)
    patience = np.full(len(seeds), PATIENCE + network.configuration.t_ns + network.configuration.t_nr)
    # one after the other: an experiment without an end has too many of them
    for until, _ in itertools.groupby(heapq.merge(range(CHUNK, end.at, CHUNK), edges[1:].tolist())):
        if until > end.at:
            break
        if now:
            window.extend(until)
        engine.host = window.host
        to_the_end = edges[-1] == FOR_EVER and window.ended
        engine.run(until - now, beyond=not to_the_end)
        now = int(engine.host.counters[NOW])
        if to_the_end and not engine.host.counters[UNDELIVERED]:
            end.lower(now)
        totals.add(window.take_done())
        engine.host = window.host
        for lane in np.flatnonzero(window.quiet() > patience):
            patience[lane] *= 2
            if deadlock is None and (deadlock := find_deadlock(engine, int(lane))):
                deadlock_seed = seeds[int(lane)]
                end.lower(now)
        counts = window.counts()
        at = int(np.searchsorted(edges, now)) - 1
        for name, count in counts.items():
            totals.table[name][at] += count - before[name]
            before[name] = count
        totals.table["waiting"][at] = window.waiting()
        links.add(at, take(engine.meter, network), totals.table[at])
        if now % CHUNK == 0 or now >= min(end.at, int(edges[-1])):  # often enough, where slices are short
            require_no_faults(engine, seeds)
            check_receipts(window.host)
            require_conservation(window, totals.table, seeds)
    totals.add(window.take_rest())
    return _Piece(totals.table, links.flits, deadlock, deadlock_seed)


def check(topology: Topology, traffic: Traffic | Trace, configuration: Configuration, cycles: int | None,
          warmup: int | None, seeds: Sequence[int]) -> None:
    """Refuse what `load` cannot run, with a WormcastError."""
    if cycles is not None and not 1 <= cycles <= MOST_CYCLES:
        raise WormcastError(f"cycles: {cycles} is given, allowed are 1 to {MOST_CYCLES}")
    if isinstance(traffic, Trace) and len(seeds) != 1:
        raise WormcastError(f"seeds: {len(seeds)} are given with a trace, in which nothing is random, allowed is one")
    cycles = _horizon(topology, traffic, cycles)
    if warmup is not None and not 0 <= warmup < cycles:
        raise WormcastError(f"warmup: {warmup} of {cycles} cycles is given, allowed are 0 to {cycles - 1}")
    if not 1 <= len(seeds) <= MOST_SEEDS or len(set(seeds)) < len(seeds):
        raise WormcastError(f"seeds: {len(seeds)} are given, {len(set(seeds))} of them different; allowed are 1 to "
                            f"{MOST_SEEDS}, all different")
    links = configuration.consumption if configuration.consumption_links == "separate" else 1
    traffic.check(topology, links)
