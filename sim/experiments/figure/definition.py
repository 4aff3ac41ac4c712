"""What a figure is: options of load, series that differ in them, and what the paper says of the outcome; from TOML."""

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.file_schema import FileSchema
from wormcast.algorithms.toml_file import read_toml

from ..option_grid import require_known
from ..sweep import OPTIONS
from .predicate import Number, Predicate, require_command
from .schema import ALL, FIGURE, LOAD, LOAD_OPTIONS, LOADS, OVER_OPTIONS, RUN_OPTIONS, RUNS, CommandOptions
from .substitution import read_words, written

__all__ = ["HERE", "Figure", "Picture", "Scatter", "Series", "Statement", "Variation", "catalogue", "find_figure",
           "paper_of", "place_on_axis", "read_figure"]

#: Where the figures are that come with wormcast, and the messages that they name.
HERE = Path(__file__).parent / "catalogue"


@dataclass(frozen=True)
class Series:
    """One curve: its options besides the figure's, and whether it is drawn or only compared with.

    ``values``: of a figure of runs, where it has others than the figure's.
    """

    name: str
    options: Mapping[str, Any]
    drawn: bool = True
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Statement:
    """What the paper says, by the number of the claim, in words and as a predicate; and a note on why it is not so."""

    claim: str
    text: str
    holds: Predicate
    note: str = ""


@dataclass(frozen=True)
class Variation:
    """Options that replace those of all series, and those of some of them, for verdicts alone."""

    name: str
    text: str
    options: Mapping[str, Any]
    series: Mapping[str, Mapping[str, Any]]

    def on(self, series: str) -> "Variation":
        """Give what it changes of a series, by the figure's name for it: FIGURE:SERIES of another one's."""
        return Variation(self.name, self.text, {**self.options, **self.series.get(series, {})}, {})


@dataclass(frozen=True)
class Picture:
    """A picture that a command of wormcast draws, with {plot} for the file; a deadlock that it ends in is no error."""

    name: str
    command: str


@dataclass(frozen=True)
class Scatter:
    """A picture of things by two numbers of each, which commands tell: name, across and up; and words for both axes."""

    across: str
    up: str
    points: tuple[tuple[str, Number, Number], ...]


@dataclass(frozen=True)
class Figure:
    """A figure, checked as far as that goes without running it.

    Parameters
    ----------
    name, title, source : str
        ``source``: paper and figure.
    options : mapping
        Options of load of all series.
    series : mapping of str to Series
    statements : tuple of Statement
    variations : mapping of str to Variation
        At most six.
    pictures : tuple of Picture
    scatter : Scatter, optional
        A picture of what commands tell.
    step, most : float
        Loads are multiples of a quarter of ``step``, up to ``most``: payload flits times destinations per node and
        cycle.
    cycles : int
        Cycles of each seed of a point, at most.
    over : str
        What its axis is: the load; or an option of load, and then ``rate`` is one of the figure's options; or of run.
    runs : bool
        Whether its points are single runs; else they are load experiments.
    latency : str
        Whose latency its picture has: ``all`` messages, ``multicast`` or ``unicast``.
    values : tuple
        Of that option, at each of which a curve has a point; of load experiments rising numbers, or topologies of ever
        more nodes.
    """

    name: str
    title: str
    source: str
    options: Mapping[str, Any] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    variations: Mapping[str, Variation] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()
    step: float = 0.05
    most: float = 0.9
    cycles: int = 200_000
    over: str = LOAD
    runs: bool = False
    values: tuple[Any, ...] = ()
    latency: str = ALL
    scatter: Scatter | None = None

    def find_series(self, name: str) -> tuple["Figure", Series]:
        """Find a series of this figure, or FIGURE:SERIES of another one of the catalogue.

        Raises
        ------
        WormcastError
            There is none.
        """
        of, colon, which = name.rpartition(":")
        figure = find_figure(of) if colon else self
        if which not in figure.series:
            raise WormcastError(f"{self.name}: a statement names the series {name!r}, {figure.name} has "
                                f"{', '.join(figure.series) or 'none'}")
        if (figure.over, figure.values) != (self.over, self.values):
            raise WormcastError(f"{self.name}: a statement names the series {name!r}, {figure.name} is over "
                                f"{figure.over}, not over {self.over} at the same values")
        return figure, figure.series[which]

    @property
    def named_series(self) -> list[str]:
        """All series that it draws or that its statements name, each once."""
        named = [name for one in self.statements for name in one.holds.series]
        return list(dict.fromkeys([*self.series, *named]))

    @property
    def commands(self) -> set[str]:
        """Commands whose answers its statements and its scatter name."""
        numbers = [number for _, *both in self.scatter.points for number in both] if self.scatter else []
        return {command for one in (*(each.holds for each in self.statements), *numbers) for command in one.commands}


