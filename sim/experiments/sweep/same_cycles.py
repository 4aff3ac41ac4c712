"""Results of points with the same traffic, over the same cycles."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ..load.specification import FIELDS
from .point import LATER, Point

__all__ = ["over_same_cycles"]

#: Options by which the messages of two points are the same, beside those of their traffic.
SAME = ("topology", "cycles", "seed", "seeds")


def over_same_cycles(points: Sequence[Point], stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give the results of points so that those with the same traffic are by the same warm-up, where it is found.

    It is the least one by which all of them have results, those in a deadlock apart: the one that is found, if it is
    the same for all, or the next tenth of the cycles behind the longest one. Points that run until the interval is
    known have cycles of their own, and keep the warm-up that is found.

    Parameters
    ----------
    stored : sequence of dict
        What `Point.run` gave for each.
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
    """A point's results, by warm-up."""
    return {one["warmup_used"]: one for one in (_without_later(result), *result.get(LATER, ()))}


def _without_later(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != LATER}
