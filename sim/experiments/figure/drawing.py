"""Plot of a figure of load experiments: latency and accepted load over the effective load or over an option."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from ...build.configuration import Configuration, unusual
from ...common.curve_frame import (
    ACCEPTED_AXIS,
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
    scheme_families,
)
from ...common.curve_marks import ABOVE_WORDS, CurveMarks, draw_curves, interval_words, legend_signs
from ...common.frame import COLOURS, LEGEND, legend_columns
from ...common.picture_style import style
from .curve import Curve
from .definition import ALL, LOAD, LOAD_OPTIONS, Figure, place_on_axis, x_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["loads_figure"]

HEIGHT = 2.5  # height of a picture in inches, without legend and caption

CEILING: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (1, 1.5)), "zorder": 1}


def loads_figure(figure: Figure, curves: Sequence[Curve]) -> "Picture":
    """Draw latency over the effective load or over an option, and the accepted load.

    The panels are ``latency`` and ``accepted``. A figure over the load has a third panel, ``latency-accepted``,
    which is drawn only if the user asks for it: latency over the accepted load. Up to saturation, ``latency-accepted``
    and ``latency`` show the same.

    The effective load counts payload flits times destinations. The accepted load counts flits that nodes consume, also
    of messages that are incomplete at the end. In the panel ``latency-accepted`` the x axis shows flits per cycle of
    the whole network if the networks of all curves have the same size. All other numbers of flits are per node and
    cycle.

    Daggers mark reconstructed schemes, crosses deadlocks. Markers are open if a point is saturated. Markers of
    latencies are half filled if the latency is imprecise. The latency of a saturated point has no steady mean: the
    point is marked above the frame. Along the load, only a curve's first saturated point is marked.

    In the panels over the effective load, a vertical line in a curve's colour marks the ceiling of the tokens. The
    ceiling of the tokens is the load at which the tokens of the busiest stage are never idle. The ceiling of the tokens
    is measured at the curve's last point before saturation. The same results give the same file.

    Parameters
    ----------
    curves : sequence of Curve
        Measured curves.
    """
    import matplotlib
    from matplotlib.lines import Line2D

    known = _panels(figure, curves)
    panels = style().panels([*known], [name for name in known if name != OVER_ACCEPTED])
    styles = [_style(curves, curve) for curve in curves]
    labels = [style().entry([one.series.name], one.series.name + DAGGER * _reconstructed(one)) for one in curves]
    near, far = _ceilings(curves)
    kinds = _kinds(curves, panels)
    signs = [*legend_signs(kinds), *_ceiling_signs(near, far)]
    width, height, (down, beside) = panel_grid(len(panels), HEIGHT)
    with matplotlib.rc_context(curve_settings()):
        columns = min(legend_columns([*labels, *(name for name, _ in signs)], width, style().axes),
                      len(labels) + len(signs))
        rows = math.ceil((len(labels) + len(signs)) / columns)
        picture = captioned(width, height, [f"{figure.title} ({figure.source})", _caption(figure, curves, kinds)], rows,
                            _rows(figure, curves))
        top = _top(curves)
        every = picture.subplots(down, beside, squeeze=False).ravel().tolist()
        for axes, name in zip(every, panels, strict=True):
            panel = known[name]
            axes.set(xlabel=panel.across, ylabel=panel.up)
            axes.set_xlim(0, _last(figure, curves, panel))
            axes.set_ylim(0, _most(curves) if panel.y is _accepted else top)
            draw_grid(axes)
        align_stacked(every, down)
        marks = [Line2D([], [], label=label, linewidth=style().weight, **look | marker_options(look, "full"))
                 for label, look in zip(labels, styles, strict=True)]
        marks += [Line2D([], [], label=label, **{"linestyle": ""} | options) for label, options in signs]
        picture.legend(handles=marks, loc="outside lower center", ncols=columns, **LEGEND)
        fit_names(picture)
        for axes, name in zip(every, panels, strict=True):
            panel = known[name]
            diagonal = panel.x is _effective and panel.y is _accepted
            if diagonal:
                last = max(curve.at(curve.places[-1]) for curve in curves)
                axes.plot([0, last], [0, last], color=PLAIN, linewidth=0.6, linestyle=":", zorder=1)
            if panel.x is _effective:
                for curve, look in zip(curves, styles, strict=True):
                    if curve.series.name in near:
                        axes.axvline(near[curve.series.name], color=look["color"], **CEILING)
            draw_curves(axes, [_marks(curve, look, panel) for curve, look in zip(curves, styles, strict=True)],
                        diagonal=diagonal, dead_at_top=panel.y is _latency)
    return picture


#: Panel of a figure over the load that repeats the panel ``latency`` on another x axis.
OVER_ACCEPTED = "latency-accepted"


class _Panel(NamedTuple):
    """Panel of a figure: functions that return the x value and the y value of a point, and the names of both axes."""

    x: "Of"
    y: "Of"
    across: str
    up: str


def _panels(figure: Figure, curves: Sequence[Curve]) -> dict[str, _Panel]:
    latency = f"mean latency{'' if figure.latency == ALL else f' of {figure.latency}s'} (cycles)"
    if figure.over != LOAD:
        across = x_label(figure)
        return {"latency": _Panel(Curve.at, _latency, across, latency),
                "accepted": _Panel(Curve.at, _accepted, across, ACCEPTED_AXIS)}
    sizes = {curve.point(1).network.nodes for curve in curves}
    of_network = "accepted load of the whole network (flits per cycle)"
    whole = (_of_network(*sizes), of_network) if len(sizes) == 1 else (_accepted, ACCEPTED_AXIS)
    return {"latency": _Panel(_effective, _latency, LOAD_AXIS, latency),
            "accepted": _Panel(_effective, _accepted, LOAD_AXIS, ACCEPTED_AXIS),
            OVER_ACCEPTED: _Panel(whole[0], _latency, whole[1], latency)}


def _last(figure: Figure, curves: Sequence[Curve], panel: _Panel) -> float:
    """Return the end of the x axis of a panel, slightly beyond its last point."""
    if figure.values:
        return 1.03 * place_on_axis(figure.over, figure.values[-1])
    places = [(curve, place) for curve in curves for place in curve.places
              if panel.y is _accepted or place in curve.steady or place in _beyond(curve)]
    return 1.03 * max([at for at in (panel.x(*one) for one in places) if not math.isnan(at)], default=1.0)


def _most(curves: Sequence[Curve]) -> float:
    """Return the upper limit of the axis of accepted flits."""
    return 1.08 * max([found for curve in curves for place in curve.places
                       if not math.isnan(found := _accepted(curve, place))], default=1.0) or 1.0


def _rows(figure: Figure, curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Return a row for each point: series, position, and what the panels draw."""
    return [{"series": curve.series.name, figure.over: curve.at(place),
             **({"effective": _effective(curve, place)} if figure.over == LOAD else {}),
             "latency": _interval(curve, place)[0], "latency_half_width": _interval(curve, place)[1],
             "accepted": _accepted(curve, place), "saturated": curve.results[place]["saturated"],
             "precise": curve.results[place]["precise"], "deadlock": place in curve.deadlocked}
            for curve in curves for place in curve.places]


