"""Functions over arrays, compiled by Numba.

Importing this module is cheap: Numba is loaded when the first function is compiled or loaded from disk.
"""

import dis
import functools
import hashlib
import numbers
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

__all__ = ["LINEAR", "QUADRATIC", "CompiledFunction", "Intrinsic", "compiled", "compiled_from", "digest", "inlined",
           "intrinsic", "plain", "with_globals"]

P = ParamSpec("P")
R = TypeVar("R")

LINEAR, QUADRATIC = 1 << 16, 1 << 8
"""Thresholds for `compiled_from`, in array elements: for functions of linear, and of quadratic run time."""

PATIENCE = 0.25
"""Processor seconds that a thread may spend on functions in plain Python: about the time to load Numba."""


class CompiledFunction(Generic[P, R]):
    """A function that Numba compiles at the first call that does not run as plain Python.

    Compiled code is stored on disk between runs, runs without the interpreter's lock, and may call other objects of
    this class.

    Parameters
    ----------
    py_func : function
        The function in Python.
    inline : bool
        The function's code is inlined into each compiled function that calls it.
    plain_below : int
        While Numba is not loaded, calls whose arrays have fewer elements run as plain Python, for `PATIENCE` at most.
    """

    def __init__(self, py_func: Callable[P, R], *, inline: bool = False, plain_below: int = 0):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.inline = inline
        self.plain_below = plain_below

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the function, compiled or as plain Python."""
        if _plain.under_way:
            return self.py_func(*arguments, **named)
        if self.plain_below and _plain.pays(arguments, self.plain_below):
            return _plain.call(self.py_func, *arguments, **named)
        return cast(R, self.dispatcher(*arguments, **named))

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of this function."""
        from . import jit

        return jit.dispatcher(self)


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function over arrays. For type checkers the result has the type of the plain function."""
    return CompiledFunction(function)


def compiled_from(elements: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function over arrays for large arguments. A process with little work runs the function as plain Python.

    In plain Python, numbers of NumPy's types do not widen: the function must not assume 64 bits for narrower arrays.

    Parameters
    ----------
    elements : int
        Total number of elements of the argument arrays from which the function is compiled.
    """
    return functools.partial(CompiledFunction, plain_below=elements)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function as a part of each function that calls it. Use `inlined` for small functions, and for functions
    with many arguments.
    """
    return CompiledFunction(function, inline=True)


class Intrinsic:
    """A function written as LLVM IR. Only compiled functions can call an intrinsic.

    Parameters
    ----------
    py_func : function
        Argument of ``numba.extending.intrinsic``.
    """

    def __init__(self, py_func: Callable[..., Any]):
        self.py_func = py_func

    @functools.cached_property
    def made(self) -> Any:
        """Numba's intrinsic."""
        from numba.extending import intrinsic

        return intrinsic(self.py_func)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Declare an intrinsic. Numba is loaded when a calling function is compiled."""
    return Intrinsic(function)


# Plain Python


class _Plain(threading.local):
    """State of this thread's calls that run as plain Python."""

    spent = 0.0  # processor seconds of `PATIENCE` that this thread has used
    under_way = False
    always = False

    def pays(self, arguments: tuple[Any, ...], below: int) -> bool:
        """Return whether a call with these arguments is to run as plain Python."""
        return self.always or (self.spent < PATIENCE and not jit_loaded() and _elements(arguments) < below)

    def call(self, function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """Call a function as plain Python. Numbers are returned as Python's numbers, as from compiled code."""
        begun = time.thread_time()
        self.under_way = True
        try:
            with np.errstate(over="ignore"):  # hashes count modulo 2**64
                return cast(R, _python_numbers(function(*arguments, **named)))
        finally:
            self.under_way = False
            self.spent += time.thread_time() - begun


_plain = _Plain()


@contextmanager
def plain() -> Iterator[None]:
    """Run this thread's calls of all functions of `compiled_from` as plain Python in this context. Tests compare the
    results with those of compiled code."""
    _plain.always = True
    try:
        yield
    finally:
        _plain.always = False


def jit_loaded() -> bool:
    """Return whether Numba has been loaded: from then on compiled code is faster than plain Python."""
    return f"{__package__}.jit" in sys.modules


def _elements(values: tuple[Any, ...]) -> int:
    """Count the elements of all arrays among some values, nested tuples included."""
    return sum(value.size if isinstance(value, np.ndarray) else _elements(value) if isinstance(value, tuple) else 0
               for value in values)


def _python_numbers(result: Any) -> Any:
    if isinstance(result, np.generic):
        return result.item()
    return tuple(map(_python_numbers, result)) if type(result) is tuple else result


# Digests of compiled code

LOAD_GLOBAL, EXTENDED_ARG = (dis.opmap[name] for name in ("LOAD_GLOBAL", "EXTENDED_ARG"))


def with_globals(function: Callable[..., Any], replace: Callable[[str, Any], Any]) -> FunctionType:
    """Copy a function with other values of its globals.

    Parameters
    ----------
    replace : function
        Returns the new value of a global from its name and value.
    """
    assert isinstance(function, FunctionType)
    names = [name for name in _names(function.__code__) if name in function.__globals__]
    scope = function.__globals__ | {name: replace(name, function.__globals__[name]) for name in names}
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def digest(function: Callable[..., Any]) -> str:
    """Hash of all code and constants that are compiled into a function: its own, and those of functions that it calls.

    Comments, docstrings and line numbers do not change the digest. Call `digest` after the function's module is
    imported.
    """
    found: list[Any] = []
    ahead = [function]
    for one in ahead:
        found.append((one.__qualname__, one.__defaults__, _code(one.__code__)))
        for name in sorted(_names(one.__code__)):
            value = one.__globals__.get(name)
            called = getattr(value, "py_func", None)
            if called is not None:
                found.append((name, called.__qualname__))
                if called not in ahead:
                    ahead.append(called)
            elif isinstance(value, numbers.Number | tuple | str | np.dtype):
                found.append((name, repr(value)))
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _code(code: CodeType) -> tuple[Any, ...]:
    """Parts of a code object without its docstring and line numbers."""
    constants = [_code(value) if isinstance(value, CodeType) else value for value in code.co_consts]
    if constants and isinstance(constants[0], str) and not code.co_name.startswith("<"):
        # the first constant is the docstring; in a function without docstring, Python up to 3.12 has None there
        constants[0] = None
    return (code.co_code, repr(constants), code.co_names, code.co_varnames, code.co_argcount, code.co_flags)


def _names(code: CodeType) -> set[str]:
    """Names of globals in code and in nested functions. The module `dis` finds these names too, but takes ten times as
    long."""
    found = set[str]()
    for value in code.co_consts:
        if isinstance(value, CodeType):
            found |= _names(value)
    extended = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument |= extended
        if operation == LOAD_GLOBAL:
            found.add(code.co_names[argument >> 1])
        extended = argument << 8 if operation == EXTENDED_ARG else 0
    return found
