"""``sweep``: load experiments for all combinations of some options' values."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..sweep import Point, Store, Sweep, missing, points, read, row, run_missing, write
from .app import Exit, Json, app, count, emit, say, stdout_for_results, table
from .files import whole_file


@app.command("sweep")
def sweep_(
    file: Annotated[Path, typer.Argument(
        metavar="FILE.toml", help="Options of load, as rate = 0.02; a list of values where one is swept.")],
    out: Annotated[Path, typer.Option(help="Folder for the finished points and the table of results.")] = Path("out"),
    json: Json = False,
) -> int:
    """Run load for all combinations of the values in a file; points that are finished already are not run again.

    OUT/NAME.sqlite keeps each point as it is finished, OUT/NAME.csv has the results of all.

    A point that ends in a deadlock is a result like any other.
    """
    sweep = read(file)
    with stdout_for_results():
        all_points = points(sweep)
    with stdout_for_results(), Store(out / f"{sweep.name}.sqlite") as store:
        to_run = missing(all_points, store)
        for _ in _shown(run_missing(to_run, store), len(to_run)):
            pass
        results = [store[point.key] for point in all_points]
    rows = [row(sweep, point, result) for point, result in zip(all_points, results, strict=True)]
    csv = out / f"{sweep.name}.csv"
    with whole_file(csv) as unfinished:
        write(rows, unfinished)
    if json:
        seed = None if "seed" in sweep.swept else all_points[0].resolved["seed"]
        emit(_to_dict(all_points, results, csv), {**sweep.fixed, **sweep.swept}, seed)
    else:
        report(sweep, rows, len(to_run))
        say(f"table: {csv}")
    return Exit.DONE


def _shown(done: Iterable[Point], total: int) -> Iterator[Point]:
    """Show on a terminal how far it is; nothing where stderr is none."""
    console = Console(stderr=True)
    # points differ in what they take: all of them tell how long the rest will
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
                  console=console, disable=not console.is_terminal or not total, transient=True,
                  redirect_stdout=False, speed_estimate_period=1e9) as progress:
        yield from progress.track(done, total=total, description="points")


def _to_dict(all_points: Sequence[Point], results: Sequence[dict[str, Any]], csv: Path) -> dict[str, Any]:
    return {
        "points": [{"options": point.resolved, "given": point.given, "result": result}
                   for point, result in zip(all_points, results, strict=True)],
        "deadlocks": sum(result["deadlock"] is not None for result in results),
        "csv": str(csv),
    }


def report(sweep: Sweep, rows: Sequence[dict[str, Any]], run: int) -> None:
    """Print the results of all points in short."""
    names = list(sweep.swept)
    table([*names, "latency", "+-", "delivered", "saturated"], [
        [*(cells[name] for name in names), _rounded(cells["latency_mean"], 1), _rounded(cells["latency_half_width"], 1),
         _rounded(cells["delivered"], 3), "deadlock" if cells["deadlock"] else "yes" if cells["saturated"] else "no"]
        for cells in rows
    ], title=sweep.name)
    deadlocks = sum(cells["deadlock"] for cells in rows)
    say(f"{count(len(rows), 'point')}, {run} of them run now, {deadlocks} in deadlock")


def _rounded(value: float | None, places: int) -> float | None:
    return None if value is None else round(value, places)
