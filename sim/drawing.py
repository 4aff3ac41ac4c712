"""Pictures of a mesh: a cycle of links and consumption channels in it, one column of a paper wide."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wormcast.algorithms import Topology, WormcastError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_cycle", "require_drawable"]

FORMATS = ("svg", "png")
WIDTH = 3.4  # inches: one column of a paper
HIGHEST = 8.0
MARGIN = 0.3
LARGEST_CELL = 0.6
LEGEND = 0.32
LINE = 0.1  # of the caption
LETTERS = 68  # in a line of it

HELD = "#b2182b"  # dark in grey too
CHANNEL = "#2166ac"
PLAIN = "#c0c0c0"
WORDS = "#404040"
ASIDE, SHORT = 0.1, 0.14  # of an arrow, from the line and from its nodes, in cells
CORNERS = ((0.31, 0.31), (-0.31, -0.31), (0.31, -0.31), (-0.31, 0.31))  # where no link runs


def require_drawable(topology: Topology, file: Path) -> None:
    """Refuse what cannot be drawn.

    Raises
    ------
    WormcastError
        The topology is no two-dimensional mesh, or the file's ending says neither SVG nor PNG.
    """
    if topology.kind != "mesh" or len(topology.shape) != 2:
        raise WormcastError(f"plot: {topology.name} is given, two-dimensional meshes can be drawn")
    if file.suffix[1:] not in FORMATS:
        raise WormcastError(f"plot: {file} is given, allowed endings are {', '.join('.' + one for one in FORMATS)}")


def draw_cycle(topology: Topology, resources: Iterable[str], file: Path, form: str,
               caption: Sequence[str]) -> None:
    """Draw a two-dimensional mesh, and in it the resources of a cycle.

    Links become arrows beside the grid line, consumption channels squares at their node with their number. Rows and
    columns are numbered. The same cycle gives the same file.

    Parameters
    ----------
    resources : iterable of str
        ``link:U>V:vc`` and ``cons:NODE:i``; none draws the mesh alone.
    file : Path
        To write; its ending does not matter.
    form : "svg" or "png"
    caption : sequence of str
        What is drawn, written below; each on a line of its own.
    """
    # takes half a second to load, which every other command would wait for
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    rows, columns = topology.shape
    lines = [line for text in caption for line in textwrap.wrap(text, LETTERS)]
    foot = 0.06 + LINE * len(lines)
    cell = min(LARGEST_CELL, (WIDTH - 2 * MARGIN) / columns, (HIGHEST - MARGIN - LEGEND - foot) / rows)
    height = MARGIN + LEGEND + foot + cell * (rows - 0.4)
    with matplotlib.rc_context({"font.size": 6, "font.family": "DejaVu Sans", "svg.hashsalt": "wormcast"}):
        figure = Figure(figsize=(WIDTH, height))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        left, top = (WIDTH / cell - columns) / 2 + 0.5, MARGIN / cell
        axes.set(xlim=(-left, WIDTH / cell - left), ylim=(height / cell - top, -top), aspect="equal")
        axes.axis("off")
        _mesh(axes, topology, cell)
        kinds = _resources(axes, topology, resources, cell)

        marks = [
            mark
            for kind, mark in (
                ("link", Line2D([], [], color=HELD, linewidth=1.1, marker=">", markersize=3, label="link")),
                ("cons", Line2D([], [], color=CHANNEL, linewidth=0, marker="s", markersize=5,
                                label="consumption channel (number)")),
            )
            if kinds[kind]
        ]
        if marks:
            figure.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.5, foot / height), ncols=2,
                          frameon=False, borderaxespad=0.5, title_fontsize=6,
                          title=f"a cycle of {kinds.total()}: each is held by a worm that asks for the next")
        else:
            figure.text(0.5, (foot + LINE) / height, "no cycle", ha="center", va="bottom", color=WORDS)
        figure.text(0.5, 0.06 / height, "\n".join(lines), ha="center", va="bottom", linespacing=1.2)
        figure.savefig(file, format=form, dpi=300, metadata={"Date": None} if form == "svg" else None)


def _at(topology: Topology, node: int) -> tuple[float, float]:
    row, column = topology.coordinates[node].tolist()
    return column, row


def _mesh(axes: "Axes", topology: Topology, cell: float) -> None:
    """Draw lines and nodes, and number rows and columns."""
    rows, columns = topology.shape
    for row in range(rows):
        axes.plot([0, columns - 1], [row, row], color=PLAIN, linewidth=0.6, zorder=1)
    for column in range(columns):
        axes.plot([column, column], [0, rows - 1], color=PLAIN, linewidth=0.6, zorder=1)
    down, across = topology.coordinates.T
    area = min(14, 200 * cell**2)
    axes.scatter(across, down, s=area, facecolor="white", edgecolor="#606060", linewidth=0.6, zorder=2)
    every = max(1, -(-max(rows, columns) // 16))
    for column in range(0, columns, every):
        axes.annotate(str(column), (column, 0), (0, 12), textcoords="offset points", ha="center", color=WORDS)
    for row in range(0, rows, every):
        axes.annotate(str(row), (0, row), (-12, 0), textcoords="offset points", ha="right", va="center", color=WORDS)


def _resources(axes: "Axes", topology: Topology, resources: Iterable[str], cell: float) -> Counter[str]:
    """Draw the resources, and count them by kind."""
    kinds: Counter[str] = Counter()
    squares: Counter[int] = Counter()
    for resource in resources:
        kind, first, second = re.split("[:>]", resource)[:3]
        kinds[kind] += 1
        x, y = _at(topology, int(first))
        if kind == "link":
            to_x, to_y = _at(topology, int(second))
            along_x, along_y = to_x - x, to_y - y
            aside_x, aside_y = -along_y * ASIDE, along_x * ASIDE  # to the right: the two directions lie apart
            axes.annotate(
                "", (to_x + aside_x - along_x * SHORT, to_y + aside_y - along_y * SHORT),
                (x + aside_x + along_x * SHORT, y + aside_y + along_y * SHORT), zorder=4,
                arrowprops={"arrowstyle": "-|>,head_width=0.16,head_length=0.32", "color": HELD, "linewidth": 1.1,
                            "shrinkA": 0, "shrinkB": 0},
            )
        else:
            corner_x, corner_y = CORNERS[squares[int(first)] % len(CORNERS)]
            squares[int(first)] += 1
            axes.plot([x, x + corner_x], [y, y + corner_y], color=CHANNEL, linewidth=0.8, zorder=1.5)
            axes.text(
                x + corner_x, y + corner_y, second, ha="center", va="center", color="white", zorder=5,
                fontsize=min(5, max(3.5, 13 * cell)),
                bbox={"boxstyle": "square,pad=0.15", "facecolor": CHANNEL, "edgecolor": "none"},
            )
    return kinds
