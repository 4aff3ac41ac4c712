"""How every kernel of this package is compiled."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba

__all__ = ["borrowing", "compiled", "inlined"]

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function over arrays: kept on disk between runs, and without the interpreter's lock.

    Kernels may call kernels. The type stays that of the plain function.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no writable place for the cache (a read-only or zipped installation)
        return numba.njit(nogil=True)(function)


def borrowing(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like `compiled`, without counting references to arrays: it cannot make arrays or return them.

    For loops that hand many arrays to `inlined` functions, where counting takes longer than the work.
    """
    options: dict[str, Any] = {"nogil": True, "_nrt": False}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function into each kernel that calls it, for what is small or called with many arrays in hot loops."""
    return numba.njit(nogil=True, inline="always")(function)
