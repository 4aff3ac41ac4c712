"""Placement of a curve's points: few where it is flat, more around the knee, one far beyond it."""

from collections.abc import Mapping

__all__ = ["FINE", "next_places"]

#: Number of fine steps of the load in a coarse step. Points are at least a fine step apart.
FINE = 4

#: The first points that are measured, in coarse steps of the load. Further points follow, two coarse steps apart, until
#: one saturates.
FIRST = (1, 2, 4)


def next_places(known: Mapping[int, bool], most: int) -> set[int]:
    """Return the places to measure next; an empty set when the curve is complete. A place is a load in fine steps.

    The load is doubled and then raised by two coarse steps until a place saturates. Then all coarse steps below are
    measured, and the knee is bisected to two neighbouring fine places. At last a place at 1.5 times the knee is
    measured, because accepted flits still rise while only some nodes are saturated. The result depends only on
    ``known``, so an interrupted figure measures the same places.

    Parameters
    ----------
    known : mapping of int to bool
        For each measured place, in fine steps from 1: it is saturated (or in deadlock).
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
