"""Scatter plot of two measured quantities, for example area and latency."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from ...common.curve_frame import MARKERS, captioned, curve_settings, draw_grid, marker_options
from ...common.frame import COLOURS, LEGEND, legend_columns
from ...common.picture_style import style
from .definition import Figure, ScatterPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["scatter_figure"]

WIDTH, HEIGHT = 5.2, 3.2  # width and height of a picture in inches, without legend and caption

#: Style of the lines through the points. Along a line the product of both numbers is constant.
EQUAL: dict[str, Any] = {"linewidth": 0.5, "linestyle": ":", "zorder": 1}

STEPS = 50

#: Fillings of the markers of points with the same first number, in turn.
#: Points with the same first number (on the x axis) are, for example, one router under several conditions.
KINDS = ("full", "open", "half")


def scatter_figure(figure: Figure, found: Sequence[ScatterPoint]) -> "Picture":
    """Draw the points of a figure's scatter plot, and through each point the line of equal product of both numbers.

    A point below the line through another point has a smaller product than the other point. Points with the same first
    number share colour and shape. A number with an interval has an error bar. The same numbers give the same file.
    """
    import matplotlib

    scatter = figure.scatter
    assert scatter is not None
    with matplotlib.rc_context(curve_settings()):
        caption = [f"{figure.title} ({figure.source})", "dotted lines: equal product of both numbers"]
        names = [style().label(name) for name, *_ in found]
        wide = (style().page if style().caption_beside else WIDTH) if style().fixed is None else style().page
        columns = min(2, legend_columns(names, wide, style().axes))
        picture = captioned(wide, HEIGHT, caption, -(-len(found) // columns) + 1,
                            [{"name": name, scatter.across: across, scatter.up: up}
                             for name, (_, across, _), (_, up, _) in found])
        axes = picture.subplots()
        least, most = min(across[0] for _, across, _ in found), max(across[2] for _, across, _ in found)
        margin = 0.1 * (most - least or most)
        ends = [least - margin, most + margin]
        families = list(dict.fromkeys(across for _, (_, across, _), _ in found))
        kinds = {across: cycle(KINDS) for across in families}
        for name, (_, *both) in zip(names, found, strict=True):
            (_, across, _), (_, up, _) = both
            place, kind = families.index(across), next(kinds[across])
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            axes.plot([across], [up], linestyle="", label=name, **marker_options(look, kind))
            if any(low < high for low, _, high in both):
                bars = [[[middle - low], [high - middle]] for low, middle, high in both]
                axes.errorbar([across], [up], bars[1], bars[0], fmt="none", ecolor=look["color"],
                              linewidth=style().weight)
            along = [ends[0] + (ends[1] - ends[0]) * step / STEPS for step in range(STEPS + 1)]
            axes.plot(along, [across * up / one for one in along], color=look["color"], **EQUAL)
        axes.set_xlim(*ends)
        axes.set_ylim(0, None)
        axes.set_xlabel(scatter.across)
        axes.set_ylabel(scatter.up)
        draw_grid(axes)
        picture.legend(loc="outside lower center", ncols=columns, **LEGEND)
    return picture
