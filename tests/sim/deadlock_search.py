"""Search for random workloads that deadlock where there are too few consumption channels, and shrink them.

    PYTHONPATH=src python tests/sim/deadlock_search.py [NAME ...]

draws, for each case named (by default all), multicasts until a run ends in a deadlock, keeps of them what the
deadlock needs and writes it to ``deadlocks/NAME.json``, a file for ``wormcast run --messages``. What is printed
says how long the search was. The same names give the same files as long as the hardware's cycles do not change.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.deadlock.classes import partitions
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.run import Run, run
from wormcast.sim.host import Message

__all__ = ["CASES", "DEADLOCKS", "Case", "kept"]

DEADLOCKS = Path(__file__).parent / "deadlocks"

LENGTH = 64  # flits: a worm that waits reaches back to its source
EACH = 8  # messages of each node, all created at once
TIMEOUT = 20_000
RETRIES = 24  # changed times of creation, before few messages count as a workload that does not deadlock

THREE_CLASSES = "1+,0+/1-/0-:last"
"""Fewer classes than the paper's four that are enough for e-mcast."""


HARDEST = "1+,0+/1-,0-"
"""Two classes with which 60 draws on 8x8 found no deadlock: its worms have to meet in one column, of which a narrow
mesh has few."""


@dataclass(frozen=True)
class Case:
    """A scheme, and hardware with too few consumption channels or classes for it.

    Parameters
    ----------
    mesh, scheme : str
    too_few : dict
        Options of `Configuration` with which it can deadlock.
    enough : tuple of dict
        Changes to them with which it cannot.
    """

    mesh: str
    scheme: str
    too_few: dict
    enough: tuple[dict, ...]

    def run(self, messages: Sequence[Message], **changes) -> Run:
        """Run messages; without changes on too few channels."""
        options = {"vcs": 1, "buffer": 2} | self.too_few | changes
        return run(topology(self.mesh), SCHEMES[self.scheme], messages, Configuration(**options), timeout=TIMEOUT)

    def deadlocks(self, messages: Sequence[Message]) -> bool:
        """Whether messages deadlock on too few channels."""
        return self.run(messages).outcome == "deadlock"


def _cases() -> Iterator[tuple[str, Case]]:
    for mesh, scheme in (("6x1", "column-path"), ("8x8", "column-path"), ("8x8", "dual-path"), ("8x8", "multipath"),
                         ("8x8", "e-mcast")):
        enough = ({"consumption": 4}, {"consumption": 3, "classes": THREE_CLASSES})
        yield f"{scheme}_{mesh}", Case(f"mesh:{mesh}", scheme, {"consumption": 1},
                                       (*(enough if scheme == "e-mcast" else ({"consumption": 2},)),
                                        {"ejection": "all"}))
    for blocks in partitions(["1+", "1-", "0+", "0-"], 2):
        classes = "/".join(",".join(block) for block in blocks)
        mesh = "6x3" if classes == HARDEST else "8x8"
        yield f"e-mcast_{mesh}_{classes.replace('/', '_')}", Case(
            f"mesh:{mesh}", "e-mcast", {"consumption": 2, "classes": f"{classes}:last"},
            ({"consumption": 4, "classes": None}, {"consumption": 3, "classes": THREE_CLASSES}))


CASES = dict(_cases())
"""By the names of their files: one channel for four schemes, and e-mcast's directions in two classes, in each way."""


def kept(name: str) -> list[Message]:
    """Read the workload that is kept for a case."""
    entries = json.loads((DEADLOCKS / f"{name}.json").read_text())
    return [Message(entry["at"], entry["source"], tuple(entry["destinations"]), entry["length"]) for entry in entries]


def search(case: Case) -> tuple[int, int, int, Run]:
    """Draw workloads until one deadlocks: draws, messages and cycles that it took, and the run."""
    nodes = topology(case.mesh).nodes
    messages = cycles = 0
    for seed in count():
        rng = random.Random(seed)
        most = rng.choice((3, 6, 19))  # some deadlocks need worms with few destinations, some those with many
        workload = []
        for source in range(nodes):
            others = [node for node in range(nodes) if node != source]
            workload += [
                Message(0, source, tuple(rng.sample(others, rng.randint(1, min(most, len(others))))), LENGTH)
                for _ in range(EACH)
            ]
        result = case.run(workload)
        messages, cycles = messages + len(workload), cycles + result.cycles
        if result.outcome == "deadlock":
            return seed + 1, messages, cycles, result
    raise AssertionError("unreachable")


