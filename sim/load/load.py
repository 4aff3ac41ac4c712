"""A load experiment: random traffic at a rate, for many cycles, with several seeds side by side."""

import time
from collections.abc import Sequence

import numpy as np

from wormcast.algorithms import Scheme, Topology, WormcastError

from ..configuration import Configuration
from ..deadlock import find_deadlock
from ..engines.bulk import BulkEngine
from ..host import check_receipts
from ..network import Network
from .result import Load, Totals
from .traffic import Source, Traffic
from .window import Window

__all__ = ["MOST_CYCLES", "MOST_SEEDS", "load"]

#: Cycles for which messages are created at a time: what is in memory follows from it, results do not.
CHUNK = 2048

#: Cycles without a flit of some worm under way, beyond its interfaces' waits, after which a deadlock is looked for.
PATIENCE = 8192

MOST_CYCLES = 2**40
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
) -> Load:
    """Run random traffic through a network for so many cycles, once for each seed, all side by side.

    Parameters
    ----------
    cycles : int
        Cycles of each seed, the warm-up included.
    warmup : int, optional
        Cycles at the start that do not count; a fifth of all if it is not given.

    Raises
    ------
    WormcastError
        Bad input, in a sentence.
    """
    warmup = cycles // 5 if warmup is None else warmup
    _check(topology, traffic, configuration, cycles, warmup, seeds)
    network = Network(topology, scheme, configuration.for_headers(topology, _most(topology, traffic)), len(seeds))
    started = time.process_time()
    ends = sorted({*range(CHUNK, cycles, CHUNK), warmup, cycles} - {0})
    window = Window(network, [Source(traffic, topology.nodes, seed) for seed in seeds], ends[0])
    engine = BulkEngine(network, window.host)
    totals, start = Totals(len(seeds)), {} if warmup else window.counts()
    backlog, deadlock, now = [], None, 0
    patience = PATIENCE + network.configuration.t_ns + network.configuration.t_nr
    for end in ends:
        if now:
            window.extend(end)
        engine.host = window.host
        engine.run(end - now, beyond=True)
        now = end
        check_receipts(window.host)
        totals.add(window.take_done(), warmup)
        engine.host = window.host
        if now == warmup:
            start = window.counts()
        if now >= warmup:
            backlog.append([now, *window.waiting()])
        if window.quiet() > patience:
            deadlock = find_deadlock(engine)
            if deadlock:
                break
            patience *= 2
    totals.add(window.take_rest(), warmup)
    for name, counts in window.counts().items():
        totals.lanes[name] = counts - start.get(name, counts)
    return Load(network, traffic, tuple(seeds), now, min(now, warmup), totals.lanes,
                np.array(backlog, float).reshape(-1, 1 + len(seeds)), deadlock, time.process_time() - started)


def _most(topology: Topology, traffic: Traffic) -> int:
    """Most destinations of a message."""
    return int(np.flatnonzero(traffic.counts(topology.nodes))[-1]) + 1 if traffic.multicast_fraction else 1


def _check(topology: Topology, traffic: Traffic, configuration: Configuration, cycles: int, warmup: int,
           seeds: Sequence[int]) -> None:
    """Refuse what cannot be run."""
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
