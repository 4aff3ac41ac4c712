"""One process at a time makes what several want."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without these locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["alone"]

#: Seconds for which one waits for another who makes the same.
PATIENCE = 120


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Wait while another thread or process is in here with the same file: for `PATIENCE` at most, as it may have been
    stopped.

    Nobody waits where no lock can be had. The file goes with whoever leaves.
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
            fcntl.flock(handle, fcntl.LOCK_UN)  # a child that was forked meanwhile may have it open
            os.close(handle)


def _wait_for(handle: int) -> None:
    """Lock an open file as soon as nobody else has it, or give up."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.05)
