"""Parts of the tool by name: files, combinations, kills."""

from collections.abc import Callable
from random import Random

from .combinations import compared
from .files import Bases, originals
from .guarded import Place
from .kills import Undisturbed
from .session import Part, Session
from .trial import attempt, faults_of

__all__ = ["PARTS"]


def _files(session: Session) -> Callable[[int, Random], None]:
    bases = Bases(originals())

    def trial_of(number: int, rng: Random) -> None:
        trial = bases.trial(rng)
        with Place() as place:
            ended = attempt(trial, place)
            session.report(str(number), trial, ended, faults_of(trial, ended, place))

    return trial_of


def _combinations(session: Session) -> Callable[[int, Random], None]:
    return lambda number, rng: compared(session, number, rng)


def _kills(session: Session) -> Callable[[int, Random], None]:
    undisturbed = Undisturbed()
    return lambda number, rng: undisturbed.kill(session, number, rng)


PARTS: dict[str, Part] = {
    "files": _files,
    "combinations": _combinations,
    "kills": _kills,
}