def catalogue() -> list[str]:
    """Names of the figures that come with wormcast, by their numbers."""
    names = [file.stem for file in HERE.glob("*.toml") if "-" in file.stem]
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def paper_of(name: str) -> str:
    """Number of the paper of a figure of the catalogue."""
    return name.split("-")[0]


def find_figure(name: str) -> Figure:
    """Give a figure of the catalogue by its name, or one in a file NAME.toml.

    Raises
    ------
    WormcastError
        There is none, or `read_figure` refuses it.
    """
    if name.endswith(".toml"):
        return read_figure(Path(name))
    if name not in catalogue():
        papers = dict.fromkeys(map(paper_of, catalogue()))
        raise WormcastError(f"figure: {name!r} is given, allowed are {', '.join(catalogue())}, a file NAME.toml, or "
                            f"several: {', '.join(papers)}, all")
    return _of_catalogue(name)


@cache
def _of_catalogue(name: str) -> Figure:
    return read_figure(HERE / f"{name}.toml")


def read_figure(file: Path) -> Figure:
    """Read a figure's file.

    Raises
    ------
    WormcastError
        It cannot be read, is no TOML, or says what no figure has.
    """
    entries = _entries(file)
    with _named(file):
        return _figure(file.stem, entries)


@contextlib.contextmanager
def _named(file: Path) -> Iterator[None]:
    """Name a file in what is refused of it; one of the catalogue without its folder."""
    try:
        yield
    except WormcastError as error:
        raise WormcastError(f"{file.name if file.parent == HERE else file}: {error}") from error


def _entries(file: Path, before: tuple[Path, ...] = ()) -> dict[str, Any]:
    """What a file says, with what it takes over from another one by ``like``; ``before``: files that are like it."""
    entries = read_toml(file, "figure")
    with _named(file):
        FIGURE.require(entries)
    like = entries.pop("like", None)
    if like is None:
        return entries
    beside = file.parent / f"{like}.toml"
    if (base := beside if beside.exists() else HERE / f"{like}.toml") in (*before, file):
        raise WormcastError(f"{file}: like: {like!r} is given, a figure must be like another one")
    return _over(file, _entries(base, (*before, file)), entries)


#: What a figure that is ``like`` another one takes over, and adds to where it has its own.
SHARED = {"options", "series", "variations", "step", "most", "cycles", "over", "points", "values", "source", "latency"}


def _over(file: Path, base: Mapping[str, Any], entries: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in base.items() if name in SHARED}
    for name, value in entries.items():
        both = isinstance(value, Mapping) and isinstance(found.get(name), Mapping)
        found[name] = {**found[name], **value} if both else value
    if "only" in entries:
        series, own = base.get("series", {}), entries.get("series", {})
        for name in entries["only"]:
            if name not in {**series, **own}:
                raise WormcastError(f"{file}: only: {name!r} is given, allowed are {', '.join({**series, **own})}")
        found["series"] = {name: series.get(name, {}) for name in entries["only"]} | own
    return found


#: Points of a curve over the load, at most.
MOST_POINTS = 1000

def _figure(name: str, entries: Mapping[str, Any]) -> Figure:
    for key in ("title", "source"):
        if key not in entries:
            raise WormcastError(f"{key} is missing, a figure has one")
    over, values, runs = entries.get("over", LOAD), entries.get("values", []), entries.get("points", LOADS) == RUNS
    if runs and "latency" in entries:
        raise WormcastError(f"latency: {entries['latency']} is given with points = \"{RUNS}\", it belongs to "
                            f"\"{LOADS}\"")
    if runs:
        _require_runs(over, values)
    else:
        _require_axis(over, values)
    allowed = RUN_OPTIONS if runs else LOAD_OPTIONS if over == LOAD else OVER_OPTIONS
    variations = {key: Variation(key, value.get("text", key), _options(allowed, value, "text", "series"),
                                 {one: _options(allowed, options) for one, options in value.get("series", {}).items()})
                  for key, value in entries.get("variations", {}).items()}
    series = {key: Series(key, _options(allowed, value, "drawn", "values"), value.get("drawn", True),
                          _own_values(allowed, over, runs, value.get("values", ())))
              for key, value in entries.get("series", {}).items()}
    options = _options(allowed, entries.get("options", {}))
    for one in series.values():
        _require_needed(one, {over, *options, *one.options}, runs)
    numbers = {key: entries[key] for key in ("step", "most", "cycles") if key in entries}
    step, most = numbers.get("step", Figure.step), numbers.get("most", Figure.most)
    if not step <= most <= MOST_POINTS * step:
        raise WormcastError(f"step, most: {step} and {most} are given, most must be 1 to {MOST_POINTS} steps")
    words = read_words(entries.get("words", {}))
    return Figure(
        name, entries["title"], entries["source"], options, series,
        tuple(Statement(one["claim"], one["text"], Predicate(written(one["holds"], words)), one.get("note", ""))
              for one in entries.get("statements", [])),
        variations,
        _pictures(entries, words),
        **numbers, over=over, runs=runs, values=_values(RUN_OPTIONS, over, values) if runs else tuple(values),
        latency=entries.get("latency", ALL), scatter=_scatter(entries.get("scatter"), words))


