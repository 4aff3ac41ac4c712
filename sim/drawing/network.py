"""The network itself: lines between switches, nodes, and where beside a node nothing runs."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from .layout import Layout
from .sheet import PLAIN, Sheet

__all__ = ["FAR", "NODE", "draw_lines", "draw_nodes", "draw_planes", "free_direction", "line_angles"]

Floats = npt.NDArray[np.float64]

NODE = 1.9  # points: radius of a node, and half a switch that is none's own
EDGE = "#606060"
GROUND = "#f5f5f5"
LINE = 0.6
CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))
STEPS = 16  # of the other angles that are tried
FAR = float(np.radians(40))


def draw_planes(sheet: Sheet, layout: Layout) -> None:
    """Draw a ground for what lies in a plane."""
    if not layout.planes:
        return
    from matplotlib.collections import PolyCollection

    sheet.axes.add_collection(PolyCollection(list(layout.planes), facecolors=GROUND, edgecolors="none", zorder=0),
                              autolim=False)


def draw_lines(sheet: Sheet, topology: Topology, layout: Layout) -> None:
    """Draw a line between each two neighbours, on a ground for each plane."""
    from matplotlib.collections import LineCollection

    draw_planes(sheet, layout)
    pairs = np.unique(np.sort(topology.links[:, [0, 2]], axis=1), axis=0)
    sheet.axes.add_collection(LineCollection(list(layout.switches[pairs]), colors=PLAIN, linewidths=LINE, zorder=1),
                              autolim=False)


def draw_nodes(sheet: Sheet, topology: Topology, layout: Layout, radius: float = NODE) -> None:
    """Draw a circle of this radius, in points, for each node.

    A switch that no node shares its place with is a square, and a line joins it to its nodes.
    """
    from matplotlib.collections import LineCollection

    homes = topology.consumptions[:, 0]
    apart = (layout.switches[homes] != layout.nodes).any(axis=1)
    joined = np.stack([layout.nodes, layout.switches[homes]], axis=1)[apart]
    sheet.axes.add_collection(LineCollection(list(joined), colors=PLAIN, linewidths=LINE, zorder=1), autolim=False)
    alone = layout.switches[np.setdiff1d(np.arange(topology.switches), homes[~apart])]
    for places, marker in ((layout.nodes, "o"), (alone, "s")):
        sheet.axes.scatter(places[:, 0], places[:, 1], s=(2 * radius) ** 2, marker=marker, facecolor="white",
                           edgecolor=EDGE, linewidth=LINE, zorder=3)


def line_angles(topology: Topology, layout: Layout, node: int | None = None) -> list[float]:
    """Directions in which lines leave a node, or any node, as angles from the right towards below."""
    homes = topology.consumptions[:, 0] if node is None else topology.consumptions[[node], 0]
    nodes = layout.nodes if node is None else layout.nodes[[node]]
    leaving = topology.links[np.isin(topology.links[:, 0], homes)]
    ways = np.concatenate([layout.switches[homes] - nodes,
                           layout.switches[leaving[:, 2]] - layout.switches[leaving[:, 0]]])
    ways = np.unique(ways[ways.any(axis=1)].round(6), axis=0)
    return np.arctan2(ways[:, 1], ways[:, 0]).tolist()


def free_direction(taken: Iterable[float]) -> tuple[float, float]:
    """An angle away from these, the first corner that is far enough from all or whatever is farthest; and how far."""
    turns = np.array([np.arctan2(y, x) for x, y in CORNERS] + [2 * np.pi * step / STEPS for step in range(STEPS)])
    gaps = np.abs((turns[:, None] - np.array(list(taken)) + np.pi) % (2 * np.pi) - np.pi)
    best = int(np.argmax(np.round(gaps.min(axis=1, initial=FAR), 6)))
    return float(turns[best]), float(gaps[best].min(initial=FAR))
