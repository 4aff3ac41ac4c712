"""Files of a command that must not be one: each that it writes, and all that it reads."""

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path

from wormcast.algorithms import WormcastError

__all__ = ["require_apart"]


def require_apart(reads: Mapping[str, str | PathLike[str] | None],
                  writes: Mapping[str, str | PathLike[str] | None]) -> None:
    """Refuse a file to write that is read, or written, under another name too: what was there would be lost.

    Parameters
    ----------
    reads, writes : mapping of str to path
        By the words that name them in a sentence: ``"--vcd"``, ``"the scheme"``. None: there is none.

    Raises
    ------
    WormcastError
        Two lead to the same file, through links too.
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
                raise WormcastError(f"{word}: {path} is given, which is the file of {taken[key]} too; one is "
                                    "lost then, each must have a file of its own")
        taken |= dict.fromkeys(_keys(Path(path)), word)


def _keys(path: Path) -> Iterator[object]:
    """What two names of a file have in common: where they lead to, and if it is there, the file itself."""
    try:
        yield path.resolve()
        found = path.stat()
    except (OSError, RuntimeError):  # it is not there, or links lead in a circle
        return
    if path.is_file():
        yield found.st_dev, found.st_ino