def _require_needed(series: Series, given: Collection[str], runs: bool) -> None:
    """Refuse a series without an option that its points need."""
    needed = ["topology", "scheme", *(["length"] if runs else [])]
    if missing := [key for key in needed if key not in given]:
        raise WormcastError(f"series {series.name}: {', '.join(missing)} is missing, of it and of the figure's options")


def _pictures(entries: Mapping[str, Any], words: Mapping[str, str]) -> tuple[Picture, ...]:
    """Pictures of commands, whose names make names of files: plain ones, each once, none that of another file."""
    found: list[Picture] = []
    taken = {"scatter"} if "scatter" in entries else set()
    for one in entries.get("pictures", []):
        if one["name"] in taken:
            raise WormcastError(f"pictures: the name {one['name']!r} is given twice, each picture must have a name of "
                                "its own" + (", and not scatter" if "scatter" in entries else ""))
        taken.add(one["name"])
        found.append(Picture(one["name"], written(one["command"], words)))
        require_command("pictures", found[-1].command)
    return tuple(found)


def _scatter(given: Mapping[str, Any] | None, words: Mapping[str, str]) -> Scatter | None:
    """A picture by two numbers: ``across`` and ``up``, and of each of its ``points`` the name and both."""
    if given is None:
        return None
    return Scatter(given["across"], given["up"], tuple(
        (one["name"], Number(written(one["across"], words)), Number(written(one["up"], words)))
        for one in given["points"]))


def _require_runs(over: str, values: Sequence[Any]) -> None:
    """Refuse an option that single runs cannot differ in."""
    if over == LOAD or not values:
        raise WormcastError(f"points: {RUNS} is given, then over is an option of run, and values is a list of its "
                            "values")
    require_known(over, RUN_OPTIONS.known, "run")


def _require_axis(over: str, values: Sequence[Any]) -> None:
    """Refuse an axis that there cannot be."""
    if over == LOAD:
        if values:
            raise WormcastError(f"values: {values} is given, a figure over the load places its points itself")
        return
    require_known(over, OPTIONS, "load")
    if over != "topology" and OPTIONS[over].kind not in (int, float):
        raise WormcastError(f"over: {over!r} is given, it must be an option of load with numbers, or topology")
    if not values:
        raise WormcastError(f"values is missing, a figure over {over} has some")
    _values(LOAD_OPTIONS, over, values)
    places = [place_on_axis(over, value) for value in values]
    if any(later <= earlier for earlier, later in pairwise(places)):
        raise WormcastError(f"values: {values} is given, they must rise")


def place_on_axis(over: str, value: Any) -> float:
    """Where a value of an option lies on an axis: a topology at the number of its nodes."""
    return float(topology(value).nodes if over == "topology" else value)


def _options(allowed: CommandOptions, given: Mapping[str, Any], *beside: str) -> dict[str, Any]:
    """Options of a command, checked one by one."""
    found = {}
    for key, value in given.items():
        if key in beside:
            continue
        require_known(key, allowed.known, allowed.command)
        if key in allowed.decided:
            raise WormcastError(f"{key}: a figure decides it itself, it must not be given")
        found[key] = allowed.known[key].of_file(value)
    return found


def _own_values(allowed: CommandOptions, over: str, runs: bool, values: Sequence[Any]) -> tuple[Any, ...]:
    """Values of a series that has others than its figure."""
    if values and not runs:
        raise WormcastError(f"values: {values} is given in a series, only those of a figure of runs have their own")
    return _values(allowed, over, values) if values else ()


def _values(allowed: CommandOptions, over: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """Values of the option that a figure is over."""
    one = allowed.known[over]
    schema = FileSchema("values", {"properties": {"values": {"type": "array", "items": one.schema}}})
    schema.require({"values": values})
    return tuple(map(one.of_file, values))
