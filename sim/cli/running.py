"""``run``: simulate messages on the router hardware."""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..api.simulation import run
from ..build.limits import ENGINES, MOST_RUN_CYCLES
from ..common.figure_file import draw_file, require_page, require_picture
from ..common.path_conflicts import require_apart
from .app import Json, SchemeName, TopologyName, emit_result, say, stdout_for_results
from .commands import command
from .hardware import RelationOption, takes_hardware
from .named import user_files
from .options import PICTURE, EnergyOption, EventsOption, Given, picture_options, picture_paths, say_files, takes
from .waveform_report import record_deadlock, waveform_files

__all__: list[str] = []


@command("run")
@takes("look", PICTURE)
@takes_hardware
def run_(
    topology: TopologyName,
    scheme: SchemeName,
    source: Annotated[str | None, typer.Option(
        metavar="NODE", help="Source node: id (11), coordinates (1.3) or label (@12).")] = None,
    destinations: Annotated[str | None, typer.Option(
        metavar="NODE,NODE,...|all", help="Destination nodes; all: all other nodes.")] = None,
    length: Annotated[int | None, typer.Option(
        help="Payload of the message, without header flits. Unit: flits.")] = None,
    messages: Annotated[Path | None, typer.Option(
        metavar="FILE.jsonl", help="Messages in place of --source, --destinations and --length, one per line: "
        '{"cycle": C, "source": NODE, "destinations": [NODE, ...], "length": FLITS}. With "after": K a message '
        "waits until its source has received message K; the first message is 0. May be compressed: .jsonl.gz.")] = None,
    engine: Annotated[str, typer.Option(
        metavar="|".join(ENGINES),
        help="bulk: compiled, fast. amaranth: reference simulator, slow. Default: bulk.",
        show_default=False)] = "bulk",
    vcd: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write a waveform of all signals, with layouts for GTKWave and Surfer beside it.")] = None,
    window: Annotated[str | None, typer.Option(
        metavar="A:B", help="Record only cycles A to B - 1 into --vcd. Default: the whole run.")] = None,
    instances: Annotated[str | None, typer.Option(
        metavar="NAME,NAME,...", help="Record only these instances into --vcd: a node (1.2: its router and interface) "
        "or an instance (router_1_2). Default: all.")] = None,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw a Gantt chart: what each host and interface sends and receives over time. Formats: "
        ".svg, .pdf, .png, .eps.")] = None,
    *,
    look: Given,
    replay: Annotated[Path | None, typer.Option(
        metavar="FILE.html", help="Write a page for a browser that replays the run, or its deadlock, cycle by "
        "cycle.")] = None,
    contention: Annotated[bool, typer.Option(
        "--contention", help="Print the cycles in which flits of each message waited for a channel or for their turn "
        "on a link, by cause: worms of other senders of the message, worms of the same sender, other messages, "
        "arbitration.")] = False,
    events: EventsOption = False,
    energy: EnergyOption = None,
    relation: RelationOption = None,
    given: Given,
    timeout: Annotated[int, typer.Option(help="Cycles after which an unfinished run is stopped. Default: 1000000.",
                                          max=MOST_RUN_CYCLES, show_default=False)] = 1_000_000,
    seed: Annotated[int, typer.Option(
        help="Number that is copied to the output as the seed. Runs are deterministic. Default: 0.", min=0,
        show_default=False)] = 0,
    json: Json = False,
) -> int:
    """Exit code 3: deadlock; the cycle of waiting worms is printed. Exit code 5: unfinished after --timeout cycles.
    Exit code 1: a router or interface received invalid flits.

    If a run without --vcd ends in a deadlock, the waveform of the deadlocked routers and interfaces is written to
    wormcast-deadlock.vcd.

    Limits: 4096 nodes. For path worms, relations other than e-cube, hamiltonian, hamiltonian-row-first, adaptive and
    e-cube-adaptive use routing tables with addresses of up to 8 bits, for example 16x16 or 4x8x8 nodes.
    """
    options = picture_options(look, plot)
    require_apart({**user_files(scheme, relation, topology), "--messages": messages, "--energy": energy},
                  {**waveform_files(vcd, layouts=engine == "bulk"), **picture_paths(plot, options), "--replay": replay})
    if plot:
        require_picture(plot)
    if replay:
        require_page(replay)
    with stdout_for_results():
        result = run(topology, scheme, source, destinations, length, messages=messages, relation=relation,
                     engine=engine, vcd=vcd, window=window, instances=instances, contention=contention,
                     events=events, energy=energy, timeout=timeout, seed=seed, **given)
    from .run_report import report, ties_left, unwarranted

    if plot:
        draw_file(plot, result.figure, options)
    if replay:
        result.replay(replay)
    left = None if vcd else record_deadlock(result.run)
    files = {name: None if path is None else str(path) for name, path in (
        ("waveform", vcd or (left and left[0])), ("plot", plot), ("replay", replay))}
    if json:
        emit_result(dataclasses.replace(result, files=files))
    else:
        report(result.run)
        if result.events is not None:
            from .event_report import report_events

            report_events(result.events)
        if warning := unwarranted(result.run):
            print(f"wormcast: {warning}", file=sys.stderr)
        if result.formula:
            say(f"formula: {result.formula}{ties_left(result.run)}")
        if files["waveform"]:
            say(f"waveform: {files['waveform']}" + (f" ({left[1]})" if left else ""))
        if plot:
            say_files(plot, options)
        if replay:
            say(f"replay: {replay}")
    return result.exit_code
