"""Verdicts on statements of papers, by the rules of docs/figures.md."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wormcast.algorithms import SCHEMES

from ...common.requirements import ToolMissing
from .definition import Statement
from .evidence import HELD, LEVEL, NO_DIFFERENCE, NOT_HELD, UNDECIDED
from .predicate import CommandValue, Measured, Predicate

__all__ = ["CIRCULAR", "NOT_JUDGED", "VERDICTS", "Verdict", "expected_errors", "judge"]

#: Verdicts on statements that measurements do not decide.
NOT_JUDGED, CIRCULAR = "not judged", "circular"

#: All verdicts, in the order of totals.
VERDICTS = (HELD, NOT_HELD, NO_DIFFERENCE, UNDECIDED, NOT_JUDGED, CIRCULAR)

#: Greatest factor by which `turning_limit` changes a limit.
FARTHEST = 16.0

#: Halvings of the interval in which `turning_limit` searches: a precision of 0.1 %.
HALVINGS = 12


NO_SCHEMES: Mapping[str, str] = {}


@dataclass(frozen=True)
class Verdict:
    """Verdict on a statement.

    Parameters
    ----------
    claim, statement, predicate : str
    verdict : str
        One of `VERDICTS`, without variation.
    numbers : str
        Values of both sides of each comparison.
    why : str
        Clauses, separated by semicolons. If the statement's truth differs between loads: the loads at which it holds,
        is reversed, or is open. Otherwise: the reason why the statement is undecided, or empty. If the verdict is not
        "held", ``why`` ends with the statement's note.
    changed_by : mapping of str to str
        For each variation whose verdict is decided and differs from ``verdict``: its name and its verdict.
    variations : mapping of str to str
        Verdict under each variation that was run.
    statistical : bool
        The statement compares measurements with random errors.
    look : int
        Number of the look that decided, from 1.
    limit, turns_at : float or None
        Limit of ours that stands for a word of the paper; the nearest limit with another verdict.
    reconstructed : tuple of str
        Reconstructed schemes in the statement.
    printed : str
        What the paper prints, if the statement is one of its main results.
    """

    claim: str
    statement: str
    predicate: str
    verdict: str
    numbers: str
    why: str
    changed_by: Mapping[str, str]
    variations: Mapping[str, str] = field(default_factory=dict)
    statistical: bool = False
    look: int = 1
    limit: float | None = None
    turns_at: float | None = None
    reconstructed: tuple[str, ...] = ()
    printed: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the verdict as plain data for JSON."""
        return {**vars(self), "changed_by": dict(self.changed_by), "variations": dict(self.variations),
                "reconstructed": list(self.reconstructed)}

    @property
    def sweep(self) -> str:
        """In which variations the statement is held, as text: all, some (which) or none; empty without variations."""
        held = [name for name, one in self.variations.items() if one == HELD]
        if not self.variations:
            return ""
        some = "all" if len(held) == len(self.variations) else f"{len(held)} of" if held else "none of"
        return f"held in {some} {len(self.variations)} variations" + (
            f": {', '.join(held)}" if 0 < len(held) < len(self.variations) else "")

    @property
    def remarks(self) -> str:
        """Limit and reconstructed schemes, as text: ``limit of ours: 1.5; the verdict turns at 1.73``; empty if
        there is neither."""
        turns = "does not turn" if self.turns_at is None else f"turns at {self.turns_at:.3g}"
        limit = [] if self.limit is None else [f"limit of ours: {self.limit:g}; the verdict {turns}"]
        return "; ".join([*limit, *(["reconstructed: " + ", ".join(self.reconstructed)] if self.reconstructed else [])])


def expected_errors(verdicts: list[Verdict]) -> float:
    """Return an upper limit of the expected number of wrong decisions: `LEVEL` for each statistical verdict that is
    neither `NOT_JUDGED` nor `CIRCULAR`."""
    return LEVEL * sum(one.statistical and one.verdict not in (NOT_JUDGED, CIRCULAR) for one in verdicts)


