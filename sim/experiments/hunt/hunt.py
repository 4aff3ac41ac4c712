"""A hunt for a deadlock: search, shrink, and run what is left."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from wormcast.algorithms import Scheme, Topology, WormcastError
from wormcast.algorithms.kinds import require_kind

from ...build.configuration import Configuration
from ..load.traffic import LONGEST
from ..run import Run, run
from .arena import Arena, Batch, Outcome, lanes_for
from .search import Searched, search
from .shrink import FEW, Messages, retimed, shrink

__all__ = ["CYCLES", "LENGTHS", "Hunt", "hunt"]

#: Other times and lengths that are tried of the worms of a deadlock alone: if they do, all others go at once.
TRIES = 4000

#: What part of the cycles goes into looking for a deadlock of fewer messages than one that is found.
FEWER = 10

#: What a hunt has where nothing is said: cycles of all networks together, and payload flits of messages.
CYCLES, LENGTHS = 100_000_000, (1, 256)

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
    fewer : Searched
        Where fewer messages than those that were left were looked for, from random ones; what was found there is the
        result.
    """

    searched: Searched
    first: int | None = None
    result: Run | None = None
    tried: int = 0
    fewer: Searched = field(default_factory=Searched)


def hunt(topology: Topology, scheme: Scheme, *, configuration: Configuration, cycles: int = CYCLES,
         lengths: tuple[int, int] = LENGTHS, seed: int = 0, workers: int | None = None,
         tell: Callable[[int], None] = lambda done: None) -> Hunt:
    """Look for messages that deadlock, and make them as few and small as they get (`shrink`).

    Random messages are sent through many networks side by side, each of which is empty at first (`draw`); the first one
    in which a deadlock is proved ends the search. Where shrinking leaves more than two messages, and before it where
    they are many, another search, of a tenth of the cycles, is for a deadlock of fewer. The same seed finds the same,
    on any number of processors.

    Parameters
    ----------
    cycles : int
        To search at most, of all networks together.
    lengths : (int, int)
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
    if not 1 <= lengths[0] <= lengths[1] <= LONGEST:
        raise WormcastError(f"length: {lengths[0]}:{lengths[1]} is given, it must be A:B with 1 <= A <= B <= {LONGEST}")
    if topology.nodes < 2:
        raise WormcastError(f"hunt: {topology.name} has one node, messages need two or more")
    built = configuration.for_headers(topology, scheme, topology.nodes - 1)
    lanes = lanes_for(topology, built)

    arenas = [Arena(topology, scheme, built, lanes) for _ in range(workers or os.cpu_count() or 1)]
    searched, fewer, judge = Searched(), Searched(), Judge(arenas[0])
    found = search(arenas, lengths, cycles, seed, searched, tell=tell)
    if found is None:
        return Hunt(searched)
    first = len(_messages(found))

    def again(most: int) -> tuple[Batch, Outcome] | None:
        return search(arenas, lengths, -(-cycles // FEWER), seed, fewer, most=most) if most >= 2 else None

    while found is not None:
        core = judge.first(_cores(found, lengths[1]))
        assert core is not None, "messages deadlock once, and then no more"
        if len(core) > FEW and (found := again(len(core) // 2)):
            continue  # few are shrunk sooner than many
        left = shrink(core, judge.first, nodes=topology.nodes, longest=lengths[1])
        found = again(len(left) - 1)
    result = run(topology, scheme, left, configuration)
    if result.outcome != "deadlock":
        raise RuntimeError(f"messages that deadlock in lanes are {result.outcome} alone: {left}")
    return Hunt(searched, first, result, judge.tried, fewer)


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
        self.tried = 0

    def first(self, lists: Iterable[Messages]) -> Messages | None:
        """The first of some lists that deadlocks; None if none does."""
        unknown = (one for one in lists if one not in self._known)
        while some := list(dict.fromkeys(islice(unknown, self._arena.lanes))):
            outcome = self._arena.run(Batch.of(some))
            self.tried += len(some)
            self._known.update(some[:outcome.lane])
            if outcome.lane is not None:
                return some[outcome.lane]
        return None


def _messages(found: tuple[Batch, Outcome]) -> Messages:
    """The list that deadlocks."""
    batch, outcome = found
    assert outcome.lane is not None
    return tuple(batch.messages(outcome.lane))


def _cores(found: tuple[Batch, Outcome], longest: int) -> Iterator[Messages]:
    """What a deadlock may need: the worms of its circle, of all that it holds, their messages, at last all messages."""
    messages, (_, outcome) = _messages(found), found
    first = min(worm.at for _, worm in outcome.worms)
    for number in (outcome.circle, len(outcome.worms)):
        some = outcome.worms[:number]
        yield from retimed(tuple(replace(worm, at=worm.at - first) for _, worm in some), longest, TRIES)
        yield from retimed(tuple(messages[place] for place in sorted({place for place, _ in some})), longest)
    yield messages
