"""Drawing of worms in a space-time diagram: bars, waits, deliveries, and a deadlock's cycle."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...common.frame import text_width
from ...common.picture_style import style
from .descriptions import name_any
from .history import History, RecordedHold, Wait

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BAR", "NEUTRAL", "Scale", "draw_marks", "legend_marks", "tint", "write_on"]

BAR = 0.76  # height of a bar, as a fraction of the distance of rows in the diagram
HATCH = "//////"
LEAST_HATCHED = 3.0  # least width of a hatched part of a bar; hatching of narrower parts looks like flits; in points
MARK = 0.62  # size of the mark of a delivery, as a fraction of the distance of rows
NEUTRAL = "#7f7f7f"
LETTERS = 0.65  # largest font size of the text on a bar, as a fraction of the distance of rows
BOLD = 1.1  # width of bold digits, in widths of digits
LEAST_LETTERS = 3.5  # smallest font size of the text on a wait, in points
ASIDE = 0.14  # distance of an arrow's start and end from the middle of a bar, as a fraction of the distance of rows


@dataclass(frozen=True)
class Scale:
    """Positions and sizes in a space-time diagram.

    Parameters
    ----------
    at : mapping of (link, virtual channel) to float
        Distance of the middle of each row of the diagram from the middle of the first row, in heights of a row.
    row, cycle : float
        Height of a row and width of a cycle, in points.
    font, track : float
        Font size, and distance between arrows beside the bars, in points.
    colours : mapping of int to str
        Colours of worms, by number.
    """

    at: Mapping[tuple[int, int], float]
    row: float
    cycle: float
    font: float
    track: float
    colours: Mapping[int, str]


def draw_marks(axes: "Axes", history: History, scale: Scale) -> None:
    """Draw a history.

    The x axis must range from half a cycle before the history's first cycle to half a cycle after its last one.
    """
    _bars(axes, history, scale)
    _waits(axes, history, scale)
    _deliveries(axes, history, scale)
    if history.deadlock:
        _deadlock(axes, history, scale)


def legend_marks(history: History, cycle: float) -> list[Any]:
    """Return the legend of the drawing: the kinds of marks that the drawing has, and their meanings.

    ``cycle``: width of a cycle in points.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: list[Any] = [Patch(facecolor=NEUTRAL, label="flit")]
    if any(len(hold.flits) <= hold.last - hold.first for hold in history.holds):
        hatched = any(_hatched(hold, cycle) for hold in history.holds)
        marks.append(Patch(facecolor=tint(NEUTRAL), edgecolor=NEUTRAL, hatch=HATCH if hatched else "", linewidth=0.35,
                           label="held, no flit"))
    if history.waits:
        marks.append(Line2D([], [], color="black", linewidth=0.8, label="header waits"))
    if any(True for _ in history.deliveries):
        marks.append(Line2D([], [], color="black", linewidth=0, marker=">", markersize=3.5, label="tail ejected"))
    if history.deadlock:
        marks.append(Line2D([], [], color=NEUTRAL, linewidth=0.9, marker="<", markersize=3, label="waits for"))
    return marks


