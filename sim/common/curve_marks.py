"""Drawing of curves in a panel: lines and markers that coincide stay visible; saturated points are above the frame."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .curve_frame import PLAIN, marker_options, marker_size
from .frame import POINTS
from .picture_style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ABOVE_WORDS", "BESIDE_WORDS", "MARKS", "CurveMarks", "draw_curves", "interval_words", "legend_signs"]

Floats = npt.NDArray[np.float64]

STEP = 1.25  # least distance of markers, in sizes of a marker; a marker with its edge is narrower

# points
SAME = 1.2  # largest distance of the ends of two lines that count as one line
DASH = 3.5  # length of a dash where curves run together
ABOVE = 1.1  # distance of the marks of saturated points from the frame, in sizes of a marker

ABOVE_ALL = 1e4  # height on the page of saturated points, whose latency has no limit

SPREAD = 3.0  # largest distance between the outermost of the markers side by side, in sizes of a marker
BARS = 0.35  # distance of markers side by side if only their intervals overlap, in sizes of a marker
SHARE = 0.6  # largest share of the distance to the next point that the markers side by side take

#: Meanings of the marks in plots of curves, in the order of the legend.
MARKS = {"half": "imprecise mean", "open": "saturated", "dead": "deadlock"}

#: Text of captions about the marks of saturated points in panels of latencies.
ABOVE_WORDS = "above the frame: saturated, no steady latency"

#: Text of captions about the places of markers.
BESIDE_WORDS = "markers and bars that would hide one another are shifted, the lines have the values"


@dataclass(frozen=True)
class CurveMarks:
    """A curve in one panel.

    Parameters
    ----------
    look : mapping
        Colour, marker and dashes, from `line_style`.
    at, up : sequence of float
        Positions of the points, in the order along the curve. If ``up`` is NaN, the point has no marker on
        the curve, and the line has a gap.
    kinds : sequence of str
        Kind of each point's marker: ``full``, ``half`` or ``open``.
    halves : sequence of float
        Half the width of each point's interval; empty if there are no intervals.
    saturated, dead : sequence of float
        Positions along the x axis of saturated points, marked above the frame, and of deadlocks, marked at the frame's
        edge.
    """

    look: dict[str, Any]
    at: Sequence[float]
    up: Sequence[float]
    kinds: Sequence[str]
    halves: Sequence[float] = ()
    saturated: Sequence[float] = ()
    dead: Sequence[float] = field(default=())


def draw_curves(axes: "Axes", curves: Sequence[CurveMarks], *, diagonal: bool = False,
                dead_at_top: bool = True) -> None:
    """Draw curves into axes whose limits, scales and labels are set.

    Lines join neighbouring points only, and run through the points' values. Where lines of several curves run together,
    their colours alternate. Markers that would hide one another, or whose intervals overlap, stand side by side.
    A saturated point has no steady latency, so that it is marked above the frame, not at a latency.

    Parameters
    ----------
    diagonal : bool
        Markers on the diagonal from (0, 0) to (1, 1), on which all flits are delivered, stand side by side along this
        diagonal. Other markers stand side by side along the x axis.
    dead_at_top : bool
        Deadlocks are marked at the upper edge, in place of the lower edge.
    """
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # the layout decides which points are close
    seen = [_seen(axes, curve) for curve in curves]
    for one, dashes in _segments(seen, [_with_saturated(axes, *one) for one in zip(curves, seen, strict=True)]):
        curve = curves[one[0]]
        ends = slice(one[1], one[1] + 2)
        axes.plot(curve.at[ends], curve.up[ends], color=curve.look["color"],
                  linestyle=curve.look["linestyle"] if dashes is None else dashes, linewidth=style().weight, zorder=2)
    every = zip(curves, _offsets(axes, curves, seen, diagonal), strict=True)
    points = [(curve, index, offset) for curve, offsets in every
              for index, offset in enumerate(offsets) if not math.isnan(curve.up[index])]
    # where markers overlap for lack of room, none hides the open half of a half filled marker, which is on the right
    halves = [one for one in points if one[0].kinds[one[1]] == "half"]
    others = [one for one in points if one[0].kinds[one[1]] != "half"]
    for curve, index, offset in [*others, *sorted(halves, key=lambda one: -one[2][0])]:
        _point(axes, curve, index, offset)
    _above(axes, curves)
    _deadlocks(axes, curves, top=dead_at_top)


def interval_words(kinds: Collection[str], curves: int) -> str:
    """Return the text of captions about intervals and about the places of markers.

    ``kinds``: kinds of marks (keys of `MARKS`) that occur; ``curves``: number of curves.
    """
    imprecise = ["imprecise mean: the interval is too wide, or a seed has too few messages"]
    several = [BESIDE_WORDS, "alternating colours: lines coincide"]
    return "; ".join(["bars: 95 % intervals, with an arrowhead where they leave the frame at the top",
                      *imprecise * ("half" in kinds), *several * (curves > 1)])


def legend_signs(kinds: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the legend's entries for the kinds of marks (keys of `MARKS`) that occur: label, marker options."""
    plain = {"color": PLAIN, "marker": "o"}
    looks = {"half": marker_options(plain, "half"), "open": marker_options(plain, "open"),
             "dead": {"color": PLAIN, "marker": "x", "markersize": 1.2 * marker_size()}}
    return [(MARKS[kind], looks[kind]) for kind in MARKS if kind in kinds]


