"""Numbers with 95 % intervals, per load or for all loads, and their arithmetic and comparison."""

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Quantity", "Truth"]

Load = float | None
"""Load in payload flits times destinations per node and cycle, or an option's value. None: the quantity is the same for
all."""

HELD, UNDECIDED, REVERSED = 1, 0, -1


@dataclass(frozen=True)
class Quantity:
    """Number at each of several loads: lower end, mean and upper end of its interval.

    If the error is unknown, the ends of the interval are infinite, and all comparisons are undecided. Arithmetic is
    interval arithmetic: it assumes that both errors add up in the worst way. The comparisons ``<`` and ``>`` hold, or
    are reversed, only if the intervals of both numbers do not overlap.
    """

    values: Mapping[Load, tuple[float, float, float]]

    @classmethod
    def of(cls, value: float, half_width: float = 0.0) -> "Quantity":
        """Return a number that is the same for all loads."""
        return cls({None: (value - half_width, value, value + half_width)})

    def at(self, load: float) -> "Quantity":
        """Return the value at one load as a number that is the same for all loads; empty if that load has no value."""
        near = (value for known, value in self.values.items() if known is not None and abs(known - load) < 1e-9)
        return Quantity(dict(zip([None], near, strict=False)))

    def combine(self, other: "Quantity", of: Callable[[float, float], float]) -> "Quantity":
        """Combine two numbers: apply a function, monotonic in both, to the means and to all pairs of interval ends."""
        found = {}
        for load, (first, second) in joined(self.values, other.values).items():
            corners = [of(x, y) for x in (first[0], first[2]) for y in (second[0], second[2])]
            found[load] = min(corners), of(first[1], second[1]), max(corners)
        return Quantity(found)

    def __add__(self, other: "Quantity") -> "Quantity":
        return self.combine(other, operator.add)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self.combine(other, operator.sub)

    def __mul__(self, other: "Quantity") -> "Quantity":
        return self.combine(other, operator.mul)

    def __truediv__(self, other: "Quantity") -> "Quantity":
        positive = {load: value for load, value in other.values.items() if value[0] > 0}
        return self.combine(Quantity(positive), operator.truediv)

    def __abs__(self) -> "Quantity":
        return Quantity({load: (max(low, -high, 0.0), abs(mean), max(-low, high))
                         for load, (low, mean, high) in self.values.items()})

    @property
    def precision(self) -> "Quantity":
        """Half the interval's width, divided by the mean's absolute value, at each load at which the mean is not 0.

        The interval of the result has no width, but is from 0 to infinity if the number's error is unknown.
        """
        relative = {load: (high - low) / 2 / abs(mean) for load, (low, mean, high) in self.values.items() if mean}
        return Quantity({load: (0.0 if math.isinf(value) else value, value, value) for load, value in relative.items()})

    def below(self, other: "Quantity") -> "Truth":
        """Compare at each load: is this number less than another one?"""
        return Truth({load: HELD if first[2] < second[0] else REVERSED if first[0] > second[2] else UNDECIDED
                      for load, (first, second) in joined(self.values, other.values).items()})

    def between(self, low: float, high: float) -> "Truth":
        """Compare at each load: is this number from ``low`` to ``high``?"""
        return Truth({load: HELD if low <= value[0] <= value[2] <= high else
                      REVERSED if value[2] < low or value[0] > high else UNDECIDED
                      for load, value in self.values.items()})

    def same(self, other: "Quantity") -> "Truth":
        """Compare at each load: is this number equal to another one?

        Numbers with overlapping intervals are undecided, unless both numbers are exact.
        """
        return Truth({load: REVERSED if first[2] < second[0] or first[0] > second[2] else
                      HELD if first == second and first[0] == first[2] else UNDECIDED
                      for load, (first, second) in joined(self.values, other.values).items()})

    def __str__(self) -> str:
        """Return the values as text, at no more than three of the loads: ``118 +- 2 at 0.1; 130 +- 3 at 0.2``."""
        loads = sorted(self.values, key=lambda load: load or 0.0)
        some = loads if len(loads) <= 3 else [loads[0], loads[len(loads) // 2], loads[-1]]
        parts = [_written(self.values[load]) + ("" if load is None else f" at {load:g}") for load in some]
        return "; ".join(parts) or "-"


def _written(value: tuple[float, float, float]) -> str:
    low, mean, high = value
    half = max(mean - low, high - mean)
    if not math.isfinite(half):
        return f"{mean:.4g}, its error unknown"
    return f"{mean:.4g}" + (f" +- {half:.2g}" if half > 0 else "")


def joined(first: Mapping[Load, object], second: Mapping[Load, object]) -> dict[Load, tuple]:
    """Return pairs of values at common loads. A value for all loads is paired with each value of the other side."""
    if None in first:
        return {load: (first[None], value) for load, value in second.items()}
    if None in second:
        return {load: (value, second[None]) for load, value in first.items()}
    return {load: (value, second[load]) for load, value in first.items() if load in second}


@dataclass(frozen=True)
class Truth:
    """Truth value at each of several loads: held (1), reversed (-1) or undecided (0)."""

    at: Mapping[Load, int]

    @classmethod
    def of(cls, holds: bool) -> "Truth":
        """Return a truth value that is the same for all loads."""
        return cls({None: HELD if holds else REVERSED})

    def __invert__(self) -> "Truth":
        return Truth({load: -one for load, one in self.at.items()})

    @staticmethod
    def every(parts: Iterable["Truth"]) -> "Truth":
        """Return the conjunction of truth values."""
        return _folded(parts, min)

    @staticmethod
    def some(parts: Iterable["Truth"]) -> "Truth":
        """Return the disjunction of truth values."""
        return _folded(parts, max)

    @property
    def verdict(self) -> str:
        """``held`` if the truth value is 1 at all loads, ``not held`` if it is -1 at all loads, else ``undecided``."""
        found = set(self.at.values())
        return {frozenset({HELD}): "held", frozenset({REVERSED}): "not held"}.get(frozenset(found), "undecided")

    @property
    def region(self) -> str:
        """Text: the loads of each truth value, if loads differ; the reason, if all are undecided; else empty."""
        if not self.at:
            return "at no point are all series measured and below saturation"
        if len(set(self.at.values())) == 1:
            return "the intervals overlap" if self.verdict == "undecided" else ""
        words = {HELD: "held", REVERSED: "reversed", UNDECIDED: "open"}
        return "; ".join(
            f"{word} at " + ", ".join(f"{load:g}" for load in sorted(self.at, key=lambda one: one or 0)
                                      if self.at[load] == sign)
            for sign, word in words.items() if sign in self.at.values())


def _folded(parts: Iterable[Truth], choose: Callable[[int, int], int]) -> Truth:
    first, *others = parts
    found = first.at
    for other in others:
        found = {load: choose(*both) for load, both in joined(found, other.at).items()}
    return Truth(found)
