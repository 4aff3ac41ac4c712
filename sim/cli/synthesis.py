"""``synth``: area and clock of a component on an FPGA."""

from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError

from ..api.arguments import require_at_least
from ..api.hardware_cost import synth as synthesise
from ..export.synthesis.targets import SEEDS, TARGETS
from .app import Json, emit_result, stdout_for_results
from .commands import command
from .hardware import RESET, ClockEnable, takes_component, takes_host_port
from .options import PICTURE, Given, picture_options, takes

__all__: list[str] = []


@command("synth")
@takes("look", PICTURE)
@takes_component
@takes_host_port
def synth_(
    what: Annotated[str, typer.Argument(
        metavar="WHAT", help="Component: router, interface, or a part of them. All names: wormcast list components.")],
    target: Annotated[str | None, typer.Option(
        metavar="|".join(TARGETS), help="FPGA family. Default: ecp5.", show_default=False)] = None,
    seeds: Annotated[int | None, typer.Option(
        help="Number of placements; the clock is their median. 0: synthesis only, without a clock. "
        f"Default: {len(SEEDS)}; 0 with --sweep.", show_default=False)] = None,
    runs: Annotated[int, typer.Option(
        help="Number of syntheses for the area, each with new names of cells and wires and with a clock period from "
        "10 % below --area-delay to 10 % above it. The area is their median, with its range.")] = 1,
    area_delay: Annotated[int | None, typer.Option(
        metavar="PS", help="Clock period that Yosys aims at. Yosys spends no area on a shorter period. Default: the "
        "shortest period. Unit: ps.", show_default=False)] = None,
    reset: Annotated[str | None, RESET] = None,
    clock_enable: ClockEnable = False,
    by_block: Annotated[bool, typer.Option("--breakdown", help="Also print the area of each block.")] = False,
    sweep: Annotated[list[str] | None, typer.Option(
        metavar="OPTION=VALUE,VALUE", help="Synthesise for each of these values of target, topology, scheme, "
        "area-delay, reset, clock-enable or a hardware option. Repeat --sweep for all combinations of several "
        "options. Separate values that contain commas by semicolons.", show_default=False)] = None,
    output: Annotated[Path | None, typer.Option(
        "--output", "-o", metavar="FILE.csv", help="Write the results of --sweep.", show_default=False)] = None,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw the results of --sweep: cells over an option, or look-up tables over the clock if "
        "area-delay is swept. Formats: .svg, .pdf, .png, .eps.", show_default=False)] = None,
    *,
    look: Given,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables as Markdown.")] = False,
    built_for: Given,
    given: Given,
    host_port: Given,
    json: Json = False,
) -> None:
    from .synthesis_report import report_point, show_step, synthesise_sweep

    require_at_least(0, seeds=seeds)
    require_at_least(1, runs=runs)
    options = picture_options(look, plot)
    if sweep:
        if by_block:
            raise WormcastError("--breakdown is not valid with --sweep. Allowed: one of the two options.")
        port, kind = built_for.pop("port", None), built_for.pop("kind", None)
        own = {"target": target, "area_delay": area_delay, "reset": reset, "clock_enable": clock_enable or None}
        fixed = {name: value for name, value in own.items() if value is not None} | built_for | given | host_port
        synthesise_sweep(what, port, kind, sweep, fixed, seeds or 0, runs, output, plot, options, json, markdown)
        return
    for hint, file in (("output", output), ("plot", plot)):
        if file:
            raise WormcastError(f"{hint}: {file} is not valid without --sweep. Needed: --sweep OPTION=VALUE,VALUE.")
    with stdout_for_results():
        result = synthesise(what, target=target, seeds=seeds, runs=runs, area_delay=area_delay, reset=reset,
                            clock_enable=clock_enable, breakdown=by_block, on_step=show_step, **built_for, **given,
                            **host_port)
    if json:
        emit_result(result)
        return
    report_point(result.point, result.synthesis, result.blocks, markdown)
