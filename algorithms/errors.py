"""Exceptions of the project, and conversion of errors in users' code to `WormcastError`."""

import contextlib
import difflib
import re
import traceback
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .phrases import number_text

__all__ = ["FAILURES", "MessageError", "WireError", "WormcastError", "describe_error", "flag_text", "located",
           "naming", "naming_options", "nearest", "no_such_file", "option_text", "options_named", "unreadable",
           "users_code"]

#: Pattern of the key with which a refusal begins, and of the places after this key.
KEY = re.compile(r"([\w.\[\]-]+(?: in \S+)*): ")

#: Errors in a user's code that become refusals, `SystemExit` included. Ctrl-C still ends the program.
FAILURES = (Exception, SystemExit)


class WormcastError(ValueError):
    """Bad input, described in one sentence: what was given, what is allowed, where.

    Every refusal that a user can cause is a `WormcastError`. The command line turns a `WormcastError` into exit code 2,
    and its subclass `ToolMissing` into exit code 4.
    """


def no_such_file(what: str, file: Path) -> WormcastError:
    """Return a refusal of a file that does not exist, ``what`` first. For a relative path, the refusal says where
    relative paths begin."""
    where = "" if file.is_absolute() else " (relative paths begin in the working folder)"
    return WormcastError(f"{what}: {file} cannot be read: No such file{where}")


def unreadable(what: str, file: Path, error: OSError) -> WormcastError:
    """Return a refusal of a file that cannot be read, ``what`` first."""
    if isinstance(error, FileNotFoundError):
        return no_such_file(what, file)
    return WormcastError(f"{what}: {file} cannot be read: {error.strerror}")


class WireError(RuntimeError):
    """An error on the wire, found by the simulated hardware. A `WireError` ends a load or a hunt, whose results would
    be wrong.

    A command that ends with a `WireError` has exit code 1. With ``--json`` the command also prints an object with the
    outcome ``error``.
    """


class MessageError(WormcastError):
    """Refusal of a message that cannot be sent.

    Parameters
    ----------
    reason : str
        Sentence that begins with the key in the message.
    message : int
        Index of the message.
    several : bool
        There are several messages: the sentence names the message.
    """

    def __init__(self, reason: str, message: int, *, several: bool) -> None:
        super().__init__(located(reason, f"message {message}") if several else reason)
        self.message = message
        self.reason = reason


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `` Nearest: KNOWN.`` for the known name that is most similar to an unknown one; empty if none is similar.

    Hyphens count as underscores.
    """
    alike = {one.replace("-", "_"): one for one in known}
    found = difflib.get_close_matches(name.replace("-", "_"), list(alike), n=1)
    return f" Nearest: {alike[found[0]]}." if found else ""


_naming_options: ContextVar[bool] = ContextVar("naming_options", default=False)


@contextlib.contextmanager
def options_named() -> Iterator[None]:
    """Let refusals name options of the command line in place of parameters of functions, while the context is open."""
    before = _naming_options.set(True)
    try:
        yield
    finally:
        _naming_options.reset(before)


def naming_options() -> bool:
    """Return whether refusals name options of the command line."""
    return _naming_options.get()


def flag_text(name: str) -> str:
    """Return a flag as the user writes it: ``--clock-enable``, or ``clock_enable=True`` in Python."""
    return f"--{name.replace('_', '-')}" if naming_options() else f"{name}=True"


def option_text(name: str, value: Any) -> str:
    """Return an option with its value for a refusal: ``rate: 0.1``; a flag (value True) as `flag_text` writes it."""
    return flag_text(name) if value is True else f"{name}: {number_text(value)}"


def located(sentence: str, place: str) -> str:
    """Add a place, such as a file, to a refusal: ``KEY in PLACE: ...``; ``PLACE: ...`` if the refusal has no key."""
    key = KEY.match(sentence)
    return f"{key[1]} in {place}: {sentence[key.end():]}" if key else f"{place}: {sentence}"


@contextlib.contextmanager
def naming(place: str) -> Iterator[None]:
    """Add a place to each refusal that is raised in this context, see `located`."""
    try:
        yield
    except WormcastError as error:
        error.args = (located(str(error), place),)
        raise


def describe_error(error: BaseException, module: str) -> str:
    """Describe an error in users' code: its type, its first line, and the last line of ``module`` in its traceback."""
    sentence = f"{type(error).__name__}: {error}".splitlines()[0]
    places = [f", {Path(frame.f_code.co_filename).name}:{line}" for frame, line in
              traceback.walk_tb(error.__traceback__) if frame.f_globals.get("__name__") == module]
    return sentence + "".join(places[-1:])


@contextlib.contextmanager
def users_code(refusal: str, module: str) -> Iterator[None]:
    """Turn errors of users' code in this context, `SystemExit` too, into refusals. A `WormcastError` passes unchanged.

    Parameters
    ----------
    refusal : str
        Text of the refusal, without the error.
    module : str
        Module of the users' code, see `describe_error`.
    """
    try:
        yield
    except WormcastError:
        raise
    except FAILURES as error:
        raise WormcastError(f"{refusal} ({describe_error(error, module)})") from error
