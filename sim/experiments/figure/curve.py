"""A curve: a series under a variation, its points as load experiments, and what was measured of it."""

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from wormcast.algorithms import Scheme, WormcastError, find_scheme, load_scheme, topology

from ...build.setup import Setup
from ...build.traffic import Traffic
from ..load.experiment import consumption_links
from ..load.specification import FIELDS
from ..sweep import Point, build_point
from .definition import place_on_axis
from .placing import FINE, next_places
from .predicate import CURVE_WORDS, POINT_WORDS
from .quantity import Quantity
from .schema import DECIDED, LOAD
from .series_curve import SeriesCurve

__all__ = ["PRECISION", "QUICK", "Curve"]

#: Half the latency's interval over its mean: the interval's width is within 10 % of it, as [Boppana98] has it.
PRECISION = 0.05

#: Of the cycles of a point, and the interval that is enough, where a figure is to be quick, and of all variations.
QUICK, QUICK_PRECISION = 8, 0.1

#: Seeds of all points, as recorded figures have them.
FIRST_SEED, SEEDS = 0, 4

#: Results that are added up to a word of `POINT_WORDS`, where it is no result's own name.
SUMS = {"queue": ("queue_latency",), "source": ("queue_latency", "injection_latency"),
        "transit": ("transit_latency",), "delivered": ("delivered_per_node",)}

#: Results of a curve's word.
OF_CURVE = {"hops": "hops_per_destination", "copies": "copies", "vc_ratio": "vc_ratio"}


