"""Drawing of a plan: paths and directions of its worms, and their visiting orders."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Plan, PlannedWorm, Topology, WormcastError

from ..common.frame import COLOURS, text_width
from ..common.picture_style import style
from ..common.text import count
from .arrows import APART
from .layout import NetworkLayout, layout_of
from .network import NODE, clear_of_names, draw_lines, draw_names, draw_nodes
from .sheet import Mark, Sheet, scheme_on
from .tracks import bend, least_cell, tracks
from .ways import along, aside, beside, longest, middle_of

__all__ = ["MOST_TRACKS", "paths_sheet"]

Floats = npt.NDArray[np.float64]

MOST_TRACKS = 24
OUTSIDE = 2  # number of the first track that passes outside of a destination's disc

# points
PITCH = 2.4  # distance between the lines of two worms on a link, in points
LINE = 1.2
FIRST = 0.6  # additional width of the first step's lines, as a share of the width of the last step's lines
LEAST, LARGEST = 20.0, 43.0  # smallest and largest size of a cell, in points
LEAST_NODES = 13.0  # smallest size of a cell if nodes and switches are drawn separately, in points
GAP = 3.0
DISC = 4.6  # smallest radius of a destination's disc, in points
SOURCE = 4.2  # half the side of the source's square, in points
HEAD, BARB = 4.2, 1.9  # length and half the width of the arrow on a hop, in points
SOURCE_COLOUR = "#000000"
DASHES = ("-", (0, (4, 1.2)), (0, (1.2, 0.9)), (0, (5, 1, 1.2, 1)))  # line styles of worms, distinct in a grey print
LIGHT = 0.55  # numbers on colours darker than this brightness are white


@dataclass(frozen=True)
class _Look:
    colour: str
    dashes: object

    @property
    def ink(self) -> str:
        """Colour of the text on a disc of colour ``colour``: white or black."""
        red, green, blue = (int(self.colour[at:at + 2], 16) / 255 for at in (1, 3, 5))
        return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < LIGHT else "black"


def _look(number: int) -> _Look:
    return _Look(COLOURS[number % len(COLOURS)], DASHES[(number + number // len(COLOURS)) % len(DASHES)])


def paths_sheet(plan: Plan) -> Sheet:
    """Draw a plan: each worm's path with an arrow on each hop, beside the line between the switches.

    Worms that share a link are drawn side by side; worms in opposite directions are on different sides of the line. The
    source is a black square, a destination a coloured disc. If any worm has several destinations, each worm has a
    colour, and the number in a disc is the destination's position in its worm's visiting order. If each worm has one
    destination, the number and the colour represent the step in which the worm is sent. For tree worms, all branches
    are drawn, and the number in a disc counts the links between switches from the source to the destination. Equal
    plans produce equal files.

    Parameters
    ----------
    plan : Plan
        Its topology must pass `require_drawable`.

    Raises
    ------
    WormcastError
        The worms need more than 24 tracks on a link: about one per worm that uses the link.
    """
    layout = layout_of(plan.topology)
    ways = _Ways(plan.topology, layout)
    places = _places(plan, layout, ways)
    alone = all(len(worm.destinations) == 1 for worm in plan.worms)
    groups = [worm.step - 1 for worm in plan.worms] if alone else [worm.id for worm in plan.worms]
    least, clear = _room(plan, layout, ways, places)
    sheet = Sheet(layout, least=least, largest=max(least, LARGEST), clear=clear, legend=_legend(plan, groups, alone),
                  words=_words(plan, alone), rows=_rows(plan))
    draw_lines(sheet, plan.topology, layout)
    draw_nodes(sheet, plan.topology, layout)
    draw_names(sheet, plan.topology, layout, DISC)
    depths = [_depths(plan, worm) for worm in plan.worms]
    for worm, group, taken in zip(plan.worms, groups, places, strict=True):
        _path(sheet, plan, layout, ways, worm, _look(group), taken)
        for order, node in enumerate(worm.destinations, 1):
            number = depths[worm.id][order - 1] if plan.scheme.is_tree else group + 1 if alone else order
            _disc(sheet, layout.sinks[node], str(number), _look(group))
    sheet.axes.plot(*layout.nodes[plan.source], marker="s", markersize=2 * SOURCE, color=SOURCE_COLOUR, zorder=6)
    return sheet


class _Ways(dict[tuple[int, int], Floats]):
    """Line of each hop between two switches; for parallel links, the line of the first one."""

    def __init__(self, topology: Topology, layout: NetworkLayout):
        super().__init__()
        self.links: dict[tuple[int, int], int] = {}
        for link, (start, _, end, _) in enumerate(topology.links.tolist()):
            if (start, end) not in self:
                self[start, end] = layout.links[link]
                self.links[start, end] = link
        self._one_way = layout.one_way

    def apart(self, hop: tuple[int, int], place: int) -> float:
        """Return the distance of a track to the right of a hop's line, in points.

        On a one-way link, track 0 is on the line, odd tracks are to its right, and other even tracks to its left.
        """
        if self._one_way[self.links[hop]]:
            return PITCH * ((place + 1) // 2) * (1 if place % 2 else -1)
        return APART + PITCH * place


def _chains(worm: PlannedWorm) -> list[list[int]]:
    """Divide a worm's hops into chains of consecutive hops, and return the numbers of the hops.

    A path worm with hops has one chain. In a tree worm, each chain follows one branch to its end.
    """
    found: list[list[int]] = []
    ends: dict[int | None, list[int]] = {}  # each chain so far, by the number of its last hop
    for hop, before in enumerate(worm.before):
        chain = ends.pop(before, None)
        if chain is None:
            found.append(chain := [])
        chain.append(hop)
        ends[hop] = chain
    return found


def _depths(plan: Plan, worm: PlannedWorm) -> list[int]:
    """Return the number of links between switches on the way to each destination of a worm."""
    to: dict[int | None, int] = {None: 0}
    for hop, before in enumerate(worm.before):
        to[hop] = to[before] + 1
    return [to[hop] for hop in plan.arrivals(worm)]


def _places(plan: Plan, layout: NetworkLayout, ways: _Ways) -> list[list[int]]:
    """Return the track of each hop of each worm. Paths stay outside the discs of nodes that their worms do not
    visit."""
    home = plan.topology.consumptions[:, 0].tolist()
    marked = {home[node] for node in (plan.source, *plan.destinations)} & {*np.flatnonzero(layout.shared).tolist()}
    journeys = [(worm, chain) for worm in plan.worms for chain in _chains(worm)]
    found = [[0] * len(worm.links) for worm in plan.worms]
    for (worm, chain), taken in zip(journeys, tracks(
            ways, [[worm.links[hop] for hop in chain] for worm, chain in journeys],
            [marked - {home[node] for node in (worm.source, *worm.destinations)} for worm, _ in journeys], OUTSIDE),
            strict=True):
        for hop, track in zip(chain, taken, strict=True):
            found[worm.id][hop] = track
    most = max((track for one in found for track in one), default=0)
    if most >= MOST_TRACKS:
        raise WormcastError(f"plot: worms of {plan.scheme.name} cannot be drawn: {most + 1} lines would be side by "
                            f"side along a link. Allowed: at most {MOST_TRACKS}, as with fewer destinations.")
    return found


def _room(plan: Plan, layout: NetworkLayout, ways: _Ways, places: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Return the smallest cell in which paths do not overlap, and how far paths and names extend beyond the network.

    The cell and the extent are in points.
    """
    starts, ends = np.stack([longest(way) for way in layout.links], axis=1)
    reach = np.full(len(starts), NODE)
    for worm, taken in zip(plan.worms, places, strict=True):
        for hop, place in zip(worm.links, taken, strict=True):
            link = ways.links[hop]
            reach[link] = max(reach[link], abs(ways.apart(hop, place)) + LINE)
    least, largest = layout.corners
    sides = (starts + ends) / 2 + aside(along(starts, ends)) * 0.01
    beyond = ((sides < least) | (sides > largest)).any(axis=1)
    needed = least_cell(starts, ends, reach, np.flatnonzero(reach > NODE).tolist(), GAP)
    names = clear_of_names(plan.topology, layout, DISC + 1)
    return max(LEAST if not layout.boxes.any() else LEAST_NODES, needed), float(reach[beyond].max(initial=names))


