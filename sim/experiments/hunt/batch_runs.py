"""Simulation of lists of messages side by side, each in its own lane from an empty network, until one deadlocks."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from wormcast.algorithms import Scheme, Topology

from ...build.configuration import Configuration
from ...build.network import Network
from ...engines.bulk import BulkEngine
from ...engines.deadlock import Deadlock, find_deadlock
from ...host import NOW, UNDELIVERED, Host, Message, check_receipts, lay_out
from ...host.program_layout import tag_bits
from ..load.checks import require_no_faults

__all__ = ["LIMIT", "BatchOutcome", "BatchRunner", "MessageLists", "lanes_for"]

#: Greatest number of lanes, and of nodes in all lanes together if there are several lanes. A simulation with more lanes
#: or nodes is not faster.
MOST_LANES, MOST_NODES = 64, 4096

#: Worms under way per node that `lanes_for` assumes.
#: All worms under way in all lanes have different tags, so the number of tags limits the number of lanes.
WORMS_OF_A_NODE = 4

#: STEP: cycles between two checks of all lanes.
#: PATIENCE: a lane is searched for a deadlock when its hosts have sent and received no flit for more cycles than this.
#: Delays of hosts and interfaces are added to PATIENCE.
#: PATIENCE doubles for a lane in which no deadlock is found, for example because a worm is on a long path.
STEP, PATIENCE = 128, 128

#: A list of messages that is neither delivered nor in deadlock is given up LIMIT cycles after its batch's last message
#: is created. 64 times the delays of hosts and interfaces are added to LIMIT.
LIMIT = 32_768


class MessageLists(NamedTuple):
    """Lists of messages as arrays, lane after lane, in the order of each list."""

    lane: np.ndarray  # [messages]
    at: np.ndarray
    source: np.ndarray
    length: np.ndarray
    offsets: np.ndarray  # [messages + 1]
    destinations: np.ndarray

    @classmethod
    def of(cls, lists: Sequence[Sequence[Message]]) -> "MessageLists":
        """Build a batch with one lane per list of messages. No message of the lists may wait for the receipt of another
        one."""
        every = [message for one in lists for message in one]
        return cls(np.repeat(np.arange(len(lists)), [len(one) for one in lists]),
                   np.array([message.at for message in every], np.int64),
                   np.array([message.source for message in every], np.int32),
                   np.array([message.length for message in every], np.int64),
                   np.cumsum([0, *(len(message.destinations) for message in every)]),
                   np.array([node for message in every for node in message.destinations], np.int32))

    def messages(self, lane: int) -> list[Message]:
        """Return a lane's list of messages."""
        return [Message(int(self.at[k]), int(self.source[k]),
                        tuple(self.destinations[self.offsets[k]:self.offsets[k + 1]].tolist()), int(self.length[k]))
                for k in np.flatnonzero(self.lane == lane)]


class BatchOutcome(NamedTuple):
    """Outcome of a batch.

    Members
    -------
    lane : int or None
        The lowest lane that deadlocks; None if no lane deadlocks.
    closed : int
        The first ``closed`` entries of ``worms`` are worms that wait only for each other.
    worms : tuple of (int, Message)
        Worms of the deadlock. An entry of ``worms`` has the index of the worm's message in the lane's list, and the
        worm in the form of a message. A worm in the form of a message is created in the cycle in which the worm's first
        flit was sent. If smart interfaces forward a message, all its worms together count as one worm.
    cycles : int
        Cycles of all lanes together.
    unfinished : int
        Number of lanes that were given up, among the lanes below ``lane``; among all if ``lane`` is None.
    """

    lane: int | None
    closed: int
    worms: tuple[tuple[int, Message], ...]
    cycles: int
    unfinished: int


