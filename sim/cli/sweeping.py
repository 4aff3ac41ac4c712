"""``sweep``: load experiments for all combinations of some options' values."""

from pathlib import Path
from typing import Annotated

import typer

from .app import Exit, Json
from .commands import command

__all__: list[str] = []


@command("sweep")
def sweep_(
    file: Annotated[Path, typer.Argument(
        metavar="FILE.toml", help="Options of load, as rate = 0.02; a list of values where one is swept.")],
    out: Annotated[Path, typer.Option(
        help="Folder for the finished points, the table of results and the picture.")] = Path("out"),
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw the picture here, .svg or .png; default: OUT/NAME.png, where there is something to "
        "draw.", show_default=False)] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write the table as OUT/NAME.parquet too.")] = False,
    scheduler: Annotated[str | None, typer.Option(
        metavar="ADDRESS", help="Run the points on the workers of a dask.distributed cluster, as tcp://host:8786; "
        "default: here.", show_default=False)] = None,
    json: Json = False,
) -> int:
    """OUT/NAME.sqlite keeps each point as it is finished, OUT/NAME.csv has the results of all, OUT/NAME.png shows
    latency and throughput.

    A point that ends in a deadlock is a result like any other.
    """
    from .sweep_report import run_sweep

    run_sweep(file, out, plot, parquet, scheduler, json)
    return Exit.DONE
