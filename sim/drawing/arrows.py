"""Outlines of arrows that follow a line at a distance."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .ways import beside, cut

__all__ = ["APART", "outlines"]

Floats = npt.NDArray[np.float64]

APART = 1.8  # distance of a link's arrow from the line, in points; the two directions are on opposite sides


def outlines(ways: Sequence[Floats], *, apart: npt.ArrayLike, short: npt.ArrayLike, half: npt.ArrayLike, head: float,
             barb: float) -> list[Floats]:
    """Return the corners of an arrow beside each line, each an array [corners, 2]. All lengths are in cells.

    A straight arrow has seven corners, from the start of its left side to the start of its right side. The fourth
    corner is the arrow's point.

    Parameters
    ----------
    ways : sequence of float array [points, 2]
    apart : float or float array [ways]
        Distance to the right of the line.
    short : float or float array [ways, 2]
        Length removed at the start and at the end of the line.
    half : float or float array [ways]
        Half the width of the arrow's shaft.
    head, barb : float
        Length of the arrow's head, and its width beyond the shaft on either side.
    """
    number = len(ways)
    aparts, halves = (np.broadcast_to(np.asarray(one, float), number).tolist() for one in (apart, half))
    shorts = np.broadcast_to(np.asarray(short, float), (number, 2)).tolist()
    found = []
    for way, away, (first, last), side in zip(ways, aparts, shorts, halves, strict=True):
        line = beside(way, away)
        point = cut(line, first, last)[-1]
        shaft = cut(line, first, last + head)
        left, right = beside(shaft, -side), beside(shaft, side)
        barbs = [beside(shaft, sign * (side + barb))[-1] for sign in (-1, 1)]
        found.append(np.array([*left, barbs[0], point, barbs[1], *right[::-1]]))
    return found
