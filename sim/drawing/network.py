"""Drawing of the network: lines, boxes, nodes and their names, and free directions around a node."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from ..common.frame import WORDS, text_width
from ..common.picture_style import style
from .layout import NetworkLayout
from .sheet import PLAIN, Sheet
from .ways import along

__all__ = ["FAR", "NODE", "clear_of_names", "draw_boxes", "draw_lines", "draw_names", "draw_nodes", "draw_planes",
           "free_direction", "line_angles", "name_angle", "shorts"]

Floats = npt.NDArray[np.float64]

NODE = 1.9  # radius of a node, in points
EDGE = "#606060"
GROUND = "#f5f5f5"
LINE = 0.6
NAME = 1.2  # distance of a node from its name, in points
HALO = 2.0  # width of the white line around the letters of a node's name, in points
ROOM = 0.9  # largest width of a switch's name, as a share of its box's width
CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))
STEPS = 16  # number of equally spaced directions to try after the diagonals
FAR = float(np.radians(40))


def draw_planes(sheet: Sheet, layout: NetworkLayout) -> None:
    """Draw the areas of the planes of a three-dimensional network."""
    if not layout.planes:
        return
    from matplotlib.collections import PolyCollection

    sheet.axes.add_collection(PolyCollection(list(layout.planes), facecolors=GROUND, edgecolors="none", zorder=0),
                              autolim=False)


def draw_lines(sheet: Sheet, topology: Topology, layout: NetworkLayout) -> None:
    """Draw the areas of planes, the lines between switches, and the lines between switches and nodes."""
    draw_planes(sheet, layout)
    once = layout.one_way | (topology.links[:, 0] < topology.links[:, 2])
    _draw_ways(sheet, [layout.links[link] for link in np.flatnonzero(once)])
    draw_node_lines(sheet, layout)


def draw_node_lines(sheet: Sheet, layout: NetworkLayout) -> None:
    """Draw the lines between nodes and their switches."""
    _draw_ways(sheet, [*layout.injections, *(layout.consumptions if layout.drawn_twice else ())])


def _draw_ways(sheet: Sheet, ways: list[Floats]) -> None:
    from matplotlib.collections import LineCollection

    sheet.axes.add_collection(LineCollection(ways, colors=PLAIN, linewidths=LINE, zorder=1), autolim=False)


def draw_nodes(sheet: Sheet, topology: Topology, layout: NetworkLayout, radius: float = NODE) -> None:
    """Draw the boxes of switches, and a circle of this radius, in points, for each position of a node."""
    places = np.concatenate([layout.nodes, layout.sinks]) if layout.drawn_twice else layout.nodes
    sheet.axes.scatter(places[:, 0], places[:, 1], s=(2 * radius) ** 2, marker="o", facecolor="white",
                       edgecolor=EDGE, linewidth=LINE, zorder=3)
    draw_boxes(sheet, topology, layout)


def draw_boxes(sheet: Sheet, topology: Topology, layout: NetworkLayout) -> None:
    """Draw the boxes of switches, with their names if they fit."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patheffects import withStroke

    apart = np.flatnonzero(~layout.shared)
    if not len(apart):
        return
    corners = layout.switches[apart, None] + layout.boxes[apart, None] * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    sheet.axes.add_collection(PolyCollection(list(corners), facecolors="white", edgecolors=EDGE, linewidths=LINE,
                                             zorder=3), autolim=False)
    for switch in apart.tolist():
        name = topology.switch_names[switch]
        if text_width(name, style().small) <= ROOM * 2 * layout.boxes[switch, 0] * sheet.cell:
            x, y = layout.switches[switch].tolist()
            sheet.axes.text(x, y, name, ha="center", va="center_baseline", fontsize=style().small,
                            color=WORDS, zorder=8, path_effects=[withStroke(linewidth=1.5, foreground="white")])