def _bars(axes: "Axes", history: History, scale: Scale) -> None:
    """Draw a bar for each hold of a worm: filled in cycles with flits, pale in other cycles, and there hatched if there
    is room.

    The worm's number is written at the start of the bar, if it fits.
    """
    from matplotlib.collections import LineCollection, PolyCollection

    of_worm: dict[int, list[RecordedHold]] = defaultdict(list)
    for hold in history.holds:
        if (hold.link, hold.vc) in scale.at:
            of_worm[hold.worm].append(hold)
    size = style().least(min(scale.font, LETTERS * scale.row))
    for worm, holds in sorted(of_worm.items()):
        colour = scale.colours[worm]
        held = [_box(hold.first, hold.last, scale.at[hold.link, hold.vc]) for hold in holds]
        full = [_box(*run, scale.at[hold.link, hold.vc]) for hold in holds for run in hold.runs]
        still = [_box(*run, scale.at[hold.link, hold.vc]) for hold in holds for run in _hatched(hold, scale.cycle)]
        axes.add_collection(PolyCollection(held, facecolor=tint(colour), linewidth=0, zorder=2,
                                           gid=f"worm-{worm}-held"))
        axes.add_collection(PolyCollection(still, facecolor="none", edgecolor=colour, hatch=HATCH, linewidth=0,
                                           zorder=2.05, gid=f"worm-{worm}-still"))
        axes.add_collection(PolyCollection(full, facecolor=colour, linewidth=0, zorder=2.1, gid=f"worm-{worm}-flits"))
        axes.add_collection(PolyCollection(held, facecolor="none", edgecolor=colour, linewidth=0.35, zorder=2.2,
                                           closed=False))
        ends = [[box[0], box[3]] for hold, box in zip(holds, held, strict=True) if not _goes_on(history, hold)]
        axes.add_collection(LineCollection(ends, color=colour, linewidth=0.35, zorder=2.2))
        room = text_width(str(worm), size) + 1.5
        for hold in holds:
            if (hold.last - hold.first + 1) * scale.cycle >= room:
                write_on(axes, hold.first - 0.5 + 0.75 / scale.cycle, scale.at[hold.link, hold.vc], str(worm), size,
                       weight="bold")


def _hatched(hold: RecordedHold, cycle: float) -> list[tuple[int, int]]:
    """Return the first and last cycles of a hold's parts without flits that are wide enough to be hatched.

    ``cycle``: width of a cycle in points.
    """
    begins = [hold.first, *(last + 1 for _, last in hold.runs)]
    ends = [*(first - 1 for first, _ in hold.runs), hold.last]
    return [(first, last) for first, last in zip(begins, ends, strict=True)
            if last >= first and (last + 1 - first) * cycle >= LEAST_HATCHED]


def _box(first: int, last: int, at: float) -> list[tuple[float, float]]:
    """Return the corners of a bar from one cycle to another; the first corner and the last one are at the bar's end."""
    start, end, half = first - 0.5, last + 0.5, BAR / 2
    return [(end, at - half), (start, at - half), (start, at + half), (end, at + half)]


def _goes_on(history: History, hold: RecordedHold) -> bool:
    """Return whether a worm still holds a channel after the last cycle that is drawn."""
    return hold.last == history.end - 1 and not hold.ended


