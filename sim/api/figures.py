"""Figures of papers: their measurement, tables, pictures and verdicts."""

import contextlib
import dataclasses
import time
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError
from wormcast.algorithms.announcements import announce
from wormcast.algorithms.typecheck import checked

from ..common.atomic_write import make_folder, require_writable
from ..common.progress import progress as progress_bar
from ..common.progress import watched
from ..common.text import count
from .option_types import PathLike
from .results import CommandResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from ..experiments.figure import FigureOutcome, Verdict

__all__ = ["FigureResult", "figure"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FigureResult(CommandResult):
    """Result of `figure`: the measured points of a figure, or of several, and verdicts on the papers' statements.

    Parameters
    ----------
    name : str
        Name of the figure, or the text that stands for several figures or for a claim.
    outcomes : tuple of FigureOutcome
        Outcome of each figure.
    several : bool
        The name stands for several figures.
    seconds : float
        Processor time in seconds.
    written : tuple of tuple of Path
        Written files of each figure. With several figures, the last entry has the files about all figures.
    """

    name: str
    outcomes: "tuple[FigureOutcome, ...]"
    several: bool
    seconds: float
    written: tuple[tuple[Path, ...], ...] = ()

    @property
    def verdicts(self) -> "list[Verdict]":
        """Verdicts on all statements of the figures."""
        return [one for outcome in self.outcomes for one in outcome.verdicts]

    def __len__(self) -> int:
        """Return the number of figures."""
        return len(self.outcomes)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measured point: figure, series, variation, options, measurements."""
        return [row for outcome in self.outcomes for row in outcome.rows]

    def _figure(self) -> "Picture":
        """Return the curves, or the scatter plot, of a figure with the paper's axes.

        Raises
        ------
        WormcastError
            The result is of several figures, the figure has neither curves nor a scatter plot, or a tool that the
            scatter plot needs is not installed.
        """
        from ..experiments.figure import scatter_figure

        if len(self.outcomes) > 1:
            raise WormcastError(f"plot: {self.name} stands for {len(self.outcomes)} figures. Allowed: one figure, for "
                                f"example {self.outcomes[0].figure.name}.")
        [outcome] = self.outcomes
        if not outcome.figure.is_drawable:
            raise WormcastError(f"plot: {outcome.figure.name} has neither curves nor a scatter plot. Allowed: a "
                                "figure that has one of them.")
        if outcome.curves:
            return outcome.picture_of_curves()
        if not outcome.scatter:
            raise WormcastError(f"plot: {outcome.figure.name} needs a tool that is not installed. Needed: the tools "
                                "that wormcast doctor names.")
        return scatter_figure(outcome.figure, outcome.scatter)

    def _data(self) -> dict[str, Any]:
        every = [{"figure": one.figure.name, "table": one.rows, "verdicts": [each.to_dict() for each in one.verdicts]}
                 for one in self.outcomes]
        found: dict[str, Any] = {"figure": self.name, "figures": every} if self.several else every[0]
        return found | {"cycles": sum(row["cycles_simulated"] or 0 for row in self.rows()), "seconds": self.seconds,
                        "files": [str(file) for files in self.written for file in files]}

    def _shown(self) -> list[dict[str, Any]]:
        """Return the verdicts; if the figures have no statements, the measured points."""
        shown = [{name: one.to_dict()[name] for name in ("claim", "statement", "verdict", "why")}
                 for one in self.verdicts]
        return shown or self.rows()

    def _lines(self) -> list[str]:
        decided = Counter(one.verdict for one in self.verdicts)
        verdicts = ", ".join(f"{number} {verdict}" for verdict, number in decided.items())
        head = f"{self.name}: {count(len(self.outcomes), 'figure')}"
        if not self.several:
            [one] = self.outcomes
            head = f"{one.figure.name}: {one.figure.title} ({one.figure.source})"
        points = self.outcomes[0].points if len(self.outcomes) == 1 else count(len(self.rows()), "point")
        return list(filter(None, [head, points, verdicts and f"statements: {verdicts}"]))


@checked
def figure(
    name: str | PathLike | None = None,
    *,
    claim: str | None = None,
    quick: bool = False,
    out: PathLike | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> FigureResult:
    """Measure a figure of a paper, and decide the paper's statements on it.

    Parameters
    ----------
    name : str or path, optional
        Name of a figure (see `names`), file ``NAME.toml`` of a figure, a paper's number or a part of its authors or
        title for all figures of the paper, several of these joined by commas, or ``"all"``. Default, with ``claim``:
        all figures that decide the claim.
    claim : str, optional
        Number of a claim, for example ``"001-26a"``: the result has only the verdicts on this claim.
    quick : bool
        A pilot run: four repetitions, each for an eighth of the cycles or, if more, the cycles of 200 messages. The
        repetitions are judged once, without variations.
    out : path, optional
        Folder of the tables, pictures and pages, and of finished points, which are not run again. Default: nothing is
        written, and points are kept in memory.
    scheduler : str, optional
        Address of a dask.distributed cluster. Default: this machine.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    """
    from ..experiments.figure import (
        AnyPoint,
        Costs,
        RandomPoint,
        RunPoint,
        Study,
        catalogue,
        choose_figures,
        measure_all,
    )
    from ..experiments.sweep import MemoryStore, Point, ResultStore, require_cluster, run_missing, run_on_cluster
    from .answers import Answers
    from .command_texts import require_valid_commands

    folder = None if out is None else Path(out)
    chosen = choose_figures(None if name is None else str(name), claim)
    figures, text = chosen.figures, chosen.text
    for one in figures:
        require_valid_commands(one)
    if scheduler is not None:
        require_cluster()
    started = time.process_time()
    with (watched(progress), contextlib.nullcontext(MemoryStore()) if folder is None
          else ResultStore(folder / "figures.sqlite") as store):
        if folder is not None:
            require_writable(folder / f"{figures[0].name}.html") if folder.exists() else make_folder(folder)
        costs = Costs(store)

        def run(points: Sequence[AnyPoint]) -> Generator[AnyPoint, None, None]:
            loads = [one for one in points if isinstance(one, Point)]
            yield from run_missing([one for one in points if isinstance(one, RunPoint | RandomPoint)], store)
            if scheduler and loads:
                yield from run_on_cluster(loads, store, scheduler)
                return
            began = time.monotonic()
            yield from run_missing(loads, store)
            costs.ran({point.key: point for point in loads}, time.monotonic() - began)

        answers = Answers(store, progress=progress)
        studies = [Study(one, quick=quick) for one in figures]
        with (announce(f"measuring {text}", costs.expected(figures, quick)),
              progress_bar(None, "points", shown=progress) as show):
            for one in figures:
                answers.ask(one.commands)  # a refused command is reported now, not after hours of simulation

            with contextlib.closing(measure_all(studies, store, run, answers)) as done:
                for number, _ in enumerate(done, 1):
                    show(number)
            outcomes = tuple(study.outcome(answers) for study in studies)
        for study in studies:
            if study.figure.name in catalogue():
                costs.measured(study.figure, quick, study.every, answers.seconds(study.figure.commands))
    asked = {"figure": text, "quick": quick} | ({} if claim is None else {"claim": claim})
    if claim is not None:
        outcomes = tuple(one.of_claim(claim) for one in outcomes)
    result = FigureResult(configuration=asked, name=text, outcomes=outcomes,
                          several=chosen.several, seconds=time.process_time() - started)
    if folder is None:
        return result
    from .figure_files import write_figure, write_report

    make_folder(folder)  # `ResultStore` removes a new folder that is empty
    written = [write_figure(one, folder, quick, progress=progress) for one in outcomes]
    if chosen.several and claim is None:
        written.append(write_report(outcomes, folder, quick))
    return dataclasses.replace(result, written=tuple(written))