def _rows(plan: Plan) -> list[dict[str, object]]:
    """Return a row for each hop of each worm: the worm, its step, and the switches at the ends of the hop."""
    name = plan.topology.switch_title
    return [{"worm": worm.id, "step": worm.step, "hop": number, "from": name(start), "to": name(end)}
            for worm in plan.worms for number, (start, end) in enumerate(worm.links, 1)]


def _words(plan: Plan, alone: bool) -> list[str]:
    ends = f"from {plan.topology.node_name(plan.source)} to {count(len(plan.destinations), 'node')}"
    sent = "the worm" if plan.packets == 1 else "the first packet"
    number = ("links between switches on the way to this node" if plan.scheme.is_tree else
              f"step in which {sent} to this node is sent" if alone else "place in the visiting order of its worm")
    alike = [{worm.source for worm in plan.worms if worm.step == step} for step in range(1, plan.steps + 1)]
    if alone and len(plan.worms) > plan.steps and sum(map(len, alike)) == len(plan.worms):
        number += "; worms with the same number leave different nodes"
    return [f"{scheme_on(plan.scheme, plan.topology)}, {ends}",
            f"{count(plan.copies, 'worm')}, {count(plan.hops, 'hop')}, {count(plan.channels, 'channel')}",
            f"number: {number}"]


