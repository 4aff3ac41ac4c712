"""A hunt for a deadlock: search, shrink, and run what is left."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from wormcast.algorithms import Scheme, Topology, WormcastError
from wormcast.algorithms.typecheck import require_kind

from ...build.configuration import Configuration
from ...build.front_door import require_sendable
from ...build.limits import HUNT_CYCLES, HUNT_LENGTHS
from ...build.traffic import LONGEST
from ...host.constants import TAG_BITS
from ..run import Run, run
from .arena import Arena, Batch, Outcome, lanes_for
from .draw import draw
from .search import Searched, search
from .shrink import FEW, Messages, shrink
from .stage import legs_of_a_cycle, stage

__all__ = ["Hunt", "hunt", "usual_lengths"]

#: Lists of messages that are run at most to make those of a deadlock fewer and smaller.
MOST_TRIED = 60_000

#: What part of the cycles goes into looking for a deadlock of fewer messages than one that is found.
FEWER = 10

MOST_CYCLES = 2**50


@dataclass(frozen=True)
class Hunt:
    """What a hunt has found.

    Parameters
    ----------
    searched : Searched
        Until it was found, or all.
    first : int or None
        Messages of the network in which a deadlock was found; None if none was.
    result : Run or None
        The run of what is left of them, which ends in a deadlock.
    tried : int
        Lists of messages that were run to make them fewer and smaller.
    minimal : bool
        Whether that came to its end, so that `shrink` holds; else it was given up.
    fewer : Searched
        Where fewer messages than those that were left were looked for; what was found there is the result.
    """

    searched: Searched
    first: int | None = None
    result: Run | None = None
    tried: int = 0
    minimal: bool = False
    fewer: Searched = field(default_factory=Searched)


def hunt(topology: Topology, scheme: Scheme, *, configuration: Configuration, cycles: int = HUNT_CYCLES,
         lengths: tuple[int, int] | None = None, seed: int = 0, workers: int | None = None,
         tell: Callable[[int], None] = lambda done: None) -> Hunt:
    """Look for messages that deadlock, and make them as few and small as they get (`shrink`).

    Random messages are sent through many networks side by side, each of which is empty at first (`draw`); the first one
    in which a deadlock is proved ends the search. Other searches, of a tenth of the cycles each, are for a deadlock of
    fewer: at first of messages around a cycle that `check` finds (`stage`); of these and of random ones where shrinking
    leaves more than two, and before it where it takes many worms that wait for none but each other. The same seed finds
    the same, on any number of processors.

    Parameters
    ----------
    cycles : int
        To search at most, of all networks together.
    lengths : (int, int), optional
        Fewest and most payload flits of a message in the search; shrunk ones may be shorter.
    seed : int
    workers : int, optional
        Threads; as many as there are processors if it is not given.
    tell : callable
        Is told the cycles that are searched, again and again.

    Raises
    ------
    WormcastError
        Bad input, in a sentence.
    """
    require_kind("topology", topology, Topology)
    require_kind("scheme", scheme, Scheme)
    require_kind("configuration", configuration, Configuration)
    if scheme.broadcasts:
        raise WormcastError(f"hunt: {scheme.name} sends broadcasts alone, from which no destination can be left out; "
                            "allowed are schemes of any multicasts, as individual, which sends the same kind of worms")
    for name, value, least, most in (("cycles", cycles, 1, MOST_CYCLES), ("seed", seed, 0, 2**62)):
        require_kind(name, value, int)
        if not least <= value <= most:
            raise WormcastError(f"{name}: {value} is given, allowed are {least} to {most}")
    lengths = lengths or usual_lengths(configuration)
    if not 1 <= lengths[0] <= lengths[1] <= LONGEST:
        raise WormcastError(f"length: {lengths[0]}:{lengths[1]} is given, it must be A:B with 1 <= A <= B <= {LONGEST}")
    if topology.nodes < 2:
        raise WormcastError(f"hunt: {topology.name} has one node, messages need two or more")
    built = configuration.for_headers(topology, scheme, topology.nodes - 1)
    require_sendable(topology, scheme, built)
    lanes = lanes_for(topology, built)

    arenas = [Arena(topology, scheme, built, lanes) for _ in range(workers or os.cpu_count() or 1)]
    searched, fewer, judge = Searched(), Searched(), Judge(arenas[0])
    found = search(arenas, partial(draw, topology, lanes, lengths, None, seed), cycles, searched, tell=tell)
    if found is None:
        return Hunt(searched)
    first = len(judge.take(found))
    legs = legs_of_a_cycle(arenas[0].network)

    def fewest(most: int, *drawn: Callable[..., tuple[Batch, float]]) -> tuple[Batch, Outcome] | None:
        """Look for a deadlock of so many messages at most, among each of these lists."""
        tenth = -(-cycles // FEWER)
        every = (search(arenas, partial(one, topology, lanes, lengths, most, seed), tenth, fewer) for one in drawn)
        return next(filter(None, every), None) if most >= 2 else None

    staged = (partial(stage, legs),) if legs else ()
    # few are shrunk sooner than many
    found = fewest(first - 1, *staged) or found
    while found is not None:
        messages = judge.take(found)
        if len(judge.core(messages)) > FEW and (found := fewest(len(messages) // 2, *staged, draw)):
            continue
        left = shrink(messages, judge.first, nodes=topology.nodes, longest=lengths[1], core=judge.core)
        found = fewest(len(left) - 1, *staged, draw)
    result = run(topology, scheme, left, configuration)
    if result.outcome != "deadlock":
        raise RuntimeError(f"messages that deadlock in lanes are {result.outcome} alone: {left}")
    return Hunt(searched, first, result, judge.tried, judge.tried < MOST_TRIED,
                fewer)


def usual_lengths(configuration: Configuration) -> tuple[int, int]:
    """Fewest and most payload flits of messages that are hunted with by default: enough to tell all of them apart."""
    shortest, longest = HUNT_LENGTHS
    return max(shortest, -(-TAG_BITS // configuration.flit_width)), longest


class Judge:
    """Says which lists of messages deadlock, as many as an arena has lanes at a time.

    Parameters
    ----------
    arena : Arena

    Attributes
    ----------
    tried : int
        Lists that it has run.
    """

    def __init__(self, arena: Arena):
        self._arena = arena
        self._known: set[Messages] = set()
        self._cores: dict[Messages, Messages] = {}
        self.tried = 0

    def first(self, lists: Iterable[Messages]) -> Messages | None:
        """The first of some lists that deadlocks; None if none does, or it has run `MOST_TRIED`."""
        unknown = (one for one in lists if one not in self._known)
        while self.tried < MOST_TRIED and (some := list(dict.fromkeys(islice(unknown, self._arena.lanes)))):
            batch = Batch.of(some)
            outcome = self._arena.run(batch)
            self.tried += len(some)
            self._known.update(some[:outcome.lane])
            if outcome.lane is not None:
                return self.take((batch, outcome))
        return None

    def take(self, found: tuple[Batch, Outcome]) -> Messages:
        """The list that deadlocks, of which `core` is known from now on."""
        batch, outcome = found
        assert outcome.lane is not None
        messages = tuple(batch.messages(outcome.lane))
        worms = [worm for _, worm in outcome.worms[:outcome.closed]]
        begin = min(worm.at for worm in worms)
        self._cores[messages] = tuple(replace(worm, at=worm.at - begin) for worm in worms)
        return messages

    def core(self, messages: Messages) -> Messages:
        """Of messages that deadlock, the worms that wait for none but each other, as messages of their own."""
        return self._cores[messages]
