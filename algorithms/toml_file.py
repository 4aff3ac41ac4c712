"""Reader of users' TOML files."""

import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import WormcastError, unreadable
from .parse_fault import FAULTS, parse_fault

__all__ = ["read_toml"]

#: TOML integers have 64 bits: from -MOST to MOST - 1. Python's ``tomllib`` also reads larger integers.
MOST = 1 << 63


def read_toml(file: Path, what: str) -> dict[str, Any]:
    """Read a TOML file. A leading byte order mark is ignored.

    Parameters
    ----------
    what : str
        First word of refusals: the kind of file.

    Raises
    ------
    WormcastError
        The file cannot be read, is not TOML, or has a number that is not finite or has more than 64 bits.
    """
    try:
        entries = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise unreadable(what, file, error) from error
    except FAULTS as error:
        raise WormcastError(f"{what}: {file} is not TOML: {parse_fault(error)}") from error
    for key, value in _numbers(entries, ""):
        if not math.isfinite(value) if isinstance(value, float) else not -MOST <= value < MOST:
            shown = value if isinstance(value, float) else "a whole number of more than 64 bits"
            raise WormcastError(f"{key} in {file}: {shown} is not valid. Allowed: finite numbers of up to 64 bits.")
    return entries


def _numbers(value: Any, key: str) -> Iterator[tuple[str, int | float]]:
    """Yield all numbers of a file with their keys."""
    if isinstance(value, int | float):
        yield key, value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _numbers(one, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _numbers(one, f"{key}[{place}]")
