"""Arrows along ways, beside the line that joins two places."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .ways import beside, cut

__all__ = ["APART", "outlines"]

Floats = npt.NDArray[np.float64]

APART = 1.8  # points from the line between two places to what leads one way: the other way is on the other side


def outlines(ways: Sequence[Floats], *, apart: npt.ArrayLike, short: npt.ArrayLike, half: npt.ArrayLike, head: float,
             barb: float) -> list[Floats]:
    """Corners of arrows beside ways, each [corners, 2]; all lengths in cells.

    Those of a straight one are seven, from the beginning on its left side to the beginning on its right, the fourth
    being its point.

    Parameters
    ----------
    ways : sequence of float array [points, 2]
    apart : float or float array [ways]
        To the right of the way.
    short : float or float array [ways, 2]
        From the beginning and the end of the way.
    half : float or float array [ways]
        Half the width.
    head, barb : float
        Length of the head, and how far it stands out on either side.
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