def judge(statement: Statement, measured: Callable[[str | None], Measured], output: CommandValue,
          variations: list[str], *, schemes: Mapping[str, str] = NO_SCHEMES, statistical: bool = False, look: int = 1,
          looks: int = 1, missing: float = 0.0) -> Verdict:
    """Decide a statement without variation, and under each variation if the statement compares series.

    A statement that needs a tool that is not installed is undecided, and ``why`` names the tool. A statement of order
    between a reconstructed scheme and another one is decided only if it holds against the statement's bound, too.

    Parameters
    ----------
    measured : callable
        Name of a variation or None -> measurements under it.
    variations : list of str
        Variations that were run. Each variation takes one look.
    schemes : mapping of str to str
        Scheme of each series of the statement.
    statistical : bool
        The series of the statement have random errors.
    look, looks : int
        Number of this look, and the most looks. Each look has the level `LEVEL` / ``looks``.
    missing : float
        Hours by which a budget has shortened the run.
    """
    def verdict(predicate: Predicate, variation: str | None = None, share: int = looks) -> str:
        level = LEVEL / share
        found = predicate.evaluate(measured(variation), output, level).truth
        return found.verdict(level, last=look >= share)

    reconstructed = _reconstructed([one for each in statement.predicates for one in (*each.series, *each.commands)],
                                   schemes)
    fixed = statement.fixed
    try:
        outcome = statement.holds.evaluate(measured(None), output, LEVEL / looks)
        decided = verdict(statement.holds)
        others = {name: verdict(statement.holds, name, 1) for name in variations if statement.holds.series}
        why = [outcome.truth.region(LEVEL / looks)]
        if not fixed and any(_is_about_rival(names, schemes) for names in statement.holds.orders) and not (
                decided == HELD and statement.bound and verdict(statement.bound) == HELD):
            bound = ("and the statement is not held against the bound of all forms of the rival" if statement.bound
                     else "but no bound of all forms of the rival is known")
            why.append("the rival is reconstructed" + (
                f"; the verdict with our form of the rival is {decided}, {bound}" if decided != UNDECIDED else ""))
            decided = UNDECIDED
        if decided == UNDECIDED and missing:
            why.append(f"the budget shortened the run by {missing:.1f} hours")
        limit = None if fixed else statement.holds.limit
        turns = None if limit is None else turning_limit(statement.holds, limit, verdict)
    except ToolMissing as error:
        return Verdict(statement.claim, statement.text, statement.holds.text, fixed or UNDECIDED, "", str(error), {},
                       reconstructed=reconstructed, printed=statement.printed)
    decided = fixed or decided
    why = [statement.because] if fixed else why
    changed = {name: other for name, other in others.items() if other not in (decided, UNDECIDED)}
    return Verdict(
        statement.claim, statement.text, statement.holds.text, decided, " | ".join(outcome.numbers),
        "; ".join(filter(None, [*why, statement.note if decided != HELD else ""])), {} if fixed else changed,
        others, statistical and not fixed, look, limit, turns, reconstructed, statement.printed)


def turning_limit(predicate: Predicate, limit: float, verdict: Callable[[Predicate], str]) -> float | None:
    """Return the limit nearest to a predicate's own at which its verdict is another one; None if there is none.

    Limits up to `FARTHEST` times as large or as small are searched.
    """
    decided, found = verdict(predicate), []
    for factor in (FARTHEST, 1 / FARTHEST):
        near, far = 0.0, math.log(factor)  # logarithms of factors of the limit
        if verdict(predicate.with_limit(limit * math.exp(far))) == decided:
            continue
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            same = verdict(predicate.with_limit(limit * math.exp(middle))) == decided
            near, far = (middle, far) if same else (near, middle)
        found.append(far)
    return limit * math.exp(min(found, key=abs)) if found else None


def _schemes(names: Iterable[str], schemes: Mapping[str, str]) -> set[str]:
    """Return the schemes of some series and commands. ``names``: series and commands."""
    return {word for name in names for word in ([schemes[name]] if name in schemes else re.split(r"[\s=,:]+", name))
            if word in SCHEMES}


def _reconstructed(names: Iterable[str], schemes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the reconstructed schemes among those of series and commands."""
    return tuple(sorted(name for name in _schemes(names, schemes) if SCHEMES[name].reconstructed))


def _is_about_rival(names: Sequence[str], schemes: Mapping[str, str]) -> bool:
    """A comparison is between a reconstructed scheme and another scheme."""
    return bool(_reconstructed(names, schemes)) and len(_schemes(names, schemes)) > 1
