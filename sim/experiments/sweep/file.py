"""Sweep file: options of ``wormcast load`` by name, with a list of values for each swept option."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wormcast.algorithms import Relation, Scheme, Topology, WormcastError
from wormcast.algorithms.errors import naming
from wormcast.algorithms.file_schema import ALLOWED, FileSchema
from wormcast.algorithms.toml_file import read_toml

from ...build.configuration import UNTIMED_FIELDS, Configuration
from ...build.limits import MOST_LOAD_CYCLES, MOST_SEED, MOST_SEEDS
from ...build.traffic import Traffic
from ...common.option import Option, options_of
from ..option_grid import Sweep, require_points

__all__ = ["COUNTING", "OPTIONS", "REPETITIONS", "SWEEP", "read", "sweep_of"]

#: Types of the objects that may stand in place of names.
OBJECTS = (Topology, Scheme, Relation)

#: The options of ``wormcast load`` on which results depend.
OPTIONS: dict[str, Option] = {one.name: one for one in (
    Option("topology"), Option("scheme"), Option("relation"), *options_of(Traffic).values(), Option("trace"),
    Option("cycles", int, unit="cycles", limits=(1, MOST_LOAD_CYCLES)), Option("until_interval", bool),
    Option("precision", float), Option("warmup", int, unit="cycles", limits=(0, MOST_LOAD_CYCLES)),
    Option("seed", int, limits=(0, MOST_SEED)), Option("seeds", int, limits=(1, MOST_SEEDS)), Option("configuration"),
    *(one for name, one in options_of(Configuration).items() if name not in UNTIMED_FIELDS),
)}

#: Options that add columns to the results. Options that add columns have one value for all points.
COUNTING: dict[str, Option] = {"events": Option("events", bool), "energy": Option("energy")}

#: Name of an option of the points of figures, and of a key of their results. With this option, results also have the
#: results of each repetition of the experiment, one per seed (`Load.repetitions`). The name must not change, because
#: stored points contain it.
REPETITIONS = "replications"

#: JSON Schema of a sweep file: each option has a value or a list of values.
SWEEP = FileSchema("a sweep", {
    "type": "object", "required": ["topology", "scheme"], "additionalProperties": False,
    ALLOWED: "options of wormcast load that change results",
    "properties": {name: {"anyOf": [one.schema, {"type": "array", "items": one.schema, "minItems": 1}]}
                   for name, one in OPTIONS.items()} | {name: one.schema for name, one in COUNTING.items()}})


def read(file: Path) -> Sweep:
    """Read a sweep from a TOML file.

    Raises
    ------
    WormcastError
        The file cannot be read or does not match `SWEEP`; a list has a value twice; there are more than 10000 points.
    """
    if file.suffix != ".toml":
        raise WormcastError(f"sweep: {file} is not valid. Allowed: a file NAME.toml.")
    entries = read_toml(file, "sweep")
    for key in ("title", "series", "statements"):
        if key in entries:
            raise WormcastError(f"{file}: {key} is a key of figures, not of sweeps. Allowed: a sweep without {key}; "
                                f"for a figure, wormcast figure {file}.")
    with naming(str(file)):
        return _sweep(file.stem, entries)


def sweep_of(name: str, options: Mapping[str, Any]) -> tuple[Sweep, dict[str, dict[str, Any]]]:
    """Build a sweep from options in Python, in which topologies, schemes and relations may be objects.

    Returns
    -------
    (Sweep, dict of str to dict)
        The sweep, with the objects' names in their places; and the objects by option and name.

    Raises
    ------
    WormcastError
        As for `read`; or two objects of an option have the same name.
    """
    objects: dict[str, dict[str, Any]] = {}

    def plain(key: str, value: Any) -> Any:
        if not isinstance(value, OBJECTS):
            return value
        if objects.setdefault(key, {}).setdefault(value.name, value) is not value:
            raise WormcastError(f"{key}: {value.name!r} is not valid: two objects have this name. Allowed: different "
                                "names.")
        return value.name

    return _sweep(name, {
        key: [plain(key, one) for one in value] if isinstance(value, (list, tuple, range)) else plain(key, value)
        for key, value in options.items()}), objects


def _sweep(name: str, entries: dict[str, Any]) -> Sweep:
    SWEEP.require(entries)
    if "rate" not in entries and "trace" not in entries:
        raise WormcastError("rate is missing. Needed: rate or trace.")
    known = OPTIONS | COUNTING
    fixed = {key: known[key].of_file(value) for key, value in entries.items() if not isinstance(value, list)}
    swept = {key: [OPTIONS[key].of_file(value) for value in values] for key, values in entries.items()
             if isinstance(values, list)}
    require_points(swept)
    return Sweep(name, fixed, swept)
