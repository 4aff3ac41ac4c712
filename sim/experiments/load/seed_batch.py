"""Some seeds of a load experiment, side by side in one network: run to a cycle, captured, put back."""

import copy
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...build.network import Network
from ...build.traffic import Traffic
from ...engines.bulk import BulkEngine, Capture
from ...engines.deadlock import Deadlock, find_deadlock
from ...engines.meter import take
from ...engines.token_meter import require_tokens
from ...host import NOW, UNDELIVERED, MovingHost, check_receipts
from ...waves.record import around
from ...waves.record.arrays import Leaves, copy_in, copy_out
from .checks import require_conservation, require_no_faults
from .completed import Tell
from .header_waits import GrantLog
from .message_window import MessageWindow
from .past_states import PastStates
from .result import TOTALS, Totals
from .source import Source
from .stages import StageTotals
from .trace import MOST_CYCLES, Trace
from .utilisation import LinkTotals

__all__ = ["FOR_EVER", "CommonEnd", "Found", "SeedBatch", "State"]

#: Cycles for which messages are created at a time: what is in memory follows from it, results do not.
CHUNK = 2048

#: Cycles without a flit of some worm under way, beyond its interfaces' waits, after which a deadlock is looked for.
PATIENCE = 8192

#: The same at the end of an experiment, when it is the last time to look.
LAST_PATIENCE = 2048

#: The last edge of an experiment that goes on until all is received.
FOR_EVER = MOST_CYCLES + 1

#: What the engine's own capture holds; and what is told before anything is put back.
APART = (BulkEngine, MovingHost, GrantLog)


class CommonEnd:
    """Where all groups end: at the earliest deadlock that any has found, whoever finds it first, or when told to."""

    def __init__(self) -> None:
        self._at: int | None = None
        self._lock = threading.Lock()
        self.stopped = False  # for good, by `Experiment.stop`
        self.broken = False  # what is run now, by an exception

    def lower(self, cycle: int) -> None:
        """End in this cycle, or in an earlier one that is known."""
        with self._lock:
            self._at = cycle if self._at is None else min(self._at, cycle)

    def before(self, cycle: int) -> bool:
        """Whether the end comes before this cycle."""
        return self.stopped or self.broken or (self._at is not None and self._at < cycle)


@dataclass(frozen=True)
class Found:
    """A deadlock, the lane that it is in, and which instances and cycles show how it came about (`around`)."""

    deadlock: Deadlock
    lane: int
    instances: Sequence[tuple[str, int]]
    first: int
    end: int


@dataclass(frozen=True)
class State:
    """A group between two of its steps."""

    cycle: int
    engine: Capture
    others: Leaves

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        others = (leaf for leaf in self.others.values() if isinstance(leaf, np.ndarray))
        return sum(array.nbytes for array in (*self.engine.blocks.values(), self.engine.outputs, *self.engine.host,
                                              *others))


