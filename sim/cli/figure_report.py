"""Measurement of papers' figures, and their tables, pictures and pages."""

import contextlib
import io
import shlex
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import wormcast
from wormcast.algorithms import WormcastError
from wormcast.algorithms.announcements import announce

from ..common.atomic_write import make_folder, require_writable, whole_file
from ..common.figure_file import draw_file, files_of_picture, require_picture, whole_picture
from ..common.picture_style import PictureOptions
from ..common.progress import progress
from ..common.requirements import ToolMissing
from ..experiments.figure import (
    HERE,
    PAPERS,
    AnyPoint,
    Costs,
    Curve,
    DrawnPoint,
    Figure,
    FigureOutcome,
    Minutes,
    RunCurve,
    RunPoint,
    axes_of,
    catalogue,
    curves_of,
    each_once,
    figure_page,
    find_figure,
    index_page,
    loads_figure,
    measure,
    outcome_of,
    paper_of,
    runs_figure,
    scatter_figure,
    verdicts_page,
)
from ..experiments.figure.substitution import written
from ..experiments.option_grid import write_csv
from ..experiments.sweep import MemoryStore, Point, ResultStore, require_cluster, run_missing, run_on_cluster
from .answers import Answers, invoke
from .app import emit, say, stdout_for_results, table
from .figure_commands import require_valid_commands

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["list_figures", "measure_figures"]

ALL = "all"


def measure_figures(name: str, quick: bool, out: Path, plot: Path | None, options: PictureOptions,
                    scheduler: str | None, json: bool) -> None:
    """Measure a figure, or all figures of a paper or of all papers, and report them."""
    several = [one for one in catalogue() if name in (ALL, paper_of(one))]
    figures = [find_figure(one) for one in several or [name]]
    for figure in figures:
        require_valid_commands(figure)
    if plot:
        _require_plot(plot, options, figures)
    if scheduler is not None:
        require_cluster()
    started = time.process_time()
    with stdout_for_results(), ResultStore(out / "figures.sqlite") as store:
        require_writable(out / f"{figures[0].name}.html") if out.exists() else make_folder(out)

        costs = Costs(store)

        def run(points: Sequence[AnyPoint]) -> Generator[AnyPoint, None, None]:
            loads = [one for one in points if isinstance(one, Point)]
            yield from run_missing([one for one in points if isinstance(one, RunPoint | DrawnPoint)], store)
            if scheduler and loads:
                yield from run_on_cluster(loads, store, scheduler)
                return
            began = time.monotonic()
            yield from run_missing(loads, store)
            costs.ran({point.key: point for point in loads}, time.monotonic() - began)

        told = Answers(store)
        curves = [curves_of(one, quick=quick) for one in figures]
        # a series that several figures share is measured once
        every = [curve for some in curves for curve in each_once(some)]
        with announce(f"measuring {name}", costs.expected(figures, quick)):
            for figure in figures:
                told.ask(figure.commands)  # refused commands end the figure now, not after hours of simulation
            with contextlib.closing(measure(every, store, run)) as done, progress(None, "points") as show:
                for number, _ in done:
                    show(number)
        outcomes = [outcome_of(one, some, told, quick=quick) for one, some in zip(figures, curves, strict=True)]
        for figure, some in zip(figures, curves, strict=True):
            if figure.name in catalogue():
                costs.measured(figure, quick, some, told.seconds(figure.commands))
    seconds = time.process_time() - started
    make_folder(out)  # `ResultStore` removes a new folder that is empty
    files = [_write(one, out, quick, told) for one in outcomes]
    if plot:
        draw = _curves_of(outcomes[0])
        assert draw is not None  # see `_require_plot`
        files[0] += draw_file(plot, draw, options).values()
    if several:
        files.append(_report(name, outcomes, out, quick))
    if json:
        results = [_to_dict(one) for one in outcomes]
        cycles = sum(row["cycles_simulated"] or 0 for one in outcomes for row in one.rows)
        result: dict[str, Any] = {"figure": name, "figures": results} if several else results[0]
        emit({**result, "cycles": cycles, "seconds": seconds, "files": [str(file) for some in files for file in some]},
             {"figure": name, "quick": quick})
    else:
        for one, made in zip(outcomes, files, strict=False):
            _show(one, made)
        if several:
            say(f"report: {files[-1][0]}")


