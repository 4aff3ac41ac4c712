"""Plots of a synthesis sweep: cells and clock over an option, or area against clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from ...common import curve_frame
from ...common.curve_frame import panel_grid
from ...common.frame import COLOURS, LEGEND, legend_columns
from ...common.picture_style import style
from ...experiments.option_grid import Sweep
from .flow import Synthesis
from .point import OPTIONS, SynthesisPoint
from .targets import TARGETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["costs_figure", "require_drawable"]

PANEL, HEIGHT = 2.4, 2.3  # inches

#: Columns of results by the names of their panels.
NAMES = {"luts": "LUT4", "ffs": "FF", "clock": "MHz"}

#: Option that trades area for clock. A plot over this option has the resulting clock, not the period, on the x axis.
TRADE = "area_delay"


@dataclass(frozen=True)
class _Curve:
    """Points that differ only in the option along the x axis.

    ``at``: each point's value of the option along the x axis; if these values are texts, their indices among the
    sweep's values.
    """

    label: str
    numbers: bool
    at: list[int]
    results: list[Synthesis]


def require_drawable(sweep: Sweep, seeds: int, file: Path) -> None:
    """Raise an error if results of the sweep could not be plotted into ``file``.

    Raises
    ------
    WormcastError
        The file name has no ending of a picture; the plot has more than 40 lines; or area is to be plotted against
        the clock, and no clock is measured.
    """
    along = _along(sweep)
    curve_frame.require_curves(sweep.swept, along, file)
    if along == TRADE and not seeds:
        raise WormcastError(f"seeds: {seeds} is not valid: a plot of {TRADE} needs the clock of a placement. "
                            "Allowed: 1 or more.")


def _along(sweep: Sweep) -> str:
    """Return the option along the x axis: ``area_delay`` if it is swept, else the swept option with most values.

    If options of whole numbers are swept, options of other types are not considered.
    """
    if TRADE in sweep.swept:
        return TRADE
    return max(sweep.swept, key=lambda name: (OPTIONS[name].kind is int, len(sweep.swept[name])))


def costs_figure(sweep: Sweep, points: Sequence[SynthesisPoint], results: Sequence[Synthesis]) -> "Figure":
    """Plot look-up tables, flip-flops and the clock, if known, over one of the swept options.

    Without ``area_delay``, the x axis shows the option with most values; if options of whole numbers are swept, one of
    them. If ``area_delay`` is swept, look-up tables are plotted against the clock, and each point is labelled with the
    period that the option sets. Each combination of the other swept options has a line. Equal results produce equal
    files.

    Parameters
    ----------
    points, results
        All points of the sweep, and their costs.
    """
    # matplotlib is imported here: loading it takes half a second, and other commands do not need it
    import matplotlib

    along = _along(sweep)
    curves = _curves(sweep, points, results, along)
    clock = any(one.mhz for one in results)
    known = ["trade"] if along == TRADE else [name for name in NAMES if clock or name != "clock"]
    shown = [NAMES.get(name, name) for name in style().panels(known)]
    plain = style().options.style == "screen" and style().fixed is None
    wide, height, (down, beside) = panel_grid(len(shown), HEIGHT)
    width = PANEL * max(len(shown), 1.5) if plain else wide
    legend = len(curves) > 1
    columns = legend_columns([curve.label for curve in curves], width, style().axes)
    with matplotlib.rc_context(curve_frame.curve_settings()):
        figure = curve_frame.captioned(width, height, [_caption(sweep, points[0])],
                                       -(-len(curves) // columns) if legend else 0, _rows(curves, along))
        for axes, what in zip(figure.subplots(down, beside, squeeze=False).ravel().tolist(), shown, strict=True):
            for number, curve in enumerate(curves):
                _line(axes, what, curve, COLOURS[number % len(COLOURS)],
                      curve_frame.MARKERS[number % len(curve_frame.MARKERS)])
            _axes(axes, what, along, sweep.swept[along])
        if legend:
            figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns,
                          **LEGEND)
    return figure


def _rows(curves: Sequence[_Curve], along: str) -> list[dict[str, Any]]:
    """Return a row for each point: the curve, the value of the option along the x axis, and what is drawn."""
    return [{"curve": curve.label, along: at, **{name: result.area[name] for name in ("LUT4", "FF")},
             "MHz": result.median_mhz}
            for curve in curves for at, result in zip(curve.at, curve.results, strict=True)]


def _curves(sweep: Sweep, points: Sequence[SynthesisPoint], results: Sequence[Synthesis], along: str) -> list[_Curve]:
    numbers, values = OPTIONS[along].kind is int, sweep.swept[along]
    return [_Curve(
        ", ".join(_option_text(*other) for other in others.items()),
        numbers,
        [points[one].given[along] if numbers else values.index(points[one].given[along]) for one in found],
        [results[one] for one in found],
    ) for others, found in sweep.lines(along)]


def _line(axes: "Axes", what: str, curve: _Curve, colour: str, marker: str) -> None:
    found = list(zip(curve.at, curve.results, strict=True))
    if what in ("trade", "MHz"):
        found = [(at, result) for at, result in found if result.mhz]
    across = [_figure("MHz", result) if what == "trade" else at for at, result in found]
    up = [_figure("LUT4" if what == "trade" else what, result) for _, result in found]
    axes.plot(across, up, color=colour, marker=marker, markersize=curve_frame.marker_size(),
              linestyle="-" if curve.numbers else "", linewidth=style().weight, label=style().label(curve.label))
    if what == "trade":
        periods: dict[tuple[float, float], list[str]] = {}
        for place, (period, _) in zip(zip(across, up, strict=True), found, strict=True):
            periods.setdefault(place, []).append(f"{period / 1000:g}")
        for place, texts in periods.items():
            axes.annotate(f"{', '.join(texts)} ns", place, (3, -7), textcoords="offset points",
                          fontsize=style().least(5), color=colour)


def _figure(what: str, result: Synthesis) -> float:
    """Return the number of cells of a kind, or the median clock in MHz."""
    if what != "MHz":
        return result.area[what]
    assert result.median_mhz is not None
    return result.median_mhz


def _axes(axes: "Axes", what: str, along: str, values: Sequence[Any]) -> None:
    axes.set_ylabel({"trade": "LUT4", "FF": "flip-flops", "MHz": "clock (MHz)"}.get(what, what))
    curve_frame.draw_grid(axes)
    if what == "trade":
        axes.set_xlabel("clock, median of the seeds (MHz)")
        axes.margins(0.12)
        return
    axes.set_ylim(0, 1.1 * axes.dataLim.y1)
    axes.set_xlabel(OPTIONS[along].axis)
    if OPTIONS[along].kind is int:
        axes.set_xticks(sorted(values))
    else:
        axes.set_xlim(-0.5, len(values) - 0.5)
        axes.set_xticks(range(len(values)), [value.replace(",", ",\n") for value in values],
                        rotation=20 if max(map(len, values)) > 8 else 0)


def _caption(sweep: Sweep, point: SynthesisPoint) -> str:
    """Return a caption: the component, and the values of its main options that all points share."""
    names = ("target", "topology", "scheme", "relations", "vcs", "buffer", "consumption", "flit_width", "delays")
    shared = {name: point.resolved[name] for name in names} | sweep.fixed
    if "area_delay" in shared:
        shared["area_delay"] = f"area-delay {shared['area_delay']} ps"
    shared["target"] = TARGETS[shared["target"]].device
    shared["delays"] += " delays"
    return ", ".join([point.what, *(_option_text(*item) for item in shared.items() if item[0] not in sweep.swept)])


def _option_text(name: str, value: Any) -> str:
    """Return an option's value for a caption: a text as it is, a number after its option's name."""
    return value if isinstance(value, str) else f"{name.replace('_', '-')}\N{NO-BREAK SPACE}{value}"
