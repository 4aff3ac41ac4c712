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
    handle = -1
    if fcntl is not None:
        with contextlib.suppress(OSError):
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            _wait_for(handle)
    try:
        yield
    finally:
        if handle >= 0:
            with contextlib.suppress(OSError):
                lock.unlink()
            fcntl.flock(handle, fcntl.LOCK_UN)  # close may not unlock, as a forked process may have the file open
            os.close(handle)


def _wait_for(handle: int) -> None:
    """Lock an open file, or give up after `PATIENCE`."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.05)