def list_figures(out: Path, json: bool) -> None:
    """Print the figures of each paper, with their axes, the number of claims that each decides, and its run time."""
    figures = [find_figure(one) for one in catalogue()]
    file = out / "figures.sqlite"
    with ResultStore(file) if file.exists() else contextlib.nullcontext(MemoryStore()) as store:
        known = {quick: Costs(store).minutes(figures, quick) for quick in (False, True)}
    if json:
        emit({"figures": [
            {"name": one.name, "title": one.title, "source": one.source, "axes": axes_of(one),
             "curves": len(each_once(curves_of(one))), "quick_curves": len(one.named_series),
             "cycles": one.cycles if one.named_series and not one.runs else 0,
             "minutes": full and vars(full), "quick_minutes": quick and vars(quick), "claims": _claims(one)}
            for one, full, quick in zip(figures, known[False], known[True], strict=True)]}, {})
        return
    for paper in PAPERS:
        say(str(paper))
        table(["name", "title and axes", "claims", "quick", "full"], [
            [one.name, "\n".join(filter(None, [one.title, axes_of(one)])), len(_claims(one)), _minutes(quick),
             _minutes(full)]
            for one, full, quick in zip(figures, known[False], known[True], strict=True)
            if paper_of(one.name) == paper.number])
    say("claims: number of the paper's claims that the figure decides; --json names them")
    say(f"quick, full: run time in minutes; ~: an estimate, from the figures measured in {out} if there are any; "
        "-: single runs, which are not estimated")


def _claims(figure: Figure) -> list[str]:
    return list(dict.fromkeys(statement.claim for statement in figure.statements))


def _minutes(known: Minutes | None) -> str | None:
    return None if known is None else f"{'' if known.measured else '~'}{known.minutes:.1f}"


def _write(outcome: FigureOutcome, out: Path, quick: bool, told: Answers) -> list[Path]:
    """Write a figure's table, pictures and page."""
    figure, files = outcome.figure, []
    pictures: list[tuple[str, str]] = []
    if outcome.rows:
        files.append(out / f"{figure.name}.csv")
        with whole_file(files[-1]) as unfinished:
            write_csv(outcome.rows, unfinished)
    if draw := _curves_of(outcome):
        files.append(out / f"{figure.name}.svg")
        draw_file(files[-1], draw)
        pictures.append((figure.title, files[-1].name))
    if figure.scatter:
        with contextlib.suppress(ToolMissing):
            draw_file(out / f"{figure.name}-scatter.svg", lambda: scatter_figure(figure, told))
            files.append(out / f"{figure.name}-scatter.svg")
            pictures.append((figure.title, files[-1].name))
    for one in figure.pictures:
        files.append(out / f"{figure.name}-{one.name}.svg")
        with (whole_picture(files[-1]) as (unfinished, _), contextlib.redirect_stdout(io.StringIO()),
              tempfile.TemporaryDirectory() as folder):
            plotted = Path(folder, "picture.svg")
            invoke(written(one.command, {"plot": shlex.quote(str(plotted)), "here": shlex.quote(str(HERE))}))
            unfinished.write_bytes(plotted.read_bytes())
        pictures.append((written(one.command, {"plot": f"{one.name}.svg"}), files[-1].name))
    files.append(out / f"{figure.name}.html")
    with whole_file(files[-1]) as unfinished:
        unfinished.write_text(figure_page(outcome, pictures, _notes(figure, quick)), encoding="utf-8")
    return files


def _require_plot(plot: Path, options: PictureOptions, figures: Sequence[Figure]) -> None:
    """Refuse --plot for several figures, for a figure without curves, and for files that cannot be written."""
    require_picture(plot)
    if len(figures) > 1 or not figures[0].series:
        what = f"{len(figures)} figures" if len(figures) > 1 else f"{figures[0].name}, which has no curves"
        raise WormcastError(f"plot: {plot} is not valid for {what}. Allowed: for one figure with curves.")
    for file in files_of_picture(plot, options).values():
        require_writable(file)


