"""Run plan of a figure: the loads, the warm-up, the length and the seeds that all its schemes share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.toml_file import read_toml

from ..load.statistics import interval
from ..sweep import REPETITIONS, Point, build_point
from .curve import Curve
from .definition import HERE, Figure, catalogue, find_figure
from .evidence import LOOKS
from .placing import FINE
from .series_curve import NETWORK, drawn_network

__all__ = ["PLANS", "PlannedCurve", "RunPlan", "committed_plan", "cut_plans", "node_cycles", "plan_of", "read_plans",
           "written_plans"]

#: Committed run plans of the catalogue's figures, by the names of the figures.
PLANS = HERE / "plans.toml"

#: First seed and number of repetitions. The pilot run has other seeds (``curve.FIRST_SEED``).
SEED, REPLICATED = 0, 10

#: The warm-up and the length are multiples of GRAIN cycles.
GRAIN = 500

#: BATCH: number of points of a curve that a round measures, in rising order, until a point is saturated in all
#: repetitions. BEYOND: number of points measured after the saturated one, because the accepted load still rises there.
BATCH, BEYOND = 4, 2

#: Cuts of run plans, in the order in which `cut_plans` tries them: the distance of loads in fine steps, the number of
#: looks, and the divisor of the cycles.
CUTS = ((1, 3, 1), (2, 3, 1), (FINE, 3, 1), (FINE, 2, 1), (FINE, 1, 1), (FINE, 1, 2), (FINE, 1, 4), (FINE, 1, 8))


@dataclass(frozen=True)
class RunPlan:
    """Run plan of a figure.

    Parameters
    ----------
    places : tuple of int
        Numbers of the points that all curves have, as in `Curve`.
    warmup, cycles : int
        Cycles at the start that do not count, and cycles after them at the first look.
    looks : int
        Most looks at the figure's statements.
    missing : float
        Hours by which a budget has shortened the run of the figure.
    """

    places: tuple[int, ...]
    warmup: int
    cycles: int
    looks: int = LOOKS
    missing: float = 0.0

    def length(self, look: int) -> int:
        """Return the cycles of a run at a look, from 1: the counted cycles double at each look."""
        return self.warmup + self.cycles * 2 ** (look - 1)

    def cut(self, figure: Figure, grid: int, looks: int, divisor: int) -> "RunPlan":
        """Return the run plan with fewer loads, with fewer looks or with shorter runs.

        The loads that remain are multiples of ``grid`` fine steps, the lowest and the highest load, and loads that
        statements of the figure name. Values of an option remain.
        """
        named = {load for one in figure.statements for each in one.predicates for load in each.loads}
        kept = [place for place in self.places if figure.values or place % grid == 0
                or place in (self.places[0], self.places[-1]) or round(place * figure.step / FINE, 9) in named]
        return replace(self, places=tuple(kept), looks=looks, cycles=max(GRAIN, _rounded(self.cycles // divisor)))


def node_cycles(plans: Sequence[tuple[Figure, RunPlan]], looks: int | None = None) -> list[int]:
    """Return the node cycles of each figure's run by its run plan, at most: all points, repetitions and variations.

    A curve that a figure shares with an earlier one counts for the earlier one.

    Parameters
    ----------
    looks : int or None
        Number of looks that statements take. Default: all looks of a run plan. Each look runs from the first cycle.
    """
    planned = {figure.name: plan for figure, plan in plans}
    known: set[tuple[Any, ...]] = set()
    found = []
    for figure, default in plans:
        work = 0
        for name in figure.named_series:
            of, series = figure.find_series(name)
            plan = planned.get(of.name, default)
            each = [plan.length(look) for look in range(1, (looks or plan.looks) + 1)]
            for variation in () if of.runs else (None, *figure.variations.values()):
                curve = Curve(of, series, variation and variation.on(name))
                key = str(sorted(curve.given.items())), of.over, of.step, plan
                if key not in known:
                    known.add(key)
                    nodes = sum(_nodes(curve.options_at(place)["topology"]) for place in plan.places)
                    work += nodes * REPLICATED * (each[0] if variation else sum(each))
        found.append(work)
    return found


def cut_plans(plans: Sequence[tuple[Figure, RunPlan]], hours: float, speed: float) -> list[RunPlan]:
    """Return run plans that take at most a number of hours together, all cut alike by the first sufficient `CUTS`.

    Parameters
    ----------
    speed : float
        Node cycles per second.

    Raises
    ------
    WormcastError
        No cut suffices.
    """
    whole = node_cycles(plans)
    for cut in CUTS:
        found = [(figure, plan.cut(figure, *cut)) for figure, plan in plans]
        takes = node_cycles(found)
        if sum(takes) <= hours * 3600 * speed:
            return [replace(plan, missing=round((before - after) / speed / 3600, 2))
                    for (_, plan), before, after in zip(found, whole, takes, strict=True)]
    raise WormcastError(f"hours: {hours:g} is not valid: the shortest run plans take {sum(takes) / speed / 3600:.1f} "
                        "hours. Allowed: as many or more.")


def plan_of(figure: Figure, pilots: Sequence[Curve]) -> RunPlan:
    """Return the run plan that the curves of a figure's pilot run allow.

    All loads at which a curve of the pilot run has a point are loads of the run plan. The warm-up is the longest that
    MSER finds at a point that is not saturated. The length is the greatest number of counted cycles of a point that is
    not saturated. Most of these points end when half the interval of the latency of 4 seeds is within 10 % of the mean;
    with 10 repetitions this is about 5 %. If all points are saturated, the warm-up and the length are the longest of
    all points.
    """
    places = {place for curve in pilots for place in (
        range(1, len(curve.figure.values) + 1) if curve.figure.values else curve.places)}
    steady = [curve.results[place] for curve in pilots for place in curve.steady] or [
        one for curve in pilots for one in curve.results.values() if one["warmup_used"] is not None]
    return RunPlan(tuple(sorted(places)), _rounded(max((one["warmup_used"] for one in steady), default=0)),
                max(GRAIN, _rounded(max((one["cycles_simulated"] - one["warmup_used"] for one in steady), default=0))))


@cache
def _nodes(network: str) -> int:
    return topology(network).nodes


def _rounded(cycles: int) -> int:
    return -(-cycles // GRAIN) * GRAIN


def read_plans(file: Path) -> dict[str, RunPlan]:
    """Read the run plans in a file that `written_plans` made; empty if there is no file."""
    entries = read_toml(file, "run plans") if file.exists() else {}
    return {name: RunPlan(**{**one, "places": tuple(one["places"])}) for name, one in entries.items()}


@cache
def _committed() -> dict[str, RunPlan]:
    return read_plans(PLANS)


def committed_plan(figure: Figure) -> RunPlan | None:
    """Return the committed run plan of a figure of the catalogue; None if it has none."""
    return _committed().get(figure.name) if figure.name in catalogue() and find_figure(figure.name) is figure else None


def written_plans(plans: Mapping[str, RunPlan]) -> str:
    """Return run plans as TOML."""
    def entry(plan: RunPlan) -> dict[str, Any]:
        cut = {} if plan.looks == LOOKS and not plan.missing else {"looks": plan.looks, "missing": plan.missing}
        return {"places": list(plan.places), "warmup": plan.warmup, "cycles": plan.cycles, **cut}

    return "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in entry(plan).items()) + "\n"
                   for name, plan in plans.items())


@dataclass
class PlannedCurve(Curve):
    """Curve by a run plan, at a look.

    All repetitions run for the plan's cycles. A later look simulates the seeds of the first look again from cycle 0,
    for more cycles. The cycles that both looks simulate are the same.

    Parameters
    ----------
    plan : RunPlan
    look : int
        Number of the look, from 1.
    first : PlannedCurve or None
        Curve of the first look, whose points decide which loads are saturated.
    """

    plan: RunPlan = field(default_factory=lambda: RunPlan((), 0, GRAIN))
    look: int = 1
    first: "PlannedCurve | None" = None

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options of ``wormcast load`` that all points of the curve share."""
        return {**super().options, "until_interval": False, "seed": SEED, "seeds": REPLICATED,
                "warmup": self.plan.warmup, "cycles": self.plan.length(self.look)}

    def length(self, options: Mapping[str, Any]) -> int:
        """Return the cycles of each repetition: those of the plan for this look."""
        return int(options["cycles"])

    @property
    def is_drawn(self) -> bool:
        """Each repetition has a random network of its own."""
        return NETWORK in self.named_topology

    def points(self, place: int) -> list[Point]:
        """Build and check the load experiments of a point: all repetitions in one, or one for each random network."""
        if not self.is_drawn:
            return [self.point(place)]
        return [build_point({**self.options_at(place), "topology": drawn_network(self.named_topology, number),
                             "seed": SEED + number, "seeds": 1},
                            f"{self.name}, {self.figure.over} {self.at(place):g}, network {number + 1}")
                for number in range(REPLICATED)]

    def put(self, place: int, results: Sequence[dict[str, Any]]) -> None:
        """Store the results of `points`, repetitions of several networks as one result."""
        found = results[0] if len(results) == 1 else _folded(results)
        each = found[REPETITIONS]
        self.results[place] = {**found, "saturated": any(one["saturated"] for one in each)}

    def missing(self) -> set[int]:
        """Return the places of the points to measure next."""
        if self.look > 1:
            return {*(self.first or self).results} - self.results.keys()
        planned = [place for place in self.plan.places if place not in self.too_many]
        if self.figure.values:
            return {*planned} - self.results.keys()
        end = self._end
        wanted = planned if end is None else [
            *(place for place in planned if place <= end), *[place for place in planned if place > end][:BEYOND]]
        return {*[place for place in wanted if place not in self.results][:BATCH]}

    @property
    def _end(self) -> int | None:
        """The lowest place at which the network is saturated in all repetitions."""
        return next((place for place in self.places if self.saturated_at(place).all()), None)

    def saturated_at(self, place: int) -> npt.NDArray[np.bool_]:
        """Return whether the network is saturated at a point at the first look, [repetitions]."""
        return super().saturated_at(place) if self.first is None else self.first.saturated_at(place)

    @property
    def judged(self) -> list[int]:
        """Places (see `Curve`) of the points that the figure's statements compare, in rising order.

        In a figure over the load, these include the loads of the run plan that are not measured because the network is
        saturated in all repetitions at a lower load.
        """
        end = None if self.figure.values else (self.first or self)._end
        return sorted({*self.places, *self.too_many,
                       *(place for place in self.plan.places if end is not None and place > end)})


def _folded(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the results of several networks as one: means over networks with their intervals."""
    return {name: _over_networks(name, results) for name in results[0] if not name.endswith("_half_width")} | {
        name: interval([one[name.removesuffix("_half_width")] for one in results
                        if one[name.removesuffix("_half_width")] is not None]).half_width
        for name in results[0] if name.endswith("_half_width")}


def _over_networks(name: str, results: Sequence[dict[str, Any]]) -> Any:
    each = [one[name] for one in results]
    if name == REPETITIONS:
        return [one for some in each for one in some]
    if isinstance(each[0], dict) and each[0].keys() >= {"mean", "half_width"}:
        found = interval([one["mean"] for one in each if one["mean"] is not None])
        return {**dict.fromkeys(each[0]), **found.to_dict()}
    if isinstance(each[0], dict) and name.endswith("percentiles"):
        return {key: _over_networks(key, each) for key in each[0]}
    known = [one for one in each if one is not None]
    if name == "deadlock" or not known or isinstance(known[0], bool | str | dict):
        return (all(known) if name == "precise" else any(known)) if known and isinstance(known[0], bool) else (
            known[0] if known else None)
    return max(known) if name in ("cycles_simulated", "warmup_used") else sum(known) / len(known)
