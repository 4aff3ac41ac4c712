"""Gantt chart of a run: the flits that each node sends and receives in each cycle."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wormcast.algorithms import WormcastError

from ..build.configuration import CHANNEL_FIELDS, DMA_FIELDS, HOST_FIELDS, unusual
from ..common.curve_frame import captioned, curve_settings, row_height
from ..common.frame import COLOURS, GRID, LEGEND, MARGIN, POINTS, legend_columns
from ..common.picture_style import style
from ..common.text import count
from ..drawing import scheme_on
from .run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "NAME",
    "OPEN",
    "UNENDED",
    "bars_of",
    "caption_of",
    "divide_rows",
    "end_of",
    "gantt_figure",
    "legend_rows",
    "order_of",
    "require_rows",
]

#: Heights in inches: limits of rows, see `row_height`, and of the space above and below the rows, without caption and
#: legend.
ROWS, AXIS = (0.025, 0.18, 6.0), 0.6
#: Height of a node's name beside its row, in units of the font size.
NAME = 1.22

#: For each activity of a node: the third of the node's row in which it is drawn (0: top), and the colour.
BARS = {
    "start-up (processor)": (0, "#303030"),
    "sends flits": (1, COLOURS[0]),
    "header on its way": (2, "#d4d4d4"),
    "receives flits": (2, COLOURS[4]),
    "notes the receipt": (2, COLOURS[1]),
}
THIRD = 0.28  # height of a bar, as a share of the row's height; the rest is free between the bars of neighbours
GAP = 0.3  # points, between bars
BETWEEN = "#b0b0b0"  # lines between rows, darker than the grid
SHARE = 0.08  # largest width of such a line, as a share of the row's height

#: Options that the caption names if they do not have their defaults.
SHOWN = (*HOST_FIELDS, *DMA_FIELDS, "t_ns", "t_nr", *CHANNEL_FIELDS)

#: Number in place of a bar's end if its activity does not end in the run, and the hatch of such bars.
OPEN, UNENDED = -1, "//////"


def gantt_figure(result: Run) -> "Figure":
    """Draw a run with one row per node, and cycles from left to right.

    A node's row has three parts. The top part of a row shows the processor's work before a worm is posted, the middle
    part the flits that the host hands to its interface. The bottom part of a row shows each reception as three bars.
    The first bar of a reception begins when the sender sends the worm's first flit, and ends when the node receives the
    first payload flit. The second bar of a reception ends at the last payload flit, the third one when the host notes
    the receipt. Rows are in the order in which nodes have received their first message; nodes that receive none, for
    example the source, are ordered by their first start-up. Nodes that neither send nor receive have no row.
    """
    import matplotlib
    from matplotlib.patches import Patch

    bars = bars_of(result)
    nodes, end = order_of(bars), end_of(result)
    require_rows(nodes, result)
    place = {node: row for row, node in enumerate(nodes)}
    with matplotlib.rc_context(curve_settings()):
        handles = [Patch(label=style().label(what), facecolor=colour) for what, (_, colour) in BARS.items()
                   if any(begin != last for spans in bars[what].values() for begin, last in spans)]
        if result.outcome != "delivered":
            handles.append(Patch(label="does not end", facecolor="white", edgecolor="black", hatch=UNENDED))
        down, columns = legend_rows([str(one.get_label()) for one in handles])
        height = row_height(len(nodes), ROWS, AXIS, down)
        figure = captioned(style().page, AXIS + height * len(nodes), caption_of(result, SHOWN), down,
                           _rows(result, bars))
        axes = figure.subplots()
        for what, (third, colour) in BARS.items():
            for node in nodes:
                rows = place[node] + (third - 1.5) * THIRD, THIRD
                spans = bars[what].get(node, ())
                axes.broken_barh([(begin, last - begin) for begin, last in spans if last > begin], rows,
                                 facecolor=colour, edgecolor="white", linewidth=GAP)
                axes.broken_barh([(begin, end - begin) for begin, last in spans if last == OPEN], rows,
                                 facecolor="white", edgecolor=colour, linewidth=GAP, hatch=UNENDED)
        step = max(1, int(np.ceil(NAME * style().small / POINTS / height)))
        axes.set_yticks(range(0, len(nodes), step), [result.network.topology.node_name(node) for node in nodes[::step]],
                        fontsize=style().small)
        axes.set(xlim=(0, end), ylim=(len(nodes) - 0.5, -0.5), xlabel="cycle", ylabel="node")
        divide_rows(axes, len(nodes), height, first=-0.5)
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, **LEGEND)
    return figure


def divide_rows(axes: "Axes", rows: int, height: float, *, first: float) -> None:
    """Draw lines between the rows of nodes, and the grid of cycles.

    Parameters
    ----------
    height : float
        Height of a row in inches. Lines between low rows are thin.
    first : float
        Position of the upper end of the first row on the y axis.
    """
    axes.hlines([first + row for row in range(1, rows)], 0, 1, transform=axes.get_yaxis_transform(), color=BETWEEN,
                linewidth=min(0.5, SHARE * height * POINTS), zorder=0.5, gid="rows")
    axes.grid(axis="x", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def legend_rows(labels: Sequence[str], most: int = 99) -> tuple[int, int]:
    """Return the rows and the columns, at most ``most``, of a legend below a chart as wide as a page."""
    fitting = min(most, len(labels), legend_columns(labels, style().page - 2 * MARGIN, style().axes))
    down = -(-len(labels) // max(1, fitting))
    return down, -(-len(labels) // max(1, down))


def _rows(result: Run, bars: dict[str, dict[int, list[tuple[int, int]]]]) -> list[dict[str, Any]]:
    """Return a row for each bar: node, activity, first cycle and the cycle after the last; no end if the activity does
    not end in the run."""
    return [{"node": result.network.topology.node_name(node), "activity": what, "begin": begin,
             "end": None if end == OPEN else end}
            for what, by_node in bars.items() for node, spans in by_node.items() for begin, end in spans]


def require_rows(nodes: Sequence[int], result: Run) -> None:
    """Refuse a run that ended before any worm was posted."""
    if not nodes:
        raise WormcastError(f"plot: no worm is posted within the {count(result.cycles, 'cycle')} of this run. "
                            "Needed: a longer --timeout.")


def bars_of(result: Run) -> dict[str, dict[int, list[tuple[int, int]]]]:
    """Return begin and end of the bars, by kind and node. The end is `OPEN` if the activity does not end in the run."""
    found: dict[str, dict[int, list[tuple[int, int]]]] = {what: {} for what in BARS}

    def add(what: str, node: int, begin: int, end: int) -> None:
        if begin >= 0:
            found[what].setdefault(node, []).append((begin, end))

    for worm in result.host.worms:
        node = int(worm["source"])
        if worm["posted"] >= 0:
            add("start-up (processor)", node, int(worm["posted"] - worm["cost"]), int(worm["posted"]))
        add("sends flits", node, int(worm["injected"]), int(worm["handed"]))
        for delivery in result.host.deliveries[worm["delivery"]:worm["delivery_end"]]:
            to = int(delivery["node"])
            add("header on its way", to, int(worm["injected"]), int(delivery["head"]))
            add("receives flits", to, int(delivery["head"]), int(delivery["tail"]))
            add("notes the receipt", to, int(delivery["tail"]), int(delivery["received"]))
    return found


def end_of(result: Run) -> int:
    """Return the last cycle of the axis: the end of the run if all messages are delivered, otherwise a cycle
    soon after the run's last flit or receipt."""
    last = max(int(result.host.worms["touched"].max()), int(result.host.deliveries["received"].max()), 0)
    return result.cycles if result.outcome == "delivered" else min(result.cycles, last + max(8, last // 8))


def order_of(bars: dict[str, dict[int, list[tuple[int, int]]]]) -> list[int]:
    """Return the nodes in the order in which they have received their first message.

    A node that receives no message, for example the source, is ordered by the cycle of its first start-up. Nodes that
    neither start nor receive a worm within the run come last.
    """
    begins: dict[int, int] = {}
    sides = {"header on its way": 1, "sends flits": 0, "start-up (processor)": 0, "receives flits": 1}
    for what, side in sides.items():
        begins |= {node: min(span[side] for span in spans) for node, spans in bars[what].items()
                   if min(span[side] for span in spans) != OPEN}
    waiting = {node for spans in bars.values() for node in spans} - begins.keys()
    return [*sorted(begins, key=lambda node: (begins[node], node)), *sorted(waiting)]


def caption_of(result: Run, shown: Sequence[str]) -> list[str]:
    """Return the lines of the caption; ``shown``: options that are named if they do not have their defaults."""
    configuration = result.network.configuration
    hardware = (f"{count(configuration.vcs, 'VC')} x {count(configuration.buffer, 'flit')}",
                count(configuration.consumption, "consumption channel"))
    lengths = sorted({message.length for message in result.messages})
    said = f"{lengths[0]} flits" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]} flits"
    what = f"{scheme_on(result.network.scheme, result.network.topology)}: {count(len(result.messages), 'message')}"
    return [f"{what} of {said}, {result.ending}",
            ", ".join([*hardware, *unusual(configuration.to_dict(), shown)])]
