"""Parameters after the colon of a specification: extents as ``8x8``, or names and values as ``b=4,stages=3``."""

import math
import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from ..errors import WormcastError
from ..phrases import count

__all__ = ["MOST_NODES", "MOST_PORTS", "MOST_SWITCHES", "read_extents", "read_parameters", "whole_number"]

MOST_NODES = 4096
"""Largest number of nodes of a network. A routing table needs a byte for each pair of nodes, and more memory during its
construction."""

MOST_SWITCHES = 1024
"""Largest number of switches of a network that does not have exactly one node at each switch. Tables have a row for
each switch."""

MOST_PORTS = 32
"""Largest number of ports of a switch, those of its nodes included."""

NO_CHOICES: Mapping[str, Collection[str]] = MappingProxyType({})

MOST_DIMENSIONS = 12
"""Largest number of dimensions: twelve extents of 2 have 4096 nodes."""


def read_extents(kind: str, extents: str, *, syntax: str = "ROWSxCOLUMNS", dimensions: int = 0) -> tuple[int, ...]:
    """Read ``"8x8"`` as (8, 8).

    Parameters
    ----------
    syntax : str
        Form of the text after the colon, for error messages.
    dimensions : int
        Number of extents. By default, any number of extents from two to twelve is accepted.

    Raises
    ------
    WormcastError
        The text is not two to twelve whole numbers from 1 joined by ``x`` (with ``dimensions``: this number of whole
        numbers), or the network would have fewer than two nodes or more than 4096.
    """
    digits = re.compile("[0-9]{1,9}")
    shape = tuple(int(field) if digits.fullmatch(field) else 0 for field in extents.split("x"))
    if not (dimensions or 2) <= len(shape) <= (dimensions or MOST_DIMENSIONS) or min(shape) < 1:
        more = "" if dimensions else f" {kind}:XxYxZ, or up to {MOST_DIMENSIONS} extents,"
        raise WormcastError(
            f"topology: '{kind}:{extents}' is not valid. Allowed: {kind}:{syntax},{more} with whole numbers from 1."
        )
    if not 2 <= math.prod(shape) <= MOST_NODES:
        raise WormcastError(
            f"topology: '{kind}:{extents}' has {count(math.prod(shape), 'node')}. "
            f"Allowed: 2 to {MOST_NODES} nodes."
        )
    return shape


def read_parameters(
    kind: str, text: str, defaults: Mapping[str, str | None], choices: Mapping[str, Collection[str]] = NO_CHOICES, *,
    what: str = "topology",
) -> dict[str, str]:
    """Return the parameters in ``"b=4,stages=3"``, which may be in any order, as a dictionary from names to texts.
    Missing parameters get their defaults.

    Parameters
    ----------
    defaults : mapping of str to str or None
        All parameters. A parameter with the value None has no default.
    choices : mapping of str to collection of str
        Allowed values of parameters that are words. Other parameters may have any value.
    what : str
        First word of error messages.

    Raises
    ------
    WormcastError
        A parameter is unknown, missing or repeated, or its value is none of its choices.
    """
    fields = {name: f"{name}={'|'.join(choices.get(name, [name.upper()]))}" for name in defaults}
    needed = ",".join(fields[name] for name, default in defaults.items() if default is None)
    optional = ",".join(fields[name] for name, default in defaults.items() if default is not None)
    allowed = f"{needed}[,{optional}]" if needed and optional else needed or optional
    given: dict[str, str] = {}
    for field in text.split(",") if text else []:
        name, equals, value = field.partition("=")
        if not equals or name not in defaults:
            raise WormcastError(f"{what}: parameter {field!r} of '{kind}:{text}' is unknown. Allowed: "
                                f"{kind}:{allowed}.")
        if name in given:
            raise WormcastError(f"{what}: '{kind}:{text}' is not valid: {name} occurs twice. Allowed: once.")
        if name in choices and value not in (*choices[name], defaults[name]):
            raise WormcastError(f"{what}: {name} {value!r} of '{kind}:{text}' is not valid. Allowed: "
                                f"{', '.join(choices[name])}.")
        given[name] = value
    for name, default in defaults.items():
        if name not in given and default is None:
            raise WormcastError(f"{what}: '{kind}:{text}' is not valid: {name} is missing. Needed: {kind}:{allowed}.")
    return {name: given.get(name, default or "") for name, default in defaults.items()}


def whole_number(
    specification: str, name: str, text: str, least: int, most: int, *, what: str = "topology", reason: str = ""
) -> int:
    """Read a parameter that is a whole number. Other text and numbers out of range are refused; `reason` explains the
    range."""
    number = int(text) if re.fullmatch("[0-9]{1,18}", text) else -1
    if not least <= number <= most:
        allowed = f"whole numbers from {least} to {most}" if least < most else f"{least}"
        raise WormcastError(f"{what}: {name} {text!r} of '{specification}' is not valid. Allowed: "
                            f"{allowed}{reason and f' ({reason})'}.")
    return number