def tint(colour: str) -> tuple[float, float, float]:
    """Return a light shade of a colour."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - 0.22 * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def write_on(axes: "Axes", cycle: float, at: float, text: str, size: float, *, weight: str = "normal",
           gid: str | None = None) -> None:
    """Write a text on a bar, with a white outline for legibility."""
    from matplotlib.patheffects import withStroke

    axes.text(cycle, at, text, ha="left", va="center_baseline", fontsize=size, color="black", weight=weight, zorder=4,
              gid=gid, path_effects=[withStroke(linewidth=1.1, foreground="white")])


def _waits(axes: "Axes", history: History, scale: Scale) -> None:
    """Draw a line while a header waits, and write the resources that it waits for if they fit."""
    from matplotlib.collections import LineCollection

    size = style().least(min(scale.font, LETTERS * scale.row))
    on_row: dict[tuple[int, int], list[RecordedHold]] = defaultdict(list)
    for hold in history.holds:
        on_row[hold.link, hold.vc].append(hold)
    lines = []
    for wait in history.waits:
        place = wait.link, wait.vc
        if place not in scale.at:
            continue
        at = scale.at[wait.link, wait.vc]
        lines.append([(wait.first - 0.5, at + BAR / 2), (wait.last + 0.5, at + BAR / 2)])
        start, end = _quiet(on_row[wait.link, wait.vc], wait, size, scale.cycle)
        room = (end - start) * scale.cycle - 2
        text = next((text for text in _texts(history, wait) if text_width(text, size) <= room), None)
        if size >= LEAST_LETTERS and text is not None:
            write_on(axes, start + 1 / scale.cycle, at, text, size, gid=f"wait-{wait.link}-{wait.vc}-{wait.first}")
    axes.add_collection(LineCollection(lines, color="black", linewidth=0.8, zorder=3, gid="waits"))


def _texts(history: History, wait: Wait) -> list[str]:
    """Return the texts that may be written on a wait, the preferred one first."""
    name = name_any(history, wait.resources)
    token = all(resource.startswith("token:") for resource in wait.resources)
    return [f"waits for {name}", name, *["token"] * token]


def _quiet(holds: Sequence[RecordedHold], wait: Wait, size: float, cycle: float) -> tuple[float, float]:
    """Return start and end of the longest gap between flits in a wait.

    A worm's number, which is written on its bar, counts as flits. ``size``: font size. ``cycle``: width of a cycle.
    Both are in points.
    """
    begin, end = wait.first - 0.5, wait.last + 0.5
    taken = [(begin, begin), (end, end)]
    for hold in holds:
        number = (BOLD * text_width(str(hold.worm), size) + 2) / cycle
        taken += [(hold.first - 0.5, hold.first - 0.5 + number),
                  *((first - 0.5, last + 0.5) for first, last in hold.runs)]
    gaps, reached = [], begin
    for start, stop in sorted(taken):
        if start <= end:
            gaps.append((reached, start))
            reached = max(reached, stop)
    return max(gaps, key=lambda gap: gap[1] - gap[0])


def _deliveries(axes: "Axes", history: History, scale: Scale) -> None:
    """Mark each delivery (`History.deliveries`): after its bar, or inside the bar if another bar or the end of the
    diagram follows directly."""
    begins = {(hold.link, hold.vc, hold.first) for hold in history.holds}
    size = MARK * scale.row / scale.cycle
    width = 0.5 * scale.row / scale.cycle
    frame = axes.get_xlim()[1]
    marks = []
    for hold in history.deliveries:
        if (hold.link, hold.vc) in scale.at:
            after = range(hold.last + 1, hold.last + 2 + int(width))
            inside = any((hold.link, hold.vc, cycle) in begins for cycle in after) or (
                hold.last + 0.5 + (width + size) / 2 > frame)
            marks.append((hold.last + 0.5 + (-size if inside else width) / 2, scale.at[hold.link, hold.vc]))
    drawn = axes.scatter([cycle for cycle, _ in marks], [at for _, at in marks], marker=">",
                         s=(scale.row * MARK) ** 2, facecolor="black", edgecolor="white", linewidth=0.3, zorder=5,
                         clip_on=False)
    drawn.set_gid("deliveries")


def _deadlock(axes: "Axes", history: History, scale: Scale) -> None:
    """Draw an arrow from each header of a deadlock's cycle to the channel that it requests, right of the bars."""
    assert history.deadlock is not None
    arrows = []
    for step in history.deadlock["cycle"]:
        start = _header(history, step["worm"], step["waits"])
        ends = [place for place in map(history.channel, step["waits"]) if place in scale.at]
        if start in scale.at and ends and ends[0]:
            arrows.append((scale.at[start], scale.at[ends[0]], step["worm"]))
    edge, point = history.end - 0.5, 1 / scale.cycle
    for track, (start_at, end_at, worm) in enumerate(sorted(arrows, key=lambda arrow: abs(arrow[1] - arrow[0]))):
        turn = edge + (3 + scale.track * (track + 0.5)) * point
        out, back = start_at + ASIDE, end_at - ASIDE
        colour = scale.colours[worm]
        axes.plot([edge, turn, turn, edge + 2.5 * point], [out, out, back, back], color=colour, linewidth=0.9,
                  clip_on=False, zorder=6, gid=f"waits-{worm}", solid_joinstyle="miter")
        axes.plot([edge + 2 * point], [back], marker="<", markersize=3.2, color=colour, markeredgewidth=0,
                  clip_on=False, zorder=6)


def _header(history: History, worm: int, resources: Sequence[str]) -> tuple[int, int]:
    """Return the virtual channel where a worm's header waits in the last cycle, else the worm's newest channel."""
    waits = [wait for wait in history.waits if wait.worm == worm and wait.last == history.end - 1]
    asking = [wait for wait in waits if set(wait.resources) & set(resources)]
    held = [hold for hold in history.holds
            if hold.worm == worm and not hold.ended and history.links[hold.link].kind != "consumption"]
    places = [(wait.link, wait.vc) for wait in (*asking, *waits)]
    return next(iter([*places, *((hold.link, hold.vc) for hold in reversed(held))]), (-1, 0))
