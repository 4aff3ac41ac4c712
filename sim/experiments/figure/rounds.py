"""Measurement of figures: rounds of points until curves are complete, looks until statements are decided; the table."""

import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.errors import naming

from ...common.requirements import ToolMissing
from ...common.text import count
from ..sweep import REPETITIONS, MemoryStore, Point, ResultStore, cells_of, missing
from .curve import Curve
from .definition import Figure, ScatterPoint, Series, Statement, Variation
from .evidence import UNDECIDED
from .plan import PlannedCurve, RunPlan, committed_plan, plan_of
from .predicate import CommandValue, Measured
from .random_points import RandomPoint
from .schema import DECIDED
from .single import RunCurve, RunPoint
from .verdict import Verdict, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["AnyCurve", "AnyPoint", "FigureOutcome", "Runner", "Study", "curves_of", "each_once", "measure_all"]

AnyCurve = Curve | RunCurve

AnyPoint = Point | RunPoint | RandomPoint

Runner = Callable[[Sequence[AnyPoint]], Generator[AnyPoint, None, None]]
"""Function that runs points, here or on a cluster, and yields each point when its result is stored."""

Curves = dict[tuple[str, str | None], AnyCurve]
"""Curves of a figure, by the name of the series and the name of the variation (None without a variation)."""


@dataclass(frozen=True)
class FigureOutcome:
    """Outcome of a figure.

    Parameters
    ----------
    figure : Figure
    curves : list of Curve
        Drawn curves, without variations.
    rows : list of dict
        Table with a row per point of all measured curves.
    verdicts : list of Verdict
        Verdicts on the figure's statements.
    scatter : list of (str, ends, ends)
        Points of the figure's scatter plot, see `scatter_figure`; empty if a command of these points needs a tool that
        is not installed.
    plan : RunPlan or None
        Run plan of the figure's load experiments; for a quick run, that of the full run; None without load experiments.
    """

    figure: Figure
    curves: list[AnyCurve]
    rows: list[dict[str, Any]]
    verdicts: list[Verdict]
    scatter: list[ScatterPoint]
    plan: RunPlan | None = None

    def of_claim(self, claim: str) -> "FigureOutcome":
        """Return the outcome with the verdicts on one claim only."""
        return dataclasses.replace(self, verdicts=[one for one in self.verdicts if one.claim == claim])

    @property
    def points(self) -> str:
        """Number of points in words, and how many are imprecise or in deadlock; empty without points."""
        if not self.rows:
            return ""
        imprecise = sum(row.get("precise") is False and not row["saturated"] for row in self.rows)
        deadlocks = sum(bool(row.get("deadlock")) for row in self.rows)
        return f"{count(len(self.rows), 'point')}" + ("" if self.figure.runs else
            f", {imprecise} of them imprecise, {deadlocks} in deadlock")

    def picture_of_curves(self) -> "Picture":
        """Draw the curves, of which there must be one or more."""
        if self.figure.runs:
            from .run_drawing import runs_figure

            return runs_figure(self.figure, [one for one in self.curves if isinstance(one, RunCurve)])
        from .drawing import loads_figure

        return loads_figure(self.figure, [one for one in self.curves if isinstance(one, Curve)])


def curves_of(figure: Figure, *, quick: bool = False, plan: RunPlan | None = None) -> Curves:
    """Return the curves of all series that a figure and its statements name, with each variation unless ``quick``.

    For a series that a variation does not change, the variation's entry is the curve without variation. With a run
    plan, curves of load experiments are those of the first look; without one, they are those of a pilot run. A series
    of another figure has that figure's committed run plan, if there is one.
    """
    found: Curves = {}
    for name in figure.named_series:
        of, series = figure.find_series(name)

        def curve(variation: Variation | None, of: Figure = of, series: Series = series) -> AnyCurve:
            if of.runs:
                return RunCurve(of, series, variation, quick)
            if plan is None:
                return Curve(of, series, variation, quick)
            own = None if of is figure else committed_plan(of)
            return PlannedCurve(of, series, variation, plan=own or plan)

        found[name, None] = default = curve(None)
        for variation in () if quick else figure.variations.values():
            varied = curve(variation.on(name))
            found[name, variation.name] = default if varied.hardware == default.hardware else varied
    return found


def each_once(curves: Mapping[Any, AnyCurve]) -> list[AnyCurve]:
    """Return each curve once."""
    return list({id(curve): curve for curve in curves.values()}.values())


def measure(curves: Sequence[AnyCurve], store: ResultStore | MemoryStore, run: Runner
            ) -> Generator[AnyPoint, None, None]:
    """Measure all curves, and yield each point that was run. Points with a stored result are not run again."""
    while True:
        wanted = [(curve, place, curve.points(place)) for curve in curves for place in sorted(curve.missing())]
        if not wanted:
            return
        # the points with the longest runs come first, so that processors are idle only briefly at the end
        longest = sorted((point for *_, each in wanted for point in each), key=lambda point: -point.size)
        to_run = missing(longest, store)
        yield from run(to_run)
        for curve, place, each in wanted:
            curve.put(place, [store[point.key] for point in each])


def measure_all(studies: "Sequence[Study]", store: ResultStore | MemoryStore, run: Runner, output: CommandValue
                ) -> Generator[AnyPoint, None, None]:
    """Measure figures until all their statements are decided, or have had all their looks; yield each point run.

    A point that several figures share is run once.
    """
    yield from measure([curve for one in studies for curve in one.every], store, run)
    further = [curve for one in studies for curve in one.begin()]
    while True:
        yield from measure(further, store, run)
        further = [curve for one in studies for curve in one.look(output)]
        if not further:
            return


