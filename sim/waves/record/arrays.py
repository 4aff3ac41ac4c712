"""Conversion of objects to named arrays and numbers, and back."""

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["Leaves", "copy_in", "copy_out"]

Leaf = np.ndarray | int | float | str | None
Leaves = dict[str, Leaf]


def copy_out(thing: object, *, without: tuple[type, ...] = ()) -> Leaves:
    """Return copies of all arrays, numbers and texts in an object, by name: ``host.worms``, ``sources.0.position``.

    The search descends into attributes of objects, fields of named tuples, and items of lists, tuples and dicts. Of an
    object with a property ``state``, only the value of ``state`` is copied; the property must have a setter. The search
    skips frozen dataclasses, functions and other callables, and objects of the types ``without``: nothing in them is
    copied.

    Raises
    ------
    TypeError
        The object contains a value that the search can neither copy nor descend into nor skip, for example a set.
    """
    return {name: leaf.copy() if isinstance(leaf, np.ndarray) else leaf for name, leaf in _leaves("", thing, without)}


def copy_in(thing: object, leaves: Leaves, *, without: tuple[type, ...] = ()) -> None:
    """Set all arrays, numbers and texts in an object to values from `copy_out` of an object of equal structure.

    Raises
    ------
    ValueError
        A name is missing or unknown.
    """
    left = dict(leaves)
    _replace("", thing, without, left)
    if left:
        raise ValueError(f"{next(iter(left))} is not known")


def _leaves(name: str, thing: Any, without: tuple[type, ...]) -> Iterator[tuple[str, Leaf]]:
    """Yield the name and value of each leaf of an object: array, number, text or None."""
    if _is_leaf(thing):
        yield name, thing.item() if isinstance(thing, np.generic) else thing
    elif not _is_skipped(thing, without):
        for at, value in _parts(name, thing).items():
            yield from _leaves(_inside(name, at), value, without)


def _replace(name: str, thing: Any, without: tuple[type, ...], left: Leaves) -> Any:
    """Set each leaf of an object to the value that ``left`` has under its name, and remove this name from ``left``.

    Return the object itself, but for a leaf its new value, and for a tuple a new tuple.
    """
    if _is_leaf(thing):
        if name not in left:
            raise ValueError(f"{name} is missing")
        leaf = left.pop(name)
        return leaf.copy() if isinstance(leaf, np.ndarray) else leaf
    if _is_skipped(thing, without):
        return thing
    inside = {at: _replace(_inside(name, at), value, without, left) for at, value in _parts(name, thing).items()}
    if isinstance(thing, tuple):
        return thing._make(inside.values()) if hasattr(thing, "_make") else tuple(inside.values())
    for at, value in inside.items():
        if isinstance(thing, list | dict):
            thing[at] = value
        else:
            setattr(thing, at, value)
    return thing


def _is_leaf(thing: Any) -> bool:
    return thing is None or isinstance(thing, np.ndarray | np.generic | int | float | str)


def _is_skipped(thing: Any, without: tuple[type, ...]) -> bool:
    """Return whether an object is a frozen dataclass or callable, or its type is one of ``without``."""
    frozen = getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False)
    return frozen or callable(thing) or isinstance(thing, without)


def _inside(name: str, at: Any) -> str:
    return f"{name}.{at}" if name else str(at)


def _parts(name: str, thing: Any) -> dict[Any, Any]:
    """Return the parts of an object by key, index or attribute name."""
    if isinstance(thing, dict):
        return dict(thing)
    if hasattr(thing, "_asdict"):
        return thing._asdict()
    if isinstance(thing, list | tuple):
        return dict(enumerate(thing))
    if isinstance(getattr(type(thing), "state", None), property):
        return {"state": thing.state}
    if hasattr(thing, "__dict__"):
        return dict(vars(thing))
    raise TypeError(f"{name}: a {type(thing).__name__} has no arrays or numbers")
