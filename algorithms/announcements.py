"""Announcements of long work.

A program with a terminal sets a function that shows announcements (`announce_by`). Announcements have no effect in a
program that has set no function to show them.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Protocol

__all__ = ["Announcer", "announce", "announce_by", "announcing"]


class Announcer(Protocol):
    """Function that returns a context, and may show an announcement while the context is open. The function's arguments
    are those of `announce`."""

    def __call__(self, what: str, seconds: float | None, once: bool) -> contextlib.AbstractContextManager[object]:
        """Return a context for the work ``what``."""


def _silent(what: str, seconds: float | None, once: bool) -> contextlib.AbstractContextManager[object]:
    return contextlib.nullcontext()


_announcer: Announcer = _silent
_open = 0  # number of open contexts of `announcing`
_lock = threading.Lock()


def announce(what: str, seconds: float | None = None, *,
             once: bool = False) -> contextlib.AbstractContextManager[object]:
    """Return a context for work that may take more than two seconds.

    Times of announcements with the same text add up: many short tasks with one text are shown as one long task.

    Parameters
    ----------
    what : str
        The work, as in ``compiling the hosts' program``.
    seconds : float, optional
        Estimated time of the work; None if it is unknown.
    once : bool
        True: the result of the work is stored, so that later runs do not repeat the work.
    """
    return _announcer(what, seconds, once)


def announce_by(announcer: Announcer) -> None:
    """Set the function that shows announcements of this process."""
    global _announcer
    _announcer = announcer


@contextlib.contextmanager
def announcing(announcer: Announcer) -> Iterator[None]:
    """Show announcements by `announcer` while the context is open, unless `announce_by` has set a function.

    Contexts may overlap in several threads: the last one to end stops the announcements.
    """
    global _announcer, _open
    with _lock:
        begun = _open > 0 or _announcer is _silent
        if begun:
            _announcer, _open = announcer, _open + 1
    try:
        yield
    finally:
        if begun:
            with _lock:
                _open -= 1
                if not _open:
                    _announcer = _silent
