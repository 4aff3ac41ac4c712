"""Gantt chart of the hosts and network interfaces in a run, packet by packet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..build.configuration import CHANNEL_FIELDS, DMA_FIELDS, HOST_FIELDS
from ..common.curve_frame import captioned, curve_settings, row_height
from ..common.frame import COLOURS, LEGEND, POINTS, text_width
from ..common.picture_style import style
from .bars import OPEN, Bar
from .gantt import NAME, UNENDED, caption_of, divide_rows, end_of, legend_rows, require_rows
from .interface_bars import (
    COMES_IN,
    HOST_ENDS,
    HOST_STARTS,
    POSTED,
    RECEPTION,
    SENDS,
    STARTS,
    WAITS,
    interface_bars,
)
from .run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

__all__ = ["interfaces_figure"]

#: Limits of the heights of rows in inches, see `row_height`.
ROWS = (0.06, 0.42, 6.8)
#: Width in inches of the space beside the rows.
BESIDE = 0.55
#: AXIS: height in inches above and below the rows, without caption and legend.
#: ENTRIES: greatest number of entries in a row of the legend.
AXIS, ENTRIES = 0.45, 4

#: Parts of a node's row: begin and height of each part, as fractions of the row's height.
HOST, IN, HELD, OUT = (0.06, 0.19), (0.27, 0.27), (0.54, 0.1), (0.66, 0.27)

#: Gap between bars, and least font size, in points; greatest font size as a share of a bar's height.
GAP, LEAST_LETTERS, LETTERS = 0.3, 3.2, 0.8
CAPITALS = 0.73  # height of capitals and digits, in units of the font size
ARROW = "\N{RIGHTWARDS ARROW}"
HATCHED = "#808080"


class Style(NamedTuple):
    """Style of a kind of bars: part of the row, colours, hatch."""

    part: tuple[float, float]
    colour: str
    letters: str = "black"
    hatch: str = ""


STYLES = {
    HOST_STARTS: Style(HOST, "#303030"),
    HOST_ENDS: Style(HOST, COLOURS[1]),
    POSTED: Style(IN, "#d4d4d4"),
    COMES_IN: Style(IN, COLOURS[4]),
    RECEPTION: Style(HELD, COLOURS[2]),
    STARTS: Style(OUT, COLOURS[5]),
    WAITS: Style(OUT, "white", hatch="xxxxxxxx"),
    SENDS: Style(OUT, COLOURS[0], "white"),
}


def interfaces_figure(result: Run) -> "Figure":
    """Draw the bars of `interface_bars` with one row per node, and cycles from left to right.

    A node's row shows from top to bottom the work of its processor, the packets that come into its interface, with
    t_nr, and the packets that go out, with t_ns. Rows are in the order in which the first bars of the nodes begin.
    Nodes without a bar have no row.
    """
    import matplotlib

    bars, end = interface_bars(result), end_of(result)
    nodes = list(dict.fromkeys(bar.node for bar in sorted(bars, key=lambda bar: (bar.begin, bar.node))))
    require_rows(nodes, result)
    row = {node: number for number, node in enumerate(nodes)}
    with matplotlib.rc_context(curve_settings()):
        legend = _legend(bars)
        down, columns = legend_rows([str(one.get_label()) for one in legend], ENTRIES)
        height = row_height(len(nodes), ROWS, AXIS, down)
        letters = _Letters(bars, (style().page - BESIDE) * POINTS / end, height * POINTS)
        figure = captioned(style().page, AXIS + height * len(nodes), _caption(result, letters), down,
                           _rows(result, bars))
        axes = figure.subplots()
        axes.set(xlim=(0, end), ylim=(len(nodes), 0), xlabel="cycle", ylabel="node")
        _name_rows(axes, [result.network.topology.node_name(node) for node in nodes], height)
        for bar in bars:
            _draw(axes, bar, row[bar.node], end)
            letters.write(axes, bar, row[bar.node])
        figure.legend(handles=legend, loc="outside lower center", ncols=columns, **LEGEND)
    return figure


def _rows(result: Run, bars: Sequence[Bar]) -> list[dict[str, Any]]:
    """Return a row for each bar: node, activity, packet, receiver, first cycle and the cycle after the last one."""
    return [{"node": result.network.topology.node_name(bar.node), "activity": bar.kind, "packet": bar.number,
             "to": bar.receiver, "begin": bar.begin, "end": None if bar.end == OPEN else bar.end} for bar in bars]


def _legend(bars: Sequence[Bar]) -> "list[Patch]":
    from matplotlib.patches import Patch

    seen = {bar.kind for bar in bars if bar.end != bar.begin}
    found = [Patch(label=style().label(kind), facecolor=look.colour, hatch=look.hatch, linewidth=GAP,
                   edgecolor=HATCHED if look.hatch else "none") for kind, look in STYLES.items() if kind in seen]
    if any(bar.end == OPEN for bar in bars):
        found.append(Patch(label="does not end", facecolor="white", edgecolor="black", hatch=UNENDED))
    return found


def _name_rows(axes: "Axes", names: Sequence[str], height: float) -> None:
    """Write nodes' names beside their rows, only each n-th if rows are lower than names; draw lines between rows."""
    step = max(1, int(np.ceil(NAME * style().small / POINTS / height)))
    axes.set_yticks(np.arange(0, len(names), step) + 0.5, names[::step], fontsize=style().small)
    axes.tick_params(axis="y", length=0)
    divide_rows(axes, len(names), height, first=0.0)


