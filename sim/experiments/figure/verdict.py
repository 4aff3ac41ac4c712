"""Verdicts on what a paper says, by what was measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...common.requirements import ToolMissing
from .definition import Statement
from .predicate import CycleStep, Measured

__all__ = ["Verdict", "judge"]


@dataclass(frozen=True)
class Verdict:
    """What came of a statement.

    Parameters
    ----------
    claim, statement, predicate : str
    verdict : "held", "not held" or "undecided"
        Of the default setting.
    numbers, why : str
        Both sides of its comparisons; where it is held, reversed or open, if that differs, and unless it is held the
        statement's note.
    changed_by : mapping of str to str
        Variations with another verdict that is not undecided, and which.
    """

    claim: str
    statement: str
    predicate: str
    verdict: str
    numbers: str
    why: str
    changed_by: Mapping[str, str]

    def to_dict(self) -> dict[str, object]:
        """Give it as plain data for JSON."""
        return {**vars(self), "changed_by": dict(self.changed_by)}


def judge(statement: Statement, measured: Callable[[str | None], Measured], told: CycleStep,
          variations: list[str]) -> Verdict:
    """Decide a statement for the default setting, and for each variation that can make a difference.

    What needs a tool that is not there is undecided, and the verdict says which.

    Parameters
    ----------
    measured : callable
        A variation's name, or None -> what was measured under it.
    variations : list of str
        Those that were run.
    """
    try:
        outcome = statement.holds.evaluate(measured(None), told)
    except ToolMissing as error:
        return Verdict(statement.claim, statement.text, statement.holds.text, "undecided", "", str(error), {})
    verdict = outcome.truth.verdict
    others = {name: statement.holds.evaluate(measured(name), told).truth.verdict
              for name in variations if statement.holds.series}
    changed = {name: other for name, other in others.items() if other not in (verdict, "undecided")}
    why = [outcome.truth.region, statement.note if verdict != "held" else ""]
    return Verdict(statement.claim, statement.text, statement.holds.text, verdict, " | ".join(outcome.numbers),
                   "; ".join(filter(None, why)), changed)