def _seen(axes: "Axes", curve: CurveMarks) -> Floats:
    """Return the positions of a curve's points on the page in points, [points, 2]."""
    found: Floats = np.full((len(curve.at), 2), np.nan)
    known = ~np.isnan(np.array(curve.up, float))
    if known.any():
        places = np.stack([np.array(curve.at, float)[known], np.array(curve.up, float)[known]], axis=1)
        found[known] = axes.transData.transform(places) * POINTS / _dpi(axes)
    return found


def _with_saturated(axes: "Axes", curve: CurveMarks, places: Floats) -> Floats:
    """Return the positions of a curve's points in the frame and above it, from left to right, [points, 2]."""
    bottom = axes.get_ylim()[0]
    above = axes.transData.transform(np.array([(at, bottom) for at in curve.saturated]).reshape(-1, 2))
    found = np.concatenate([places[~np.isnan(places[:, 0])], above * POINTS / _dpi(axes)])
    found[len(found) - len(above):, 1] = ABOVE_ALL
    return found[np.argsort(found[:, 0], kind="stable")]


def _dpi(axes: "Axes") -> float:
    return float(axes.get_figure(root=True).dpi)  # type: ignore[union-attr]


def _segments(seen: Sequence[Floats], known: Sequence[Floats]) -> list[tuple[tuple[int, int], Any]]:
    """Return the lines between neighbouring points: curve and first point of each, and dashes where lines coincide.

    A line is left out if it passes a point of another curve on the wrong side (`_reverses`). ``known``: for each curve,
    the result of `_with_saturated`.
    """
    found = [(number, index) for number, places in enumerate(seen) for index in range(len(places) - 1)
             if not np.isnan(places[index:index + 2]).any()
             and not any(_reverses(places[index:index + 2], other)
                         for curve, other in enumerate(known) if curve != number)]
    ends = np.array([seen[number][index:index + 2].ravel() for number, index in found]).reshape(-1, 4)
    lines: list[tuple[tuple[int, int], Any]] = []
    for row, one in enumerate(found):
        group = np.flatnonzero((np.abs(ends - ends[row]) <= SAME).all(axis=1)).tolist()
        dash, rank = DASH / style().weight, group.index(row)
        dashes = (dash * (len(group) - rank), (dash, dash * (len(group) - 1))) if len(group) > 1 else None
        lines.append((one, dashes))
    return lines


def _reverses(line: Floats, other: Floats) -> bool:
    """Return whether a line with both ends above another curve passes below a point of this curve, or with both ends
    below it above a point."""
    (start, first), (end, last) = line
    inside = other[(other[:, 0] > start + SAME) & (other[:, 0] < end - SAME)]
    if not len(inside) or not other[0, 0] - SAME <= start <= end <= other[-1, 0] + SAME:
        return False
    ends = np.array([first, last]) - np.interp([start, end], *other.T)
    passed = np.interp(inside[:, 0], [start, end], [first, last]) - inside[:, 1]
    return bool(((ends > SAME).all() and (passed < -SAME).any()) or ((ends < -SAME).all() and (passed > SAME).any()))


def _diagonal(axes: "Axes") -> tuple[Floats, Floats]:
    """Return the place of (0, 0) on the page in points, and the unit vector from there to (1, 1)."""
    start, end = axes.transData.transform([(0.0, 0.0), (1.0, 1.0)])
    return start * POINTS / _dpi(axes), (end - start) / np.linalg.norm(end - start)


def _offsets(axes: "Axes", curves: Sequence[CurveMarks], seen: Sequence[Floats], diagonal: bool) -> list[Floats]:
    """Return the offsets of the points' markers from their positions in points, for each curve [points, 2].

    The markers' centres stay inside the frame.
    """
    size = marker_size()
    rows = [(number, index) for number, places in enumerate(seen) for index in range(len(places))
            if not np.isnan(places[index, 0])]
    found = [np.zeros_like(places) for places in seen]
    if not rows:
        return found
    at = np.array([seen[number][index] for number, index in rows])
    low, high = (np.array([_reach(axes, curves[number], index, sign) for number, index in rows]) for sign in (-1, 1))
    half = STEP * size / 2
    low, high = np.minimum(low, at[:, 1] - half), np.maximum(high, at[:, 1] + half)
    start, along = _diagonal(axes)
    frame = axes.transAxes.transform([(0, 0), (1, 1)]) * POINTS / _dpi(axes)
    on_diagonal = diagonal & (np.abs((at - start) @ [-along[1], along[0]]) < size / 2)
    curve_of = np.array([number for number, _ in rows])
    left = set(range(len(rows)))
    while left:
        group, front = set[int](), {min(left)}
        while front:
            group |= front
            near = {other for one in front for other in np.flatnonzero(
                (np.abs(at[:, 0] - at[one, 0]) <= np.where(curve_of == curve_of[one], size / 2, size))
                & (low <= high[one]) & (high >= low[one])).tolist()}
            front = near - group
        left -= group
        members = sorted(group, key=lambda row: (round(float(at[row, 0]), 1), rows[row]))
        gaps = np.abs(at[members, 0, None] - np.delete(at[:, 0], members))
        room = SHARE * float(gaps[gaps > size].min(initial=math.inf))  # nearer points are at other heights
        hidden = np.diff(np.sort(at[members, 1])).min(initial=math.inf) < STEP * size
        step = min((STEP if hidden else BARS) * size, min(room, SPREAD * size) / max(1, len(members) - 1))
        for place, row in enumerate(members):
            across = along if on_diagonal[row] else np.array([1.0, 0.0])
            number, index = rows[row]
            offset = (place - (len(members) - 1) / 2) * step * across
            found[number][index] = np.clip(at[row] + offset, *frame) - at[row]
    return found


