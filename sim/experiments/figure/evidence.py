"""Evidence for a statement: paired tests of repetitions, their conjunction, and the verdict that a level allows.

The rules of docs/figures.md, "Verdicts", are here and in ``verdict``. All functions work on arrays, so that tests can
judge many simulated figures at once.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["HELD", "LEVEL", "LOOKS", "NOT_HELD", "NO_DIFFERENCE", "SAME", "UNDECIDED", "Evidence", "Truth", "decide",
           "is_same", "paired"]

Floats = npt.NDArray[np.float64]

Load = float | None
"""Load in payload flits times destinations per node and cycle, or an option's value. None means all loads or values."""

#: Verdicts that measurements allow.
HELD, NOT_HELD, NO_DIFFERENCE, UNDECIDED = "held", "not held", "no difference", "undecided"

#: State of a load at which a series is saturated in some repetitions only, and its clause.
MIXED, SOME = "mixed", "the network is saturated in some repetitions"

#: *No difference*: the 95 % interval of the relative difference lies within SAME.
SAME = 0.02

#: Clauses on the loads of each state.
CLAUSES = {HELD: "the statement is held", NOT_HELD: "the statement is reversed",
           NO_DIFFERENCE: f"both sides of the statement are equal within {100 * SAME:g} %",
           UNDECIDED: "the statement is open", MIXED: SOME}

#: Reasons why a statement is undecided at all loads: errors; numbers that lie between points of a grid.
OVERLAP = "the difference between the two sides of the statement may be 0"
ON_GRID = "not all repetitions show the same order of the two sides of the statement"

#: LEVEL: probability of a wrong decision on a statement, two-sided, over all looks. LOOKS: most looks at a statement.
#: A statement that takes several looks has the level LEVEL / LOOKS at each.
LEVEL, LOOKS = 0.001, 3

#: Level of the intervals that are printed, and of *no difference*.
INTERVAL = 0.05


def student(t: npt.ArrayLike, freedom: int) -> Floats:
    """Return the probability that Student's variable is at least as far from 0 as ``t``.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.

    Parameters
    ----------
    freedom : int
        Degrees of freedom, 1 or more.
    """
    angle = np.arctan(np.abs(np.asarray(t, float)) / math.sqrt(freedom))
    odd = freedom % 2
    term = np.cos(angle) if odd else np.ones_like(angle)
    total = np.zeros_like(angle)
    for number in range(1 + odd, freedom, 2):
        total += term
        term = term * np.cos(angle) ** 2 * number / (number + 1)
    inside = np.sin(angle) * total
    return np.clip(1 - ((angle + inside) * 2 / math.pi if odd else inside), 0.0, 1.0)


