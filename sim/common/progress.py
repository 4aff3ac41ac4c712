"""Announcements and progress bars on the terminal."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.announcements import announcing

from .frame import in_notebook

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["announced", "cleared", "pause_of", "progress", "watched"]

#: Seconds before work is announced: long work on a terminal, other work on a terminal, work on another stderr.
AT_ONCE, SOON, LATER = 0.3, 2, 30

#: Number of times that a progress bar of cycles moves, and the smallest number of cycles between two moves.
MOVES, FEWEST = 100, 8192

_lock = threading.RLock()
_announcements: list[str] = []  # shown announcements, the outermost first
_seconds: dict[str, float] = {}  # total seconds of all work with the same text
_in_files: set[str] = set()  # texts already written to a stderr that is no terminal
_bars: list[tuple["Progress", "TaskID", str]] = []
_line = ""  # current text of the terminal's line


@contextlib.contextmanager
def watched(shown: bool) -> Iterator[None]:
    """Show announcements of long work on stderr while the context is open, if ``shown`` is True."""
    with announcing(announced) if shown else contextlib.nullcontext():
        yield


def on_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return sys.stderr.isatty()


@contextlib.contextmanager
def announced(what: str, seconds: float | None, once: bool) -> Iterator[None]:
    """Show on one line of the terminal what work is being done; the line is erased when the work ends.

    The line appears after 0.3 s if the work is estimated to take more than 2 s, otherwise after 2 s. A stderr that is
    no terminal gets a line only for work that is done once, after 30 s. The waits of 2 s and 30 s are shorter by the
    time of earlier work with the same text. See `announce`.
    """
    seen = on_terminal()
    if not seen and not once:
        yield
        return
    known_to_be_long = seen and seconds is not None and seconds > SOON
    wait = AT_ONCE if known_to_be_long else (SOON if seen else LATER) - _seconds.get(what, 0)
    estimate = _about(seconds)
    sentence = f"{what} ({', '.join(filter(None, ['first use only', estimate]))})" if once else (
        f"{what}, {estimate}" if estimate else what)
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
    """Return the estimated duration of work as text."""
    if seconds is None:
        return ""
    return f"about {seconds:.0f} s" if seconds < 90 else f"about {seconds / 60:.0f} min"


def _write(what: str) -> None:
    if what not in _in_files:
        _in_files.add(what)
        print(f"wormcast: {what} (first use only)", file=sys.stderr, flush=True)


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
    """Write the innermost announcement on the terminal's line, or beside the progress bar."""
    text = _announcements[-1] if _announcements else ""
    if _bars:
        bar, task, of = _bars[-1]
        bar.update(task, description=f"{of}: {text}" if text else of)
    else:
        _put(f"wormcast: {text}" if text else "")


def _put(text: str) -> None:
    global _line
    text = text[:shutil.get_terminal_size().columns - 1]
    # spaces, because some terminals do not support the code that erases a line
    blank = f"\r{' ' * len(_line)}\r" if _line else ""
    if blank or text:
        sys.stderr.write(blank + text)
        sys.stderr.flush()
    _line = text


@contextlib.contextmanager
def cleared() -> Iterator[None]:
    """Erase the announcement from the terminal while other text is printed."""
    with _lock:
        _put("")
        try:
            yield
        finally:
            if not _bars:
                _redraw()


@contextlib.contextmanager
def _cell_progress(total: int | None, of: str, done: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar below a notebook's cell; it disappears at the end."""
    from IPython.display import HTML, display

    def bar(now: int) -> Any:
        value = "" if total is None else f' value="{now}" max="{total}"'
        return HTML(f"<progress{value}></progress> {now}{'' if total is None else f'/{total}'} {of}")

    shown = display(bar(done), display_id=True)
    try:
        yield lambda now: shown.update(bar(now))
    finally:
        shown.update(HTML(""))


def pause_of(cycles: int | None, *, shown: bool = True) -> int | None:
    """Return the number of cycles between two moves of a progress bar; None if no bar is shown.

    Parameters
    ----------
    cycles : int or None
        Number of all cycles; None if it is unknown.
    shown : bool
        As for `progress`.
    """
    return max(FEWEST, (cycles or 0) // MOVES) if shown and _seen() else None


def _seen() -> bool:
    return on_terminal() or in_notebook()


@contextlib.contextmanager
def progress(total: int | None, of: str, done: int = 0, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Show a progress bar in a notebook, or on stderr if it is a terminal.

    Yields a function that sets the number of finished items.

    Parameters
    ----------
    total : int or None
        Number of all items; None if it is unknown.
    of : str
        What is counted, in the plural.
    done : int
        Number of items that are finished already.
    shown : bool
        False: show nothing.
    """
    if not (shown and _seen()) or total == 0:
        yield lambda now: None
        return
    if in_notebook():
        with _cell_progress(total, of, done) as show:
            yield show
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    # one line at any width: text and bar share what the numbers leave, and long text is cut off
    text, line = (Column(no_wrap=True, overflow="ellipsis", ratio=ratio) for ratio in (2, 1))
    numbers, rest = (Column(no_wrap=True) for _ in range(2))
    # items take different times: estimate the rest by all finished items, not by the last ones
    with Progress(TextColumn("{task.description}", markup=False, table_column=text), BarColumn(None, table_column=line),
                  MofNCompleteColumn(table_column=numbers), TimeRemainingColumn(table_column=rest), expand=True,
                  console=Console(stderr=True), transient=True, redirect_stdout=False,
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
                _bars.remove((bar, task, of))
    with _lock:
        _redraw()
