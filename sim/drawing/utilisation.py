"""A picture of how busy the links of a network are."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from ..common.frame import SIZE, SMALL, WORDS
from .arrows import outlines
from .cables import nearest
from .layout import layout_of
from .network import clear_of_names, draw_boxes, draw_names, draw_node_lines, draw_planes, shorts
from .sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

__all__ = ["round_up", "utilisation_sheet"]

Floats = npt.NDArray[np.float64]

COLOURS = ("#e9e9e9", "#fdcc8a", "#fc8d59", "#d7301f", "#67000d")  # darker all the way, so in grey too
EDGE = "#808080"

# points, where a cell has as many as FULL; in a smaller one all are smaller
LEAST, FULL, LARGEST = 14.4, 27.0, 43.0
APART = 3.1  # of a link from the line
THIN, THICK = 0.8, 4.6  # a link without a flit, and the busiest
RADIUS = 5.6  # of a node
NODE = 0.3  # of what nodes apart from their switches are apart: their radius
SHORT = 5.1  # of a link, from its nodes
HEAD, BARB = 4.0, 0.9

# inches
BAR = 0.42  # that the scale takes, with its words
BAR_ABOVE = 0.2  # from what is below
BAR_WIDTH, BAR_HEIGHT = 2.2, 0.07


def utilisation_sheet(topology: Topology, links: Floats, inside: tuple[Floats, Floats], title: str,
                      words: Sequence[str]) -> Sheet:
    """Draw a network with a number for each link as its colour and width.

    The two directions of a link lie apart, each to the right of where it leads.

    Parameters
    ----------
    topology : Topology
        That `require_drawable` lets pass.
    links : float array [links]
        From 0, in the order of the topology's links.
    inside : two float arrays [nodes]
        For the left and the right half of each node, or for its two places where it is drawn twice.
    title : str
        What the numbers are.
    words : sequence of str
        What is written below.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PatchCollection, PolyCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Wedge

    layout = layout_of(topology)
    dense = min(1.0, 1.9 * layout.narrowest)
    least = LEAST if layout.boxes.any() else LEAST / dense
    sheet = Sheet(layout, least=least, largest=LARGEST, clear=clear_of_names(topology, layout, RADIUS), words=words,
                  room=BAR)
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
    both = ((90, 270), (-90, 90)) if not layout.drawn_twice else ((0, 360), (0, 360))
    for values, angles, places in zip(inside, both, (layout.nodes, layout.sinks), strict=True):
        halves = [Wedge(tuple(centre), radius, *angles) for centre in places.tolist()]
        sheet.axes.add_collection(PatchCollection(halves, facecolors=scale.to_rgba(values), edgecolors=EDGE,
                                                  linewidths=0.3, zorder=3), autolim=False)
    _bar(sheet, scale, title)
    return sheet


def _bar(sheet: Sheet, scale: "ScalarMappable", title: str) -> None:
    """Draw the scale below the network."""
    bar = sheet.figure.add_axes((0.5 - BAR_WIDTH / 2 / sheet.width, (sheet.foot + BAR_ABOVE) / sheet.height,
                                 BAR_WIDTH / sheet.width, BAR_HEIGHT / sheet.height))
    sheet.figure.colorbar(scale, cax=bar, orientation="horizontal").outline.set_linewidth(0.4)
    bar.tick_params(length=2, width=0.4, pad=1, labelsize=SMALL + 0.5, colors=WORDS)
    bar.set_title(title, fontsize=SIZE, pad=2)


def round_up(value: float) -> float:
    """The next of 1, 1.2, 1.6, 2, 3, 4, 5, 6, 8 times a power of ten: where the scale ends."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return power * next(step for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))
