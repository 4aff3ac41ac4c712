"""A picture of a run in time: what each node sends and receives, and when."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wormcast.algorithms import WormcastError

from ..build.configuration import CHANNEL_FIELDS, HOST_FIELDS, unusual
from ..common.curve_frame import CURVES, captioned
from ..common.figure_file import save_figure
from ..common.frame import COLOURS, GRID, LEGEND, PAGE, SMALL
from ..common.text import count
from ..drawing import scheme_on
from .run import Run

__all__ = ["OPEN", "UNENDED", "bars_of", "caption_of", "draw_gantt", "end_of", "order_of",
           "require_rows"]

#: Inches of a node's row: as many as fit a page between these.
LEAST_ROW, MOST_ROW, ROWS = 0.025, 0.18, 6.0
#: Inches that a row's name takes.
NAME = 0.085

#: What a node does, in which third of its row, and how it is drawn.
BARS = {
    "start-up (processor)": (0, "#303030"),
    "sends flits": (1, COLOURS[0]),
    "header on its way": (2, "#d4d4d4"),
    "receives flits": (2, COLOURS[4]),
    "notes the receipt": (2, COLOURS[1]),
}
THIRD = 0.28
GAP = 0.3  # points, between bars

#: Options that are told where they are not the usual ones.
SHOWN = (*HOST_FIELDS, "t_ns", "t_nr", *CHANNEL_FIELDS)

#: The end of a bar of what does not end, and how it is drawn.
OPEN, UNENDED = -1, "//////"


def draw_gantt(result: Run, file: Path, form: str) -> None:
    """Draw a run with nodes downwards and cycles across.

    A node's row has three parts: the processor's work before a worm is posted; flits on their way to its interface; and
    what it receives, from the first flit of the worm at its sender to the first payload flit here, up to the last one,
    and up to the receipt. Nodes are in the order in which they have the message, its source first; those that neither
    send nor receive have no row. The same run gives the same file.

    Parameters
    ----------
    form : "svg" or "png"

    Raises
    ------
    WormcastError
        No worm was posted.
    """
    import matplotlib
    from matplotlib.patches import Patch

    bars = bars_of(result)
    nodes, end = order_of(bars), end_of(result)
    require_rows(nodes, result)
    height = min(MOST_ROW, max(LEAST_ROW, ROWS / len(nodes)))
    place = {node: row for row, node in enumerate(nodes)}
    with matplotlib.rc_context(CURVES):
        figure = captioned(PAGE, 0.6 + height * len(nodes), caption_of(result, SHOWN), 1)
        axes = figure.subplots()
        for what, (third, colour) in BARS.items():
            for node in nodes:
                rows = place[node] + (third - 1.5) * THIRD, THIRD
                spans = bars[what].get(node, ())
                axes.broken_barh([(begin, last - begin) for begin, last in spans if last > begin], rows,
                                 facecolor=colour, edgecolor="white", linewidth=GAP)
                axes.broken_barh([(begin, end - begin) for begin, last in spans if last == OPEN], rows,
                                 facecolor="white", edgecolor=colour, linewidth=GAP, hatch=UNENDED)
        step = max(1, int(np.ceil(NAME / height)))
        axes.set_yticks(range(0, len(nodes), step), [result.network.topology.node_name(node) for node in nodes[::step]],
                        fontsize=SMALL)
        axes.set(xlim=(0, end), ylim=(len(nodes) - 0.4, -0.6), xlabel="cycle", ylabel="node")
        axes.grid(axis="x", color=GRID, linewidth=0.5)
        axes.set_axisbelow(True)
        handles = [Patch(label=what, facecolor=colour) for what, (_, colour) in BARS.items()
                   if any(begin != last for spans in bars[what].values() for begin, last in spans)]
        if result.outcome != "delivered":
            handles.append(Patch(label="does not end", facecolor="white", edgecolor="black", hatch=UNENDED))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), **LEGEND)
        save_figure(figure, file, form)


def require_rows(nodes: Sequence[int], result: Run) -> None:
    """Refuse a run in which no node has done anything.

    Raises
    ------
    WormcastError
        It ended before any worm was posted.
    """
    if not nodes:
        raise WormcastError(f"plot: no worm is posted within the {count(result.cycles, 'cycle')} of this run, so there "
                            "is nothing to draw; --timeout says how many it may take")


def bars_of(result: Run) -> dict[str, dict[int, list[tuple[int, int]]]]:
    """Of each kind of bar and each node, first cycles and ends, `OPEN` of what does not end in the run."""
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
    """Where the axis ends: with the run, or a little behind the last cycle in which anything moves."""
    last = max(int(result.host.worms["touched"].max()), int(result.host.deliveries["received"].max()), 0)
    return result.cycles if result.outcome == "delivered" else min(result.cycles, last + max(8, last // 8))


def order_of(bars: dict[str, dict[int, list[tuple[int, int]]]]) -> list[int]:
    """Nodes by when they first have a message; those that never receive one by when they send, or else last."""
    begins: dict[int, int] = {}
    sides = {"header on its way": 1, "sends flits": 0, "start-up (processor)": 0, "receives flits": 1}
    for what, side in sides.items():
        begins |= {node: min(span[side] for span in spans) for node, spans in bars[what].items()
                   if min(span[side] for span in spans) != OPEN}
    waiting = {node for spans in bars.values() for node in spans} - begins.keys()
    return [*sorted(begins, key=lambda node: (begins[node], node)), *sorted(waiting)]


def caption_of(result: Run, shown: Sequence[str]) -> list[str]:
    """What is drawn, in lines; ``shown``: options that are told where they are not the usual ones."""
    configuration = result.network.configuration
    hardware = (f"{count(configuration.vcs, 'VC')} x {count(configuration.buffer, 'flit')}",
                count(configuration.consumption, "consumption channel"))
    lengths = sorted({message.length for message in result.messages})
    said = f"{lengths[0]} flits" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]} flits"
    what = f"{scheme_on(result.network.scheme, result.network.topology)}: {count(len(result.messages), 'message')}"
    return [f"{what} of {said}, {result.ending}",
            ", ".join([*hardware, *unusual(configuration.to_dict(), shown)])]
