"""Numba's dispatchers of compiled functions, stored on disk by the digest of their code.

Importing this module loads Numba. Module `compiled` imports this module at the first use of a compiled function.
"""

import contextlib
import glob
import hashlib
import itertools
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from .announcements import announce
from .compiled import CompiledFunction, Intrinsic, digest, with_globals
from .file_lock import alone

__all__ = ["called_by", "dispatcher"]

#: Names the way in which functions are numbered. Code that was stored with another numbering is not loaded.
NUMBERING = "from a random number"

# Numba numbers the functions that it compiles. A function's symbol consists of its name, its number and its argument
# types. By default each process counts from 1, so two processes can store different functions with one symbol, such as
# the comparisons of Numba's `sort` and `argsort`. A process that loads both from the cache calls one for the other.
FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


def dispatcher(function: CompiledFunction[..., Any]) -> Any:
    """Make the dispatcher of a function, and those of the functions that it calls."""
    if function.inline:
        return numba.njit(nogil=True, forceinline=True)(called_by(function.py_func, lambda called: called.dispatcher))
    kernel: Any = numba.njit(nogil=True)(called_by(function.py_func, lambda called: called.dispatcher))
    with contextlib.suppress(RuntimeError):  # a read-only or zipped installation has no folder for cache files
        kernel._cache = _Cache(function.py_func)
    return kernel


def called_by(function: Callable[..., Any], made: Callable[[CompiledFunction[..., Any]], Any]) -> Callable[..., Any]:
    """Copy a function, and replace the compiled functions and intrinsics that it calls by Numba's objects."""

    def replace(name: str, value: Any) -> Any:
        if isinstance(value, CompiledFunction):
            return made(value)
        return value.made if isinstance(value, Intrinsic) else value

    return with_globals(function, replace)


class _Files(CompileResultCacheImpl):
    """Numba's cache files, named and stamped by the digest of the compiled code, not by lines and times of sources.

    Numba writes the index file of a cache before the code file that the index names. As the names of both files
    contain the digest, an index file that a killed process has left never names an earlier version's code file.
    """

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        locator: Any = self._locator
        stamp = digest(function)
        locator.get_source_stamp = lambda: f"{stamp} {NUMBERING}"
        locator.get_disambiguator = lambda: ""
        self.title = f"{Path(locator._py_file).stem}.{function.__qualname__}-"
        self._filename_base = self.get_filename_base(f"{self.title}{stamp[:16]}", "")


class _Index(IndexDataCacheFile):
    """Numba's index of a function's cached code. An index or code that cannot be read counts as missing.

    Both files contain the names of classes, such as the types of named tuples that are arguments. The digest of a
    function does not contain these names: files that were stored before a class was renamed cannot be read.
    """

    def load(self, key: Any) -> Any:
        with contextlib.suppress(Exception):  # loading a class that does not exist raises errors of several types
            return super().load(key)
        return None

    def _load_index(self) -> Any:
        with contextlib.suppress(Exception):
            return super()._load_index()
        return {}


class _Cache(FunctionCache):
    """Numba's cache of a function. Of several processes that need the same code, one compiles it and others wait."""

    _impl_class = _Files

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        self._cache_file = _Index(self.cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())
        self._compiling: dict[Any, contextlib.ExitStack] = {}

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None and sig not in self._compiling:
            with contextlib.ExitStack() as turn:
                turn.enter_context(announce("compiling Python by Numba", once=True))
                turn.enter_context(alone(self._lock(sig)))
                found = super().load_overload(sig, target_context)  # another process may have stored the code meanwhile
                if found is None:
                    self._compiling[sig] = turn.pop_all()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        # Numba reads, changes and writes the index without a lock: two processes that store code for different argument
        # types at the same time could give both the same file, and the index would name the wrong code
        with self._compiling.pop(sig, contextlib.ExitStack()), alone(self._lock()):
            super().save_overload(sig, data)
            self._remove_earlier()

    def _remove_earlier(self) -> None:
        """Remove the cached code of earlier versions of this function."""
        for file in Path(self.cache_path).glob(f"{glob.escape(self._impl.title)}*.nb[ic]"):
            if not file.name.startswith(self._impl.filename_base):
                with contextlib.suppress(OSError):
                    file.unlink()

    def _lock(self, sig: Any = None) -> Path:
        """Return the lock file of a signature's compilation, or without a signature that of the index."""
        name = self._impl.filename_base
        if sig is not None:
            name += f".{hashlib.sha256(str(sig).encode()).hexdigest()[:16]}"
        return Path(self.cache_path, f"{name}.lock")
