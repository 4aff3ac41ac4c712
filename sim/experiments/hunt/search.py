"""Random lists of messages, batch after batch, until one deadlocks or so many cycles are simulated."""

import contextlib
import itertools
import queue
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from wormcast.algorithms import Topology

from .arena import Arena, Batch, Outcome

__all__ = ["LOADS", "MESSAGES_OF_A_NODE", "Searched", "draw", "search"]

Number = TypeVar("Number", int, float)
Result = TypeVar("Result")

#: Payload flits to deliver per node and cycle while messages are created: from below saturation, which is at some
#: tenths, to four times what a consumption link takes.
LOADS = (0.1, 4.0)

#: Most messages of a list, for each node, and fewest: what is staged, few worms that come together.
MESSAGES_OF_A_NODE, FEWEST = 8, 2

#: Shares of unicasts among the messages.
UNICASTS = (0.0, 0.0, 0.5, 0.9)

#: Payload flits to deliver for each node, at most: a batch is to take no longer than the others.
MOST_FLITS = 4096


@dataclass
class Searched:
    """How much was searched.

    Parameters
    ----------
    cycles : int
        Of all networks together.
    networks, messages : int
        Lists of messages that were run, each in a network of its own, and what is in them.
    unfinished : int
        Networks that were neither delivered nor in deadlock when they were given up.
    loads : (float, float), lengths : (int, int), destinations : (int, int)
        The least and the largest that were drawn: payload flits to deliver per node and cycle, payload flits of a
        message, destinations; None where nothing was.
    """

    cycles: int = 0
    networks: int = 0
    messages: int = 0
    unfinished: int = 0
    loads: tuple[float, float] | None = None
    lengths: tuple[int, int] | None = None
    destinations: tuple[int, int] | None = None

    def add(self, batch: Batch, load: float, outcome: Outcome) -> None:
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


def draw(topology: Topology, lanes: int, lengths: tuple[int, int], most: int | None, seed: int, number: int
         ) -> tuple[Batch, float]:
    """Draw a batch: lists of messages that are alike in all but chance, and their load, see `LOADS`.

    How many messages a list has, how long and to how many nodes they are at most, and how many of them are unicasts,
    is drawn once for the batch; so is the load, and from it follows the time in which they are created. So some batches
    keep networks full and others stage few worms that come together.

    Parameters
    ----------
    lanes : int
        How many lists.
    lengths : (int, int)
        Fewest and most payload flits of a message.
    most : int or None
        Messages of a list; None: as many as keep a network full.
    seed, number : int
        Of the search, and of the batch in it: the same ones draw the same.
    """
    rng, nodes = np.random.default_rng((seed, number)), topology.nodes
    length = _scale(rng, *lengths)
    reach = min(nodes - 1, _scale(rng, 1, nodes - 1) + 1)  # most destinations
    unicasts = rng.choice(UNICASTS)
    each = length * (1 + (1 - unicasts) * (reach - 1) / 2)  # flits to deliver, of a message
    full = max(FEWEST, min(MESSAGES_OF_A_NODE * nodes, int(MOST_FLITS * nodes / each)))
    messages = _scale(rng, FEWEST, min(full, most or full))
    load = float(LOADS[0] * (LOADS[1] / LOADS[0]) ** rng.random())
    window = max(1, round(messages * each / nodes / load))
    total = lanes * messages
    counts = np.where(rng.random(total) < unicasts, 1, rng.integers(1, reach + 1, total))
    order = np.argsort(rng.random((total, nodes), np.float32), axis=1)
    chosen = np.arange(nodes - 1) < counts[:, None]
    batch = Batch(
        lane=np.repeat(np.arange(lanes), messages),
        at=rng.integers(0, window, total),
        source=order[:, 0].astype(np.int32),
        length=rng.integers(max(lengths[0], length // 2), length + 1, total),
        offsets=np.cumsum([0, *counts]),
        destinations=order[:, 1:][chosen].astype(np.int32))
    return batch, load


def _scale(rng: np.random.Generator, least: int, most: int) -> int:
    """A number from least to most, small ones as likely as large ones: uniform in its logarithm."""
    return min(most, int(least * ((most + 1) / least) ** rng.random()))


def search(arenas: Sequence[Arena], lengths: tuple[int, int], cycles: int, seed: int, searched: Searched, *,
           most: int | None = None, tell: Callable[[int], None] = lambda done: None) -> tuple[Batch, Outcome] | None:
    """Run random batches until a list deadlocks, or so many cycles are simulated.

    Batches are taken in their order, however many are run side by side: what is found, and what counts as searched,
    depends on the seed alone.

    Parameters
    ----------
    arenas : sequence of Arena
        As many batches are run side by side.
    cycles : int
        Of all lanes together; the batch with which they are reached is the last one.
    searched : Searched
        Where it is counted.
    most : int, optional
        Messages of a list, see `draw`.
    tell : callable
        Is told the cycles, again and again.

    Returns
    -------
    (Batch, Outcome) or None
        The first batch with a deadlock.
    """
    free: queue.SimpleQueue[Arena] = queue.SimpleQueue()
    for arena in arenas:
        free.put(arena)
    end = searched.cycles + cycles

    def run(number: int) -> tuple[Batch, float, Outcome]:
        arena = free.get()
        try:
            batch, load = draw(arena.network.topology, arena.lanes, lengths, most, seed, number)
            return batch, load, arena.run(batch)
        finally:
            free.put(arena)

    with contextlib.closing(_in_order(run, len(arenas))) as outcomes:
        for batch, load, outcome in outcomes:
            searched.add(batch, load, outcome)
            tell(min(searched.cycles, cycles))
            if outcome.lane is not None:
                return batch, outcome
            if searched.cycles >= end:
                return None
    raise AssertionError("there are always further batches")


def _in_order(run: Callable[[int], Result], workers: int) -> Generator[Result, None, None]:
    """Results of run(0), run(1), ... in this order, some of them run ahead; what is under way in the end runs out."""
    pool, ahead = ThreadPoolExecutor(workers), deque[Future[Result]]()
    try:
        for number in itertools.count():
            ahead.append(pool.submit(run, number))
            if len(ahead) > workers:
                yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
