"""The file of a sweep: options of ``wormcast load`` by name, a list of values where an option is swept."""

import contextlib
import difflib
import itertools
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from wormcast.algorithms import WormcastError

from ..configuration import Configuration
from ..load import Traffic

__all__ = ["MOST_POINTS", "OPTIONS", "Sweep", "named_point", "option_types", "read", "require_known", "require_points"]

MOST_POINTS = 10_000

REQUIRED = ("topology", "scheme")


def option_types(of: type) -> dict[str, type]:
    """Give the types of a dataclass's fields, text for those that may be None."""
    return {name: hint if isinstance(hint, type) else str for name, hint in get_type_hints(of).items()}


#: The options of ``wormcast load`` and their types. ``storage`` is none of them: no cycle depends on it.
OPTIONS: dict[str, type] = {
    "topology": str, "scheme": str, "relation": str, **option_types(Traffic), "trace": str,
    "cycles": int, "until_interval": bool, "warmup": int, "seed": int, "seeds": int,
    "configuration": str, **option_types(Configuration),
}
del OPTIONS["storage"]

NOUNS = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false"}


@dataclass(frozen=True)
class Sweep:
    """What a file asks for.

    Parameters
    ----------
    name : str
        The file's name without ``.toml``.
    fixed : dict
        The options with one value.
    swept : dict
        The options with a list of values, in the file's order.
    """

    name: str
    fixed: dict[str, Any]
    swept: dict[str, list[Any]]

    def combinations(self) -> list[dict[str, Any]]:
        """Give the options of all points: all combinations, the last swept option changing fastest."""
        return [{**self.fixed, **dict(zip(self.swept, values, strict=True))}
                for values in itertools.product(*self.swept.values())]


def read(file: Path) -> Sweep:
    """Read a sweep from a TOML file.

    Raises
    ------
    WormcastError
        The file cannot be read or is no TOML; an option is unknown, missing, or of the wrong type; a list is empty or
        has a value twice; there are more than 10000 points.
    """
    if file.suffix != ".toml":
        raise WormcastError(f"sweep: {file} is given, it must be a file NAME.toml")
    try:
        with file.open("rb") as opened:
            entries = tomllib.load(opened)
    except OSError as error:
        raise WormcastError(f"sweep: {file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise WormcastError(f"sweep: {file} is no TOML: {error}") from error
    try:
        return _sweep(file.stem, entries)
    except WormcastError as error:
        raise WormcastError(f"{file}: {error}") from error


def _sweep(name: str, entries: dict[str, Any]) -> Sweep:
    for key in entries:
        require_known(key, OPTIONS, "load")
    fixed = {key: _value(key, value) for key, value in entries.items() if not isinstance(value, list)}
    swept = {key: [_value(key, value) for value in values] for key, values in entries.items()
             if isinstance(values, list)}
    missing = [key for key in REQUIRED if key not in entries]
    if "rate" not in entries and "trace" not in entries:
        missing.append("rate")
    if missing:
        raise WormcastError(f"{', '.join(missing)} is missing, a sweep needs {', '.join(REQUIRED)}, rate or trace")
    require_points(swept)
    return Sweep(name, fixed, swept)


def require_known(key: str, options: Iterable[str], command: str) -> None:
    """Refuse an option that a command does not have, and say which one may be meant."""
    if key not in options:
        near = difflib.get_close_matches(key.replace("-", "_"), options, n=1, cutoff=0)
        raise WormcastError(f"{key!r} is no option of {command}, the nearest is {near[0]!r}")


def require_points(swept: Mapping[str, Sequence[Any]]) -> None:
    """Refuse lists that are empty, have a value twice, or make too many points."""
    for key, values in swept.items():
        if not values:
            raise WormcastError(f"{key}: an empty list is given, it must have a value or more")
        for value in values:
            if values.count(value) > 1:
                raise WormcastError(f"{key}: {value!r} is given twice, each value must be there once")
    number = math.prod(map(len, swept.values()))
    if number > MOST_POINTS:
        raise WormcastError(f"{number} points are given, allowed are up to {MOST_POINTS}")


@contextlib.contextmanager
def named_point(name: str) -> Iterator[None]:
    """Name a point of a sweep in what is refused of it."""
    try:
        yield
    except WormcastError as error:
        if not name:
            raise
        raise WormcastError(f"point {name}: {error}") from error


def _value(key: str, value: Any) -> Any:
    """Check the type of a value; whole numbers are numbers too."""
    kind = OPTIONS[key]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 1 << 53 else math.inf
    right = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    if not right or (kind is float and not math.isfinite(value)):
        given = "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)
        raise WormcastError(f"{key}: {given} is given, it must be {NOUNS[kind]}, or a list of such values")
    return value