def lanes_for(topology: Topology, configuration: Configuration) -> int:
    """Return the number of lists of messages to simulate side by side. The number of lists does not depend on the
    processor."""
    tags = 1 << tag_bits(configuration.flit_width)
    return max(1, min(MOST_LANES, MOST_NODES // topology.nodes, tags // (WORMS_OF_A_NODE * topology.nodes)))


class BatchRunner:
    """Network with several lanes, emptied before each batch."""

    def __init__(self, topology: Topology, scheme: Scheme, configuration: Configuration, lanes: int):
        self.network = Network(topology, scheme, configuration, lanes)
        self.lanes = lanes
        self._engine = BulkEngine(self.network, self._host(MessageLists.of([])))
        self._empty = self._engine.capture()
        hosts = configuration.t_hs + configuration.t_hr + configuration.injection_delay
        self._waits = hosts + configuration.t_ns + configuration.t_nr
        self._limit = LIMIT + 64 * self._waits

    def _host(self, batch: MessageLists) -> Host:
        worms = self.network.scheme.batch(self.network.topology, batch.source, batch.offsets, batch.destinations,
                                          packets=self.network.configuration.packets_of(batch.length))
        self._message_of = np.repeat(np.arange(worms.messages), np.diff(worms.message_offsets))
        return lay_out(self.network, batch.at, batch.length, worms, lane=batch.lane)

    def run(self, batch: MessageLists) -> BatchOutcome:
        """Simulate up to ``lanes`` lists of messages until the lowest lane that deadlocks is known, or all lists have
        ended."""
        engine, nodes = self._engine, self.network.topology.nodes
        engine.restore(self._empty)
        engine.host = host = self._host(batch)
        lanes = int(batch.lane.max(initial=-1)) + 1
        lane_of = host.worms["source"] // nodes
        limit = self._limit + int(batch.at.max(initial=0))
        patience = np.full(lanes, PATIENCE + self._waits)
        found: dict[int, Deadlock] = {}
        while True:
            engine.run(min(STEP, limit - int(host.counters[NOW])))
            check_receipts(host)
            now = int(host.counters[NOW])
            open_ = np.bincount(lane_of, host.left, lanes) > 0
            open_[list(found)] = False
            moved = np.zeros(lanes, np.int64)
            np.maximum.at(moved, lane_of, host.touched)
            under_way = np.bincount(lane_of[(host.injected >= 0) & (host.left > 0)], minlength=lanes) > 0
            last = now >= limit
            for lane in np.flatnonzero(open_ & under_way & ((now - moved > patience) | last)):
                patience[lane] *= 2
                deadlock = find_deadlock(engine, int(lane))
                if deadlock:
                    found[int(lane)] = deadlock
                    open_[lane] = False
                    break  # only the lowest lane with a deadlock is reported
            first = min(found, default=lanes)
            if last or not open_[:first].any() or not host.counters[UNDELIVERED]:
                require_no_faults(engine, range(self.lanes))
                unfinished = int(open_[:first].sum())
                if not found:
                    return BatchOutcome(None, 0, (), now * lanes, unfinished)
                closed = self._apart(host, {worm for worm, _ in found[first].closed})
                others = self._apart(host, found[first].worms) - closed
                before = int(np.searchsorted(batch.lane, first))
                worms = tuple(self._alone(host, worm, before) for worm in (*sorted(closed), *sorted(others)))
                return BatchOutcome(first, len(closed), worms, now * lanes, unfinished)

    def _apart(self, host: Host, worms: Iterable[int]) -> set[int]:
        """Return the worms with each forwarded worm replaced by its message's first worm."""
        return {int(host.worms["root"][worm]) if host.worms["root"][worm] >= 0 else worm for worm in worms}

    def _alone(self, host: Host, worm: int, before: int) -> tuple[int, Message]:
        """Return a worm in the form of a message, with the index of the worm's message in its list.

        ``before``: index of the list's first message in the batch.
        """
        row, nodes = host.worms[worm], self.network.topology.nodes
        last = host.worms[max(worm, int(row["posting"]))]
        visits = host.deliveries["node"][row["delivery"]:last["delivery_end"]] % nodes
        return int(self._message_of[worm]) - before, Message(
            int(row["injected"]), int(row["source"]) % nodes, tuple(visits.tolist()), int(row["length"]))
