"""Mapping from names that a user types to objects, for example schemes. Other packages can add names."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import FAILURES, WormcastError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

__all__ = ["Registry"]

T = TypeVar("T")

#: A refusal of an unknown name lists all allowed names if there are at most LISTED.
#: With more allowed names, a refusal does not list them, and refers to ``wormcast list``.
LISTED = 20


@cache
def _installed() -> Any:
    from importlib.metadata import entry_points

    return entry_points()  # this call reads a file of each installed package


def entry_points(group: str) -> "EntryPoints":
    """Return the entry points of a group in all installed packages."""
    found: EntryPoints = _installed().select(group=group)
    return found


class Registry(Mapping[str, T], Generic[T]):
    """A read-only mapping from names to objects, filled by ``add`` and by entry points.

    Parameters
    ----------
    what : str
        Noun for one entry in refusals: ``"scheme"``.
    kind : type
        Class of all entries.
    group : str
        Entry point group of other packages: ``"wormcast.schemes"``. An entry point names an instance, or a class or
        function that returns one when called without arguments. An entry point is loaded at the first use of its name,
        so that a broken one affects no other entry.
    files : bool
        Commands accept ``FILE.py[:NAME]`` in place of a name.

    Attributes
    ----------
    what, kind
        As given.

    Raises
    ------
    WormcastError
        A name is unknown or already used, or its entry point cannot be loaded or does not return a ``kind``.
    """

    def __init__(self, what: str, kind: type[T], group: str, *, files: bool = False) -> None:
        self.what = what
        self.kind = kind
        self._files = files
        self._entries: dict[str, T] = {}
        self._loaded: dict[str, T] = {}
        self._group = group

    @cached_property
    def _announced(self) -> "dict[str, EntryPoint]":
        return {entry.name: entry for entry in entry_points(group=self._group)}

    @property
    def own(self) -> Collection[str]:
        """Names of entries that are added by this package, not by entry points."""
        return self._entries.keys()

    def add(self, name: str, thing: T) -> T:
        """Add an object under a name, and return the object."""
        if name in self._entries:
            raise WormcastError(f"{self.what}: {name!r} is not valid: it exists already. Allowed: other names.")
        self._entries[name] = thing
        return thing

    def __getitem__(self, name: str) -> T:
        if name in self._entries:
            return self._entries[name]
        if name in self._loaded:
            return self._loaded[name]
        if name in self._announced:
            self._loaded[name] = self._load(name)
            return self._loaded[name]
        files = ["FILE.py", "FILE.py:NAME"] if self._files else []
        allowed = [f"names of wormcast list {self._group.rpartition('.')[2]}"] if len(self) > LISTED else list(self)
        raise WormcastError(f"{self.what}: {name!r} is unknown.{nearest(name, self)} "
                            f"Allowed: {', '.join([*allowed, *files])}.")

    def _load(self, name: str) -> T:
        entry = self._announced[name]
        try:
            thing = entry.load()
            if not isinstance(thing, self.kind):
                thing = thing()
        except FAILURES as error:
            raise WormcastError(
                f"{self.what}: {name!r} cannot be loaded from {entry.value} ({error})"
            ) from error
        if not isinstance(thing, self.kind):
            raise WormcastError(
                f"{self.what}: {entry.value} returns a value of type {type(thing).__name__}. "
                f"Needed: a {self.kind.__name__}."
            )
        return thing

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._announced

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._entries, *self._announced}))

    def __len__(self) -> int:
        return len({*self._entries, *self._announced})
