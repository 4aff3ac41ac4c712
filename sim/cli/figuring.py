"""``figure``: reproduce figures of papers, with a verdict on each claim."""

from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError

from .app import Exit, Json
from .commands import command
from .options import PICTURE, Given, picture_options, takes

__all__: list[str] = []


@command("figure")
@takes("look", PICTURE)
def figure_(
    name: Annotated[str | None, typer.Argument(
        metavar="[NAME]", help="Name of a figure; for all figures of a paper its number (001), or a part of an "
        "author's name or of the title (boppana); several of these, joined by commas; all, for all figures; or your "
        "own FILE.toml. Default: list the names.", show_default=False)] = None,
    claim: Annotated[str | None, typer.Option(
        metavar="CLAIM", help="Show only the verdicts on a claim, for example 001-26a. Without NAME, all figures that "
        "decide it are measured.", show_default=False)] = None,
    quick: Annotated[bool, typer.Option(
        "--quick", help="Pilot run: four repetitions, each for an eighth of the cycles or, if more, the cycles of 200 "
        "messages; one look, no variations.")
    ] = False,
    out: Annotated[Path, typer.Option(
        help="Output folder for points, tables, pictures and pages. Default: out/figures.",
        show_default=False)] = Path("out/figures"),
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Also draw the curves, or else the scatter plot, of one figure into this file. "
        "Formats: .svg, .pdf, .png, .eps.",
        show_default=False)] = None,
    *,
    look: Given,
    scheduler: Annotated[str | None, typer.Option(
        metavar="ADDRESS", help="Run the points on a dask.distributed cluster, for example tcp://host:8786. Default: "
        "on this machine.", show_default=False)] = None,
    json: Json = False,
) -> int:
    """Writes OUT/NAME.html (page), OUT/NAME.csv (all points) and OUT/NAME.svg (curves).

    OUT/figures.sqlite stores each finished point. Stored points are not run again.
    """
    from .figure_report import list_figures, measure_figures

    options = picture_options(look, plot)
    if name is None and claim is None:
        if plot is not None:
            raise WormcastError(f"plot: {plot} is not valid without a figure. Needed: the NAME of a figure.")
        list_figures(out, json)
    else:
        measure_figures(name, claim, quick, out, plot, options, scheduler, json)
    return Exit.DONE
