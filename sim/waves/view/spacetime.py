"""Space-time diagram: virtual channels down, cycles across, a colour for each worm."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError

from ...common.figure_file import require_picture
from ...common.frame import (
    GRID,
    MARGIN,
    POINTS,
    WORDS,
    blank_figure,
    put_beside,
    settings,
    text_width,
    wrapped,
)
from ...common.picture_style import style
from ...common.text import count
from .chunk_marks import Lane, chunk_legend, draw_chunks, lane_label
from .descriptions import describe, describe_deadlock, describe_worm
from .history import History
from .marks import Scale, draw_marks, legend_marks
from .rows import BEHIND, ChannelRow
from .worm_choice import colours_of, shown_worms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["require_drawable", "spacetime_figure"]

NARROW_CYCLES, NARROW_ROWS = 200, 45
NARROWEST = 2.6  # least width in inches of a diagram beside others
TICK = 22  # least distance of ticks on the cycle axis in points
MOST_ROWS = 800
LEAST_ROW, LARGEST_ROW = 0.07, 0.13  # inches
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ENTRY = 2.7  # width of a legend's entry without its text, in units of the font size
SHARE = 0.85  # largest font size of a row's label, as a share of the height of a row
GROWTH = 2.0  # largest factor of the height of rows in a style with a shape
LISTED = 16  # largest number of worms in the list below the diagram; with more worms there is no list

# inches, with letters of 6 points
TICKS = 0.3  # for the axis
LEGEND = 0.14

TRACK = 0.09  # width beside the bars for each arrow of the deadlock, in inches
GAP = 0.7  # empty space above the consumption channels, and above lines of deep switches, in heights of a row


def require_drawable(rows: Sequence[ChannelRow], file: Path, lanes: Sequence[Lane] = ()) -> None:
    """Refuse a file name without the ending of a picture, an empty diagram, and a diagram with too many rows."""
    require_picture(file)
    if not 1 <= len(rows) <= MOST_ROWS:
        raise WormcastError(f"plot: a diagram with {count(len(rows), 'row')} of virtual channels is not valid. "
                            f"Allowed: 1 to {MOST_ROWS} rows. Select virtual channels with --window, --worms and "
                            "--links.")
    if len(rows) + len(lanes) > MOST_ROWS:
        raise WormcastError(f"plot: a diagram with {count(len(rows), 'row')} of virtual channels and "
                            f"{count(len(lanes), 'line')} of buffers is not valid. Allowed: {MOST_ROWS} rows and lines "
                            "in total. Select channels and buffers with --window, --links and --buffers.")


def spacetime_figure(drawn: Sequence[tuple[History, Sequence[ChannelRow]]], *,
                     lanes: Sequence[Sequence[Lane]] = ()) -> "Figure":
    """Draw space-time diagrams side by side, each one column of a paper wide, or two columns if it is large.

    Diagrams of runs in one network share their axes, the rows and the cycles, and have titles: the hardware in which
    they differ, and whether the run ends in a deadlock. In the styles ``paper`` and ``slides`` all diagrams together
    are one picture of the style's width. If the style has a shape, the picture has this shape, and is larger if its
    rows need a larger picture.

    A bar shows a worm that holds a virtual channel: filled in cycles with a flit of the worm on this channel, pale in
    other cycles, and hatched where a pale part is wide enough. A line below a bar shows that a header is at the end of
    this channel and the header's request is not granted. A triangle marks the delivery of a worm at a destination
    (`History.deliveries`). If the history ends in a deadlock, arrows at its end lead from each header to the virtual
    channel that the header requests. Equal histories produce equal files.

    Parameters
    ----------
    drawn : sequence of (History, sequence of ChannelRow)
        Histories from left to right, each with its rows from top to bottom.
    lanes : sequence of sequence of Lane, optional
        For each history, the buffer rows of deep switches, and the outputs that read such rows, to draw below the
        virtual channels.
    """
    # matplotlib is imported here: loading it takes half a second, and other commands do not need it
    import matplotlib

    with matplotlib.rc_context(settings()):
        shared = _share(drawn)
        titles = _titles([history for history, _ in drawn]) if len(drawn) > 1 else [""]
        span = (min(history.first for history, _ in drawn), max(history.end for history, _ in drawn))

        def sized(page: float) -> tuple[list[_Diagram], list[float], bool, float, float]:
            """Return the diagrams, their widths, whether they are stacked, and width and height of the picture."""
            widths = _widths(shared, lanes, page)
            diagrams = [_Diagram(*one, below, wide, title, span if shared is not drawn else (one[0].first, one[0].end))
                        for one, below, wide, title in zip(shared, lanes or [()] * len(drawn), widths, titles,
                                                           strict=True)]
            for one in diagrams if shared is not drawn else ():
                one.right = max(other.right for other in diagrams)
            stacked = sum(widths) > (style().fixed or math.inf) + 1e-9
            width, height = ((max(widths), sum(one.height for one in diagrams)) if stacked else
                             (sum(widths), max(one.height for one in diagrams)))
            return diagrams, widths, stacked, width, height

        diagrams, widths, stacked, width, height = sized(style().page)
        if style().shape is not None:
            if height > style().highest(width):
                needed = style().width_for(height)
                style().require_width(needed)
                diagrams, widths, stacked, width, height = sized(needed)
            height = style().highest(width)
            for one in diagrams:
                one.grow(height / len(diagrams) if stacked else height)
        figure = blank_figure(width, height)
        parts: Sequence[Any] = [figure]
        if stacked:
            ratios = [one.height for one in diagrams]
            parts = list(figure.subfigures(len(diagrams), 1, squeeze=False, hspace=0, height_ratios=ratios)[:, 0])
        elif len(diagrams) > 1:
            parts = list(figure.subfigures(1, len(diagrams), squeeze=False, wspace=0, width_ratios=widths)[0])
        for part, diagram in zip(parts, diagrams, strict=True):
            diagram.draw(part, diagram.height if stacked else height)
        put_beside(figure, [line for diagram in diagrams for line in diagram.caption],
                   [row for title, (history, _) in zip(titles, drawn, strict=True) for row in _rows(history, title)])
    return figure


def _share(drawn: Sequence[tuple[History, Sequence[ChannelRow]]]) -> Sequence[tuple[History, Sequence[ChannelRow]]]:
    """Give each of several histories of one network the rows of all of them; leave histories of different networks.

    The rows of a channel that only some of the histories show are empty, without a name, in the other histories'
    diagrams.
    """
    names = {(history.topology.name, tuple(link.name for link in history.links)) for history, _ in drawn}
    if len(drawn) == 1 or len(names) > 1:
        return drawn
    every = list(dict.fromkeys(row for _, rows in drawn for row in rows))
    order = list(dict.fromkeys(row.link for row in every))
    kinds = drawn[0][0].links
    every.sort(key=lambda row: (BEHIND.get(kinds[row.link].kind, 0), order.index(row.link), row.vc))
    return [(history, every) for history, _ in drawn]


def _widths(drawn: Sequence[tuple[History, Sequence[ChannelRow]]], lanes: Sequence[Sequence[Lane]],
            page: float) -> list[float]:
    """Return the width of each diagram in inches: in a narrow picture, diagrams are as wide as the picture, one below
    the other. ``page``: width of a wide picture."""
    if style().shape is not None or (len(drawn) > 1 and (style().caption_beside or style().fixed is not None)):
        beside = page / len(drawn)
        return [beside if beside >= NARROWEST else page] * len(drawn)
    return [style().column if history.end - history.first <= NARROW_CYCLES and len(rows) + len(below) <= NARROW_ROWS
            else page for (history, rows), below in zip(drawn, lanes or [()] * len(drawn), strict=True)]


def _titles(histories: Sequence[History]) -> list[str]:
    """Return a title for each diagram: the parts of the hardware in which they differ, and ``deadlock``.

    Without such parts and without a deadlock, the title has ``delivered`` if all worms have arrived, else the cycles.
    """
    said = [", ".join(describe(history)[1:]).split(", ") for history in histories]
    common = set(said[0]).intersection(*said)
    found = []
    for number, (parts, history) in enumerate(zip(said, histories, strict=True)):
        words = [part for part in parts if part not in common]
        different = [*filter(None, [", ".join(words)]), *["deadlock"] * (history.deadlock is not None)]
        found.append(f"({LETTERS[number]}) " + ": ".join(different or [_ended(history)]))
    return found


def _ended(history: History) -> str:
    arrived = {(hold.worm, history.links[hold.link].target) for hold in history.deliveries}
    if all((number, node) in arrived for number, worm in history.worms.items() for node in worm.destinations):
        return "delivered"
    return f"cycles {history.first} to {history.end - 1}"


def _rows(history: History, title: str) -> list[dict[str, Any]]:
    """Return a row for each time that a worm holds a virtual channel: the channel, and the first and last cycle."""
    return [{**({"diagram": title} if title else {}), "channel": history.channel_name(hold.link, hold.vc),
             "worm": hold.worm, "first": hold.first, "last": hold.last} for hold in history.holds]


class _Diagram:
    """Diagram of one history.

    Attributes
    ----------
    width, height : float
        Size in inches.
    right : float
        Width of the space beside the bars for a deadlock's arrows, in inches.
    caption : list of str
        The diagram in words.
    """

    def __init__(self, history: History, rows: Sequence[ChannelRow], lanes: Sequence[Lane], width: float, title: str,
                 span: tuple[int, int]):
        self.history, self.rows, self.width, self._span = history, rows, width, span
        self._title = wrapped([title], width - 2 * MARGIN) if title else []
        lines = len(rows) + len(lanes)
        least = style().least(0.0) / (SHARE * POINTS)
        self._pitch = max(least, min(LARGEST_ROW, max(LEAST_ROW, style().highest(width) / lines)))
        self._size = min(style().text, SHARE * POINTS * self._pitch)
        labels = [*(row.label for row in rows), *map(lane_label, lanes)]
        self._left = MARGIN + 0.05 + max(text_width(label, self._size) for label in labels) / POINTS
        self.right = 0.1 + TRACK * (len(history.deadlock["cycle"]) if history.deadlock else 0)
        self._colours = colours_of(history)
        worms = shown_worms(history)
        self._listed = [(self._colours[worm], describe_worm(history, worm)) for worm in worms] \
            if len(worms) <= LISTED else []
        longest = max((text_width(text) for _, text in self._listed), default=0)
        self._columns = max(1, int((self.width - 2 * MARGIN) / (0.12 + style().line + longest / POINTS)))
        sentences = [*describe(history), *describe_deadlock(history)]
        self.caption = [*filter(None, [title]), *sentences, *(text for _, text in self._listed)]
        if style().caption_beside:
            self._listed, sentences = [], []
        self._lines = wrapped(sentences, self.width - 2 * MARGIN)
        self._at = _heights(history, rows)
        self._lanes = {lane: max(self._at.values()) + 1 + GAP + place for place, lane in enumerate(lanes)}
        self._tall = max([*self._at.values(), *self._lanes.values()]) + 1
        self._twice = lines > NARROW_ROWS
        listing = 1.15 * style().line * -(-len(self._listed) // self._columns)
        marks = [str(mark.get_label()) for mark in legend_marks(history, self._cycle)]
        needed = sum(text_width(label) + ENTRY * style().text for label in marks)
        self._across = -(-len(marks) // math.ceil(needed / POINTS / width))
        self._ticks, self._entry = (height * style().text / 6 for height in (TICKS, LEGEND))
        self._legend = self._entry * (-(-len(marks) // self._across) + (1 if lanes else 0))
        self._below = self._ticks + self._legend + listing + style().line * len(self._lines) + 2 * MARGIN
        self._above = (self._ticks if self._twice else MARGIN) + MARGIN * bool(title) + (
            style().line * 1.2 * len(self._title))
        self.height = self._above + self._pitch * self._tall + self._below

    @property
    def _cycle(self) -> float:
        """Width of a cycle in points."""
        return (self.width - self._left - self.right) * POINTS / (self._span[1] - self._span[0])

    def grow(self, height: float) -> None:
        """Make the rows higher, up to `GROWTH` times, until the diagram has a height of ``height`` inches."""
        fitting = (height - self._above - self._below) / self._tall
        self._pitch = max(self._pitch, min(GROWTH * self._pitch, fitting))
        self.height = self._above + self._pitch * self._tall + self._below

    def draw(self, figure: "Figure | SubFigure", height: float) -> None:
        """Draw the diagram at the top of a subfigure with a height of ``height`` inches; in the middle, if the style
        has a shape."""
        history, width, left, right = self.history, self.width, self._left, self.right
        foot = (height - self.height) / (1 if style().shape is None else 2)
        below = foot + self._below
        axes = figure.add_axes((left / width, below / height, 1 - (left + right) / width,
                                self._pitch * self._tall / height))
        if self._title:
            figure.text(0.5, (foot + self.height - MARGIN) / height, "\n".join(self._title), ha="center", va="top",
                        fontsize=style().text)
        axes.set(xlim=(self._span[0] - 0.5, self._span[1] - 0.5), ylim=(self._tall - 0.5, -0.5), xlabel="cycle")
        ticks = max(2, min(8, int((width - left - right) * POINTS / TICK)))
        there = [row for row in self.rows if row.vc < history.links[row.link].vcs]
        _frame(axes, ticks, [*((self._at[row.link, row.vc], row.label) for row in there),
                             *((at, lane_label(lane)) for lane, at in self._lanes.items())], self._size, self._twice)
        scale = Scale(self._at, self._pitch * POINTS, self._cycle, style().text, TRACK * POINTS, self._colours)
        draw_marks(axes, history, scale)
        if self._lanes:
            draw_chunks(axes, history, self._lanes, scale)
            figure.legend(handles=chunk_legend(), loc="upper center",
                          bbox_to_anchor=(0.5, (below - self._ticks - self._entry) / height), ncols=4, frameon=False,
                          borderaxespad=0, borderpad=0, handlelength=1.4, handletextpad=0.4, columnspacing=0.9)
        figure.legend(handles=legend_marks(history, self._cycle), loc="upper center",
                      bbox_to_anchor=(0.5, (below - self._ticks) / height), ncols=self._across, frameon=False,
                      borderaxespad=0, borderpad=0, handlelength=1.4, handletextpad=0.4, columnspacing=0.9)
        for index, (colour, text) in enumerate(self._listed):
            row, column = divmod(index, self._columns)
            x = MARGIN + column * (width - 2 * MARGIN) / self._columns
            y = below - self._ticks - self._legend - 1.15 * style().line * (row + 1)
            for ahead, words, shade in ((0, "\N{BLACK SQUARE}", colour), (style().line, text, WORDS)):
                figure.text((x + ahead) / width, y / height, words, ha="left", va="baseline", color=shade)
        figure.text(MARGIN / width, (foot + MARGIN) / height, "\n".join(self._lines), ha="left", va="bottom",
                    linespacing=1.2, color=WORDS)


def _heights(history: History, rows: Sequence[ChannelRow]) -> dict[tuple[int, int], float]:
    """Return the vertical position of each row's middle below the middle of the first row, in heights of a row."""
    first = next((index for index, row in enumerate(rows) if history.links[row.link].kind == "consumption"), 0)
    return {(row.link, row.vc): index + (GAP if first and index >= first else 0) for index, row in enumerate(rows)}


def _frame(axes: "Axes", ticks: int, rows: Sequence[tuple[float, str]], size: float, twice: bool) -> None:
    """Draw the cycle axis below the diagram, with ``twice`` also above it, and the rows with their labels."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.labelpad = 1
    axes.xaxis.label.set_color(WORDS)
    axes.tick_params(colors=WORDS, top=twice, labeltop=twice, length=2, pad=1.5)
    axes.grid(axis="x", color=GRID, linewidth=0.4)
    axes.set_axisbelow(True)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(twice and side == "top")
    middles = [middle for middle, _ in rows]
    axes.set_yticks(middles, [label for _, label in rows])
    axes.tick_params(axis="y", length=0, pad=2, labelsize=size)
    axes.hlines(middles, *axes.get_xlim(), color=GRID, linewidth=0.4, zorder=0.5)
