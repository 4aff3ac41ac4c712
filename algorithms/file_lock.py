"""Inter-process file lock."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without file locks of this kind, as Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["alone"]

#: Longest wait for the lock, in seconds.
PATIENCE = 120


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold a lock file. Other threads and processes with the same file wait, for `PATIENCE` at most.

    After `PATIENCE` seconds a waiting process goes on without the lock, as the lock's holder may be a stopped process.
    On systems without ``fcntl`` processes do not wait. The lock file is deleted at the end of the context.
    """
    handle = _lock(lock) if fcntl is not None else -1
    try:
        yield
    finally:
        if handle >= 0:
            with contextlib.suppress(OSError):
                lock.unlink()
            # while a forked process has the file open, close does not unlock
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


def _lock(lock: Path) -> int:
    """Open and lock a file. Return the file's descriptor; -1 if the file cannot be locked within `PATIENCE`."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return -1
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # an earlier holder may have deleted the file since it was opened here: then another process can hold a new
            # file of this name
            if os.path.samestat(os.fstat(handle), os.lstat(lock)):
                return handle
        except BlockingIOError:
            time.sleep(0.05)
        except FileNotFoundError:
            pass
        except OSError:  # a file system without locks
            end = 0
        os.close(handle)
    return -1
