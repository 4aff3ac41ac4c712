"""The file of a sweep: options of ``wormcast load`` by name, a list of values where an option is swept."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError
from wormcast.algorithms.toml_file import read_toml

from ...build.configuration import UNTIMED_FIELDS, Configuration
from ...build.traffic import Traffic
from ...common.schema import Option, options_of
from ..grid import Sweep, require_known, require_points

__all__ = ["OPTIONS", "option_value", "read"]

REQUIRED = ("topology", "scheme")

#: The options of ``wormcast load``, but for those on which no result depends.
OPTIONS: dict[str, Option] = {one.name: one for one in (
    Option("topology"), Option("scheme"), Option("relation"), *options_of(Traffic).values(), Option("trace"),
    Option("cycles", int, unit="cycles"), Option("until_interval", bool), Option("precision", float),
    Option("warmup", int, unit="cycles"),
    Option("seed", int), Option("seeds", int), Option("configuration"),
    *(one for name, one in options_of(Configuration).items() if name not in UNTIMED_FIELDS),
)}

NOUNS = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false"}


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
    entries = read_toml(file, "sweep")
    try:
        return _sweep(file.stem, entries)
    except WormcastError as error:
        raise WormcastError(f"{file}: {error}") from error


def _sweep(name: str, entries: dict[str, Any]) -> Sweep:
    for key in entries:
        require_known(key, OPTIONS, "load")
    fixed = {key: option_value(key, value) for key, value in entries.items() if not isinstance(value, list)}
    swept = {key: [option_value(key, value) for value in values] for key, values in entries.items()
             if isinstance(values, list)}
    missing = [key for key in REQUIRED if key not in entries]
    if "rate" not in entries and "trace" not in entries:
        missing.append("rate")
    if missing:
        raise WormcastError(f"{', '.join(missing)} is missing, a sweep needs {', '.join(REQUIRED)}, rate or trace")
    require_points(swept)
    return Sweep(name, fixed, swept)


def option_value(key: str, value: Any, known: Mapping[str, Option] = OPTIONS) -> Any:
    """Check the type of an option's value, and its limits; whole numbers are numbers too."""
    kind = known[key].kind
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 1 << 53 else math.inf
    right = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    if not right or (kind is float and not math.isfinite(value)):
        given = "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)
        raise WormcastError(f"{key}: {given} is given, it must be {NOUNS[kind]}, or a list of such values")
    known[key].require(value)
    return value
