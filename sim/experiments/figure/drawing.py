"""Plot of a figure of load experiments: latency and throughput over the offered load or over an option."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ...build.configuration import Configuration, unusual
from ...common.curve_frame import CURVES, DAGGER, LETTERS, captioned, draw_grid, line_style, marker_options
from ...common.frame import COLOURS, LEGEND, PAGE, legend_columns
from .curve import Curve
from .definition import ALL, LOAD, Figure, place_on_axis, x_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

__all__ = ["loads_figure"]

HEIGHT = 2.5  # height of a picture in inches, without legend and caption

#: Schemes with a fixed colour and marker in all figures.
#: Another scheme gets a colour that no listed scheme has in the same figure, if such a colour is left.
FAMILIES = ("individual", "multipath", "column-path", "e-mcast", "dual-path", "u-mesh", "tp", "sp", "gtdmpm",
            "atbm", "cmin", "cmin-halving", "tree-synchronous", "tree-serial")

PLAIN = "#808080"

CEILING: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (1, 1.5)), "zorder": 1}


def loads_figure(figure: Figure, curves: Sequence[Curve]) -> "Picture":
    """Draw latency over accepted flits, latency over the offered load, and accepted flits over the offered load.

    A figure over an option has two panels: latency over the option, and accepted flits over the option. Offered flits
    are payload flits times destinations. Accepted flits are those that nodes consume, also of messages that are
    incomplete at the end. In the plot of latency over accepted flits, the x axis shows flits per cycle of the whole
    network if the networks of all curves have the same size. On all other axes, flits are per node and cycle.

    Daggers mark reconstructed schemes, crosses deadlocks. Markers are open if a point is saturated. Markers of
    latencies are half open if the latency is imprecise. The latency of a saturated point has no steady
    mean. In plots of latencies along the load, only a curve's first saturated point is drawn, at the upper edge. In
    plots of latencies along an option, every saturated point is drawn at the upper edge.

    In the plots over the offered load, a vertical line in a curve's colour marks the ceiling of the tokens. The ceiling
    of the tokens is the load at which the tokens of the busiest stage are never idle. The ceiling of the tokens is
    measured at the curve's last point before saturation. The same results give the same file.

    Parameters
    ----------
    curves : sequence of Curve
        Measured curves.
    """
    import matplotlib
    from matplotlib.lines import Line2D

    styles = [_style(curves, curve) for curve in curves]
    labels = [curve.series.name + DAGGER * _reconstructed(curve) for curve in curves]
    near, far = _ceilings(curves)
    signs = [*_signs(curves), *_ceiling_signs(near, far)]
    with matplotlib.rc_context(CURVES):
        columns = min(legend_columns([*labels, *(name for name, _ in signs)], PAGE, LETTERS), len(labels) + len(signs))
        rows = math.ceil((len(labels) + len(signs)) / columns)
        picture = captioned(PAGE, HEIGHT, [f"{figure.title} ({figure.source})", _caption(figure, curves)], rows)
        panels = _panels(figure, curves)
        top = _top(curves)
        for axes, (x, y, across, up) in zip(picture.subplots(1, len(panels)), panels, strict=True):
            if x is _offered and y is _accepted:
                last = max(curve.at(curve.places[-1]) for curve in curves)
                axes.plot([0, last], [0, last], color=PLAIN, linewidth=0.6, linestyle=":", zorder=1)
            for curve, style in zip(curves, styles, strict=True):
                _draw(axes, curve, style, x, y, math.inf if y is _accepted else top)
                if x is _offered and curve.series.name in near:
                    axes.axvline(near[curve.series.name], color=style["color"], **CEILING)
            axes.set_xlabel(across)
            axes.set_ylabel(up)
            axes.set_xlim(0, 1.03 * place_on_axis(figure.over, figure.values[-1]) if figure.values else None)
            axes.set_ylim(0, None if y is _accepted else top)
            draw_grid(axes)
        marks = [Line2D([], [], label=label, linewidth=1.0, **style | marker_options(style, "full"))
                 for label, style in zip(labels, styles, strict=True)]
        marks += [Line2D([], [], label=label, **{"linestyle": ""} | options) for label, options in signs]
        picture.legend(handles=marks, loc="outside lower center", ncols=columns, **LEGEND)
    return picture


Panel = tuple["Of", "Of", str, str]
"""Panel of a figure: functions that return the x value and the y value of a point, and the labels of both axes."""


def _panels(figure: Figure, curves: Sequence[Curve]) -> list[Panel]:
    latency = f"latency{'' if figure.latency == ALL else f' of {figure.latency}s'} (cycles)"
    if figure.over != LOAD:
        across = x_label(figure)
        return [(Curve.at, _latency, across, latency),
                (Curve.at, _accepted, across, "accepted (flits per node and cycle)")]
    offered = "effective (flits per node and cycle)"
    sizes = {curve.point(1).network.nodes for curve in curves}
    whole = (_throughput(*sizes), "throughput (flits per cycle)") if len(sizes) == 1 else (
        _accepted, "accepted (flits per node and cycle)")
    return [(whole[0], _latency, whole[1], latency), (_offered, _latency, offered, latency),
            (_offered, _accepted, offered, "accepted (flits per node and cycle)")]


def _reconstructed(curve: Curve) -> bool:
    return curve.scheme.provenance.startswith("reconstructed")


def _style(curves: Sequence[Curve], curve: Curve) -> dict[str, Any]:
    """Return a curve's style: colour and marker by scheme, dashes and shade by its number among the scheme's curves."""
    schemes = dict.fromkeys(one.options["scheme"] for one in curves)
    families = {name: FAMILIES.index(name) for name in schemes if name in FAMILIES}
    used = {family % len(COLOURS) for family in families.values()}
    free = [colour for colour in range(len(COLOURS)) if colour not in used] or [0]
    others = [name for name in schemes if name not in families]
    families |= {name: free[place % len(free)] for place, name in enumerate(others)}
    family = families[curve.options["scheme"]]
    alike = [one for one in curves if one.options["scheme"] == curve.options["scheme"]]
    return line_style(COLOURS[family % len(COLOURS)], family, alike.index(curve), len(alike))


Of = Callable[[Curve, int], float]


def _offered(curve: Curve, place: int) -> float:
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
    most = max(_offered(curve, place) for curve in curves for place in curve.places) if known else 0.0
    found = {name: ceiling for name, ceiling in known.items() if ceiling is not None}
    near = {name: ceiling for name, ceiling in found.items() if ceiling <= 1.2 * most}
    return near, {name: ceiling for name, ceiling in found.items() if name not in near}


def _accepted(curve: Curve, place: int) -> float:
    found = curve.results[place]["accepted"]
    return math.nan if found is None else found


def _throughput(nodes: int) -> Of:
    return lambda curve, place: nodes * _accepted(curve, place)


def _top(curves: Sequence[Curve]) -> float:
    """Return the upper limit of the latency axis: slightly above all latencies of points that are not saturated."""
    steady = [_latency(curve, place) for curve in curves for place in curve.steady]
    return 1.05 * max([one for one in steady if not math.isnan(one)], default=1.0)


def _draw(axes: "Axes", curve: Curve, style: dict[str, Any], x: Of, y: Of, top: float) -> None:
    """Draw a curve: accepted flits of all points; latencies up to the first saturated point, which is at the top.

    In a figure over an option, all saturated points are drawn at the top, because steady points may follow them.
    """
    places = [place for place in curve.places if place in curve.steady or math.isinf(top)]
    beyond = [place for place in curve.places if place not in places]
    if not curve.figure.values:
        beyond = beyond[:1]
    drawn = [(place, x(curve, place), top if place in beyond else y(curve, place))
             for place in sorted([*places, *beyond])]
    axes.plot([across for _, across, _ in drawn], [up for *_, up in drawn], color=style["color"],
              linestyle=style["linestyle"], linewidth=1.0)
    if y is _latency:
        halves = [_interval(curve, place)[1] for place in places]
        axes.errorbar([x(curve, place) for place in places], [y(curve, place) for place in places], halves, fmt="none",
                      ecolor=style["color"], elinewidth=0.6, capthick=0.6)
    for place, across, up in drawn:
        axes.plot([across], [up], linestyle="", clip_on=place not in beyond,
                  **marker_options(style, _kind(curve, place, y)))
    for place in curve.deadlocked:
        where = [x(curve, place)] if x in (_offered, Curve.at) else []
        axes.plot(where, [0] * len(where), linestyle="", color=style["color"], marker="x", markersize=5, clip_on=False)


def _kind(curve: Curve, place: int, y: Of) -> str:
    result = curve.results[place]
    if result["saturated"]:
        return "open"
    return "half" if y is _latency and not result["precise"] else "full"


def _signs(curves: Sequence[Curve]) -> list[tuple[str, dict[str, Any]]]:
    """Return the legend's entries for imprecise, saturated and deadlocked points that occur: label, marker options."""
    plain = {"color": PLAIN, "marker": "o"}
    results = [(curve, place) for curve in curves for place in curve.places]
    kinds = {_kind(curve, place, _latency) for curve, place in results}
    words = {"half": "imprecise latency", "open": "saturated"}
    found = [(said, marker_options(plain, kind)) for kind, said in words.items() if kind in kinds]
    if any(curve.deadlocked for curve in curves):
        found.append(("deadlock", {"color": PLAIN, "marker": "x", "markersize": 5}))
    return found


def _ceiling_signs(near: Mapping[str, float], far: Mapping[str, float]) -> list[tuple[str, dict[str, Any]]]:
    """Return the legend's entry for the ceilings of the tokens, if any. The label lists ceilings beyond the axis."""
    beyond = f" (beyond: {', '.join(f'{name} {ceiling:.2g}' for name, ceiling in far.items())})" if far else ""
    return [(f"ceiling of the tokens{beyond}", {"color": PLAIN, **CEILING})] if near or far else []


def _caption(figure: Figure, curves: Sequence[Curve]) -> str:
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
    shown = [f"{name.replace('_', ' ')} {first[name]:g}" if isinstance(first[name], float) else
             f"{name.replace('_', ' ')} {first[name]}" + " at most" * (name == "cycles") for name in names
             if name in first and all(other[name] == first[name] for other in others)]
    alike = {name: value for name, value in first.items() if all(other[name] == value for other in others)}
    shown += unusual(alike, [one.name for one in fields(Configuration) if one.name not in names])
    dagger = f"; {DAGGER} reconstructed" if any(map(_reconstructed, curves)) else ""
    return ", ".join(shown) + f"; flits: payload flits times destinations; bars: 95 % intervals{dagger}"
