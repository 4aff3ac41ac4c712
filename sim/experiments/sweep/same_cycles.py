"""Common warm-up of points with the same traffic, so that their results cover the same cycles."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ..load.specification import FIELDS
from .point import LATER, Point

__all__ = ["over_same_cycles"]

#: Options that determine the messages of a point, besides the options of the traffic.
SAME = ("topology", "cycles", "seed", "seeds")


def over_same_cycles(points: Sequence[Point], stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of points, with the same warm-up for all points with the same traffic.

    The common warm-up is the least one with which all points with the same traffic have results; points in a deadlock
    are left out. If all points with the same traffic have found the same warm-up, this is the common warm-up. If the
    found warm-ups differ, the common warm-up is the smallest multiple of a tenth of the cycles that is not shorter than
    any found warm-up. Points with a given warm-up keep it. Points with ``until_interval`` have their own cycles, and
    keep the warm-up that was found.

    Parameters
    ----------
    stored : sequence of dict
        Result of `Point.run` for each point.
    """
    by_warmup = [_by_warmup(result) for result in stored]
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, (point, result) in enumerate(zip(points, stored, strict=True)):
        if LATER in result and result["deadlock"] is None:
            groups[tuple(point.resolved[name] for name in (*FIELDS, *SAME))].append(number)
    found = [_without_later(result) for result in stored]
    for numbers in groups.values():
        common = min(set.intersection(*(set(by_warmup[number]) for number in numbers)))
        for number in numbers:
            found[number] = by_warmup[number][common]
    return found


def _by_warmup(result: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Return a point's results as a mapping from each warm-up to the results with this warm-up."""
    return {one["warmup_used"]: one for one in (_without_later(result), *result.get(LATER, ()))}


def _without_later(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != LATER}
