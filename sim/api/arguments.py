"""Checks of the arguments of functions by their types."""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, get_args, get_origin

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import nearest
from wormcast.algorithms.typecheck import require_kind

__all__ = ["checked", "known", "plain", "require_at_least", "window_of"]

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments of another type than the function declares, in a sentence with the argument's name.

    Numbers and arrays of NumPy and pandas are passed on as numbers and lists of Python.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checking(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        hints = _hints(function)
        for name, parameter in signature.parameters.items():
            if name not in bound.arguments:
                continue
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = {key: plain(value) for key, value in bound.arguments[name].items()}
                continue
            value = bound.arguments[name] = plain(bound.arguments[name])
            kinds = _kinds(hints[name])
            if kinds:
                require_kind(name.rstrip("_"), value, *kinds)
        return function(*bound.args, **bound.kwargs)

    return checking


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    # annotations name the class of messages, whose import would be slow
    return typing.get_type_hints(function, localns={"Message": Any})


def _kinds(hint: Any) -> tuple[type, ...]:
    """Return the types that a hint allows; an empty tuple if it allows any."""
    if isinstance(hint, types.UnionType) or get_origin(hint) is typing.Union:
        parts = [_kinds(one) for one in get_args(hint)]
        return () if () in parts else tuple(dict.fromkeys(kind for part in parts for kind in part))
    kind = get_origin(hint) or hint
    return (kind,) if isinstance(kind, type) else ()


def plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy and pandas as numbers and lists of Python, in lists and tuples, too."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return value


def known(function: str, given: Mapping[str, Any], allowed: Collection[str]) -> dict[str, Any]:
    """Return the given options, without those that are None. Refuse options that a function does not have."""
    for name in given:
        if name not in allowed:
            raise WormcastError(f"{name!r} is not an option of {function}.{nearest(name, allowed)}")
    return {name: value for name, value in given.items() if value is not None}


def require_at_least(least: int, **numbers: int | None) -> None:
    """Refuse numbers below ``least``."""
    for name, value in numbers.items():
        if value is not None and value < least:
            raise WormcastError(f"{name}: {value} is not valid. Allowed: {least} or more.")


def window_of(window: str | Sequence[int] | None) -> tuple[int, int] | None:
    """Return a window of cycles: the first cycle, and the cycle after the last one. Texts are A:B."""
    if window is None:
        return None
    parts = window.split(":") if isinstance(window, str) else [*map(str, window)]
    if not (len(parts) == 2 and all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts)):
        raise WormcastError(f"window: {window!r} is not valid. Allowed: A:B, the first cycle and the one after the "
                            "last.")
    return int(parts[0]), int(parts[1])