def _legend(plan: Plan, groups: Sequence[int], alone: bool) -> list[Mark]:
    marks: list[Mark] = [("source", {"color": SOURCE_COLOUR, "marker": "s", "markersize": 5})]
    for group in sorted(set(groups)):
        text = f"step {group + 1}" if alone else f"worm {group}"
        if not alone and (after := plan.worms[group].after) is not None:
            text += f", after {after}"
        look = _look(group)
        marks.append((text, {"color": look.colour, "linewidth": LINE, "linestyle": look.dashes}))
    return marks


def _path(sheet: Sheet, plan: Plan, layout: NetworkLayout, ways: _Ways, worm: PlannedWorm, look: _Look,
          places: Sequence[int]) -> None:
    """Draw a worm's path with an arrow on each hop."""
    from matplotlib.collections import PolyCollection

    apart = [sheet.cells(ways.apart(hop, place)) for hop, place in zip(worm.links, places, strict=True)]
    hops = [ways[hop] for hop in worm.links]
    last = worm.destinations[-1]
    end = layout.consumptions[last] if layout.consumptions else layout.sinks[[last]]

    def draw(line: Sequence[Floats] | Floats, width: float = LINE, dashes: object = "-") -> None:
        sheet.axes.plot(*np.array(line).T, color=look.colour, linewidth=width, linestyle=dashes, zorder=4)

    def passed(hop: int) -> Floats:
        return bend(hops[hop:hop + 1], apart[hop:hop + 1])[-1]

    begin = layout.injections[worm.source] if layout.injections else layout.nodes[[worm.source]]
    came = plan.arrivals(worm)
    if plan.scheme.is_tree:
        for chain in _chains(worm):
            first = worm.before[chain[0]]
            draw([*(begin if first is None else [passed(first)]),
                  *bend([hops[hop] for hop in chain], [apart[hop] for hop in chain])])
        for node, hop in zip(worm.destinations, came, strict=True):
            draw([*(begin if hop is None else [passed(hop)]),
                  *(layout.consumptions[node] if layout.consumptions else layout.sinks[[node]])])
    else:
        draw([*begin, *bend(hops, apart), *end], _width(plan, worm), look.dashes)
        for node, hop in zip(worm.destinations[:-1], came, strict=False):
            draw([layout.sinks[node], begin[-1] if hop is None else passed(hop)])
    if not worm.links:
        return
    arrows = []
    for way, away, place in zip(hops, apart, places, strict=True):
        middle, forward = middle_of(beside(way, away), 0.56 - 0.14 * (place % 3))
        tip = middle + forward * sheet.cells(HEAD / 2)
        neck, barb = tip - forward * sheet.cells(HEAD), aside(forward) * sheet.cells(BARB)
        arrows.append(np.stack([tip, neck + barb, neck - barb]))
    sheet.axes.add_collection(PolyCollection(arrows, facecolors=look.colour, edgecolors="none", zorder=5),
                              autolim=False)


def _width(plan: Plan, worm: PlannedWorm) -> float:
    """Return the width of a worm's line. In plans of unicasts in steps, earlier steps have thicker lines."""
    last = plan.steps
    return LINE if len(worm.destinations) > 1 or last == 1 else LINE * (1 + FIRST * (last - worm.step) / (last - 1))


def _disc(sheet: Sheet, place: Floats, text: str, look: _Look) -> None:
    x, y = place.tolist()
    radius = max(DISC, text_width(text, style().small) / 2 + 1.2)
    sheet.axes.plot(x, y, marker="o", markersize=2 * radius, markerfacecolor=look.colour, markeredgecolor="white",
                    markeredgewidth=0.5, zorder=6)
    sheet.axes.text(x, y, text, ha="center", va="center_baseline", fontsize=style().small, color=look.ink, zorder=7)
