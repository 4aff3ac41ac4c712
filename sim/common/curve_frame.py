"""Common style of all plots of curves: lines, markers, caption, legend."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from .figure_file import require_picture
from .frame import COLOURS, GRID, MARGIN, POINTS, WORDS, blank_figure, put_beside, settings, wrapped
from .picture_style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ACCEPTED_AXIS", "DAGGER", "DASHES", "FLIT_WORDS", "LOAD_AXIS", "MARKERS", "PLAIN", "align_stacked",
           "captioned", "curve_settings", "draw_grid", "fit_names", "line_style", "marker_options", "marker_size",
           "panel_grid", "require_curves", "row_height", "scheme_families"]

PLAIN = "#808080"  # colour of marks and lines that belong to no curve
MARKERS = "os^Dv<>Pph*X"
MARKER = 3.2  # size of a marker in points, in a style of weight 1
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
PALEST = 0.6  # upper limit of the share of white that is mixed into the colours of repeated dashes
ROW = 1.44  # height of a row of the legend, in units of the font size
MOST_LINES = 40

# inches
NARROWEST = 1.9  # least width of a panel beside others
USUAL = 8.0  # font size in points up to which panels have their usual height
LOWEST = 2.25  # least height of a row of several, with its share of the legend, in a figure with a shape
ALONE = 2.3  # height of a panel that is as wide as a column, or in one of several rows

#: Largest number of layouts of a figure until the line breaks in the names of its axes stay the same.
MOST_LAYOUTS = 4

#: Schemes with the same colour and marker in all pictures of curves.
FAMILIES = ("individual", "multipath", "column-path", "e-mcast", "dual-path", "u-mesh", "tp", "sp", "gtdmpm",
            "atbm", "cmin", "cmin-halving", "tree-synchronous", "tree-serial")

#: Name of the x axis of curves over the load, and of the y axis of the flits that nodes accept.
LOAD_AXIS, ACCEPTED_AXIS = "effective load (flits/node/cycle)", "accepted load (flits/node/cycle)"

#: Text of captions about the axes `LOAD_AXIS` and `ACCEPTED_AXIS`.
FLIT_WORDS = "flits: payload flits times destinations"

#: Suffix of the names of schemes that are reconstructed because no full description was available.
DAGGER = "\N{DAGGER}"


def curve_settings() -> dict[Any, Any]:
    """Return matplotlib's settings for plots of curves in the current style."""
    return settings() | {"font.size": style().axes, "axes.spines.top": False, "axes.spines.right": False,
                         "errorbar.capsize": 1.5 * style().weight}


def marker_size() -> float:
    """Return the size of a marker in points."""
    return MARKER * style().weight


def require_curves(swept: Mapping[str, Sequence[Any]], along: str | None, file: Path) -> None:
    """Refuse more than 40 curves, and a file that is no picture by its ending.

    There is one curve per combination of values of the swept options other than ``along``, the option of the x axis.
    """
    require_picture(file)
    lines = math.prod(len(values) for name, values in swept.items() if name != along)
    if lines > MOST_LINES:
        raise WormcastError(f"plot: {file} is not valid: the picture would have {lines} curves, one for each "
                            f"combination of the values of {', '.join(name for name in swept if name != along)}. "
                            f"Allowed: at most {MOST_LINES} curves.")


