"""Curve of load experiments: the points of a series under a variation, and their measurements."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Scheme, WormcastError, find_scheme, load_scheme, topology

from ...build.setup import Setup
from ...build.traffic import Traffic
from ..load.experiment import consumption_links
from ..load.specification import FIELDS
from ..load.statistics import interval
from ..sweep import REPETITIONS, Point, build_point
from .definition import place_on_axis
from .placing import FINE, next_places
from .predicate import CURVE_WORDS, POINT_WORDS, SATURATED
from .quantity import Quantity
from .schema import DECIDED, LOAD
from .series_curve import SeriesCurve, drawn_network

__all__ = ["PRECISION", "QUICK", "Curve"]

#: Goal of each point: half the 95 % interval of the latency is at most PRECISION times the mean latency.
#: [Boppana98] has the same goal: the whole interval is at most 10 % of the mean.
PRECISION = 0.05

#: Pilot runs and variations without a run plan: the number of cycles is divided by QUICK, and QUICK_PRECISION replaces
#: PRECISION.
QUICK, QUICK_PRECISION = 8, 0.1

#: First seed, and number of seeds, of each point of a pilot run.
FIRST_SEED, SEEDS = 1000, 4

#: A repetition of a pilot run may take the cycles in which the network creates MESSAGES messages, if these are more
#: than the figure's cycles divided by QUICK, and at most the figure's cycles.
MESSAGES = 200

#: Words of predicates that are latencies: they have no bound where the network is saturated.
LATENCIES = ("latency", "multicast_latency", "unicast_latency", "queue", "source", "transit", "p50", "p95", "p99")

#: For each word of `POINT_WORDS` that is not itself a key of the results: the keys whose values are added up for it.
SUMS = {"queue": ("queue_latency",), "source": ("queue_latency", "injection_latency"),
        "transit": ("transit_latency",), "delivered": ("delivered_per_node",)}

#: For words of `CURVE_WORDS` other than ``throughput`` and ``saturation``: key in the results of a load experiment.
OF_CURVE = {"hops": "hops_per_destination", "copies": "copies", "vc_ratio": "vc_ratio"}


class Curve(SeriesCurve):
    """Curve of load experiments over the load or over one of their options.

    Each point has a *place*, an integer that identifies the point in the curve. In a figure over the load, a point's
    place is its load divided by a fine step, the figure's ``step`` / `FINE`. In a figure over an option, a point's
    place is the position of its value in the figure's list of values, from 1. With ``quick``, the number of cycles is
    divided by `QUICK`, but see `MESSAGES`. For variations, which can only show that a verdict changes, the number of
    cycles is divided without ``quick``, too. A `PlannedCurve` has the number of cycles of its run plan instead.
    """

    @property
    def named_topology(self) -> str:
        """Name of the topology as the figure has it, with {network} where each repetition has a random network."""
        return str(super().given.get("topology", ""))

    @property
    def given(self) -> dict[str, Any]:
        """Options of the curve. Where networks are random, the topology among the options is the first network."""
        found = super().given
        return {**found, "topology": drawn_network(found["topology"], 0)} if "topology" in found else found

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options of ``wormcast load`` that all points of the curve share."""
        quick = self.quick or self.variation is not None
        return {**self.given, "until_interval": True, "seed": FIRST_SEED, "seeds": SEEDS,
                REPETITIONS: True, "precision": QUICK_PRECISION if quick else PRECISION,
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
        found = {self.figure.over: self.figure.values[place - 1]} if self.figure.values else {
            "rate": float(f"{self.at(place) / self._wanted:.6g}")}
        options = {**self.options, **found}
        return {**options, "cycles": self.length(options)}

    def length(self, options: Mapping[str, Any]) -> int:
        """Return the most cycles of a repetition of a point with these options, the warm-up included."""
        created = self._traffic(options).chance * topology(options["topology"]).nodes
        enough = min(float(self.figure.cycles), MESSAGES / created)
        return max(int(options["cycles"]), math.ceil(enough))

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
        """Build and check the load experiment of a point, which takes milliseconds, without running it."""
        return build_point(self.options_at(place), f"{self.name}, {self.figure.over} {self.at(place):g}")

    def points(self, place: int) -> list[Point]:
        """Build and check the load experiments that a point consists of."""
        return [self.point(place)]

    def put(self, place: int, results: Sequence[dict[str, Any]]) -> None:
        """Store the results of `points`."""
        [self.results[place]] = results

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

    @property
    def repetitions(self) -> int:
        """Number of repetitions of each point."""
        return int(self.options["seeds"])

    def saturated_at(self, place: int) -> npt.NDArray[np.bool_]:
        """Return whether the network is saturated at a point, [repetitions]. A deadlock counts as saturation."""
        if place in self.too_many or self.results[place]["deadlock"] is not None:
            return np.ones(self.repetitions, bool)
        return np.array([one["saturated"] for one in self.results[place][REPETITIONS]], bool)

    @property
    def judged(self) -> list[int]:
        """Places of all points that statements compare, in rising order: points measured, and `too_many`."""
        return sorted({*self.places, *self.too_many})

    def measured(self, word: str) -> Quantity:
        """Return the curve's measurement for a word of predicates, for example ``latency``."""
        if word == SATURATED:
            return Quantity.repeated({self.at(place): self._saturated(place) for place in self.judged})
        at_points = word in OF_CURVE and self.figure.over != LOAD  # over an option, each point has a value of its own
        if word in CURVE_WORDS and not at_points:
            return self._of_curve(word)
        if word not in POINT_WORDS and not at_points:
            raise WormcastError(f"{word} is not valid with series {self.series.name} of {self.figure.place}, which has "
                                f"load experiments. Allowed: {', '.join((*POINT_WORDS, *CURVE_WORDS))}.")
        found: dict[float | None, npt.NDArray[np.float64]] = {}
        for place in self.judged:
            saturated = self._saturated(place)
            if word not in LATENCIES:
                values = None if saturated.any() else self._values(place, word)
            elif saturated.all():
                values = np.full(self.repetitions, math.inf)
            elif saturated.any():
                values = np.full(self.repetitions, math.nan)
            else:
                values = self._values(place, word)
            if values is not None:
                found[self.at(place)] = values
        return Quantity.repeated(found)

    def _saturated(self, place: int) -> npt.NDArray[np.bool_]:
        """Return `saturated_at` for a place of `judged`, which may lie above all measured loads."""
        if place in self.results or place in self.too_many:
            return self.saturated_at(place)
        return np.ones(self.repetitions, bool)

    def _values(self, place: int, word: str) -> npt.NDArray[np.float64] | None:
        """Return a word's value in each repetition of a point; None if the word has no value in a repetition."""
        names = SUMS.get(word, (OF_CURVE.get(word, word),))
        found = [[one.get(name) for one in self.results[place].get(REPETITIONS, ())] for name in names]
        if not all(found) or any(value is None for one in found for value in one):
            return None
        return np.array(found, float).sum(axis=0)

    def _of_curve(self, word: str) -> Quantity:
        if word == "saturation":
            return self._saturation()
        if word == "throughput":
            known = {place: values for place in self.places if (values := self._values(place, "accepted")) is not None}
            if not known or not any(self.saturated_at(place).all() for place in self.places):
                return Quantity({})
            # the greatest of several values with errors is too high by chance: take the mean of all values near the
            # greatest
            ends = {place: (one.mean(), interval(one).half_width or 0.0) for place, one in known.items()}
            best, about = max(ends.values())
            near = [known[place] for place, (mean, half) in ends.items() if mean + half >= best - about]
            return Quantity.repeated({None: np.mean(near, axis=0)})
        each = [values for place in self.steady if (values := self._values(place, OF_CURVE[word])) is not None]
        if word == "vc_ratio":
            return Quantity.of(float(each[0][0])) if each else Quantity({})
        return Quantity.repeated({None: np.mean(each, axis=0)}) if each else Quantity({})

    def _saturation(self) -> Quantity:
        """Return for each repetition the middle between the lowest saturated load and the highest load below it.

        If no load is saturated, saturation lies above the last load.
        """
        ends = np.empty((2, self.repetitions))
        for number in range(self.repetitions):
            over = [place for place in self.judged if self._saturated(place)[number]]
            below = [place for place in self.judged if not over or place < over[0]]
            ends[:, number] = self.at(below[-1]) if below else 0.0, self.at(over[0]) if over else math.inf
        if not self.judged:
            return Quantity({})
        low, high = ends
        return Quantity({None: (low, np.where(np.isinf(high), low, (low + high) / 2), high)}, by_each=True)


def _over(result: Mapping[str, Any]) -> bool:
    return result["deadlock"] is not None or bool(result["saturated"])
