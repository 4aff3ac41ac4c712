"""Common style of all plots of curves: lines, markers, caption, legend."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from .figure_file import require_picture
from .frame import GRID, LINE, MARGIN, SETTINGS, SIZE, WORDS, blank_figure, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CURVES", "DAGGER", "DASHES", "LETTERS", "MARKER", "MARKERS", "captioned", "draw_grid", "line_style",
           "marker_options", "require_curves"]

MARKERS = "os^Dv<>Pph*X"
MARKER = 3.2  # points
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1, 1, 1)), (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)))
PALEST = 0.6  # upper limit of the share of white that is mixed into the colours of repeated dashes
LETTERS = 7.0  # font size of axes and legend, in points
ROW = 0.14  # height of a row of the legend, in inches
MOST_LINES = 40

#: Suffix of the names of schemes that are reconstructed because no full description was available.
DAGGER = "\N{DAGGER}"

#: matplotlib's settings.
CURVES: dict[Any, Any] = SETTINGS | {
    "font.size": LETTERS, "axes.spines.top": False, "axes.spines.right": False, "errorbar.capsize": 1.5,
}


def require_curves(swept: Mapping[str, Sequence[Any]], along: str | None, file: Path) -> None:
    """Refuse more than 40 curves, and a file that is no picture by its ending.

    There is one curve per combination of values of the swept options other than ``along``, the option of the x axis.
    """
    require_picture(file)
    lines = math.prod(len(values) for name, values in swept.items() if name != along)
    if lines > MOST_LINES:
        raise WormcastError(f"plot: {lines} curves are not valid. Allowed: at most {MOST_LINES}.")


def captioned(width: float, height: float, caption: Sequence[str], legend_rows: int) -> "Figure":
    """Return a figure of a width and height in inches, plus a caption above and room for a legend below."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    lines = wrapped(caption, width - 2 * MARGIN)
    figure = blank_figure(width, height + LINE * len(lines) + ROW * legend_rows,
                          layout=ConstrainedLayoutEngine(wspace=0.06))
    figure.suptitle("\n".join(lines), fontsize=SIZE, color=WORDS)
    return figure


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


def marker_options(style: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return matplotlib's options for a marker with the colour and shape of ``style``.

    ``kind``: ``full``, ``half`` full or ``open``.
    """
    return {"color": style["color"], "marker": style["marker"], "markersize": MARKER, "markeredgewidth": 0.7,
            "markerfacecolor": "white" if kind == "open" else style["color"], "markerfacecoloralt": "white",
            "fillstyle": "left" if kind == "half" else "full"}
