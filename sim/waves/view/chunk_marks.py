"""Drawing of deep switches in a space-time diagram: rows with flits, counters and fetches, and reading outputs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...common.frame import text_width
from .chunks import RecordedChunk, RecordedReading
from .history import History
from .marks import BAR, NEUTRAL, Scale, tint, write_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Lane", "chunk_legend", "draw_chunks", "lane_label"]

#: Line of the diagram for a deep switch. Line of a buffer row: names of switch and input, number of the row.
#: Line of the reads of an output: names of switch and output, None.
Lane = tuple[str, str, int | None]

CLOSED = 0.7  # width of the lines at changes of a replication chunk counter, in points
MARK = 0.42  # size of a mark, as a fraction of the height of a line in the diagram
FETCHED, FREED = "v", "o"


def lane_label(lane: Lane) -> str:
    """Return the label of a line of a deep switch: ``s0.n0 row 2``, ``s0.p0 reads``."""
    switch, port, row = lane
    return f"{switch}.{port} reads" if row is None else f"{switch}.{port} row {row}"


def draw_chunks(axes: "Axes", history: History, lanes: Mapping[Lane, float], scale: Scale) -> None:
    """Draw the contents of buffer rows and the reads of outputs, each at the height that ``lanes`` has for it."""
    flits = history.configuration["chunk"]
    chunks = [one for one in history.chunks if (one.switch, one.port, one.row) in lanes]
    readings = [one for one in history.readings if (one.switch, one.output, None) in lanes]
    _boxes(axes, [(lanes[one.switch, one.port, one.row], one, _filled(one, flits)) for one in chunks], scale, "chunk")
    _boxes(axes, [(lanes[one.switch, one.output, None], one, _taken(one, flits)) for one in readings], scale, "reading")
    size = min(scale.font - 0.5, scale.row * 0.62)
    for chunk in chunks:
        _counters(axes, chunk, lanes[chunk.switch, chunk.port, chunk.row], scale, size)
    for reading in readings:
        text = f"{reading.port}:{reading.row}"
        _write(axes, reading.first, reading.last, lanes[reading.switch, reading.output, None], text, scale, size)
    _fetches(axes, chunks, lanes, scale)


def chunk_legend() -> list[Any]:
    """Return the legend of the lines of deep switches: marks and their meanings."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks = [Line2D([], [], linestyle="", marker=marker, markersize=3, markerfacecolor="white", markeredgecolor="black",
                    markeredgewidth=CLOSED, label=label)
             for marker, label in (("|", "closed, counter"), (FETCHED, "fetched"), (FREED, "counter 0"))]
    return [Patch(facecolor=NEUTRAL, edgecolor=NEUTRAL, linewidth=0.35, label="flits stored, taken"), *marks]


def _filled(chunk: RecordedChunk, most: int) -> list[tuple[float, float]]:
    """Return the fill level of a buffer row over time as steps: cycle, and level from 0 to 1.

    If the waveform does not show how the row was filled, the row counts as full.
    """
    return [(cycle, flits / most) for cycle, flits in chunk.flits] or [(chunk.first, 1.0)]


def _taken(reading: RecordedReading, most: int) -> list[tuple[float, float]]:
    """Return the fraction of a buffer row that an output has sent, over time as steps: cycle, and fraction."""
    return [(cycle, place / most) for cycle, place in reading.places]


def _boxes(axes: "Axes", found: Sequence[tuple[float, RecordedChunk | RecordedReading, list[tuple[float, float]]]],
           scale: Scale, name: str) -> None:
    """Draw a light box for each chunk or reading, filled from below up to its level."""
    from matplotlib.collections import PolyCollection

    for worm in sorted({one.worm for _, one, _ in found}, key=lambda worm: (worm is None, worm or 0)):
        colour = NEUTRAL if worm is None else scale.colours[worm]
        mine = [(at, one, levels) for at, one, levels in found if one.worm == worm]
        boxes = [[(one.first - 0.5, at - BAR / 2), (one.last + 0.5, at - BAR / 2), (one.last + 0.5, at + BAR / 2),
                  (one.first - 0.5, at + BAR / 2)] for at, one, _ in mine]
        full = [_below(at, one.last, levels) for at, one, levels in mine]
        axes.add_collection(PolyCollection(boxes, facecolor=tint(colour), linewidth=0, zorder=2))
        axes.add_collection(PolyCollection(full, facecolor=colour, linewidth=0, zorder=2.1, gid=f"{name}s-{worm}"))
        axes.add_collection(PolyCollection(boxes, facecolor="none", edgecolor=colour, linewidth=0.35, zorder=2.2))


def _below(at: float, last: int, levels: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of the area below a stepped level. The y axis points down."""
    foot = at + BAR / 2
    corners = [(levels[0][0] - 0.5, foot)]
    for (cycle, level), (until, _) in zip(levels, [*levels, (last + 1, 0)][1:], strict=True):
        corners += [(cycle - 0.5, foot - BAR * level), (until - 0.5, foot - BAR * level)]
    return [*corners, (last + 0.5, foot)]


def _counters(axes: "Axes", chunk: RecordedChunk, at: float, scale: Scale, size: float) -> None:
    """Draw a line at each change of the replication chunk counter, and write the counter's new value if it fits."""
    for (cycle, count), (end, _) in zip(chunk.counts, [*chunk.counts, (chunk.last + 1, 0)][1:], strict=True):
        axes.plot([cycle - 0.5] * 2, [at - BAR / 2, at + BAR / 2], color="black", linewidth=CLOSED, zorder=3,
                  solid_capstyle="butt")
        _write(axes, cycle, end - 1, at, str(count), scale, size)


def _write(axes: "Axes", first: int, last: int, at: float, text: str, scale: Scale, size: float) -> None:
    if (last - first + 1) * scale.cycle >= text_width(text, size) + 1.5:
        write_on(axes, first - 0.5 + 0.75 / scale.cycle, at, text, size)


def _fetches(axes: "Axes", chunks: Sequence[RecordedChunk], lanes: Mapping[Lane, float], scale: Scale) -> None:
    """Mark each fetch, with a line to the output that fetches, and the end of each chunk that leaves its row free."""
    beside = 0.5 * MARK * scale.row / scale.cycle
    fetched, freed = [], []
    for one in chunks:
        at = lanes[one.switch, one.port, one.row]
        for cycle, output in one.fetches:
            fetched.append((cycle, at))
            to = lanes.get((one.switch, output, None), at)
            axes.plot([cycle, cycle], [at, to], color="black", linewidth=0.4, linestyle=(0, (1, 1.5)), zorder=2.5)
        if one.freed:
            freed.append((one.last + 0.5 + beside, at))
    for marks, marker, name in ((fetched, FETCHED, "fetches"), (freed, FREED, "freed")):
        drawn = axes.scatter([cycle for cycle, _ in marks], [at for _, at in marks], marker=marker,
                             s=(scale.row * MARK) ** 2, facecolor="white", edgecolor="black", linewidth=0.5, zorder=5,
                             clip_on=False)
        drawn.set_gid(name)
