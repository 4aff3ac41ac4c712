"""Plot of a sweep: latency and delivered flits over the load or another option, two columns of a paper wide."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from ...build.traffic import Traffic
from ...common.curve_frame import (
    CURVES,
    DAGGER,
    LETTERS,
    MARKER,
    captioned,
    draw_grid,
    line_style,
    marker_options,
    require_curves,
)
from ...common.frame import COLOURS, LEGEND, MARGIN, PAGE, POINTS, SIZE, legend_entry
from ..option_grid import Sweep
from .file import OPTIONS
from .point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["curves_figure", "require_drawable"]

HEIGHT = 2.7  # inches, without the legend

PLAIN = "#808080"
STEP = 7  # distance, in printer's points, between the rows of crosses of two lines

#: Options that the caption names even if the sweep's file does not set them, unless they are swept.
CAPTION_OPTIONS = ("length", "destinations_mean", "multicast_fraction", "vcs", "buffer", "seeds", "cycles")

#: The latency axis is logarithmic if the greatest mean latency exceeds the least one by more than this factor.
LARGEST_RATIO = 10


@dataclass(frozen=True)
class _Curve:
    """Points that differ only in the option along the x axis, in the order of this option's values.

    ``others`` are the values of the other swept options, ``scheme`` first; ``family`` is the first of these values.
    """

    family: Any
    others: dict[str, Any]
    at: list[float]
    results: list[Mapping[str, Any]]
    reconstructed: bool
    along_load: bool

    @property
    def label(self) -> str:
        return ", ".join(_said(*option, self.reconstructed) for option in self.others.items()) or "all points"

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
        """Return for each point whether its latency is drawn.

        Saturated points have only the latency of the few messages that were received. Along the load, the first point
        after the last steady one is drawn, too, because it shows the direction of the line. A steady point is neither
        saturated nor in deadlock.
        """
        steady = self.steady()
        if not self.along_load:
            return steady
        last = max((index for index, one in enumerate(steady) if one), default=-1)
        return [index <= last + 1 for index in range(len(steady))]

    def drawn(self) -> list[float]:
        """Return mean latencies; NaN for points whose latency is not drawn."""
        return [mean if shown else math.nan for mean, shown in zip(self.means()[0], self.shown(), strict=True)]

    def means(self) -> tuple[list[float], list[float]]:
        """Return mean latencies, and the half widths of their intervals (0 if there is no interval)."""
        latencies = [result["latency"] for result in self.results]
        return ([float("nan") if one["mean"] is None else one["mean"] for one in latencies],
                [one["half_width"] or 0.0 for one in latencies])


def require_drawable(sweep: Sweep, file: Path) -> None:
    """Refuse a sweep that cannot be drawn.

    Raises
    ------
    WormcastError
        No option with numbers is swept, there are more than 40 curves, or the file's name ends in none of `FORMATS`.
    """
    along = _along(sweep)
    require_curves(sweep.swept, along, file)
    if along is None:
        raise WormcastError("plot: no option with numbers is swept. Needed: a list of numbers, for example of rate.")


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
    latencies are half open if the mean is imprecise.

    Along the load, a line of latencies ends one point after its last point without saturation or deadlock. Along
    another option, lines of latencies omit points that are saturated or in deadlock. Crosses mark deadlocks, arrows
    lines that leave the frame, daggers reconstructed schemes.

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
    curves = _curves(sweep, points, results, along)
    styles = _styles(curves)
    with matplotlib.rc_context(CURVES):
        legend = _columns(curves, styles)
        figure = captioned(PAGE, HEIGHT, [_caption(sweep, points[0])], len(legend[0]))
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
        figure.legend(handles=[mark for column in legend for mark in column], loc="outside lower center",
                      ncols=len(legend), **LEGEND)
    return figure


def _curves(sweep: Sweep, points: Sequence[Point], results: Sequence[Mapping[str, Any]], along: str) -> list[_Curve]:
    """Return the curves, grouped by family, in the order of the sweep's file."""
    curves = []
    for others, numbers in sweep.lines(along):
        named = {"scheme": others["scheme"], **others} if "scheme" in others else others
        at = [_load(points[number], results[number]) if along == "rate" else points[number].given[along]
              for number in numbers]
        curves.append(_Curve(next(iter(named.values()), None), named, at, [results[number] for number in numbers],
                             _reconstructed(points[numbers[0]]), along == "rate"))
    families = list(dict.fromkeys(curve.family for curve in curves))
    return sorted(curves, key=lambda curve: families.index(curve.family))


def _load(point: Point, result: Mapping[str, Any]) -> float:
    """Return the effective load that was created, in flits per node and cycle; in a deadlock the nominal one."""
    assert isinstance(point.traffic, Traffic)  # it has a rate
    created: float | None = result["effective"]
    return point.traffic.effective(point.network) if created is None else created


def _reconstructed(point: Point) -> bool:
    return point.scheme.provenance.startswith("reconstructed")


