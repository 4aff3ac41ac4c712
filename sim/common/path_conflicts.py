"""Refusal of output paths that equal an input or another output."""

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path

from wormcast.algorithms import WormcastError

__all__ = ["require_apart"]


def require_apart(reads: Mapping[str, str | PathLike[str] | None],
                  writes: Mapping[str, str | PathLike[str] | None]) -> None:
    """Refuse an output file that is also an input or another output, also if symbolic or hard links hide this.

    Parameters
    ----------
    reads, writes : mapping of str to path
        Path by its name in error messages: ``"--vcd"``, ``"the scheme"``. If a path is None, it is ignored.
    """
    taken: dict[object, str] = {}
    for word, path in reads.items():
        if path is not None:
            taken |= dict.fromkeys(_keys(Path(path)), word)
    for word, path in writes.items():
        if path is None:
            continue
        for key in _keys(Path(path)):
            if key in taken:
                raise WormcastError(f"{word}: {path} is not valid: it is the file of {taken[key]} too. "
                                    "Allowed: a file of its own.")
        taken |= dict.fromkeys(_keys(Path(path)), word)


def _keys(path: Path) -> Iterator[object]:
    """Yield the keys that two names of one file share: the resolved path, and device and inode of a file."""
    try:
        yield path.resolve()
        found = path.stat()
    except (OSError, RuntimeError):  # the file does not exist, or links lead in a circle
        return
    if path.is_file():
        yield found.st_dev, found.st_ino
