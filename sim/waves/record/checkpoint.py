"""Files of state: plain arrays and a manifest in JSON, in one zip; nothing in them is ever run."""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wormcast import __version__
from wormcast.algorithms import WormcastError

__all__ = ["read", "write"]

FORMAT = "wormcast checkpoint"
MANIFEST = "manifest.json"

#: Whatever reading a damaged zip, manifest or array may raise.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, AttributeError, SyntaxError,
          MemoryError, OverflowError, RuntimeError)


def write(path: Path, manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that `read` reads on any machine, by this version.

    Each array is a member ``NAME.npy``, as in numpy's ``.npz``. ``manifest.json`` has ``format``, ``version``, what is
    given as ``content``, and ``sha256`` of the content and of all arrays.

    Raises
    ------
    OSError
        It cannot be written; what is there then is of no use.
    """
    whole = {"format": FORMAT, "version": __version__, "content": manifest, "sha256": _digest(manifest, arrays)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr(MANIFEST, json.dumps(whole, indent=1))
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the manifest and the arrays of a file.

    Raises
    ------
    WormcastError
        It cannot be read, is no such file, is damaged, or was written by another version.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WormcastError(f"{path} cannot be read: {error.strerror}") from error
    if not content.startswith(b"PK"):
        raise WormcastError(f"{path} is no checkpoint, it must be a file that load --checkpoint has written")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            if MANIFEST not in file.namelist():
                raise WormcastError(f"{path} is no checkpoint, it must be a file that load --checkpoint has written")
            whole = json.loads(file.read(MANIFEST))
            if whole["format"] != FORMAT:
                raise WormcastError(f"{path} is a {whole['format']}, it must be a {FORMAT}")
            if whole["version"] != __version__:
                raise WormcastError(f"{path} was written by wormcast {whole['version']}, this is {__version__}: "
                                    "only the same version continues it")
            arrays = {
                name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(file.read(name)), allow_pickle=False)
                for name in file.namelist() if name != MANIFEST
            }
            if whole["sha256"] != _digest(whole["content"], arrays):
                raise ValueError("the contents are not what was written")
            return whole["content"], arrays
    except DAMAGE as error:
        if isinstance(error, WormcastError):
            raise
        raise WormcastError(f"{path} is damaged: {error or type(error).__name__}") from error


def _digest(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.descr} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
