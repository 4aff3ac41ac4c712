"""Atomic writes: a file is written completely or not at all."""

import contextlib
import errno
import glob
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from wormcast.algorithms import WormcastError

try:
    import fcntl
except ImportError:  # Windows has no fcntl: on Windows, files are not locked
    fcntl = None  # type: ignore[assignment]

__all__ = ["make_folder", "require_writable", "whole_file", "write_fault"]

#: Suffix of a temporary file.
UNFINISHED = ".unfinished"

#: Bytes of a file's name that are always allowed: the name of the temporary file is longer, and has at most 255 bytes.
LONGEST = 220

#: Age in seconds above which an unlocked temporary file is deleted even if a process with its process id runs.
AGE = 60


def write_fault(error: OSError) -> str | None:
    """Return the reason for which a file cannot be written."""
    if error.errno == errno.EFBIG:
        return "the system's limit on file sizes (ulimit -f) is reached"
    return error.strerror


def make_folder(path: Path) -> None:
    """Create a folder and the folders above it, if they do not exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise WormcastError(f"folder {path} cannot be created: {path} is a file") from error
    except OSError as error:
        raise WormcastError(f"folder {path} cannot be created: {error.strerror}") from error


def require_writable(path: Path) -> None:
    """Refuse a path that `whole_file` cannot write, and delete temporary files that killed processes left beside it."""
    target, unfinished, handle = _begin(path)
    try:
        _clean(target)
    finally:
        unfinished.unlink()
        os.close(handle)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` on success and is deleted on an exception.

    Symbolic links are followed, and a replaced file keeps its permissions. Temporary files of the same path that killed
    processes left are deleted.

    Raises
    ------
    WormcastError
        ``path`` cannot be written, or exists and is not a regular file.
    """
    target, unfinished, handle = _begin(path)
    try:
        _clean(target)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
        yield unfinished
        unfinished.chmod(mode)
        unfinished.replace(target)
    except OSError as error:
        raise WormcastError(f"{path} cannot be written: {write_fault(error)}") from error
    finally:
        unfinished.unlink(missing_ok=True)
        os.close(handle)


def _begin(path: Path) -> tuple[Path, Path, int]:
    """Resolve a path and create an empty file beside it, locked while its handle is open."""
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:
        raise WormcastError(f"{path} cannot be written: its symbolic links lead in a circle") from error
    if target.is_dir():
        raise WormcastError(f"{path} is not valid: it is a folder. Allowed: the name of a file.")
    if target.exists() and not target.is_file():
        raise WormcastError(f"{path} is not valid: it is not a regular file. Allowed: a regular file or a new name.")
    if target.exists() and not os.access(target, os.W_OK):
        raise WormcastError(f"{path} cannot be written: it is read-only")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.{os.getpid()}-", suffix=UNFINISHED)
    except FileNotFoundError as error:
        raise WormcastError(f"{path} cannot be written: its folder does not exist") from error
    except NotADirectoryError as error:
        raise WormcastError(f"{path} cannot be written: {path.parent} is not a folder") from error
    except OSError as error:
        reason = f"its name is longer than {LONGEST} bytes" if error.errno == errno.ENAMETOOLONG else write_fault(error)
        raise WormcastError(f"{path} cannot be written: {reason}") from error
    _lock(handle)
    return target, Path(name), handle


def _lock(handle: int) -> bool:
    """Lock a file while it is open; return True if the lock was taken."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another process holds the lock, or the file system has no locks
        return False
    return True


def _is_gone(left: Path) -> bool:
    """Return whether the process that made a temporary file no longer runs on this machine.

    A missing lock does not prove that the process has ended: a process locks its file only after making it.
    """
    number = left.name.removesuffix(UNFINISHED).rpartition(".")[2].partition("-")[0]
    if os.name != "posix" or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _clean(target: Path) -> None:
    """Delete the temporary files of ``target`` that killed processes left, and files whose names begin with such a
    file's name."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*{UNFINISHED}"):
        with contextlib.suppress(OSError), left.open("rb") as file:
            if (_is_gone(left) or time.time() - left.stat().st_mtime > AGE) and _lock(file.fileno()):
                for beside in target.parent.glob(f"{glob.escape(left.name)}.*"):
                    beside.unlink()
                left.unlink()
