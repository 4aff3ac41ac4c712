"""Options, each declared once: its check, the command line, the keys of sweeps and the words on an axis follow."""

import functools
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, get_type_hints

from wormcast.algorithms import WormcastError

__all__ = ["Option", "option", "options_of", "require_allowed"]

KEY = "option"

#: JSON Schema's names of the kinds.
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Option:
    """What an option means, and which values it may have.

    Parameters
    ----------
    name : str
        In Python and TOML; on the command line with hyphens.
    kind : int, float, str or bool
        Type of its values.
    default : Any
        None where it depends on other options, or where it must be given.
    help : str
        What --help says.
    allowed : tuple of str
        The values there are; empty where there are too many to list.
    limits : (number, number), optional
        Least and greatest value.
    parse : callable, optional
        Refuses a value that is not None, where neither list nor limits can say what is allowed.
    metavar : str, optional
        What --help writes for a value; default: the values allowed.
    panel : str, optional
        Heading in --help.
    label, unit : str, optional
        What an axis says; default: the name, and no unit.
    changes : str
        Of a hardware option, what depends on it: "host" (no hardware), "interface", "router", "node" (both), or "cells"
        (what both are built of, but no cycle of a run). Others have none.
    """

    name: str
    kind: type = str
    default: Any = None
    help: str = ""
    allowed: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    parse: Callable[[str], Any] | None = None
    metavar: str | None = None
    panel: str | None = None
    label: str | None = None
    unit: str | None = None
    changes: str = ""

    @property
    def values(self) -> str | None:
        """What --help writes for a value: ``one|all``, ``1..16``; None: the type says enough."""
        if self.metavar or self.allowed:
            return self.metavar or "|".join(self.allowed)
        return "{}..{}".format(*self.limits) if self.limits and self.kind is int else None

    @property
    def axis(self) -> str:
        """What an axis says."""
        return (self.label or self.name) + (f" ({self.unit})" if self.unit else "")

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of a value in a file; what ``parse`` refuses is not in it."""
        found: dict[str, Any] = {"type": TYPES[self.kind]}
        if self.help:
            found["description"] = self.help
        if self.allowed:
            found["enum"] = list(self.allowed)
        if self.limits:
            found["minimum"], found["maximum"] = self.limits
        return found

    def of_file(self, value: Any) -> Any:
        """Give a value that `schema` allows as one of its kind: whole numbers are numbers, too.

        Raises
        ------
        WormcastError
            It is not allowed.
        """
        value = self.kind(value)
        self.require(value)
        return value

    def require(self, value: Any) -> None:
        """Refuse a value that is not allowed, with a WormcastError."""
        if self.allowed and value not in self.allowed:
            raise WormcastError(f"{self.name}: {value!r} is given, allowed are {', '.join(self.allowed)}")
        if self.limits and not self.limits[0] <= value <= self.limits[1]:
            raise WormcastError("{}: {} is given, allowed are {} to {}".format(self.name, value, *self.limits))
        if self.parse and value is not None:
            self.parse(value)


def option(help: str, default: Any = MISSING, **said: Any) -> Any:
    """Declare an option as a field of a dataclass: see `Option`; ``{}`` in ``help`` stands for the default."""
    return field(default=default, metadata={KEY: {"help": help, **said}})


@functools.cache
def options_of(kind: type) -> dict[str, Option]:
    """Give the options of a dataclass, all of whose fields are declared by `option`, by name in their order."""
    hints = get_type_hints(kind)
    found = {}
    for one in fields(kind):
        hint = hints[one.name]
        default = None if one.default is MISSING else one.default
        declared = Option(one.name, hint if isinstance(hint, type) else str, default, **one.metadata[KEY])
        found[one.name] = replace(declared, help=declared.help.format(default))
    return found


def require_allowed(of: Any) -> None:
    """Refuse the first option of a dataclass's instance whose value is not allowed, with a WormcastError."""
    for name, declared in options_of(of.__class__).items():
        declared.require(getattr(of, name))