def _reach(axes: "Axes", curve: CurveMarks, index: int, sign: int) -> float:
    """Return the lower or the upper end of a point's interval on the page in points."""
    half = curve.halves[index] if curve.halves else 0.0
    bottom, top = axes.get_ylim()
    end = min(max(curve.up[index] + sign * half, bottom), top)
    return float(axes.transData.transform((curve.at[index], end))[1]) * POINTS / _dpi(axes)


def _shifted(axes: "Axes", transform: Any, offset: Sequence[float] | Floats) -> Any:
    """Return a transform that shifts by an offset in points."""
    from matplotlib.transforms import ScaledTranslation

    return transform + ScaledTranslation(offset[0] / POINTS, offset[1] / POINTS,
                                         axes.figure.dpi_scale_trans)


def _point(axes: "Axes", curve: CurveMarks, index: int, offset: Floats) -> None:
    """Draw a point's interval and its marker."""
    at, up = curve.at[index], curve.up[index]
    moved = _shifted(axes, axes.transData, offset)
    half = curve.halves[index] if curve.halves else 0.0
    if half:
        bottom, top = axes.get_ylim()
        line = {"color": curve.look["color"], "linewidth": 0.6 * style().weight, "transform": moved, "zorder": 2.5,
                "clip_on": False}
        ends = [max(up - half, bottom), min(up + half, top)]
        axes.plot([at, at], ends, **line)
        caps = [end for end, value in zip(ends, (up - half, up + half), strict=True) if end == value]
        axes.plot([at] * len(caps), caps, marker="_", linestyle="", markersize=marker_size(),
                  markeredgewidth=0.6 * style().weight, **line)
        if ends[1] < up + half:
            axes.plot([at], ends[1:], marker="^", linestyle="", markersize=0.6 * marker_size(), **line)
    # half of a marker on the frame is outside
    axes.plot([at], [up], linestyle="", transform=moved, zorder=3, clip_on=False,
              **marker_options(curve.look, curve.kinds[index]))


def _above(axes: "Axes", curves: Sequence[CurveMarks]) -> None:
    """Mark saturated points above the frame: the curve's open marker below an arrow."""
    size = marker_size()
    marks = [(at, curve) for curve in curves for at in curve.saturated]
    pixel = axes.transData.transform([(at, axes.get_ylim()[0]) for at, _ in marks] or np.zeros((0, 2)))[:, 0]
    places = pixel * POINTS / _dpi(axes)
    left = axes.get_xaxis_transform()
    taken: list[float] = []
    for (at, curve), place in zip(marks, places.tolist(), strict=True):
        offset = next(shift for shift in _outwards(1.15 * size)
                      if all(abs(place + shift - other) > 1.1 * size for other in taken))
        taken.append(place + offset)
        for height, sign in ((ABOVE * size, marker_options(curve.look, "open")),
                             ((ABOVE + 1.5) * size, {"marker": r"$\uparrow$", "color": curve.look["color"],
                                                     "markersize": 1.8 * size, "markeredgewidth": 0.3})):
            axes.plot([at], [1.0], linestyle="", clip_on=False, zorder=4,
                      transform=_shifted(axes, left, (offset, height)), **sign)


def _outwards(step: float) -> Iterator[float]:
    """Yield 0 and then the multiples of a step on both sides, by growing distance."""
    yield 0.0
    number = 1
    while True:
        yield number * step
        yield -number * step
        number += 1


def _deadlocks(axes: "Axes", curves: Sequence[CurveMarks], *, top: bool) -> None:
    """Mark deadlocks along an edge of the frame, a row of crosses for each curve."""
    size, row = marker_size(), 0
    for curve in curves:
        if not curve.dead:
            continue
        offset = (0.0, (-1 if top else 1) * 2.2 * size * (row + 0.6))
        across = _shifted(axes, axes.get_xaxis_transform(), offset)
        for sign in (marker_options(curve.look, "open") | {"markersize": 2 * size},
                     {"color": curve.look["color"], "marker": "x", "markersize": size}):
            axes.plot(curve.dead, [int(top)] * len(curve.dead), linestyle="", transform=across, zorder=3, **sign)
        row += 1
