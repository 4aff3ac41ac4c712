"""Files that are written whole or not at all."""

import contextlib
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
except ImportError:  # a system without these locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["require_writable", "whole_file"]

#: How names of files end that are not whole yet.
UNFINISHED = ".unfinished"

#: Seconds after which a file that nobody has locked counts as left by a process of another machine.
AGE = 60


def require_writable(path: Path) -> None:
    """Refuse a path that `whole_file` cannot write, before there is anything to lose; what is left of it goes.

    Raises
    ------
    WormcastError
        As in `whole_file`.
    """
    target, unfinished, handle = _begin(path)
    try:
        _clean(target)
    finally:
        unfinished.unlink()
        os.close(handle)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write to that becomes ``path`` when all went well, and vanishes otherwise.

    Links are followed, and a file that is replaced keeps its mode. What a process that was killed has left of the same
    file goes.

    Raises
    ------
    WormcastError
        ``path`` cannot be written, or is there and no ordinary file.
    """
    target, unfinished, handle = _begin(path)
    try:
        _clean(target)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
        yield unfinished
        unfinished.chmod(mode)
        unfinished.replace(target)
    except OSError as error:
        raise WormcastError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
        os.close(handle)


def _begin(path: Path) -> tuple[Path, Path, int]:
    """Find where a path leads to, and make an empty file beside it, which is locked as long as its handle is open."""
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:
        raise WormcastError(f"{path} cannot be written: its links lead in a circle") from error
    if target.exists() and not target.is_file():
        raise WormcastError(f"{path} is no ordinary file, it must be a file or a new name")
    if target.exists() and not os.access(target, os.W_OK):
        raise WormcastError(f"{path} cannot be written: it is read-only")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.{os.getpid()}-", suffix=UNFINISHED)
    except OSError as error:
        raise WormcastError(f"{path} cannot be written: {error.strerror}") from error
    _lock(handle)
    return target, Path(name), handle


def _lock(handle: int) -> bool:
    """Lock a file as long as it is open, which ends with its process; return whether nobody else had, if it shows."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # or a file system without locks
        return False
    return True


def _is_gone(left: Path) -> bool:
    """Whether the process that has made a file is none of this machine's; one that was just made may not be locked."""
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
    """Remove what processes have left of a file that they had begun, and what they had put beside it."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*{UNFINISHED}"):
        with contextlib.suppress(OSError), left.open("rb") as file:
            if (_is_gone(left) or time.time() - left.stat().st_mtime > AGE) and _lock(file.fileno()):
                for beside in target.parent.glob(f"{glob.escape(left.name)}.*"):
                    beside.unlink()
                left.unlink()
