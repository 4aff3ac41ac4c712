"""Intrusive linked lists of tasks and worms, compiled."""

from wormcast.algorithms.compiled import inlined

from .constants import NONE, RECEIPT

__all__ = ["append", "append_worm", "take"]


@inlined
def _follow(worms, deliveries, task, behind):
    """Make ``behind`` the successor of ``task`` in a queue of tasks."""
    if task >= 0:
        worms[task].behind = behind
    else:
        deliveries[RECEIPT - task].behind = behind


@inlined
def append(queue, worms, deliveries, task):
    """Append a task to a queue of tasks, which is a record with the fields ``first`` and ``last``."""
    _follow(worms, deliveries, task, NONE)
    if queue.first == NONE:
        queue.first = task
    else:
        _follow(worms, deliveries, queue.last, task)
    queue.last = task


@inlined
def take(queue, worms, deliveries):
    """Remove the first task of a queue of tasks, which must not be empty, and return the task."""
    task = queue.first
    queue.first = worms[task].behind if task >= 0 else deliveries[RECEIPT - task].behind
    return task


@inlined
def append_worm(queue, worms, worm):
    """Append a worm to a link's queue."""
    worms[worm].behind = NONE
    if queue.first < 0:
        queue.first = worm
    else:
        worms[queue.last].behind = worm
    queue.last = worm
