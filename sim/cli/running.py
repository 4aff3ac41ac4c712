"""``run``: send messages through router hardware."""

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.announcements import announce
from wormcast.algorithms.errors import MessageError

from ..build.limits import ENGINES, MOST_CYCLES
from ..build.setup import Setup
from ..common.atomic_write import require_writable, whole_file
from ..common.figure_file import require_picture, whole_picture
from ..common.path_conflicts import require_apart
from .app import Exit, Json, SchemeName, TopologyName, emit, say, stdout_for_results
from .commands import command
from .hardware import RelationOption, takes_hardware
from .named import user_files
from .options import Given
from .waveform_report import record_deadlock, waveform_files, window_of

if TYPE_CHECKING:
    from ..experiments.message_file import MessageFile
    from ..experiments.run import Run
    from ..host import Message

__all__: list[str] = []


@command("run")
@takes_hardware
def run_(
    topology: TopologyName,
    scheme: SchemeName,
    source: Annotated[str | None, typer.Option(help="Sending node: id, row.column or @label.")] = None,
    destinations: Annotated[str | None, typer.Option(
        help="Receiving nodes, joined by commas; or all others: all.")] = None,
    length: Annotated[int | None, typer.Option(help="Payload flits; header flits come on top.")] = None,
    messages: Annotated[Path | None, typer.Option(
        metavar="FILE.jsonl", help='Messages, a line for each: {"cycle": C, "source": NODE, "destinations": '
        '[NODE, ...], "length": flits}, "after": LINE where it waits for that one; .gz too.')] = None,
    engine: Annotated[str, typer.Option(
        metavar="|".join(ENGINES),
        help="bulk: compiled, fast. amaranth: its judge, slow.")] = "bulk",
    vcd: Annotated[Path | None, typer.Option(
        help="Write the waveform of every signal to this file; beside it, what GTKWave and Surfer show first.")] = None,
    window: Annotated[str | None, typer.Option(
        metavar="A:B", help="With --vcd: from cycle A up to the one before B; default: the whole run.")] = None,
    instances: Annotated[str | None, typer.Option(
        help="With --vcd: routers and interfaces, as 1.2 (a node's both) or router_1_2, joined by commas; default: "
             "all.")] = None,
    plot: Annotated[Path | None, typer.Option(
        help="Draw what each node's host and interface send and receive, over time, into this .svg or .png.")] = None,
    replay: Annotated[Path | None, typer.Option(
        help="Write a page for a browser that replays the run, or its deadlock, cycle by cycle.")] = None,
    contention: Annotated[bool, typer.Option(
        "--contention", help="Tell waiting cycles: in how many cycles flits of each message waited for channels and "
        "for their turns on links, and behind whom.")] = False,
    relation: RelationOption = None,
    *,
    given: Given,
    timeout: Annotated[int, typer.Option(help="Cycles after which the run counts as stalled.",
                                          max=MOST_CYCLES)] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Goes into the JSON; nothing in a run is random.", min=0)] = 0,
    json: Json = False,
) -> int:
    """Exit code 3 and the cycle of waiting worms on a deadlock; 5 if the run did not finish in time; 1 if routers found
    an error on the wire.

    Without --vcd, a deadlock leaves the waveform of its routers in wormcast-deadlock.vcd.

    Up to 4096 nodes by e-cube, and by hamiltonian in two dimensions.

    By other relations, which routers look up in tables, addresses of up to 8 bits: 16x16 or 4x8x8 nodes. For multicasts
    by adaptive and e-cube-adaptive they need none.
    """
    require_apart({**user_files(scheme, relation, topology), "--messages": messages},
                  {**waveform_files(vcd, layouts=engine == "bulk"), "--plot": plot, "--replay": replay})
    if plot:
        require_picture(plot)
    with stdout_for_results():
        setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation, **given})
    network = setup.topology
    file = None if messages is None else _message_file(messages)
    posted = _messages(network, source, destinations, length, file)
    cycles = window_of(window)
    if replay:
        require_writable(replay)
    from ..experiments.run import run  # what is refused needs none of it
    from .run_report import report, ties_left, unwarranted

    with (stdout_for_results(), _lines_named(file), announce("simulating"),
          _whole(vcd, engine) if vcd else contextlib.nullcontext() as unfinished):
        result = run(network, setup.scheme, posted, setup.configuration, engine=engine, vcd=unfinished, window=cycles,
                     instances=instances, timeout=timeout, contention=contention)
    if plot:
        _draw(result, plot)
    if replay:
        from .replaying import replay_run

        replay_run(result, replay)
    formula = None
    if len(posted) == 1 and result.outcome == "delivered" and setup.scheme.relation is setup.scheme.own_relation:
        from ..experiments.formula import formula_of

        formula = formula_of(network, setup.scheme, result.network.configuration, posted[0])
    left = None if vcd else record_deadlock(result)
    waveform = vcd or (left and left[0])
    if json:
        built = dataclasses.replace(setup, configuration=result.network.configuration)
        resolved = built.to_dict({"engine": engine, "timeout": timeout, "contention": contention,
                                  "messages": [dataclasses.asdict(message) for message in posted]})
        emit({**result.to_dict(), "formula": formula and formula.to_dict(),
              "waveform": None if waveform is None else str(waveform),
              "plot": plot and str(plot), "replay": None if replay is None else str(replay)}, resolved, seed)
    else:
        report(result)
        if warning := unwarranted(result):
            print(f"wormcast: {warning}", file=sys.stderr)
        if formula:
            say(f"formula: {formula}{ties_left(result)}")
        if waveform:
            say(f"waveform: {waveform}" + (f" ({left[1]})" if left else ""))
        if plot:
            say(f"picture: {plot}")
        if replay:
            say(f"replay: {replay}")
    return {"delivered": Exit.DONE, "deadlock": Exit.DEADLOCK, "stalled": Exit.UNFINISHED,
            "error": Exit.INTERNAL}[result.outcome]


