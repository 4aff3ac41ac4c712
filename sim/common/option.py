"""Declaration of options: one declaration yields check, command line, sweep key, JSON Schema and axis label."""

import functools
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, get_type_hints

from wormcast.algorithms.errors import WormcastError, nearest
from wormcast.algorithms.file_schema import ALLOWED
from wormcast.algorithms.phrases import number_text

__all__ = ["Option", "option", "options_of", "require_allowed", "require_types"]

KEY = "option"

#: JSON Schema's name of each Python type.
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Option:
    """Meaning and allowed values of an option.

    Parameters
    ----------
    name : str
        Name in Python and TOML. On the command line, the name has hyphens in place of underscores.
    kind : int, float, str or bool
        Type of the values.
    default : Any
        Default value. None: the default depends on other options, there is no value by default, or the option is
        mandatory.
    help : str
        Text in --help.
    allowed : tuple of str
        Allowed values; empty if they are not listed.
    limits : (number, number), optional
        Least and greatest value.
    words : tuple of str
        Allowed values of a numeric option that are words, besides the numbers within the limits. The command line may
        give the numbers as text.
    parse : callable, optional
        Raises an error for a value that is not allowed. Options have ``parse`` if neither ``allowed`` nor ``limits``
        can express the allowed values.
    metavar : str, optional
        Placeholder of the value in --help. Without ``metavar``, --help shows the allowed values, or the limits of an
        integer.
    panel : str, optional
        Heading in --help above the options of one group.
    label, unit : str, optional
        Words on an axis of a plot. Without ``label``, the axis has the option's name.
    changes : str
        Hardware that a hardware option changes: "host" (none), "interface", "router", "node" (interface and router), or
        "cells" (cells of interface and router, but not the cycles of a run). Empty for other options.
    """

    name: str
    kind: type = str
    default: Any = None
    help: str = ""
    allowed: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    words: tuple[str, ...] = ()
    parse: Callable[[str], Any] | None = None
    metavar: str | None = None
    panel: str | None = None
    label: str | None = None
    unit: str | None = None
    changes: str = ""

    @property
    def values(self) -> str | None:
        """Placeholder of the value in --help: ``one|all``, ``1..16``; None if only the type is shown."""
        if self.metavar or self.allowed:
            return self.metavar or "|".join(self.allowed)
        return "|".join(("{}..{}".format(*self.limits), *self.words)) if self.limits and self.kind is int else None

    @property
    def axis(self) -> str:
        """Words on an axis."""
        return (self.label or self.name) + (f" ({self.unit})" if self.unit else "")

    def worded(self, value: str) -> str:
        """Return a value with the option's name and unit, as in captions: ``mean length of a burst: 8 cycles``."""
        label = self.label or self.name.replace("_", " ")
        return f"{label}: {value}" + (f" {self.unit}" if self.unit not in (None, label) else "")

    @property
    def _numbers_and_words(self) -> str:
        """Allowed values of a number with limits: ``0 to 256, or never-full``."""
        assert self.limits
        return ", or ".join(("{} to {}".format(*self.limits), *self.words))

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of a value in a file. The schema does not express the checks of ``parse``."""
        found: dict[str, Any] = {"type": TYPES[self.kind]}
        if self.help:
            found["description"] = self.help
        if self.allowed:
            found["enum"] = list(self.allowed)
        if self.limits:
            found["minimum"], found["maximum"] = self.limits
        if self.words:
            found["type"] = [found["type"], "string"]
            found[ALLOWED] = self._numbers_and_words
        return found

    def of_file(self, value: Any) -> Any:
        """Check a value that `schema` allows, and return it in the option's type: an integer may become a float."""
        if not self.words:
            value = self.kind(value)
        self.require(value)
        return value

    def require(self, value: Any) -> None:
        """Refuse a value that is not allowed."""
        if self.allowed and value not in self.allowed:
            raise WormcastError(f"{self.name}: {value!r} is not valid.{nearest(str(value), self.allowed)} "
                                f"Allowed: {', '.join(self.allowed)}.")
        if self.limits and value not in self.words and (
                isinstance(value, str) or not self.limits[0] <= value <= self.limits[1]):
            raise WormcastError(f"{self.name}: {number_text(value)} is not valid. Allowed: {self._numbers_and_words}.")
        if self.parse and value is not None:
            self.parse(value)


def option(help: str, default: Any = MISSING, **said: Any) -> Any:
    """Declare an option as a field of a dataclass; see `Option`.

    In the text ``help``, ``{}`` is replaced by the default.
    """
    return field(default=default, metadata={KEY: {"help": help, **said}})


@functools.cache
def options_of(kind: type) -> dict[str, Option]:
    """Return the options of a dataclass by name, in the order of its fields.

    All fields must be declared with `option`.
    """
    hints = get_type_hints(kind)
    found = {}
    for one in fields(kind):
        hint = hints[one.name]
        default = None if one.default is MISSING else one.default
        said = one.metadata[KEY]
        declared = Option(one.name, hint if isinstance(hint, type) else int if "words" in said else str, default,
                          **said)
        found[one.name] = replace(declared, help=declared.help.format(default))
    return found


def require_types(of: Any) -> None:
    """Refuse the first option of a dataclass's instance that has a value of another type."""
    from wormcast.algorithms.typecheck import require_fields

    require_fields(of, {one.name: ", ".join(one.allowed or one.words) or f"text {one.metavar}"
                        for one in options_of(of.__class__).values() if one.allowed or one.words or one.metavar})


def require_allowed(of: Any) -> None:
    """Refuse the first option of a dataclass's instance that has a value that is not allowed."""
    for name, declared in options_of(of.__class__).items():
        declared.require(getattr(of, name))
