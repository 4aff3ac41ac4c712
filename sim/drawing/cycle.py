"""A picture of a cycle of links and consumption channels that worms hold and ask for."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np

from wormcast.algorithms import Topology

from ..common.frame import SMALL, text_width
from ..common.text import resource_text
from .arrows import APART, along, aside, outlines
from .layout import layout_of
from .network import FAR, draw_lines, draw_nodes, free_direction, line_angles
from .sheet import Mark, Sheet

__all__ = ["cycle_sheet", "draw_cycle"]

HELD = "#b2182b"  # dark in grey too
CHANNEL = "#2166ac"

# points
LEAST, LARGEST = 17.0, 43.0  # a cell that holds what is drawn at a node, and one with space about it
SHORT = 3.2  # of an arrow, from its nodes
HALF, HEAD, BARB = 0.55, 3.6, 1.1
NUMBER = 3.6  # from an arrow to its number
SQUARE, FARTHER = 7.0, 9.0  # from a node to the square of its consumption channel; to one that finds no place there


def draw_cycle(topology: Topology, resources: Sequence[str], file: Path, form: str, caption: Sequence[str]) -> None:
    """Draw a network, and in it the resources of a cycle.

    Links become arrows beside the line between their switches, consumption channels squares at their node. They are
    numbered in the order given, and listed by their numbers below. The same cycle gives the same file.

    Parameters
    ----------
    topology : Topology
        That `require_drawable` lets pass.
    resources : sequence of str
        ``link:U>V:vc`` and ``cons:NODE:i``, each held by a worm that asks for the next; none draws the network alone.
    file : Path
        To write; its ending does not matter.
    form : "svg" or "png"
    caption : sequence of str
        What is drawn, written below; each on a line of its own.
    """
    cycle_sheet(topology, resources, caption).write(file, form)


def cycle_sheet(topology: Topology, resources: Sequence[str], caption: Sequence[str]) -> Sheet:
    """Draw as `draw_cycle` does, without writing it."""
    layout = layout_of(topology)
    listed = ", ".join(f"{number}\N{NO-BREAK SPACE}{resource_text(topology, resource)}"
                       for number, resource in enumerate(resources, 1))
    kinds = {resource.split(":")[0] for resource in resources}
    marks: list[Mark] = []
    if "link" in kinds:
        marks.append(("link", {"color": HELD, "linewidth": 1.1, "marker": ">", "markersize": 3}))
    if "cons" in kinds:
        marks.append(("consumption channel", {"color": CHANNEL, "marker": "s", "markersize": 5}))
    title = f"a cycle of {len(resources)}: each is held by a worm that asks for the next" if resources else "no cycle"
    channels = Counter(resource.split(":")[1] for resource in resources if resource.startswith("cons"))
    clear = SQUARE + FARTHER * max(0, max(channels.values(), default=0) - 2)
    sheet = Sheet(layout, least=LEAST / min(1, 2 * layout.narrowest), largest=LARGEST, clear=clear, legend=marks,
                  title=title, words=[*([listed] if listed else []), *caption])
    draw_lines(sheet, topology, layout)
    draw_nodes(sheet, topology, layout)

    taken: dict[int, list[float]] = defaultdict(list)  # directions in which arrows lie at each switch
    held = [(number, re.split("[:>]", resource)) for number, resource in enumerate(resources, 1)]
    links = [(number, int(start), int(end)) for number, (kind, start, end, *_) in held if kind == "link"]
    for number, start, end in links:
        _arrow(sheet, layout.switches[[start]], layout.switches[[end]], str(number))
        forward = along(layout.switches[start], layout.switches[end])
        right = aside(forward)
        for switch, leaving in ((start, forward), (end, -forward)):
            taken[switch].append(float(np.arctan2(*(leaving * SHORT + right * APART * 2)[::-1])))
    squares: dict[tuple[int, int], list[float]] = defaultdict(list)  # at each node, near to it and farther
    for number, (kind, place, *_) in held:
        if kind == "cons":
            node = int(place)
            angles = [*line_angles(topology, layout, node), *taken[int(topology.consumptions[node, 0])]]
            for ring in count():
                angle, gap = free_direction([*angles, *squares[node, ring]])
                if gap >= FAR or not squares[node, ring]:
                    break
            squares[node, ring].append(angle)
            reach = sheet.cells(SQUARE + FARTHER * ring)
            _square(sheet, layout.nodes[node], reach * np.array([np.cos(angle), np.sin(angle)]), str(number))
    return sheet


def _arrow(sheet: Sheet, start: np.ndarray, end: np.ndarray, number: str) -> None:
    from matplotlib.patches import Polygon

    corners = outlines(start, end, apart=sheet.cells(APART + HALF), short=sheet.cells(SHORT), half=sheet.cells(HALF),
                       head=sheet.cells(HEAD), barb=sheet.cells(BARB))[0]
    sheet.axes.add_patch(Polygon(corners, facecolor=HELD, edgecolor="none", zorder=4))
    away = aside(along(start, end))[0] * (APART + NUMBER + max(0.0, text_width(number, SMALL) / 2 - 1))
    x, y = ((start + end)[0] / 2 + away * sheet.cells(1)).tolist()
    sheet.axes.text(x, y, number, ha="center", va="center_baseline", color=HELD, zorder=5, fontsize=SMALL)


def _square(sheet: Sheet, node: np.ndarray, away: np.ndarray, number: str) -> None:
    x, y = (node + away).tolist()
    sheet.axes.plot(*np.stack([node, node + away], axis=1), color=CHANNEL, linewidth=0.8, zorder=2)
    sheet.axes.text(x, y, number, ha="center", va="center", color="white", zorder=5, fontsize=SMALL,
                    bbox={"boxstyle": "square,pad=0.15", "facecolor": CHANNEL, "edgecolor": "none"})
