"""Gantt chart of a run: the flits that each node sends and receives in each cycle."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wormcast.algorithms import WormcastError

from ..build.configuration import CHANNEL_FIELDS, DMA_FIELDS, HOST_FIELDS, unusual
from ..common.curve_frame import captioned, curve_settings, row_height
from ..common.frame import COLOURS, GRID, LEGEND, MARGIN, POINTS, legend_columns
from ..common.picture_style import style
from ..common.text import count
from ..drawing import scheme_on
from ..engines.bulk import BulkEngine
from ..host import make_host
from ..host.constants import NOW
from .bars import OPEN, Bar, Steps, on_tracks
from .run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "NAME",
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

#: Kinds of bars.
STARTS, SENDS, HEADER = "start-up (processor)", "sends flits", "header on its way"
RECEIVES, RECEIPT = "receives flits", "notes the receipt"
#: For each kind: the third of the node's row in which it is drawn (0: top), and the colour.
BARS = {STARTS: (0, "#303030"), SENDS: (1, COLOURS[0]), HEADER: (2, "#d4d4d4"), RECEIVES: (2, COLOURS[4]),
        RECEIPT: (2, COLOURS[1])}
PAUSE = 0.7  # share of white in the colour of a bar where no flit is sent or received
THIRD = 0.28  # height of a bar, as a share of the row's height; the rest is free between the bars of neighbours
GAP = 0.3  # points, between bars
BETWEEN = "#b0b0b0"  # lines between rows, darker than the grid
SHARE = 0.08  # largest width of such a line, as a share of the row's height

#: Options that the caption names if they do not have their defaults.
SHOWN = (*HOST_FIELDS, *DMA_FIELDS, "t_ns", "t_nr", *CHANNEL_FIELDS)

#: Hatch of bars whose activity does not end in the run.
UNENDED = "//////"

#: Largest number of cycles of a run in which pauses between flits are drawn. In a longer run they are too short to see.
MOST_PAUSED_CYCLES = 50_000


def gantt_figure(result: Run) -> "Figure":
    """Draw a run with one row per node, and cycles from left to right.

    A node's row has three parts. The top part of a row shows the processor's work before a worm is posted, the middle
    part the flits that the host hands to its interface. A bar is pale where the host hands or receives no flit. The
    bottom part of a row shows each reception as three bars. The first bar of a reception begins when the sender sends
    the worm's first flit, and ends when the node receives the first payload flit. The second bar of a reception ends at
    the last payload flit, the third one when the host notes the receipt. Rows are in the order in which nodes have
    received their first message; nodes that receive none, for example the source, are ordered by their first start-up.
    Nodes that neither send nor receive have no row.
    """
    import matplotlib
    from matplotlib.patches import Patch

    bars = bars_of(result)
    nodes, end = order_of(bars), end_of(result)
    require_rows(nodes, result)
    place = {node: row for row, node in enumerate(nodes)}
    with matplotlib.rc_context(curve_settings()):
        handles = [Patch(label=style().label(what), facecolor=colour) for what, (_, colour) in BARS.items()
                   if any(bar.kind == what and bar.begin != bar.end for bar in bars)]
        if pale := [BARS[bar.kind][1] for bar in bars if bar.flits and bar.end != OPEN]:
            handles.append(Patch(label="no flit", facecolor=_pale(pale[0])))
        if result.outcome != "delivered":
            handles.append(Patch(label="does not end", facecolor="white", edgecolor="black", hatch=UNENDED))
        down, columns = legend_rows([str(one.get_label()) for one in handles])
        least, most, together = ROWS
        height = row_height(len(nodes), (least, most * max(bar.tracks for bar in bars), together), AXIS, down)
        figure = captioned(style().page, AXIS + height * len(nodes), caption_of(result, SHOWN), down,
                           _rows(result, bars))
        axes = figure.subplots()
        for bar in bars:
            _draw(axes, bar, place[bar.node], end)
        step = max(1, int(np.ceil(NAME * style().small / POINTS / height)))
        axes.set_yticks(range(0, len(nodes), step), [result.network.topology.node_name(node) for node in nodes[::step]],
                        fontsize=style().small)
        axes.set(xlim=(0, end), ylim=(len(nodes) - 0.5, -0.5), xlabel="cycle", ylabel="node")
        divide_rows(axes, len(nodes), height, first=-0.5)
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, **LEGEND)
    return figure


def _draw(axes: "Axes", bar: Bar, row: int, last: int) -> None:
    """Draw a bar; pale where it has no flit, and hatched if its activity does not end."""
    third, colour = BARS[bar.kind]
    rows = row + (third - 1.5) * THIRD + bar.track * THIRD / bar.tracks, THIRD / bar.tracks
    end = last if bar.end == OPEN else bar.end
    if end <= bar.begin:
        return
    whole = [(bar.begin, end - bar.begin)]
    if bar.end == OPEN:
        axes.broken_barh(whole, rows, facecolor="white", edgecolor=colour, linewidth=GAP, hatch=UNENDED)
    else:
        axes.broken_barh(whole, rows, facecolor=_pale(colour) if bar.flits else colour, edgecolor="white",
                         linewidth=GAP)
    axes.broken_barh([(begin, min(stop, end) - begin) for begin, stop in bar.flits if begin < end], rows,
                     facecolor=colour, linewidth=0)


def _pale(colour: str) -> tuple[float, float, float]:
    """Return the colour of a bar where no flit is sent or received."""
    from matplotlib.colors import to_rgb

    red, green, blue = (part + (1 - part) * PAUSE for part in to_rgb(colour))
    return red, green, blue


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


def _rows(result: Run, bars: Sequence[Bar]) -> list[dict[str, Any]]:
    """Return a row for each bar: node, activity, first cycle and the cycle after the last; no end if the activity does
    not end in the run."""
    return [{"node": result.network.topology.node_name(bar.node), "activity": bar.kind, "begin": bar.begin,
             "end": None if bar.end == OPEN else bar.end} for bar in bars]


def require_rows(nodes: Sequence[int], result: Run) -> None:
    """Refuse a run that ended before any worm was posted."""
    if not nodes:
        raise WormcastError(f"plot: no worm is posted within the {count(result.cycles, 'cycle')} of this run. "
                            "Needed: a longer --timeout.")


def bars_of(result: Run) -> list[Bar]:
    """Return the bars of a run, in the order of `BARS`. Receptions that overlap at a node are on different tracks.

    If a host pauses between two flits that it sends or receives, the cycles with flits are measured in a second,
    identical run.
    """
    found = on_tracks(_steps(result), {})
    return sorted(found, key=lambda bar: ([*BARS].index(bar.kind), bar.node, bar.begin, bar.track))


def _steps(result: Run) -> Iterator[Steps]:
    sent, received = _flits(result)
    for number, worm in enumerate(result.host.worms):
        node = int(worm["source"])
        if worm["posted"] >= 0:
            yield [Bar(STARTS, node, int(worm["posted"] - worm["cost"]), int(worm["posted"]))]
        yield [Bar(SENDS, node, int(worm["injected"]), int(worm["handed"]), flits=sent(number))]
        for place in range(worm["delivery"], worm["delivery_end"]):
            delivery = result.host.deliveries[place]
            to, head, tail = (int(delivery[name]) for name in ("node", "head", "tail"))
            yield [Bar(HEADER, to, int(worm["injected"]), head), Bar(RECEIVES, to, head, tail, flits=received(place)),
                   Bar(RECEIPT, to, tail, int(delivery["received"]))]


Flits = Callable[[int], tuple[tuple[int, int], ...]]


def _flits(result: Run) -> tuple[Flits, Flits]:
    """Return two functions that return cycles with flits as in `Bar.flits`: of a worm at its source, and of a delivery.

    Both functions return an empty tuple if the flits have no pause, and in runs of more than 50000 cycles.
    """
    worms, deliveries = result.host.worms, result.host.deliveries
    length = worms["length"][deliveries["worm"]]
    paused = [_paused(worms["injected"], worms["handed"], worms["headers"] + worms["length"]),
              _paused(deliveries["head"], deliveries["tail"], length)]
    cycles: list[dict[int, list[int]]] = [{}, {}]
    if result.cycles <= MOST_PAUSED_CYCLES and any(one.any() for one in paused):
        host = make_host(result.network, result.messages, result.worms, stall=result.stall, seed=result.seed)
        engine = BulkEngine(result.network, host)
        for _ in range(result.cycles):
            now = int(host.counters[NOW])
            begun, sent, due = host.streams["worms"].copy(), host.streams["sent"].copy(), host.deliveries["due"].copy()
            engine.run(1, beyond=True)
            sending = (host.streams["worms"] != begun) | (host.streams["sent"] != sent)
            for number, seen in zip((host.streams["before"][sending], np.flatnonzero(host.deliveries["due"] != due)),
                                    cycles, strict=True):
                for each in number.tolist():
                    seen.setdefault(each, []).append(now)

    def of(paused: np.ndarray, cycles: dict[int, list[int]]) -> Flits:
        return lambda number: _runs(cycles[number]) if paused[number] and number in cycles else ()

    return of(paused[0], cycles[0]), of(paused[1], cycles[1])


def _paused(first: np.ndarray, last: np.ndarray, flits: np.ndarray) -> np.ndarray:
    """Return whether flits from cycle ``first`` to cycle ``last`` have pauses, or, if ``last`` is -1, may have them."""
    return (first >= 0) & ((last < 0) | (last - first + 1 > flits))


def _runs(cycles: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the first cycle, and the cycle after the last one, of each run of consecutive cycles."""
    parts = np.split(np.array(cycles), np.flatnonzero(np.diff(cycles) > 1) + 1)
    return tuple((int(part[0]), int(part[-1]) + 1) for part in parts)


def end_of(result: Run) -> int:
    """Return the last cycle of the axis: the end of the run if all messages are delivered, otherwise a cycle
    soon after the run's last flit or receipt."""
    last = max(int(result.host.worms["touched"].max()), int(result.host.deliveries["received"].max()), 0)
    return result.cycles if result.outcome == "delivered" else min(result.cycles, last + max(8, last // 8))


def order_of(bars: Sequence[Bar]) -> list[int]:
    """Return the nodes in the order in which they have received their first message.

    A node that receives no message, for example the source, is ordered by the cycle of its first start-up. Nodes that
    neither start nor receive a worm within the run come last.
    """
    begins: dict[int, int] = {}
    for kind in HEADER, SENDS, STARTS, RECEIVES:
        first: dict[int, int] = {}
        for bar in bars:
            at = bar.end if kind in (HEADER, RECEIVES) else bar.begin
            if bar.kind == kind:
                first[bar.node] = min(at, first.get(bar.node, at))
        begins |= {node: at for node, at in first.items() if at != OPEN}
    waiting = {bar.node for bar in bars} - begins.keys()
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
