"""Type checks of arguments."""

import reprlib
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, get_args, get_type_hints

import numpy as np

from .errors import WormcastError

__all__ = ["require_fields", "require_kind"]

#: For a plain type: the type that is accepted, and its name in refusals. Other types appear by their class names.
PLAIN: dict[type, tuple[type, str]] = {
    int: (Integral, "a whole number"), float: (Real, "a number"), str: (str, "text")}


def require_kind(name: str, value: object, *kinds: type) -> None:
    """Refuse a value that has none of these types. Booleans are not numbers."""
    taken = tuple(PLAIN.get(kind, (kind,))[0] for kind in kinds)
    if not isinstance(value, taken) or (isinstance(value, bool) and bool not in kinds):
        nouns = " or ".join("None" if kind is type(None) else PLAIN.get(kind, (kind, _named(kind)))[1]
                            for kind in kinds)
        raise WormcastError(f"{name}: {reprlib.repr(value)} is not valid. Allowed: {nouns}.")


def _named(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIO' else 'a'} {kind.__name__}"


def require_fields(thing: Any) -> None:
    """Refuse a dataclass of plain fields if a field has another type than declared.

    Numbers of NumPy's types are replaced by Python's numbers, which JSON accepts.
    """
    hints = get_type_hints(type(thing))
    for field in fields(thing):
        hint, value = hints[field.name], getattr(thing, field.name)
        require_kind(field.name, value, *(get_args(hint) or (hint,)))
        if isinstance(value, np.generic):
            object.__setattr__(thing, field.name, value.item())
