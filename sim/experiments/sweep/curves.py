"""Plot of a sweep: latency and delivered flits over the load or another option, two columns of a paper wide."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import Scheme, WormcastError
from wormcast.algorithms.python_file import split_file

from ...build.traffic import Traffic
from ...common.curve_frame import (
    DAGGER,
    FLIT_WORDS,
    LOAD_AXIS,
    PLAIN,
    align_stacked,
    captioned,
    curve_settings,
    draw_grid,
    fit_names,
    line_style,
    marker_options,
    panel_grid,
    require_curves,
    scheme_families,
)
from ...common.curve_marks import ABOVE_WORDS, CurveMarks, draw_curves, interval_words, legend_signs
from ...common.frame import COLOURS, LEGEND, MARGIN, legend_entry
from ...common.picture_style import style
from ..option_grid import Sweep
from .file import COUNTING, OPTIONS
from .point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["curves_figure", "require_drawable", "scheme_name"]

HEIGHT = 2.7  # inches, without the legend

#: Names of the panels, with the names of their y axes.
UP = {"latency": "mean latency (cycles)", "delivered": "delivered (flits/node/cycle)"}
ROUND_TRIP = {"round-trip": "mean round trip (cycles)"}  # panel of a sweep with replies
ENERGY = {"energy": "energy (pJ per received flit)"}  # panel of a sweep with a table of costs

#: Options that the caption names even if the sweep's file does not set them, unless they are swept.
CAPTION_OPTIONS = ("length", "destinations_mean", "multicast_fraction", "relation", "vcs", "buffer", "consumption",
                   "delays", "seed", "seeds", "cycles")

#: The latency axis is logarithmic if the greatest mean latency exceeds the least one by more than this factor.
LARGEST_RATIO = 10


@dataclass(frozen=True)
class _Curve:
    """Points that differ only in the option along the x axis, in the order of this option's values.

    ``others`` are the values of the other swept options, ``scheme`` first; without other swept options, the scheme.
    ``family`` is the first value in ``others``.
    """

    family: Any
    others: dict[str, Any]
    at: list[float]
    results: list[Mapping[str, Any]]
    scheme: Scheme
    along_load: bool

    @property
    def label(self) -> str:
        words = [(name, value, self.scheme) for name, value in self.others.items()]
        named = [(name, scheme_name(value, self.scheme) if name == "scheme" else value, self.scheme)
                 for name, value in self.others.items()]
        return style().entry([", ".join(_said(*one, plain=True) for one in each) for each in (words, named)],
                             ", ".join(_said(*one) for one in words))

    @property
    def member(self) -> tuple[Any, ...]:
        """Values that distinguish the curve from others of its family."""
        return tuple(self.others.values())[1:]

    def values(self, name: str) -> list[float]:
        """Return the result ``name`` of each point; NaN if this result is None."""
        found = [result[name] for result in self.results]
        return [float("nan") if value is None else value for value in found]

    def steady(self) -> list[bool]:
        """Return for each point whether it is neither saturated nor in deadlock."""
        return [not result["saturated"] and result["deadlock"] is None for result in self.results]

    def shown(self) -> list[bool]:
        """Return for each point whether the panel of latencies shows it.

        Along the load, points beyond the first one after the last steady point are not shown. A steady point is neither
        saturated nor in deadlock.
        """
        steady = self.steady()
        if not self.along_load:
            return [True] * len(steady)
        last = max((index for index, one in enumerate(steady) if one), default=-1)
        return [index <= last + 1 for index in range(len(steady))]

    def dead(self) -> list[float]:
        """Return the positions of points in deadlock."""
        return [at for at, result in zip(self.at, self.results, strict=True) if result["deadlock"] is not None]

    def means(self, panel: str) -> tuple[list[float], list[float]]:
        """Return the means that a panel of `MEANS` shows, and the half widths of their intervals (0 if there is no
        interval)."""
        found = [MEANS[panel](result) for result in self.results]
        means = [one["mean"] for one in found]
        return [math.nan if mean is None else mean for mean in means], [one["half_width"] or 0.0 for one in found]


#: Functions that return mean and half width of a result, for the panels that show means.
MEANS: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, float | None]]] = {
    "latency": lambda result: result["latency"],
    "round-trip": lambda result: result["round_trip_latency"],
    "energy": lambda result: result["energy"]["per_flit"],
}

TIMES = ("latency", "round-trip")  # panels of times; the times of saturated points are not drawn


def require_drawable(sweep: Sweep, file: Path) -> None:
    """Refuse a sweep that cannot be drawn.

    Raises
    ------
    WormcastError
        No option with numbers is swept, there are more than 40 curves, or the file's name ends in none of `FORMATS`.
    """
    along = _along(sweep)
    require_curves(sweep.swept, along, file)
    style().panels([*_names_of(sweep)])
    if along is None:
        raise WormcastError("plot: no option with numbers is swept. Needed: a list of numbers, for example of rate.")


def _names_of(sweep: Sweep) -> dict[str, str]:
    """Return the panels of a sweep, with the names of their y axes."""
    replies = any([sweep.fixed.get("reply"), *sweep.swept.get("reply", [])])
    return UP | (ROUND_TRIP if replies else {}) | (ENERGY if sweep.fixed.get("energy") else {})


def _along(sweep: Sweep) -> str | None:
    """Return the option along the x axis: ``rate``, else the first numeric one with the most values, else None."""
    numbers = [name for name in sweep.swept if OPTIONS[name].kind in (int, float)]
    if "rate" in numbers:
        return "rate"
    return max(numbers, key=lambda name: len(sweep.swept[name]), default=None)


def curves_figure(sweep: Sweep, points: Sequence[Point], results: Sequence[Mapping[str, Any]]) -> "Figure":
    """Draw mean latencies with their intervals, and delivered flits.

    Each combination of the swept options that are not on the x axis has a line. The x axis is the load if ``rate`` is
    swept, else the swept option with the most numbers. The load of a point is the effective load that its nodes
    created, so the points of a network that delivers all flits are on the diagonal. Colour and marker distinguish
    schemes. If schemes are not swept, colour and marker distinguish values of the first swept option that is not on the
    x axis. Dashes and shades distinguish the other options. Markers are open if a point is saturated. Markers of
    latencies are half filled if the mean is imprecise.

    Lines of latencies omit points that are saturated or in deadlock, so along the load a line ends at its last point
    without saturation or deadlock. An open marker with an arrow above the frame is a saturated point; along the load,
    only points up to the first one after the end of the line are marked so. Crosses mark deadlocks, daggers
    reconstructed schemes. The legend names a single curve by its scheme.

    Parameters
    ----------
    points, results
        All points of the sweep, and their results (`Point.run`).
    """
    # importing matplotlib takes half a second, so other commands do not import it
    import matplotlib
    from matplotlib.ticker import MaxNLocator

    along = _along(sweep)
    assert along is not None  # see require_drawable
    names = _names_of(sweep)
    panels = style().panels([*names])
    curves = _curves(sweep, points, results, along)
    styles = _styles(curves)
    width, height, (down, beside) = panel_grid(len(panels), HEIGHT)
    with matplotlib.rc_context(curve_settings()):
        legend = _columns(curves, styles, panels, width)
        figure = captioned(width, height, _caption(sweep, points, curves, panels), len(legend[0]),
                           _rows(curves, along, names))
        first = 0.0 if along == "rate" else min(curve.at[0] for curve in curves)
        whole = max(curve.at[-1] for curve in curves)
        known = [at for curve in curves for at, shown in zip(curve.at, curve.shown(), strict=True) if shown]
        every = figure.subplots(down, beside, squeeze=False).ravel().tolist()
        for axes, panel in zip(every, panels, strict=True):
            last = max(known, default=whole) if along == "rate" and panel in TIMES else whole
            margin = 0.04 * (last - first) or 0.5
            axes.set_xlim(first - margin * (along != "rate"), last + margin)
            axes.set(xlabel=LOAD_AXIS if along == "rate" else OPTIONS[along].axis, ylabel=names[panel])
            if OPTIONS[along].kind is int:
                axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            draw_grid(axes)
            _scale(axes, curves, panel)
        align_stacked(every, down)
        figure.legend(handles=[mark for column in legend for mark in column], loc="outside lower center",
                      ncols=len(legend), **LEGEND)
        fit_names(figure)
        for axes, panel in zip(every, panels, strict=True):
            diagonal = along == "rate" and panel == "delivered"
            if diagonal:
                _all_delivered(axes, whole)
            draw_curves(axes, [_drawn(curve, look, panel) for curve, look in zip(curves, styles, strict=True)],
                        diagonal=diagonal, dead_at_top=panel in TIMES)
    return figure


def _rows(curves: Sequence[_Curve], along: str, names: Collection[str]) -> list[dict[str, Any]]:
    """Return a row for each point: the options of its curve, and what the panels in ``names`` draw."""
    def means(name: str, panel: str, result: Mapping[str, Any]) -> dict[str, float | None]:
        found = MEANS[panel](result)
        return {name: found["mean"], f"{name}_half_width": found["half_width"]}

    return [{**curve.others, along if along != "rate" else "load": at, **means("latency", "latency", result),
             "delivered_per_node": result["delivered_per_node"],
             "delivered_per_node_half_width": result["delivered_per_node_half_width"],
             **(means("round_trip_latency", "round-trip", result) if "round-trip" in names else {}),
             **(means("energy_per_flit", "energy", result) if "energy" in names else {}),
             "saturated": result["saturated"], "precise": result["precise"],
             "deadlock": result["deadlock"] is not None}
            for curve in curves for at, result in zip(curve.at, curve.results, strict=True)]


def _curves(sweep: Sweep, points: Sequence[Point], results: Sequence[Mapping[str, Any]], along: str) -> list[_Curve]:
    """Return the curves, grouped by family, in the order of the sweep's file."""
    curves = []
    for others, numbers in sweep.lines(along):
        first = points[numbers[0]]
        named = {"scheme": first.given["scheme"], **others} if "scheme" in others or not others else others
        at = [_load(points[number], results[number]) if along == "rate" else points[number].given[along]
              for number in numbers]
        curves.append(_Curve(next(iter(named.values()), None), named, at, [results[number] for number in numbers],
                             first.scheme, along == "rate"))
    families = list(dict.fromkeys(curve.family for curve in curves))
    return sorted(curves, key=lambda curve: families.index(curve.family))


