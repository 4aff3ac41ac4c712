"""Files that are written whole or not at all."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from wormcast.algorithms import WormcastError

__all__ = ["whole_file"]


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write to that becomes ``path`` when all went well, and vanishes otherwise.

    Links are followed, and a file that is replaced keeps its mode.

    Raises
    ------
    WormcastError
        ``path`` cannot be written, or is there and no ordinary file.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise WormcastError(f"{path} is no ordinary file, it must be a file or a new name")
    if target.exists() and not os.access(target, os.W_OK):
        raise WormcastError(f"{path} cannot be written: it is read-only")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise WormcastError(f"{path} cannot be written: {error.strerror}") from error
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(mode)
        unfinished.replace(target)
    except OSError as error:
        raise WormcastError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
