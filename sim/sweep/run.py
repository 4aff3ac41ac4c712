"""Running what is not finished of a sweep."""

from collections.abc import Iterator, Sequence

from .point import Point
from .store import Store

__all__ = ["missing", "run_missing"]


def missing(points: Sequence[Point], store: Store) -> list[Point]:
    """Give the points that are not finished; of those that come to the same experiment, the first."""
    by_key = {point.key: point for point in reversed(points)}
    return [point for point in points if by_key[point.key] is point and point.key not in store]


def run_missing(points: Sequence[Point], store: Store) -> Iterator[Point]:
    """Run these points one after the other (each has threads for its seeds), and give each when it is stored."""
    for point in points:
        store.put(point.key, point.run())
        yield point