class Curve(SeriesCurve):
    """A curve of load experiments: over the load, or over one of their options.

    Its places are fine steps of the load, or the values of that option, counted from 1; ``quick``: few cycles. A
    variation is measured in short too: it can only show that it changes a verdict.
    """

    @cached_property
    def options(self) -> dict[str, Any]:
        """Its options of load but for the rate, or for the one that the figure is over."""
        quick = self.quick or self.variation is not None
        return {**self.given, "until_interval": True, "seed": FIRST_SEED, "seeds": SEEDS,
                "precision": QUICK_PRECISION if quick else PRECISION,
                "cycles": self.figure.cycles // (QUICK if quick else 1)}

    @property
    def scheme(self) -> Scheme:
        """Which scheme's curve it is."""
        return load_scheme(self.options["scheme"])

    @cached_property
    def _wanted(self) -> float:
        """Payload flits to deliver per node and cycle, for each that is created."""
        return self._traffic(self.options | {"rate": 1e-6}).effective(topology(self.options["topology"])) / 1e-6

    def _traffic(self, options: Mapping[str, Any]) -> Traffic:
        return Traffic(**{name: value for name, value in options.items() if name in FIELDS})

    def at(self, place: int) -> float:
        """Where a place lies on the axis: payload flits times destinations per node and cycle, or a value."""
        if self.figure.values:
            return place_on_axis(self.figure.over, self.figure.values[place - 1])
        return round(place * self.figure.step / FINE, 9)

    def rate(self, place: int) -> float:
        """The rate of a place: payload flits created per node and cycle, a multicast counted once."""
        return float(self.options_at(place)["rate"])

    def options_at(self, place: int) -> dict[str, Any]:
        """All options of load of a place."""
        if self.figure.values:
            return {**self.options, self.figure.over: self.figure.values[place - 1]}
        return {**self.options, "rate": float(f"{self.at(place) / self._wanted:.6g}")}

    def columns(self, place: int) -> dict[str, Any]:
        """What a table tells of a place before its results."""
        return {self.figure.over: self.at(place), "rate": self.rate(place)}

    @property
    def hardware(self) -> dict[str, Any]:
        """See `SeriesCurve`; with its traffic."""
        fitting = {*range(1, max(1, len(self.figure.values)) + 1)} - self.too_many
        known = self.point(min(fitting)).resolved if fitting else self.given
        return {name: value for name, value in known.items() if name not in ("configuration", *DECIDED)}

    def point(self, place: int) -> Point:
        """The load experiment of a place; to build and check it takes milliseconds."""
        return build_point(self.options_at(place), f"{self.name}, {self.figure.over} {self.at(place):g}")

    @cached_property
    def too_many(self) -> set[int]:
        """Places of a figure over an option that are not measured: nodes' links cannot take what is sent to them."""
        return {place for place in range(1, len(self.figure.values) + 1) if not self._fits(self.options_at(place))}

    def _fits(self, options: Mapping[str, Any]) -> bool:
        network = topology(options["topology"])
        setup = Setup.on(network, find_scheme(options["scheme"], network, options.get("relation")), options)
        return self._traffic(options).fits(network, consumption_links(network, setup.configuration))

    def missing(self) -> set[int]:
        """Places to be measured next."""
        if self.figure.values:
            return set(range(1, len(self.figure.values) + 1)) - self.too_many - self.results.keys()
        most = round(FINE * self.figure.most / self.figure.step)
        return next_places({place: _over(result) for place, result in self.results.items()}, most)

    @property
    def over(self) -> list[int]:
        """Places that are saturated or in deadlock, in their order; and those that are too many to be measured."""
        return sorted(self.too_many.union(place for place in self.places if _over(self.results[place])))

    @property
    def steady(self) -> list[int]:
        """Places that are neither saturated nor in deadlock; along the load those below the first one that is."""
        if self.figure.values:
            return [place for place in self.places if place not in self.over]
        first = min(self.over, default=None)
        return [place for place in self.places if first is None or place < first]

    @property
    def deadlocked(self) -> list[int]:
        """Places that ended in a deadlock."""
        return [place for place in self.places if self.results[place]["deadlock"] is not None]

    def measured(self, word: str) -> Quantity:
        """What was measured, by a word of predicates."""
        at_points = word in OF_CURVE and self.figure.over != LOAD  # there they differ from point to point
        if word in CURVE_WORDS and not at_points:
            return self._of_curve(word)
        if word not in POINT_WORDS and not at_points:
            raise WormcastError(f"{self.figure.name}: {word} of {self.series.name} is asked for, a series whose points "
                                f"are load experiments: allowed are {', '.join((*POINT_WORDS, *CURVE_WORDS))}")
        found: dict[float | None, tuple[float, float, float]] = {}
        for place in self.steady:
            result = self.results[place]
            parts = [_interval(result["percentiles"] if word in result["percentiles"] else result, name)
                     for name in SUMS.get(word, (OF_CURVE.get(word, word),))]
            if all(mean is not None for mean, _ in parts):
                mean, half = sum(mean or 0.0 for mean, _ in parts), sum(half for _, half in parts)
                found[self.at(place)] = mean - half, mean, mean + half
        return Quantity(found)

    def _of_curve(self, word: str) -> Quantity:
        if word == "saturation":
            if not self.over:
                return Quantity({})
            below = [place for place in self.steady if place < self.over[0]]
            low, high = self.at(below[-1]) if below else 0.0, self.at(self.over[0])
            return Quantity({None: (low, (low + high) / 2, high)})
        if word == "throughput":
            known = [(mean, half) for place in self.places for mean, half
                     in [_interval(self.results[place], "accepted")] if mean is not None]
            if not known or not any(_over(result) for result in self.results.values()):
                return Quantity({})
            # the highest of points that differ by their errors alone would be too high: all of these count
            best, about = max(known)
            near = [one for one in known if one[0] + one[1] >= best - about]
            return Quantity.of(_mean(mean for mean, _ in near), _mean(half for _, half in near))
        each = [(mean, half) for place in self.steady for mean, half
                in [_interval(self.results[place], OF_CURVE[word])] if mean is not None]
        return Quantity.of(_mean(mean for mean, _ in each), _mean(half for _, half in each)) if each else Quantity({})


def _over(result: Mapping[str, Any]) -> bool:
    return result["deadlock"] is not None or bool(result["saturated"])


def _interval(result: Mapping[str, Any], name: str) -> tuple[float | None, float]:
    """A result's mean, and half its interval: 0 of what has no error, infinite where the error is unknown."""
    value = result[name]
    mean, half = ((value["mean"], value["half_width"]) if isinstance(value, Mapping)
                  else (value, result.get(f"{name}_half_width", 0.0)))
    return mean, math.inf if half is None else half


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)
