"""Pictures of a mesh: a cycle of links and consumption channels in it, one column of a paper wide, or as it takes."""

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
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
LEAST_CELL = 0.175  # what is drawn at a node needs it: sixteen in a column of a paper
LEGEND = 0.32
LINE = 0.1  # of the caption
LETTERS = 20  # in an inch of it

HELD = "#b2182b"  # dark in grey too
CHANNEL = "#2166ac"
PLAIN = "#c0c0c0"
WORDS = "#404040"
ASIDE, SHORT = 0.1, 0.14  # of an arrow, from the line and from its nodes, in cells
NUMBER = 3.8  # points, of an arrow's number from the arrow
DIAGONAL = 0.31  # of a square, from its node, in cells
CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))  # where no link runs


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


def draw_cycle(topology: Topology, resources: Sequence[str], file: Path, form: str,
               caption: Sequence[str]) -> None:
    """Draw a two-dimensional mesh, and in it the resources of a cycle.

    Links become arrows beside the grid line, consumption channels squares at their node. They are numbered in the order
    given, and listed by their numbers below. Rows and columns are numbered. The same cycle gives the same file.

    Parameters
    ----------
    resources : sequence of str
        ``link:U>V:vc`` and ``cons:NODE:i``, each held by a worm that asks for the next; none draws the mesh alone.
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
    width = max(WIDTH, LEAST_CELL * columns + 2 * MARGIN)
    listed = ", ".join(f"{number}\N{NO-BREAK SPACE}{resource}" for number, resource in enumerate(resources, 1))
    lines = [line for text in (listed, *caption) for line in textwrap.wrap(text, int(LETTERS * width))]
    foot = 0.06 + LINE * len(lines)
    cell = min(LARGEST_CELL, (width - 2 * MARGIN) / columns, (HIGHEST - MARGIN - LEGEND - foot) / rows)
    cell = max(LEAST_CELL, cell)
    height = MARGIN + LEGEND + foot + cell * (rows - 0.4)
    with matplotlib.rc_context({"font.size": 6, "font.family": "DejaVu Sans", "svg.hashsalt": "wormcast"}):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        left, top = (width / cell - columns) / 2 + 0.5, MARGIN / cell
        axes.set(xlim=(-left, width / cell - left), ylim=(height / cell - top, -top), aspect="equal")
        axes.axis("off")
        _mesh(axes, topology, cell)
        kinds = _resources(axes, topology, resources, cell)

        marks = [
            mark
            for kind, mark in (
                ("link", Line2D([], [], color=HELD, linewidth=1.1, marker=">", markersize=3, label="link")),
                ("cons", Line2D([], [], color=CHANNEL, linewidth=0, marker="s", markersize=5,
                                label="consumption channel")),
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


def _at(topology: Topology, node: int) -> tuple[int, int]:
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
    for column in range(0, columns, 1 if columns <= 100 else 2):  # three digits are as wide as the least cell
        axes.annotate(str(column), (column, 0), (0, 12), textcoords="offset points", ha="center", color=WORDS)
    for row in range(rows):
        axes.annotate(str(row), (0, row), (-12, 0), textcoords="offset points", ha="right", va="center", color=WORDS)


def _resources(axes: "Axes", topology: Topology, resources: Sequence[str], cell: float) -> Counter[str]:
    """Draw the resources with their numbers, and count them by kind."""
    kinds: Counter[str] = Counter()
    taken: Counter[tuple[int, int, int, int]] = Counter()  # corners of nodes: by arrows that run there, by squares
    size = min(5, max(3.5, 13 * cell))
    # links first: squares keep out of their way
    for number, resource in sorted(enumerate(resources, 1), key=lambda one: one[1].startswith("cons")):
        kind, first, second = re.split("[:>]", resource)[:3]
        kinds[kind] += 1
        x, y = _at(topology, int(first))
        if kind == "link":
            to_x, to_y = _at(topology, int(second))
            along_x, along_y = to_x - x, to_y - y
            side_x, side_y = -along_y, along_x  # to the right: the two directions lie apart
            taken[x, y, along_x + side_x, along_y + side_y] += 1
            taken[to_x, to_y, side_x - along_x, side_y - along_y] += 1
            from_x, from_y = x + side_x * ASIDE, y + side_y * ASIDE
            axes.annotate(
                "", (from_x + along_x * (1 - SHORT), from_y + along_y * (1 - SHORT)),
                (from_x + along_x * SHORT, from_y + along_y * SHORT), zorder=4,
                arrowprops={"arrowstyle": "-|>,head_width=0.16,head_length=0.32", "color": HELD, "linewidth": 1.1,
                            "shrinkA": 0, "shrinkB": 0},
            )
            axes.annotate(
                str(number), (from_x + along_x / 2, from_y + along_y / 2), (NUMBER * side_x, -NUMBER * side_y),
                textcoords="offset points", ha="center", va="center_baseline", color=HELD, zorder=5, fontsize=size,
            )
        else:
            right, down = min(CORNERS, key=lambda corner: taken[x, y, *corner])
            taken[x, y, right, down] += 1
            at_x, at_y = x + DIAGONAL * right, y + DIAGONAL * down
            axes.plot([x, at_x], [y, at_y], color=CHANNEL, linewidth=0.8, zorder=1.5)
            axes.text(
                at_x, at_y, str(number), ha="center", va="center", color="white", zorder=5, fontsize=size,
                bbox={"boxstyle": "square,pad=0.15", "facecolor": CHANNEL, "edgecolor": "none"},
            )
    return kinds
