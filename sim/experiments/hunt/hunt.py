"""Hunt for a deadlock: search, shrink, and run the messages that shrinking leaves."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from wormcast.algorithms import Scheme, Topology, WormcastError
from wormcast.algorithms.typecheck import checked

from ...build.compatibility import require_sendable
from ...build.configuration import Configuration
from ...build.limits import HUNT_CYCLES, HUNT_LENGTHS
from ...build.traffic import LONGEST
from ...host.constants import TAG_BITS
from ...host.program_layout import require_slot, slot_flits
from ..run import Run, run
from .batch_runs import BatchOutcome, BatchRunner, MessageLists, lanes_for
from .cycle_candidates import draw_around_cycle, worms_of_a_cycle
from .draw import draw
from .search import SearchExtent, search
from .shrink import FEW, Messages, shrink

__all__ = ["Hunt", "hunt", "usual_lengths"]

#: Number of lists of messages that may be simulated for shrinking. After this number of lists, shrinking is given up.
MOST_TRIED = 60_000

#: A search for a deadlock of fewer messages has the first search's limit of cycles, divided by FEWER.
FEWER = 10

MOST_HUNT_CYCLES = 2**50


@dataclass(frozen=True)
class Hunt:
    """Result of a hunt.

    Parameters
    ----------
    searched : SearchExtent
        Extent of the search until the first deadlock, or of the whole search.
    first : int or None
        Number of messages in the list of messages that deadlocked first; None if no deadlock was found.
    result : Run or None
        Run of the messages that are left after shrinking, which ends in a deadlock.
    tried : int
        Number of lists of messages that were simulated for shrinking.
    minimal : bool
        True if shrinking was completed, so that the result is minimal as `shrink` states. ``minimal`` is False if
        shrinking was given up after `MOST_TRIED` lists.
    fewer : SearchExtent
        Extent of the searches for a deadlock of fewer messages.
    """

    searched: SearchExtent
    first: int | None = None
    result: Run | None = None
    tried: int = 0
    minimal: bool = False
    fewer: SearchExtent = field(default_factory=SearchExtent)


@checked
def hunt(topology: Topology, scheme: Scheme, *, configuration: Configuration, cycles: int = HUNT_CYCLES,
         lengths: tuple[int, int] | None = None, seed: int = 0, workers: int | None = None,
         on_batch: Callable[[int], None] = lambda done: None) -> Hunt:
    """Search for messages that deadlock, and shrink them (`shrink`).

    Random messages are sent through many empty networks side by side (`draw`). The first search ends when it has proved
    a deadlock, or has simulated ``cycles`` cycles. Further searches, of a tenth of the cycles each, look for a deadlock
    of fewer messages. The first of these searches sends messages around a cycle of dependencies that `check` finds, if
    there is a cycle (`draw_around_cycle`). Before shrinking, if more than 12 worms wait only for each other, searches
    look for a deadlock of at most half the number of messages in the list. After shrinking, if more than two messages
    are left, searches look for a deadlock of fewer messages. Before and after shrinking, one search tries lists that
    `draw_around_cycle` draws, then another search tries random lists. The same seed gives the same result on any number
    of processors.

    Parameters
    ----------
    cycles : int
        Limit of the first search: cycles of all networks together.
    lengths : (int, int), optional
        Least and greatest number of payload flits of a message in the search. Shrinking may make messages shorter.
    seed : int
        Seed of the random messages.
    workers : int, optional
        Number of threads. Default: number of processors.
    on_batch : callable
        Called after each batch of the first search with the number of cycles searched so far.
    """
    if scheme.broadcasts:
        raise WormcastError(f"hunt: {scheme.name} is not valid: it supports broadcast only. "
                            "Allowed: schemes for any set of destinations, such as individual.")
    for name, value, least, most in (("cycles", cycles, 1, MOST_HUNT_CYCLES), ("seed", seed, 0, 2**62)):
        if not least <= value <= most:
            raise WormcastError(f"{name}: {value} is not valid. Allowed: {least} to {most}.")
    lengths = lengths or usual_lengths(configuration)
    if not 1 <= lengths[0] <= lengths[1] <= LONGEST:
        raise WormcastError(f"length: {lengths[0]}:{lengths[1]} is not valid. "
                            f"Allowed: A:B with 1 <= A <= B <= {LONGEST}.")
    if topology.nodes < 2:
        raise WormcastError(f"hunt: {topology.name} is not valid: it has one node. Allowed: two or more nodes.")
    built = configuration.for_headers(topology, scheme, topology.nodes - 1)
    require_sendable(topology, scheme, built)
    _require_slots(topology, scheme, built, lengths[1])
    lanes = lanes_for(topology, built)

    runners = [BatchRunner(topology, scheme, built, lanes) for _ in range(workers or os.cpu_count() or 1)]
    searched, fewer, judge = SearchExtent(), SearchExtent(), DeadlockTest(runners[0])
    found = search(runners, partial(draw, topology, lanes, lengths, None, seed), cycles, searched, on_batch=on_batch)
    if found is None:
        return Hunt(searched)
    first = len(judge.take(found))
    worms = worms_of_a_cycle(runners[0].network)

    def fewest(most: int, *drawn: Callable[..., tuple[MessageLists, float]],
               ) -> tuple[MessageLists, BatchOutcome] | None:
        """Search batches from each function in ``drawn`` for a deadlock of at most ``most`` messages."""
        tenth = -(-cycles // FEWER)
        every = (search(runners, partial(one, topology, lanes, lengths, most, seed), tenth, fewer) for one in drawn)
        return next(filter(None, every), None) if most >= 2 else None

    around = (partial(draw_around_cycle, worms),) if worms else ()
    # shrinking is faster with fewer messages
    found = fewest(first - 1, *around) or found
    while found is not None:
        messages = judge.take(found)
        if len(judge.core(messages)) > FEW and (found := fewest(len(messages) // 2, *around, draw)):
            continue
        left = shrink(messages, judge.first, nodes=topology.nodes, longest=lengths[1], core=judge.core)
        found = fewest(len(left) - 1, *around, draw)
    result = run(topology, scheme, left, configuration)
    if result.outcome != "deadlock":
        raise RuntimeError(f"messages deadlock in lanes, but a single run ends in {result.outcome}: {left}")
    return Hunt(searched, first, result, judge.tried, judge.tried < MOST_TRIED,
                fewer)


def _require_slots(topology: Topology, scheme: Scheme, configuration: Configuration, longest: int) -> None:
    """Refuse retransmission slots that do not hold the longest worm of a hunt."""
    visits = scheme.most_visits(topology)
    if not configuration.slots or visits < 2:
        return
    payload = min(longest, configuration.packet or longest)
    flits = slot_flits(scheme.header_on(topology, configuration.flit_width), visits, payload)
    require_slot(configuration, visits, payload, flits, "--length or --packet")


def usual_lengths(configuration: Configuration) -> tuple[int, int]:
    """Return the default payload limits of a hunt. The least payload has room for a tag that identifies its message."""
    shortest, longest = HUNT_LENGTHS
    return max(shortest, -(-TAG_BITS // configuration.flit_width)), longest


class DeadlockTest:
    """Test of lists of messages for deadlock, by a `BatchRunner` with one list per lane.

    Attributes
    ----------
    tried : int
        Number of lists simulated.
    """

    def __init__(self, runner: BatchRunner):
        self._runner = runner
        self._known: set[Messages] = set()
        self._cores: dict[Messages, Messages] = {}
        self.tried = 0

    def first(self, lists: Iterable[Messages]) -> Messages | None:
        """Return the first list that deadlocks; None if no list does or `MOST_TRIED` lists have been simulated."""
        unknown = (one for one in lists if one not in self._known)
        while self.tried < MOST_TRIED and (some := list(dict.fromkeys(islice(unknown, self._runner.lanes)))):
            batch = MessageLists.of(some)
            outcome = self._runner.run(batch)
            self.tried += len(some)
            self._known.update(some[:outcome.lane])
            if outcome.lane is not None:
                return self.take((batch, outcome))
        return None

    def take(self, found: tuple[MessageLists, BatchOutcome]) -> Messages:
        """Return the list of messages that deadlocked, and store the list's `core`: the worms that wait only for each
        other."""
        batch, outcome = found
        assert outcome.lane is not None
        messages = tuple(batch.messages(outcome.lane))
        worms = [worm for _, worm in outcome.worms[:outcome.closed]]
        begin = min(worm.at for worm in worms)
        self._cores[messages] = tuple(replace(worm, at=worm.at - begin) for worm in worms)
        return messages

    def core(self, messages: Messages) -> Messages:
        """Return the worms of a deadlock that wait only for each other, as messages."""
        return self._cores[messages]
