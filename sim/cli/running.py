"""``run``: simulate messages on the router hardware."""

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

from ..build.limits import ENGINES, MOST_RUN_CYCLES, MOST_RUN_LENGTH
from ..build.setup import Setup
from ..common.atomic_write import whole_file
from ..common.figure_file import require_page, require_picture, whole_picture
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
        metavar="A:B", help="Cycles A to B - 1 of --vcd. Default: the whole run.")] = None,
    instances: Annotated[str | None, typer.Option(
        metavar="NAME,NAME,...", help="Instances in --vcd: a node (1.2: its router and interface) or an instance "
        "(router_1_2). Default: all.")] = None,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw a Gantt chart: what each host and interface sends and receives over time. Formats: "
        ".svg, .png.")] = None,
    replay: Annotated[Path | None, typer.Option(
        metavar="FILE.html", help="Write a page for a browser that replays the run, or its deadlock, cycle by "
        "cycle.")] = None,
    contention: Annotated[bool, typer.Option(
        "--contention", help="Print the cycles in which flits of each message waited for a channel or for their turn "
        "on a link, by the worm that they waited behind.")] = False,
    relation: RelationOption = None,
    *,
    given: Given,
    timeout: Annotated[int, typer.Option(help="Cycles after which an unfinished run is stopped. Default: 1000000.",
                                          max=MOST_RUN_CYCLES, show_default=False)] = 1_000_000,
    seed: Annotated[int, typer.Option(
        help="Recorded in the output. Runs are deterministic. Default: 0.", min=0, show_default=False)] = 0,
    json: Json = False,
) -> int:
    """Exit code 3: deadlock; the cycle of waiting worms is printed. 5: unfinished after --timeout cycles. 1: a router
    or interface received invalid flits.

    Without --vcd, the waveform of a deadlock's routers is written to wormcast-deadlock.vcd.

    Limits: 4096 nodes with e-cube, and with hamiltonian in two dimensions. Other relations use routing tables with
    addresses of up to 8 bits, for example 16x16 or 4x8x8 nodes. Multicasts by adaptive and e-cube-adaptive need no
    tables.
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
        require_page(replay)
    from ..experiments.run import run  # a slow import, which refusals do not need
    from .run_report import report, ties_left, unwarranted

    with (stdout_for_results(), _messages_named(file), announce("simulating"),
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
    """Return a context of the waveform's unfinished file. Engine amaranth writes no layouts for viewers beside it."""
    from ..waves.record import whole_waveform

    return whole_waveform(vcd) if engine == "bulk" else whole_file(vcd)


def _draw(result: "Run", plot: Path) -> None:
    """Draw the Gantt chart of hosts and interfaces."""
    from ..experiments.gantt import draw_gantt
    from ..experiments.interface_bars import interfaces_work
    from ..experiments.interface_gantt import draw_interfaces

    with whole_picture(plot) as target:
        (draw_interfaces if interfaces_work(result) else draw_gantt)(result, *target)


def _message_file(path: Path) -> "MessageFile":
    from ..experiments.message_file import MessageFile

    return MessageFile(str(path), "messages", MOST_RUN_CYCLES, MOST_RUN_LENGTH)


def _messages(network: Topology, source: str | None, destinations: str | None, length: int | None,
              file: "MessageFile | None") -> "list[Message]":
    """Return the messages of a file, or the one of the options ``--source``, ``--destinations`` and ``--length``."""
    single = {"--source": source, "--destinations": destinations, "--length": length}
    given = [name for name, value in single.items() if value is not None]
    if file is not None:
        if given:
            raise WormcastError(f"{given[0].lstrip('-')}: {single[given[0]]} is not valid with --messages. Allowed: "
                                f"--messages, or {', '.join(single)}.")
        from ..experiments.message_file import messages_in

        return messages_in(file, network)
    if source is None or destinations is None or length is None:
        missing = [name.lstrip("-") for name, value in single.items() if value is None]
        raise WormcastError(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. Needed: "
                            f"{', '.join(single)}, or --messages.")
    from ..host import Message

    start = network.node(source)
    return [Message(0, start, tuple(network.destination_set(destinations, start)), length)]


@contextlib.contextmanager
def _messages_named(file: "MessageFile | None") -> Iterator[None]:
    """Add the file's name and the message's number to the refusal of a message from a file."""
    try:
        yield
    except MessageError as error:
        if file is None:
            raise
        raise file.refused(error.message, error.reason) from error
