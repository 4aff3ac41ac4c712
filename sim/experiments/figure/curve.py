"""Curve of load experiments: the points of a series under a variation, and their measurements."""

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

#: Goal of each point: half the 95 % interval of the latency is at most PRECISION times the mean latency.
#: [Boppana98] has the same goal: the whole interval is at most 10 % of the mean.
PRECISION = 0.05

#: Quick figures and all variations: the number of cycles is divided by QUICK, and QUICK_PRECISION replaces PRECISION.
QUICK, QUICK_PRECISION = 8, 0.1

#: First seed, and number of seeds, of each point. The recorded figures were measured with FIRST_SEED and SEEDS.
FIRST_SEED, SEEDS = 0, 4

#: For each word of `POINT_WORDS` that is not itself a key of the results: the keys whose values are added up for it.
SUMS = {"queue": ("queue_latency",), "source": ("queue_latency", "injection_latency"),
        "transit": ("transit_latency",), "delivered": ("delivered_per_node",)}

#: For words of `CURVE_WORDS` other than ``throughput`` and ``saturation``: key in the results of a load experiment.
OF_CURVE = {"hops": "hops_per_destination", "copies": "copies", "vc_ratio": "vc_ratio"}


class Curve(SeriesCurve):
    """Curve of load experiments over the load or over one of their options.

    A place is the number of a point. In a figure over the load, a point's place is its load divided by a fine step, the
    figure's ``step`` / `FINE`. In a figure over an option, a point's place is the position of its value in the figure's
    list of values, from 1. With ``quick``, the number of cycles is divided by `QUICK`. The number of cycles is always
    divided for variations, because variations can only show that a verdict changes.
    """

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options of ``wormcast load`` that all points of the curve share."""
        quick = self.quick or self.variation is not None
        return {**self.given, "until_interval": True, "seed": FIRST_SEED, "seeds": SEEDS,
                "precision": QUICK_PRECISION if quick else PRECISION,
                "cycles": max(1, self.figure.cycles // (QUICK if quick else 1))}

    @property
    def scheme(self) -> Scheme:
        """Scheme of the curve."""
        return load_scheme(self.options["scheme"])

    @cached_property
    def _wanted(self) -> float:
        """Mean number of payload flits to deliver for each payload flit that a source creates."""
        return self._traffic(self.options | {"rate": 1e-6}).effective(topology(self.options["topology"])) / 1e-6

    def _traffic(self, options: Mapping[str, Any]) -> Traffic:
        return Traffic(**{name: value for name, value in options.items() if name in FIELDS})

    def at(self, place: int) -> float:
        """Return the x value of a point: its effective load, its option's value, or its topology's number of nodes."""
        if self.figure.values:
            return place_on_axis(self.figure.over, self.figure.values[place - 1])
        return round(place * self.figure.step / FINE, 9)

    def rate(self, place: int) -> float:
        """Return the rate of a point: payload flits that a node creates per cycle. A multicast counts once."""
        return float(self.options_at(place)["rate"])

    def options_at(self, place: int) -> dict[str, Any]:
        """Return all options of ``wormcast load`` for a point."""
        if self.figure.values:
            return {**self.options, self.figure.over: self.figure.values[place - 1]}
        return {**self.options, "rate": float(f"{self.at(place) / self._wanted:.6g}")}

    def columns(self, place: int) -> dict[str, Any]:
        """Return the columns of the figure's table that precede the results of a point."""
        return {self.figure.over: self.at(place), "rate": self.rate(place)}

    @cached_property
    def hardware(self) -> dict[str, Any]:
        """Resolved options of the first point that is not in `too_many`, with the options of its traffic."""
        fitting = {*range(1, max(1, len(self.figure.values)) + 1)} - self.too_many
        known = self.point(min(fitting)).resolved if fitting else self.given
        return {name: value for name, value in known.items() if name not in ("configuration", *DECIDED)}

    def point(self, place: int) -> Point:
        """Build and check the load experiment of a point. This takes milliseconds."""
        return build_point(self.options_at(place), f"{self.name}, {self.figure.over} {self.at(place):g}")

    @cached_property
    def too_many(self) -> set[int]:
        """Places of points along an option that are not measured: consumption links cannot carry their traffic."""
        return {place for place in range(1, len(self.figure.values) + 1) if not self._fits(self.options_at(place))}

    def _fits(self, options: Mapping[str, Any]) -> bool:
        network = topology(options["topology"])
        setup = Setup.on(network, find_scheme(options["scheme"], network, options.get("relation")), options)
        return self._traffic(options).fits(network, consumption_links(network, setup.configuration))

    def missing(self) -> set[int]:
        """Return the places of the points to measure next."""
        if self.figure.values:
            return set(range(1, len(self.figure.values) + 1)) - self.too_many - self.results.keys()
        most = round(FINE * self.figure.most / self.figure.step)
        return next_places({place: _over(result) for place, result in self.results.items()}, most)

    @property
    def over(self) -> list[int]:
        """Places of points that are saturated, end in a deadlock or are not measured (`too_many`), in rising order."""
        return sorted(self.too_many.union(place for place in self.places if _over(self.results[place])))

    @property
    def steady(self) -> list[int]:
        """Places of points without saturation or deadlock.

        In a figure over the load, all loads above the lowest load with saturation or a deadlock are left out.
        """
        if self.figure.values:
            return [place for place in self.places if place not in self.over]
        first = min(self.over, default=None)
        return [place for place in self.places if first is None or place < first]

    @property
    def deadlocked(self) -> list[int]:
        """Places of the points that end in a deadlock."""
        return [place for place in self.places if self.results[place]["deadlock"] is not None]

    def measured(self, word: str) -> Quantity:
        """Return the curve's measurement for a word of predicates, for example ``latency``."""
        at_points = word in OF_CURVE and self.figure.over != LOAD  # over an option, each point has a value of its own
        if word in CURVE_WORDS and not at_points:
            return self._of_curve(word)
        if word not in POINT_WORDS and not at_points:
            raise WormcastError(f"{self.figure.name}: {word} is not valid: series {self.series.name} has load "
                                f"experiments. Allowed: {', '.join((*POINT_WORDS, *CURVE_WORDS))}.")
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
            # the greatest of several values with errors is too high by chance, so the mean of all near it is used
            best, about = max(known)
            near = [one for one in known if one[0] + one[1] >= best - about]
            return Quantity.of(_mean(mean for mean, _ in near), _mean(half for _, half in near))
        each = [(mean, half) for place in self.steady for mean, half
                in [_interval(self.results[place], OF_CURVE[word])] if mean is not None]
        return Quantity.of(_mean(mean for mean, _ in each), _mean(half for _, half in each)) if each else Quantity({})


def _over(result: Mapping[str, Any]) -> bool:
    return result["deadlock"] is not None or bool(result["saturated"])


def _interval(result: Mapping[str, Any], name: str) -> tuple[float | None, float]:
    """Return a result's mean, and half its interval: 0 if the result is exact, infinite if the error is unknown."""
    value = result[name]
    mean, half = ((value["mean"], value["half_width"]) if isinstance(value, Mapping)
                  else (value, result.get(f"{name}_half_width", 0.0)))
    return mean, math.inf if half is None else half


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)
