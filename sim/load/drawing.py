"""A picture of a mesh under load: how busy each link is, one column of a paper wide, or as it takes."""

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..drawing import LETTERS, LINE, MARGIN, WIDTH, WORDS
from ..wording import count
from .result import Load
from .trace import Trace
from .traffic import Traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_utilisation"]

Floats = npt.NDArray[np.float64]

CELL, LEAST_CELL = 0.375, 0.2  # inches from node to node
WIDEST = 7.0  # of a picture with cells that are not the least: a page
BAR = 0.42  # inches that the scale takes, with its words
FOOT = 0.06

# in cells
RADIUS = 0.21  # of a node
ASIDE = 0.115  # of a link from the grid line, to the right of its direction: the two directions lie apart
THIN, THICK = 0.03, 0.17  # a link without a flit, and the busiest
SHORT = 0.19  # of a link, from its nodes
HEAD, BARB = 0.15, 0.035  # of an arrow: its length, and how far it stands out on either side

COLOURS = ("#e9e9e9", "#fdcc8a", "#fc8d59", "#d7301f", "#67000d")  # darker all the way, so in grey too
EDGE = "#808080"


def draw_utilisation(result: Load, file: Path, form: str) -> None:
    """Draw a two-dimensional mesh with the flits per cycle on each link as its colour and width.

    The two directions of a link lie apart, each to the right of where it leads. The left half of a node has the colour
    of its injection link, the right half that of its consumption link; of several the mean. The same result gives the
    same file.

    Parameters
    ----------
    result : Load
        Of a mesh that `wormcast.sim.drawing.require_drawable` lets pass; one in a deadlock has no utilisation.
    file : Path
        To write; its ending does not matter.
    form : "svg" or "png"
    """
    # takes half a second to load, which every other command would wait for
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.figure import Figure

    rows, columns = result.topology.shape
    cell = min(CELL, max(LEAST_CELL, (WIDEST - 2 * MARGIN) / columns))
    width = max(WIDTH, cell * columns + 2 * MARGIN)
    lines = [line for text in _caption(result) for line in textwrap.wrap(text, int(LETTERS * width))]
    foot = FOOT + LINE * len(lines)
    height = MARGIN + cell * (rows - 0.2) + BAR + foot
    network = result.link_table("network")
    flits = np.array([link[2] for link in network])
    inside = [_by_node(result, kind) for kind in ("injection", "consumption")]
    largest = _round_up(max(float(flits.max(initial=0)), *(float(values.max()) for values in inside)))
    scale = ScalarMappable(Normalize(0, largest), LinearSegmentedColormap.from_list("busy", COLOURS))

    with matplotlib.rc_context({"font.size": 6, "font.family": "DejaVu Sans", "svg.hashsalt": "wormcast"}):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        left, top = (width / cell - columns) / 2 + 0.5, MARGIN / cell + 0.1
        axes.set(xlim=(-left, width / cell - left), ylim=(height / cell - top, -top), aspect="equal")
        axes.axis("off")
        where = result.topology.coordinates[:, ::-1].astype(float)
        ends = np.array([link[:2] for link in network], int).reshape(-1, 2)
        _links(axes, where[ends[:, 0]], where[ends[:, 1]], flits / largest, scale.to_rgba(flits))
        _nodes(axes, where, [scale.to_rgba(values) for values in inside])
        _numbers(axes, rows, columns)

        bar = figure.add_axes((0.5 - 1.1 / width, (foot + 0.24) / height, 2.2 / width, 0.07 / height))
        figure.colorbar(scale, cax=bar, orientation="horizontal").outline.set_linewidth(0.4)
        bar.tick_params(length=2, width=0.4, pad=1, labelsize=5.5, colors=WORDS)
        bar.set_title("flits per cycle on a link", fontsize=6, pad=2)
        figure.text(0.5, FOOT / height, "\n".join(lines), ha="center", va="bottom", linespacing=1.2)
        figure.savefig(file, format=form, dpi=300, metadata={"Date": None} if form == "svg" else None)


