"""Checks of the arguments of functions: names of options, smallest values, windows."""

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import wormcast
from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import nearest

__all__ = ["known", "require_at_least", "window_of"]


def known(function: str, given: Mapping[str, Any], allowed: Collection[str]) -> dict[str, Any]:
    """Return the given options, except options with the value None. Refuse options that the function does not have."""
    for name in given:
        if name not in allowed:
            near = nearest(name, [*_named(function), *allowed]) or f" See: help(wormcast.{function})."
            raise WormcastError(f"{name!r} is not an option of {function}.{near}")
    return {name: value for name, value in given.items() if value is not None}


def _named(function: str) -> list[str]:
    """Return the names of a function's parameters, without the parameter ``**`` that collects further options."""
    parameters = inspect.signature(wormcast.__getattr__(function)).parameters.values()
    return [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]


def require_at_least(least: int, **numbers: int | None) -> None:
    """Refuse numbers below ``least``."""
    for name, value in numbers.items():
        if value is not None and value < least:
            raise WormcastError(f"{name}: {value} is not valid. Allowed: {least} or more.")


def window_of(window: str | Sequence[int] | None) -> tuple[int, int] | None:
    """Return a window of cycles: its first cycle, and the cycle after its last one. A text has the form A:B."""
    if window is None:
        return None
    parts = window.split(":") if isinstance(window, str) else [*map(str, window)]
    if not (len(parts) == 2 and all(part.isascii() and part.isdigit() and len(part) <= 18 for part in parts)):
        raise WormcastError(f"window: {window!r} is not valid. Allowed: A:B, whole numbers of up to 18 digits: the "
                            "first cycle, and the one after the last.")
    return int(parts[0]), int(parts[1])
