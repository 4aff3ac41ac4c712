"""A curve: a series under a variation, its points as load experiments, and what was measured of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from wormcast.algorithms import WormcastError, topology

from ..load import Traffic
from ..load.specification import FIELDS
from ..sweep import Point, build_point
from .definition import Figure, Series, Variation
from .placing import FINE, next_places
from .predicate import CURVE_WORDS, POINT_WORDS
from .quantity import Quantity

__all__ = ["PRECISION", "QUICK", "Curve"]

#: Half the latency's interval over its mean: the interval's width is within 10 % of it, as [Boppana98] has it.
PRECISION = 0.05

#: Of the cycles of a point, and the interval that is enough, where a figure is to be quick.
QUICK, QUICK_PRECISION = 8, 0.1

SEEDS = 4

#: Results that are added up to a word of `POINT_WORDS`, where it is no result's own name.
SUMS = {"queue": ("queue_latency",), "source": ("queue_latency", "injection_latency"),
        "transit": ("transit_latency",), "delivered": ("delivered_per_node",)}

#: Results of a curve's word.
OF_CURVE = {"hops": "hops_per_destination", "copies": "copies", "vc_ratio": "vc_ratio"}


@dataclass
class Curve:
    """A series of a figure, with a variation's options in place of its own or as it is.

    Parameters
    ----------
    figure : Figure
        Whose series it is.
    series : Series
    variation : Variation or None
        What it changes of this series.
    quick : bool
        Few cycles.

    Attributes
    ----------
    results : dict of int to dict
        What came of each place that is measured, in fine steps of the load (`Point.run`).
    """

    figure: Figure
    series: Series
    variation: Variation | None = None
    quick: bool = False
    results: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """FIGURE:SERIES, and the variation."""
        return f"{self.figure.name}:{self.series.name}" + (f" ({self.variation.name})" if self.variation else "")

    @cached_property
    def options(self) -> dict[str, Any]:
        """Its options of load but for the rate."""
        varied = self.variation.options if self.variation else {}
        return {**self.figure.options, **self.series.options, **varied, "until_interval": True, "seeds": SEEDS,
                "precision": QUICK_PRECISION if self.quick else PRECISION,
                "cycles": self.figure.cycles // (QUICK if self.quick else 1)}

    @cached_property
    def _wanted(self) -> float:
        """Payload flits to deliver per node and cycle, for each that is created."""
        parameters = {name: value for name, value in self.options.items() if name in FIELDS}
        return Traffic(**parameters, rate=1e-6).effective(topology(self.options["topology"])) / 1e-6

    def load(self, place: int) -> float:
        """The load of a place: payload flits times destinations per node and cycle."""
        return round(place * self.figure.step / FINE, 9)

    def rate(self, place: int) -> float:
        """The rate of a place: payload flits created per node and cycle, a multicast counted once."""
        return float(f"{self.load(place) / self._wanted:.6g}")

    def columns(self, place: int) -> dict[str, Any]:
        """What a table tells of a place before its results."""
        return {"load": self.load(place), "rate": self.rate(place)}

    def point(self, place: int) -> Point:
        """The load experiment of a place; to build and check it takes milliseconds."""
        return build_point({**self.options, "rate": self.rate(place)}, f"{self.name}, load {self.load(place):g}")

    def missing(self) -> set[int]:
        """Places to be measured next."""
        most = round(FINE * self.figure.most / self.figure.step)
        return next_places({place: _over(result) for place, result in self.results.items()}, most)

    @property
    def places(self) -> list[int]:
        """Places that are measured, in their order."""
        return sorted(self.results)

    @property
    def steady(self) -> list[int]:
        """Places that are neither saturated nor in deadlock, below the first one that is."""
        first = min((place for place in self.places if _over(self.results[place])), default=None)
        return [place for place in self.places if first is None or place < first]

    @property
    def deadlocked(self) -> list[int]:
        """Places that ended in a deadlock."""
        return [place for place in self.places if self.results[place]["deadlock"] is not None]

    def measured(self, word: str) -> Quantity:
        """What was measured, by a word of predicates."""
        if word in CURVE_WORDS:
            return self._of_curve(word)
        if word not in POINT_WORDS:
            raise WormcastError(f"{self.figure.name}: {word} of {self.series.name} is asked for, a series whose points "
                                f"are load experiments: allowed are {', '.join((*POINT_WORDS, *CURVE_WORDS))}")
        found: dict[float | None, tuple[float, float, float]] = {}
        for place in self.steady:
            result = self.results[place]
            parts = [_interval(result["percentiles"] if word in result["percentiles"] else result, name)
                     for name in SUMS.get(word, (word,))]
            if all(mean is not None for mean, _ in parts):
                mean, half = sum(mean or 0.0 for mean, _ in parts), sum(half or 0.0 for _, half in parts)
                found[self.load(place)] = mean - half, mean, mean + half
        return Quantity(found)

    def _of_curve(self, word: str) -> Quantity:
        if word == "saturation":
            over = [place for place in self.places if place not in self.steady]
            if not over:
                return Quantity({})
            low, high = self.load(max(self.steady, default=0)), self.load(over[0])
            return Quantity({None: (low, (low + high) / 2, high)})
        if word == "throughput":
            known = [(mean, half or 0.0) for place in self.places for mean, half
                     in [_interval(self.results[place], "delivered_per_node")] if mean is not None]
            if not known or not any(_over(result) for result in self.results.values()):
                return Quantity({})
            # the highest of points that differ by their errors alone would be too high: all of these count
            best, about = max(known)
            near = [one for one in known if one[0] + one[1] >= best - about]
            return Quantity.of(_mean(mean for mean, _ in near), _mean(half for _, half in near))
        each = [(mean, half or 0.0) for place in self.steady for mean, half
                in [_interval(self.results[place], OF_CURVE[word])] if mean is not None]
        return Quantity.of(_mean(mean for mean, _ in each), _mean(half for _, half in each)) if each else Quantity({})


def _over(result: Mapping[str, Any]) -> bool:
    return result["deadlock"] is not None or bool(result["saturated"])


def _interval(result: Mapping[str, Any], name: str) -> tuple[float | None, float | None]:
    """A result's mean, and half its interval."""
    value = result[name]
    if isinstance(value, Mapping):
        return value["mean"], value["half_width"]
    return value, result.get(f"{name}_half_width")


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)
