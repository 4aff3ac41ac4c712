"""Figure of all network drawings: sizes, legend, and lines of text below the network."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wormcast.algorithms import Scheme, Topology, WormcastError

from ..common.figure_file import FORMATS, require_picture
from ..common.frame import (
    LEGEND,
    MARGIN,
    POINTS,
    WORDS,
    blank_figure,
    legend_columns,
    put_beside,
    settings,
    text_width,
    wrapped,
)
from ..common.picture_style import MILLIMETRES, WIDTHS, style
from .layout import NetworkLayout, layout_of

__all__ = ["PLAIN", "Mark", "Sheet", "require_drawable", "scheme_on"]

# points
BESIDE = 3.0  # distance of the names of rows and columns from the network, in points
LARGEST_NODES = 20.0  # largest size of a cell if nodes and switches are drawn separately, in points
OUTER = 17.0  # distance of the names of planes from the names of rows, in points

PLAIN = "#c0c0c0"

FULL = 3.4  # inches; in pictures with a larger width that the user has chosen, the largest cell grows in proportion
LONGEST = 128  # extent from which on a network is too large for a PNG file, in cells

Mark = tuple[str, Mapping[str, Any]]
"""An entry of a legend: its text, and matplotlib's options of the line drawn before the text."""


def require_drawable(topology: Topology, file: Path) -> None:
    """Refuse a file that is no picture by its ending, and a topology that is too large for PNG."""
    layout = layout_of(topology)
    require_picture(file)
    if file.suffix == ".png" and max(layout.extent) >= LONGEST:
        raise WormcastError(f"plot: {file} is not valid: the drawing of {topology.name} is at least {LONGEST} cells "
                            f"wide or high. Allowed: {', '.join(f'.{one}' for one in FORMATS if one != 'png')}.")


def scheme_on(scheme: Scheme, topology: Topology) -> str:
    """Return a caption with scheme and network.

    The name of a reconstructed scheme is followed by ``(reconstructed)``.
    """
    reconstructed = " (reconstructed)" * scheme.reconstructed
    return f"{style().label(scheme.name)}{reconstructed} on {topology.name}"