def _load(point: Point, result: Mapping[str, Any]) -> float:
    """Return the effective load in flits per node and cycle: as created; for a point in a deadlock, by its options."""
    assert isinstance(point.traffic, Traffic)  # it has a rate
    created: float | None = result["effective"]
    return point.traffic.effective(point.network) if created is None else created


def _styles(curves: Sequence[_Curve]) -> list[dict[str, Any]]:
    """Return the look of each curve: colour and marker by family, dashes and shade by the other swept options.

    Schemes look as in figures of papers (`scheme_families`).
    """
    import matplotlib

    families = list(dict.fromkeys(curve.family for curve in curves))
    members = list(dict.fromkeys(curve.member for curve in curves))
    option = next(iter(curves[0].others), None)
    numbers = scheme_families(families) if option in (None, "scheme") else dict(zip(families, count(), strict=False))
    ordered = len(families) > len(COLOURS) or (len(families) > 2 and OPTIONS[str(option)].kind in (int, float))
    shades = matplotlib.colormaps["viridis"]
    styles = []
    for curve in curves:
        family, member = numbers[curve.family], members.index(curve.member)
        pure = shades(0.8 * families.index(curve.family) / (len(families) - 1)) if ordered else (
            COLOURS[family % len(COLOURS)])
        styles.append(line_style(pure, family, member, len(members)))
    return styles


