"""JSON Schemas of users' files, and the refusals of files that violate them."""

import datetime
import reprlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from .errors import WormcastError, nearest

__all__ = ["ALLOWED", "FileSchema", "given", "noun"]

#: JSON Schema draft that editors of TOML files support. In draft 4, 1.0 is not an integer.
DRAFT = "http://json-schema.org/draft-04/schema#"

#: Schema keyword of this project: the allowed values in words, for refusals.
ALLOWED = "allowed"

NOUNS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
         "array": "a list", "object": "a table", "null": "nothing"}

#: A refusal of an unknown key lists the allowed keys if there are at most LISTED.
#: With more allowed keys, a refusal names the nearest key, and describes the allowed keys by the schema's `ALLOWED`.
LISTED = 20

#: Largest number of characters of a value that a refusal shows.
SHOWN = 60


class FileSchema:
    """Schema of a kind of file: types, ranges, missing and unknown keys.

    Conditions between several keys are checked by the code that reads the file.

    Parameters
    ----------
    title : str
        Name of the kind of file, as in "a network".
    schema : mapping
        JSON Schema, draft 4, of the whole file. The keyword `ALLOWED` of a definition describes the allowed values in
        words.

    Attributes
    ----------
    document : dict
        The schema as a complete document.
    """

    def __init__(self, title: str, schema: Mapping[str, Any]):
        self.title = title
        self.document: dict[str, Any] = {"$schema": DRAFT, "title": title, **schema}

    @cached_property
    def _check(self) -> Callable[[Any], Any]:
        return self._compiled(self.document)

    def _compiled(self, schema: Mapping[str, Any]) -> Callable[[Any], Any]:
        import fastjsonschema  # fastjsonschema takes a tenth of a command's time to import; most commands read no file

        shared = {"$schema": DRAFT, "definitions": self.document.get("definitions", {})}
        check: Callable[[Any], Any] = fastjsonschema.compile({**shared, **schema}, use_default=False, use_formats=False)
        return check

    def require(self, entries: Any) -> None:
        """Refuse entries that violate the schema.

        Raises
        ------
        WormcastError
            The message names what is missing, unknown or not valid, and what is allowed.
        """
        error = self._error(self._check, entries)
        if error is None:
            return
        place = _place(error)
        while (closer := self._closer(error)) is not None:
            place, error = place + _inside(_place(closer)), closer
        raise WormcastError(self._sentence(place, error.rule, error.definition, error.value))

    @staticmethod
    def _error(check: Callable[[Any], Any], entries: Any) -> Any:
        import fastjsonschema

        try:
            check(entries)
        except fastjsonschema.JsonSchemaValueException as error:
            return error
        return None

    def _closer(self, error: Any) -> Any:
        """Validate a value by the only alternative of a schema that has the value's type, and return the error. The
        result is None if the value is valid, or if the number of alternatives of its type is not 1."""
        if error.rule != "anyOf":
            return None
        kinds = [kind for kind in error.definition["anyOf"] if kind.get("type") in _types(error.value)]
        return self._error(self._compiled(kinds[0]), error.value) if len(kinds) == 1 else None

    def _sentence(self, place: str, rule: str, definition: Mapping[str, Any], value: Any) -> str:
        if rule in ("required", "additionalProperties"):
            where = f"{place}: " if place else ""
            keys = definition.get("properties", {})
            known = [key for key in keys if "not" not in keys[key]]  # a key whose schema has "not" is never valid
            unknown = [key for key in value if key not in keys] if "additionalProperties" in definition else []
            if unknown:  # unknown keys are reported before missing keys: an unknown key may be a misspelt missing one
                what = definition.get("title", self.title)
                return f"{where}{unknown[0]!r} is not a key of {what}.{_known(unknown[0], known, definition)}"
            missing = [key for key in definition["required"] if key not in value]
            return (f"{where}{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. Needed: "
                    f"{', '.join(definition['required'])}.")
        return f"{place or self.title}: {given(value)} is not valid. Allowed: {_allowed(rule, definition)}."


def _allowed(rule: str, definition: Mapping[str, Any]) -> str:
    if ALLOWED not in definition and rule in ("minItems", "minProperties", "maxItems", "maxProperties"):
        return f"{definition[rule]} or {'more' if rule.startswith('min') else 'fewer'} entries"
    return noun(definition)


def noun(definition: Mapping[str, Any]) -> str:
    """Describe the allowed values of a definition in words."""
    if ALLOWED in definition:
        return str(definition[ALLOWED])
    if "anyOf" in definition:
        return " or ".join(map(noun, definition["anyOf"]))
    if "enum" in definition:
        return ", ".join(map(str, definition["enum"]))
    if isinstance(definition["type"], list):
        return " or ".join(noun({**definition, "type": one}) for one in definition["type"])
    each = definition.get("items")
    of = f", each {noun(each)}" if isinstance(each, Mapping) else ""
    return f"{NOUNS[definition['type']]}{_range(definition)}{of}"


def _range(definition: Mapping[str, Any]) -> str:
    """Limits of a number, in words."""
    low, high = definition.get("minimum"), definition.get("maximum")
    if low is None:
        return ""
    if high is not None:
        return f" from {low} to {high}"
    return f" above {low}" if definition.get("exclusiveMinimum") else f", at least {low}"


def _types(value: Any) -> tuple[str, ...]:
    """JSON types of a value."""
    return {bool: ("boolean",), str: ("string",), int: ("integer", "number"), float: ("number",), list: ("array",),
            dict: ("object",), type(None): ("null",)}.get(type(value), ())


def _place(error: Any) -> str:
    """Return the key of the value with this error; in nested tables as ``series.one.vcs``."""
    return str(error.name).removeprefix("data").removeprefix(".")


def _inside(place: str) -> str:
    return place if place.startswith("[") or not place else f".{place}"


def _known(key: str, known: list[str], definition: Mapping[str, Any]) -> str:
    if len(known) <= LISTED:
        return f" Allowed: {', '.join(known)}."
    return nearest(key, known) + (f" Allowed: {definition[ALLOWED]}." if ALLOWED in definition else "")


def given(value: Any) -> str:
    """Return a value as text for an error message, shortened."""
    text = _SHORT.repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN - 3]}..."


class _Short(reprlib.Repr):
    """Shortened values, in the notation of TOML and JSON where it differs from Python's."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxdict = 8
        self.maxstring = self.maxother = self.maxlong = SHOWN

    def repr_bool(self, value: bool, level: int) -> str:
        return str(value).lower()

    def repr_NoneType(self, value: None, level: int) -> str:
        return "null"

    def repr_date(self, value: datetime.date | datetime.time, level: int) -> str:
        return value.isoformat()

    repr_datetime = repr_time = repr_date


_SHORT = _Short()

