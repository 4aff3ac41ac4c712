"""The state of objects as copies of their arrays and numbers, by name; and back."""

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["Leaves", "copy_in", "copy_out"]

Leaf = np.ndarray | int | float | str | None
Leaves = dict[str, Leaf]


def copy_out(thing: object, *, without: tuple[type, ...] = ()) -> Leaves:
    """Copy all arrays and numbers that an object is made of, by name: ``host.worms``, ``sources.0.position``.

    Looked into are the attributes of objects, the fields of named tuples, the items of sequences and dicts. An object
    with a property ``state`` that can be set says by it all there is to say. Frozen dataclasses never change, and are
    left out, as are functions and whatever is of the types ``without``.

    Raises
    ------
    TypeError
        It holds something that is none of these.
    """
    return {name: leaf.copy() if isinstance(leaf, np.ndarray) else leaf for name, leaf in _leaves("", thing, without)}


def copy_in(thing: object, leaves: Leaves, *, without: tuple[type, ...] = ()) -> None:
    """Give an object what `copy_out` has taken of one that was made like it.

    Raises
    ------
    ValueError
        A name is missing, or there is one too many.
    """
    left = dict(leaves)
    _replaced("", thing, without, left)
    if left:
        raise ValueError(f"{next(iter(left))} is not known")


def _leaves(name: str, thing: Any, without: tuple[type, ...]) -> Iterator[tuple[str, Leaf]]:
    """All leaves of a thing, and their names."""
    if _is_leaf(thing):
        yield name, thing.item() if isinstance(thing, np.generic) else thing
    elif not _stays(thing, without):
        for at, value in _parts(name, thing).items():
            yield from _leaves(_inside(name, at), value, without)


def _replaced(name: str, thing: Any, without: tuple[type, ...], left: Leaves) -> Any:
    """The thing with other leaves, which are taken out of ``left``; the same one, where it can be changed."""
    if _is_leaf(thing):
        if name not in left:
            raise ValueError(f"{name} is missing")
        leaf = left.pop(name)
        return leaf.copy() if isinstance(leaf, np.ndarray) else leaf
    if _stays(thing, without):
        return thing
    inside = {at: _replaced(_inside(name, at), value, without, left) for at, value in _parts(name, thing).items()}
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


def _stays(thing: Any, without: tuple[type, ...]) -> bool:
    """Whether a thing is no state: it never changes, or is not asked for."""
    frozen = getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False)
    return frozen or callable(thing) or isinstance(thing, without)


def _inside(name: str, at: Any) -> str:
    return f"{name}.{at}" if name else str(at)


def _parts(name: str, thing: Any) -> dict[Any, Any]:
    """What a thing is made of, by where it stands there."""
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
    raise TypeError(f"{name}: a {type(thing).__name__} is no state of arrays and numbers")
