"""Report of measured figures, and the list of all figures."""

import contextlib
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from wormcast.algorithms import WormcastError

from ..api.figures import figure as measure_figure
from ..common.atomic_write import require_writable
from ..common.figure_file import draw_file, files_of_picture, require_picture
from ..common.picture_style import PictureOptions
from ..experiments.figure import (
    PAPERS,
    Costs,
    Figure,
    FigureOutcome,
    Minutes,
    axes_of,
    catalogue,
    choose_figures,
    curves_of,
    each_once,
    find_figure,
    paper_of,
)
from ..experiments.sweep import MemoryStore, ResultStore
from .app import Interrupted, emit, emit_result, say, stdout_for_results, table

__all__ = ["list_figures", "measure_figures"]


def measure_figures(name: str | None, claim: str | None, quick: bool, out: Path, plot: Path | None,
                    options: PictureOptions, scheduler: str | None, json: bool) -> None:
    """Measure a figure, or all figures of a paper, of all papers or of a claim, and report them.

    Without a name, a claim is needed.
    """
    chosen = choose_figures(name, claim)
    figures = chosen.figures
    if plot:
        _require_plot(plot, options, figures)
    if len(figures) > 1:
        with _store(out) as store:
            expected = Costs(store).expected(figures, quick)
        about = f", in about {expected / 3600:.1f} h" if expected else ""
        print(f"wormcast: {chosen.text}: measuring {len(figures)} figures{about}: "
              f"{', '.join(one.name for one in figures)}", file=sys.stderr)
    try:
        with stdout_for_results():
            result = measure_figure(name, claim=claim, quick=quick, out=out, scheduler=scheduler)
    except KeyboardInterrupt as error:
        raise Interrupted(f"interrupted: {out} has the finished points; the same command continues") from error
    if plot:
        first, *others = result.written
        files = draw_file(plot, result.figure, options).values()
        result = dataclasses.replace(result, written=((*first, *files), *others))
    if json:
        emit_result(result)
        return
    for one, made in zip(result.outcomes, result.written, strict=False):
        _show(one, made)
    if result.several and claim is None:
        say(f"report: {result.written[-1][0]}")
        if quick:
            with _store(out) as store:
                say(f"full run: about {Costs(store).planned(result.outcomes) / 3600:.1f} h for the first look")


def list_figures(out: Path, json: bool) -> None:
    """Print the figures of each paper, with their axes, the number of claims that each decides, and its run time."""
    figures = [find_figure(one) for one in catalogue()]
    with _store(out) as store:
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
        table(["name", "title and axes", "claims", "quick (min)", "full (min)"], [
            [one.name, "\n".join(filter(None, [one.title, axes_of(one)])), len(_claims(one)), _minutes(quick),
             _minutes(full)]
            for one, full, quick in zip(figures, known[False], known[True], strict=True)
            if paper_of(one.name) == paper.number])
    say("claims: number of the paper's claims that the figure decides; --json names them")
    say(f"quick, full: run time in minutes; ~: an estimate, from the figures measured in {out} if there are any; "
        "-: single runs, which are not estimated")


def _store(out: Path) -> contextlib.AbstractContextManager[ResultStore | MemoryStore]:
    """Open the results of earlier runs with this output folder; an empty store if there are no such results."""
    file = out / "figures.sqlite"
    return ResultStore(file) if file.exists() else contextlib.nullcontext(MemoryStore())


def _claims(figure: Figure) -> list[str]:
    return list(dict.fromkeys(statement.claim for statement in figure.statements))


def _minutes(known: Minutes | None) -> str | None:
    return None if known is None else f"{'' if known.measured else '~'}{known.minutes:.1f}"


def _require_plot(plot: Path, options: PictureOptions, figures: Sequence[Figure]) -> None:
    """Refuse --plot for several figures, for a figure without a picture, and for files that cannot be written."""
    require_picture(plot)
    if len(figures) > 1 or not figures[0].is_drawable:
        what = (f"{len(figures)} figures" if len(figures) > 1 else
                f"{figures[0].name}, which has neither curves nor a scatter plot")
        raise WormcastError(f"plot: {plot} is not valid for {what}. Allowed: for one figure with curves or a scatter "
                            "plot.")
    for file in files_of_picture(plot, options).values():
        require_writable(file)


def _show(outcome: FigureOutcome, files: Sequence[Path]) -> None:
    """Print the verdicts of a figure, and its files."""
    say(f"{outcome.figure.name}: {outcome.figure.title} ({outcome.figure.source})")
    if outcome.verdicts:
        table(["claim", "statement", "verdict", "why", "changed by"], [
            [one.claim, one.statement, one.verdict, "; ".join(filter(None, [one.why, one.remarks])) or None,
             ", ".join(f"{name}: {other}" for name, other in one.changed_by.items()) or None]
            for one in outcome.verdicts])
        say("why: reason of the verdict; changed by: variations with another verdict that is decided")
    if outcome.points:
        say(outcome.points)
    for file in files:
        say(f"  {file}")
