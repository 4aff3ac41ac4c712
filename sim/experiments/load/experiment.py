"""Load experiment: traffic for many cycles, random traffic with several seeds side by side."""

import itertools
import os
import reprlib
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import NoneType

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Scheme, Topology, WormcastError
from wormcast.algorithms.errors import flag_text
from wormcast.algorithms.phrases import count
from wormcast.algorithms.typecheck import require_kind

from ...build.compatibility import require_sendable
from ...build.configuration import Configuration
from ...build.limits import CYCLES, FIRST_SEED, MOST_LOAD_CYCLES, MOST_SEED, MOST_SEEDS, PRECISION, SEEDS
from ...build.network import Network
from ...build.traffic import Traffic
from ...common.stop import Stop
from ..events import EventSums
from .completed import MessageCallback
from .past_states import PastStates
from .result import Load, Totals, steady_from
from .seed_batch import FOR_EVER, CommonEnd, GroupState, SeedBatch
from .trace import Trace
from .utilisation import LINKS

__all__ = ["Experiment", "check", "consumption_links",
           "lengths", "load", "load_until_interval", "settled", "shared"]

#: Number of time slices with which an experiment of SLICES cycles or more begins. A given warm-up may add a slice; a
#: trace that runs until all messages are received adds a slice. Results are kept per slice, so that the warm-up can be
#: found at the end.
SLICES = 200

#: Number of longer warm-ups (`Experiment.later_results`): from one to five tenths of all cycles.
LATER = 5

#: Number of slices up to which an extension adds slices of the present length. Beyond MOST_SLICES, an extension adds
#: one slice.
MOST_SLICES = 2000

DEFAULT_SEEDS = range(FIRST_SEED, FIRST_SEED + SEEDS)


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
    precision: float = PRECISION,
) -> Load:
    """Simulate traffic in a network for a number of cycles, random traffic once for each seed.

    Parameters
    ----------
    cycles : int or None
        Cycles of each seed, with the warm-up. If ``cycles`` is None, a trace runs until every message is delivered.
    warmup : int, optional
        Cycles at the start that do not count. By default, the warm-up of random traffic is found automatically
        (`steady_from`), in steps of a two-hundredth of all cycles. For a trace, the default warm-up is 0 cycles: all
        cycles count.
    seeds : sequence of int, optional
        Seeds of random traffic. Default: 24, 25, 26, 27. A trace has one seed, which is ignored.
    workers : int, optional
        Number of threads that share the seeds. Results do not depend on the number of threads. Default: number of
        processors.
    precision : float
        Largest ratio of half the latency's interval to its mean for which the mean counts as precise (`Load.precise`).
    """
    seeds = seeds if seeds is not None else (0,) if isinstance(traffic, Trace) else DEFAULT_SEEDS
    experiment = Experiment(topology, scheme, traffic, configuration=configuration, cycles=cycles, warmup=warmup,
                            parts=shared(seeds, workers), precision=precision)
    experiment.run()
    return experiment.result()


def load_until_interval(
    topology: Topology,
    scheme: Scheme,
    traffic: Traffic | Trace,
    *,
    configuration: Configuration,
    cycles: int = CYCLES,
    warmup: int | None = None,
    seeds: Sequence[int] | None = None,
    workers: int | None = None,
    precision: float = PRECISION,
    events: bool = False,
    stop: Stop | None = None,
) -> Load:
    """Run a sixteenth of ``cycles``, and double the cycles until the results are `settled` or ``cycles`` is reached.

    The parameters are as for `load` and `Experiment`. With a given warm-up, the first check of the results is after
    more than twice the cycles of the warm-up, or after ``cycles``.

    Raises
    ------
    KeyboardInterrupt
        A stop was requested.
    """
    if isinstance(traffic, Trace):
        raise WormcastError(f"{flag_text('until_interval')} is not valid with a trace, whose messages determine the "
                            "number of cycles. Allowed: random traffic.")
    first, *_ = further = lengths(cycles, warmup)
    experiment = Experiment(topology, scheme, traffic, configuration=configuration, cycles=first, warmup=warmup,
                            parts=shared(DEFAULT_SEEDS if seeds is None else seeds, workers), precision=precision,
                            events=events, stop=stop)
    results: list[Load] = []
    for length in further:
        experiment.extend(length)
        experiment.run_whole()
        results.append(experiment.result())
        if settled(results):
            break
    return results[-1]


def lengths(cycles: int, warmup: int | None) -> list[int]:
    """Return the numbers of cycles after which `load_until_interval` checks the results."""
    require_kind("cycles", cycles, int)
    require_kind("warmup", warmup, int, NoneType)
    least = 2 * (warmup or 0) + 1
    return [*(part for shift in range(4, 0, -1) if (part := cycles >> shift) >= least), cycles]