def shrink(case: Case, result: Run) -> list[Message]:
    """Keep few messages of a deadlock, with few destinations, and times that may be missed by some cycles."""
    assert result.deadlock
    rng = random.Random(0)
    circle = [hold.worm for hold in result.deadlock.cycle]
    for worms in (circle, sorted(result.deadlock.worms)):
        found = _retimed(case, [_alone(result, worm) for worm in worms], rng)
        if found:
            break
    else:
        found = list(result.messages)
    piece = len(found) // 2  # delta debugging: by halves, quarters, ... and one by one
    while piece:
        for start in range(0, len(found), piece):
            rest = found[:start] + found[start + piece:]
            fewer = _retimed(case, rest, rng) if rest else None
            if fewer:
                found = fewer
                break
        else:
            piece //= 2
    while True:
        changed = (
            [*found[:m], replace(message, destinations=message.destinations[:d] + message.destinations[d + 1:]),
             *found[m + 1:]]
            for m, message in enumerate(found) if len(message.destinations) > 1
            for d in range(len(message.destinations))
        )
        smaller = next((fewer for fewer in (_retimed(case, one, rng) for one in changed) if fewer), None)
        if smaller is None:
            return _settled(case, found, rng)
        found = smaller


def _alone(result: Run, worm: int) -> Message:
    """A message that becomes one worm of a run alone, when that set out."""
    visits = tuple(result.worms.visits(worm).tolist())
    return Message(int(result.host.injected[worm]), int(result.worms.source[worm]), visits, LENGTH)


def _retimed(case: Case, messages: list[Message], rng: random.Random) -> list[Message] | None:
    """The messages with times at which they deadlock: all at once, their own, or changed at random."""
    first = min(message.at for message in messages)
    own = [replace(message, at=message.at - first) for message in messages]
    at_once = [replace(message, at=0) for message in messages]
    retries = RETRIES if len(messages) <= 8 else 2
    spread = [[replace(message, at=rng.randrange(LENGTH)) for message in messages] for _ in range(retries // 2)]
    shifted = [[replace(message, at=max(0, message.at + rng.randint(-20, 20))) for message in own]
               for _ in range(retries // 2)]
    return next((one for one in (at_once, own, *spread, *shifted) if case.deadlocks(one)), None)


def _settled(case: Case, messages: list[Message], rng: random.Random) -> list[Message]:
    """The messages with times all of which may be missed by up to three cycles; of many, the most tolerant."""
    def tolerance(candidate: list[Message]) -> int:
        return sum(
            case.deadlocks([replace(message, at=max(0, message.at + rng.randint(-3, 3))) for message in candidate])
            for _ in range(12)
        )

    candidates = [messages, [replace(message, at=0) for message in messages]]
    candidates += [[replace(message, at=rng.randrange(0, LENGTH, 8)) for message in messages] for _ in range(16)]
    best = max((one for one in candidates if case.deadlocks(one)), key=tolerance)
    first = min(message.at for message in best)
    return [replace(message, at=message.at - first) for message in best]


def main(names: Sequence[str]) -> None:
    """Search for each case and write its file."""
    DEADLOCKS.mkdir(exist_ok=True)
    for name in names or CASES:
        draws, messages, cycles, result = search(CASES[name])
        found = shrink(CASES[name], result)
        last = CASES[name].run(found)
        assert last.deadlock
        lines = ",\n".join(json.dumps(asdict(message)) for message in found)
        (DEADLOCKS / f"{name}.json").write_text(f"[{lines}]\n")
        print(f"{name}: {draws} draws, {messages} messages, {cycles} cycles; {len(result.deadlock.worms)} worms, "
              f"{len(result.deadlock.cycle)} of them in a circle; shrunk to {len(found)} messages to "
              f"{sum(len(message.destinations) for message in found)} nodes, circle of {len(last.deadlock.cycle)}",
              flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