def _curves_of(outcome: FigureOutcome) -> "Callable[[], Picture] | None":
    """Return a function that draws the curves of a figure; None if the figure has no curves."""
    figure = outcome.figure
    if not outcome.curves:
        return None
    if figure.runs:
        runs = [one for one in outcome.curves if isinstance(one, RunCurve)]
        return lambda: runs_figure(figure, runs)
    loads = [one for one in outcome.curves if isinstance(one, Curve)]
    return lambda: loads_figure(figure, loads)


def _report(name: str, outcomes: Sequence[FigureOutcome], out: Path, quick: bool) -> list[Path]:
    """Write the index page of several figures, and the page of their verdicts."""
    files = [out / "index.html", out / "verdicts.md"]
    made = f"Made by `wormcast figure {name}{' --quick' if quick else ''}`, version {wormcast.__version__}."
    texts = [index_page(outcomes), verdicts_page(outcomes, [made, RULE, VARIED])]
    for file, text in zip(files, texts, strict=True):
        with whole_file(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    return files


RULE = ("held: at every load that all series measured before saturation, the 95 % intervals do not overlap and lie in "
        "the stated order; not held: they lie in the opposite order at every such load; undecided: all other cases.")
VARIED = ("Variations run for an eighth of the cycles, with intervals twice as wide. A variation is named if its "
          "verdict differs from the default's and is not undecided.")

#: Definitions of terms, for the page of a figure with curves.
ABOUT = """\
Loads are payload flits times destinations per node and cycle: created (offered) or received (delivered). Throughput \
is the number of flits that the whole network delivers per cycle.
A point runs until half the 95 % interval of the latency is within {percent} % of its mean. A saturated point runs \
until it is saturated twice in a row and its throughput has this precision. Less precise points are marked."""
ABOUT_RUNS = """\
A point is one multicast in an otherwise empty network. Latency: cycles from its creation to the last receipt. Nothing \
is random. formula: the scheme's cost from t_s, t_r, and t_hop and c measured with one unicast on these routers. \
bound: the steps that are needed if each step multiplies the number of informed nodes by 5, each step a unicast over \
one hop, as in [Hou]. A node that sends several worms within a step may be faster.
Waits: cycles in which flits waited for channels or for their turn, behind worms of other nodes, behind worms of their \
own sender, or behind no worm. Cycles in which a sender holds a worm back until its previous worm has left are not \
counted, because the worm is not in the network yet."""
RULE_OF_RUNS = ("held: true at every value that all series have; not held: true at none of them; undecided: all other "
                "cases, and equal numbers that should differ.")
RUNS_IN_HASTE = "Quick: every other value, no variations."
IN_HASTE = "Quick: an eighth of the cycles, intervals twice as wide, no variations."


def _notes(figure: Figure, quick: bool) -> list[str]:
    """Return the command, the definitions and the rule of the verdicts for a figure's page."""
    made = f"wormcast figure {figure.name}{' --quick' if quick else ''}, version {wormcast.__version__}."
    if figure.runs:
        return [made, *ABOUT_RUNS.splitlines(), RULE_OF_RUNS, *([RUNS_IN_HASTE] if quick else [])]
    about = [*ABOUT.format(percent=10 if quick else 5).splitlines(), RULE] if figure.series else []
    return [made, *about, *([IN_HASTE] if quick and figure.series else [])]


def _to_dict(outcome: FigureOutcome) -> dict[str, Any]:
    return {"figure": outcome.figure.name, "table": outcome.rows,
            "verdicts": [one.to_dict() for one in outcome.verdicts]}


def _show(outcome: FigureOutcome, files: Sequence[Path]) -> None:
    """Print the verdicts of a figure, and its files."""
    say(f"{outcome.figure.name}: {outcome.figure.title} ({outcome.figure.source})")
    if outcome.verdicts:
        table(["claim", "statement", "verdict", "where", "changed by"], [
            [one.claim, one.statement, one.verdict, one.why or None,
             ", ".join(f"{name}: {other}" for name, other in one.changed_by.items()) or None]
            for one in outcome.verdicts])
    if outcome.rows:
        imprecise = sum(row.get("precise") is False and not row["saturated"] for row in outcome.rows)
        deadlocks = sum(bool(row.get("deadlock")) for row in outcome.rows)
        say(f"{len(outcome.rows)} points" + ("" if outcome.figure.runs else
            f", {imprecise} of them imprecise, {deadlocks} in deadlock"))
    for file in files:
        say(f"  {file}")
