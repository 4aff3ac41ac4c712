"""Parts of the fuzzer by name: files, combinations, kills."""

from collections.abc import Callable
from random import Random

from .combinations import compare_commands
from .files import FileTrials, original_files
from .kills import KillTrials
from .sandbox import Sandbox
from .session import Part, Session
from .trial import find_faults, run_trial

__all__ = ["PARTS"]


def _files(session: Session) -> Callable[[int, Random], None]:
    trials = FileTrials(original_files())

    def run_number(number: int, rng: Random) -> None:
        trial = trials.trial(rng)
        with Sandbox() as sandbox:
            outcome = run_trial(trial, sandbox)
            session.report(str(number), trial, outcome, find_faults(trial, outcome, sandbox))

    return run_number


def _combinations(session: Session) -> Callable[[int, Random], None]:
    return lambda number, rng: compare_commands(session, number, rng)


def _kills(session: Session) -> Callable[[int, Random], None]:
    trials = KillTrials()
    return lambda number, rng: trials.run(session, number, rng)


PARTS: dict[str, Part] = {"files": _files, "combinations": _combinations, "kills": _kills}