class SeedBatch:
    """A network with a lane for each of some seeds, the traffic in it, and what is measured of it.

    Parameters
    ----------
    network : Network
        With so many lanes.
    traffic : Traffic or Trace
    seeds : sequence of int
    edges : int array [slices + 1]
        Cycles in which slices of time begin, and the last one ends.

    Attributes
    ----------
    now : int
        Cycles that have been run.
    found : Found or None
        The first deadlock.
    drained : bool
        All is received, of an experiment whose last edge is `FOR_EVER`.
    """

    def __init__(self, network: Network, traffic: Traffic | Trace, seeds: Sequence[int],
                 edges: np.ndarray):
        self.seeds = tuple(seeds)
        self.totals, self.links = Totals(edges, len(seeds)), LinkTotals(network, edges)
        self.stages = StageTotals(network, edges)
        self.now = 0
        self.drained = False
        self.window = MessageWindow(network, [
            Source(traffic, network.topology, seed) if isinstance(traffic, Traffic)
            else traffic.source(network.topology, seed) for seed in seeds], CHUNK)
        self.engine = BulkEngine(network, self.window.host, measure=True)
        self.found: Found | None = None
        self._counted = np.zeros(len(seeds), TOTALS)
        self._waits = network.configuration.t_ns + network.configuration.t_nr
        self._patience = np.full(len(seeds), PATIENCE + self._waits)

    def _next(self) -> int:
        """The cycle up to which the next step goes: an edge, or a multiple of `CHUNK`.

        It is the next multiple, or the last one before anything happens.
        """
        edges = self.totals.edges
        event = min(self.window.next, self.engine.next_event())
        return min(max(self.now // CHUNK + 1, event // CHUNK) * CHUNK,
                   int(edges[np.searchsorted(edges, self.now, side="right")]))

    def advance(self, until: int, end: CommonEnd, past: "PastStates[State] | None" = None,
                tell: Tell | None = None) -> None:
        """Step until this cycle is reached, or passed within the last step, but not beyond the end.

        The steps, and so what is measured, do not depend on where it is asked to pause.

        Parameters
        ----------
        past : PastStates, optional
            Where to keep states on the way.
        tell : Tell, optional
            Gets the messages that are through, those of a lane in the order of their numbers.
        """
        while self.now < until and not self.drained and not end.before(following := self._next()):
            if past is not None and past.due(self.now, self.window.rhythm) and not self.found:
                state = self.capture()
                past.add(self.now, state, state.bytes)
            self._step(following, tell)
            if self.found:
                end.lower(self.found.deadlock.at)

    @property
    def _ends_by_itself(self) -> bool:
        """Whether it ends when all is received: of an experiment for ever, when all messages are created."""
        return bool(self.totals.edges[-1] == FOR_EVER) and self.window.ended

    @property
    def all_received(self) -> bool:
        """Whether all messages are created and received, of an experiment whose last edge is `FOR_EVER`."""
        return self._ends_by_itself and not self.engine.host.counters[UNDELIVERED]

    def _step(self, until: int, tell: Tell | None) -> None:
        window, engine = self.window, self.engine
        if window.next < (chunk := (self.now // CHUNK + 1) * CHUNK):
            window.extend(chunk)
            engine.host = window.host
        edges = self.totals.edges
        if engine.grants:
            engine.grants.number_from(window.worms_before)
        engine.run(until - self.now, beyond=not self._ends_by_itself)
        if engine.grants and window.log:
            window.log.add(engine.grants.take())
        self.now = int(engine.host.counters[NOW])
        self.drained = self.all_received
        at = int(np.searchsorted(edges, until)) - 1
        self._count(at)
        if until % CHUNK == 0 or until == edges[-1] or self.drained:  # often enough, where slices are short
            self._look(tell)

    def _look(self, tell: Tell | None) -> None:
        """Forget what is through, assert that nothing is lost, and look for deadlocks."""
        window, engine = self.window, self.engine
        self.totals.add(window.take_done(tell))
        engine.host = window.host
        require_no_faults(engine, self.seeds)
        require_tokens(engine)
        check_receipts(window.host)
        at_the_end = self.now == self.totals.edges[-1]
        if at_the_end or self.drained or self.now // CHUNK % window.rhythm == 0:
            require_conservation(window, self.totals.table, self.seeds)
        patience = np.minimum(self._patience, LAST_PATIENCE + self._waits) if at_the_end else self._patience
        for lane in np.flatnonzero(window.quiet() > patience):
            self._patience[lane] *= 2
            if self.found is None and (deadlock := find_deadlock(engine, int(lane))):
                shown = around(window.network, deadlock, int(lane))
                self.found = Found(deadlock.counted_from(window.worms_before), int(lane), *shown)

    def _count(self, at: int) -> None:
        """Add what has come since the last step to a slice of time."""
        window, table = self.window, self.totals.table
        for name, count in window.counts().items():
            table[name][at] += count - self._counted[name]
            self._counted[name] = count
        table["waiting"][at] = window.waiting()
        measured = take(self.engine.meter)
        self.links.add(at, measured, table[at])
        self.stages.add(at, measured)

    def follow(self) -> None:
        """Follow the worms from the first cycle on, so that a `Through` has a `Way`.

        Not in retransmission slots or deep buffers, and not worms that are copied on their way.
        """
        network, configuration = self.window.network, self.window.network.configuration
        if not (configuration.slots or configuration.deep or network.scheme.is_tree):
            self.engine.follow()
            self.window.log = GrantLog(coupled=configuration.readers == "coupled")

    def all_totals(self) -> Totals:
        """Give a copy of the totals, with messages that are received while older ones are not."""
        totals = copy.deepcopy(self.totals)
        totals.add(self.window.take_rest())
        return totals

    def extend(self, edges: np.ndarray) -> None:
        """Add slices of time: their edges, from the last one that there is on."""
        more = np.zeros((len(edges) - 1, len(self.seeds)), TOTALS)
        self.totals.edges = np.concatenate([self.totals.edges, edges[1:]])
        self.totals.table = np.concatenate([self.totals.table, more])
        self.links.extend(edges)
        self.stages.extend(edges)

    def replay(self, state: State, first: int, last: int, act: Callable[[BulkEngine], None]) -> None:
        """Go back to a state and run on to cycle ``first``; then the engine is handed over.

        All messages up to ``last`` are there by then. What is measured is of no use after this, until the group is
        restored to another state.
        """
        self.restore(state)
        self.window.extend(last)
        self.engine.host = self.window.host
        self.engine.run(first - self.now, beyond=True)
        act(self.engine.in_words())

    def capture(self) -> State:
        """Copy the whole state; not after a deadlock, which has nothing to continue."""
        self._shrink()
        return State(self.now, self.engine.capture(), self._others())

    def restore(self, state: State) -> None:
        """Go back to a state that this group has captured."""
        self.engine.restore(state.engine)
        self._put(state.others)

    def to_leaves(self) -> Leaves:
        """Give the whole state so that it means the same on every machine (`BulkEngine.to_arrays`)."""
        self._shrink()
        return {f"engine.{name}": array for name, array in self.engine.to_arrays().items()} | self._others()

    def from_leaves(self, leaves: Leaves) -> None:
        """Take over a state that a group with these seeds and this traffic gave by `to_leaves`."""
        prefix = "engine."
        self.engine.from_arrays({
            name.removeprefix(prefix): leaf for name, leaf in leaves.items()
            if name.startswith(prefix) and isinstance(leaf, np.ndarray)})
        self._put({name: leaf for name, leaf in leaves.items() if not name.startswith(prefix)})

    def _shrink(self) -> None:
        """Keep nothing that is through: a state has no use for it."""
        self.window.shrink()
        self.engine.host = self.window.host

    def _others(self) -> Leaves:
        assert self.found is None
        return copy_out(self, without=APART)

    def _put(self, others: Leaves) -> None:
        self.found = None
        copy_in(self, others, without=APART)
        self.window.host = self.engine.host
        take(self.engine.meter)  # what was counted in between counts for nothing