class Study:
    """Figure under measurement: a pilot run, then looks at longer and longer runs until all statements are decided.

    A quick study judges its pilot run, in one look.

    Parameters
    ----------
    figure : Figure
    quick : bool

    Attributes
    ----------
    pilots : Curves
        Load experiments of the pilot run. Empty if the figure has no load experiments, and in a full run if it has a
        committed run plan.
    plan : RunPlan or None
        Run plan of a full run. None in a quick run, without load experiments, and before `begin` if there is a pilot
        run.
    curves : Curves
        Curves at the latest look at each series.
    every : list of curves
        All curves that the study measures or has measured.
    """

    def __init__(self, figure: Figure, *, quick: bool = False):
        self.figure, self.quick = figure, quick
        self.plan = None if quick else committed_plan(figure)
        loads = any(not figure.find_series(name)[0].runs for name in figure.named_series)
        self.needs_pilot = loads and (quick or self.plan is None)
        self.pilots = {name: curve for name, curve in curves_of(figure, quick=True).items()
                       if isinstance(curve, Curve)} if self.needs_pilot else {}
        self.curves: Curves = {}
        self.every: list[AnyCurve] = [*each_once(self.pilots)]
        self._verdicts: dict[int, Verdict] = {}
        self._look = 1

    def begin(self) -> list[AnyCurve]:
        """Return the curves to measure at the first look. The pilot run must be complete."""
        if not self.curves:
            if self.needs_pilot:
                self.plan = None if self.quick else plan_of(self.figure, [*self.pilots.values()])
            self.curves = {**curves_of(self.figure, quick=self.quick, plan=self.plan),
                           **(self.pilots if self.quick else {})}
            self.every += each_once(self.curves) if not self.quick else [
                one for one in each_once(self.curves) if isinstance(one, RunCurve)]
        return each_once(self.curves)

    def look(self, output: CommandValue) -> list[AnyCurve]:
        """Judge the statements that are not decided yet, and return the curves to measure for the next look."""
        looks = self.plan.looks if self.plan is not None else 1
        for number, statement in enumerate(self.figure.statements):
            if number not in self._verdicts or self._open(number):
                with naming(f"statements[{number}] in {self.figure.place}"):
                    self._verdicts[number] = self._judge(statement, output, looks if self._planned(statement) else 1)
        if self._look >= looks:
            return []
        named = {name for number, one in enumerate(self.figure.statements) if self._open(number)
                 for each in one.predicates for name in each.series}
        self._look += 1
        found: list[AnyCurve] = []
        for name in named:
            curve = self.curves[name, None]
            if isinstance(curve, PlannedCurve):
                self.curves[name, None] = dataclasses.replace(
                    curve, look=self._look, first=curve.first or curve, results={})
                found.append(self.curves[name, None])
        self.every += found
        return found

    def _open(self, number: int) -> bool:
        """A further look may decide a statement."""
        return self._verdicts[number].verdict == UNDECIDED and self._planned(self.figure.statements[number])

    def _planned(self, statement: Statement) -> bool:
        return any(isinstance(self.curves[name, None], PlannedCurve)
                   for one in statement.predicates for name in one.series)

    def _judge(self, statement: Statement, output: CommandValue, looks: int) -> Verdict:
        def under(variation: str | None) -> Measured:
            return lambda word, name: self.curves[name, variation].measured(word)

        named = {name: self.curves[name, None] for one in statement.predicates for name in one.series}
        statistical = any(isinstance(one, Curve) or one.drawn for one in named.values())
        schemes = {name: str(one.options["scheme"]).split(":")[0] for name, one in named.items()}
        return judge(statement, under, output, [] if self.quick else [*self.figure.variations], schemes=schemes,
                     statistical=statistical, look=min(self._look, looks), looks=looks,
                     missing=self.plan.missing if self.plan is not None and self._planned(statement) else 0.0)

    def outcome(self, output: CommandValue) -> FigureOutcome:
        """Return the outcome: the table of the latest look at each series, and the verdicts."""
        figure = self.figure
        return FigureOutcome(
            figure,
            [self.curves[name, None] for name, series in figure.series.items() if series.drawn],
            [_row(figure, name, variation, curve, place) for (name, variation), curve in self.curves.items()
             if variation is None or not self._is_default(name, variation) for place in curve.places],
            [self._verdicts[number] for number in range(len(figure.statements))], _scatter(figure, output),
            plan_of(figure, [*self.pilots.values()]) if self.quick and self.pilots else self.plan)

    def _is_default(self, name: str, variation: str) -> bool:
        """A variation leaves a series as it is."""
        first = self.curves[name, None]
        first = first.first or first if isinstance(first, PlannedCurve) else first
        return self.curves[name, variation] is first


def _scatter(figure: Figure, output: CommandValue) -> list[ScatterPoint]:
    if figure.scatter is None:
        return []
    try:
        return [(name, across.ends(output), up.ends(output)) for name, across, up in figure.scatter.points]
    except ToolMissing:
        return []


def _row(figure: Figure, name: str, variation: str | None, curve: AnyCurve, place: int) -> dict[str, Any]:
    given = "; ".join(f"{key}={value}" for key, value in curve.options.items() if key not in DECIDED)
    return {"figure": figure.name, "series": name, "variation": variation or "", "options": given,
            **curve.columns(place),
            **cells_of({key: value for key, value in curve.results[place].items() if key != REPETITIONS})}

