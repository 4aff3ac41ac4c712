"""What all curves look like."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from .figure_file import require_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "CURVES", "LETTERS", "MARKERS", "SIZE", "WORDS", "captioned", "draw_grid",
           "legend_columns", "require_curves"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")  # told apart by all
MARKERS = "os^Dv<>Pph*X"
WORDS = "#404040"
SIZE = 3.2  # points, of a marker
LETTERS = 20  # in an inch of words below or above a picture
LINE = 0.14  # inches, of the legend and the caption
MOST_LINES = 40

#: matplotlib's settings.
CURVES: dict[Any, Any] = {
    "font.size": 7, "font.family": "DejaVu Sans", "svg.hashsalt": "wormcast",
    "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "errorbar.capsize": 1.5,
}


def require_curves(swept: Mapping[str, Sequence[Any]], along: str | None, file: Path) -> None:
    """Refuse curves that cannot be drawn, one for each combination of the swept options but ``along``.

    Raises
    ------
    WormcastError
        There would be more than 40 lines, or the file's ending says neither SVG nor PNG.
    """
    require_picture(file)
    lines = math.prod(len(values) for name, values in swept.items() if name != along)
    if lines > MOST_LINES:
        raise WormcastError(f"plot: {lines} lines are to be drawn, allowed are up to {MOST_LINES}")


def legend_columns(labels: Sequence[str], width: float) -> int:
    """Columns of a legend below a figure of so many inches."""
    return max(1, int(LETTERS * width / (6 + max(map(len, labels)))))


def captioned(width: float, height: float, caption: Sequence[str], legend_rows: int) -> "Figure":
    """A figure of so many inches, the lines of a caption above them, and room for the rows of a legend below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(width, height + LINE * (len(caption) + legend_rows)),
                    layout=ConstrainedLayoutEngine(wspace=0.06))
    FigureCanvasAgg(figure)
    figure.suptitle("\n".join(caption), fontsize=6, color=WORDS)
    return figure


def draw_grid(axes: "Axes") -> None:
    """Draw a pale grid, behind everything."""
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
