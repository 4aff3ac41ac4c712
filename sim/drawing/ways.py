"""Geometry of lines with several points: straight lines, curves, and lines beside them."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["along", "arc", "aside", "beside", "cut", "length_of", "longest", "middle_of", "reaches"]

Floats = npt.NDArray[np.float64]

RAMP = 0.8  # length of the part at either end of a curve that leads away from the straight line, in cells
STEPS = 7  # points of a ramp
SHARPEST = 0.3  # smallest squared cosine of half a turn; at sharper turns, shifted corners are cut off


def along(start: Floats, end: Floats) -> Floats:
    """Return unit vectors from start to end, [..., 2]."""
    difference = end - start
    return difference / np.linalg.norm(difference, axis=-1, keepdims=True)


def aside(direction: Floats) -> Floats:
    """Return unit vectors to the right of ``direction``, [..., 2]. The y axis points down."""
    return np.stack([-direction[..., 1], direction[..., 0]], axis=-1)


def arc(start: Floats, end: Floats, bulge: float) -> Floats:
    """Return a curve between two positions that runs ``bulge`` cells to the right of the straight line.

    The curve leaves the straight line within 0.8 cells of each end, or half the line's length if that is less. In the
    middle, the curve is parallel to the straight line. The result is float [points, 2].
    """
    if not bulge:
        return np.stack([start, end])
    reach = float(np.linalg.norm(end - start))
    ramp = min(RAMP, reach / 2)
    share = np.linspace(0, 1, STEPS)
    distance = np.unique(np.concatenate([share * ramp, reach - share * ramp]).round(9))
    near = np.minimum(1, np.minimum(distance, reach - distance) / ramp)
    forward = along(start, end)
    return start + distance[:, None] * forward + (bulge * (1 - (1 - near) ** 2))[:, None] * aside(forward)


def length_of(way: Floats) -> float:
    """Return the length of a line."""
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())


def longest(way: Floats) -> Floats:
    """Return both ends of the longest straight part of a line, [2, 2]."""
    at = int(np.argmax(np.linalg.norm(np.diff(way, axis=0), axis=1).round(9)))
    return way[at:at + 2]


def beside(way: Floats, apart: float) -> Floats:
    """Return the line at the distance ``apart`` to the right of a line; negative: to the left; float [points, 2]."""
    right = aside(along(way[:-1], way[1:]))
    found = [way[0] + apart * right[0]]
    for corner, (one, other) in zip(way[1:-1], pairwise(right), strict=True):
        middle = (one + other) / 2
        found.append(corner + apart * middle / max(float(middle @ middle), SHARPEST))
    return np.array([*found, way[-1] + apart * right[-1]])


def cut(way: Floats, first: float, last: float) -> Floats:
    """Remove the lengths ``first`` and ``last`` from the start and the end of a line."""
    return _shortened(_shortened(way, first)[::-1], last)[::-1]


def _shortened(way: Floats, left: float) -> Floats:
    for at, (start, end) in enumerate(pairwise(way)):
        reach = float(np.linalg.norm(end - start))
        if left < reach or at == len(way) - 2:
            return np.concatenate([[start + (end - start) * left / (reach or 1.0)], way[at + 1:]])
        left -= reach
    return way


def middle_of(way: Floats, share: float = 0.5) -> tuple[Floats, Floats]:
    """Return the point at a share of a line's length, and the unit vector of the line's direction at this point."""
    rest = _shortened(way, share * length_of(way))
    return rest[0], along(rest[0], rest[1]) if len(rest) > 1 and (rest[0] != rest[1]).any() else along(*way[-2:])


def reaches(way: Floats, step: float = 0.1) -> Floats:
    """Return points along a line, at most ``step`` cells apart; float [points, 2]."""
    parts = []
    for start, end in pairwise(way):
        number = max(1, int(np.ceil(np.linalg.norm(end - start) / step)))
        parts.append(start + np.linspace(0, 1, number, endpoint=False)[:, None] * (end - start))
    return np.concatenate([*parts, way[-1:]])
