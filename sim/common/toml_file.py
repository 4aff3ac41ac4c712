"""Files in TOML that a user gives."""

import tomllib
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError

__all__ = ["read_toml"]


def read_toml(file: Path, what: str) -> dict[str, Any]:
    """Read a file of this sort of thing.

    Raises
    ------
    WormcastError
        It cannot be read, or is no TOML.
    """
    try:
        with file.open("rb") as opened:
            return tomllib.load(opened)
    except OSError as error:
        raise WormcastError(f"{what}: {file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise WormcastError(f"{what}: {file} is no TOML: {error}") from error
