"""How far a command is, and how long it will take yet."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["compiling", "on_terminal", "progress"]

#: Seconds for which a compiler may work before it is said, to somebody who looks and to a file.
SOON, LATER = 2, 30


def on_terminal() -> bool:
    """Whether somebody sees what goes to stderr."""
    return Console(stderr=True).is_terminal


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Say on stderr that something is compiled in here, if it takes long."""
    sentence = "wormcast: compiling this hardware, which takes a while, but only once"
    timer = threading.Timer(SOON if on_terminal() else LATER, print, [sentence], {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def progress(total: int | None, of: str, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr, nothing where that is no terminal; what is given tells it how many are done.

    ``total`` is None where nobody knows.
    """
    console = Console(stderr=True)
    # what is done differs in what it takes: all of it tells how long the rest will
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
                  console=console, disable=not console.is_terminal or total == 0, transient=True,
                  redirect_stdout=False, speed_estimate_period=1e9) as bar:
        task = bar.add_task(of, total=total, completed=done)
        yield lambda now: bar.update(task, completed=now)