def _caption(result: Load) -> list[str]:
    """What is drawn, in lines."""
    topology, traffic, mean, busiest = (result.topology, result.traffic, result.utilisation("network").mean,
                                        result.busiest("network"))
    hardware = f"{count(result.configuration.vcs, 'VC')} x {count(result.configuration.buffer, 'flit')}"
    length = f"{count(len(result.seeds), 'seed')} x {result.cycles} cycles, the first {result.warmup} not counted"
    said = [f"{result.scheme.name} on {topology.name}, {_sent(traffic)}" + ", saturated" * result.saturated,
            f"{hardware}, {length}"]
    if mean is not None and busiest is not None:
        first, second, flits = busiest
        said.append(f"links between routers: mean {mean:.3f}, most {flits:.3f} from {topology.node_name(first)} to "
                    f"{topology.node_name(second)}")
    return [*said, "node: left half injection link, right half consumption link"]


def _sent(traffic: Traffic | Trace) -> str:
    """What is sent, in short."""
    if isinstance(traffic, Trace):
        return f"trace {traffic.path}"
    share = "multicasts" if traffic.multicast_fraction == 1 else f"{traffic.multicast_fraction:.0%} multicasts"
    told = f"{traffic.rate:g} flits created per node and cycle"
    if traffic.multicast_fraction:
        numbers = (f"{traffic.destinations_counts}" if traffic.destinations_counts is not None
                   else f"{traffic.destinations_mean:g}")
        told += f", {share} of {count(traffic.length, 'flit')} to {numbers} nodes"
    if traffic.multicast_fraction < 1:
        told += f", unicasts of {count(traffic.unicast_length, 'flit')}"
    return told + (f", {traffic.pattern}" if traffic.pattern != "uniform" else "")


def _by_node(result: Load, kind: str) -> Floats:
    """Flits per cycle on a link of each node, the mean of several; [nodes]."""
    table = result.link_table(kind)
    nodes = np.array([link[0] for link in table])
    flits = np.bincount(nodes, [link[2] for link in table], result.topology.nodes)
    return flits / np.bincount(nodes, minlength=result.topology.nodes)


def _round_up(value: float) -> float:
    """The next of 1, 1.2, 1.6, 2, 3, 4, 5, 6, 8 times a power of ten: where the scale ends."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return power * next(step for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))


def _links(axes: "Axes", start: Floats, end: Floats, share: Floats, colours: Floats) -> None:
    """Draw arrows from node to node, as thick as their share of the scale says."""
    from matplotlib.collections import PolyCollection

    along = end - start
    aside = np.stack([-along[:, 1], along[:, 0]], axis=1)  # to the right, as y points down
    half = (THIN + (THICK - THIN) * share)[:, None] / 2

    def at(forward: float, sideways: Floats) -> Floats:
        return start + forward * along + (ASIDE + sideways) * aside

    neck, tip = 1 - SHORT - HEAD, 1 - SHORT
    outline = [at(SHORT, -half), at(neck, -half), at(neck, -half - BARB), at(tip, 0 * half), at(neck, half + BARB),
               at(neck, half), at(SHORT, half)]
    order = np.argsort(share, kind="stable")
    axes.add_collection(PolyCollection(list(np.stack(outline, axis=1)[order]), facecolors=colours[order],
                                       edgecolors=EDGE, linewidths=0.15, zorder=2))


def _nodes(axes: "Axes", where: Floats, halves: list[Floats]) -> None:
    """Draw nodes as two half circles, left and right."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Wedge

    for colours, angles in zip(halves, ((90, 270), (-90, 90)), strict=True):
        axes.add_collection(PatchCollection([Wedge(tuple(centre), RADIUS, *angles) for centre in where],
                                            facecolors=colours, edgecolors=EDGE, linewidths=0.3, zorder=3))


def _numbers(axes: "Axes", rows: int, columns: int) -> None:
    """Number columns above and rows to the left."""
    for column in range(columns):
        axes.annotate(str(column), (column, 0), (0, 11), textcoords="offset points", ha="center", color=WORDS)
    for row in range(rows):
        axes.annotate(str(row), (0, row), (-11, 0), textcoords="offset points", ha="right", va="center", color=WORDS)
