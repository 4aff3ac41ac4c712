"""Files of state: plain arrays and a manifest in JSON, in one zip; nothing that is in them is ever run."""

import contextlib
import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import wormcast
from wormcast.algorithms import WormcastError

__all__ = ["Stored", "opened", "read", "write"]

FORMAT = "wormcast checkpoint"
MANIFEST = "manifest.json"

#: Whatever reading a damaged zip, manifest or array may raise.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, AttributeError, SyntaxError,
          MemoryError, OverflowError, RuntimeError, OSError)

#: Most bytes of the manifest, of the words before an array's numbers, and of all arrays whose length nobody knows; a
#: file that is large itself may have so many times its own of these.
MOST_MANIFEST, HEADING, MOST_GROWING, MOST_RATIO = 1 << 24, 1 << 13, 1 << 28, 200


def write(path: Path, manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that `read` reads on any machine, by this version.

    Each array is a member ``NAME.npy``, as in numpy's ``.npz``. ``manifest.json`` has ``format``, ``version``, what is
    given as ``content``, and ``sha256`` of the content and of all arrays.

    Raises
    ------
    OSError
        It cannot be written; what is there then is of no use.
    """
    whole = {"format": FORMAT, "version": wormcast.__version__, "content": manifest,
             "sha256": _digest(manifest, arrays)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr(MANIFEST, json.dumps(whole, indent=1))
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


class Stored:
    """A file of state that is open: its content, and its arrays as they are asked for.

    Attributes
    ----------
    path : Path
    content : dict
        What `write` was given; known to be what was written when `arrays` has read all of it.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile):
        self.path, self._file = path, file
        names = file.namelist()
        if MANIFEST not in names:
            raise WormcastError(f"{path} is no checkpoint, it must be a file that load --checkpoint has written")
        if len(set(names)) < len(names):
            raise ValueError("a name is there twice")
        whole = json.loads(self._read(MANIFEST, MOST_MANIFEST))
        if whole["format"] != FORMAT:
            raise WormcastError(f"{path} is a {whole['format']}, it must be a {FORMAT}")
        if whole["version"] != wormcast.__version__:
            raise WormcastError(f"{path} was written by wormcast {whole['version']}, this is {wormcast.__version__}: "
                                "only the same version continues it")
        self.content, self._sha256 = whole["content"], whole["sha256"]

    def arrays(self, rooms: Mapping[str, int | None] | None = None) -> dict[str, np.ndarray]:
        """Read all arrays.

        Parameters
        ----------
        rooms : mapping of str to (int or None), optional
            The arrays that there must be, with their most bytes; None for one that grows with what is under way: all
            of these together have 256 MiB, or 200 times what the whole file has. Without it, each is one of these.

        Raises
        ------
        WormcastError
            As `opened`.
        ValueError
            There are others, or they have more bytes.
        """
        names = [name for name in self._file.namelist() if name != MANIFEST]
        self._require(names, dict.fromkeys(name.removesuffix(".npy") for name in names) if rooms is None else rooms)
        with _told(self.path):
            found = {name.removesuffix(".npy"): np.lib.format.read_array(
                io.BytesIO(self._read(name, self._file.getinfo(name).file_size)), allow_pickle=False) for name in names}
            if self._sha256 != _digest(self.content, found):
                raise ValueError("the contents are not what was written")
            return found

    def _require(self, names: Sequence[str], rooms: Mapping[str, int | None]) -> None:
        """Refuse arrays that are not asked for, and more bytes than they may have, before any is read."""
        for name in sorted({f"{name}.npy" for name in rooms} ^ set(names)):
            raise ValueError(f"{name} is {'not known' if name in names else 'missing'}")
        growing = 0
        for name in names:
            room, size = rooms[name.removesuffix(".npy")], self._file.getinfo(name).file_size
            growing += size if room is None else 0
            if room is not None and size > room + HEADING:
                raise ValueError(f"{name} has {size} bytes, allowed are {room + HEADING}")
        most = max(MOST_GROWING, MOST_RATIO * self.path.stat().st_size)
        if growing > most:
            raise ValueError(f"what is under way has {growing} bytes, allowed are {most}")

    def _read(self, name: str, most: int) -> bytes:
        """The bytes of a member, refused before they are read if they are too many."""
        size = self._file.getinfo(name).file_size
        if size > most:
            raise ValueError(f"{name} has {size} bytes, allowed are {most}")
        return self._file.read(name)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Stored]:
    """Open a file that `write` has written; what is in memory does not grow with what a crafted one asks for.

    Raises
    ------
    WormcastError
        It cannot be read, is no such file, is damaged, or was written by another version.
    """
    if path.exists() and not path.is_file() and not path.is_dir():  # a device has no end
        raise WormcastError(f"{path} is no ordinary file, it must be one that load --checkpoint has written")
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            begins = file.read(2)
        except OSError as error:
            raise WormcastError(f"{path} cannot be read: {error.strerror}") from error
        if begins != b"PK":
            raise WormcastError(f"{path} is no checkpoint, it must be a file that load --checkpoint has written")
        with _told(path):
            stored = Stored(path, stack.enter_context(zipfile.ZipFile(file)))
        yield stored


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the content and the arrays of a file whose arrays nobody knows beforehand; see `opened`."""
    with opened(path) as stored, _told(path):
        return stored.content, stored.arrays()


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say in a sentence how a file is damaged."""
    try:
        yield
    except WormcastError:
        raise
    except DAMAGE as error:
        raise WormcastError(f"{path} is damaged: {str(error) or type(error).__name__}") from error


def _digest(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.descr} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
