"""Options with several values: all their combinations are points, each of them run by itself."""

import contextlib
import difflib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wormcast.algorithms import WormcastError

__all__ = ["Sweep", "named_point", "require_known", "require_points"]

MOST_POINTS = 10_000


@dataclass(frozen=True)
class Sweep:
    """Options of a command, some of them with several values.

    Parameters
    ----------
    name : str
        Of the files that results go to.
    fixed : dict
        The options with one value.
    swept : dict
        The options with a list of values, in the order given.
    """

    name: str
    fixed: dict[str, Any]
    swept: dict[str, list[Any]]

    def combinations(self) -> list[dict[str, Any]]:
        """Give the options of all points: all combinations, the last swept option changing fastest."""
        return [{**self.fixed, **dict(zip(self.swept, values, strict=True))}
                for values in itertools.product(*self.swept.values())]


def require_known(key: str, options: Iterable[str], command: str) -> None:
    """Refuse an option that a command does not have, and say which one may be meant."""
    if key not in options:
        near = difflib.get_close_matches(key.replace("-", "_"), options, n=1, cutoff=0)
        raise WormcastError(f"{key!r} is no option of {command}, the nearest is {near[0]!r}")


def require_points(swept: Mapping[str, Sequence[Any]]) -> None:
    """Refuse lists that are empty, have a value twice, or make too many points."""
    for key, values in swept.items():
        if not values:
            raise WormcastError(f"{key}: an empty list is given, it must have a value or more")
        for value in values:
            if values.count(value) > 1:
                raise WormcastError(f"{key}: {value!r} is given twice, each value must be there once")
    number = math.prod(map(len, swept.values()))
    if number > MOST_POINTS:
        raise WormcastError(f"{number} points are given, allowed are up to {MOST_POINTS}")


@contextlib.contextmanager
def named_point(name: str) -> Iterator[None]:
    """Name a point of a sweep in what is refused of it."""
    try:
        yield
    except WormcastError as error:
        if not name:
            raise
        raise WormcastError(f"point {name}: {error}") from error