def _scale(axes: "Axes", curves: Sequence[_Curve], panel: str) -> None:
    """Set limits and scale of a panel's y axis."""
    if panel in TIMES:
        bottom, top = _limits(curves, panel)
        if bottom:
            axes.set_yscale("log")
        axes.set_ylim(bottom, top)
    elif panel == "delivered":
        found = [value for curve in curves for value in curve.values("delivered_per_node") if not math.isnan(value)]
        highest = max([*found, *(at for curve in curves if curve.along_load for at in curve.at)], default=0)
        axes.set_ylim(0, 1.1 * highest if 0 < highest < math.inf else 1)
    else:
        ends = [mean + min(half, mean) for curve in curves for mean, half in zip(*curve.means(panel), strict=True)
                if not math.isnan(mean)]
        axes.set_ylim(0, 1.1 * max(ends, default=0.0) or 1)


def _drawn(curve: _Curve, look: dict[str, Any], panel: str) -> CurveMarks:
    """Return what a panel draws of a curve. Saturated points have no steady times and are marked above the frame."""
    kinds = ["open" if result["saturated"] else "full" for result in curve.results]
    if panel == "delivered":
        return CurveMarks(look, curve.at, curve.values("delivered_per_node"), kinds, dead=curve.dead())
    means, halves = curve.means(panel)
    if panel not in TIMES:
        return CurveMarks(look, curve.at, means, kinds, halves, dead=curve.dead())
    if panel == "latency":
        kinds = ["full" if result["precise"] else "half" for result in curve.results]
    return CurveMarks(
        look, curve.at, [mean if one else math.nan for mean, one in zip(means, curve.steady(), strict=True)], kinds,
        halves, [at for at, one, result in zip(curve.at, curve.shown(), curve.results, strict=True)
                 if one and result["saturated"]], curve.dead())


