"""Finished points, in an sqlite file: each is there whole or not at all, whenever the process ends."""

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError

from ...common.atomic_write import require_writable

__all__ = ["ResultStore"]

TABLE = "CREATE TABLE points (key TEXT PRIMARY KEY, result TEXT NOT NULL, digest TEXT NOT NULL)"

#: Seconds for which another process may keep the file locked.
PATIENCE = 30


class ResultStore:
    """The results of points, by key.

    Parameters
    ----------
    path : Path
        The file; if it is not there it is made with the first point. Its folder is made at once, and goes again if
        nothing came of it.

    Raises
    ------
    WormcastError
        It cannot be written, is damaged, or is something else; every method raises it, and what is stored stays.
    """

    def __init__(self, path: Path):
        self.path = path
        self._made = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        self._opened: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WormcastError(f"{path.parent} cannot be written: {error.strerror}") from error
        try:
            if path.exists():
                self._database()
            else:
                require_writable(path)
        except WormcastError:
            self._close()
            raise

    def _database(self) -> sqlite3.Connection:
        """The open file, made if it is not there."""
        if self._opened is None:
            with self._told():
                self._opened = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
                self._begin(self._opened)
        return self._opened

    def _begin(self, database: sqlite3.Connection) -> None:
        database.execute("BEGIN IMMEDIATE")  # a file that cannot be written is refused before anything is run
        found = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        if found not in ([], [(TABLE,)]):
            raise WormcastError(f"{self.path} is no file of finished points, it must be one or a new name")
        if not found:
            database.execute(TABLE)
        database.execute("COMMIT")
        [(state,), *_] = database.execute("PRAGMA quick_check").fetchall()
        if state != "ok":
            raise sqlite3.DatabaseError(state.replace("\n", " "))

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        for folder in self._made:
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()

    def __enter__(self) -> "ResultStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __contains__(self, key: str) -> bool:
        return self._find(key) is not None

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Give the result of a point that is finished."""
        found = self._find(key)
        if found is None:
            raise WormcastError(f"{self.path} has lost a point since it was opened, it must not be changed meanwhile")
        return found

    def _find(self, key: str) -> dict[str, Any] | None:
        if self._opened is None and not self.path.exists():
            return None
        database = self._database()
        with self._told():
            found = database.execute("SELECT result, digest FROM points WHERE key = ?", (key,)).fetchone()
            if found is None:
                return None
            result, digest = found
            if digest != _digest(key, result):
                raise sqlite3.DatabaseError("a result is not what was stored")
            return json.loads(result)

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Keep the result of a point: on disk when this returns."""
        text, database = json.dumps(result), self._database()
        with self._told():
            database.execute("INSERT OR REPLACE INTO points VALUES (?, ?, ?)", (key, text, _digest(key, text)))

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
