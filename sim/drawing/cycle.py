"""Drawing of a cycle of resources that worms hold and request."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np

from wormcast.algorithms import Topology
from wormcast.algorithms.channels import Resource, link_rows

from ..common.frame import text_width
from ..common.picture_style import style
from ..common.text import resource_text
from .arrows import APART, outlines
from .layout import NetworkLayout, layout_of
from .network import (
    FAR,
    NODE,
    clear_of_names,
    draw_lines,
    draw_names,
    draw_nodes,
    free_direction,
    line_angles,
    name_angle,
    shorts,
)
from .sheet import Mark, Sheet
from .ways import along, aside, middle_of

__all__ = ["cycle_sheet"]

HELD = "#b2182b"  # dark in grey too
CHANNEL = "#2166ac"
SLOT = "#1b7837"
#: Resources drawn at a node: name in the legend, colour, and shape of the mark in the legend and in the picture.
AT_NODE = {
    "cons": ("consumption channel", CHANNEL, "s", "square,pad=0.15"),
    "retrans": ("retransmission slot", SLOT, "o", "circle,pad=0.15"),
    "place": ("packet buffer entry", SLOT, "o", "circle,pad=0.15"),
}

# points
LEAST, LARGEST = 17.0, 43.0  # smallest and largest size of a cell, in points
SHORT = 3.2  # distance of an arrow from its nodes, in points
HALF, HEAD, BARB = 0.55, 3.6, 1.1
MEET = 0.4  # position of a one-way link's number, as a share of its line; lines between stages cross in the middle
NUMBER = 3.6  # distance from an arrow to its number, in points
BETWEEN = 1.15  # smallest angle between marks on a ring around a node, in radians
NAME = 0.6  # half the angle that is kept free for a node's name, in radians
SQUARE, FARTHER = 8.4, 10.8  # distances in points: from a node to its first ring of marks, from each ring to the next


def cycle_sheet(topology: Topology, resources: Sequence[str], caption: Sequence[str], title: str = "") -> Sheet:
    """Draw a network with the resources of a cycle.

    A link of the cycle is an arrow beside the line between its switches, or on the line if there is no opposite link.
    At nodes, consumption channels are squares, retransmission slots and packet buffer entries are discs. Resources are
    numbered in the given order and listed below the network. Equal cycles of equal networks produce equal files.

    Parameters
    ----------
    topology : Topology
        Must pass `require_drawable`.
    resources : sequence of str
        Names ``link:U>V:vc``, ``cons:NODE:i``, ``retrans:NODE:i`` and ``place:NODE:i``. Each resource is held by a worm
        that requests the next resource. If ``resources`` is empty, only the network is drawn.
    caption : sequence of str
        Lines below the drawing.
    title : str
        Title of the legend. The default title is the number of resources and a description, or "no cycle".
    """
    layout = layout_of(topology)
    listed = ", ".join(f"{number}\N{NO-BREAK SPACE}{resource_text(topology, resource)}"
                       for number, resource in enumerate(resources, 1))
    held = [Resource.parse(resource) for resource in resources]
    kinds = {one.kind for one in held}
    marks: list[Mark] = []
    if "link" in kinds:
        marks.append(("link", {"color": HELD, "linewidth": 1.1, "marker": ">", "markersize": 3}))
    marks += [(name, {"color": color, "marker": marker, "markersize": 5})
              for kind, (name, color, marker, _) in AT_NODE.items() if kind in kinds]
    waiting = f"a cycle of {len(resources)}: each is held by a worm that requests the next"
    title = title or (waiting if resources else "no cycle")
    channels = Counter(one.where for one in held if one.kind in AT_NODE)
    square, farther = (length * max(1.0, style().small / 6) for length in (SQUARE, FARTHER))
    clear = max(square + farther * max(0, max(channels.values(), default=0) - 2),
                clear_of_names(topology, layout, NODE))
    dense = 1.0 if layout.boxes.any() else min(1, 2 * layout.narrowest)
    sheet = Sheet(layout, least=LEAST / dense, largest=LARGEST, clear=clear, legend=marks,
                  title=title, words=[*([listed] if listed else []), *caption],
                  rows=[{"number": number, "resource": resource_text(topology, resource)}
                        for number, resource in enumerate(resources, 1)])
    draw_lines(sheet, topology, layout)
    draw_nodes(sheet, topology, layout)
    draw_names(sheet, topology, layout, NODE)

    taken: dict[int, list[float]] = defaultdict(list)  # by switch: directions from the switch to its arrows
    rows = link_rows(topology)
    for number, resource in enumerate(held, 1):
        if resource.kind == "link":
            link = rows[resource.where]
            _arrow(sheet, topology, layout, link, str(number))
            for switch, way in zip(topology.links[link, [0, 2]].tolist(), _both_ways(layout.links[link]), strict=True):
                leaving = along(*way[:2])
                side = aside(leaving) if way is layout.links[link] else -aside(leaving)
                taken[switch].append(float(np.arctan2(*(leaving * SHORT + side * APART * 2)[::-1])))
    # by node and ring of marks around the node: directions from the node to its marks
    squares: dict[tuple[int, int], list[float]] = defaultdict(list)
    for number, resource in enumerate(held, 1):
        if resource.kind in AT_NODE:
            node = int(resource.where)
            angles = line_angles(topology, layout, node)
            home = int(topology.consumptions[node, 0])
            if layout.shared[home]:
                angles += taken[home]
            if not layout.names:
                angles += [name_angle(topology, layout, node) + turn for turn in (-NAME, 0, NAME)]
            for ring in count():
                angle, gap = free_direction([*angles, *squares[node, ring]])
                if not squares[node, ring] or (gap >= FAR and _gap(angle, squares[node, ring]) >= BETWEEN):
                    break
            squares[node, ring].append(angle)
            reach = sheet.cells(square + farther * ring)
            _, color, _, shape = AT_NODE[resource.kind]
            _at_node(sheet, layout.sinks[node], reach * np.array([np.cos(angle), np.sin(angle)]), str(number), color,
                     shape)
    return sheet


def _gap(angle: float, others: Sequence[float]) -> float:
    """Return the smallest angle between a direction and the other directions."""
    return min(abs((angle - other + np.pi) % (2 * np.pi) - np.pi) for other in others)


def _both_ways(way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return way, way[::-1]


def _arrow(sheet: Sheet, topology: Topology, layout: NetworkLayout, link: int, number: str) -> None:
    from matplotlib.patches import Polygon
    from matplotlib.patheffects import withStroke

    way, apart = layout.links[link], 0.0 if layout.one_way[link] else APART + HALF
    short = sheet.cells(1) * shorts(topology, layout, SHORT)[[link]]
    [corners] = outlines([way], apart=sheet.cells(apart), short=short, half=sheet.cells(HALF), head=sheet.cells(HEAD),
                         barb=sheet.cells(BARB))
    sheet.axes.add_patch(Polygon(corners, facecolor=HELD, edgecolor="none", zorder=4))
    middle, forward = middle_of(way, MEET if layout.one_way[link] else 0.5)
    away = aside(forward) * (APART + NUMBER + max(0.0, text_width(number, style().small) / 2 - 1))
    x, y = (middle + away * sheet.cells(1)).tolist()
    sheet.axes.text(x, y, number, ha="center", va="center_baseline", color=HELD, zorder=5, fontsize=style().small,
                    gid=f"step-{number}", path_effects=[withStroke(linewidth=1.2, foreground="white")])


def _at_node(sheet: Sheet, node: np.ndarray, away: np.ndarray, number: str, color: str, shape: str) -> None:
    x, y = (node + away).tolist()
    sheet.axes.plot(*np.stack([node, node + away], axis=1), color=color, linewidth=0.8, zorder=2)
    sheet.axes.text(x, y, number, ha="center", va="center", color="white", zorder=5, fontsize=style().small,
                    bbox={"boxstyle": shape, "facecolor": color, "edgecolor": "none"})