def paired(differences: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Test whether the mean of paired differences is above 0, and whether it is below 0.

    If all differences are infinite and of one sign, the mean has this sign. If a difference is no number, the mean is
    neither above nor below 0.

    Parameters
    ----------
    differences : array [..., repetitions]
        Two repetitions or more.

    Returns
    -------
    above, below : array [...]
        The least two-sided level at which the mean counts as above, or below, 0; 1 if the mean is on the other side.
    """
    found = np.asarray(differences, float)
    count = found.shape[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, spread = found.mean(axis=-1), found.std(axis=-1, ddof=1)
        level = student(np.where(mean == 0, 0.0, mean / spread * math.sqrt(count)), count - 1)
    certain = np.isinf(found).all(axis=-1) & ~np.isnan(mean)
    level = np.where(certain, 0.0, np.where(np.isfinite(mean), level, 1.0))
    return np.where(mean > 0, level, 1.0), np.where(mean < 0, level, 1.0)


def half_width(values: npt.ArrayLike) -> Floats:
    """Return half of the 95 % interval of the mean of independent values [..., repetitions]."""
    found = np.asarray(values, float)
    count = found.shape[-1]
    low, high = 0.0, 1e3  # quantile of Student's distribution by bisection, far more exact than a table
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student(middle, count - 1) > INTERVAL else (low, middle)
    return high * found.std(axis=-1, ddof=1) / math.sqrt(count)


def is_same(differences: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return whether the 95 % interval of relative differences [..., repetitions] lies within `SAME`."""
    found = np.asarray(differences, float)
    with np.errstate(invalid="ignore"):
        return np.abs(found.mean(axis=-1)) + half_width(found) <= SAME


def decide(held: npt.ArrayLike, against: npt.ArrayLike, same: npt.ArrayLike, level: float, *,
           last: bool = True) -> npt.NDArray[np.str_]:
    """Return the verdict that evidence at each of several loads allows.

    *Held*: at every load. *Not held*: reversed at a load or more, at the level divided by the number of loads. *No
    difference*: neither held nor reversed, and at the last look the difference is within `SAME` at every load.
    Otherwise *undecided*.

    Parameters
    ----------
    held, against : array [..., loads]
        The least level at which the statement counts as held, or as reversed, at each load.
    same : bool array [..., loads]
        The difference is within `SAME`.
    last : bool
        No look follows.
    """
    first, second, third = np.asarray(held, float), np.asarray(against, float), np.asarray(same, bool)
    loads = first.shape[-1]
    if not loads:
        return np.full(first.shape[:-1], UNDECIDED)
    return np.select(
        [(first <= level).all(axis=-1), (second <= level / loads).any(axis=-1), third.all(axis=-1) & last],
        [HELD, NOT_HELD, NO_DIFFERENCE], UNDECIDED)


class Evidence(NamedTuple):
    """Evidence at one load.

    Parameters
    ----------
    held, against : float
        The least two-sided level at which the statement counts as held, or as reversed: 0 for what is certain, 1
        without evidence.
    same : bool
        The difference is within `SAME`.
    mixed : bool
        A series is saturated in some repetitions, and in others it is not.
    apart : bool
        False: the numbers lie between measured points, and not all repetitions show the same order of them.
    difference : (float, float) or None
        Mean of the paired differences of both sides, and half of its 95 % interval; None without repetitions.
    """

    held: float
    against: float
    same: bool = False
    mixed: bool = False
    apart: bool = True
    difference: tuple[float, float] | None = None

    @classmethod
    def certain(cls, holds: bool | None) -> "Evidence":
        """Return evidence without error: for the statement, against it, or (None) for neither."""
        return cls(0.0 if holds else 1.0, 0.0 if holds is False else 1.0)


@dataclass(frozen=True)
class Truth:
    """Evidence for a statement at each of several loads.

    Parameters
    ----------
    at : mapping of Load to Evidence
    missing : str
        Reason why there is no load, as text.
    """

    at: Mapping[Load, Evidence]
    missing: str = ""

    @classmethod
    def of(cls, holds: bool) -> "Truth":
        """Return a truth value without error that is the same for all loads."""
        return cls({None: Evidence.certain(holds)})

    def __invert__(self) -> "Truth":
        return Truth({load: one._replace(held=one.against, against=one.held) for load, one in self.at.items()},
                     self.missing)

    @staticmethod
    def every(parts: Iterable["Truth"]) -> "Truth":
        """Return the conjunction of statements.

        The conjunction is reversed if one of n statements is reversed, at the level divided by n.
        """
        return _folded([*parts], lambda each: Evidence(
            max(one.held for one in each), min(1.0, len(each) * min(one.against for one in each)),
            all(one.same or one.held <= LEVEL for one in each) and any(one.same for one in each),
            any(one.mixed for one in each), all(one.apart for one in each),
            min(each, key=lambda one: one.against).difference))

    @staticmethod
    def some(parts: Iterable["Truth"]) -> "Truth":
        """Return the disjunction of statements."""
        return ~Truth.every(~one for one in parts)

    def verdict(self, level: float = LEVEL, *, last: bool = True) -> str:
        """Return the verdict at a two-sided level (see `decide`). ``last``: no look follows."""
        each = self.at.values()
        return str(decide([one.held for one in each], [one.against for one in each], [one.same for one in each], level,
                          last=last))

    def region(self, level: float = LEVEL) -> str:
        """Return a clause for each verdict, with its loads and paired differences, if loads differ or the statement is
        reversed; the reason, if all loads are undecided or there is none; else an empty text."""
        if not self.at:
            return self.missing
        signs = {load: _sign(one, level, len(self.at)) for load, one in self.at.items()}
        against = [load for load, sign in signs.items() if sign == NOT_HELD]
        how_far = _how_far([self.at[load].difference for load in against])
        if len(set(signs.values())) == 1 and (not against or against == [None]):
            apart = all(one.apart for one in self.at.values())
            return {UNDECIDED: OVERLAP if apart else ON_GRID, MIXED: SOME,
                    NOT_HELD: how_far and f"{CLAUSES[NOT_HELD]}{how_far}"}.get(next(iter(signs.values())), "")
        return "; ".join(
            f"{clause} at x = " + ", ".join(f"{load:g}" for load in sorted(self.at, key=_order) if signs[load] == sign)
            + how_far * (sign == NOT_HELD)
            for sign, clause in CLAUSES.items() if sign in signs.values())


def _order(load: Load) -> float:
    return load or 0.0


def _how_far(differences: Iterable[tuple[float, float] | None]) -> str:
    """Return by how far a statement is reversed, as text; empty if a difference has no finite interval."""
    found = [*differences]
    known = [(abs(mean), half) for mean, half in filter(None, found) if math.isfinite(mean + half)]
    if not known or len(known) < len(found):
        return ""
    ends = f"{known[0][0]:.4g} +- {known[0][1]:.2g}" if len(known) == 1 else (
        f"{min(known)[0]:.4g} to {max(known)[0]:.4g}")
    return f" by {ends} ({'mean' if len(known) == 1 else 'means'} of paired differences)"


def _sign(one: Evidence, level: float, loads: int) -> str:
    if one.held <= level:
        return HELD
    if one.against <= level / loads:
        return NOT_HELD
    return MIXED if one.mixed else NO_DIFFERENCE if one.same else UNDECIDED


def _folded(parts: list[Truth], fold: Callable[[list[Evidence]], Evidence]) -> Truth:
    """Fold the evidence of all parts at each load. A part has no influence at loads at which it has no evidence.

    If one part has no load at all, the result has no load either.
    """
    if empty := [one for one in parts if not one.at]:
        return empty[0]
    loads: list[Load] = [load for one in parts for load in one.at if load is not None] or [None]
    return Truth({load: fold([one.at[at] for one in parts for at in [load if load in one.at else None]
                              if at in one.at]) for load in loads})


def joined(first: Mapping[Load, Any], second: Mapping[Load, Any]) -> dict[Load, tuple[Any, Any]]:
    """Return pairs of values at common loads. A value for all loads is paired with each value of the other side."""
    if None in first:
        return {load: (first[None], value) for load, value in second.items()}
    if None in second:
        return {load: (value, second[None]) for load, value in first.items()}
    return {load: (value, second[load]) for load, value in first.items() if load in second}
