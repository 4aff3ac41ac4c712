"""Files of the user's cache: written atomically, and read only if no user except this user and root can have written
them."""

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

__all__ = ["cache_folder", "is_ours", "read_kept", "write_kept"]

DIGEST = hashlib.sha256().digest_size


def cache_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the cache: ``folder``, else ``$WORMCAST_CACHE``, else ``wormcast/kernels`` in the user's
    cache folder (``$XDG_CACHE_HOME``, or ``.cache`` at home)."""
    if folder is not None:
        return Path(folder)
    if chosen := os.environ.get("WORMCAST_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wormcast" / "kernels"


def is_ours(found: os.stat_result) -> bool:
    """Return whether only this user and root can have written the file or folder with this status."""
    if not hasattr(os, "getuid"):
        return True  # a system without owners and modes of this kind, as Windows
    return found.st_uid in (0, os.getuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def read_kept(path: Path) -> bytes | None:
    """Return the content that `write_kept` has written, or None.

    The result is None if the file is missing or damaged, or if `is_ours` is false for the file or its folder.
    """
    try:
        if not is_ours(path.parent.stat()):
            return None
        with path.open("rb") as file:
            if not is_ours(os.fstat(file.fileno())):
                return None
            content = file.read()
    except OSError:
        return None
    digest, payload = content[:DIGEST], content[DIGEST:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def write_kept(path: Path, payload: bytes) -> None:
    """Write a file atomically. Errors are ignored."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
