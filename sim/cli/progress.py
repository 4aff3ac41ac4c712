"""What a command does, and how far it is, on the terminal."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["announced", "cleared", "on_terminal", "progress"]

#: Seconds of work before it is announced: on a terminal, if it is known to take longer or not, and in a file.
AT_ONCE, SOON, LATER = 0.3, 2, 30

_lock = threading.RLock()
_announcements: list[str] = []  # those that are shown, the outermost first
_seconds: dict[str, float] = {}  # of all announcements with a text
_in_files: set[str] = set()  # texts that are written already where there is no terminal
_bars: list[tuple["Progress", "TaskID", str]] = []
_line = ""  # what stands on the terminal's line


def on_terminal() -> bool:
    """Whether somebody sees what goes to stderr."""
    return sys.stderr.isatty()


@contextlib.contextmanager
def announced(what: str, seconds: float | None, once: bool) -> Iterator[None]:
    """Show work on a terminal as one line that goes away: at once if it is known to take long, else when it does.

    A file gets a line for work that is done only once, if it takes half a minute. See `announce`.
    """
    seen = on_terminal()
    if not seen and not once:
        yield
        return
    known_to_be_long = seen and seconds is not None and seconds > SOON
    wait = AT_ONCE if known_to_be_long else (SOON if seen else LATER) - _seconds.get(what, 0)
    sentence = f"{what}{_about(seconds)}{', only once' if once else ''}"
    began = time.monotonic()
    timer = threading.Timer(max(0, wait), _show if seen else _write, [sentence if seen else what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        _seconds[what] = _seconds.get(what, 0) + time.monotonic() - began
        if seen:
            _hide(sentence)


def _about(seconds: float | None) -> str:
    """Write about how long work takes."""
    if seconds is None:
        return ""
    return f", about {seconds:.0f} s" if seconds < 90 else f", about {seconds / 60:.0f} min"


def _write(what: str) -> None:
    if what not in _in_files:
        _in_files.add(what)
        print(f"wormcast: {what}, which takes a while, but only once", file=sys.stderr, flush=True)


def _show(sentence: str) -> None:
    with _lock:
        _announcements.append(sentence)
        _redraw()


def _hide(sentence: str) -> None:
    with _lock:
        if sentence in _announcements:
            _announcements.remove(sentence)
            _redraw()


def _redraw() -> None:
    """Put the innermost announcement on the terminal's line, beside a bar where there is one."""
    text = _announcements[-1] if _announcements else ""
    if _bars:
        bar, task, of = _bars[-1]
        bar.update(task, description=f"{of} ({text})" if text else of)
    else:
        _put(f"wormcast: {text}" if text else "")


def _put(text: str) -> None:
    global _line
    text = text[:shutil.get_terminal_size().columns - 1]
    # spaces, as not every terminal knows the code that empties a line
    blank = f"\r{' ' * len(_line)}\r" if _line else ""
    if blank or text:
        sys.stderr.write(blank + text)
        sys.stderr.flush()
    _line = text


@contextlib.contextmanager
def cleared() -> Iterator[None]:
    """Take the announcement off the terminal while something else is printed."""
    with _lock:
        _put("")
        try:
            yield
        finally:
            if not _bars:
                _redraw()


@contextlib.contextmanager
def progress(total: int | None, of: str, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr, nothing where that is no terminal; what is given tells it how many are done.

    ``total`` is None where nobody knows.
    """
    if not on_terminal() or total == 0:
        yield lambda now: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    # what is done differs in what it takes: all of it tells how long the rest will
    with Progress(TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
                  TimeRemainingColumn(), console=Console(stderr=True), transient=True, redirect_stdout=False,
                  speed_estimate_period=1e9) as bar:
        task = bar.add_task(of, total=total, completed=done)
        with _lock:
            _put("")
            _bars.append((bar, task, of))
            _redraw()
        try:
            yield lambda now: bar.update(task, completed=now)
        finally:
            with _lock:
                _bars.pop()
    with _lock:
        _redraw()