def settled(results: Sequence[Load]) -> bool:
    """Return whether the experiment needs no more cycles, from the results after each doubling of its cycles.

    More cycles are not needed after a deadlock, or if the last result is precise and not saturated. More cycles are not
    needed either if the last two results are far beyond saturation, and half the interval of the delivered flits is at
    most ``precision`` times their mean, which is above 0. A network close to saturation may look saturated by chance.
    """
    last = results[-1]
    if last.deadlock is not None or (last.precise and not last.saturated):
        return True
    delivered = last.per_node("completed")
    mean, half = delivered.mean or 0.0, delivered.half_width
    precise = mean > 0 and half is not None and half <= last.precision * mean
    return precise and len(results) > 1 and all(one.far_beyond for one in results[-2:])


class Experiment:
    """Load experiment that can be paused, extended and continued without a change of its results.

    Parameters
    ----------
    topology, scheme, traffic, configuration, cycles, warmup, precision
        See `load`.
    parts : sequence of sequences of int
        Groups of seeds; see `shared`. A group of seeds runs in one thread.
    rewind : bool
        Keep past states of each group of seeds, to record waveforms of past cycles.
    events : bool
        Count events in routers and interfaces, too. An experiment that counts events cannot be written to a checkpoint.
    stop : Stop, optional
        Request to stop. Several experiments may have the same object, which stops them together.

    Attributes
    ----------
    groups : list of SeedBatch
    pasts : list of PastStates or None
        Past states of each group.
    seconds : float
        Processor time so far, in seconds.
    source : Path or None
        The file from which the state was read.
    on_received : list of MessageCallback or None
        Callback of each group of seeds for received messages, in the order of their numbers for each seed; see
        `report_rest`.
    """

    def __init__(self, topology: Topology, scheme: Scheme, traffic: Traffic | Trace, *, configuration: Configuration,
                 cycles: int | None, warmup: int | None, parts: Sequence[Sequence[int]], rewind: bool = False,
                 precision: float = PRECISION, events: bool = False, stop: Stop | None = None):
        require_kind("scheme", scheme, Scheme)
        for one in (parts, *(parts if isinstance(parts, Sequence) else ())):
            require_kind("parts", one, Sequence)
        seeds = tuple(itertools.islice(itertools.chain.from_iterable(parts), MOST_SEEDS + 1))
        check(topology, traffic, configuration, cycles, warmup, seeds, precision)
        self.precision = precision
        if warmup is not None or isinstance(traffic, Trace):
            warmup = int(warmup or 0)
        self.topology, self.scheme, self.traffic, self.warmup, self.seeds = topology, scheme, traffic, warmup, seeds
        self.configuration = configuration.for_headers(topology, scheme, traffic.most_destinations(topology))
        networks = [Network(topology, scheme, self.configuration, len(part)) for part in parts]
        if isinstance(traffic, Traffic):
            require_sendable(topology, scheme, self.configuration)
        edges = _slices(_horizon(topology, traffic, cycles), warmup)
        if cycles is None:
            edges = np.append(edges, FOR_EVER)
        self.groups = [SeedBatch(network, traffic, part, edges, events=events)
                       for network, part in zip(networks, parts, strict=True)]
        self.pasts: list[PastStates[GroupState] | None] = [PastStates() if rewind else None for _ in parts]
        self.seconds = 0.0
        self.source: Path | None = None
        self.on_received: list[MessageCallback | None] = [None for _ in parts]
        self._end = CommonEnd(Stop() if stop is None else stop)

    @property
    def edges(self) -> np.ndarray:
        """Cycles in which time slices begin, and the end of the last one; int array [slices + 1]."""
        return self.groups[0].totals.edges

    @property
    def cycles(self) -> int | None:
        """Number of cycles to run; None: until all messages are received."""
        return None if self._last == FOR_EVER else self._last

    @property
    def _last(self) -> int:
        return int(self.edges[-1])

    @property
    def now(self) -> int:
        """Number of cycles that all groups of seeds have run."""
        return min(group.now for group in self.groups)

    @property
    def deadlocked(self) -> SeedBatch | None:
        """The group of seeds with the earliest deadlock; None if there is no deadlock."""
        found = [(group.found.deadlock.at, k) for k, group in enumerate(self.groups) if group.found]
        return self.groups[min(found)[1]] if found else None

    @property
    def finished(self) -> bool:
        """The experiment has ended: by a deadlock, after its last cycle or, without a last cycle, when its trace is
        received."""
        return self.deadlocked is not None or self.now >= self._last or self.groups[0].drained

    def run(self, until: int | None = None) -> None:
        """Run to the end of the step that reaches cycle ``until``. Without ``until``, run to the end of the experiment.

        After an interrupt (`KeyboardInterrupt`), each group of seeds completes its step. A step has at most 2048 cycles
        while worms are under way or messages are created; otherwise a step may be longer.

        Raises
        ------
        WormcastError
            The state was read from a file and cannot continue.
        WireError
            The hardware found an error on the wire.
        RuntimeError
            A fault of this package, found by `require_conservation`.
        """
        require_kind("until", until, int, NoneType)
        target = self._last if until is None else min(until, self._last)
        started, self._end.broken = time.process_time(), False
        try:
            with ThreadPoolExecutor(min(len(self.groups), os.cpu_count() or 1)) as pool:
                try:
                    steps = [pool.submit(group.advance, target, self._end, past, callback)
                             for group, past, callback in zip(self.groups, self.pasts, self.on_received, strict=True)]
                    for step in steps:
                        step.result()
                except BaseException as error:
                    self._end.broken = True
                    if self.source is None or isinstance(error, WormcastError) or not isinstance(error, Exception):
                        raise
                    raise WormcastError(f"{self.source} holds a state that no experiment reaches, or wormcast has a "
                                        f"bug ({error})") from error
        finally:
            self.seconds += time.process_time() - started

    def run_whole(self) -> None:
        """Run to the end of the experiment.

        Raises
        ------
        KeyboardInterrupt
            A stop was requested, so the experiment has no results. `run` lists the other errors.
        """
        self.run()
        if self.stopped:
            raise KeyboardInterrupt

    def report_rest(self) -> None:
        """After the last `run`, pass received messages that are younger than an unreceived message to the callbacks."""
        for group, on_received in zip(self.groups, self.on_received, strict=True):
            group.window.take_rest(on_received)

    def stop(self) -> None:
        """Stop all threads at their next step, for good. A signal handler may call this method."""
        self._end.stop.requested = True

    @property
    def stopped(self) -> bool:
        """A stop was requested, by `stop` or by the argument ``stop``."""
        return self._end.stop.requested

    def extend(self, cycles: int) -> None:
        """Increase the number of cycles, with time slices about as long as the present ones.

        The new slices are longer if the experiment would otherwise have more than 2000 slices.

        Raises
        ------
        WormcastError
            The number is less than the present one or too large, or the experiment runs until its trace is received.
        """
        require_kind("cycles", cycles, int)
        edges = self.edges
        if self.cycles is None:
            raise WormcastError(f"cycles: {cycles} is not valid: the experiment runs until its trace is received. "
                                "Allowed: continue without cycles.")
        if not edges[-1] <= cycles <= MOST_LOAD_CYCLES:
            raise WormcastError(f"cycles: {cycles} is not valid. Allowed: {edges[-1]} (the present number) to "
                                f"{MOST_LOAD_CYCLES}.")
        alike = round((cycles - int(edges[-1])) / float(np.median(np.diff(edges))))
        more = max(1, min(alike, MOST_SLICES + 1 - len(edges)))
        further = np.linspace(int(edges[-1]), cycles, more + 1).astype(np.int64)
        if cycles > edges[-1]:
            for group in self.groups:
                group.extend(further)

    def result(self) -> Load:
        """Return the experiment's results. Call `result` after the experiment's last cycle, or after a deadlock."""
        return self._result_from(None)

    def later_results(self, found: int) -> list[Load]:
        """Return results for longer warm-ups than the one found automatically: one to five tenths of all cycles.

        Experiments with the same number of cycles use the same warm-ups. Warm-ups that are not longer than the
        automatic warm-up are left out. The list is empty if the warm-up was given, for a trace, and after a deadlock.

        Parameters
        ----------
        found : int
            First slice after the warm-up that was found: `Load.first` of `result`.
        """
        if self.warmup is not None or self.deadlocked is not None:
            return []
        longest = (len(self.edges) - 1) // 2
        later = sorted({-(-longest * part // LATER) for part in range(1, LATER + 1)})
        return [self._result_from(first) for first in later if first > found]

    def _result_from(self, first: int | None) -> Load:
        """Return the results of the slices from ``first`` on; without ``first``, of the slices after the warm-up."""
        edges, group = self.edges, self.deadlocked
        found = group.found if group else None
        end = found.deadlock.at if found else self.now
        edges = np.minimum(edges, end)[:int(np.searchsorted(edges, end)) + 1]
        totals = [group.all_totals() for group in self.groups]
        slices = np.concatenate([one.table for one in totals], axis=1)[:len(edges) - 1]
        if found:
            slices[...] = 0  # seeds have stopped in different cycles, so no measurement counts
        if first is None:
            first = _steady(slices, edges) if self.warmup is None else int(
                np.searchsorted(edges, min(self.warmup, end)))
        links = {kind: sum(group.links.flits[kind][first:len(edges) - 1].sum(axis=0, dtype=np.int64)
                           for group in self.groups) for kind in LINKS}
        latencies = [one.latencies.of_lane(lane, first) for one in totals for lane in range(one.latencies.lanes)]
        round_trips = [(*one.round_trips.of_lane(lane, first), one.round_trips.longest(lane, first))
                       for one in totals for lane in range(one.round_trips.lanes)]
        stages = np.concatenate([group.stages.table[first:len(edges) - 1].sum(axis=0) for group in self.groups], axis=1)
        random = not isinstance(self.traffic, Trace)
        counted = slices[first:]
        events = None if found else self._events(first, len(edges) - 1, counted["consumed"].sum(axis=0),
                                                 counted["messages"].sum(axis=0), end - int(edges[first]))
        return Load(self.topology, self.scheme, self.configuration, self.traffic, self.seeds, edges, first, slices,
                    latencies, self._worst(totals, first), links, stages, self._tokens(stages.shape[2]), self._ends(),
                    self._channels(),
                    found.deadlock if found else None,
                    group.seeds[found.lane] if group and found and random else None, self.seconds, self.precision,
                    round_trips, events)

    def _events(self, first: int, end: int, flits: np.ndarray, messages: np.ndarray, cycles: int) -> EventSums | None:
        """Return the events of the slices from ``first`` to ``end`` - 1; None if events are not counted."""
        totals = [group.events for group in self.groups if group.events]
        if not totals:
            return None
        return EventSums(
            self.topology, np.concatenate([one.lanes[first:end].sum(axis=0) for one in totals], axis=1),
            np.sum([one.routers[first:end].sum(axis=0) for one in totals], axis=0),
            np.sum([one.interfaces[first:end].sum(axis=0) for one in totals], axis=0), flits, messages, cycles)

    @staticmethod
    def _worst(totals: Sequence[Totals], first: int) -> np.ndarray:
        """Return the slowest messages of slices from ``first`` on.

        Field ``lane`` of the result is the seed's index among all seeds.
        """
        rows, lanes = [], 0
        for one in totals:
            mine = one.latencies.worst[one.latencies.worst["at"] >= first]
            mine["lane"] += lanes
            rows.append(mine)
            lanes += one.latencies.lanes
        return np.concatenate(rows)

    def _tokens(self, stages: int) -> tuple[int, ...]:
        """Return the number of token groups of each stage."""
        rings = self.groups[0].window.network.rings
        return tuple(sum(stage == one for one, _ in rings) for stage in range(stages))

    def _channels(self) -> dict[str, int]:
        """Return the number of virtual channels of all links by kind; see `Load`."""
        fabric = self.groups[0].window.network.fabric
        return {kind: sum(link.vcs for link in fabric.of_kind(kind)) for kind in LINKS}

    def _ends(self) -> dict[str, list[tuple[int | str, int | str]]]:
        """Return for each kind of link the pairs that name the links in tables (`Load.ends`)."""
        fabric = self.groups[0].window.network.fabric
        found: dict[str, list[tuple[int | str, int | str]]] = {
            kind: [(link.node, link.number) for link in fabric.of_kind(kind) if link.node is not None]
            for kind in LINKS}
        for link in fabric.of_kind("network"):
            first, second = link.name.removeprefix("link:").split(">")
            found["network"].append((_number(first), _number(second)))
        return found


def _number(switch: str) -> int | str:
    """Return a switch's name as in tables: as a number if it is the id of a node, else as text."""
    return int(switch) if switch.isdigit() else switch


def shared(seeds: Sequence[int], workers: int | None = None) -> list[Sequence[int]]:
    """Divide seeds among ``workers`` threads, or among as many threads as there are seeds if these are fewer.

    Default of ``workers``: number of processors.
    """
    require_kind("workers", workers, int, NoneType)
    seeds = _checked(seeds)
    workers = max(1, min(workers or os.cpu_count() or 1, len(seeds)))
    return [seeds[len(seeds) * k // workers:len(seeds) * (k + 1) // workers] for k in range(workers)]


def _checked(seeds: Sequence[int]) -> Sequence[int]:
    """Check seeds, their number first; return a range unchanged, other sequences as a tuple."""
    try:
        number = len(seeds)
    except TypeError as error:
        raise WormcastError(f"seeds: {reprlib.repr(seeds)} is not valid. Allowed: a sequence of integers, for example "
                            "range(4).") from error
    except OverflowError:  # a range may be too long for len()
        number = sys.maxsize
    if not 1 <= number <= MOST_SEEDS:
        raise WormcastError(f"seeds: {number} seeds are not valid. Allowed: 1 to {MOST_SEEDS} seeds.")
    for seed in seeds:
        require_kind("seeds", seed, int)
    if len(set(seeds)) < number:
        raise WormcastError(f"seeds: {reprlib.repr(seeds)} is not valid: a seed occurs twice. Allowed: each seed once.")
    if not 0 <= min(seeds) <= max(seeds) <= MOST_SEED:
        raise WormcastError(f"seeds: {min(seeds)} to {max(seeds)} is not valid. Allowed: 0 to {MOST_SEED}.")
    return seeds if isinstance(seeds, range) else tuple(map(int, seeds))


def consumption_links(topology: Topology, configuration: Configuration) -> npt.NDArray[np.int64]:
    """Return the number of consumption links of each node over which worms can arrive, int64 [nodes]."""
    each = configuration.consumption if configuration.consumption_links == "separate" else 1
    home = topology.consumptions[:, 0]
    ways_in = np.bincount(topology.links[:, 2], minlength=topology.switches)[home]
    # if each input of a switch has an ejection port, so have the injection links of the switch's other nodes
    beside = np.bincount(topology.injections[:, 0], minlength=topology.switches)[home] - (
        topology.injections[:, 0] == home)
    return np.full(topology.nodes, each) if configuration.ejection == "one" else each * (ways_in + beside)


def _horizon(topology: Topology, traffic: Traffic | Trace, cycles: int | None) -> int:
    """Return the number of cycles; if ``cycles`` is None, the number of cycles up to the last line of the trace."""
    if cycles is not None:
        return cycles
    if isinstance(traffic, Trace):
        return traffic.facts(topology).last + 1
    raise WormcastError("cycles: None is not valid: only a trace ends by itself. Allowed: a number of cycles.")


def _slices(cycles: int, warmup: int | None) -> np.ndarray:
    """Return the edges of the time slices. The end of a given warm-up is added as an edge."""
    edges = np.linspace(0, cycles, min(SLICES, cycles) + 1)
    return np.unique([*edges.astype(np.int64), warmup or 0])


def _steady(slices: np.ndarray, edges: np.ndarray) -> int:
    """Return the first slice from which both throughput and latency are steady, over all seeds together."""
    consumed = slices["consumed"].sum(axis=1) / np.diff(edges)
    messages = slices["messages"].sum(axis=1)
    there = np.flatnonzero(messages)
    if 2 * len(there) < len(messages):
        return steady_from(consumed)  # in fewer than half of the slices a message was created that has been received
    by_latency = int(there[steady_from(slices["latency"].sum(axis=1)[there] / messages[there])])
    return max(steady_from(consumed), min(by_latency, len(messages) // 2))


def check(topology: Topology, traffic: Traffic | Trace, configuration: Configuration, cycles: int | None,
          warmup: int | None, seeds: Sequence[int], precision: float = PRECISION) -> None:
    """Refuse parameters that `load` cannot run."""
    require_kind("topology", topology, Topology)
    require_kind("traffic", traffic, Traffic, Trace)
    require_kind("configuration", configuration, Configuration)
    require_kind("cycles", cycles, int, NoneType)
    require_kind("warmup", warmup, int, NoneType)
    seeds = _checked(seeds)
    require_kind("precision", precision, float)
    if not 0 < precision <= 1:
        raise WormcastError(f"precision: {precision} is not valid. Allowed: above 0, up to 1 (half the latency's "
                            "interval over its mean).")
    if cycles is not None and not 1 <= cycles <= MOST_LOAD_CYCLES:
        raise WormcastError(f"cycles: {cycles} is not valid. Allowed: 1 to {MOST_LOAD_CYCLES}.")
    if isinstance(traffic, Trace) and len(seeds) != 1:
        raise WormcastError(f"seeds: {len(seeds)} seeds are not valid: a trace is not random. Allowed: one seed.")
    cycles = _horizon(topology, traffic, cycles)
    if warmup is not None and not 0 <= warmup < cycles:
        raise WormcastError(f"warmup: {warmup} is not valid with {count(cycles, 'cycle')}. Allowed: "
                            f"{f'0 to {cycles - 1}' if cycles > 1 else '0'}.")
    traffic.check(topology, consumption_links(topology, configuration))