def _limits(curves: Sequence[_Curve], panel: str) -> tuple[float, float]:
    """Return the limits of an axis of times, which shows the steady points. The lower limit is 0 if the axis is
    linear."""
    seen = [(mean, half) for curve in curves
            for mean, half, steady in zip(*curve.means(panel), curve.steady(), strict=True)
            if steady and not math.isnan(mean)] or [(1.0, 0.0)]
    means = [mean for mean, _ in seen]
    lowest, highest = max(min(means), 1.0), max(means)
    # a half interval that exceeds its mean is cut to the mean
    # otherwise the very wide interval of two seeds that disagree would compress all curves
    end = max(mean + min(half, mean) for mean, half in seen)
    if highest > LARGEST_RATIO * lowest:
        return lowest / 1.5, max(1.5 * highest, 1.1 * end)
    return 0.0, max(1.25 * highest, 1.05 * end)


def _all_delivered(axes: "Axes", last: float) -> None:
    axes.plot([0, last], [0, last], color=PLAIN, linewidth=0.6, linestyle=":", zorder=1)
    axes.annotate("all delivered", (last, last), (-12, 0), textcoords="offset points", ha="right", va="center",
                  color=PLAIN, fontsize=style().text)


def _columns(curves: Sequence[_Curve], styles: Sequence[dict[str, Any]], panels: Sequence[str],
             room: float) -> list[list["Line2D"]]:
    """Return the legend in columns of equal length: the lines by family, then the kinds of markers that occur."""
    from matplotlib.lines import Line2D

    families: dict[Any, list[Line2D]] = {}
    for curve, look in zip(curves, styles, strict=True):
        families.setdefault(curve.family, []).append(
            Line2D([], [], linewidth=style().weight, label=curve.label, **look | marker_options(look, "full")))
    signs = [[Line2D([], [], linestyle="", label=label, **options)] for label, options in _signs(curves, panels)]

    def width(columns: Iterable[list[Line2D]]) -> float:
        return sum(legend_entry([str(mark.get_label()) for mark in column], style().axes) for column in columns)

    choices = [[*lines, *others] for lines in _divided(list(families.values())) for others in _divided(signs)]
    columns = min((one for one in choices if one == choices[0] or width(one) <= room - 2 * MARGIN),
                  key=lambda one: (max(map(len, one)), len(one)))
    rows = max(map(len, columns))
    return [column + [Line2D([], [], linestyle="", label=" ") for _ in range(rows - len(column))]
            for column in columns]