def _place(bar: Bar) -> tuple[float, float]:
    """Return a bar's distance from the top of its row, and the bar's height, as fractions of the row's height."""
    start, part = STYLES[bar.kind].part
    return start + part * bar.track / bar.tracks, part / bar.tracks


def _draw(axes: "Axes", bar: Bar, row: int, last: int) -> None:
    look, (start, high) = STYLES[bar.kind], _place(bar)
    end, hatch = (last, UNENDED) if bar.end == OPEN else (bar.end, look.hatch)
    edge = "white" if not hatch else HATCHED if look.hatch else look.colour
    if end > bar.begin:
        axes.broken_barh([(bar.begin, end - bar.begin)], (row + start, high), hatch=hatch, edgecolor=edge,
                         facecolor="white" if hatch else look.colour, linewidth=GAP)


class _Letters:
    """Text in bars: the numbers of packets and their receivers, if there is room.

    Receivers are written behind the packets' numbers, or into the t_ns bars in front of the packets: in the place where
    more receivers fit. If the receivers of fewer than half of the sent packets fit, all receivers are omitted.

    Parameters
    ----------
    cycle, row : float
        Width of a cycle and height of a row in points.

    Attributes
    ----------
    receiver : "behind", "in front" or ""
        Place of the receivers: behind the number, or in the t_ns bar in front; empty if omitted.
    """

    def __init__(self, bars: Sequence[Bar], cycle: float, row: float):
        self._cycle, self._row = cycle, row
        sent, started = ([bar for bar in bars if bar.kind == kind and bar.receiver] for kind in (SENDS, STARTS))
        room = {"behind": sum(self._fits(bar, _addressed(bar)) for bar in sent),
                "in front": sum(self._fits(bar, bar.receiver) for bar in started)}
        best = max(room, key=room.__getitem__)
        self.receiver = best if sent and 2 * room[best] >= len(sent) else ""

    def _size(self, bar: Bar) -> float:
        return style().least(min(style().small, LETTERS * _place(bar)[1] * self._row))

    def _fits(self, bar: Bar, text: str) -> bool:
        size = self._size(bar)
        high = CAPITALS * size <= _place(bar)[1] * self._row
        return size >= LEAST_LETTERS and high and text_width(text, size) <= (bar.end - bar.begin) * self._cycle - 1.0

    def _texts(self, bar: Bar) -> list[str]:
        """Return the texts that may be written into a bar, the preferred one first."""
        if bar.kind == STARTS:
            return [bar.receiver] * (self.receiver == "in front")
        return [*[_addressed(bar)] * (self.receiver == "behind" and bar.receiver != ""), bar.number]

    def write(self, axes: "Axes", bar: Bar, row: int) -> None:
        """Write the first of a bar's texts that fits into the bar."""
        start, high = _place(bar)
        for text in self._texts(bar):
            if text and self._fits(bar, text):
                axes.text((bar.begin + bar.end) / 2, row + start + high / 2, text, fontsize=self._size(bar),
                          color=STYLES[bar.kind].letters, ha="center", va="center_baseline")
                return


def _addressed(bar: Bar) -> str:
    return f"{bar.number}{ARROW}{bar.receiver}"


def _caption(result: Run, letters: _Letters) -> list[str]:
    """Return the lines of the caption."""
    one, of = ("1:2", " of message 1") if len(result.messages) > 1 else ("2", "")
    said = {"behind": f"{one}{ARROW}3 is packet 2{of}, sent to node 3",
            "in front": f"{one} is packet 2{of}, in front of it: the node to which it is sent",
            "": f"{one} is packet 2{of}"}
    shown = ("ni", "packet", "receive_queue", "send_queue", "ni_processors", "ni_order", "rows", "places",
             "buffer_kind", *HOST_FIELDS, *DMA_FIELDS, "t_ns", "t_nr", *CHANNEL_FIELDS)
    return [*caption_of(result, shown),
            f"a row from top to bottom: host, packets that come in, packets that go out; {said[letters.receiver]}"]
