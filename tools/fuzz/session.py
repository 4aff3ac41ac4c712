"""Sessions: trials of one part from one seed, with counts of exit codes and faults."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from .sandbox import CommandOutcome, preload
from .trial import CommandFault, Trial, keep_trial

__all__ = ["Part", "Session"]

#: Number of trials between two progress lines.
PROGRESS = 100


def _discard(line: str) -> None:
    """Print nothing."""


@dataclass
class Session:
    """Series of trials of one part.

    Parameters
    ----------
    part : str
        Name of the part.
    seed : int
        Seed of all trials. Trial K of a part depends only on the seed and on K.
    folder : Path
        Folder for trials with faults.
    show_fault, show_progress : callable, optional
        Print a line about a fault, and about the progress. By default, faults are printed and progress is not.

    Attributes
    ----------
    trials : int
        Number of trials.
    exit_codes : Counter
        Number of commands with each exit code.
    faults : Counter
        Number of faults of each kind.
    """

    part: str
    seed: int
    folder: Path
    show_fault: Callable[[str], None] = print
    show_progress: Callable[[str], None] = _discard
    trials: int = 0
    exit_codes: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def run(self, prepare: "Part", count: int, seconds: float, first: int = 0) -> None:
        """Run ``count`` trials, numbered from ``first``. Start no trial after the time limit ``seconds``."""
        preload()
        run_number = prepare(self)
        end = time.monotonic() + seconds  # the time limit does not include the preparation
        for number in range(first, first + count):
            if time.monotonic() > end:
                break
            run_number(number, Random(f"{self.part} {self.seed} {number}"))
            self.trials += 1
            if self.trials % PROGRESS == 0:
                self.show_progress(f"{self.part}: {self.trials} trials, {self.faults.total()} faults")

    def report(self, name: str, trial: Trial, outcome: CommandOutcome, faults: list[CommandFault]) -> None:
        """Count a trial. If the trial has faults, store its files and print a command line that repeats it."""
        self.exit_codes[outcome.code] += 1
        if not faults:
            return
        command = keep_trial(self.folder / f"{self.part}-{self.seed}-{name}", trial, outcome, faults)
        for fault in faults:
            self.faults[fault.kind] += 1
            self.show_fault(f"FAULT {name}: {fault.kind}: {fault.text[:400]}")
        self.show_fault(f"  {command}")


#: Function that prepares all trials of a part of the fuzzer, and returns a function that runs the trial of a number.
Part = Callable[[Session], Callable[[int, Random], None]]
