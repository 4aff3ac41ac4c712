"""Errors of files that cannot be read, compressed files included, in plain words."""

import contextlib
import gzip
import zlib
from collections.abc import Iterator

from wormcast.algorithms import WormcastError

__all__ = ["GZIP", "reading"]

#: First bytes of a file that gzip has compressed.
GZIP = b"\x1f\x8b"


@contextlib.contextmanager
def reading(name: object) -> Iterator[None]:
    """Turn errors of reading a file in this context into refusals that begin with ``name``."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise WormcastError(f"{name} is cut off or damaged. Needed: a whole gzip file.") from error
    except OSError as error:
        raise WormcastError(f"{name} cannot be read: {error.strerror}") from error
