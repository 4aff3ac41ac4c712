"""Space-time diagram: virtual channels down, cycles across, a colour for each worm."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from ..wording import count
from .history import History
from .marks import Scale, draw_marks, legend_marks, text_width
from .rows import Row
from .telling import describe, describe_deadlock, describe_worm
from .worms import colours_of, shown_worms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_spacetime", "require_drawable"]

FORMATS = ("svg", "png")
NARROW, WIDE = 3.4, 7.0  # inches: one column of a paper, and two
NARROW_CYCLES, NARROW_ROWS = 200, 45
MOST_ROWS = 800
PAGE = 8.0  # inches: what rows should fit into, if they need not be lower than the least
LEAST_ROW, LARGEST_ROW = 0.07, 0.13
LISTED = 16  # worms told below; more would be a table of their own

MARGIN = 0.06
TICKS = 0.3  # for the axis
LEGEND = 0.14
LINE = 0.095  # of the caption
LETTERS = 24  # in an inch of it
FONT = 5.5
LANE = 0.09  # of an arrow of the deadlock, beside the bars
GAP = 0.7  # rows, before the consumption channels
WORDS, GRID = "#404040", "#e2e2e2"

SETTINGS: dict[Any, Any] = {
    "font.size": FONT, "font.family": "DejaVu Sans", "svg.hashsalt": "wormcast", "hatch.linewidth": 0.45,
    "axes.linewidth": 0.5, "xtick.major.width": 0.5, "xtick.major.size": 2, "xtick.major.pad": 1.5,
}


def require_drawable(rows: Sequence[Row], file: Path) -> None:
    """Refuse what cannot be drawn.

    Raises
    ------
    WormcastError
        The file's ending says neither SVG nor PNG, or there is nothing to draw, or too much.
    """
    if file.suffix[1:] not in FORMATS:
        raise WormcastError(f"plot: {file} is given, allowed endings are {', '.join('.' + one for one in FORMATS)}")
    if not 1 <= len(rows) <= MOST_ROWS:
        raise WormcastError(f"plot: {count(len(rows), 'virtual channel')} would be drawn, allowed are 1 to "
                            f"{MOST_ROWS}; --window, --worms and --links choose")


def draw_spacetime(history: History, rows: Sequence[Row], file: Path, form: str) -> None:
    """Draw which worm had which virtual channel when, one column of a paper wide, or two if it takes them.

    A bar is full where a flit is on the link, and hatched where none is; a line below it says that the worm's header
    stands behind this link and asks in vain. A triangle marks the tail on a consumption channel. At the end of a
    deadlock arrows lead from each header to the virtual channel that it asks for. The same history gives the same
    file.

    Parameters
    ----------
    rows : sequence of Row
        From top to bottom.
    file : Path
        To write; its ending does not matter.
    form : "svg" or "png"
    """
    # takes half a second to load, which every other command would wait for
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cycles = history.end - history.first
    width = NARROW if cycles <= NARROW_CYCLES and len(rows) <= NARROW_ROWS else WIDE
    pitch = min(LARGEST_ROW, max(LEAST_ROW, PAGE / len(rows)))
    with matplotlib.rc_context(SETTINGS):
        size = min(FONT, 0.85 * 72 * pitch)
        left = MARGIN + 0.05 + max(text_width(row.label, size) for row in rows) / 72
        right = 0.1 + LANE * (len(history.deadlock["cycle"]) if history.deadlock else 0)
        worms = shown_worms(history)
        listed = [(worm, describe_worm(history, worm)) for worm in worms] if len(worms) <= LISTED else []
        longest = max((text_width(text, FONT) for _, text in listed), default=0)
        columns = max(1, int((width - 2 * MARGIN) / (0.22 + longest / 72)))
        told = [*describe(history), *describe_deadlock(history)]
        lines = [line for text in told for line in textwrap.wrap(text, int(LETTERS * width))]
        at = _heights(history, rows)
        tall = max(at.values()) + 1
        twice = len(rows) > NARROW_ROWS
        above = TICKS if twice else MARGIN
        listing = 1.15 * LINE * -(-len(listed) // columns)
        below = TICKS + LEGEND + listing + LINE * len(lines) + 2 * MARGIN
        height = above + pitch * tall + below

        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((left / width, below / height, 1 - (left + right) / width, pitch * tall / height))
        axes.set(xlim=(history.first - 0.5, history.end - 0.5), ylim=(tall - 0.5, -0.5), xlabel="cycle")
        _frame(axes, [(at[row.link, row.vc], row.label) for row in rows], size, twice)
        colours = colours_of(history)
        draw_marks(axes, history, Scale(at, pitch * 72, (width - left - right) * 72 / cycles, FONT, LANE * 72, colours))
        figure.legend(handles=legend_marks(history), loc="upper center", bbox_to_anchor=(0.5, (below - TICKS) / height),
                      ncols=5, frameon=False, borderaxespad=0, borderpad=0, handlelength=1.4, handletextpad=0.4,
                      columnspacing=1.1)
        _list(figure, [(colours[worm], text) for worm, text in listed], columns, below - TICKS - LEGEND)
        figure.text(MARGIN / width, MARGIN / height, "\n".join(lines), ha="left", va="bottom", linespacing=1.2,
                    color=WORDS)
        figure.savefig(file, format=form, dpi=300, metadata={"Date": None} if form == "svg" else None)


def _heights(history: History, rows: Sequence[Row]) -> dict[tuple[int, int], float]:
    """Middle of each row, in rows from the top."""
    first = next((index for index, row in enumerate(rows) if history.links[row.link].kind == "consumption"), 0)
    return {(row.link, row.vc): index + (GAP if first and index >= first else 0) for index, row in enumerate(rows)}


def _frame(axes: "Axes", rows: Sequence[tuple[float, str]], size: float, twice: bool) -> None:
    """Draw the axis, below or twice, and the rows with their labels."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.labelpad = 1
    axes.xaxis.label.set_color(WORDS)
    axes.tick_params(colors=WORDS, top=twice, labeltop=twice)
    axes.grid(axis="x", color=GRID, linewidth=0.4)
    axes.set_axisbelow(True)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(twice and side == "top")
    middles = [middle for middle, _ in rows]
    axes.set_yticks(middles, [label for _, label in rows])
    axes.tick_params(axis="y", length=0, pad=2, labelsize=size)
    axes.hlines(middles, *axes.get_xlim(), color=GRID, linewidth=0.4, zorder=0.5)


def _list(figure: "Figure", worms: Sequence[tuple[str, str]], columns: int, top: float) -> None:
    """List worms, colour and text of each, from ``top`` inches above the lower edge down."""
    width, height = figure.get_size_inches()
    for index, (colour, text) in enumerate(worms):
        row, column = divmod(index, columns)
        x, y = MARGIN + column * (width - 2 * MARGIN) / columns, top - 1.15 * LINE * (row + 1)
        for ahead, words, shade in ((0, "\N{BLACK SQUARE}", colour), (0.1, text, WORDS)):
            figure.text((x + ahead) / width, y / height, words, ha="left", va="baseline", color=shade)
