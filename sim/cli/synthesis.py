"""``synth``: what a component costs on an FPGA."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ..export.synthesis.targets import SEEDS, TARGETS
from .app import Json, emit, stdout_for_results
from .commands import command
from .hardware import takes_component
from .options import Given

__all__: list[str] = []


@command("synth")
@takes_component
def synth(
    what: Annotated[str, typer.Argument(
        metavar="WHAT", help="router, interface, or a part of them; see: wormcast list components.")],
    target: Annotated[str | None, typer.Option(
        metavar="|".join(TARGETS), help="FPGA family, ecp5 by default.", show_default=False)] = None,
    seeds: Annotated[int | None, typer.Option(
        help=f"Placements, of which the median's clock counts; 0: the area alone. {len(SEEDS)} by default, 0 in a "
        "sweep.", show_default=False)] = None,
    area_delay: Annotated[int | None, typer.Option(
        metavar="PS", help="Clock period up to which Yosys trades area for clock; default: all the clock there is.",
        show_default=False)] = None,
    by_block: Annotated[bool, typer.Option("--breakdown", help="Tell too which block costs what.")] = False,
    sweep: Annotated[list[str] | None, typer.Option(
        metavar="OPTION=VALUE,VALUE", help="Go through these values of an option, target, topology, scheme, area-delay "
        "and hardware among them; all combinations where it is repeated. Semicolons part values that have commas.",
        show_default=False)] = None,
    output: Annotated[Path | None, typer.Option(
        "--output", "-o", metavar="FILE.csv", help="Write the sweep's results here.", show_default=False)] = None,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw the sweep here, .svg or .png: cells over an option, or look-up tables against the "
        "clock where area-delay is swept.", show_default=False)] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables as Markdown.")] = False,
    *,
    built_for: Given,
    given: Given,
    json: Json = False,
) -> None:
    from ..export.synthesis.point import build
    from ..export.synthesis.sweep import read_sweep
    from .synthesis_report import report_point, synthesise_sweep, tell

    if seeds is not None and seeds < 0:
        raise typer.BadParameter(f"{seeds} is given, it must be at least 0", param_hint="--seeds")
    port, kind = built_for.pop("port", None), built_for.pop("kind", None)
    own = {"target": target, "area_delay": area_delay}
    fixed = {name: value for name, value in own.items() if value is not None} | built_for | given
    if sweep:
        if by_block:
            raise typer.BadParameter("a sweep is given, blocks are told of one component alone",
                                     param_hint="--breakdown")
        synthesise_sweep(what, port, kind, read_sweep(sweep, fixed), seeds or 0, output, plot, json, markdown)
        return
    for hint, file in (("--output", output), ("--plot", plot)):
        if file:
            raise typer.BadParameter(f"{file} is given, it needs a --sweep", param_hint=hint)
    with stdout_for_results():
        point = build(what, port, fixed, kind=kind)
    placements = SEEDS if seeds is None else range(1, seeds + 1)
    result = point.synthesise(placements, tell, os.cpu_count() or 1)
    blocks = point.breakdown(tell) if by_block else None
    if json:
        told = result.to_dict() if blocks is None else result.to_dict() | {"breakdown": blocks.to_dict()}
        emit(told, {"what": what, "port": port, "kind": kind, **point.resolved, "seeds": len(placements)})
        return
    report_point(point, result, blocks, markdown)
