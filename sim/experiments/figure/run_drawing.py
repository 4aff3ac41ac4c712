"""Plot of curves of single runs: latency over an option with formula and bound, latency minus formula, waits."""

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ...common.curve_frame import CURVES, DAGGER, DASHES, LETTERS, MARKERS, captioned, draw_grid, marker_options
from ...common.frame import COLOURS, LEGEND, PAGE, legend_columns
from .definition import Figure, x_label
from .single import RunCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

__all__ = ["runs_figure"]

HEIGHT = 2.8  # height of a picture in inches, without legend and caption

PLAIN = "#808080"

Value = Callable[[Mapping[str, Any]], float | None]

#: Over the number of nodes, the latency axis is logarithmic if its greatest value is > LARGEST_RATIO times its least.
#: The greatest and the least value are taken over latencies and bounds together.
LARGEST_RATIO = 30


def runs_figure(figure: Figure, curves: Sequence[RunCurve]) -> "Picture":
    """Draw the latency with formula and bound, the latency minus the formula, and waits behind other nodes' worms.

    For means of random multicasts the panels are: latency with its intervals, phases, worms. The same results give the
    same file.

    Parameters
    ----------
    curves : sequence of RunCurve
        Measured curves.
    """
    import matplotlib
    from matplotlib.lines import Line2D

    styles = [_style(number) for number in range(len(curves))]
    labels = [one.series.name + DAGGER * one.reconstructed for one in curves]
    formulas: dict[str, Any] = {"marker": "+", "markersize": 6, "linestyle": ""}
    bounds: dict[str, Any] = {"color": PLAIN, "linestyle": ":", "linewidth": 1.0}
    drawn = curves[0].drawn
    others = {} if drawn else {"formula": {"color": PLAIN, **formulas}, "lower bound in steps": bounds}
    with matplotlib.rc_context(CURVES):
        columns = min(legend_columns([*labels, *others], PAGE, LETTERS), len(labels) + len(others))
        rows = math.ceil((len(labels) + len(others)) / columns)
        picture = captioned(PAGE, HEIGHT, [f"{figure.title} ({figure.source})", _caption(figure, curves)], rows)
        panels = picture.subplots(1, 3)
        latency, *beside = panels
        shown = SHOWN_OF_DRAWN if drawn else SHOWN
        for curve, style in zip(curves, styles, strict=True):
            line = {"linewidth": 1.0, **style, **marker_options(style, "full")}
            for axes, value in zip(panels, shown.values(), strict=True):
                _points(axes, curve, value, **line)
            if drawn:
                _intervals(latency, curve, style["color"])
            else:
                _points(latency, curve, itemgetter("formula"), color=style["color"], zorder=5, **formulas)
                _points(latency, curve, itemgetter("bound"), zorder=1, **bounds)
        if drawn:
            for axes in beside:
                axes.set_ylim(0, None)
        else:
            waits = beside[-1]
            waits.set_yscale("symlog", linthresh=1)
            waits.set_ylim(0, max(1.0, waits.get_ylim()[1]))
        for axes, label in zip(panels, shown, strict=True):
            axes.set_ylabel(label)
            _scale(axes, figure, curves)
            draw_grid(axes)
        latencies = [value for curve in curves for result in curve.results.values()
                     for value in (result["latency"], result.get("bound")) if value is not None]
        if figure.over == "topology" and max(latencies) > LARGEST_RATIO * min(latencies):
            latency.set_yscale("log")
        else:
            latency.set_ylim(0, None)
        marks = [Line2D([], [], label=label, linewidth=1.0, **style | marker_options(style, "full"))
                 for label, style in zip(labels, styles, strict=True)]
        marks += [Line2D([], [], label=label, **options) for label, options in others.items()]
        picture.legend(handles=marks, loc="outside lower center", ncols=columns, **LEGEND)
    return picture


def _style(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
            "linestyle": DASHES[number // len(COLOURS) % len(DASHES)]}


def _above(result: Mapping[str, Any]) -> int | None:
    """Return the latency minus the formula; None without a formula."""
    return None if result["formula"] is None else result["latency"] - result["formula"]


#: Values that are drawn, by their axis labels: SHOWN for single runs, SHOWN_OF_DRAWN for means of multicasts.
SHOWN: Mapping[str, Value] = {
    "latency (cycles)": itemgetter("latency"),
    "latency minus formula (cycles)": _above,
    "waits behind other nodes' worms (cycles)": itemgetter("others_wait"),
}
SHOWN_OF_DRAWN: Mapping[str, Value] = {
    "latency (cycles)": itemgetter("latency"),
    "phases": itemgetter("phases"),
    "worms": itemgetter("worms"),
}


def _points(axes: "Axes", curve: RunCurve, value: Value, **options: Any) -> None:
    """Draw a value at all points of a curve at which this value is not None."""
    found = [(curve.at(place), number) for place in curve.places
             if (number := value(curve.results[place])) is not None]
    if found:
        axes.plot(*zip(*found, strict=True), **options)


def _intervals(axes: "Axes", curve: RunCurve, colour: str) -> None:
    """Draw the 95 % interval of each latency that has one."""
    for place in curve.places:
        at, result = curve.at(place), curve.results[place]
        half = result["latency_half_width"] or 0
        axes.plot([at, at], [result["latency"] - half, result["latency"] + half], color=colour, linewidth=0.8)


def _scale(axes: "Axes", figure: Figure, curves: Sequence[RunCurve]) -> None:
    """Scale and label the x axis.

    The axis of the option topology has the number of nodes on a logarithmic scale. The axes of other options are linear
    from 0.
    """
    from matplotlib.ticker import ScalarFormatter

    axes.set_xlabel(x_label(figure))
    if figure.over == "topology":
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(ScalarFormatter())
    else:
        axes.set_xlim(0, max(curve.at(place) for curve in curves for place in curve.places) * 1.03)


def _caption(figure: Figure, curves: Sequence[RunCurve]) -> str:
    """Return the caption: options other than scheme and source that have the same value for all curves."""
    first, *others = [curve.options for curve in curves]
    shown = [f"{name.replace('_', ' ')} {value}" for name, value in first.items()
             if name not in ("scheme", "source", figure.over) and all(other.get(name) == value for other in others)]
    dagger = f"; {DAGGER} reconstructed" if any(curve.reconstructed for curve in curves) else ""
    what = "one multicast per point, nothing random"
    if curves[0].drawn:
        what = "means of random multicasts in random networks, with 95 % intervals over networks"
    return ", ".join(shown) + f"; {what}{dagger}"
