"""``figure``: the figures of papers, with verdicts on what the papers say."""

from pathlib import Path
from typing import Annotated

import typer

from .app import Exit, Json
from .commands import command

__all__: list[str] = []


@command("figure")
def figure_(
    name: Annotated[str | None, typer.Argument(
        metavar="[NAME]", help="One of those that are listed without a name; a file NAME.toml; or, for a report, the "
        "number of a paper, as 001, or all.", show_default=False)] = None,
    quick: Annotated[bool, typer.Option(
        "--quick", help="An eighth of the cycles, an interval twice as wide, and no variations.")] = False,
    out: Annotated[Path, typer.Option(
        help="Folder for the finished points, tables, pictures and pages.")] = Path("out/figures"),
    scheduler: Annotated[str | None, typer.Option(
        metavar="ADDRESS", help="Run the points on the workers of a dask.distributed cluster, as tcp://host:8786; "
        "default: here.", show_default=False)] = None,
    json: Json = False,
) -> int:
    """OUT/NAME.html shows it, OUT/NAME.csv has all points, OUT/NAME.svg the curves. OUT/figures.sqlite keeps each point
    as it is finished; what is there is not run again.
    """
    from .figure_report import list_figures, measure_figures

    if name is None:
        list_figures(out, json)
    else:
        measure_figures(name, quick, out, scheduler, json)
    return Exit.DONE
