"""JSON Schemas of users' files, and refusals of what they do not allow, each in one sentence."""

import difflib
import reprlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from .errors import WormcastError

__all__ = ["ALLOWED", "FileSchema", "given", "noun"]

#: Editors of TOML know this draft, in which 1.0 is no whole number.
DRAFT = "http://json-schema.org/draft-04/schema#"

#: A keyword of ours: what a value must be, in words; refusals say it.
ALLOWED = "allowed"

NOUNS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
         "array": "a list", "object": "a table", "null": "nothing"}

#: Keys that a refusal lists at most; of more it gives the nearest.
LISTED = 20

#: Characters of a value that a refusal shows, at most.
SHOWN = 60


class FileSchema:
    """What a kind of file must have: types, ranges, missing and unknown keys.

    It says nothing of what keys mean together; readers check that.

    Parameters
    ----------
    title : str
        What the file is, as in "a network".
    schema : mapping
        JSON Schema, draft 4, of the whole file. `ALLOWED` beside other keywords says in words what a value must be.

    Attributes
    ----------
    document : dict
        The schema as a file of its own.
    """

    def __init__(self, title: str, schema: Mapping[str, Any]):
        self.title = title
        self.document: dict[str, Any] = {"$schema": DRAFT, "title": title, **schema}

    @cached_property
    def _check(self) -> Callable[[Any], Any]:
        return self._compiled(self.document)

    def _compiled(self, schema: Mapping[str, Any]) -> Callable[[Any], Any]:
        import fastjsonschema  # a tenth of a warm command's time, and most read no file

        shared = {"$schema": DRAFT, "definitions": self.document.get("definitions", {})}
        check: Callable[[Any], Any] = fastjsonschema.compile({**shared, **schema}, use_default=False, use_formats=False)
        return check

    def require(self, entries: Any) -> None:
        """Refuse what the schema does not allow.

        Raises
        ------
        WormcastError
            ``KEY: VALUE is not valid. Allowed: ...``, of the first key that is missing, unknown or not allowed.
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
        """What is wrong by the one alternative that is of the value's type, where there is one, and what is wrong
        lies inside."""
        if error.rule != "anyOf":
            return None
        kinds = [kind for kind in error.definition["anyOf"] if kind.get("type") in _types(error.value)]
        return self._error(self._compiled(kinds[0]), error.value) if len(kinds) == 1 else None

    def _sentence(self, place: str, rule: str, definition: Mapping[str, Any], value: Any) -> str:
        if rule in ("required", "additionalProperties"):
            where = f"{place}: " if place else ""
            known = list(definition.get("properties", {}))
            unknown = [key for key in value if key not in known] if "additionalProperties" in definition else []
            if unknown:  # rather than what is missing: it may be what is misspelt
                what = definition.get("title", self.title)
                return f"{where}{unknown[0]!r} is not a key of {what}. {_known(unknown[0], known)}"
            missing = [key for key in definition["required"] if key not in value]
            return (f"{where}{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. Needed: "
                    f"{', '.join(definition['required'])}.")
        return f"{place or self.title}: {given(value)} is not valid. Allowed: {_allowed(rule, definition)}."


def _allowed(rule: str, definition: Mapping[str, Any]) -> str:
    if ALLOWED not in definition and rule in ("minItems", "minProperties", "maxItems", "maxProperties"):
        return f"{definition[rule]} or {'more' if rule.startswith('min') else 'fewer'} entries"
    return noun(definition)


def noun(definition: Mapping[str, Any]) -> str:
    """What a definition allows, in words."""
    if ALLOWED in definition:
        return str(definition[ALLOWED])
    if "anyOf" in definition:
        return " or ".join(map(noun, definition["anyOf"]))
    if "enum" in definition:
        return ", ".join(map(str, definition["enum"]))
    each = definition.get("items")
    of = f", each {noun(each)}" if isinstance(each, Mapping) else ""
    return f"{NOUNS[definition['type']]}{_range(definition)}{of}"


def _range(definition: Mapping[str, Any]) -> str:
    """The limits of a number."""
    low, high = definition.get("minimum"), definition.get("maximum")
    if low is None:
        return ""
    if high is not None:
        return f" from {low} to {high}"
    return f" above {low}" if definition.get("exclusiveMinimum") else f", at least {low}"


def _types(value: Any) -> tuple[str, ...]:
    """JSON's types that a value has."""
    return {bool: ("boolean",), str: ("string",), int: ("integer", "number"), float: ("number",), list: ("array",),
            dict: ("object",), type(None): ("null",)}.get(type(value), ())


def _place(error: Any) -> str:
    """The key of a value, of tables in tables ``series.one.vcs``."""
    return str(error.name).removeprefix("data").removeprefix(".")


def _inside(place: str) -> str:
    return place if place.startswith("[") or not place else f".{place}"


def _known(key: str, known: list[str]) -> str:
    if len(known) <= LISTED:
        return f"Allowed: {', '.join(known)}."
    return f"Nearest: {difflib.get_close_matches(key.replace('-', '_'), known, n=1, cutoff=0)[0]!r}."


def given(value: Any) -> str:
    """Write what is given as a refusal shows it, shortened."""
    text = str(value).lower() if isinstance(value, bool) else _SHORT.repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN - 3]}..."


class _Short(reprlib.Repr):
    """Values of files, of which a little is enough."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxdict = 8
        self.maxstring = self.maxother = self.maxlong = SHOWN


_SHORT = _Short()

