"""Compiled functions that are called without Numba.

Numba's front end and LLVM compile a native function to object code once. Later processes load this object code with
llvmlite, without Numba. The arguments of a native function are arrays, numbers, and tuples of these. A native function
returns nothing.
"""

import contextlib
import ctypes
import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from wormcast.algorithms.compiled import CompiledFunction, digest
from wormcast.algorithms.file_lock import alone
from wormcast.algorithms.kept_files import cache_folder, read_kept, write_kept
from wormcast.algorithms.source_digest import source_digest

from ..common.processor import host
from . import machine

__all__ = ["Native", "NativeCall", "native"]

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Native(CompiledFunction[..., None]):
    """Compiled function that is kept as object code.

    Parameters
    ----------
    py_func : function
        The function in Python.
    switches : tuple of str
        Names of global variables that are True in the function's module. A call may set any of the variables in
        ``switches`` to False. If a call sets NAME to False, the call's object code lacks the code below ``if NAME:``.
    """

    def __init__(self, py_func: Callable[..., None], switches: tuple[str, ...] = ()):
        super().__init__(py_func)
        self.switches = switches
        self._addresses: dict[Any, int] = {}

    def __call__(self, *arguments: Any, **switches: bool) -> None:
        """Call the function; see `prepared`."""
        self.prepared(*arguments, **switches)()

    def prepared(self, *arguments: Any, **switches: bool) -> "NativeCall":
        """Prepare a call, which may be repeated with other contents of the same arrays.

        Parameters
        ----------
        arguments
            Arguments of the function.
        switches
            False for each of the globals in ``switches`` whose code is not needed. By default, all globals in
            ``switches`` are True.
        """
        values: list[int] = []
        types = _flatten(arguments, values)
        chosen = {name: switches.get(name, True) for name in self.switches}
        key = types, *chosen.values()
        if key not in self._addresses:
            self._addresses[key] = machine.address(self._object(arguments, types, chosen), "entry")
        return NativeCall(self._addresses[key], np.array(values, np.int64), arguments)

    def _object(self, arguments: tuple[Any, ...], types: Any, chosen: Mapping[str, bool]) -> bytes:
        """Return object code for arguments of these types, from disk if it is there.

        While one process compiles object code, other processes that need the same code wait.
        """
        path = self._path(types, chosen)
        code = read_kept(path)
        if code is None:
            with contextlib.suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with alone(path.with_suffix(".lock")):
                code = read_kept(path)
                if code is None:
                    from .object_code import object_code

                    code = object_code(self.py_func, arguments, chosen)
                    write_kept(path, code)
        return code

    def _path(self, types: Any, chosen: Mapping[str, bool]) -> Path:
        parts = [self._digest, _signature(types), sorted(chosen.items()), *_surroundings()]
        key = hashlib.sha256(repr(parts).encode()).hexdigest()
        return _folder(inspect.getfile(self.py_func)) / f"{self.py_func.__qualname__}-{key[:32]}.object"

    @functools.cached_property
    def _digest(self) -> str:
        return digest(self.py_func)


@functools.cache
def _surroundings() -> list[str]:
    """Return what object code depends on besides function, argument types and switches: versions, CPU, compiler."""
    makers = source_digest([__file__, Path(__file__).with_name("object_code.py")])
    return [version("numba"), sys.version, *host(), makers]


def _folder(file: str) -> Path:
    """Return the folder for a source file's object code: ``native`` in its ``__pycache__``.

    If ``__pycache__`` is not writable, object code is stored in the folder of the kernels. The environment variable
    ``NUMBA_CACHE_DIR`` selects another folder. In ``__pycache__``, object code has a private folder, because other
    users of a group may write to ``__pycache__``.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen, "native")
    beside = Path(file).parent / "__pycache__"
    writable = os.access(beside if beside.exists() else beside.parent, os.W_OK)
    return beside / "native" if writable else cache_folder()


class NativeCall:
    """Prepared call of a native function.

    Parameters
    ----------
    address : int
        Address of the function's entry in this process.
    table : int64 array
        The arguments of the call as 64-bit words: numbers, and the addresses and sizes of arrays.
    arguments : tuple
        The arguments, kept because ``table`` has the addresses of their arrays.
    """

    def __init__(self, address: int, table: np.ndarray, arguments: tuple[Any, ...]):
        self._entry = _ENTRY(address)
        self._table = table
        self._arguments = arguments
        self._place = table.ctypes.data
        self._address = address

    @property
    def pointers(self) -> tuple[int, int]:
        """Arguments of `call_native` for this call, valid as long as this object exists."""
        return self._address, self._place

    def set(self, *first: int) -> None:
        """Replace the values of the first arguments, which must be numbers."""
        self._table[: len(first)] = first

    def __call__(self, *first: int) -> None:
        """Call the function, with the values ``first`` of its first arguments; see `set`.

        Raises
        ------
        RuntimeError
            The function failed, for example by a division by zero.
        """
        self.set(*first)
        if self._entry(self._place):
            raise RuntimeError("the compiled function has failed")


def native(*switches: str) -> Callable[[Callable[..., None]], Native]:
    """Declare a native function with these switches; see `Native`."""
    return functools.partial(Native, switches=switches)


def _flatten(value: Any, values: list[int]) -> Any:
    """Append the numbers that represent an argument in Numba's convention, and return its type."""
    if isinstance(value, tuple):
        return type(value).__name__, tuple([_flatten(item, values) for item in value])
    if isinstance(value, np.ndarray):
        address = value.__array_interface__["data"][0]
        values += (0, 0, value.size, value.itemsize, address, *value.shape, *value.strides)
        flags = value.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return value.dtype, value.ndim, order, flags.writeable, flags.aligned
    values.append(int(value))
    return type(value)


def _signature(types: Any) -> str:
    """Return the types of arguments as text. Equal types give equal texts in every process."""
    if isinstance(types, np.dtype):
        return repr(types.descr if types.names else types.str)
    return f"({', '.join(map(_signature, types))})" if isinstance(types, tuple) else str(types)
