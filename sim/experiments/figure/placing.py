"""Where a curve is measured: few points where it is flat, more around the knee, one far beyond."""

from collections.abc import Mapping

__all__ = ["FINE", "next_places"]

#: Fine places in a coarse step.
FINE = 4

#: The first places, in coarse steps; from there on two at a time until one saturates.
FIRST = (1, 2, 4)


def next_places(known: Mapping[int, bool], most: int) -> set[int]:
    """Say where to measure next; nothing when a curve is done.

    The load is doubled and then raised by two coarse steps until a place saturates. Then all coarse steps below follow,
    and the knee is halved until two neighbouring fine places are on its two sides. At last half as much again is
    measured, as what is delivered still rises where some nodes alone are saturated. What is asked for depends on what
    is known alone: a figure that was interrupted asks for the same.

    Parameters
    ----------
    known : mapping of int to bool
        Whether each place that is measured, in fine steps from 1, is saturated (or in deadlock).
    most : int
        The last place.
    """
    first = {place for place in (FINE * step for step in FIRST) if place <= most} or {most}
    if not first <= known.keys():
        return first - known.keys()
    over = min((place for place, saturated in known.items() if saturated), default=None)
    if over is None:
        highest = max(known)
        return {min(highest + 2 * FINE, most)} - known.keys()
    under = max((place for place in known if place < over), default=0)
    last = (over + under) // 2 if over - under > 1 else min(max(over + FINE, 3 * over // 2), most)
    return {*range(FINE, over, FINE), last} - known.keys()
