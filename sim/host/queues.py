"""Queues of tasks and of worms, compiled: each says what is behind it."""

from wormcast.algorithms.compiled import inlined

from .constants import NONE, RECEIPT

__all__ = ["append", "append_worm", "take"]


@inlined
def _follow(worms, deliveries, task, behind):
    """Put a task behind another one in its queue."""
    if task >= 0:
        worms[task].behind = behind
    else:
        deliveries[RECEIPT - task].behind = behind


@inlined
def append(queue, worms, deliveries, task):
    """Put a task at the end of a processor's queue: a record with ``first`` and ``last``."""
    _follow(worms, deliveries, task, NONE)
    if queue.first == NONE:
        queue.first = task
    else:
        _follow(worms, deliveries, queue.last, task)
    queue.last = task


@inlined
def take(queue, worms, deliveries):
    """Take the first task of a processor's queue that has one."""
    task = queue.first
    queue.first = worms[task].behind if task >= 0 else deliveries[RECEIPT - task].behind
    return task


@inlined
def append_worm(queue, worms, worm):
    """Put a worm at the end of a link's queue."""
    worms[worm].behind = NONE
    if queue.first < 0:
        queue.first = worm
    else:
        worms[queue.last].behind = worm
    queue.last = worm
