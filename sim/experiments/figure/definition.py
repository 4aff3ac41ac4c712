"""Definition of a figure, read from TOML: options, series that differ in them, and statements of the paper."""

import contextlib
import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.errors import naming, nearest
from wormcast.algorithms.file_schema import FileSchema
from wormcast.algorithms.toml_file import read_toml

from ..option_grid import require_known
from ..sweep import OPTIONS
from .papers import find_papers
from .predicate import CURVE_WORDS, POINT_WORDS, RUN_WORDS, SATURATED, Number, Predicate, require_command
from .schema import (
    ALL,
    DECIDED,
    FIGURE,
    FIXED,
    LOAD,
    LOAD_OPTIONS,
    LOADS,
    OVER_OPTIONS,
    PLACED,
    RUN_OPTIONS,
    RUNS,
    CommandOptions,
)
from .substitution import PLOT, read_words, written

__all__ = [
    "HERE",
    "Figure",
    "FigureChoice",
    "Picture",
    "Scatter",
    "ScatterPoint",
    "Series",
    "Statement",
    "Variation",
    "axes_of",
    "catalogue",
    "choose_figures",
    "find_figure",
    "names_of_claim",
    "names_of_several",
    "paper_of",
    "place_on_axis",
    "read_figure",
    "require_claim",
    "x_label",
]

#: Labels of x axes of figures of single runs, in place of those that the options declare.
AXES_OF_RUNS = {"random": "destinations", "ratio": "overhead ratio R"}

#: Name that stands for all figures.
EVERY = "all"

#: Folder of the figures that come with wormcast, and of the message files that they name.
HERE = Path(__file__).parent / "catalogue"


@dataclass(frozen=True)
class Series:
    """Series of a figure. The options of a series have priority over the options of the figure.

    A series that is not ``drawn`` is only used in statements. In a figure of single runs, the ``values`` of a series
    replace the figure's values.
    """

    name: str
    options: Mapping[str, Any]
    drawn: bool = True
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Statement:
    """Statement of a paper: number of its claim, text, predicate; and a note for a verdict that is not ``held``.

    Parameters
    ----------
    bound : Predicate or None
        The same statement against a bound that every form of a reconstructed rival obeys.
    fixed : str
        Verdict that no measurement can change: ``circular`` (a scheme was reconstructed from the statement), ``not
        judged`` (a word without a limit) or ``undecided`` (the paper lacks what a test needs); empty without one.
    because : str
        Reason of the fixed verdict.
    printed : str
        What the paper prints, if the statement is one of its main results.
    """

    claim: str
    text: str
    holds: Predicate
    note: str = ""
    bound: Predicate | None = None
    fixed: str = ""
    because: str = ""
    printed: str = ""

    @property
    def predicates(self) -> list[Predicate]:
        """The predicate ``holds``, and the predicate ``bound`` if it is not None."""
        return [self.holds, *([self.bound] if self.bound else [])]


@dataclass(frozen=True)
class Variation:
    """Variation for verdicts: options that replace those of all series, and further options for single series."""

    name: str
    text: str
    options: Mapping[str, Any]
    series: Mapping[str, Mapping[str, Any]]

    def on(self, series: str) -> "Variation":
        """Return the variation of one series. The options for this series have priority over those for all series.

        ``series``: name of the series, or FIGURE:SERIES for a series of another figure.
        """
        return Variation(self.name, self.text, {**self.options, **self.series.get(series, {})}, {})


@dataclass(frozen=True)
class Picture:
    """Picture that a command of wormcast draws. In the command, {plot} stands for the picture's file.

    The command's exit code is ignored, for example that of a deadlock.
    """

    name: str
    command: str


ScatterPoint = tuple[str, tuple[float, float, float], tuple[float, float, float]]
"""Name of a measured point of a scatter plot, and lower end, value and upper end on the x axis and on the y axis."""


@dataclass(frozen=True)
class Scatter:
    """Scatter plot of results of commands: labels of both axes, and for each point its name and two numbers."""

    across: str
    up: str
    points: tuple[tuple[str, Number, Number], ...]


