"""Files that are written whole or not at all."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from wormcast.algorithms import WormcastError

__all__ = ["require_writable", "whole_file"]


def require_writable(path: Path) -> None:
    """Refuse a path that `whole_file` cannot write, before there is anything to lose.

    Raises
    ------
    WormcastError
        As in `whole_file`.
    """
    _begin(path)[1].unlink()


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write to that becomes ``path`` when all went well, and vanishes otherwise.

    Links are followed, and a file that is replaced keeps its mode.

    Raises
    ------
    WormcastError
        ``path`` cannot be written, or is there and no ordinary file.
    """
    target, unfinished = _begin(path)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    try:
        yield unfinished
        unfinished.chmod(mode)
        unfinished.replace(target)
    except OSError as error:
        raise WormcastError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _begin(path: Path) -> tuple[Path, Path]:
    """Find where a path leads to, and make an empty file beside it."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise WormcastError(f"{path} is no ordinary file, it must be a file or a new name")
    if target.exists() and not os.access(target, os.W_OK):
        raise WormcastError(f"{path} cannot be written: it is read-only")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise WormcastError(f"{path} cannot be written: {error.strerror}") from error
    os.close(handle)
    return target, Path(name)
