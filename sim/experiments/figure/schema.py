"""JSON Schema of a figure's file, and the options of the commands that measure its points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wormcast.algorithms.file_schema import ALLOWED, FileSchema

from ...build.configuration import Configuration
from ...common.option import Option, options_of
from ..sweep import OPTIONS, REPETITIONS

__all__ = ["ALL", "DECIDED", "FIGURE", "FIXED", "LOAD", "LOADS", "LOAD_OPTIONS", "NAME", "OVER_OPTIONS", "PLACED",
           "RUNS", "RUN_OPTIONS", "CommandOptions"]

#: DECIDED: options of load experiments that a figure determines itself.
#: LOAD: value of the key ``over`` for a figure over the load. PLACED: the option that a figure over the load varies.
DECIDED = ("trace", "until_interval", "precision", "cycles", "seeds", "seed", "warmup", REPETITIONS)
LOAD, PLACED = "load", "rate"

#: Values of a figure's key ``latency``: the messages whose latency is drawn.
ALL = "all"
LATENCIES = (ALL, "multicast", "unicast")

#: Values of a figure's key ``points``: load experiments, single runs.
LOADS, RUNS = "loads", "runs"

MOST_VARIATIONS = 6

#: Keys of a statement that fix its verdict, with the reason as their value.
FIXED = ("circular", "not_judged", "undecided")

#: Pattern of names that become file names.
NAME = "[A-Za-z0-9][A-Za-z0-9_.-]*"


@dataclass(frozen=True)
class CommandOptions:
    """Options of the command that measures a figure's points. ``decided``: options that a figure determines itself."""

    command: str
    known: Mapping[str, Option]
    decided: Sequence[str]


LOAD_OPTIONS = CommandOptions("load", OPTIONS, (*DECIDED, PLACED))
OVER_OPTIONS = CommandOptions("load", OPTIONS, DECIDED)
OF_RUN = ("topology", "scheme", "relation", "configuration", "length")
#: Options of a point that is a single run: options of its multicast replace those of traffic.
RUN_OPTIONS = CommandOptions("run", {
    **{name: one for name, one in OPTIONS.items() if name in OF_RUN or name in options_of(Configuration)},
    "source": Option("source"), "destinations": Option("destinations"),
    **{name: Option(name, kind=int, limits=(1, 10_000)) for name in ("random", "networks", "draws")}},
    (*DECIDED, PLACED))

TEXT = {"type": "string"}
LINE = {"type": "string", "pattern": r"^[^\x00-\x1f\x7f]*$", ALLOWED: "text in one line, without control characters"}
POSITIVE = {"type": "number", "minimum": 0, "exclusiveMinimum": True}
VALUES = {"type": "array", "items": {"anyOf": [{"type": "number"}, TEXT]}}
OF_POINTS = {
    **{name: one.schema for name, one in {**RUN_OPTIONS.known, **OPTIONS}.items()},
    **{name: {"not": {}, ALLOWED: "no value: a figure determines it itself"} for name in DECIDED}}


def _table(title: str, properties: Mapping[str, Any], needed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of a table that has no keys other than those of ``properties``."""
    table = {"type": "object", "title": title, "additionalProperties": False, "properties": dict(properties)}
    return {**table, "required": list(needed)} if needed else table


def _texts(title: str, needed: Sequence[str], more: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of a table whose values are strings."""
    return _table(title, dict.fromkeys([*needed, *more], TEXT), needed)


def _each(schema: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the schema of a table with any keys, whose values all have the schema ``schema``."""
    return {"type": "object", "additionalProperties": schema, **more}


#: JSON Schema of a figure's file.
#: No key of the file is required here, because the file may inherit keys from the figure that its key ``like`` names.
FIGURE = FileSchema("a figure", {
    "definitions": {"options": _table("the options", OF_POINTS)},
    **_table("a figure", {
        "title": LINE,
        "source": LINE,
        "like": {**TEXT, "pattern": f"^{NAME}$", ALLOWED: "the name of a figure"},
        "only": {"type": "array", "items": TEXT},
        "options": {"$ref": "#/definitions/options"},
        "series": _each(_table("a series", {**OF_POINTS, "drawn": {"type": "boolean"}, "values": VALUES})),
        "variations": _each(_table("a variation", {
            **OF_POINTS, "text": TEXT, "series": _each({"$ref": "#/definitions/options"})}),
            maxProperties=MOST_VARIATIONS),
        "step": POSITIVE,
        "most": POSITIVE,
        "cycles": {"type": "integer", "minimum": 1},
        "over": TEXT,
        "points": {"enum": [LOADS, RUNS]},
        "values": VALUES,
        "latency": {"enum": list(LATENCIES)},
        "statements": {"type": "array", "items": _texts("a statement", ["claim", "text", "holds"], [
            "note", "bound", "printed", *FIXED])},
        "words": _each(TEXT),
        "pictures": {"type": "array", "items": _table("a picture", {
            "name": {**TEXT, "pattern": f"^{NAME}$", ALLOWED: "letters, digits, _, - and ., a letter or digit first"},
            "command": TEXT}, ["name", "command"])},
        "scatter": _table("a scatter", {
            "across": TEXT, "up": TEXT,
            "points": {"type": "array", "minItems": 1, "items": _texts("a point", ["name", "across", "up"])},
        }, ["across", "up", "points"]),
    })})