@dataclass(frozen=True)
class Figure:
    """Figure, checked without running it.

    Parameters
    ----------
    name, title, source : str
        ``source``: paper and figure.
    options : mapping
        Options that all series have: options of ``wormcast load``, or of ``wormcast run`` if ``runs`` is True.
    series : mapping of str to Series
    statements : tuple of Statement
    variations : mapping of str to Variation
        At most six variations.
    pictures : tuple of Picture
    scatter : Scatter, optional
        Scatter plot of results of commands.
    step, most : float
        Loads are multiples of a quarter of ``step``, up to ``most``, in payload flits times destinations per node and
        cycle.
    cycles : int
        Largest number of cycles that a point simulates for each seed.
    over : str
        Quantity on the x axis: the load; an option of ``wormcast load``; or an option of ``wormcast run``.
    runs : bool
        True if the figure's points are single runs, False if they are load experiments.
    file : str
        The figure's file, as the user has written it; empty for figures of the catalogue.
    latency : str
        Messages whose latency is drawn: ``all``, ``multicast`` or ``unicast``.
    values : tuple
        Values of the option on the axis, with a point of each curve at each value. In figures of load experiments,
        values are rising numbers, or topologies with rising numbers of nodes.
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
    file: str = ""

    @property
    def place(self) -> str:
        """The figure in error messages: its file, or its name in the catalogue."""
        return self.file or self.name

    def find_series(self, name: str) -> tuple["Figure", Series]:
        """Find a series of this figure by its name, or of another figure by FIGURE:SERIES. Return (figure, series)."""
        of, colon, which = name.rpartition(":")
        if colon and not of.endswith(".toml") and of not in catalogue():
            raise WormcastError(f"statements in {self.place}: series {name!r} is not valid: there is no figure {of!r}."
                                f"{nearest(of, catalogue())} Allowed: FIGURE:SERIES, with a figure of wormcast list "
                                "figures or a file NAME.toml.")
        figure = find_figure(of) if colon else self
        if which not in figure.series:
            raise WormcastError(f"statements in {self.place}: series {name!r} is not valid: {figure.place} has " + (
                f"no such series.{nearest(which, figure.series)} Allowed: {', '.join(figure.series)}; a series of "
                "another figure as FIGURE:SERIES." if figure.series else
                "no series. Allowed: a series of another figure, as FIGURE:SERIES."))
        if (figure.over, figure.values) != (self.over, self.values):
            found = f"is {figure.over}" if figure.over != self.over else "has other values"
            raise WormcastError(f"statements in {self.place}: series {name!r} is not valid: the x axis of "
                                f"{figure.place} {found}. Allowed: figures over {self.over} with the same values.")
        return figure, figure.series[which]

    @property
    def named_series(self) -> list[str]:
        """Names of all series of the figure and of its statements, each once."""
        named = [name for one in self.statements for each in one.predicates for name in each.series]
        return list(dict.fromkeys([*self.series, *named]))

    @property
    def is_drawable(self) -> bool:
        """The figure has curves or a scatter plot."""
        return self.scatter is not None or any(one.drawn for one in self.series.values())

    @property
    def commands(self) -> set[str]:
        """Commands whose results occur in the statements or in the scatter plot."""
        numbers = [number for _, *both in self.scatter.points for number in both] if self.scatter else []
        predicates = [each for one in self.statements for each in one.predicates]
        return {command for one in (*predicates, *numbers) for command in one.commands}


def catalogue() -> list[str]:
    """Return the names of the figures that come with wormcast, in the order of their numbers."""
    names = [file.stem for file in HERE.glob("*.toml") if "-" in file.stem]
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def paper_of(name: str) -> str:
    """Return the number of a figure's paper. The names of the catalogue's figures begin with this number."""
    return name.split("-")[0]


def axes_of(figure: Figure) -> str:
    """Return what the axes of a figure show, as ``latency, accepted / load``; empty without series and scatter plot.

    The quantities of the y axes come first, then the quantity of the x axis.
    """
    if figure.scatter:
        return f"{figure.scatter.up} / {figure.scatter.across}"
    if not figure.series:
        return ""
    latency = "latency" if figure.latency == ALL else f"latency of {figure.latency}s"
    return f"{latency}{'' if figure.runs else ', accepted'} / {x_label(figure)}"


def x_label(figure: Figure) -> str:
    """Return the label of the x axis of a figure over an option; ``load`` for a figure over the load."""
    if figure.over in (LOAD, "topology"):
        return "nodes" if figure.over == "topology" else LOAD
    return AXES_OF_RUNS.get(figure.over) or (RUN_OPTIONS if figure.runs else LOAD_OPTIONS).known[figure.over].axis


def names_of_several(text: str) -> list[str]:
    """Return the names of all figures (``all``), or of those of the papers that a text describes (see `find_papers`).

    The list is empty if the text is the name of one figure, or unknown. Several names and papers are joined by commas.
    """
    if "," in text and not os.path.isfile(text):  # Path refuses texts that are too long for a file's name
        return [*dict.fromkeys(name for part in text.split(",") for name in names_of_several(part) or [part])]
    names = catalogue()
    if found := [name for name in names if text in (EVERY, paper_of(name))]:
        return found
    if text in names or text.endswith(".toml"):
        return []
    try:
        numbers = [paper.number for paper in find_papers(text)]
    except WormcastError:
        return []
    return [name for name in names if paper_of(name) in numbers]


@dataclass(frozen=True)
class FigureChoice:
    """Figures that a user asks for.

    Parameters
    ----------
    text : str
        Name of the figure, or the text that stands for several figures, or a claim.
    figures : tuple of Figure
    several : bool
        The text stands for several figures.
    """

    text: str
    figures: tuple[Figure, ...]
    several: bool


def choose_figures(name: str | None, claim: str | None) -> FigureChoice:
    """Find the figures of a name (see `names_of_several`), or without a name all figures that decide a claim.

    A claim on which none of the figures has a statement is refused.
    """
    if name is None and claim is None:
        raise WormcastError("name is missing. Needed: name or claim.")
    text = str(claim if name is None else name)
    several = names_of_claim(text) if name is None else names_of_several(text)
    figures = tuple(find_figure(one) for one in several or [text])
    if claim is not None:
        require_claim(claim, figures)
    return FigureChoice(text, figures, bool(several))


def names_of_claim(claim: str) -> list[str]:
    """Return the names of all figures of the catalogue with a statement on a claim, for example ``001-26a``."""
    names = [name for name in catalogue() if paper_of(name) == paper_of(claim)]
    found = [name for name in names if any(one.claim == claim for one in find_figure(name).statements)]
    if not found:
        known = dict.fromkeys(one.claim for name in names or catalogue() for one in find_figure(name).statements)
        raise WormcastError(f"claim: {claim!r} is unknown.{nearest(claim, known)} Allowed: claims that "
                            "wormcast figure --json lists, such as 001-26a.")
    return found


def require_claim(claim: str, figures: Sequence[Figure]) -> None:
    """Refuse a claim on which none of the figures has a statement."""
    known = list(dict.fromkeys(statement.claim for one in figures for statement in one.statements))
    if claim not in known:
        of = figures[0].place if len(figures) == 1 else f"these {len(figures)} figures"
        allowed = ', '.join(known) if known else "a figure without claim"
        raise WormcastError(f"claim: {claim!r} is not valid: {of} {'has' if len(figures) == 1 else 'have'} no "
                            f"statement on it.{nearest(claim, known)} Allowed: {allowed}.")


def find_figure(name: str) -> Figure:
    """Return the figure of the catalogue with a name, or the figure in a file NAME.toml."""
    if name.endswith(".toml"):
        return read_figure(Path(name))
    if name not in catalogue():
        papers = dict.fromkeys(map(paper_of, catalogue()))
        raise WormcastError(f"figure: {name!r} is unknown.{nearest(name, catalogue())} Allowed: names of wormcast list "
                            "figures, NAME.toml, all, or all figures of a paper, by a part of an author's name or of "
                            f"its title, or by its number: {', '.join(papers)}.")
    return _of_catalogue(name)


@cache
def _of_catalogue(name: str) -> Figure:
    return read_figure(HERE / f"{name}.toml")


def read_figure(file: Path) -> Figure:
    """Read and check a figure's file."""
    entries = _entries(file)
    with _named(file):
        return replace(_figure(file.stem, entries), file="" if file.parent == HERE else str(file))


