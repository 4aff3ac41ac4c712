"""Options with lists of values: each combination is a point, which is run by itself and is a row of a table."""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import nearest

__all__ = ["Sweep", "named_point", "require_known", "require_points"]

MOST_POINTS = 10_000

T = TypeVar("T")


@dataclass(frozen=True)
class Sweep:
    """Options of a command, some of them with several values.

    Parameters
    ----------
    name : str
        Name of the result files.
    fixed : dict
        Options with one value.
    swept : dict
        Options with a list of values, in the given order.
    """

    name: str
    fixed: dict[str, Any]
    swept: dict[str, list[Any]]

    def combinations(self) -> list[dict[str, Any]]:
        """Return the options of all points: all combinations, the last swept option changing fastest."""
        return [{**self.fixed, **values} for values in self._values()]

    def _values(self) -> Iterator[dict[str, Any]]:
        """Yield the values of the swept options of each point."""
        for values in itertools.product(*self.swept.values()):
            yield dict(zip(self.swept, values, strict=True))

    def points(self, build: Callable[[dict[str, Any], str], T]) -> list[T]:
        """Build all points, each from its options and its name: ``scheme dual-path, rate 0.002``."""
        return [build(given, ", ".join(f"{name} {given[name]}" for name in self.swept))
                for given in self.combinations()]

    def lines(self, along: str) -> list[tuple[dict[str, Any], list[int]]]:
        """Group the points that differ only in the swept option ``along``.

        Returns
        -------
        list of (dict, list of int)
            For each group the values of the other swept options, and the numbers of its points. A group's points are in
            the order of their values of ``along``, or in the given order if these values are strings.
        """
        lines: dict[tuple[Any, ...], tuple[dict[str, Any], list[tuple[Any, int]]]] = {}
        for number, values in enumerate(self._values()):
            at = values.pop(along)
            lines.setdefault(tuple(values.values()), (values, []))[1].append((at, number))
        for _, found in lines.values():
            found.sort(key=lambda one: 0 if isinstance(one[0], str) else one[0])
        return [(values, [number for _, number in found]) for values, found in lines.values()]

    def columns(self, given: Mapping[str, Any], resolved: Mapping[str, Any]) -> dict[str, Any]:
        """Return a point's options by column of a table: the swept ones as given, then the others as resolved."""
        return {**{name: given[name] for name in self.swept},
                **{name: value for name, value in resolved.items() if name not in self.swept}}


def require_known(key: str, options: Iterable[str], command: str) -> None:
    """Refuse an unknown option of a command, and name the nearest known one."""
    if key not in options:
        see = f" See: wormcast {command.partition(' ')[0]} --help."
        raise WormcastError(f"{key!r} is not an option of {command}.{nearest(key, options) or see}")


def require_points(swept: Mapping[str, Sequence[Any]]) -> None:
    """Refuse lists that have a value twice, or make too many points."""
    for key, values in swept.items():
        for value in values:
            if values.count(value) > 1:
                raise WormcastError(f"{key}: {value!r} occurs twice in the list. Allowed: each value once.")
    number = math.prod(map(len, swept.values()))
    if number > MOST_POINTS:
        raise WormcastError(f"{', '.join(swept)}: {number} points are not valid. Allowed: at most {MOST_POINTS}.")


@contextlib.contextmanager
def named_point(name: str) -> Iterator[None]:
    """Add a point's name to the errors that this context raises."""
    try:
        yield
    except WormcastError as error:
        if not name:
            raise
        raise WormcastError(f"{str(error).rstrip('.')}. Point: {name}.") from error
