"""Execution of the missing points of a sweep on this machine."""

import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol, TypeVar

from ...common.stop import Stop
from .store import MemoryStore, ResultStore

__all__ = ["Runnable", "missing", "run_missing"]


class Runnable(Protocol):
    """Interface of a point, for example `Point`."""

    @property
    def key(self) -> str:
        """Text that identifies everything that the results depend on."""

    @property
    def size(self) -> float:
        """Relative duration."""

    def run(self, workers: int | None = None, stop: Stop | None = None) -> dict[str, Any]:
        """Run the point on ``workers`` threads, and return its results as plain data. ``stop`` ends the run early."""


Some = TypeVar("Some", bound=Runnable)


def missing(points: Sequence[Some], store: ResultStore | MemoryStore) -> list[Some]:
    """Return the points without a stored result; of points with the same key only the first."""
    by_key = {point.key: point for point in reversed(points)}
    return [point for point in points if by_key[point.key] is point and point.key not in store]


def run_missing(points: Sequence[Some], store: ResultStore | MemoryStore) -> Generator[Some, None, None]:
    """Run points on all processors, and yield each point when its result is stored.

    Each processor runs a point with all its seeds, which is fastest. If the points are at most half as many as the
    processors, each point runs on several processors.

    Raises
    ------
    WormcastError
        A point cannot be run, or its result cannot be stored. After an error or an interrupt, points that are not
        stored yet are given up, and points under way stop.
    """
    processors = os.cpu_count() or 1
    at_once = max(1, min(processors, len(points)))
    pool, stop = ThreadPoolExecutor(at_once), Stop()
    try:
        running = {pool.submit(point.run, processors // at_once, stop): point for point in points}
        for future in as_completed(running):
            point = running.pop(future)
            store.put(point.key, future.result())
            yield point
    finally:
        stop.requested = True
        pool.shutdown(wait=False, cancel_futures=True)
