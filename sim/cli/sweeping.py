"""``sweep``: load experiments for all combinations of option values."""

from pathlib import Path
from typing import Annotated

import typer

from .app import Exit, Json
from .commands import command
from .options import PICTURE, Given, picture_options, takes

__all__: list[str] = []


@command("sweep")
@takes("look", PICTURE)
def sweep_(
    file: Annotated[Path, typer.Argument(
        metavar="FILE.toml", help="Options of load, for example rate = 0.02. A list of values sweeps an option.")],
    out: Annotated[Path, typer.Option(
        help="Output folder for points, table and picture. Default: out.", show_default=False)] = Path("out"),
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw latency and throughput. Formats: .svg, .pdf, .png, .eps. Default: OUT/NAME.png, "
        "if the sweep can be drawn.", show_default=False)] = None,
    *,
    look: Given,
    parquet: Annotated[bool, typer.Option("--parquet", help="Also write the table as OUT/NAME.parquet.")] = False,
    scheduler: Annotated[str | None, typer.Option(
        metavar="ADDRESS", help="Run the points on a dask.distributed cluster, for example tcp://host:8786. Default: "
        "on this machine.", show_default=False)] = None,
    json: Json = False,
) -> int:
    """Writes OUT/NAME.csv (all results) and, if the sweep can be drawn, OUT/NAME.png (latency and throughput).
    OUT/NAME.sqlite stores each finished point.

    A deadlock is a result of its point and does not change the exit code.
    """
    from .sweep_report import run_sweep

    run_sweep(file, out, plot, picture_options(look, plot or out), parquet, scheduler, json)
    return Exit.DONE