def _whole(vcd: Path, engine: str) -> contextlib.AbstractContextManager[Path]:
    """Return the waveform's file to write; the simulator of engine amaranth writes it alone, without layouts."""
    from ..waves.record import whole_waveform

    return whole_waveform(vcd) if engine == "bulk" else whole_file(vcd)


def _draw(result: "Run", plot: Path) -> None:
    """Draw what each node's host and interface send and receive."""
    from ..experiments.gantt import draw_gantt
    from ..experiments.interface_bars import interfaces_work
    from ..experiments.interface_gantt import draw_interfaces

    with whole_picture(plot) as target:
        (draw_interfaces if interfaces_work(result) else draw_gantt)(result, *target)


def _message_file(path: Path) -> "MessageFile":
    from ..experiments.message_file import MessageFile

    return MessageFile(str(path), "messages", MOST_CYCLES, MOST_CYCLES)


def _messages(network: Topology, source: str | None, destinations: str | None, length: int | None,
              file: "MessageFile | None") -> "list[Message]":
    """Take the messages from the options of one multicast, or from a file: one of the two."""
    single = {"--source": source, "--destinations": destinations, "--length": length}
    given = [name for name, value in single.items() if value is not None]
    if file is not None:
        if given:
            raise WormcastError(f"run: {', '.join(given)} and --messages are given, allowed is one or the other")
        from ..experiments.message_file import messages_in

        return messages_in(file, network)
    if source is None or destinations is None or length is None:
        missing = [name for name, value in single.items() if value is None]
        raise WormcastError(f"run: {', '.join(missing)} is missing; give {', '.join(single)}, or --messages FILE")
    from ..host import Message

    start = network.node(source)
    return [Message(0, start, tuple(network.destination_set(destinations, start)), length)]


@contextlib.contextmanager
def _lines_named(file: "MessageFile | None") -> Iterator[None]:
    """Name a message that is refused by its line in the file, if it is from one."""
    try:
        yield
    except MessageError as error:
        if file is None:
            raise
        raise file.refused(error.message, error.reason) from error
