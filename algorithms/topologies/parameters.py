"""What stands behind the colon of a specification: extents as ``8x8``, or parameters as ``b=4,stages=3``."""

import math
import re
from collections.abc import Mapping

from ..errors import WormcastError

__all__ = ["MOST_NODES", "MOST_PORTS", "MOST_SWITCHES", "read_extents", "read_parameters", "whole_number"]

MOST_NODES = 4096
"""A routing table has a byte for each pair of nodes, and some more while it is made."""

MOST_SWITCHES = 1024
"""Of a network whose nodes sit at switches of their own choice: tables have a row for each switch."""

MOST_PORTS = 32
"""Of a switch, those of its nodes included."""

MOST_DIMENSIONS = 12
"""As many as the extents of 4096 nodes can fill."""


def read_extents(kind: str, extents: str, *, syntax: str = "ROWSxCOLUMNS") -> tuple[int, ...]:
    """Read ``"8x8"`` as (8, 8), or refuse it.

    Raises
    ------
    WormcastError
        It is not two (up to twelve) whole numbers from 1, or they give fewer than two nodes or more than 4096.
    """
    digits = re.compile("[0-9]{1,9}")
    shape = tuple(int(field) if digits.fullmatch(field) else 0 for field in extents.split("x"))
    if not 2 <= len(shape) <= MOST_DIMENSIONS or min(shape) < 1:
        raise WormcastError(
            f"topology: '{kind}:{extents}' is not {kind}:{syntax} (or {kind}:XxYxZ, or more) with whole numbers from 1"
        )
    if not 2 <= math.prod(shape) <= MOST_NODES:
        raise WormcastError(
            f"topology: '{kind}:{extents}' is a {kind} of size {math.prod(shape)}, "
            f"allowed are 2 to {MOST_NODES} nodes"
        )
    return shape


def read_parameters(
    kind: str, text: str, defaults: Mapping[str, str | None], *, what: str = "topology"
) -> dict[str, str]:
    """Read ``"b=4,stages=3"`` as texts by name, in any order, those that are not given by default.

    Parameters
    ----------
    defaults : mapping of str to str or None
        All that there are; None: it must be given.
    what : str
        The word for what is specified, as error sentences begin.

    Raises
    ------
    WormcastError
        A parameter is unknown, missing, or given twice.
    """
    allowed = ",".join(f"{name}=..." for name in defaults)
    given: dict[str, str] = {}
    for field in text.split(",") if text else []:
        name, equals, value = field.partition("=")
        if not equals or name not in defaults:
            raise WormcastError(f"{what}: {field!r} of '{kind}:{text}' is no parameter, allowed is {kind}:{allowed}")
        if name in given:
            raise WormcastError(f"{what}: '{kind}:{text}' gives {name} twice, allowed is once")
        given[name] = value
    for name, default in defaults.items():
        if name not in given and default is None:
            raise WormcastError(f"{what}: '{kind}:{text}' gives no {name}, allowed is {kind}:{allowed}")
    return {name: given.get(name, default or "") for name, default in defaults.items()}


def whole_number(
    specification: str, name: str, text: str, least: int, most: int, *, what: str = "topology"
) -> int:
    """Read a parameter that is a whole number, or refuse it."""
    number = int(text) if re.fullmatch("[0-9]{1,18}", text) else -1
    if not least <= number <= most:
        raise WormcastError(f"{what}: {name} of '{specification}' is {text!r}, allowed are whole numbers "
                            f"from {least} to {most}")
    return number
