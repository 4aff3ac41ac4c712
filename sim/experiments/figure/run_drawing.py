"""Plot of curves of single runs: latency over an option with formula and bound, latency minus formula, waits."""

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ...common.curve_frame import (
    DAGGER,
    DASHES,
    MARKERS,
    PLAIN,
    captioned,
    curve_settings,
    draw_grid,
    fit_names,
    marker_options,
    panel_grid,
)
from ...common.curve_marks import BESIDE_WORDS, CurveMarks, draw_curves
from ...common.frame import COLOURS, LEGEND, legend_columns
from ...common.picture_style import style
from .definition import Figure, x_label
from .single import RunCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

__all__ = ["runs_figure"]

HEIGHT = 2.8  # height of a picture in inches, without legend and caption

Value = Callable[[Mapping[str, Any]], float | None]

#: Over the number of nodes, the latency axis is logarithmic if its greatest value is > LARGEST_RATIO times its least.
#: The greatest and the least value are taken over latencies and bounds together.
LARGEST_RATIO = 30


def runs_figure(figure: Figure, curves: Sequence[RunCurve]) -> "Picture":
    """Draw the latency with formula and bound, the latency minus the formula, and waits behind other nodes' worms.

    The panels are ``latency``, ``above`` and ``waits``; for means of random multicasts ``latency`` with its intervals,
    ``phases`` and ``worms``. The same results give the same file.

    Parameters
    ----------
    curves : sequence of RunCurve
        Measured curves.
    """
    import matplotlib
    from matplotlib.lines import Line2D

    styles = [_style(number) for number in range(len(curves))]
    labels = [style().entry([one.series.name], one.series.name + DAGGER * one.reconstructed) for one in curves]
    formulas: dict[str, Any] = {"marker": "+", "markersize": 6 * style().weight, "linestyle": ""}
    bounds: dict[str, Any] = {"color": PLAIN, "linestyle": ":", "linewidth": style().weight}
    drawn = curves[0].drawn
    others = {} if drawn else {"formula": {"color": PLAIN, **formulas}, "lower bound in steps": bounds}
    shown = SHOWN_OF_DRAWN if drawn else SHOWN
    names = style().panels([*shown])
    width, height, (down, beside) = panel_grid(len(names), HEIGHT)
    with matplotlib.rc_context(curve_settings()):
        columns = min(legend_columns([*labels, *others], width, style().axes), len(labels) + len(others))
        rows = math.ceil((len(labels) + len(others)) / columns)
        picture = captioned(width, height, [f"{figure.title} ({figure.source})", _caption(figure, curves)], rows,
                            _rows(figure, curves))
        panels = dict(zip(names, picture.subplots(down, beside, squeeze=False).ravel().tolist(), strict=True))
        if "waits" in panels:
            panels["waits"].set_yscale("symlog", linthresh=1)
        for curve, look in zip(curves, styles, strict=True):
            for name, axes in panels.items():
                axes.update_datalim(_ends(_marks(curve, look, shown[name][1])))
                axes.autoscale_view()
            if "latency" in panels and not drawn:
                _points(panels["latency"], curve, itemgetter("formula"), color=look["color"], zorder=5, **formulas)
                _points(panels["latency"], curve, itemgetter("bound"), zorder=1, **bounds)
        for name, axes in panels.items():
            if name in ("phases", "worms"):
                axes.set_ylim(0, None)
            if name == "waits":
                axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
            axes.set(xlabel=x_label(figure), ylabel=shown[name][0])
            _scale(axes, figure, curves)
            draw_grid(axes)
        latencies = [value for curve in curves for result in curve.results.values()
                     for value in (result["latency"], result.get("bound")) if value is not None]
        if "latency" in panels and figure.over == "topology" and max(latencies) > LARGEST_RATIO * min(latencies):
            panels["latency"].set_yscale("log")
        elif "latency" in panels:
            panels["latency"].set_ylim(0, None)
        marks = [Line2D([], [], label=label, linewidth=style().weight, **look | marker_options(look, "full"))
                 for label, look in zip(labels, styles, strict=True)]
        marks += [Line2D([], [], label=label, **options) for label, options in others.items()]
        picture.legend(handles=marks, loc="outside lower center", ncols=columns, **LEGEND)
        fit_names(picture)
        for name, axes in panels.items():
            draw_curves(axes, [_marks(curve, look, shown[name][1])
                               for curve, look in zip(curves, styles, strict=True)])
    return picture


def _style(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
            "linestyle": DASHES[number // len(COLOURS) % len(DASHES)]}


def _above(result: Mapping[str, Any]) -> int | None:
    """Return the latency minus the formula; None without a formula."""
    return None if result["formula"] is None else result["latency"] - result["formula"]


LATENCY: Value = itemgetter("latency")

#: Panels with their axis names and values: SHOWN for single runs, SHOWN_OF_DRAWN for means of multicasts.
SHOWN: Mapping[str, tuple[str, Value]] = {
    "latency": ("latency (cycles)", LATENCY),
    "above": ("latency minus formula (cycles)", _above),
    "waits": ("waits behind other nodes' worms (cycles)", itemgetter("others_wait")),
}
SHOWN_OF_DRAWN: Mapping[str, tuple[str, Value]] = {
    "latency": ("latency (cycles)", LATENCY),
    "phases": ("phases", itemgetter("phases")),
    "worms": ("worms", itemgetter("worms")),
}


def _rows(figure: Figure, curves: Sequence[RunCurve]) -> list[dict[str, Any]]:
    """Return a row for each point: series, position, and what the panels draw."""
    return [{"series": curve.series.name, figure.over: curve.at(place),
             **{name: value(curve.results[place])
                for name, (_, value) in (SHOWN_OF_DRAWN if curve.drawn else SHOWN).items()}}
            for curve in curves for place in curve.places]


def _points(axes: "Axes", curve: RunCurve, value: Value, **options: Any) -> None:
    """Draw a value at all points of a curve at which this value is not None."""
    found = [(curve.at(place), number) for place in curve.places
             if (number := value(curve.results[place])) is not None]
    if found:
        axes.plot(*zip(*found, strict=True), **options)


def _marks(curve: RunCurve, look: dict[str, Any], value: Value) -> CurveMarks:
    """Return what a panel shows of a curve: a value at all its points; latencies of means with their intervals."""
    results = [curve.results[place] for place in curve.places]
    found = [value(one) for one in results]
    intervals = curve.drawn and value is LATENCY
    return CurveMarks(look, [curve.at(place) for place in curve.places],
                      [math.nan if one is None else one for one in found], ["full"] * len(results),
                      [one["latency_half_width"] or 0.0 for one in results] if intervals else ())


def _ends(marks: CurveMarks) -> list[tuple[float, float]]:
    """Return the points that a panel's axes must include: those of a curve, and the ends of their intervals."""
    halves = marks.halves or [0.0] * len(marks.at)
    return [(at, up + sign * half) for at, up, half in zip(marks.at, marks.up, halves, strict=True)
            for sign in (-1, 1) if not math.isnan(up)]


def _scale(axes: "Axes", figure: Figure, curves: Sequence[RunCurve]) -> None:
    """Scale the x axis.

    The axis of the option topology has the number of nodes on a logarithmic scale. The axes of other options are linear
    from 0.
    """
    from matplotlib.ticker import ScalarFormatter

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
    return ", ".join(shown) + f"; {what}; {BESIDE_WORDS}{dagger}"
