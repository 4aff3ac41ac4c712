"""The results of a sweep as a picture: latency and delivered flits over the load, two columns of a paper wide."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from ...common.curve_frame import (
    COLOURS,
    CURVES,
    LETTERS,
    MARKERS,
    SIZE,
    captioned,
    draw_grid,
    legend_columns,
    require_curves,
)
from ...common.figure_file import save_figure
from ..grid import Sweep
from ..load import Traffic
from .file import OPTIONS
from .point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["draw", "require_drawable"]

WIDTH, HEIGHT = 7.1, 2.7  # inches: two columns of a paper; without the legend
MOST_COLUMNS = 4  # of the legend

PLAIN = "#808080"
PALEST = 0.6  # share of white, of the last of many lines of a colour
STEP = 7  # points between the crosses of two lines

#: Options that the caption tells, given or not.
TOLD = ("length", "destinations_mean", "multicast_fraction", "vcs", "buffer", "seeds", "cycles")

#: Latencies that differ by more than this are drawn with a logarithmic scale.
LARGEST_RATIO = 10


@dataclass(frozen=True)
class _Curve:
    """The points that differ in the option along the x axis alone, in its order."""

    others: dict[str, Any]
    at: list[float]
    results: list[Mapping[str, Any]]
    reconstructed: bool
    along_load: bool

    @property
    def label(self) -> str:
        return ", ".join(map(_said, self.others.items())) or "all points"

    def values(self, name: str) -> list[float]:
        """A measurement of each point; no number where there is none."""
        found = [result[name] for result in self.results]
        return [float("nan") if value is None else value for value in found]

    def steady(self) -> list[bool]:
        """Whether each point is neither saturated nor a deadlock."""
        return [not result["saturated"] and result["deadlock"] is None for result in self.results]

    def shown(self) -> list[bool]:
        """Whether the latency of each point is drawn.

        Saturated, it is that of the few messages that got through, and says where the line goes from its last steady
        point alone: along the load, that is the next one.
        """
        steady = self.steady()
        if not self.along_load:
            return steady
        last = max((index for index, one in enumerate(steady) if one), default=-1)
        return [index <= last + 1 for index in range(len(steady))]

    def means(self) -> tuple[list[float], list[float]]:
        """Mean latencies, and half their intervals' widths (0 where there is none)."""
        latencies = [result["latency"] for result in self.results]
        return ([float("nan") if one["mean"] is None else one["mean"] for one in latencies],
                [one["half_width"] or 0.0 for one in latencies])


def require_drawable(sweep: Sweep, file: Path) -> None:
    """Refuse what cannot be drawn.

    Raises
    ------
    WormcastError
        No option with numbers is swept, there would be more than 40 lines, or the file's ending says neither SVG nor
        PNG.
    """
    along = _along(sweep)
    require_curves(sweep.swept, along, file)
    if along is None:
        raise WormcastError("plot: no option with numbers is swept, one must be: rate for example")


def _along(sweep: Sweep) -> str | None:
    """The option along the x axis: ``rate``, or else that with most numbers; the first of several."""
    numbers = [name for name in sweep.swept if OPTIONS[name].kind in (int, float)]
    if "rate" in numbers:
        return "rate"
    return max(numbers, key=lambda name: len(sweep.swept[name]), default=None)


