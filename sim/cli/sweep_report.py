"""Running and reporting of a sweep for the command line."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wormcast.algorithms import WormcastError

from ..api.measurement import measure_points
from ..build.limits import PRECISION
from ..common.atomic_write import require_writable, whole_file
from ..common.csv_file import write_csv
from ..common.figure_file import draw_file
from ..common.path_conflicts import require_apart
from ..common.picture_style import PictureOptions, drawn_with
from ..common.text import rounded
from ..experiments.option_grid import Sweep
from ..experiments.sweep import (
    ResultStore,
    curves_figure,
    points,
    read,
    require_cluster,
    require_drawable,
    require_parquet,
    scheme_name,
    write_parquet,
)
from .app import Interrupted, count, emit_result, say, stdout_for_results, table
from .options import picture_paths, say_files

__all__ = ["report", "run_sweep"]


def run_sweep(file: Path, out: Path, plot: Path | None, options: PictureOptions, parquet: bool,
              scheduler: str | None, json: bool) -> None:
    """Run the unfinished points of a sweep, and report all points.

    Raises
    ------
    Interrupted
        The user pressed Ctrl-C. The store has the finished points.
    """
    sweep = read(file)
    with drawn_with(options):
        picture, no_picture = _picture(sweep, plot, out)
    pictures = picture_paths(picture, options)
    if parquet:
        require_parquet()
    if scheduler is not None:
        require_cluster()
    csv = out / f"{sweep.name}.csv"
    table_too = out / f"{sweep.name}.parquet" if parquet else None
    store_file = out / f"{sweep.name}.sqlite"
    with stdout_for_results():
        all_points = points(sweep)
    require_apart({"FILE": file, **{f"{option} {path}": path for point in all_points
                                    for option, path in point.files.items()}},
                  {"the finished points": store_file, "the table": csv, "--parquet": table_too, **pictures})
    for path in filter(None, (csv, table_too, *pictures.values())):
        if out.exists() or path.parent.resolve() != out.resolve():  # files in a new folder need no check
            require_writable(path)
    with stdout_for_results(), ResultStore(store_file) as store:
        try:
            result = measure_points(sweep, all_points, store, scheduler)
        except KeyboardInterrupt as error:
            finished = sum(point.key in store for point in all_points)
            raise Interrupted(f"interrupted: {finished} of {count(len(all_points), 'point')} finished; the same "
                              "command continues") from error
    rows = result.rows()
    with whole_file(csv) as unfinished:
        write_csv(rows, unfinished)
    if table_too:
        with whole_file(table_too) as unfinished:
            write_parquet(rows, unfinished)
    if picture:
        draw_file(picture, lambda: curves_figure(sweep, all_points, result.results), options)
    files = {"csv": csv, "parquet": table_too, "plot": picture}
    if json:
        emit_result(dataclasses.replace(result, files={name: None if path is None else str(path)
                                                       for name, path in files.items()}))
    else:
        report(sweep, rows, result.new, {one.given["scheme"]: scheme_name(one.given["scheme"], one.scheme)
                                         for one in all_points})
        for path in filter(None, (csv, table_too)):
            say(f"table: {path}")
        if picture:
            say_files(picture, options)
        else:
            say(f"picture: {no_picture}")


def _picture(sweep: Sweep, plot: Path | None, out: Path) -> tuple[Path | None, str]:
    """Return the picture's path; or, without ``--plot``, the reason why the sweep cannot be drawn."""
    try:
        require_drawable(sweep, picture := plot or out / f"{sweep.name}.png")
    except WormcastError as error:
        if plot:
            raise
        return None, f"none, {str(error).removeprefix('plot: ')}"
    return picture, ""


#: Meanings of states of a point, for users; ``{precision}`` is the option of this name, in words.
MEANINGS = {
    "saturated": "fewer flits are delivered than created, or worms pile up at their sources",
    "imprecise": "half the interval is more than {precision} of the mean, or a seed has too few messages",
}


def report(sweep: Sweep, rows: Sequence[dict[str, Any]], run: int, schemes: Mapping[str, str]) -> None:
    """Print a table of all points. ``schemes`` has the name of each scheme that the sweep's file gives."""
    names = list(sweep.swept)
    energy = "energy_per_flit_mean" in rows[0]
    table([*names, "latency", "+-", "effective", "delivered", *["pJ"] * energy, "state"], [
        [*(schemes[cells[name]] if name == "scheme" else cells[name] for name in names),
         rounded(cells["latency_mean"], 1), rounded(cells["latency_half_width"], 1),
         rounded(cells["effective"], 4), rounded(cells["delivered_per_node"], 4),
         *([rounded(cells["energy_per_flit_mean"], 3)] if energy else []), _state(cells)]
        for cells in rows
    ], title=sweep.name)
    say("latency: cycles; +-: half its 95 % interval")
    say("effective, delivered: payload flits x destinations per node and cycle, created and received"
        + ("; rate: payload flits created, without replies; a multicast counts once" if "rate" in names else ""))
    if energy:
        say("pJ: energy per received payload flit")
    precision = ("the fraction precision" if "precision" in names else
                 f"{100 * sweep.fixed.get('precision', PRECISION):g} %")
    states = {_state(cells) for cells in rows}
    for state, meaning in MEANINGS.items():
        if state in states:
            say(f"{state}: {meaning.format(precision=precision)}")
    deadlocks = sum(cells["deadlock"] for cells in rows)
    say(f"{count(len(rows), 'point')}, {run} of them run now, {deadlocks} in deadlock")


def _state(cells: dict[str, Any]) -> str:
    """Return the state of a point: steady, imprecise, saturated or deadlock."""
    if cells["deadlock"]:
        return "deadlock"
    return "saturated" if cells["saturated"] else "steady" if cells["precise"] else "imprecise"
