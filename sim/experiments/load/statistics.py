"""Means with confidence intervals, from a few independent runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Interval", "interval"]

#: 97.5 % points of Student's distribution with 1 to 30 degrees of freedom, in this order.
#: Beyond 30 degrees of freedom the last value is used, which makes intervals up to 4.2 % too wide.
STUDENT = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
           2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
           2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423)


@dataclass(frozen=True)
class Interval:
    """Mean, and half the width of its 95 % interval. ``mean`` is None without a value, ``half_width`` with fewer than
    two values."""

    mean: float | None
    half_width: float | None

    def to_dict(self) -> dict[str, float | None]:
        """Return the interval as plain data for JSON."""
        return {"mean": self.mean, "half_width": self.half_width}


def interval(values: Sequence[float] | npt.NDArray[np.float64]) -> Interval:
    """Return the mean of independent values (one per seed) with Student's interval. NaN values are ignored."""
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    if not len(known):
        return Interval(None, None)
    if len(known) == 1:
        return Interval(float(known[0]), None)
    spread = float(known.std(ddof=1)) / math.sqrt(len(known))
    return Interval(float(known.mean()), STUDENT[min(len(known) - 1, len(STUDENT)) - 1] * spread)
