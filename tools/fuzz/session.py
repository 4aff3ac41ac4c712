"""A session: trials of a part, by a seed, until there were enough."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from .guarded import Ended, preload
from .trial import Finding, Trial, keep

__all__ = ["Part", "Session"]


@dataclass
class Session:
    """Tries, counts and keeps.

    Parameters
    ----------
    part : str
        Name of the part.
    seed : int
        Trial K of a part is made from the seed and K alone.
    folder : Path
        Where trials with faults are kept.
    say : callable, optional
        Prints a line.

    Attributes
    ----------
    tried : int
        How many trials there were.
    codes : Counter
        How many commands ended with each exit code.
    kinds : Counter
        How many faults there were of each kind.
    """

    part: str
    seed: int
    folder: Path
    say: Callable[[str], None] = print
    tried: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def run(self, prepare: "Part", count: int, seconds: float, first: int = 0) -> None:
        """Make trials ``first``, ``first + 1``, ... until there are so many, or the time is over."""
        preload()
        trial_of = prepare(self)
        end = time.monotonic() + seconds  # what all trials need is made before
        for number in range(first, first + count):
            if time.monotonic() > end:
                break
            trial_of(number, Random(f"{self.part} {self.seed} {number}"))
            self.tried += 1

    def report(self, name: str, trial: Trial, ended: Ended, faults: list[Finding]) -> None:
        """Keep a trial that has faults, and print how to repeat it."""
        self.codes[ended.code] += 1
        if not faults:
            return
        command = keep(self.folder, f"{self.part}-{self.seed}-{name}", trial, ended, faults)
        for fault in faults:
            self.kinds[fault.kind] += 1
            self.say(f"FAULT {name}: {fault.kind}: {fault.text[:400]}")
        self.say(f"  {command}")


#: A part prepares what all of its trials need, and returns a function that makes one from its number.
Part = Callable[[Session], Callable[[int, Random], None]]
