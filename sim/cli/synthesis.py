"""``synth``: what a component costs on an FPGA."""

import dataclasses
import enum
import sys
from typing import Annotated

import typer

from wormcast.algorithms import topology as build_topology

from ..network import Network
from ..synthesis import TARGETS, synthesise
from .app import Json, app, emit, find_scheme, say, table
from .hardware import describe_hardware, hardware, resolved_hardware, takes_hardware
from .options import Given

__all__: list[str] = []

Component = enum.StrEnum("Component", ["router", "interface"])


@app.command("synth")
@takes_hardware("configuration", "header", "t_hs", "t_hr", "injection_delay")
def synth(
    what: Annotated[Component, typer.Argument(metavar="WHAT", help="router or interface.")],
    target: Annotated[str, typer.Option(metavar="|".join(TARGETS), help="FPGA family.")] = "ecp5",
    topology: Annotated[str, typer.Option(help="Network that the router is built for.")] = "mesh:8x8",
    scheme: Annotated[str, typer.Option(help="Scheme that the router is built for.")] = "dual-path",
    relations: Annotated[str | None, typer.Option(
        help="Routing relations that the router decodes, joined by commas; default: the scheme's.")] = None,
    seeds: Annotated[int, typer.Option(help="Placements; 0 for the area alone.")] = 5,
    area_delay: Annotated[int | None, typer.Option(
        help="Clock period in ps up to which Yosys trades area for clock; default: all the clock there is.")] = None,
    *,
    given: Given,
    json: Json = False,
) -> None:
    """Synthesise a router or a network interface, and place and route it: look-up tables, flip-flops, clock."""
    if seeds < 0:
        raise typer.BadParameter(f"{seeds} is given, it must be at least 0", param_hint="--seeds")
    if target not in TARGETS:
        raise typer.BadParameter(f"{target!r} is given, allowed are {', '.join(TARGETS)}", param_hint="--target")
    network = build_topology(topology)
    found = find_scheme(scheme, network)
    configuration = hardware(network, found, given)
    decoded = tuple(relations.split(",")) if relations else ()
    component = (configuration.router(network, found, decoded) if what is Component.router
                 else Network(network, found, configuration).kinds["interface"].build())
    result = synthesise(component, target=target, storage=configuration.storage, seeds=range(1, seeds + 1),
                        area_delay=area_delay, progress=lambda step: print(step, file=sys.stderr))
    known = decoded or (found.relation.name,)
    if json:
        resolved = {"what": what.value, "topology": network.name, "scheme": scheme, "relations": known,
                    "seeds": seeds, "area_delay": area_delay, **resolved_hardware(configuration, network, found)}
        emit(dataclasses.asdict(result) | {"median_mhz": result.median_mhz}, resolved)
        return
    made_for = f"{scheme} on {network.name}"
    if what is Component.router:
        made_for += f", relation{'s' if len(known) > 1 else ''} {' and '.join(known)}"
    say(f"{what.value} for {made_for}; {target}{'' if area_delay is None else f', area-delay {area_delay} ps'}")
    say(describe_hardware(configuration))
    table(["", what.value], [
        ["LUT4", result.lut4], ["flip-flops", result.ff], ["DPR16X4", result.dpr16x4],
        ["TRELLIS_COMB, packed with harness", result.trellis_comb],
        ["MHz, median of the seeds", None if result.median_mhz is None else round(result.median_mhz, 1)],
        ["MHz, by seed", " ".join(f"{mhz:.1f}" for mhz in result.mhz) or None],
        ["critical path", " to ".join(result.critical) if result.critical else None],
    ])
