"""Finished points, in an sqlite file: each is there whole or not at all, whenever the process ends."""

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError

__all__ = ["ResultStore"]

TABLE = "CREATE TABLE points (key TEXT PRIMARY KEY, result TEXT NOT NULL, digest TEXT NOT NULL)"

#: Seconds for which another process may keep the file locked.
PATIENCE = 30


class ResultStore:
    """The results of points, by key.

    Parameters
    ----------
    path : Path
        The file; it is made, with its folder, if it is not there.

    Raises
    ------
    WormcastError
        It cannot be written, is damaged, or is something else; every method raises it, and what is stored stays.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WormcastError(f"{path.parent} cannot be written: {error.strerror}") from error
        with self._told():
            self._database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            with self._told():
                self._open()
        except WormcastError:
            self._database.close()
            raise

    def _open(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")  # a file that cannot be written is refused before anything is run
        found = self._database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        if found not in ([], [(TABLE,)]):
            raise WormcastError(f"{self.path} is no file of finished points, it must be one or a new name")
        if not found:
            self._database.execute(TABLE)
        self._database.execute("COMMIT")
        [(state,), *_] = self._database.execute("PRAGMA quick_check").fetchall()
        if state != "ok":
            raise sqlite3.DatabaseError(state.replace("\n", " "))

    def __enter__(self) -> "ResultStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def __contains__(self, key: str) -> bool:
        return self._find(key) is not None

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Give the result of a point that is finished."""
        found = self._find(key)
        if found is None:
            raise WormcastError(f"{self.path} has lost a point since it was opened, it must not be changed meanwhile")
        return found

    def _find(self, key: str) -> dict[str, Any] | None:
        with self._told():
            found = self._database.execute("SELECT result, digest FROM points WHERE key = ?", (key,)).fetchone()
            if found is None:
                return None
            result, digest = found
            if digest != _digest(key, result):
                raise sqlite3.DatabaseError("a result is not what was stored")
            return json.loads(result)

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Keep the result of a point: on disk when this returns."""
        text = json.dumps(result)
        with self._told():
            self._database.execute("INSERT OR REPLACE INTO points VALUES (?, ?, ?)", (key, text, _digest(key, text)))

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say in a sentence what went wrong with the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise WormcastError(f"{self.path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise WormcastError(f"{self.path} is damaged ({error}): it must be a file of finished points, whole; "
                                "move it away to start anew") from error


def _digest(key: str, result: str) -> str:
    return hashlib.sha256(f"{key}\n{result}".encode()).hexdigest()
