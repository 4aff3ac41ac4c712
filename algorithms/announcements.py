"""Announcements of work that takes long.

A program that has a terminal shows them there (`announce_by`); without such a program they do nothing.
"""

import contextlib
from typing import Protocol

__all__ = ["Announcer", "announce", "announce_by"]


class Announcer(Protocol):
    """Shows an announcement from entry to exit; takes the arguments of `announce`."""

    def __call__(self, what: str, seconds: float | None, once: bool) -> contextlib.AbstractContextManager[object]:
        """Return what is entered before the work, and left after it."""


def _silent(what: str, seconds: float | None, once: bool) -> contextlib.AbstractContextManager[object]:
    return contextlib.nullcontext()


_announcer: Announcer = _silent


def announce(what: str, seconds: float | None = None, *,
             once: bool = False) -> contextlib.AbstractContextManager[object]:
    """Return a context for work that may take more than two seconds.

    Times of announcements with the same text add up: many short ones are shown as one long one is.

    Parameters
    ----------
    what : str
        The work, as in ``compiling the hosts' program``.
    seconds : float, optional
        Estimate of how long it takes; None: it is not known.
    once : bool
        The result is kept, so that later runs do not wait for it.
    """
    return _announcer(what, seconds, once)


def announce_by(announcer: Announcer) -> None:
    """Set the function that shows announcements of this process."""
    global _announcer
    _announcer = announcer
