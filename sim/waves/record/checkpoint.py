"""Checkpoint files: a zip with a JSON manifest and plain arrays.

Reading a checkpoint executes no code from the file.
"""

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
from wormcast.algorithms.errors import unreadable

__all__ = ["CheckpointFile", "opened", "read", "write"]

FORMAT = "wormcast checkpoint"
MANIFEST = "manifest.json"

#: Exceptions that reading a damaged zip, manifest or array may raise.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, AttributeError, SyntaxError,
          MemoryError, OverflowError, RuntimeError, OSError)

#: Largest sizes in bytes: of the manifest, of an array's heading, and of all arrays of unknown length together.
#: Arrays of unknown length may together have `MOST_RATIO` times the size of the file, if that is more.
MOST_MANIFEST, HEADING, MOST_GROWING, MOST_RATIO = 1 << 24, 1 << 13, 1 << 28, 200


def write(path: Path, manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that `read` of this version reads on any machine.

    Each array is a member ``NAME.npy``, as in numpy's ``.npz``. ``manifest.json`` has ``format``, ``version``,
    ``content`` (the parameter ``manifest``), and ``sha256`` of the content and of all arrays.

    Raises
    ------
    OSError
        The file cannot be written, and may be incomplete.
    """
    whole = {"format": FORMAT, "version": wormcast.__version__, "content": manifest,
             "sha256": _digest(manifest, arrays)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr(MANIFEST, json.dumps(whole, indent=1))
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


class CheckpointFile:
    """An open checkpoint file: its content, and its arrays on demand.

    Attributes
    ----------
    path : Path
    content : dict
        The manifest given to `write`. The method `arrays` verifies the checksum of manifest and arrays.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile):
        self.path, self._file = path, file
        names = file.namelist()
        if MANIFEST not in names:
            raise WormcastError(f"{path} is not a checkpoint. Needed: a file that load --checkpoint has written.")
        if len(set(names)) < len(names):
            raise ValueError("two members have the same name")
        whole = json.loads(self._read(MANIFEST, MOST_MANIFEST))
        if whole["format"] != FORMAT:
            raise WormcastError(f"{path} is a {whole['format']}. Needed: a {FORMAT}.")
        if whole["version"] != wormcast.__version__:
            raise WormcastError(f"{path} was written by wormcast {whole['version']}, this is {wormcast.__version__}. "
                                f"Needed: wormcast {whole['version']}.")
        self.content, self._sha256 = whole["content"], whole["sha256"]

    def arrays(self, rooms: Mapping[str, int | None] | None = None) -> dict[str, np.ndarray]:
        """Read all arrays.

        Parameters
        ----------
        rooms : mapping of str to (int or None), optional
            Names of the expected arrays, each with its largest size in bytes. An array whose length may change during
            the simulation has None in place of a size. The arrays with None as size may together have 256 MiB, or 200
            times the size of the file if that is more. Without ``rooms``, arrays of any names are accepted, as if each
            had None as size.

        Raises
        ------
        ValueError
            The file has an unknown name of an array, lacks an expected one, or has too large an array.
        """
        names = [name for name in self._file.namelist() if name != MANIFEST]
        self._require(names, dict.fromkeys(name.removesuffix(".npy") for name in names) if rooms is None else rooms)
        with _damage_reported(self.path):
            found = {name.removesuffix(".npy"): np.lib.format.read_array(
                io.BytesIO(self._read(name, self._file.getinfo(name).file_size)), allow_pickle=False) for name in names}
            if self._sha256 != _digest(self.content, found):
                raise ValueError("the checksum of its contents is wrong")
            return found

    def _require(self, names: Sequence[str], rooms: Mapping[str, int | None]) -> None:
        """Refuse unknown, missing and too large arrays before any array is read."""
        for name in sorted({f"{name}.npy" for name in rooms} ^ set(names)):
            raise ValueError(f"{name} is {'not known' if name in names else 'missing'}")
        growing = 0
        for name in names:
            room, size = rooms[name.removesuffix(".npy")], self._file.getinfo(name).file_size
            growing += size if room is None else 0
            if room is not None and size > room + HEADING:
                raise ValueError(f"{name} has {size} bytes, more than {room + HEADING}")
        most = max(MOST_GROWING, MOST_RATIO * self.path.stat().st_size)
        if growing > most:
            raise ValueError(f"the arrays without a fixed size have {growing} bytes in total, more than {most}")

    def _read(self, name: str, most: int) -> bytes:
        """Return the bytes of a member of the zip. Refuse a member of more than ``most`` bytes before reading it."""
        size = self._file.getinfo(name).file_size
        if size > most:
            raise ValueError(f"{name} has {size} bytes, more than {most}")
        return self._file.read(name)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[CheckpointFile]:
    """Open a file that `write` has written. Sizes are checked before reading, so a crafted file cannot fill the memory.

    A file that is unreadable, damaged, or written by another version of wormcast is refused.
    """
    if path.exists() and not path.is_file() and not path.is_dir():  # reading a device might never end
        raise WormcastError(f"{path} is not a regular file. Needed: a file that load --checkpoint has written.")
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            begins = file.read(2)
        except OSError as error:
            raise unreadable("checkpoint", path, error) from error
        if begins != b"PK":
            raise WormcastError(f"{path} is not a checkpoint. Needed: a file that load --checkpoint has written.")
        with _damage_reported(path):
            stored = CheckpointFile(path, stack.enter_context(zipfile.ZipFile(file)))
        yield stored


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return content and arrays of a checkpoint file; any names of arrays are accepted."""
    with opened(path) as stored, _damage_reported(path):
        return stored.content, stored.arrays()


@contextlib.contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Turn the exceptions that a damaged file causes into a `WormcastError` of one sentence."""
    try:
        yield
    except WormcastError:
        raise
    except DAMAGE as error:
        raise WormcastError(f"{path} is damaged ({_damage(error)}). Needed: a checkpoint as load wrote it.") from error


def _damage(error: Exception) -> str:
    if isinstance(error, zipfile.BadZipFile | zlib.error | EOFError):
        return "its end is missing, or bytes have changed"
    return str(error) or type(error).__name__


def _digest(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.descr} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