def draw_names(sheet: Sheet, topology: Topology, layout: NetworkLayout, radius: float) -> None:
    """Write the names of nodes beside circles of ``radius`` points, unless rows and columns have names.

    Names are drawn over lines, with a white halo.
    """
    from matplotlib.patheffects import withStroke

    if layout.names:
        return
    halo = [withStroke(linewidth=HALO, foreground="white")]
    for node in range(topology.nodes):
        at = [(layout.sinks[node], name_angle(topology, layout, node))]
        if layout.drawn_twice:
            at.append((layout.nodes[node], np.pi))
        for (x, y), angle in at:
            right, down = np.cos(angle).round(6), np.sin(angle).round(6)
            reach = sheet.cells(radius + NAME)
            sheet.axes.text(x + right * reach, y + down * reach, topology.node_name(node), fontsize=style().small,
                            color=WORDS, zorder=8, path_effects=halo,
                            ha="center" if not right else "left" if right > 0 else "right",
                            va="center_baseline" if not down else "top" if down > 0 else "bottom")


def name_angle(topology: Topology, layout: NetworkLayout, node: int) -> float:
    """Return the direction of a node's name from the node, clockwise from the right, in radians."""
    if layout.drawn_twice:
        return 0.0
    if not layout.injections:
        return free_direction(line_angles(topology, layout, node))[0]
    homes = topology.consumptions[:, 0]
    away = layout.sinks - layout.switches[homes]
    across, down = away[homes == homes[node]].mean(axis=0).tolist()
    if abs(across) > abs(down):  # the switch's nodes are in a column beside it
        return 0.0 if across > 0 else np.pi
    return np.pi / 2 if away[node, 1] >= 0 else -np.pi / 2


def clear_of_names(topology: Topology, layout: NetworkLayout, radius: float) -> float:
    """Return how far nodes and their names extend beyond the nodes' positions, in points."""
    if layout.names:
        return radius
    return radius + NAME + max(style().small, max(text_width(topology.node_name(node), style().small) for node in
                                          range(topology.nodes)))


def shorts(topology: Topology, layout: NetworkLayout, short: float) -> Floats:
    """Return the distance of arrows from their lines' ends: ``short`` at a node, 0 at a box; float [links, 2]."""
    return np.where(layout.shared[topology.links[:, [0, 2]]], short, 0.0)


def line_angles(topology: Topology, layout: NetworkLayout, node: int | None = None) -> list[float]:
    """Return the directions in which lines leave ``node`` (None: any node), clockwise from the right, in radians."""
    homes = topology.consumptions[:, 0] if node is None else topology.consumptions[[node], 0]
    ways = [layout.links[link][:2] for link in np.flatnonzero(np.isin(topology.links[:, 0], homes))
            if layout.shared[topology.links[link, 0]]]
    ways += [layout.links[link][:-3:-1] for link in np.flatnonzero(np.isin(topology.links[:, 2], homes))
             if layout.shared[topology.links[link, 2]]]
    ways += [layout.consumptions[one][:-3:-1] for one in (range(topology.nodes) if node is None else (node,))
             if layout.consumptions]
    ways = [way for way in ways if (way[0] != way[1]).any()]
    if not ways:
        return []
    leaving = np.unique(along(*np.stack(ways, axis=1)).round(6) + 0.0, axis=0)
    return np.arctan2(leaving[:, 1], leaving[:, 0]).tolist()


def free_direction(taken: Iterable[float]) -> tuple[float, float]:
    """Return a direction away from all directions in ``taken``, and its angle to the nearest of them, at most `FAR`.

    Directions are tried in a fixed order, the diagonals first. The first direction at an angle of at least `FAR` to all
    directions in ``taken`` is returned. If none of the tried directions has an angle of at least `FAR`, the direction
    with the largest angle is returned.
    """
    turns = np.array([np.arctan2(y, x) for x, y in CORNERS] + [2 * np.pi * step / STEPS for step in range(STEPS)])
    gaps = np.abs((turns[:, None] - np.array(list(taken)) + np.pi) % (2 * np.pi) - np.pi)
    best = int(np.argmax(np.round(gaps.min(axis=1, initial=FAR), 6)))
    return float(turns[best]), float(gaps[best].min(initial=FAR))
