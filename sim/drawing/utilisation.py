"""Drawing of the link utilisation of a network."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from ..common.frame import WORDS
from ..common.picture_style import style
from .arrows import outlines
from .cables import nearest
from .layout import layout_of
from .network import clear_of_names, draw_boxes, draw_names, draw_node_lines, draw_planes, shorts
from .sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

__all__ = ["round_up", "utilisation_sheet"]

Floats = npt.NDArray[np.float64]

COLOURS = ("#e9e9e9", "#fdcc8a", "#fc8d59", "#d7301f", "#67000d")  # from light to dark, also in a grey print
EDGE = "#808080"

# lengths in points, for cells of at least FULL points; in smaller cells the lengths shrink in proportion
LEAST, FULL, LARGEST = 14.4, 27.0, 43.0
APART = 3.1  # distance of a link's arrow from the line between its switches, in points
THIN, THICK = 0.8, 4.6  # arrow's width in points: of an idle link, and of a link with the scale's largest value
RADIUS = 5.6  # radius of a node
NODE = 0.3  # largest radius of nodes that are not drawn in switches, as a share of the smallest distance of two nodes
SHORT = 5.1  # distance of a link's arrow from the centres of its nodes, in points
HEAD, BARB = 4.0, 0.9

# inches
BAR = 0.42  # height of the scale with its text, in inches
BAR_ABOVE = 0.2  # distance of the scale from the text below it, in inches
BAR_WIDTH, BAR_HEIGHT = 2.2, 0.07


def utilisation_sheet(topology: Topology, links: Floats, inside: tuple[Floats, Floats], title: str,
                      words: Sequence[str]) -> Sheet:
    """Draw a network. Colour and width of each link's arrow represent the link's value.

    Each link's arrow is to the right of the line between its switches; a one-way link's arrow is on the line.

    Parameters
    ----------
    topology : Topology
        Must pass `require_drawable`.
    links : float array [links]
        Values, at least 0, in the order of the topology's links.
    inside : two float arrays [nodes]
        Values of the left and the right half of each node, or of its two positions if it is drawn twice.
    title : str
        Title of the scale.
    words : sequence of str
        Text below the drawing.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PatchCollection, PolyCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Wedge
    from matplotlib.patheffects import withStroke

    layout = layout_of(topology)
    dense = min(1.0, 1.9 * layout.narrowest)
    least = LEAST if layout.boxes.any() else LEAST / dense
    sheet = Sheet(layout, least=least, largest=LARGEST, clear=clear_of_names(topology, layout, RADIUS), words=words,
                  room=BAR, rows=_rows(topology, links, inside))
    largest = round_up(max(float(values.max(initial=0)) for values in (links, *inside)))
    scale = ScalarMappable(Normalize(0, largest), LinearSegmentedColormap.from_list("busy", COLOURS))

    draw_planes(sheet, layout)
    share = links / largest
    half = (THIN + (THICK - THIN) * share) / 2
    unit = sheet.cells(min(1.0, sheet.cell * dense / FULL))
    corners = outlines(layout.links, apart=np.where(layout.one_way, 0, APART * unit),
                       short=unit * shorts(topology, layout, SHORT), half=half * unit, head=HEAD * unit,
                       barb=BARB * unit)
    order = np.argsort(share, kind="stable")
    sheet.axes.add_collection(PolyCollection([corners[link] for link in order], facecolors=scale.to_rgba(links)[order],
                                             edgecolors=EDGE, linewidths=0.15, zorder=2), autolim=False)
    radius = RADIUS * unit
    if layout.boxes.any():
        radius = min(sheet.cells(RADIUS), NODE * nearest(np.concatenate([layout.nodes, layout.sinks])))
        draw_node_lines(sheet, layout)
        draw_boxes(sheet, topology, layout)
        draw_names(sheet, topology, layout, radius * sheet.cell)
    elif not layout.names:
        for node, (x, y) in enumerate(layout.nodes.tolist()):
            sheet.axes.text(x, y, topology.node_name(node), fontsize=style().small, ha="center",
                            va="center_baseline", zorder=4,
                            path_effects=[withStroke(linewidth=1.2, foreground="white")])
    both = ((90, 270), (-90, 90)) if not layout.drawn_twice else ((0, 360), (0, 360))
    for values, angles, places in zip(inside, both, (layout.nodes, layout.sinks), strict=True):
        halves = [Wedge(tuple(centre), radius, *angles) for centre in places.tolist()]
        sheet.axes.add_collection(PatchCollection(halves, facecolors=scale.to_rgba(values), edgecolors=EDGE,
                                                  linewidths=0.3, zorder=3), autolim=False)
    _bar(sheet, scale, title)
    return sheet


def _rows(topology: Topology, links: Floats, inside: tuple[Floats, Floats]) -> list[dict[str, object]]:
    """Return a row for each value: kind of the link, its ends (switches, or a node), and the value."""
    rows: list[dict[str, object]] = [
        {"kind": "network", "from": topology.switch_title(int(start)), "to": topology.switch_title(int(end)),
         "flits_per_cycle": value}
        for (start, end), value in zip(topology.links[:, [0, 2]], links.tolist(), strict=True)]
    for kind, end, values in zip(("injection", "consumption"), ("from", "to"), inside, strict=True):
        rows += [{"kind": kind, "from": "", "to": "", end: topology.node_name(node), "flits_per_cycle": value}
                 for node, value in enumerate(values.tolist())]
    return rows


def _bar(sheet: Sheet, scale: "ScalarMappable", title: str) -> None:
    """Draw the scale below the network."""
    bar = sheet.figure.add_axes((0.5 - BAR_WIDTH / 2 / sheet.width, (sheet.foot + BAR_ABOVE) / sheet.height,
                                 BAR_WIDTH / sheet.width, BAR_HEIGHT / sheet.height))
    sheet.figure.colorbar(scale, cax=bar, orientation="horizontal").outline.set_linewidth(0.4)
    bar.tick_params(length=2, width=0.4, pad=1, labelsize=style().small + 0.5, colors=WORDS)
    bar.set_title(title, fontsize=style().text, pad=2)


def round_up(value: float) -> float:
    """Round up to 1, 1.2, 1.6, 2, 3, 4, 5, 6 or 8 times a power of ten, for the end of the scale."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return power * next(step for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))