def _named(file: Path) -> contextlib.AbstractContextManager[None]:
    """Put the name of a figure's file in front of error messages; the catalogue's folder is left out."""
    return naming(file.name if file.parent == HERE else str(file))


def _entries(file: Path, before: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Read a file's entries, merged with those of the figure that its key ``like`` names.

    ``before``: files whose key ``like`` has led to this file, to detect circles.
    """
    entries = read_toml(file, "figure")
    with _named(file):
        if "topology" in entries and "scheme" in entries:
            raise WormcastError("topology and scheme are keys of sweeps. Allowed: in a figure, below [options]; for a "
                                f"sweep, wormcast sweep {file}.")
        FIGURE.require(entries)
    like = entries.pop("like", None)
    if like is None:
        if "only" in entries:
            raise WormcastError(f"only in {file}: {entries['only']} is not valid without like. Needed: like, a figure "
                                "with these series.")
        return entries
    beside, of_catalogue = file.parent / f"{like}.toml", HERE / f"{like}.toml"
    if not (base := beside if beside.exists() else of_catalogue).exists():
        raise WormcastError(f"like in {file}: {like!r} is not valid: it is no figure.{nearest(like, catalogue())} "
                            f"Allowed: names of wormcast list figures, or of files beside {file.name}, without .toml.")
    if base in (*before, file):
        raise WormcastError(f"like in {file}: {like!r} is not valid: the figures are like each other in a circle. "
                            "Allowed: another figure.")
    return _over(file, _entries(base, (*before, file)), entries)


#: Keys that a figure inherits from the figure that its key ``like`` names.
#: Tables that both figures have are merged; for a key in both tables, the figure's own value is used.
SHARED = {"options", "series", "variations", "step", "most", "cycles", "over", "points", "values", "source", "latency",
          "words"}


def _over(file: Path, base: Mapping[str, Any], entries: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in base.items() if name in SHARED}
    for name, value in entries.items():
        both = isinstance(value, Mapping) and isinstance(found.get(name), Mapping)
        found[name] = {**found[name], **value} if both else value
    if "only" in entries:
        series, own = base.get("series", {}), entries.get("series", {})
        for name in entries["only"]:
            if name not in {**series, **own}:
                names = {**series, **own}
                raise WormcastError(f"only in {file}: {name!r} is not valid"
                                    + (f". Allowed: {', '.join(names)}." if names else
                                       f": neither this figure nor the one of like has series. Needed: a table "
                                       f"[series.{name}]."))
        found["series"] = {name: series.get(name, {}) for name in entries["only"]} | own
        found["variations"] = {name: _without(one, series.keys() - found["series"].keys())
                               for name, one in found.get("variations", {}).items()}
    return found


def _without(variation: Mapping[str, Any], dropped: Collection[str]) -> dict[str, Any]:
    """Return a variation without its options for the series in ``dropped``."""
    kept = {name: options for name, options in variation.get("series", {}).items() if name not in dropped}
    return {**variation, "series": kept}


#: Greatest allowed quotient of a figure's keys ``most`` and ``step``.
MOST_POINTS = 1000

def _figure(name: str, entries: Mapping[str, Any]) -> Figure:
    if missing := [key for key in ("title", "source") if key not in entries]:
        raise WormcastError(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. Needed: title, "
                            "source.")
    over, values, runs = entries.get("over", LOAD), entries.get("values", []), entries.get("points", LOADS) == RUNS
    if runs and "latency" in entries:
        raise WormcastError(f"latency: {entries['latency']!r} is not valid with points = \"{RUNS}\": a run has one "
                            f"message. Allowed: a figure without latency, or with points = \"{LOADS}\".")
    if runs:
        _require_runs(over, values)
    else:
        _require_axis(over, values)
    allowed = RUN_OPTIONS if runs else LOAD_OPTIONS if over == LOAD else OVER_OPTIONS
    variations = {key: Variation(key, value.get("text", key),
                                 _options(f"variations.{key}", allowed, value, "text", "series"),
                                 {one: _options(f"variations.{key}.series.{one}", allowed, options)
                                  for one, options in value.get("series", {}).items()})
                  for key, value in entries.get("variations", {}).items()}
    series = {key: Series(key, _options(f"series.{key}", allowed, value, "drawn", "values"), value.get("drawn", True),
                          _own_values(key, allowed, over, runs, value.get("values", ())))
              for key, value in entries.get("series", {}).items()}
    options = _options("options", allowed, entries.get("options", {}))
    for one in series.values():
        _require_needed(one, {over, *options, *one.options}, over, runs)
    statements = _statements(entries, words := read_words(entries.get("words", {})))
    _require_words(statements, runs)
    _require_varied(variations, {*series, *(name for one in statements for each in one.predicates
                                            for name in each.series)})
    numbers = {key: entries[key] for key in ("step", "most", "cycles") if key in entries}
    step, most = numbers.get("step", Figure.step), numbers.get("most", Figure.most)
    if not step <= most <= MOST_POINTS * step:
        shown = {key: f"{value}{'' if key in numbers else ' (the default)'}"
                 for key, value in (("step", step), ("most", most))}
        raise WormcastError(f"most: {shown['most']} is not valid with step = {shown['step']}. Allowed: step to "
                            f"{MOST_POINTS} times step, {step} to {MOST_POINTS * step:.12g}.")
    return Figure(
        name, entries["title"], entries["source"], options, series, statements, variations, _pictures(entries, words),
        **numbers, over=over, runs=runs, values=_values(RUN_OPTIONS, over, values) if runs else tuple(values),
        latency=entries.get("latency", ALL), scatter=_scatter(entries.get("scatter"), words))


def _statements(entries: Mapping[str, Any], words: Mapping[str, str]) -> tuple[Statement, ...]:
    found = []
    for number, one in enumerate(entries.get("statements", [])):
        with naming(f"statements[{number}]"):
            holds = Predicate(written(one["holds"], words, "holds"))
            bound = Predicate(written(one["bound"], words, "bound"), "bound") if "bound" in one else None
        fixed = [key for key in FIXED if key in one]
        if len(fixed) > 1:
            raise WormcastError(f"statements[{number}]: {' and '.join(fixed)} are not valid together. Allowed: one of "
                                "them.")
        found.append(Statement(one["claim"], one["text"], holds, one.get("note", ""), bound,
                               "".join(fixed).replace("_", " "), "".join(one[key] for key in fixed),
                               one.get("printed", "")))
    return tuple(found)


def _require_words(statements: Sequence[Statement], runs: bool) -> None:
    """Refuse words of measurements that the figure's own series do not have."""
    allowed = RUN_WORDS if runs else (*POINT_WORDS, *CURVE_WORDS, SATURATED)
    for number, statement in enumerate(statements):
        for each in statement.predicates:
            for word, name in each.measured:
                if ":" not in name and word not in allowed:
                    raise WormcastError(f"{each.key} in statements[{number}]: {word} is not valid: series {name} has "
                                        f"{'single runs' if runs else 'load experiments'}. Allowed: "
                                        f"{', '.join(allowed)}.")


def _require_varied(variations: Mapping[str, Variation], known: Collection[str]) -> None:
    """Refuse a variation with options for a series that is neither in the figure nor in its statements."""
    for variation in variations.values():
        for name in variation.series:
            if name not in known:
                allowed = (f".{nearest(name, known)} Allowed: series of the figure: "
                           f"{', '.join(sorted(known))}." if known
                           else ": the figure has no series.")
                raise WormcastError(f"variations.{variation.name}.series: {name!r} is not valid{allowed}")


def _require_needed(series: Series, given: Collection[str], over: str, runs: bool) -> None:
    """Refuse a series without an option that its points need."""
    needed = ["topology", "scheme", *(["length"] if runs else [] if over == LOAD else [PLACED])]
    if missing := [key for key in needed if key not in given]:
        raise WormcastError(f"series.{series.name}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
                            f"missing. Needed: in [series.{series.name}] or in [options].")


def _pictures(entries: Mapping[str, Any], words: Mapping[str, str]) -> tuple[Picture, ...]:
    """Read the key ``pictures``: names and commands. Names of pictures become file names, so they must be unique."""
    found: list[Picture] = []
    taken = {"scatter"} if "scatter" in entries else set()
    for number, one in enumerate(entries.get("pictures", [])):
        where = f"pictures[{number}]"
        if one["name"] in taken:
            another = "another picture" if any(one["name"] == each.name for each in found) else "the scatter plot"
            raise WormcastError(f"{where}.name: {one['name']!r} is not valid: {another} has this name. Allowed: "
                                "another name.")
        taken.add(one["name"])
        found.append(Picture(one["name"], written(one["command"], words, f"{where}.command")))
        require_command(f"{where}.command", found[-1].command, f"topology mesh:4x4 --plot {PLOT}")
        if PLOT not in found[-1].command:
            raise WormcastError(f"{where}.command: {one['command']!r} is not valid: it draws no picture. Needed: "
                                f"{PLOT} as the name of the picture's file, as in --plot {PLOT}.")
    return tuple(found)


def _scatter(given: Mapping[str, Any] | None, words: Mapping[str, str]) -> Scatter | None:
    """Read the scatter plot: the labels ``across`` and ``up``, and for each point its name and both numbers."""
    if given is None:
        return None
    return Scatter(given["across"], given["up"], tuple(
        (one["name"], *(Number(written(one[key], words, where := f"scatter.points[{number}].{key}"), where)
                        for key in ("across", "up")))
        for number, one in enumerate(given["points"])))


def _require_runs(over: str, values: Sequence[Any]) -> None:
    """Refuse an axis that single runs cannot have."""
    if over == LOAD or not values:
        raise WormcastError(f"points: {RUNS} is not valid without over and values. "
                            "Needed: over (an option of run), values (a list of its values).")
    if over not in RUN_OPTIONS.known:
        raise _no_axis(over, RUN_OPTIONS, "topology, random")


def _require_axis(over: str, values: Sequence[Any]) -> None:
    """Refuse an axis that load experiments cannot have."""
    if over == LOAD:
        if values:
            raise WormcastError(f"values: {values} is not valid in a figure over the load, which chooses its own "
                                "points. Needed: over, the option that has these values.")
        return
    if over not in OPTIONS or over in DECIDED or (over != "topology" and OPTIONS[over].kind not in (int, float)):
        raise _no_axis(over, OVER_OPTIONS, "topology")
    if not values:
        raise WormcastError(f"values: no value of {over} is given. Needed: a list of values of {over}.")
    _values(LOAD_OPTIONS, over, values)
    places = []
    for number, value in enumerate(values):
        with naming(f"values[{number}]"):
            places.append(place_on_axis(over, value))
    if any(later <= earlier for earlier, later in pairwise(places)):
        rising = "topologies with rising numbers of nodes" if over == "topology" else "rising values"
        raise WormcastError(f"values: {values} is not valid. Allowed: {rising}.")


def _no_axis(over: str, options: CommandOptions, beside: str) -> WormcastError:
    """Return the error that refuses a quantity on the x axis. ``beside``: allowed quantities besides numbers."""
    known = [name for name, one in options.known.items() if one.kind in (int, float) and name not in options.decided]
    return WormcastError(f"over: {over!r} is not valid.{nearest(over, known)} Allowed: {beside}, or an option of "
                         f"{options.command} whose values are numbers and that figures do not determine themselves.")


def place_on_axis(over: str, value: Any) -> float:
    """Return the position of an option's value on an axis: the value; for a topology, its number of nodes."""
    return float(topology(value).nodes if over == "topology" else value)


def _options(where: str, allowed: CommandOptions, given: Mapping[str, Any], *beside: str) -> dict[str, Any]:
    """Check the options ``given`` for a command, and return them without the keys ``beside``, which are no options.

    ``where``: key of the options' table, for refusals.
    """
    found = {}
    with naming(where):
        for key, value in given.items():
            if key in beside:
                continue
            require_known(key, allowed.known, f"{allowed.command} in a figure")
            if key in allowed.decided:
                raise WormcastError(f"{key}: {given[key]} is not valid: the x axis of this figure is the load, which "
                                    f"sets {key}. Needed: no {key}, or another x axis, for example over = "
                                    "\"receive_queue\" with values = [1, 2, 4].")
            found[key] = allowed.known[key].of_file(value)
    return found


def _own_values(name: str, allowed: CommandOptions, over: str, runs: bool, values: Sequence[Any]) -> tuple[Any, ...]:
    """Check the values of a series that replace the figure's values, and return them. ``name``: the series."""
    if not values:
        return ()
    with naming(f"series.{name}"):
        if not runs:
            raise WormcastError(f"values: {values} is not valid in a series. Allowed: values in series of a figure "
                                f"with points = \"{RUNS}\".")
        return _values(allowed, over, values)


def _values(allowed: CommandOptions, over: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """Check the values of the option on a figure's axis, and return them."""
    one = allowed.known[over]
    schema = FileSchema("values", {"properties": {"values": {"type": "array", "items": one.schema}}})
    schema.require({"values": values})
    found = tuple(map(one.of_file, values))
    for number, value in enumerate(found):
        if over != "topology" and not _is_number(value):
            raise WormcastError(f"values[{number}]: {value!r} has no place on the x axis. Allowed with over = "
                                f"\"{over}\": numbers.")
    return found


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False
