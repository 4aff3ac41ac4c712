"""Drawing of a topology: links, names of nodes, and the Hamiltonian path with its labels, or links up and down."""

from collections.abc import Sequence

import numpy as np

from wormcast.algorithms import Topology
from wormcast.algorithms.token_groups import TokenGroups

from ..common.frame import COLOURS, text_width
from ..common.picture_style import style
from .arrows import outlines
from .cables import nearest
from .layout import NetworkLayout, layout_of
from .network import draw_node_lines, draw_nodes, draw_planes, free_direction, line_angles, shorts
from .sheet import Mark, Sheet

__all__ = ["topology_sheet"]

LABEL = "#2166ac"
PATH, OTHER = "#303030", "#b0b0b0"  # colours of links along the Hamiltonian path, and of other links
UP = COLOURS[1]  # colour of links up

# points
APART = 1.1  # distance of a link's arrow from the line between its switches, in points
HALF, HEAD, BARB = 0.25, 2.6, 0.9
BESIDE = 1.2  # distance of a node's circle from its arrows and its label, in points
BETWEEN = 13.0  # smallest distance between the circles of two nodes, in points
LARGEST = 44.0
FRAME = 1.3  # distance of boxes from the frame around switches that share a token, in points


def topology_sheet(topology: Topology, tokens: TokenGroups | None = None, up: Sequence[bool] | None = None) -> Sheet:
    """Draw nodes with their names, and an arrow for each link.

    If the topology has Hamiltonian labels, they are written beside the nodes, and the links along the Hamiltonian path
    are darker than the other links. Equal topologies produce equal files.

    Parameters
    ----------
    topology : Topology
        Must pass `require_drawable`.
    tokens : TokenGroups, optional
        Draw a frame around the switches that share a token.
    up : sequence of bool, optional
        For each link, whether it leads up. Links up and links down have different colours, unless the topology has
        Hamiltonian labels.
    """
    from matplotlib.collections import PolyCollection

    layout = layout_of(topology)
    names = [topology.node_name(node) for node in range(topology.nodes)]
    radius = max(4.0, max(text_width(name, style().small) for name in names) / 2 + 1.0)
    switches = "" if topology.direct else f"{topology.switches} switches, "
    words = [f"{topology.name}: {topology.nodes} nodes, {switches}{len(topology.links)} links"]
    legend: list[Mark] = []
    drawn = [(np.ones(len(topology.links), bool), PATH)]  # links of each colour
    if topology.labels is not None:
        steps = topology.labels[topology.links[:, 2]] - topology.labels[topology.links[:, 0]]
        along_path = np.abs(steps) == 1
        drawn = [(~along_path, OTHER), (along_path, PATH)]
        legend = [("link of the Hamiltonian path", {"color": PATH, "linewidth": 0.9}),
                  ("other link", {"color": OTHER, "linewidth": 0.9})]
        words.append("in a node its coordinates, beside it its Hamiltonian label")
    elif up is not None:
        drawn = [(~np.array(up), PATH), (np.array(up), UP)]
        legend = [("link up", {"color": UP, "linewidth": 0.9}), ("link down", {"color": PATH, "linewidth": 0.9})]
    if layout.boxes.any():
        words.append("box: switch" + ", circle: node" + ", on the left where it injects, on the right where it consumes"
                     * layout.drawn_twice)
    if tokens:
        words.append("dashed: switches that share a token, in one colour if they are not adjacent")
    least = _least(layout, radius)
    beyond = radius if topology.labels is None else radius + style().text
    sheet = Sheet(layout, least=least, largest=max(least, LARGEST), clear=beyond, words=words, named=False,
                  legend=legend, rows=_rows(topology))
    draw_planes(sheet, layout)
    draw_nodes(sheet, topology, layout, radius)
    if tokens:
        _draw_groups(sheet, layout, tokens)

    corners = outlines(layout.links, apart=np.where(layout.one_way, 0, sheet.cells(APART)),
                       short=sheet.cells(1) * shorts(topology, layout, radius + BESIDE), half=sheet.cells(HALF),
                       head=sheet.cells(HEAD), barb=sheet.cells(BARB))
    for chosen, colour in drawn:
        sheet.axes.add_collection(PolyCollection([corners[link] for link in np.flatnonzero(chosen)], facecolors=colour,
                                                 edgecolors="none", zorder=2), autolim=False)
    draw_node_lines(sheet, layout)
    angle, _ = free_direction(line_angles(topology, layout))
    right, down = np.cos(angle), np.sin(angle)
    places = np.concatenate([layout.nodes, layout.sinks]) if layout.drawn_twice else layout.nodes
    for place, (x, y) in enumerate(places.tolist()):
        node = place % topology.nodes
        sheet.axes.text(x, y, names[node], ha="center", va="center_baseline", fontsize=style().small, zorder=4)
        if topology.labels is not None:
            reach = sheet.cells(radius + BESIDE)
            sheet.axes.text(x + right * reach, y + down * reach, str(topology.label(node)), color=LABEL,
                            fontsize=style().small, ha="left" if right > 0 else "right",
                            va="top" if down > 0 else "bottom", zorder=4)
    return sheet


def _rows(topology: Topology) -> list[dict[str, str]]:
    """Return a row for each link: switch and port at its start and at its end."""
    return [{"from": topology.switch_title(start), "output": topology.ports[start][out],
             "to": topology.switch_title(end), "input": topology.ports[end][into]}
            for start, out, end, into in topology.links.tolist()]


def _draw_groups(sheet: Sheet, layout: NetworkLayout, tokens: TokenGroups) -> None:
    """Draw a frame around each run of adjacent switches that share a token, all frames of a token in one colour."""
    from matplotlib.patches import Rectangle

    room = sheet.cells(FRAME)
    for (_, group), ring in tokens.rings().items():
        parts = np.split(np.array(ring), np.flatnonzero(np.diff(ring) > 1) + 1)
        colour = COLOURS[group % len(COLOURS) if len(parts) > 1 else 0]
        for part in parts:
            low = (layout.switches[part] - layout.boxes[part]).min(axis=0) - room
            high = (layout.switches[part] + layout.boxes[part]).max(axis=0) + room
            sheet.axes.add_patch(Rectangle(low, *(high - low), facecolor="none", edgecolor=colour, linewidth=0.8,
                                           linestyle=(0, (4, 2)), zorder=5))


def _least(layout: NetworkLayout, radius: float) -> float:
    """Return the smallest cell, in points, that has space for nodes and the arrows between them."""
    if not layout.boxes.any():
        return (2 * radius + BETWEEN) / min(1, 2 * layout.narrowest)
    return max((2 * radius + APART) / nearest(np.concatenate([layout.nodes, layout.sinks])),
               2 * (APART + HALF + BARB) / layout.narrowest)
