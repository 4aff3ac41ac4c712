"""Placement of a curve's points: few at low loads, more around saturation, one at 1.5 times the saturated load."""

from collections.abc import Mapping

__all__ = ["FINE", "next_places"]

#: Number of fine steps of the load in a coarse step. Points are at least a fine step apart.
FINE = 4

#: The first points that are measured, in coarse steps of the load.
#: Further points follow, two coarse steps apart, until a point is saturated.
FIRST = (1, 2, 4)


def next_places(known: Mapping[int, bool], most: int) -> set[int]:
    """Return the loads to measure next, each as its number of fine steps; an empty set when the curve is complete.

    A coarse step of the load is `FINE` fine steps. Loads of 1, 2 and 4 coarse steps are measured first. Higher loads
    follow, two coarse steps apart, until a load is saturated or ``most`` is measured. All coarse steps below a
    saturated load are measured, too. The knee lies between the highest unsaturated and the lowest saturated load, and
    is bisected until these are neighbouring fine steps. Last of all, a load of 1.5 times the lowest saturated load is
    measured, because accepted flits still rise while only some nodes are saturated. The last load is at least one
    coarse step above the lowest saturated load, unless ``most`` is lower. No load is above ``most``. The result depends
    only on the arguments, so an interrupted figure measures the same loads.

    Parameters
    ----------
    known : mapping of int to bool
        Measured loads, in fine steps; True for a load with saturation or a deadlock.
    most : int
        Greatest load, in fine steps.
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
