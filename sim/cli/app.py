"""Application, output and exit codes of all commands."""

import contextlib
import functools
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

import wormcast
from wormcast.algorithms.announcements import announce_by
from wormcast.algorithms.errors import FAILURES, WireError, WormcastError, options_named

from ..common.exit_codes import Exit
from ..common.progress import announced, cleared
from ..common.requirements import ToolMissing
from ..common.text import count, version_text
from .commands import Commands, options_of_program
from .usage_errors import usage_sentence, with_option_names

if TYPE_CHECKING:
    from types import FrameType

    from rich.console import Console
    from rich.text import Text

    from ..api.results import CommandResult

__all__ = ["Exit", "Interrupted", "Json", "SchemeName", "TopologyName", "app", "count", "emit", "emit_result", "main",
           "put", "say", "stdout_for_results", "table", "width"]

app = typer.Typer(
    name="wormcast",
    help="Multicast in switched networks, at register-transfer level.",
    cls=Commands,
    no_args_is_help=True,
    **options_of_program(),
)


class Interrupted(Exception):
    """Interrupt by the user, with a message for stderr."""


TopologyName = Annotated[str, typer.Argument(
    metavar="TOPOLOGY", help="Network, for example mesh:8x8 (rows x columns). All kinds: wormcast list topologies. "
    "Your own: FILE.toml or FILE.py[:NAME].")]
SchemeName = Annotated[str, typer.Argument(
    metavar="SCHEME", help="Multicast scheme, for example dual-path. All schemes: wormcast list schemes. Your own: "
    "FILE.py[:NAME].")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]

#: Word of 300 or more characters: an error message shows only the first 100 and the last 100 characters of such a word.
LONG = re.compile(r"(\S{100})\S{100,}(\S{100})")

#: Error message of 3000 or more characters: only its first 1000 and last 500 characters are printed.
LONGEST = re.compile(r"(.{1000})(?:.{1500,})(.{500})", re.DOTALL)


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: Annotated[bool, typer.Option(
        "--version", help="Print the version and the git commit.", is_eager=True)] = False,
) -> None:
    """Multicast in switched networks, at register-transfer level."""
    # functions that commands call then name options in their errors as the command line spells them
    context.with_resource(options_named())
    if show:
        say(version_text())
        raise typer.Exit(Exit.DONE)


def say(text: "str | Text" = "") -> None:
    """Print a line on stdout. On a terminal, break the line between words."""
    with _on_stdout():
        if not isinstance(text, str):
            _console().print(text)
        elif sys.stdout.isatty():
            _console().print(text, markup=False, soft_wrap=False)
        else:
            print(text)


def width() -> int:
    """Return the number of characters in a line of the terminal."""
    return _console().width


@functools.cache
def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def put(text: str) -> None:
    """Print a complete file on stdout, unchanged."""
    with _on_stdout():
        print(text, end="")


def table(columns: list[str], rows: list[list[object]], title: str | None = None) -> None:
    """Print a table on stdout, with numbers aligned right. On a narrow terminal cells have no padding.

    Text is never cut: long cells wrap to the next line.
    """
    from rich.table import Table

    texts = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(word) for cell in column for word in cell.split() or [""])
              for column in zip(columns, *texts, strict=True)]
    roomy = sum(widths) + 3 * len(columns) + 1 <= width()
    drawn = Table(title=title, title_justify="left", padding=(0, 1 if roomy else 0))
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float | None) for row in rows)
        drawn.add_column(column, justify="right" if numeric else "left", no_wrap=column == "name", overflow="fold")
    for row in texts:
        drawn.add_row(*row)
    with _on_stdout():
        _console().print(drawn)


def emit(data: dict[str, Any], configuration: dict[str, Any], seed: int | None = None) -> None:
    """Print a result as JSON, with the version, configuration and seed that reproduce it."""
    origin = {"version": wormcast.__version__, "commit": wormcast.__commit__}
    put(json.dumps({**origin, "configuration": configuration, "seed": seed, **data}) + "\n")


def emit_result(result: "CommandResult") -> None:
    """Print a result as JSON, with the version, configuration and seed that reproduce it."""
    put(result.to_json() + "\n")


@contextlib.contextmanager
def _on_stdout() -> Iterator[None]:
    try:
        with cleared():
            yield
            print(end="", flush=True)
    except OSError as error:
        # redirect stdout, because Python flushes it at exit, which would fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        from ..common.atomic_write import write_fault

        raise WormcastError(f"stdout cannot be written: {write_fault(error)}") from error


def stdout_for_results() -> contextlib.AbstractContextManager[object]:
    """Return a context in which stdout, for example of a user's code, goes to stderr."""
    return contextlib.redirect_stdout(sys.stderr)


def main() -> None:
    """Run the command line. An error that the user can correct is reported in one line on stderr."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a closed pipe ends the process without a message
    announce_by(announced)
    code = _run()
    if code != Exit.DONE and threading.active_count() > 1:
        # exit at once, without waiting for simulations in other threads
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in place of any error that follows SIGINT.

    If SIGINT arrives while a library calls a Python function, the library may ignore the KeyboardInterrupt, go on, and
    later raise an error of its own. Python ignores errors in destructors: if the signal arrives in a destructor, this
    process sends itself SIGINT again.
    """
    came = False

    def hear(number: int, frame: "FrameType | None") -> None:
        nonlocal came
        came = True
        signal.default_int_handler(number, frame)

    def ignored(error: "sys.UnraisableHookArgs") -> None:
        if error.exc_type is KeyboardInterrupt:
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            sys.__unraisablehook__(error)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, hear)
        sys.unraisablehook = ignored
    try:
        yield
    except Interrupted:
        raise
    except FAILURES as error:
        if came:
            raise KeyboardInterrupt from error
        raise


def _run() -> int:
    try:
        with _interruptible():
            code = app(standalone_mode=False)
    except ToolMissing as error:
        return _fail(Exit.TOOL_MISSING, str(error))
    except WormcastError as error:
        return _fail(Exit.BAD_INPUT, with_option_names(str(error), sys.argv[1:]))
    except typer.TyperException as error:
        sentence = usage_sentence(error)  # empty if the command line has no command: typer has printed the help
        return _fail(Exit.BAD_INPUT, sentence) if sentence else Exit.BAD_INPUT
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "a file cannot be read or written: "
        return _fail(Exit.BAD_INPUT, f"{where}{error.strerror or error}")
    except Interrupted as interrupted:
        return _fail(Exit.INTERRUPTED, str(interrupted))
    except (KeyboardInterrupt, typer.Abort):
        code = Exit.INTERRUPTED
    except WireError as error:
        if "--json" in sys.argv:
            print(json.dumps({"version": wormcast.__version__, "outcome": "error", "error": str(error)}))
        return _fail(Exit.INTERNAL, str(error))
    except SystemExit as error:  # raised by a user's Python file; no command raises it
        return _fail(Exit.BAD_INPUT, "the Python file of a scheme, relation or topology ends the program "
                     f"(SystemExit: {error}). Allowed: code that returns or raises another error.")
    if code == Exit.INTERRUPTED:  # typer may return INTERRUPTED without raising an exception
        return _fail(Exit.INTERRUPTED, "interrupted")
    return code if isinstance(code, int) else Exit.DONE


def _fail(code: Exit, sentence: str) -> int:
    shortened = LONGEST.sub(r"\1 ... \2", LONG.sub(r"\1...\2", sentence))
    one_line = "".join(one if one.isprintable() else repr(one)[1:-1] for one in shortened)
    print(f"wormcast: {one_line}", file=sys.stderr)
    return code