def _divided(blocks: Sequence[list["Line2D"]]) -> list[list[list["Line2D"]]]:
    """Return all ways to divide blocks into columns of equal numbers of blocks; the last column may have fewer."""
    return [[[mark for block in blocks[start:start + each] for mark in block]
             for start in range(0, len(blocks), each)] for each in range(len(blocks), 0, -1)] or [[]]


def _signs(curves: Sequence[_Curve], panels: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the legend's entries for the special markers that occur: label, and matplotlib's options of the marker."""
    yield from legend_signs(_kinds(curves, panels))
    if any(curve.scheme.reconstructed for curve in curves):
        yield f"{DAGGER} reconstructed scheme", {}


def _kinds(curves: Sequence[_Curve], panels: Sequence[str]) -> list[str]:
    """Return the kinds of special markers that occur."""
    results = [result for curve in curves for result in curve.results]
    occurring = {
        "half": "latency" in panels and any(result["precise"] is False and not result["saturated"]
                                            for result in results),
        "open": any(result["saturated"] for result in results),
        "dead": any(result["deadlock"] is not None for result in results)}
    return [kind for kind, occurs in occurring.items() if occurs]


def _caption(sweep: Sweep, points: Sequence[Point], curves: Sequence[_Curve], panels: Sequence[str]) -> list[str]:
    """Return the caption: options common to all lines, from the sweep's file and from `CAPTION_OPTIONS`; marks."""
    point = points[0]
    usual = {name: point.resolved[name] for name in CAPTION_OPTIONS if name in point.resolved
             and name not in sweep.swept and all(other.resolved[name] == point.resolved[name] for other in points)}
    common = {**{name: value for name, value in sweep.fixed.items() if name not in COUNTING},
              **{name: value for name, value in usual.items() if name not in sweep.fixed}}
    if common.get("seed") is not None and "seeds" in common:
        first, number = common.pop("seed"), common["seeds"]
        common["seeds"] = f"{first} to {first + number - 1}" if number > 1 else first
    above = not {*TIMES}.isdisjoint(panels) and any(result["saturated"] for curve in curves for result in curve.results)
    costs = [] if point.costs is None or "energy" not in panels else [f"costs of events: {point.costs.source}"]
    return ["; ".join(_worded(name, value, point.scheme) for name, value in common.items() if value is not None),
            *costs, *[FLIT_WORDS] * (curves[0].along_load or "delivered" in panels),
            interval_words(_kinds(curves, panels), len(curves)),
            *[ABOVE_WORDS] * above]


def _worded(name: str, value: Any, scheme: Scheme) -> str:
    """Return an option in the words of its axis: ``mean destinations of a multicast: 8``."""
    if name in ("relation", "seeds"):
        return f"{name}: {value}"
    said = _said(name, value, scheme)
    if said == value or name == "scheme":
        return said
    return OPTIONS[name].worded(said.removeprefix(f"{name} "))


def scheme_name(value: str, scheme: Scheme) -> str:
    """Return a scheme's name in legends: of a scheme in a Python file, the name that its class gives."""
    return scheme.name if split_file(value)[0] else value


def _said(name: str, value: Any, scheme: Scheme, *, plain: bool = False) -> str:
    """Return an option as text: only the value if it is a name (of a scheme, a topology), else name and value.

    ``plain``: a scheme as the option names it, without a dagger, in place of the user's label.
    """
    if name == "scheme" and not plain:
        own = scheme_name(value, scheme)
        return style().entry([value, own], own) + DAGGER * scheme.reconstructed
    if isinstance(value, str) and not OPTIONS[name].allowed:
        return value
    if isinstance(value, bool):
        return f"{name} {str(value).lower()}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
