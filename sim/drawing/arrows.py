"""Arrows from place to place, beside the line that joins them."""

import numpy as np
import numpy.typing as npt

__all__ = ["APART", "along", "aside", "outlines"]

Floats = npt.NDArray[np.float64]

APART = 1.8  # points from the line between two places to what leads one way: the other way is on the other side


def along(start: Floats, end: Floats) -> Floats:
    """Unit vectors from start to end, [..., 2]."""
    difference = end - start
    return difference / np.linalg.norm(difference, axis=-1, keepdims=True)


def aside(direction: Floats) -> Floats:
    """Unit vectors to the right of these, where y points down, [..., 2]."""
    return np.stack([-direction[..., 1], direction[..., 0]], axis=-1)


def outlines(start: Floats, end: Floats, *, apart: float, short: float, half: npt.ArrayLike, head: float,
             barb: float) -> Floats:
    """Corners of arrows to the right of the lines from start to end, [arrows, 7, 2]; all lengths in cells.

    Parameters
    ----------
    start, end : float array [arrows, 2]
    apart : float
        From the line.
    short : float
        From both places.
    half : float or float array [arrows]
        Half the width.
    head, barb : float
        Length of the head, and how far it stands out on either side.
    """
    forward = along(start, end)
    right = aside(forward)
    reach = np.linalg.norm(end - start, axis=1)[:, None] - short
    sides = np.broadcast_to(np.asarray(half, float), len(start))[:, None]

    def at(distance: Floats | float, sideways: Floats) -> Floats:
        return start + distance * forward + (apart + sideways) * right

    neck = reach - head
    corners = [at(short, -sides), at(neck, -sides), at(neck, -sides - barb), at(reach, 0 * sides),
               at(neck, sides + barb), at(neck, sides), at(short, sides)]
    return np.stack(corners, axis=1)
