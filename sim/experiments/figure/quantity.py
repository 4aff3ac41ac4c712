"""Numbers with repetitions or with intervals, per load or for all loads: their arithmetic and comparison."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .evidence import Evidence, Load, Truth, half_width, is_same, joined, paired

__all__ = ["Quantity", "Truth"]

Value = tuple[Any, Any, Any]
"""Lower end, mean and upper end: numbers, or arrays [repetitions]."""


@dataclass(frozen=True)
class Quantity:
    """Number at each of several loads: lower end, mean and upper end.

    Lower end, mean and upper end are one number each, or an array with the value of each repetition. Repetition k of
    two quantities has the same network, messages and creation times. Arithmetic works on each repetition, and
    comparisons test the paired differences (`paired`). A number without repetitions is exact if its ends are equal. A
    number without repetitions and with different ends is an interval: arithmetic assumes that errors add up in the
    worst way, and a comparison decides only if intervals do not overlap.

    Infinite: the network is saturated in all repetitions, so that a latency has no upper bound. Not a number: the
    network is saturated in some repetitions. Two infinite numbers are not compared.

    Parameters
    ----------
    values : mapping of Load to (low, mean, high)
    by_each : bool
        Ends are not errors, but neighbouring points of a grid in each repetition: a comparison decides only if it has
        the same result in every repetition.
    ratio : bool
        Product or quotient: if positive, its comparisons test differences of logarithms.
    """

    values: Mapping[Load, Value]
    by_each: bool = False
    ratio: bool = False

    @classmethod
    def of(cls, value: float, half_width: float = 0.0) -> "Quantity":
        """Return a quantity that has the same value at all loads, with half the width of the value's interval."""
        return cls({None: (value - half_width, value, value + half_width)})

    @classmethod
    def range(cls, least: float, middle: float, most: float) -> "Quantity":
        """Return a quantity that has the same value at all loads, with the ends of the value's range."""
        return cls({None: (least, middle, most)})

    @classmethod
    def repeated(cls, values: Mapping[Load, npt.ArrayLike]) -> "Quantity":
        """Return a number that is measured without further error in each repetition, ``values`` [repetitions]."""
        return cls({load: (found, found, found) for load, each in values.items()
                    for found in [np.asarray(each, float)]})

    def at(self, load: float) -> "Quantity":
        """Return a quantity that has the value of one load at all loads; empty if that load has no value."""
        near = (value for known, value in self.values.items() if known is not None and abs(known - load) < 1e-9)
        return self._like(dict(zip([None], near, strict=False)))

    def _like(self, values: Mapping[Load, Value], *others: "Quantity", ratio: bool = False) -> "Quantity":
        every = (self, *others)
        return Quantity(values, any(one.by_each for one in every), ratio or any(one.ratio for one in every))

    def combine(self, other: "Quantity", of: Callable[..., Any], *, ratio: bool = False) -> "Quantity":
        """Combine two numbers: apply a function, monotonic in both, to the means and to all pairs of ends."""
        found = {}
        with np.errstate(invalid="ignore", divide="ignore"):
            for load, (first, second) in joined(self.values, other.values).items():
                if _endless(first) and _endless(second):
                    continue  # both are saturated
                corners = [of(x, y) for x in (first[0], first[2]) for y in (second[0], second[2])]
                found[load] = _least(corners), of(first[1], second[1]), _greatest(corners)
        return self._like(found, other, ratio=ratio)

    def __add__(self, other: "Quantity") -> "Quantity":
        return self.combine(other, operator.add)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self.combine(other, operator.sub)

    def __mul__(self, other: "Quantity") -> "Quantity":
        return self.combine(other, operator.mul, ratio=True)

    def __truediv__(self, other: "Quantity") -> "Quantity":
        positive = {load: value for load, value in other.values.items() if not np.any(np.asarray(value[0]) <= 0)}
        return self.combine(other._like(positive), operator.truediv, ratio=True)

    def __abs__(self) -> "Quantity":
        return self._like({load: (_greatest([low, -high, 0.0 * mean]), abs(mean), _greatest([-low, high]))
                           for load, (low, mean, high) in self.values.items()})

    @property
    def precision(self) -> "Quantity":
        """Half the 95 % interval's width, divided by the mean's absolute value, at each load with a mean other than 0.

        The interval of the result has no width, but is from 0 to infinity if the number's error is unknown.
        """
        relative = {load: _half(value) / abs(np.mean(value[1])) for load, value in self.values.items()
                    if np.mean(value[1]) and np.isfinite(value[1]).all()}
        return Quantity({load: (0.0 if math.isinf(value) else value, value, value) for load, value in relative.items()})

    def below(self, other: "Quantity") -> "Truth":
        """Compare at each load: is this number less than another one? An exact number is not less than an equal one."""
        by_each, ratio = self.by_each or other.by_each, self.ratio or other.ratio
        return Truth({load: _below(first, second, by_each, ratio)
                      for load, (first, second) in joined(self.values, other.values).items()
                      if not _incomparable(first, second)})

    def between(self, low: float, high: float) -> "Truth":
        """Compare at each load: is this number from ``low`` to ``high``?

        Without repetitions, ``low`` and ``high`` themselves count as inside.
        """
        found = {}
        for load, value in self.values.items():
            if _incomparable(value, (low, low, low)):
                continue
            if np.size(value[1]) > 1 or self.by_each:
                ends = [_below((low,) * 3, value, self.by_each, ratio=True),
                        _below(value, (high,) * 3, self.by_each, ratio=True)]
                found[load] = Evidence(max(one.held for one in ends), min(one.against for one in ends),
                                       mixed=ends[0].mixed)
            else:
                found[load] = Evidence.certain(True if low <= value[0] and value[2] <= high else
                                               False if value[2] < low or value[0] > high else None)
        return Truth(found)

    def same(self, other: "Quantity") -> "Truth":
        """Compare at each load: is this number equal to another one?

        Only exact numbers can be equal. Numbers with overlapping intervals are undecided.
        """
        found = {}
        for load, (first, second) in joined(self.values, other.values).items():
            if _incomparable(first, second):
                continue
            less, more = (_below(*both, self.by_each or other.by_each, ratio=False)
                          for both in ((first, second), (second, first)))
            if np.size(first[1]) == np.size(second[1]) == 1 and _exact(first) and _exact(second):
                found[load] = Evidence.certain(bool(first[1] == second[1]))
            else:
                found[load] = Evidence(1.0, min(less.held, more.held), less.same)
        return Truth(found)

    def __str__(self) -> str:
        """Return the values as text, at no more than three of the loads: ``118 +- 2 at 0.1; 130 +- 3 at 0.2``."""
        loads = sorted(self.values, key=lambda load: load or 0.0)
        some = loads if len(loads) <= 3 else [loads[0], loads[len(loads) // 2], loads[-1]]
        write = _neighbours if self.by_each else _written
        parts = [write(self.values[load]) + ("" if load is None else f" at {load:g}") for load in some]
        return "; ".join(parts) or "-"


def _written(value: Value) -> str:
    if np.isnan(value[1]).any():
        return "saturated in some repetitions"
    mean, half = float(np.mean(value[1])), _half(value)
    if math.isinf(mean):
        return "saturated"
    if np.isinf(value[2]).all() and np.isfinite(value[0]).all():
        return f"above {np.min(value[0]):.4g}"
    if not math.isfinite(half):
        return f"{mean:.4g}, its error unknown"
    low, high = (float(np.mean(value[end])) for end in (0, 2))
    if np.size(value[1]) == 1 and not math.isclose(high - mean, mean - low, rel_tol=1e-6, abs_tol=1e-9):
        return f"{_rounded(mean, 4)} ({_rounded(low, 4)} to {_rounded(high, 4)})"
    return f"{_rounded(mean, 4)}" + (f" +- {_rounded(half, 2)}" if half > 0 else "")


def _rounded(number: float, digits: int) -> str:
    """Return a number with ``digits`` significant digits, without an exponent: ``690``."""
    return f"{float(f'{number:.{digits}g}'):.15g}"


def _neighbours(value: Value) -> str:
    """Return the points of a grid between which a number lies, in all repetitions together."""
    low, high = float(np.min(value[0])), float(np.max(value[2]))
    return f"above {low:.4g}" if math.isinf(high) else f"{low:.4g} to {high:.4g}"


def _half(value: Value) -> float:
    """Return half of a number's 95 % interval, ranges of repetitions included."""
    low, mean, high = (np.atleast_1d(np.asarray(one, float)) for one in value)
    with np.errstate(invalid="ignore"):
        reach = float(max((mean - low).mean(), (high - mean).mean()))
        return reach + (float(half_width(mean)) if len(mean) > 1 and np.ptp(mean) > 0 else 0.0)


def _least(each: list[Any]) -> Any:
    return np.minimum.reduce(np.broadcast_arrays(*each)) if any(map(np.ndim, each)) else min(each)


def _greatest(each: list[Any]) -> Any:
    return np.maximum.reduce(np.broadcast_arrays(*each)) if any(map(np.ndim, each)) else max(each)


def _exact(value: Value) -> bool:
    return bool(np.all(value[0] == value[2]))


def _endless(value: Value) -> bool:
    return bool(np.isinf(value[1]).all())


def _incomparable(first: Value, second: Value) -> bool:
    """Both numbers are of saturated networks; or one is, and the other number has no repetitions."""
    endless = _endless(first), _endless(second)
    return all(endless) or (any(endless) and np.size((first, second)[endless[0]][1]) == 1)


def _below(first: Value, second: Value, by_each: bool, ratio: bool) -> Evidence:
    """Return the evidence that a number is less than another one at one load."""
    with np.errstate(invalid="ignore", divide="ignore"):
        low, mean, high = (np.atleast_1d(np.asarray(one, float)) for one in (
            second[0] - first[2], second[1] - first[1], second[2] - first[0]))
        if np.isnan(mean).any():
            return Evidence(1.0, 1.0, mixed=True)
        if by_each:
            found = True if (low >= 0).all() else False if (high <= 0).all() else None
            return Evidence.certain(found)._replace(apart=found is not None)
        if len(mean) == 1:
            exact = _exact(first) and _exact(second)
            return Evidence.certain(True if low[0] > 0 else False if high[0] < 0 or exact else None)
        positive = bool(np.all(np.asarray(first[0]) > 0) and np.all(np.asarray(second[0]) > 0))
        logs = [np.log(one) - np.log(other) for one, other in (
            (second[0], first[2]), (second[1], first[1]), (second[2], first[0]))] if positive else None
        if ratio and logs is not None:
            low, high = (np.atleast_1d(one) for one in (logs[0], logs[2]))
        relative = logs[1] if logs is not None else mean / np.abs(np.mean(first[1])) if np.all(first[1]) else mean
        return Evidence(float(paired(low)[0]), float(paired(high)[1]), bool(is_same(relative)),
                        difference=(float(mean.mean()), float(half_width(mean))))
