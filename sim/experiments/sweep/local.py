"""Running what is not finished of a sweep on this machine."""

import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol, TypeVar

from .store import ResultStore

__all__ = ["Runnable", "missing", "run_missing"]


class Runnable(Protocol):
    """What is asked of a point: `Point` is one."""

    @property
    def key(self) -> str:
        """Whatever its results depend on."""

    @property
    def size(self) -> float:
        """How long it takes, compared with others."""

    def run(self, workers: int | None = None) -> dict[str, Any]:
        """Run it, on so many threads, and give its results as plain data."""


Some = TypeVar("Some", bound=Runnable)


def missing(points: Sequence[Some], store: ResultStore) -> list[Some]:
    """Give the points that are not finished; of those that come to the same experiment, the first."""
    by_key = {point.key: point for point in reversed(points)}
    return [point for point in points if by_key[point.key] is point and point.key not in store]


def run_missing(points: Sequence[Some], store: ResultStore) -> Generator[Some, None, None]:
    """Run these points on all processors, and give each when it is stored.

    They run side by side, as a point's seeds take least time together; fewer points than processors share them.

    Raises
    ------
    WormcastError
        A point cannot be run, or its result cannot be stored. Those that are not stored yet are given up.
    """
    processors = os.cpu_count() or 1
    at_once = max(1, min(processors, len(points)))
    pool = ThreadPoolExecutor(at_once)
    try:
        running = {pool.submit(point.run, processors // at_once): point for point in points}
        for future in as_completed(running):
            point = running.pop(future)
            store.put(point.key, future.result())
            yield point
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
