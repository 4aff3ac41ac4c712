"""Errors of files that cannot be read, compressed files included, in plain words."""

import contextlib
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import unreadable

__all__ = ["GZIP", "reading"]

#: First bytes of a file that gzip has compressed.
GZIP = b"\x1f\x8b"


@contextlib.contextmanager
def reading(what: str, file: Path) -> Iterator[None]:
    """Turn errors of reading a file in this context into refusals that begin with ``what``."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise WormcastError(f"{what}: {file} is cut off or damaged. Needed: a whole gzip file.") from error
    except OSError as error:
        raise unreadable(what, file, error) from error