def _styles(curves: Sequence[_Curve]) -> list[dict[str, Any]]:
    """Return the style of each curve: colour and marker by family, dashes and shade by the other swept options."""
    import matplotlib

    families = list(dict.fromkeys(curve.family for curve in curves))
    members = list(dict.fromkeys(curve.member for curve in curves))
    option = next(iter(curves[0].others), None)
    ordered = len(families) > len(COLOURS) or (len(families) > 2 and OPTIONS[str(option)].kind in (int, float))
    shades = matplotlib.colormaps["viridis"]
    styles = []
    for curve in curves:
        family, member = families.index(curve.family), members.index(curve.member)
        pure = shades(0.9 * family / (len(families) - 1)) if ordered else COLOURS[family]
        styles.append(line_style(pure, family, member, len(members)))
    return styles


def _latency(axes: "Axes", curves: Sequence[_Curve], styles: Sequence[dict[str, Any]]) -> None:
    bottom, top = _limits(curves)
    if bottom:
        axes.set_yscale("log")
    axes.set_ylim(bottom, top)
    least = bottom / 100  # an interval down to 0 would reach to minus infinity on a logarithmic axis
    for curve, style in zip(curves, styles, strict=True):
        means, halves = curve.drawn(), curve.means()[1]
        inside = [mean if mean <= top else math.nan for mean in means]
        low = [min(half, mean - least) for mean, half in zip(inside, halves, strict=True)]
        axes.errorbar(curve.at, inside, [low, halves], fmt="none", ecolor=style["color"], elinewidth=0.6, capthick=0.6)
        _line(axes, curve, means, style, imprecise=True)
        _leave(axes, _crossings(curve, bottom, top), style)
    _crosses(axes, curves, styles, top=True)
    axes.set_ylabel("mean latency (cycles, 95 % intervals)")


def _limits(curves: Sequence[_Curve]) -> tuple[float, float]:
    """Return the limits of the latency axis. Saturated points are ignored, unless all points are saturated.

    The lower limit is 0 if the axis is linear.
    """
    known = [(bool(result["saturated"]), mean, half) for curve in curves
             for result, mean, half in zip(curve.results, *curve.means(), strict=True) if not math.isnan(mean)]
    seen = [one for one in known if not one[0]] or known or [(False, 1.0, 0.0)]
    means = [mean for _, mean, _ in seen]
    lowest, highest = max(min(means), 1.0), max(means)
    # a half interval counts up to the mean only: the very wide interval of two seeds that disagree would compress all
    # curves
    end = max(mean + min(half, mean) for _, mean, half in seen)
    if highest > LARGEST_RATIO * lowest:
        return lowest / 1.5, max(1.5 * highest, 1.1 * end)
    return 0.0, max(1.25 * highest, 1.05 * end)


def _crossings(curve: _Curve, bottom: float, top: float) -> list[float]:
    """Return the x positions at which a line of latencies crosses the top of the frame."""
    found, means = [], curve.drawn()
    for start, end, low, high in zip(curve.at, curve.at[1:], means, means[1:], strict=False):
        if min(low, high) <= top < max(low, high):
            low, high, edge = map(math.log, (low, high, top)) if bottom else (low, high, top)
            found.append(start + (end - start) * (edge - low) / (high - low))
    return found


def _leave(axes: "Axes", at: Sequence[float], style: dict[str, Any]) -> None:
    """Mark with arrows the x positions ``at`` at which a line leaves the frame at the top."""
    from matplotlib.transforms import ScaledTranslation

    if not at:
        return
    below = axes.get_xaxis_transform() + ScaledTranslation(0, -LETTERS / 3 / POINTS, axes.figure.dpi_scale_trans)
    axes.plot(at, [1.0] * len(at), linestyle="", transform=below, clip_on=False, zorder=4,
              **_arrow(style["color"]))


def _arrow(colour: Any) -> dict[str, Any]:
    return {"color": colour, "marker": r"$\uparrow$", "markersize": 1.8 * MARKER, "markeredgewidth": 0.3}


def _all_delivered(axes: "Axes", last: float) -> None:
    axes.plot([0, last], [0, last], color=PLAIN, linewidth=0.6, linestyle=":", zorder=1)
    axes.annotate("all delivered", (last, last), (-12, 0), textcoords="offset points", ha="right", va="center",
                  color=PLAIN, fontsize=SIZE)


def _delivered(axes: "Axes", curves: Sequence[_Curve], styles: Sequence[dict[str, Any]]) -> None:
    for curve, style in zip(curves, styles, strict=True):
        _line(axes, curve, curve.values("delivered_per_node"), style)
    highest = axes.dataLim.y1
    axes.set_ylim(0, 1.1 * highest if 0 < highest < math.inf else 1)
    _crosses(axes, curves, styles, top=False)
    axes.set_ylabel("delivered (payload flits per node and cycle)")


