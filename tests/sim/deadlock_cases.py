"""Kept deadlocks: of each scheme with too few consumption channels or classes, few and small messages that deadlock.

    PYTHONPATH=src python tests/sim/deadlock_cases.py [NAME ...]

hunts for each case named (by default all), as ``wormcast hunt`` does, and writes ``deadlocks/NAME.jsonl``, a file for
``wormcast run --messages``. What is printed says how long the hunt was. The same names give the same files as long as
the hardware's cycles do not change.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.deadlock.classes import partitions
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.hunt import hunt
from wormcast.sim.experiments.message_file import MessageFile, messages_in, write_messages
from wormcast.sim.experiments.run import Run, run
from wormcast.sim.host import Message

__all__ = ["CASES", "DEADLOCKS", "Case", "kept"]

DEADLOCKS = Path(__file__).parent / "deadlocks"

TIMEOUT = 20_000

THREE_CLASSES = "1+,0+/1-/0-:last"
"""Fewer classes than the paper's four that are enough for e-mcast."""

HARDEST = "1+,0+/1-,0-"
"""Two classes whose worms have to meet in one column, of which a narrow mesh has few."""


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
        return run(topology(self.mesh), SCHEMES[self.scheme], messages, self.configuration(**changes),
                   timeout=TIMEOUT)

    def configuration(self, **changes) -> Configuration:
        """The hardware."""
        return Configuration(**({"vcs": 1, "buffer": 2} | self.too_few | changes))


def _cases() -> Iterator[tuple[str, Case]]:
    for mesh, scheme in (("6x1", "column-path"), ("8x8", "column-path"), ("8x8", "dual-path"), ("8x8", "multipath"),
                         ("8x8", "e-mcast"), ("3x3x3", "dual-path"), ("3x3x3", "column-path"), ("3x3x3", "sp")):
        enough = ({"consumption": 4}, {"consumption": 3, "classes": THREE_CLASSES})
        yield f"{scheme}_{mesh}", Case(f"mesh:{mesh}", scheme, {"consumption": 1},
                                       (*(enough if scheme == "e-mcast" else ({"consumption": 2},)),
                                        {"ejection": "all"}))
    yield "atbm_min_8", Case("min:b=2,stages=3", "atbm", {"consumption": 1, "tokens": "off"}, ({"tokens": "on"},))
    for blocks in partitions(["1+", "1-", "0+", "0-"], 2):
        classes = "/".join(",".join(block) for block in blocks)
        mesh = "6x3" if classes == HARDEST else "8x8"
        yield f"e-mcast_{mesh}_{classes.replace('/', '_')}", Case(
            f"mesh:{mesh}", "e-mcast", {"consumption": 2, "classes": f"{classes}:last"},
            ({"consumption": 4, "classes": None}, {"consumption": 3, "classes": THREE_CLASSES}))


CASES = dict(_cases())
"""By the names of their files: one channel for four schemes, trees without tokens, and e-mcast's directions in two
classes, in each way."""


def kept(name: str) -> list[Message]:
    """Read the messages that are kept for a case."""
    file = MessageFile(str(DEADLOCKS / f"{name}.jsonl"), "kept", 2**32, 2**16)
    return messages_in(file, topology(CASES[name].mesh))


def main(names: Sequence[str]) -> None:
    """Hunt for each case and write its file."""
    DEADLOCKS.mkdir(exist_ok=True)
    for name in names or CASES:
        case = CASES[name]
        network = topology(case.mesh)
        found = hunt(network, SCHEMES[case.scheme], configuration=case.configuration(), cycles=10**8)
        assert found.result is not None, f"{name}: none found"
        write_messages(found.result.messages, network, DEADLOCKS / f"{name}.jsonl")
        print(f"{name}: {found.searched.cycles} cycles of {found.searched.networks} networks, {found.first} messages "
              f"shrunk to {len(found.result.messages)} by {found.tried} runs", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
