"""Verdicts on statements of papers, by measurements."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...common.requirements import ToolMissing
from .definition import Statement
from .predicate import CommandValue, Measured

__all__ = ["Verdict", "judge"]


@dataclass(frozen=True)
class Verdict:
    """Verdict on a statement.

    Parameters
    ----------
    claim, statement, predicate : str
    verdict : "held", "not held" or "undecided"
        Verdict without variation.
    numbers : str
        Values of both sides of each comparison.
    why : str
        Loads at which the statement holds, is false, or is undecided, if its truth differs between loads; else the
        reason why it is undecided. If the verdict is not "held", ``why`` ends with the statement's note.
    changed_by : mapping of str to str
        For each variation whose verdict is decided and differs from ``verdict``: its name and its verdict.
    """

    claim: str
    statement: str
    predicate: str
    verdict: str
    numbers: str
    why: str
    changed_by: Mapping[str, str]

    def to_dict(self) -> dict[str, object]:
        """Return the verdict as plain data for JSON."""
        return {**vars(self), "changed_by": dict(self.changed_by)}


def judge(statement: Statement, measured: Callable[[str | None], Measured], told: CommandValue,
          variations: list[str]) -> Verdict:
    """Decide a statement without variation, and under each variation if the statement compares series.

    A statement that needs a tool that is not installed is undecided, and ``why`` names the tool.

    Parameters
    ----------
    measured : callable
        Name of a variation or None -> measurements under it.
    variations : list of str
        Variations that were run.
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
