"""Measurement of figures: rounds of points until all curves are complete; then table and verdicts."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.errors import naming

from ...common.requirements import ToolMissing
from ...common.text import count
from ..sweep import MemoryStore, Point, ResultStore, cells_of, missing
from .curve import Curve
from .definition import Figure
from .drawn import DrawnPoint
from .predicate import CommandValue, Measured
from .schema import DECIDED
from .single import RunCurve, RunPoint
from .verdict import Verdict, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["AnyCurve", "AnyPoint", "FigureOutcome", "Runner", "curves_of", "each_once", "measure", "outcome_of"]

AnyCurve = Curve | RunCurve

AnyPoint = Point | RunPoint | DrawnPoint

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
    scatter : list of (str, float, float)
        Points of the figure's scatter plot; empty if a command of them needs a tool that is not installed.
    """

    figure: Figure
    curves: list[AnyCurve]
    rows: list[dict[str, Any]]
    verdicts: list[Verdict]
    scatter: list[tuple[str, float, float]]

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


def curves_of(figure: Figure, *, quick: bool = False) -> Curves:
    """Return the curves of all series that a figure and its statements name, with each variation unless ``quick``.

    For a series that a variation does not change, the variation's entry is the curve without variation.
    """
    found: Curves = {}
    for name in figure.named_series:
        of, series = figure.find_series(name)
        kind = RunCurve if of.runs else Curve
        found[name, None] = default = kind(of, series, None, quick)
        for variation in () if quick else figure.variations.values():
            varied = kind(of, series, variation.on(name))
            found[name, variation.name] = default if varied.hardware == default.hardware else varied
    return found


def each_once(curves: Mapping[Any, AnyCurve]) -> list[AnyCurve]:
    """Return each curve once."""
    return list({id(curve): curve for curve in curves.values()}.values())


def measure(curves: Sequence[AnyCurve], store: ResultStore | MemoryStore, run: Runner
            ) -> Generator[tuple[int, int], None, None]:
    """Measure all curves. Points with a stored result are not run again.

    Yields
    ------
    (int, int)
        After each point: the number of points done, and the number of points known to be needed.
    """
    done = known = 0
    while True:
        wanted = [(curve, place, curve.point(place)) for curve in curves for place in sorted(curve.missing())]
        if not wanted:
            return
        # the longest points first, so that processors are idle only briefly at the end
        longest = sorted((point for *_, point in wanted), key=lambda point: -point.size)
        to_run = missing(longest, store)
        known += len(to_run)
        for _ in run(to_run):
            done += 1
            yield done, known
        for curve, place, point in wanted:
            curve.results[place] = store[point.key]


def outcome_of(figure: Figure, curves: Curves, told: CommandValue, *, quick: bool = False) -> FigureOutcome:
    """Return the outcome of a figure from its measured curves: its table and verdicts."""
    def under(variation: str | None) -> Measured:
        return lambda word, name: curves[name, variation].measured(word)

    def verdicts() -> Iterator[Verdict]:
        for number, statement in enumerate(figure.statements):
            with naming(f"{figure.name}: statements[{number}]"):
                yield judge(statement, under, told, variations)

    variations = [] if quick else list(figure.variations)
    return FigureOutcome(
        figure,
        [curves[name, None] for name, series in figure.series.items() if series.drawn],
        [_row(figure, name, variation, curve, place) for (name, variation), curve in curves.items()
         if curve is not curves[name, None] or variation is None for place in curve.places],
        list(verdicts()), _scatter(figure, told))


def _scatter(figure: Figure, told: CommandValue) -> list[tuple[str, float, float]]:
    if figure.scatter is None:
        return []
    try:
        return [(name, across.value(told), up.value(told)) for name, across, up in figure.scatter.points]
    except ToolMissing:
        return []


def _row(figure: Figure, name: str, variation: str | None, curve: AnyCurve, place: int) -> dict[str, Any]:
    given = "; ".join(f"{key}={value}" for key, value in curve.options.items() if key not in DECIDED)
    return {"figure": figure.name, "series": name, "variation": variation or "", "options": given,
            **curve.columns(place), **cells_of(curve.results[place])}

