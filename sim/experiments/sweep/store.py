"""Store of finished points in an SQLite file. Each result is stored completely or not at all."""

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError
from wormcast.algorithms.file_schema import given

from ...common.atomic_write import make_folder, require_writable

__all__ = ["MemoryStore", "ResultStore"]

TABLE = "CREATE TABLE points (key TEXT PRIMARY KEY, result TEXT NOT NULL, digest TEXT NOT NULL)"

#: Seconds to wait for a file that another process has locked.
PATIENCE = 30


class ResultStore:
    """Results of points by key.

    Parameters
    ----------
    path : Path
        File name. A missing file is created with the first result. Missing folders of the file's path are created at
        once, and removed at the end if they are empty.

    Raises
    ------
    WormcastError
        The file cannot be written, is damaged, or is not a file of finished points. Every method raises it. Stored
        results are kept.
    """

    def __init__(self, path: Path):
        self.path = path
        self._made = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        self._opened: sqlite3.Connection | None = None
        make_folder(path.parent)
        try:
            if path.exists():
                self._database()
            else:
                require_writable(path)
        except WormcastError:
            self._close()
            raise

    def _database(self) -> sqlite3.Connection:
        """Return the open database. If the store's file does not exist, the call creates it."""
        if self._opened is None:
            with self._named_errors():
                self._opened = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
                self._begin(self._opened)
        return self._opened

    def _begin(self, database: sqlite3.Connection) -> None:
        database.execute("BEGIN IMMEDIATE")  # a file that cannot be written is refused before anything is run
        found = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        if found not in ([], [(TABLE,)]):
            raise WormcastError(f"{self.path} is not valid: it is not a file of finished points. "
                                "Allowed: another folder, with --out FOLDER; or this folder without the file.")
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
            with contextlib.suppress(OSError):  # raised if the folder is not empty
                folder.rmdir()

    def __enter__(self) -> "ResultStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __contains__(self, key: str) -> bool:
        return self._find(key) is not None

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Return the result of a finished point."""
        found = self._find(key)
        if found is None:
            raise WormcastError(f"{self.path} is not valid: it has no finished point {given(key)}. Needed: a file that "
                                "no program changes or replaces while wormcast uses it.")
        return found

    def _find(self, key: str) -> dict[str, Any] | None:
        if self._opened is None and not self.path.exists():
            return None
        database = self._database()
        with self._named_errors():
            found = database.execute("SELECT result, digest FROM points WHERE key = ?", (key,)).fetchone()
            if found is None:
                return None
            result, digest = found
            if digest != _digest(key, result):
                raise sqlite3.DatabaseError("a result has a wrong digest")
            return json.loads(result)

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Store the result of a point. The result is on disk when the method returns."""
        text, database = json.dumps(result), self._database()
        with self._named_errors():
            database.execute("INSERT OR REPLACE INTO points VALUES (?, ?, ?)", (key, text, _digest(key, text)))

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Raise SQLite's errors as `WormcastError`, with the file's name."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise WormcastError(f"{self.path} cannot be used ({error}). Needed: a file that can be read and written, "
                                "and space on its disk.") from error
        except sqlite3.DatabaseError as error:
            raise WormcastError(f"{self.path} is damaged ({error}). Needed: an intact file of finished points; "
                                "move it away to start anew.") from error


class MemoryStore(dict[str, dict[str, Any]]):
    """Results of points by key, in memory."""

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Store the result of a point."""
        self[key] = result


def _digest(key: str, result: str) -> str:
    return hashlib.sha256(f"{key}\n{result}".encode()).hexdigest()
