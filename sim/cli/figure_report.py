"""Report of measured figures, and the list of all figures."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from ..api.figures import figure as measure_figure
from ..experiments.figure import (
    PAPERS,
    Costs,
    Figure,
    FigureOutcome,
    Minutes,
    axes_of,
    catalogue,
    curves_of,
    each_once,
    find_figure,
    paper_of,
)
from ..experiments.sweep import MemoryStore, ResultStore
from .app import emit, emit_result, say, stdout_for_results, table

__all__ = ["list_figures", "measure_figures"]


def measure_figures(name: str, quick: bool, out: Path, scheduler: str | None, json: bool) -> None:
    """Measure a figure, or all figures of a paper or of all papers, and report them."""
    with stdout_for_results():
        result = measure_figure(name, quick=quick, out=out, scheduler=scheduler)
    if json:
        emit_result(result)
        return
    for one, made in zip(result.outcomes, result.written, strict=False):
        _show(one, made)
    if result.several:
        say(f"report: {result.written[-1][0]}")


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


def _show(outcome: FigureOutcome, files: Sequence[Path]) -> None:
    """Print the verdicts of a figure, and its files."""
    say(f"{outcome.figure.name}: {outcome.figure.title} ({outcome.figure.source})")
    if outcome.verdicts:
        table(["claim", "statement", "verdict", "where", "changed by"], [
            [one.claim, one.statement, one.verdict, one.why or None,
             ", ".join(f"{name}: {other}" for name, other in one.changed_by.items()) or None]
            for one in outcome.verdicts])
    if outcome.points:
        say(outcome.points)
    for file in files:
        say(f"  {file}")