def draw(sweep: Sweep, points: Sequence[Point], results: Sequence[Mapping[str, Any]], file: Path, form: str) -> None:
    """Draw mean latency, with its intervals, and delivered flits: a line for each combination of swept options.

    The x axis is the load if ``rate`` is swept, or else the swept option that has most numbers. Markers of saturated
    points are open; along the load, lines of latencies end at the first one behind all others, else they leave such
    points out. Crosses are deadlocks, dashed lines schemes that had to be reconstructed. The same results give the
    same file.

    Parameters
    ----------
    points, results
        All points of the sweep, and what they came to (`Point.run`).
    file : Path
        To write; its ending does not matter.
    form : "svg" or "png"
    """
    # takes half a second to load, which every other command would wait for
    import matplotlib
    from matplotlib.ticker import MaxNLocator

    along = _along(sweep)
    assert along is not None  # see require_drawable
    curves = _curves(sweep, points, results, along)
    styles = _styles(curves)
    marks = _marks(curves, styles)
    columns = min(len(marks), MOST_COLUMNS, legend_columns([str(mark.get_label()) for mark in marks], WIDTH))
    caption = textwrap.wrap(_caption(sweep, points[0]), int(LETTERS * WIDTH))
    with matplotlib.rc_context(CURVES):
        figure = captioned(WIDTH, HEIGHT, caption, -(-len(marks) // columns))
        latency, delivered = figure.subplots(1, 2)
        first = 0.0 if along == "rate" else min(curve.at[0] for curve in curves)
        whole = max(curve.at[-1] for curve in curves)
        known = [at for curve in curves for at, shown in zip(curve.at, curve.shown(), strict=True) if shown]
        for axes, last, drawn in ((latency, max(known, default=whole) if along == "rate" else whole, _latency),
                                  (delivered, whole, _delivered)):
            margin = 0.04 * (last - first) or 0.5
            axes.set_xlim(first - margin * (along != "rate"), last + margin)
            if along == "rate" and axes is delivered:
                _all_delivered(axes, last)
            drawn(axes, curves, styles)
            axes.set_xlabel(OPTIONS[along].axis)
            if OPTIONS[along].kind is int:
                axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            draw_grid(axes)
        figure.legend(handles=marks, loc="outside lower center", ncols=columns, frameon=False, handlelength=3)
        save_figure(figure, file, form)


def _curves(sweep: Sweep, points: Sequence[Point], results: Sequence[Mapping[str, Any]], along: str) -> list[_Curve]:
    return [_Curve(
        others,
        [_effective(points[number]) if along == "rate" else points[number].given[along] for number in numbers],
        [results[number] for number in numbers],
        points[numbers[0]].scheme.provenance.startswith("reconstructed"),
        along == "rate",
    ) for others, numbers in sweep.lines(along)]


def _effective(point: Point) -> float:
    """Flits to be consumed per node and cycle; a point with a rate has random traffic."""
    assert isinstance(point.traffic, Traffic)
    return point.traffic.effective(point.network)


def _styles(curves: Sequence[_Curve]) -> list[dict[str, Any]]:
    """Colour and marker tell the schemes apart, or the values of the first swept option; shade all the rest."""
    import matplotlib
    from matplotlib.colors import to_rgb

    names = list(curves[0].others)
    main = "scheme" if "scheme" in names or not names else names[0]
    hues = list(dict.fromkeys(curve.others.get(main) for curve in curves))
    rests = list(dict.fromkeys(_rest(curve, main) for curve in curves))
    ordered = len(hues) > len(COLOURS) or (len(hues) > 2 and OPTIONS[main].kind in (int, float))
    shades = matplotlib.colormaps["viridis"]
    styles = []
    for curve in curves:
        hue, rest = hues.index(curve.others.get(main)), rests.index(_rest(curve, main))
        pure = to_rgb(shades(0.9 * hue / (len(hues) - 1)) if ordered else COLOURS[hue])
        paler = PALEST * rest / len(rests)
        styles.append({
            "color": tuple(part + (1 - part) * paler for part in pure),
            "marker": MARKERS[(hue if len(hues) > 1 else rest) % len(MARKERS)],
            "linestyle": (0, (4, 2)) if curve.reconstructed else "-",
        })
    return styles


def _rest(curve: _Curve, main: str) -> tuple[Any, ...]:
    return tuple(value for name, value in curve.others.items() if name != main)


def _latency(axes: "Axes", curves: Sequence[_Curve], styles: Sequence[dict[str, Any]]) -> None:
    lowest, highest, end = _range(curves)
    logarithmic = highest > LARGEST_RATIO * lowest
    if logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(lowest / 1.5, max(1.5 * highest, 1.1 * end))
    else:
        axes.set_ylim(0, max(1.25 * highest, 1.05 * end))
    # a line on this axis would reach to minus infinity
    least = lowest / 100 if logarithmic else 0.0
    for curve, style in zip(curves, styles, strict=True):
        means, halves = curve.means()
        means = [mean if shown else math.nan for mean, shown in zip(means, curve.shown(), strict=True)]
        low = [min(half, mean - least) for mean, half in zip(means, halves, strict=True)]
        axes.errorbar(curve.at, means, [low, halves], fmt="none", ecolor=style["color"], elinewidth=0.6, capthick=0.6)
        _line(axes, curve, means, style)
    _crosses(axes, curves, styles, top=True)
    axes.set_ylabel("mean latency (cycles, 95 % intervals)")


def _range(curves: Sequence[_Curve]) -> tuple[float, float, float]:
    """Least and greatest latency to be seen, and the highest end of an interval: of points not saturated, if any."""
    known = [(bool(result["saturated"]), mean, half) for curve in curves
             for result, mean, half in zip(curve.results, *curve.means(), strict=True) if not math.isnan(mean)]
    seen = [one for one in known if not one[0]] or known or [(False, 1.0, 0.0)]
    means = [mean for _, mean, _ in seen]
    # an interval of two seeds that disagree tells nothing, and would press all the rest together
    return max(min(means), 1.0), max(means), max(mean + min(half, mean) for _, mean, half in seen)


def _all_delivered(axes: "Axes", last: float) -> None:
    axes.plot([0, last], [0, last], color=PLAIN, linewidth=0.6, linestyle=":", zorder=1)
    axes.annotate("all delivered", (last, last), (-12, 0), textcoords="offset points", ha="right", va="center",
                  color=PLAIN, fontsize=6)


def _delivered(axes: "Axes", curves: Sequence[_Curve], styles: Sequence[dict[str, Any]]) -> None:
    for curve, style in zip(curves, styles, strict=True):
        _line(axes, curve, curve.values("delivered_per_node"), style)
    highest = axes.dataLim.y1
    axes.set_ylim(0, 1.1 * highest if 0 < highest < math.inf else 1)
    _crosses(axes, curves, styles, top=False)
    axes.set_ylabel("delivered payload flits per node and cycle")


def _line(axes: "Axes", curve: _Curve, values: Sequence[float], style: dict[str, Any]) -> None:
    """Draw a line with its markers, those of saturated points open."""
    axes.plot(curve.at, values, color=style["color"], linestyle=style["linestyle"], linewidth=1.0)
    for saturated in (False, True):
        chosen = [index for index, result in enumerate(curve.results) if bool(result["saturated"]) == saturated]
        axes.plot([curve.at[index] for index in chosen], [values[index] for index in chosen], linestyle="",
                  **_marker(style, saturated))


def _marker(style: dict[str, Any], is_open: bool) -> dict[str, Any]:
    return {"color": style["color"], "marker": style["marker"], "markersize": SIZE, "markeredgewidth": 0.7,
            "markerfacecolor": "white" if is_open else style["color"]}


def _crosses(axes: "Axes", curves: Sequence[_Curve], styles: Sequence[dict[str, Any]], top: bool) -> None:
    """Mark the deadlocks along an edge, where there is nothing to measure; each line's in a row of its own."""
    from matplotlib.transforms import ScaledTranslation

    row = 0
    for curve, style in zip(curves, styles, strict=True):
        dead = [at for at, result in zip(curve.at, curve.results, strict=True) if result["deadlock"] is not None]
        across = axes.get_xaxis_transform() + ScaledTranslation(
            0, (-1 if top else 1) * STEP * (row + 0.6) / 72, axes.figure.dpi_scale_trans)
        for sign in (_marker(style, True) | {"markersize": 2 * SIZE},
                     {"color": style["color"], "marker": "x", "markersize": SIZE}):
            axes.plot(dead, [int(top)] * len(dead), linestyle="", transform=across, zorder=3, **sign)
        row += bool(dead)


def _marks(curves: Sequence[_Curve], styles: Sequence[dict[str, Any]]) -> list["Line2D"]:
    """What the legend says: the lines, and the signs that are used."""
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], linestyle=style["linestyle"], linewidth=1.0, label=curve.label, **_marker(style, False))
             for curve, style in zip(curves, styles, strict=True)]
    results = [result for curve in curves for result in curve.results]
    if any(result["saturated"] for result in results):
        marks.append(Line2D([], [], linestyle="", label="saturated", **_marker({"color": PLAIN, "marker": "o"}, True)))
    if any(result["deadlock"] is not None for result in results):
        marks.append(Line2D([], [], linestyle="", color=PLAIN, marker="x", markersize=4, label="deadlock"))
    if any(curve.reconstructed for curve in curves):
        marks.append(Line2D([], [], linestyle=(0, (4, 2)), linewidth=1.0, color=PLAIN, label="reconstructed scheme"))
    return marks


def _caption(sweep: Sweep, point: Point) -> str:
    """What holds for all lines: what the file says, and what is usual but should be known."""
    usual = {name: point.resolved[name] for name in TOLD if name in point.resolved and name not in sweep.swept}
    told = {**sweep.fixed, **{name: value for name, value in usual.items() if name not in sweep.fixed}}
    return ", ".join(_said(one) for one in told.items() if one[1] is not None)


def _said(option: tuple[str, Any]) -> str:
    """An option as a reader knows it: names of things speak for themselves, others need the option's."""
    name, value = option
    if isinstance(value, str) and not OPTIONS[name].allowed:
        return value
    if isinstance(value, bool):
        return f"{name} {str(value).lower()}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
