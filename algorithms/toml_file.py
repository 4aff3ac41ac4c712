"""Reader of users' TOML files."""

import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import WormcastError

__all__ = ["read_toml"]

#: TOML has whole numbers of 64 bits, from minus this one up to the one before it; the library reads larger ones, too.
MOST = 1 << 63


def read_toml(file: Path, what: str) -> dict[str, Any]:
    """Read a TOML file; a byte order mark before it is ignored.

    Parameters
    ----------
    what : str
        First word of refusals: the kind of file.

    Raises
    ------
    WormcastError
        It cannot be read, is no TOML, or has a number that is not finite or has more than 64 bits.
    """
    try:
        entries = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise WormcastError(f"{what}: there is no file {file}") from None
    except OSError as error:
        raise WormcastError(f"{what}: {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WormcastError(f"{what}: {file} is no TOML: byte {error.start} is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise WormcastError(f"{what}: {file} is no TOML: {str(error).splitlines()[0]}") from error
    for key, value in _numbers(entries, ""):
        if not math.isfinite(value) if isinstance(value, float) else not -MOST <= value < MOST:
            told = value if isinstance(value, float) else "a whole number of more than 64 bits"
            raise WormcastError(f"{what}: {file}: {key}: {told} is given, numbers must be finite, of up to 64 bits")
    return entries


def _numbers(value: Any, key: str) -> Iterator[tuple[str, int | float]]:
    """All numbers of a file, each with its key."""
    if isinstance(value, int | float):
        yield key, value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _numbers(one, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one, key)