def captioned(width: float, height: float, caption: Sequence[str], legend_rows: int,
              rows: Iterable[Mapping[str, Any]] = ()) -> "Figure":
    """Return a figure of a width and height in inches, plus a caption above and room for a legend below.

    If the style has a shape, the figure has this shape. In the styles ``paper`` and ``slides`` the caption is not
    drawn. ``rows``: the data of the figure.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    lines = [] if style().caption_beside else wrapped(caption, width - 2 * MARGIN)
    height += style().line * len(lines) + _legend_height(legend_rows)
    figure = blank_figure(width, height if style().shape is None else style().highest(width),
                          layout=ConstrainedLayoutEngine(wspace=0.06))
    if lines:
        figure.suptitle("\n".join(lines), fontsize=style().text, color=WORDS)
    put_beside(figure, caption, rows)
    return figure


def _legend_height(rows: int) -> float:
    """Return the height in inches of a legend with a number of rows."""
    return ROW * style().axes / POINTS * rows


def row_height(rows: int, limits: tuple[float, float, float], axis: float, legend_rows: int) -> float:
    """Return the height in inches of a row in a chart with one row per node.

    If the style has a shape, the rows fill the chart.

    Parameters
    ----------
    limits : (float, float, float)
        Smallest and largest height of a row, and largest height of all rows together. If the rows do not fit into the
        last height at their smallest height, they are higher together.
    axis : float
        Height of the chart without rows and legend.
    """
    least, most, together = limits
    if style().shape is not None:
        return (style().highest(style().page) - axis - _legend_height(legend_rows)) / rows
    return min(most, max(least, together / rows))


def panel_grid(panels: int, high: float) -> tuple[float, float, tuple[int, int]]:
    """Return width and height in inches of a figure with a number of panels, and the rows and columns of panels.

    One panel has the width of a column. Several panels are side by side on a page, in equal rows if one row is too
    short for them, or one below the other if the user has chosen a small width. If the style has a shape, a figure
    with several rows is as large as they need.

    Parameters
    ----------
    high : float
        Height of panels side by side.
    """
    width = style().column if panels == 1 else style().page
    larger = max(1.0, style().axes / USUAL)
    beside = next(each for each in range(panels, 0, -1)
                  if panels % each == 0 and (width / each >= NARROWEST or each == 1))
    down = panels // beside
    if style().shape is not None and down > 1:
        needed = style().width_for(down * LOWEST)
        style().require_width(needed)
        width = max(width, needed)
    row = ALONE if panels == 1 or down > 1 else high
    return width, min(down * row * larger, max(row * larger, style().highest(width))), (down, beside)


def align_stacked(panels: Sequence["Axes"], down: int) -> None:
    """Set the same limits for the x axes of panels, in several rows, that show the same quantity by their names."""
    for axes in panels if down > 1 else ():
        alike = [one.get_xlim() for one in panels if one.get_xlabel() == axes.get_xlabel()]
        axes.set_xlim(min(left for left, _ in alike), max(right for _, right in alike))


def fit_names(figure: "Figure") -> None:
    """Break the names of all axes into lines no longer than the axes. Call this function before curves are drawn.

    Legend, caption and limits of the axes must be set: the layout computes the size of the axes from them. Marks above
    the frame may later take up to 15 % of the height of the axes.
    """
    names = [(axes, axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes]
    for axes, _, _ in names:
        axes.set(xlabel="", ylabel="")  # a name that is longer than its axis makes the axis shorter
    for _ in range(MOST_LAYOUTS):
        figure.draw_without_rendering()
        before = [(axes.get_xlabel(), axes.get_ylabel()) for axes, _, _ in names]
        for axes, across, up in names:
            extent = axes.get_window_extent()
            wide, high = 0.98 * extent.width / figure.dpi, 0.85 * extent.height / figure.dpi
            axes.set(xlabel="\n".join(wrapped([across], wide, style().axes)),
                     ylabel="\n".join(wrapped([up], high, style().axes)))
        if before == [(axes.get_xlabel(), axes.get_ylabel()) for axes, _, _ in names]:
            break


def draw_grid(axes: "Axes") -> None:
    """Draw a pale grid behind the curves."""
    axes.grid(color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def line_style(colour: Any, family: int, member: int, members: int) -> dict[str, Any]:
    """Return a line's colour, dashes and marker.

    The family selects the marker; the number in the family (``member`` of ``members``) selects the dashes. When the
    dashes are used up, they repeat in paler colours.
    """
    from matplotlib.colors import to_rgb

    paler = PALEST * (member // len(DASHES) * len(DASHES) / members)
    return {"color": tuple(part + (1 - part) * paler for part in to_rgb(colour)),
            "marker": MARKERS[family % len(MARKERS)], "linestyle": DASHES[member % len(DASHES)]}


def scheme_families(schemes: Iterable[str]) -> dict[str, int]:
    """Return for each scheme the number of its family in `line_style`; its colour is this number modulo 8.

    A scheme of `FAMILIES` has the same number in all pictures. Another scheme has a colour that no scheme of `FAMILIES`
    has in the same picture, if such a colour is left.
    """
    names = list(dict.fromkeys(schemes))
    families = {name: FAMILIES.index(name) for name in names if name in FAMILIES}
    used = {family % len(COLOURS) for family in families.values()}
    free = [colour for colour in range(len(COLOURS)) if colour not in used] or [0]
    return families | {name: free[place % len(free)]
                       for place, name in enumerate(one for one in names if one not in families)}


def marker_options(style: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return matplotlib's options for a marker with the colour and shape of ``style``.

    ``kind``: the marker is filled (``full``), half filled (``half``), or ``open``.
    """
    return {"color": style["color"], "marker": style["marker"], "markersize": marker_size(), "markeredgewidth": 0.7,
            "markerfacecolor": "white" if kind == "open" else style["color"], "markerfacecoloralt": "white",
            "fillstyle": "left" if kind == "half" else "full"}
