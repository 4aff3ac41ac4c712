"""Type checks of arguments."""

import functools
import inspect
import os
import re
import reprlib
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from .errors import WormcastError, naming_options, nearest

__all__ = ["checked", "kinds_of", "parameters_of", "plain", "require_fields", "require_kind"]

P = ParamSpec("P")
R = TypeVar("R")

#: For a type: the type that is accepted, and its name in refusals. Other types appear by their class names.
PLAIN: dict[type, tuple[type, str]] = {
    int: (Integral, "a whole number"), float: (Real, "a number"), str: (str, "text"), Sequence: (Sequence, "a list"),
    Mapping: (Mapping, "a dict"), os.PathLike: (os.PathLike, "a path"), np.ndarray: (np.ndarray, "a NumPy array")}


def require_kind(name: str, value: object, *kinds: type, text: str = PLAIN[str][1]) -> None:
    """Refuse a value that has none of these types. Booleans are not numbers.

    ``text``: the name of type ``str`` in the refusal.
    """
    taken = tuple(PLAIN.get(kind, (kind,))[0] for kind in kinds)
    if not isinstance(value, taken) or (isinstance(value, bool) and bool not in kinds):
        nouns = " or ".join("None" if kind is type(None) else text if kind is str else
                            PLAIN.get(kind, (kind, _named(kind)))[1] for kind in kinds)
        raise WormcastError(f"{name}: {reprlib.repr(value)} is not valid. Allowed: {nouns}.")


def _named(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIO' else 'a'} {kind.__name__}"


def require_fields(thing: Any, texts: Mapping[str, str] = MappingProxyType({})) -> None:
    """Refuse a dataclass of plain fields if a field has another type than declared.

    Numbers of NumPy's types are replaced by Python's numbers, which JSON accepts.

    Parameters
    ----------
    texts : mapping of str to str
        Name of a field -> the form of its text, for refusals.
    """
    hints = get_type_hints(type(thing))
    for field in fields(thing):
        hint, value = hints[field.name], getattr(thing, field.name)
        require_kind(field.name, value, *(get_args(hint) or (hint,)), text=texts.get(field.name, PLAIN[str][1]))
        if isinstance(value, np.generic):
            object.__setattr__(thing, field.name, value.item())


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse missing and unknown arguments, and arguments of another type than the function declares.

    The function may be a constructor: refusals then begin with its class, ``Injection.queue``.

    Numbers and arrays of NumPy and pandas are passed on as numbers and lists of Python. In refusals that the function
    raises, options of the command line, ``--ejection``, are replaced by the function's parameters, ``ejection``. A
    refusal of missing arguments begins with the function's name. While `options_named` is open, refusals are unchanged.
    """
    signature = inspect.signature(function)
    label, prefix, allowed = function.__name__, "", [*signature.parameters]
    if label == "__init__":
        label = function.__qualname__.split(".")[-2]
        prefix, allowed = f"{label}.", allowed[1:]

    @functools.wraps(function)
    def checking(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise WormcastError(_call_refusal(label, str(error), signature, allowed, kwargs)) from error
        hints = hints_of(function)
        for name, parameter in signature.parameters.items():
            if name not in bound.arguments:
                continue
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = {key: plain(value) for key, value in bound.arguments[name].items()}
                continue
            if name not in hints:
                continue  # self of a constructor
            value = bound.arguments[name] = plain(bound.arguments[name])
            kinds = kinds_of(hints[name])
            if kinds:
                require_kind(prefix + name.rstrip("_"), value, *kinds)
        try:
            return function(*bound.args, **bound.kwargs)
        except WormcastError as error:
            if not naming_options() and error.args:
                known = parameters_of(checking)
                sentence = _with_parameters(str(error.args[0]), known)
                lacks = MISSING.match(sentence)
                if lacks and known.keys() >= {*lacks["names"].split(", ")}:
                    sentence = f"{label}: {sentence}"
                error.args = (sentence, *error.args[1:])
            raise

    return checking


def _call_refusal(label: str, fault: str, signature: inspect.Signature, allowed: list[str],
                  named: Collection[str]) -> str:
    """Say what is wrong with the arguments of a call, from Python's own words. ``named``: arguments with a name."""
    names = ", ".join(allowed)
    quoted = re.search(r"'(\w+)'", fault)
    keywords = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values())
    unknown = [] if keywords else [name for name in named if name not in allowed]
    if unknown:  # before missing arguments: an unknown name may be a misspelt missing one
        return f"{label}: {unknown[0]!r} is not a parameter.{nearest(unknown[0], allowed)} Allowed: {names}."
    if quoted and fault.startswith("missing"):
        needed = ", ".join(name for name in allowed if signature.parameters[name].default is inspect.Parameter.empty
                           and signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD)
        return f"{label}: {quoted[1]} is missing. Needed: {needed}."
    if quoted and "multiple values" in fault:
        return f"{label}: {quoted[1]} is given twice, without its name and with it. Allowed: {names}."
    return f"{label}: {fault}. Allowed, in this order: {names}."


#: Name of an option, as the command line writes it: ``--flit-width``, or at the start of a refusal ``flit-width:``.
OPTION = re.compile(r"(?<![\w-])--(?P<name>[a-z]+(?:-[a-z]+)*)(?![\w-])|^(?P<first>[a-z]+(?:-[a-z]+)+)(?=:)")

#: Refusal of a call that lacks arguments.
MISSING = re.compile(r"(?P<names>\w+(?:, \w+)*) (?:is|are) missing\.")


def _with_parameters(sentence: str, known: Collection[str]) -> str:
    """Return a refusal with the names of options replaced by the names of a function's parameters."""
    def parameter(found: re.Match[str]) -> str:
        name = (found["name"] or found["first"]).replace("-", "_")
        return next((one for one in (name, f"{name}_") if one in known), found[0])

    return OPTION.sub(parameter, sentence)


@functools.cache
def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's parameters by name, with each option that it accepts by keyword."""
    hints, found = hints_of(function), dict[str, Any]()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found |= {key: hint for options in get_args(hints[name]) for key, hint in options.__annotations__.items()}
        else:
            found[name] = hints.get(name)
    return found


@functools.cache
def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's parameters by name. The class `Message` is replaced by ``Any``."""
    # annotations name the class of messages, whose import would be slow
    return typing.get_type_hints(function, localns={"Message": Any})


def kinds_of(hint: Any) -> tuple[type, ...]:
    """Return the types that a hint allows; an empty tuple if it allows any."""
    if isinstance(hint, types.UnionType) or get_origin(hint) is typing.Union:
        parts = [kinds_of(one) for one in get_args(hint)]
        return () if () in parts else tuple(dict.fromkeys(kind for part in parts for kind in part))
    kind = get_origin(hint) or hint
    return (kind,) if isinstance(kind, type) else ()


def plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy and pandas as numbers and lists of Python, in lists and tuples, too."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return value
