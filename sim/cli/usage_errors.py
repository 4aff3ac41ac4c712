"""Error messages for command lines that typer rejects."""

import re
from collections.abc import Collection
from typing import Any

import typer

from wormcast.algorithms.errors import nearest

from .commands import COMMANDS, find_command
from .other_names import counterparts

__all__ = ["usage_sentence", "with_option_names"]

#: Allowed values, by pydantic's name of an error.
ALLOWED = {"int_parsing": "a whole number", "float_parsing": "a number",
           "int_parsing_size": "a whole number with fewer digits"}

#: Pydantic's names of errors for values outside of an option's range.
OUTSIDE = ("greater_than_equal", "less_than_equal")

#: Several numbers, separated by commas.
SEVERAL = re.compile(r"[\d.e+-]+(,[\d.e+-]+)+")

#: Typer's sentence for a value that is no choice of an option.
CHOICE = re.compile(r"Value error, (?P<value>'.*') is not one of (?P<choices>'.*')\.", re.DOTALL)

#: Typer's sentences for a missing argument, and for words after the last argument.
MISSING = re.compile(r"Missing (?:argument|option) '-*(?P<name>[\w-]+)'\.(?: Choose from:(?P<choices>.*))?", re.DOTALL)
EXTRA = re.compile(r"Got unexpected extra argument(?:\(s\)|s?) \((?P<words>.*)\)", re.DOTALL)

#: Typer's sentence for an option at the end of the line that lacks its value.
NO_VALUE = re.compile(r"Option '(?P<option>-[\w-]+)' requires an argument\.")

#: Parameter names with underscores, outside of quotes and file names.
PARAMETER = re.compile(r"(?<![\w/.'`-])[a-z]+(?:_[a-z]+)+(?![\w/'`-]|\.\w)")

#: Parameter names of one word that have a value, as in ``with packet 0``, ``example ratio 2`` and ``Needed: places 8``.
WITH_VALUE = re.compile(r"(?<=\bwith )[a-z]+(?= [\w.+-])|(?<=\bexample )[a-z]+(?= \d)|(?<=: )[a-z]+(?= \d)")

#: Beginning of a message: the option, or the options, that it is about.
SUBJECT = re.compile(r"^\w*(?:, \w+)*")

#: Beginning of messages about a file. In these messages, the keys of the file keep their underscores.
OF_FILE = re.compile(r"(?:\S+ in )*\S+\.toml: ")


def usage_sentence(error: typer.TyperException) -> str:
    """Return the error message for a rejected command line, in wormcast's form if typer's message is known here."""
    parameter, message = getattr(error, "param", None), error.format_message()
    if hasattr(error, "possibilities"):
        return _unknown_option(error)
    if missing := MISSING.fullmatch(message):
        choices = ", ".join(re.findall(r"[\w-]+", missing["choices"] or ""))
        return f"argument {missing['name']} is missing." + (f" Allowed: {choices}." if choices else _usage(error))
    if (extra := EXTRA.fullmatch(message)) and (context := getattr(error, "ctx", None)):
        return (f"{context.info_name}: {extra['words']!r} is not valid: there are too many arguments. Allowed: "
                f"{' '.join(_arguments(context.command)) or 'options only'}.")
    if value := NO_VALUE.fullmatch(message):
        return f"{value['option']}: the value is missing. Needed: {value['option']} VALUE."
    errors = getattr(error.__cause__, "errors", None)
    if errors and parameter:
        name = parameter.opts[0].lstrip("-")
        fault = errors()[0]
        outside = fault["type"] in OUTSIDE or (fault["type"] == "int_parsing_size" and parameter.max is not None)
        allowed = _range(parameter) if outside else ALLOWED.get(fault["type"])
        if fault["type"] == "int_parsing" and getattr(parameter, "max", None) is not None:
            allowed = f"{allowed} from {parameter.min} to {parameter.max}"
        if fault["type"].endswith("_parsing") and SEVERAL.fullmatch(str(fault["input"])) and _of_load(error):
            allowed = f"{allowed}. For several: a file for wormcast sweep with {name} = [{fault['input']}]"
        if allowed:
            # a number is shown as a number, a text that is no number in quotes
            return f"{name}: {fault['input'] if outside else repr(fault['input'])} is not valid. Allowed: {allowed}."
        if choice := CHOICE.fullmatch(error.message):
            choices = choice["choices"].replace("'", "")
            alike = nearest(choice["value"].strip("'"), choices.split(", "))
            return f"{name}: {choice['value']} is not valid.{alike} Allowed: {choices}."
    return message


def _usage(error: typer.TyperException) -> str:
    """Return the command with all its arguments as text for a message; empty without a command."""
    context = getattr(error, "ctx", None)
    return f" Needed: wormcast {context.info_name} {' '.join(_arguments(context.command))}." if context else ""


def _of_load(error: typer.TyperException) -> bool:
    """Return whether the error is in a command line of ``load``, whose options a sweep has, too."""
    return getattr(getattr(error, "ctx", None), "info_name", None) == "load"


def _range(parameter: Any) -> str:
    if parameter.max is None:
        return f"{parameter.min} or more"
    return f"{parameter.min} to {parameter.max}" if parameter.min is not None else f"up to {parameter.max}"


def _unknown_option(error: Any) -> str:
    """Return the message for an unknown option, with a suggestion.

    The suggestion is the counterpart of another simulator's option, else an argument of this name, else similar options
    and the commands that have the option.
    """
    unknown, command = error.option_name, error.ctx.info_name
    options = _options(error.ctx.command)
    arguments = _arguments(error.ctx.command)
    sentence = f"{unknown} is not an option of {command}."
    if here := counterparts(unknown, {*options, *(one.metavar for one in error.ctx.command.params)}):
        return f"{sentence} Here: {', '.join(here)}."
    if unknown.lstrip("-").upper() in {one.strip("[]") for one in arguments}:
        return f"{sentence} Here: an argument, as in: wormcast {command} {' '.join(arguments)}."
    from difflib import get_close_matches

    hints = []
    if similar := get_close_matches(unknown, options, cutoff=0.8):
        hints.append(f"Nearest: {', '.join(similar)}.")
    if command not in COMMANDS:  # to search an option before the command in all commands would import them all
        see = "See: wormcast --help."
    else:
        see = f"See: wormcast {command} --help."
        others = [name for name in COMMANDS if name != command and unknown in _options(find_command(name))]
        if others:
            hints.append(f"Allowed with: {', '.join(others)}.")
    return " ".join([sentence, *(hints or [see])])


def _options(command: Any) -> set[str]:
    return {name for one in command.params for name in one.opts if name.startswith("-")}


def _arguments(command: Any) -> list[str]:
    return [one.metavar or one.name.upper() for one in command.params if one.param_type_name == "argument"]


def with_option_names(sentence: str, words: Collection[str]) -> str:
    """Return an error message with options as a user types them: ``with buffer_kind deep`` as ``with --buffer-kind
    deep``. Options at the beginning get hyphens only. ``words``: words of the command line."""
    command = next((word for word in words if word in COMMANDS), None)
    if command is None or OF_FILE.match(sentence) or not (PARAMETER.search(sentence) or WITH_VALUE.search(sentence)):
        return sentence
    options = _options(find_command(command))

    def spelled(found: re.Match[str]) -> str:
        option = f"--{found[0].replace('_', '-')}"
        return found[0] if option not in options else option[2:] if found.end() <= len(subject) else option

    subject = SUBJECT.findall(sentence)[0]
    return WITH_VALUE.sub(spelled, PARAMETER.sub(spelled, sentence))
