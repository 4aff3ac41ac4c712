"""Sentences of errors that typer finds in a command line."""

import re
from typing import Any

import typer

__all__ = ["usage_sentence"]

#: Allowed values, by pydantic's name of an error.
ALLOWED = {"int_parsing": "whole numbers", "float_parsing": "numbers"}

#: Pydantic's names of errors for values outside of an option's range.
OUTSIDE = ("greater_than_equal", "less_than_equal")

#: Typer's sentence for a value that is no choice of an option.
CHOICE = re.compile(r"Value error, (?P<value>'.*') is not one of (?P<choices>'.*')\.", re.DOTALL)


def usage_sentence(error: typer.TyperException) -> str:
    """Return typer's sentence, or for a wrong value of an option one in the form of all other refusals."""
    errors = getattr(error.__cause__, "errors", None)
    parameter = getattr(error, "param", None)
    if errors and parameter:
        name = parameter.opts[0].lstrip("-")
        fault = errors()[0]
        allowed = _range(parameter) if fault["type"] in OUTSIDE else ALLOWED.get(fault["type"])
        if allowed:
            return f"{name}: {fault['input']!r} is not valid. Allowed: {allowed}."
        if choice := CHOICE.fullmatch(error.message):
            return f"{name}: {choice['value']} is not valid. Allowed: {choice['choices'].replace(chr(39), '')}."
    return error.format_message()


def _range(parameter: Any) -> str:
    if parameter.max is None:
        return f"{parameter.min} or more"
    return f"{parameter.min} to {parameter.max}" if parameter.min is not None else f"up to {parameter.max}"
