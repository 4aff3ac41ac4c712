"""Group of seeds of a load experiment, simulated side by side in one network. The state of the group can be captured
and restored."""

import copy
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...build.limits import MOST_LOAD_CYCLES
from ...build.network import Network
from ...build.traffic import Traffic
from ...common.stop import Stop
from ...engines.bulk import BulkEngine, Capture
from ...engines.deadlock import Deadlock, find_deadlock
from ...engines.meter import take
from ...engines.token_meter import require_tokens
from ...host import NOW, UNDELIVERED, MovingHost, check_receipts
from ...waves.record import around
from ...waves.record.arrays import Leaves, copy_in, copy_out
from .checks import require_conservation, require_no_faults
from .completed import MessageCallback
from .event_totals import EventTotals
from .header_waits import GrantLog
from .message_window import MessageWindow
from .past_states import PastStates
from .result import TOTALS, Totals
from .source import Source
from .stages import StageTotals
from .trace import Trace
from .utilisation import LinkTotals

__all__ = ["FOR_EVER", "CommonEnd", "FoundDeadlock", "GroupState", "SeedBatch"]

#: Number of cycles for which messages are created at a time. CHUNK affects memory, not the measurements.
CHUNK = 2048

#: A deadlock is looked for if hosts have neither sent nor received a flit of a worm under way for more than this number
#: of cycles. The times t_ns and t_nr of interfaces are added to PATIENCE.
PATIENCE = 8192

#: Number of cycles that replaces `PATIENCE` after the last cycle of an experiment.
LAST_PATIENCE = 2048

#: End of the last time slice of an experiment without a fixed end, which runs until all messages are received.
FOR_EVER = MOST_LOAD_CYCLES + 1

#: Classes whose objects are not in `GroupState.others`. The engine captures itself and its host.
#: States do not contain the log of grants.
APART = (BulkEngine, MovingHost, GrantLog)