def _reconstructed(curve: Curve) -> bool:
    return curve.scheme.reconstructed


def _style(curves: Sequence[Curve], curve: Curve) -> dict[str, Any]:
    """Return a curve's look: colour and marker by scheme, dashes and shade by its number among the scheme's curves."""
    family = scheme_families(one.options["scheme"] for one in curves)[curve.options["scheme"]]
    alike = [one for one in curves if one.options["scheme"] == curve.options["scheme"]]
    return line_style(COLOURS[family % len(COLOURS)], family, alike.index(curve), len(alike))


Of = Callable[[Curve, int], float]


def _effective(curve: Curve, place: int) -> float:
    found = curve.results[place]["effective"]
    return curve.at(place) if found is None else found


def _interval(curve: Curve, place: int) -> tuple[float, float]:
    """Return the latency that the figure draws at a point, and half the width of its confidence interval."""
    whose = curve.figure.latency
    found = curve.results[place]["latency" if whose == ALL else f"{whose}_latency"]
    return math.nan if found["mean"] is None else found["mean"], found["half_width"] or 0.0


def _latency(curve: Curve, place: int) -> float:
    return _interval(curve, place)[0]


def _ceilings(curves: Sequence[Curve]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the ceiling of the tokens of each series: the load at which its busiest stage's tokens are never idle.

    The first mapping has the ceilings of the tokens that are drawn as lines. The second mapping has the ceilings of the
    tokens beyond the load axis, which only the legend names. For figures over an option both mappings are empty.
    """
    known = {curve.series.name: curve.results[max(curve.steady)]["token_ceiling"]["mean"]
             for curve in curves if curve.steady and curve.figure.over == LOAD}
    most = max(_effective(curve, place) for curve in curves for place in curve.places) if known else 0.0
    found = {name: ceiling for name, ceiling in known.items() if ceiling is not None}
    near = {name: ceiling for name, ceiling in found.items() if ceiling <= 1.2 * most}
    return near, {name: ceiling for name, ceiling in found.items() if name not in near}


def _accepted(curve: Curve, place: int) -> float:
    found = curve.results[place]["accepted"]
    return math.nan if found is None else found


def _of_network(nodes: int) -> Of:
    return lambda curve, place: nodes * _accepted(curve, place)


def _top(curves: Sequence[Curve]) -> float:
    """Return the upper limit of the latency axis: slightly above all intervals of points that are not saturated.

    A half interval that exceeds its mean counts as the mean, so that it does not compress all curves.
    """
    steady = [_interval(curve, place) for curve in curves for place in curve.steady]
    return 1.05 * max([mean + min(half, mean) for mean, half in steady if not math.isnan(mean)], default=1.0)


def _beyond(curve: Curve) -> list[int]:
    """Return the places of the saturated points that panels of latencies mark: along the load only the first one."""
    found = [place for place in curve.places if place not in curve.steady and curve.results[place]["saturated"]]
    return found if curve.figure.values else found[:1]


def _marks(curve: Curve, look: dict[str, Any], panel: _Panel) -> CurveMarks:
    """Return what a panel shows of a curve: accepted flits of all points, or latencies of steady points."""
    latencies, results = panel.y is _latency, curve.results
    places = [place for place in curve.places if not latencies or place in curve.steady or curve.figure.values]
    up = [math.nan if latencies and place not in curve.steady else panel.y(curve, place) for place in places]
    kinds = ["open" if results[place]["saturated"] else "half" if latencies and not results[place]["precise"] else
             "full" for place in places]
    across = panel.x if panel.x in (_effective, Curve.at) else None
    return CurveMarks(look, [panel.x(curve, place) for place in places], up, kinds,
                      [_interval(curve, place)[1] for place in places] if latencies else (),
                      [panel.x(curve, place) for place in _beyond(curve)] if latencies else (),
                      [across(curve, place) for place in curve.deadlocked] if across else ())


def _kinds(curves: Sequence[Curve], panels: Sequence[str]) -> list[str]:
    """Return the kinds of marks of imprecise, saturated and deadlocked points that occur."""
    found = {"open": any(curve.results[place]["saturated"] for curve in curves for place in curve.places),
             "half": panels != ["accepted"] and any(not curve.results[place]["precise"] for curve in curves
                                                    for place in curve.steady),
             "dead": any(curve.deadlocked for curve in curves)}
    return [kind for kind, occurs in found.items() if occurs]


def _ceiling_signs(near: Mapping[str, float], far: Mapping[str, float]) -> list[tuple[str, dict[str, Any]]]:
    """Return the legend's entry for the ceilings of the tokens, if any. The label lists ceilings beyond the axis."""
    beyond = f" (beyond: {', '.join(f'{name} {ceiling:.2g}' for name, ceiling in far.items())})" if far else ""
    return [(f"ceiling of the tokens{beyond}", {"color": PLAIN, **CEILING})] if near or far else []


def _caption(figure: Figure, curves: Sequence[Curve], kinds: Sequence[str]) -> str:
    """Return the caption: options with one value in all curves that are main options or differ from their defaults."""
    first, *others = [curve.point(1).resolved for curve in curves if curve.places] or [{}]
    names = ["topology", "vcs", "buffer", "consumption", "length", "unicast_length", "destinations_mean",
             "destinations_deviation", "destinations_distribution", "multicast_fraction", "seeds", "cycles"]
    if first.get("destinations_distribution") != "normal":
        names.remove("destinations_deviation")
    if first.get("multicast_fraction") == 1:
        names.remove("unicast_length")
    names[-2:-2] = [name for name in ("t_hs", "injection_delay") if first.get(name)]
    if figure.over != LOAD:
        names = ["rate", *(name for name in names if name != figure.over)]
    values = {name: first[name] for name in names
              if name in first and all(other[name] == first[name] for other in others)}
    shown = [str(value) if name == "topology" else LOAD_OPTIONS.known[name].worded(
        (f"{value:g}" if isinstance(value, float) else str(value)) + " at most" * (name == "cycles"))
        for name, value in values.items()]
    alike = {name: value for name, value in first.items() if all(other[name] == value for other in others)}
    shown += unusual(alike, [one.name for one in fields(Configuration) if one.name not in names])
    dagger = f"; {DAGGER} reconstructed" if any(map(_reconstructed, curves)) else ""
    above = f"; {ABOVE_WORDS}" if any(map(_beyond, curves)) else ""
    bars = interval_words(kinds, len(curves))
    return "; ".join(shown) + f"; {FLIT_WORDS}; {bars}{above}{dagger}"