class Sheet:
    """A figure with space for a network, a legend below it, and text below the legend.

    Parameters
    ----------
    layout : NetworkLayout
    least, largest : float
        Smallest and largest size of a cell, in points. If ``least`` is small enough, the figure has the width of a
        column (`PictureStyle`), and is at most 8 inches high. If the style has a shape, the figure has this shape, and
        is larger if the smallest cell needs a larger figure.
    clear : float
        Extent of the drawing beyond the positions of nodes and switches, in points.
    words : sequence of str
        Caption: lines of text below the legend. Long lines are wrapped. In the styles ``paper`` and ``slides`` neither
        the caption nor the title is drawn.
    named : bool
        Draw the names of rows, columns and planes.
    legend : sequence of Mark
    title : str
        Title of the legend.
    room : float
        Space between network and legend, in inches.
    rows : sequence of mapping
        Data of the figure.

    Raises
    ------
    WormcastError
        The user has chosen a width that is too small.

    Attributes
    ----------
    figure : Figure
    axes : Axes
        Axes of the whole sheet, in cells.
    cell : float
        Size of a cell in points.
    width, height : float
        Size of the sheet in inches.
    foot : float
        Distance of the space between network and legend from the bottom of the sheet, in inches.
    """

    def __init__(self, layout: NetworkLayout, *, least: float, largest: float, clear: float, words: Sequence[str],
                 named: bool = True, legend: Sequence[Mark] = (), title: str = "", room: float = 0.0,
                 rows: Sequence[Mapping[str, Any]] = ()):
        # matplotlib is imported here: loading it takes half a second, and other commands do not need it
        import matplotlib

        columns, lines_down = layout.extent
        left = right = above = clear + BESIDE
        if named:
            names = [text_width(name.text) for name in layout.names if name.side == "left"]
            left += BESIDE + max(names, default=0)
            left += OUTER if any(name.side == "outer" for name in layout.names) else 0
            above += style().text + BESIDE
        largest = min(largest, LARGEST_NODES) if layout.boxes.any() else largest
        largest *= max(1.0, (style().fixed or (style().column if style().shape else 0.0)) / FULL)
        caption = [*filter(None, [title]), *words]
        if style().caption_beside:
            title, words = "", ()
        legend = [(style().label(text), options) for text, options in legend]
        needed = (left + right + columns * least) / POINTS
        if style().shape is not None:
            _, high = _legend_size(legend, title, max(needed, style().column))
            around = above + clear + BESIDE + (MARGIN + high + room) * POINTS
            needed = max(needed, style().width_for((around + lines_down * least) / POINTS))
        self.width = _width(needed)
        fitting = (self.width * POINTS - left - right) / columns if columns else largest
        cell = max(least, min(largest, fitting))
        if self.width > WIDTHS["ieee-two"]:
            large = (f"letters have {style().small:g} points at the width of this picture, "
                     f"{self.width * MILLIMETRES:.0f} millimetres")
            caption.append(large)
            words = words and [*words, large]
        lines = wrapped(words, self.width - 2 * MARGIN)
        beside, high = _legend_size(legend, title, self.width)
        words_end = MARGIN + style().line * len(lines)
        self.foot = words_end + high
        below = (self.foot + room) * POINTS + clear + BESIDE
        highest = style().highest(self.width)
        fitting = (highest * POINTS - above - below) / lines_down if lines_down else largest
        cell = max(least, min(cell, fitting))
        self.height = (above + lines_down * cell + below) / POINTS
        if style().shape is not None:
            above += (highest - self.height) * POINTS / 2
            self.height = highest

        self.cell = cell
        with matplotlib.rc_context(settings()):
            self.figure = blank_figure(self.width, self.height)
            put_beside(self.figure, caption, rows)
            self.axes = self.figure.add_axes((0, 0, 1, 1))
            (x, y), _ = layout.corners.tolist()
            x -= (left + (self.width * POINTS - left - right - columns * cell) / 2) / cell
            y -= above / cell
            self.axes.set(xlim=(x, x + self.width * POINTS / cell), ylim=(y + self.height * POINTS / cell, y),
                          aspect="equal")
            self.axes.axis("off")
            for number, line in enumerate(lines, 1):
                self.figure.text(0.5, (words_end - style().line * (number - 0.2)) / self.height, line, ha="center",
                                 va="baseline")
            if legend or title:
                self._legend(legend, title, beside, words_end + 0.04)
            if named:
                self._names(layout, clear + BESIDE)

    def cells(self, points: float) -> float:
        """Convert points to cells."""
        return points / self.cell

    def _names(self, layout: NetworkLayout, distance: float) -> None:
        """Write the names of rows, columns and planes, at least ``distance`` points from their positions."""
        places = {"above": ((0, distance), "center", "bottom"), "left": ((-distance, 0), "right", "center_baseline"),
                  "outer": ((-distance - OUTER, 0), "right", "center_baseline")}
        for name in layout.names:
            offset, across, down = places[name.side]
            self.axes.annotate(name.text, name.at, offset, textcoords="offset points", ha=across, va=down, color=WORDS)

    def _legend(self, legend: Sequence[Mark], title: str, beside: int, bottom: float) -> None:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], **{"linewidth": 0, **dict(options)}, label=text) for text, options in legend]
        self.figure.legend(
            handles=handles, title=title or None, ncols=beside, loc="lower center", borderpad=0,
            bbox_to_anchor=(0.5, bottom / self.height), borderaxespad=0, labelspacing=0.4, title_fontsize=style().text,
            **LEGEND,
        )


def _width(needed: float) -> float:
    """Return the width of a figure in inches: of one column, or in a paper of two columns, if this is at least
    ``needed``; else ``needed``."""
    style().require_width(needed)
    widths = [style().column, style().page] if style().caption_beside else [style().column]
    return next((width for width in widths if needed <= width), needed)


def _legend_size(legend: Sequence[Mark], title: str, width: float) -> tuple[int, float]:
    """Return the number of columns of the legend, and the height of the legend and the space below it, in inches."""
    rows = math.ceil(len(legend) / legend_columns([text for text, _ in legend], width - 2 * MARGIN))
    beside = math.ceil(len(legend) / max(1, rows))
    rows += bool(title)
    return beside, rows * (style().line + 0.025) + 0.08 if rows else 0.0