def _line(axes: "Axes", curve: _Curve, values: Sequence[float], style: dict[str, Any], imprecise: bool = False) -> None:
    """Draw a line with markers: open for saturated points, half open for imprecise means if ``imprecise``."""
    axes.plot(curve.at, values, color=style["color"], linestyle=style["linestyle"], linewidth=1.0)
    kinds = ["open" if result["saturated"] else "half" if imprecise and not result["precise"] else "full"
             for result in curve.results]
    for kind in dict.fromkeys(kinds):
        chosen = [index for index, one in enumerate(kinds) if one == kind]
        axes.plot([curve.at[index] for index in chosen], [values[index] for index in chosen], linestyle="",
                  **marker_options(style, kind))


def _crosses(axes: "Axes", curves: Sequence[_Curve], styles: Sequence[dict[str, Any]], top: bool) -> None:
    """Mark the deadlocks along an edge of the frame, a row of crosses for each line."""
    from matplotlib.transforms import ScaledTranslation

    row = 0
    for curve, style in zip(curves, styles, strict=True):
        dead = [at for at, result in zip(curve.at, curve.results, strict=True) if result["deadlock"] is not None]
        across = axes.get_xaxis_transform() + ScaledTranslation(
            0, (-1 if top else 1) * STEP * (row + 0.6) / POINTS, axes.figure.dpi_scale_trans)
        for sign in (marker_options(style, "open") | {"markersize": 2 * MARKER},
                     {"color": style["color"], "marker": "x", "markersize": MARKER}):
            axes.plot(dead, [int(top)] * len(dead), linestyle="", transform=across, zorder=3, **sign)
        row += bool(dead)


def _columns(curves: Sequence[_Curve], styles: Sequence[dict[str, Any]]) -> list[list["Line2D"]]:
    """Return the legend in columns of equal length: the lines by family, then the kinds of markers that occur."""
    from matplotlib.lines import Line2D

    families: dict[Any, list[Line2D]] = {}
    for curve, style in zip(curves, styles, strict=True):
        families.setdefault(curve.family, []).append(
            Line2D([], [], linewidth=1.0, label=curve.label, **style | marker_options(style, "full")))
    signs = [[Line2D([], [], linestyle="", label=label, **options)] for label, options in _signs(curves)]

    def width(columns: Iterable[list[Line2D]]) -> float:
        return sum(legend_entry([str(mark.get_label()) for mark in column], LETTERS) for column in columns)

    choices = [[*lines, *others] for lines in _divided(list(families.values())) for others in _divided(signs)]
    columns = min((one for one in choices if one == choices[0] or width(one) <= PAGE - 2 * MARGIN),
                  key=lambda one: (max(map(len, one)), len(one)))
    rows = max(map(len, columns))
    return [column + [Line2D([], [], linestyle="", label=" ") for _ in range(rows - len(column))]
            for column in columns]


def _divided(blocks: Sequence[list["Line2D"]]) -> list[list[list["Line2D"]]]:
    """Return all ways to divide blocks into columns of equal numbers of blocks; the last column may have fewer."""
    return [[[mark for block in blocks[start:start + each] for mark in block]
             for start in range(0, len(blocks), each)] for each in range(len(blocks), 0, -1)] or [[]]


def _signs(curves: Sequence[_Curve]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the legend's entries for the special markers that occur: label, and matplotlib's options of the marker."""
    plain = {"color": PLAIN, "marker": "o"}
    results = [result for curve in curves for result in curve.results]
    if any(result["precise"] is False and not result["saturated"] for result in results):
        yield "imprecise mean", marker_options(plain, "half")
    if any(result["saturated"] for result in results):
        yield "saturated", marker_options(plain, "open")
    limits = _limits(curves)
    if any(_crossings(curve, *limits) for curve in curves):
        yield "beyond the frame", _arrow(PLAIN)
    if any(result["deadlock"] is not None for result in results):
        yield "deadlock", {"color": PLAIN, "marker": "x", "markersize": 4}
    if any(curve.reconstructed for curve in curves):
        yield f"{DAGGER} reconstructed scheme", {}


def _caption(sweep: Sweep, point: Point) -> str:
    """Return the caption: options common to all lines, from the sweep's file and from `CAPTION_OPTIONS`."""
    usual = {name: point.resolved[name] for name in CAPTION_OPTIONS
             if name in point.resolved and name not in sweep.swept}
    common = {**sweep.fixed, **{name: value for name, value in usual.items() if name not in sweep.fixed}}
    return ", ".join(_said(name, value, _reconstructed(point)) for name, value in common.items() if value is not None)


def _said(name: str, value: Any, reconstructed: bool) -> str:
    """Return an option as text: only the value if it is a name (of a scheme, a topology), else name and value."""
    if isinstance(value, str) and not OPTIONS[name].allowed:
        return value + DAGGER * (name == "scheme" and reconstructed)
    if isinstance(value, bool):
        return f"{name} {str(value).lower()}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
