"""A load experiment: random traffic at a rate, for many cycles, with several seeds side by side."""

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from wormcast.algorithms import Scheme, Topology, WormcastError

from ..configuration import Configuration
from ..deadlock import Deadlock, find_deadlock
from ..engines.bulk import BulkEngine, kernels
from ..host import check_receipts
from ..network import Network
from .result import Load, Totals
from .traffic import Source, Traffic
from .window import Window

__all__ = ["MOST_CYCLES", "MOST_SEEDS", "check", "load", "most_destinations"]

#: Cycles for which messages are created at a time: what is in memory follows from it, results do not.
CHUNK = 2048

#: Cycles without a flit of some worm under way, beyond its interfaces' waits, after which a deadlock is looked for.
PATIENCE = 8192

MOST_CYCLES = 2**32
MOST_SEEDS = 1024


def load(
    topology: Topology,
    scheme: Scheme,
    traffic: Traffic,
    *,
    configuration: Configuration,
    cycles: int,
    warmup: int | None = None,
    seeds: Sequence[int] = (0, 1, 2, 3),
    workers: int | None = None,
) -> Load:
    """Run random traffic through a network for so many cycles, once for each seed, all side by side.

    Parameters
    ----------
    cycles : int
        Cycles of each seed, the warm-up included.
    warmup : int, optional
        Cycles at the start that do not count; a fifth of all if it is not given.
    workers : int, optional
        Threads that share the seeds; as many as there are processors if it is not given. Results do not depend on it.

    Raises
    ------
    WormcastError
        Bad input, in a sentence.
    """
    warmup = cycles // 5 if warmup is None else warmup
    check(topology, traffic, configuration, cycles, warmup, seeds)
    configuration = configuration.for_headers(topology, most_destinations(topology, traffic))
    workers = min(workers or os.cpu_count() or 1, len(seeds))
    parts = [seeds[len(seeds) * k // workers:len(seeds) * (k + 1) // workers] for k in range(workers)]
    networks = [Network(topology, scheme, configuration, len(part)) for part in parts]
    started, end = time.process_time(), _End(cycles)
    kernels(networks[0])  # once, not in each thread
    with ThreadPoolExecutor(workers) as pool:
        pieces = list(pool.map(
            lambda network, part: _run(network, traffic, part, warmup, end), networks, parts))
    spent = time.process_time() - started
    deadlocks = [piece for piece in pieces if piece.deadlock and piece.deadlock.at <= end.at]
    return Load(
        topology, scheme, configuration, traffic, tuple(seeds), end.at, warmup,
        np.concatenate([piece.totals for piece in pieces]),
        np.concatenate([piece.backlog[:, :min(piece.backlog.shape[1] for piece in pieces)] for piece in pieces]),
        deadlocks[0].deadlock if deadlocks else None,
        deadlocks[0].deadlock_seed if deadlocks else None,
        spent,
    )


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

    totals: np.ndarray
    backlog: np.ndarray
    deadlock: Deadlock | None
    deadlock_seed: int | None


def _run(network: Network, traffic: Traffic, seeds: Sequence[int], warmup: int, end: _End) -> _Piece:
    """Run a network with a lane for each seed."""
    sources = [Source(traffic, network.nodes, seed) for seed in seeds]
    ends = sorted({*range(CHUNK, end.at, CHUNK), warmup, end.at} - {0})
    window = Window(network, sources, ends[0])
    engine = BulkEngine(network, window.host)
    totals, start = Totals(len(sources)), {} if warmup else window.counts()
    backlog, deadlock, deadlock_seed, now = [], None, None, 0
    patience = np.full(len(sources), PATIENCE + network.configuration.t_ns + network.configuration.t_nr)
    for until in ends:
        if until > end.at:
            break
        if now:
            window.extend(until)
        engine.host = window.host
        engine.run(until - now, beyond=True)
        now = until
        check_receipts(window.host)
        totals.add(window.take_done(), warmup)
        engine.host = window.host
        if now == warmup:
            start = window.counts()
        if now >= warmup:
            backlog.append(window.waiting())
        for lane in np.flatnonzero(window.quiet() > patience):
            patience[lane] *= 2
            if deadlock is None and (deadlock := find_deadlock(engine, int(lane))):
                deadlock_seed = seeds[int(lane)]
                end.lower(now)
    totals.add(window.take_rest(), warmup)
    for name, counts in window.counts().items():
        totals.lanes[name] = counts - start.get(name, counts)
    return _Piece(totals.lanes, np.array(backlog).reshape(-1, len(sources)).T, deadlock,
                  deadlock_seed)


def most_destinations(topology: Topology, traffic: Traffic) -> int:
    """Most destinations of a message."""
    return int(np.flatnonzero(traffic.counts(topology.nodes))[-1]) + 1 if traffic.multicast_fraction else 1


def check(topology: Topology, traffic: Traffic, configuration: Configuration, cycles: int, warmup: int,
          seeds: Sequence[int]) -> None:
    """Refuse what `load` cannot run, with a WormcastError."""
    if not 1 <= cycles <= MOST_CYCLES:
        raise WormcastError(f"cycles: {cycles} is given, allowed are 1 to {MOST_CYCLES}")
    if not 0 <= warmup < cycles:
        raise WormcastError(f"warmup: {warmup} of {cycles} cycles is given, allowed are 0 to {cycles - 1}")
    if not 1 <= len(seeds) <= MOST_SEEDS or len(set(seeds)) < len(seeds):
        raise WormcastError(f"seeds: {len(seeds)} are given, {len(set(seeds))} of them different; allowed are 1 to "
                            f"{MOST_SEEDS}, all different")
    links = configuration.consumption if configuration.consumption_links == "separate" else 1
    wanted = traffic.effective(topology.nodes)
    if wanted > links:
        raise WormcastError(f"rate: {traffic.rate:g} creates {wanted:g} flits to consume per node and cycle, "
                            f"a node's {links} consumption link{'' if links == 1 else 's'} can take {links}")
