"""How every kernel of this package is compiled."""

import contextlib
import hashlib
import inspect
import numbers
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core.caching import FunctionCache

from .alone import alone

__all__ = ["borrowing", "compiled", "inlined", "sources"]

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function over arrays: kept on disk between runs, and without the interpreter's lock.

    Kernels may call kernels. The type stays that of the plain function.
    """
    return _kept(numba.njit(nogil=True)(function))


def borrowing(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like `compiled`, without counting references to arrays: it cannot make arrays or return them.

    For loops that hand many arrays to `inlined` functions, where counting takes longer than the work.
    """
    options: dict[str, Any] = {"nogil": True, "_nrt": False}
    return _kept(numba.njit(**options)(function))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function into each kernel that calls it, for what is small or called with many arrays in hot loops."""
    return numba.njit(nogil=True, inline="always")(function)


class _Cache(FunctionCache):
    """Numba's, which knows a kernel again by its own file alone: here by all that is compiled into it.

    Of several processes that want a kernel one compiles it, and the others wait.
    """

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        self._compiling: dict[Any, contextlib.ExitStack] = {}

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None and sig not in self._compiling:
            with contextlib.ExitStack() as turn:
                turn.enter_context(alone(self._lock(sig)))
                found = super().load_overload(sig, target_context)  # whoever was first has made it
                if found is None:
                    self._compiling[sig] = turn.pop_all()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        with self._compiling.pop(sig, contextlib.ExitStack()):
            super().save_overload(sig, data)

    def _lock(self, sig: Any) -> Path:
        name = self._impl.filename_base
        return Path(self.cache_path, f"{name}.{hashlib.sha256(str(sig).encode()).hexdigest()[:16]}.lock")

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return *super()._index_key(sig, codegen), sources(self._py_func)


def _kept(kernel: Any) -> Any:
    """Keep a kernel on disk, where there is a writable place: in a read-only or zipped installation there is none."""
    with contextlib.suppress(RuntimeError):
        kernel._cache = _Cache(kernel.py_func)
    return kernel


def sources(function: Callable[..., Any]) -> str:
    """Hash of what is compiled into a function: files of the functions that it calls, and numbers by their names.

    It can be asked when the function's module is complete.
    """
    files, figures, ahead = set[str](), set[tuple[str, str]](), [function]
    for one in ahead:
        files.add(inspect.getfile(one))
        for name in one.__code__.co_names:
            value = one.__globals__.get(name)
            if isinstance(value, numbers.Number | tuple):
                figures.add((name, repr(value)))
            called = getattr(value, "py_func", None) or getattr(value, "_defn", None)  # of kernels, and of intrinsics
            if called and called not in ahead:
                ahead.append(called)
    digests = sorted(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files)
    return hashlib.sha256(repr((digests, sorted(figures))).encode()).hexdigest()
