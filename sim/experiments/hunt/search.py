"""Search for a deadlock, batch after batch, until a list of messages deadlocks or a number of cycles is simulated."""

import contextlib
import itertools
import queue
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .batch_runs import BatchOutcome, BatchRunner, MessageLists

__all__ = ["Drawn", "SearchExtent", "search"]

Number = TypeVar("Number", int, float)
Result = TypeVar("Result")

Drawn = Callable[[int], tuple[MessageLists, float]]
"""Function that draws a batch by its number, and returns the batch and its load (`LOADS`): payload flits to deliver per
node and cycle."""

@dataclass
class SearchExtent:
    """Extent of a search.

    Parameters
    ----------
    cycles : int
        Cycles of all networks together.
    networks, messages : int
        Number of lists of messages, each simulated in its own network, and number of messages in all lists.
    unfinished : int
        Number of networks that were given up, neither delivered nor in deadlock.
    loads : (float, float), lengths : (int, int), destinations : (int, int)
        Smallest and largest value that was simulated, of three quantities: load of a batch, in payload flits to deliver
        per node and cycle; payload flits of a message; destinations of a message. None if no batch was simulated.
    """

    cycles: int = 0
    networks: int = 0
    messages: int = 0
    unfinished: int = 0
    loads: tuple[float, float] | None = None
    lengths: tuple[int, int] | None = None
    destinations: tuple[int, int] | None = None

    def add(self, batch: MessageLists, load: float, outcome: BatchOutcome) -> None:
        """Count a batch."""
        counts = np.diff(batch.offsets)
        self.cycles += outcome.cycles
        self.networks += int(batch.lane[-1]) + 1
        self.messages += len(batch.at)
        self.unfinished += outcome.unfinished
        self.loads = _spanning(self.loads, load, load)
        self.lengths = _spanning(self.lengths, int(batch.length.min()), int(batch.length.max()))
        self.destinations = _spanning(self.destinations, int(counts.min()), int(counts.max()))


def _spanning(span: tuple[Number, Number] | None, least: Number, most: Number) -> tuple[Number, Number]:
    return (least, most) if span is None else (min(span[0], least), max(span[1], most))


def search(runners: Sequence[BatchRunner], draw: Drawn, cycles: int, searched: SearchExtent, *,
           on_batch: Callable[[int], None] = lambda done: None) -> tuple[MessageLists, BatchOutcome] | None:
    """Simulate batches until a list of messages deadlocks or ``cycles`` cycles are simulated.

    Outcomes are evaluated in the order of the batches. Therefore result and extent of the search depend only on the
    drawn batches, not on the number of runners.

    Parameters
    ----------
    runners : sequence of BatchRunner
        Each runner simulates one batch at a time.
    draw : callable
        Function that draws a batch by its number (`Drawn`).
    cycles : int
        Limit of the search: cycles of all lanes together. The batch that reaches this limit is the last one.
    searched : SearchExtent
        Extent of the search. ``searched`` counts the batches up to the last one, but not batches after the last one
        that were simulated ahead.
    on_batch : callable
        Called with the number of cycles searched so far, after each batch.

    Returns
    -------
    (MessageLists, BatchOutcome) or None
        The first batch with a deadlock, and its outcome.
    """
    free: queue.SimpleQueue[BatchRunner] = queue.SimpleQueue()
    for runner in runners:
        free.put(runner)
    end = searched.cycles + cycles

    def run(number: int) -> tuple[MessageLists, float, BatchOutcome]:
        runner = free.get()
        try:
            batch, load = draw(number)
            return batch, load, runner.run(batch)
        finally:
            free.put(runner)

    with contextlib.closing(_in_order(run, len(runners))) as outcomes:
        for batch, load, outcome in outcomes:
            searched.add(batch, load, outcome)
            on_batch(min(searched.cycles, cycles))
            if outcome.lane is not None:
                return batch, outcome
            if searched.cycles >= end:
                return None
    raise AssertionError("there are always further batches")


def _in_order(run: Callable[[int], Result], workers: int) -> Generator[Result, None, None]:
    """Yield results of ``run`` for the numbers 0, 1, 2 and so on, in order, computed ahead in threads."""
    pool, ahead = ThreadPoolExecutor(workers), deque[Future[Result]]()
    try:
        for number in itertools.count():
            ahead.append(pool.submit(run, number))
            if len(ahead) > workers:
                yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