class CommonEnd:
    """Common end of all groups of seeds: the earliest deadlock found in any group, a stop, or an exception."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self._at: int | None = None
        self._lock = threading.Lock()
        self.broken = False  # an exception ended the present run

    def lower(self, cycle: int) -> None:
        """Set the common end to ``cycle``, unless the present common end is earlier."""
        with self._lock:
            self._at = cycle if self._at is None else min(self._at, cycle)

    def before(self, cycle: int) -> bool:
        """Return whether the common end of all groups of seeds is before ``cycle``, or the run is stopped or broken."""
        return self.stop.requested or self.broken or (self._at is not None and self._at < cycle)


@dataclass(frozen=True)
class FoundDeadlock:
    """Deadlock with its lane, and the instances and cycles to record in a waveform (`around`)."""

    deadlock: Deadlock
    lane: int
    instances: Sequence[tuple[str, int]]
    first: int
    end: int


@dataclass(frozen=True)
class GroupState:
    """State of a group of seeds between two steps."""

    cycle: int
    engine: Capture
    others: Leaves

    @property
    def bytes(self) -> int:
        """Memory of the state in bytes."""
        others = (leaf for leaf in self.others.values() if isinstance(leaf, np.ndarray))
        return sum(array.nbytes for array in (*self.engine.blocks.values(), self.engine.outputs, *self.engine.host,
                                              *others))


class SeedBatch:
    """Network with one lane per seed, its traffic, and its measurements.

    Parameters
    ----------
    network : Network
        A network with one lane per seed.
    traffic : Traffic or Trace
    seeds : sequence of int
    edges : int array [slices + 1]
        Cycles in which time slices begin, and the end of the last one.
    events : bool
        Count events in routers and interfaces, too.

    Attributes
    ----------
    now : int
        Number of simulated cycles.
    found : FoundDeadlock or None
        The first deadlock that was found in the group of seeds.
    drained : bool
        The experiment has no fixed end (last edge `FOR_EVER`), and all its messages are created and received.
    events : EventTotals or None
        Counted events; None if the group does not count events. A group that counts events has no checkpoints.
    """

    events: EventTotals | None = None

    def __init__(self, network: Network, traffic: Traffic | Trace, seeds: Sequence[int],
                 edges: np.ndarray, *, events: bool = False):
        self.seeds = tuple(seeds)
        self.totals, self.links = Totals(edges, len(seeds)), LinkTotals(network, edges)
        self.stages = StageTotals(network, edges)
        self.now = 0
        self.drained = False
        self.window = MessageWindow(network, [
            Source(traffic, network.topology, seed) if isinstance(traffic, Traffic)
            else traffic.source(network.topology, seed) for seed in seeds], CHUNK,
            **({"reply": traffic.reply, "outstanding": traffic.outstanding} if isinstance(traffic, Traffic) else {}))
        self.window.host.smart["seed"] = np.repeat(self.seeds, network.nodes)
        self.engine = BulkEngine(network, self.window.host, measure=True, events=events)
        if events:
            self.events = EventTotals(network, edges)
        self.found: FoundDeadlock | None = None
        self._counted = np.zeros(len(seeds), TOTALS)
        self._waits = network.configuration.t_ns + network.configuration.t_nr
        self._patience = np.full(len(seeds), PATIENCE + self._waits)

    def _next(self) -> int:
        """Return the end of the next step: the next slice's edge or a multiple of `CHUNK`, whichever is earlier.

        The multiple of `CHUNK` is the last one up to the next event, but at least the first one after the
        present cycle.
        """
        edges = self.totals.edges
        event = min(self.window.next, self.engine.next_event())
        return min(max(self.now // CHUNK + 1, event // CHUNK) * CHUNK,
                   int(edges[np.searchsorted(edges, self.now, side="right")]))

    def advance(self, until: int, end: CommonEnd, past: "PastStates[GroupState] | None" = None,
                on_received: MessageCallback | None = None) -> None:
        """Step until cycle ``until`` is reached or passed, but not beyond the common end.

        The cycles in which steps end, and so the measurements, do not depend on ``until``.

        Parameters
        ----------
        past : PastStates, optional
            Store for past states.
        on_received : MessageCallback, optional
            Callback for received messages, for each lane in the order of their numbers.
        """
        while self.now < until and not self.drained and not end.before(following := self._next()):
            if past is not None and past.due(self.now, self.window.rhythm) and not self.found:
                state = self.capture()
                past.add(self.now, state, state.bytes)
            self._step(following, on_received)
            if self.found:
                end.lower(self.found.deadlock.at)

    @property
    def _ends_by_itself(self) -> bool:
        """The last edge is `FOR_EVER`, and all messages are created: the experiment ends when they are received."""
        return bool(self.totals.edges[-1] == FOR_EVER) and self.window.ended

    @property
    def all_received(self) -> bool:
        """The experiment has no fixed end (last edge `FOR_EVER`), and all its messages are created and received."""
        return self._ends_by_itself and not self.engine.host.counters[UNDELIVERED]

    def _step(self, until: int, on_received: MessageCallback | None) -> None:
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
        # received messages are not removed from the window at the edge of every slice, because slices may be short
        if until % CHUNK == 0 or until == edges[-1] or self.drained:
            self._look(on_received)

    def _look(self, on_received: MessageCallback | None) -> None:
        """Remove received messages, assert that no flit is lost, and look for deadlocks."""
        window, engine = self.window, self.engine
        require_no_faults(engine, self.seeds, window.worms_before)  # before worms are removed: faults name worms
        self.totals.add(window.take_done(on_received))
        engine.host = window.host
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
                self.found = FoundDeadlock(deadlock.counted_from(window.worms_before), int(lane), *shown)

    def _count(self, at: int) -> None:
        """Add the counts since the last step to a time slice."""
        window, table = self.window, self.totals.table
        answers = self._counted["answer_payload"].copy()
        for name, count in (*window.counts().items(), ("exchanged", window.exchanged()), *window.admission().items()):
            table[name][at] += count - self._counted[name]
            self._counted[name] = count
        table["waiting"][at] = window.waiting()
        measured = take(self.engine.meter)
        self.links.add(at, measured, table[at])
        table["consumed"][at] -= self._counted["answer_payload"] - answers
        self.stages.add(at, measured)
        if self.events and self.engine.events:
            self.events.add(at, self.engine.events.take(window.network))

    def follow(self) -> None:
        """Record the grants to worms from the first cycle on, so that callbacks get `HeaderWaits`.

        Nothing is recorded in networks with retransmission slots or control packets, nor where switches copy worms to
        several switches.
        """
        network, configuration = self.window.network, self.window.network.configuration
        if not (configuration.slots or configuration.requests_rows
                or any(router.copies for router in network.routers.values())):
            self.engine.follow()
            self.window.log = GrantLog(coupled=configuration.readers == "coupled")

    def all_totals(self) -> Totals:
        """Return a copy of the totals that includes received messages that are younger than an unreceived one."""
        totals = copy.deepcopy(self.totals)
        totals.add(self.window.take_rest())
        return totals

    def extend(self, edges: np.ndarray) -> None:
        """Append time slices. ``edges`` begins with the last edge of the present slices."""
        more = np.zeros((len(edges) - 1, len(self.seeds)), TOTALS)
        self.totals.edges = np.concatenate([self.totals.edges, edges[1:]])
        self.totals.table = np.concatenate([self.totals.table, more])
        self.links.extend(edges)
        self.stages.extend(edges)
        if self.events:
            self.events.extend(edges)

    def replay(self, state: GroupState, first: int, last: int, act: Callable[[BulkEngine], None]) -> None:
        """Restore a state, run to cycle ``first``, and call ``act`` with the engine.

        All messages of cycles before ``last`` are created first. Measurements are invalid afterwards, until another
        state is restored.
        """
        self.restore(state)
        self.window.extend(last)
        self.engine.host = self.window.host
        self.engine.run(first - self.now, beyond=True)
        act(self.engine.in_words())

    def capture(self) -> GroupState:
        """Return a copy of the whole state. No seed of the group may be in a deadlock."""
        self._shrink()
        return GroupState(self.now, self.engine.capture(), self._others())

    def restore(self, state: GroupState) -> None:
        """Restore a state that this group of seeds has captured."""
        self.engine.restore(state.engine)
        self._put(state.others)

    def to_leaves(self) -> Leaves:
        """Return the whole state in a form that every machine can read (`BulkEngine.to_arrays`)."""
        self._shrink()
        return {f"engine.{name}": array for name, array in self.engine.to_arrays().items()} | self._others()

    def from_leaves(self, leaves: Leaves) -> None:
        """Set the state to one that `to_leaves` has returned for a group of the same seeds with the same traffic."""
        prefix = "engine."
        self.engine.from_arrays({
            name.removeprefix(prefix): leaf for name, leaf in leaves.items()
            if name.startswith(prefix) and isinstance(leaf, np.ndarray)})
        self._put({name: leaf for name, leaf in leaves.items() if not name.startswith(prefix)})

    def _shrink(self) -> None:
        """Free received messages, which a state does not need."""
        self.window.shrink()
        self.engine.host = self.window.host

    def _others(self) -> Leaves:
        assert self.found is None
        return copy_out(self, without=APART)

    def _put(self, others: Leaves) -> None:
        self.found = None
        copy_in(self, others, without=APART)
        self.window.host = self.engine.host
        take(self.engine.meter)  # discards the meter's counts since the state was captured
        if self.engine.events:
            self.engine.events.take(self.window.network)
