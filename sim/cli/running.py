"""``run``: send messages through router hardware."""

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.errors import MessageError

from ..build.setup import Setup
from ..build.whole_worms import whole_worms
from ..common.apart import require_apart
from ..common.figure_file import require_picture, whole_picture
from ..common.text import resource_text
from ..common.whole_file import require_writable, whole_file
from ..engines.deadlock import Hold
from ..experiments.contention import CAUSES, WAITS
from ..experiments.formula import formula_of
from ..experiments.gantt import draw_gantt
from ..experiments.interface_bars import interfaces_work
from ..experiments.interface_gantt import draw_interfaces
from ..experiments.message_file import MessageFile, messages_in
from ..experiments.run import ENGINES, MOST_CYCLES, Run, run
from ..host import Message
from ..waves.record import whole_waveform
from .app import (
    Exit,
    Json,
    SchemeName,
    TopologyName,
    app,
    count,
    emit,
    say,
    stdout_for_results,
    table,
    user_files,
)
from .hardware import RelationOption, describe_hardware, takes_hardware
from .options import Given
from .replaying import replay_run
from .waveform import record_deadlock, waveform_files, window_of

__all__ = ["describe_deadlock", "holds_and_waits", "report"]


@app.command("run")
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
        "--contention", help="Tell in how many cycles flits of each message waited for channels and for their turns on "
        "links, and behind whom.")] = False,
    relation: RelationOption = None,
    *,
    given: Given,
    timeout: Annotated[int, typer.Option(help="Cycles after which the run counts as stalled.",
                                          max=MOST_CYCLES)] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Goes into the JSON; nothing in a run is random.", min=0)] = 0,
    json: Json = False,
) -> int:
    """Send one multicast, or a file of messages, through the routers; report when each destination has it.

    Exit code 3 and the cycle of waiting worms on a deadlock; 5 if the run did not finish in time.

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
    file = None if messages is None else MessageFile(str(messages), "messages", MOST_CYCLES, MOST_CYCLES)
    posted = _messages(network, source, destinations, length, file)
    cycles = window_of(window)
    if replay:
        require_writable(replay)
    # the simulator of engine amaranth writes the waveform alone
    whole = whole_waveform if engine == "bulk" else whole_file
    with (stdout_for_results(), _lines_named(file),
          whole(vcd) if vcd else contextlib.nullcontext() as unfinished):
        result = run(network, setup.scheme, posted, setup.configuration, engine=engine, vcd=unfinished, window=cycles,
                     instances=instances, timeout=timeout, contention=contention)
    if plot:
        with whole_picture(plot) as target:
            (draw_interfaces if interfaces_work(result) else draw_gantt)(result, *target)
    if replay:
        replay_run(result, replay)
    formula = None
    if len(posted) == 1 and result.outcome == "delivered" and setup.scheme.relation is setup.scheme.own_relation:
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
        _warn(result)
        if formula:
            say(f"formula: {formula}{_ties_left(result)}")
        if waveform:
            say(f"waveform: {waveform}" + (f" ({left[1]})" if left else ""))
        if plot:
            say(f"picture: {plot}")
        if replay:
            say(f"replay: {replay}")
    return {"delivered": Exit.DONE, "deadlock": Exit.DEADLOCK, "stalled": Exit.UNFINISHED}[result.outcome]


def _messages(network: Topology, source: str | None, destinations: str | None, length: int | None,
              file: MessageFile | None) -> list[Message]:
    """Take the messages from the options of one multicast, or from a file: one of the two."""
    single = {"--source": source, "--destinations": destinations, "--length": length}
    given = [name for name, value in single.items() if value is not None]
    if file is not None:
        if given:
            raise WormcastError(f"run: {', '.join(given)} and --messages are given, allowed is one or the other")
        return messages_in(file, network)
    if source is None or destinations is None or length is None:
        missing = [name for name, value in single.items() if value is None]
        raise WormcastError(f"run: {', '.join(missing)} is missing; give {', '.join(single)}, or --messages FILE")
    start = network.node(source)
    return [Message(0, start, tuple(network.destination_set(destinations, start)), length)]


@contextlib.contextmanager
def _lines_named(file: MessageFile | None) -> Iterator[None]:
    """Name a message that is refused by its line in the file, if it is from one."""
    try:
        yield
    except MessageError as error:
        if file is None:
            raise
        raise file.refused(error.message, error.reason) from error


def _warn(result: Run) -> None:
    """Say on stderr that a run went well by luck: its worms are copied out of buffers that do not hold them."""
    longest = max((message.length for message in result.messages if len(message.destinations) > 1), default=None)
    whole = whole_worms(result.network.topology, [result.network.scheme], result.network.configuration, longest)
    if result.outcome == "delivered" and longest is not None and whole is not None and not whole.fits:
        print(f"wormcast: {whole.warning}", file=sys.stderr)


def _ties_left(result: Run) -> str:
    """What a formula supposes of ties, where the routers have them all go up."""
    worms, topology = result.worms, result.network.topology
    if worms.signs is None or result.network.configuration.ties == "signed":
        return ""
    # a formula is of unicasts
    ahead = (topology.coordinates[worms.destinations] - topology.coordinates[worms.source]) % np.array(topology.shape)
    down = worms.signs[:, None] >> np.arange(ahead.shape[1]) & 1
    some = (down.astype(bool) & (2 * ahead == np.array(topology.shape))).any()
    return "; it is with --ties signed: the scheme sends some ties down" if some else ""


def report(result: Run) -> None:
    """Print a run for people."""
    network = result.network.topology
    configuration = result.network.configuration
    outcome = "not finished by --timeout," if result.outcome == "stalled" else result.outcome
    say(f"{result.network.scheme.name} on {network.name}: {outcome} after {result.cycles} cycles "
        f"({count(len(result.worms), 'worm')}, {count(result.header_flits, 'header flit')}; engine {result.engine})")
    relation = result.network.scheme.relation
    own = relation is result.network.scheme.own_relation
    say(describe_hardware(configuration, result.network.scheme) + ("" if own else f", relation {relation.name}"))
    rows: list[list[object]] = []
    for index in range(len(result.messages)):
        message = result.message_to_dict(index)
        rows += [
            [index, network.node_name(message["source"]), network.node_name(int(node)), times["head"], times["tail"],
             times["received"], None if times["received"] is None else times["received"] - message["created"]]
            for node, times in message["deliveries"].items()
        ]
    table(["message", "from", "to", "head", "tail", "received", "latency"], rows)
    if result.contention is not None:
        table(["message", "waited behind", *(f"cycles for {wait}s" for wait in WAITS)], [
            [index, words, *(waits[cause][wait] for wait in WAITS)]
            for index, waits in enumerate(result.contention) for cause, words in CAUSES.items()])
    if result.residences:
        table(["interface", "packets forwarded", "cycles in it", "since its first copy", "peak"], [
            [network.node_name(one.node), one.forwarded, round(one.resident / one.forwarded, 1),
             round(one.copied / one.forwarded, 1), one.peak] for one in result.residences])
    for fault in result.faults:
        say(f"error on the wire: {fault.place(network)}, port {fault.port}, "
            f"virtual channel {fault.vc}: {fault.cause}")
    if result.deadlock:
        say(describe_deadlock(result))


def holds_and_waits(topology: Topology, hold: Hold) -> str:
    """Tell what a worm of a deadlock holds and waits for."""
    held, asked = ([resource_text(topology, one) for one in names] for names in (hold.holds, hold.waits))
    return f"holds {', '.join(held)}; waits for {' or '.join(asked)}"


def describe_deadlock(result: Run) -> str:
    """Tell who waits for whom."""
    if result.deadlock is None:
        return "no deadlock"
    lines = [f"deadlock, proved in cycle {result.deadlock.at}: each worm waits for the next"]
    for hold in result.deadlock.cycle:
        visits = " ".join(map(result.network.topology.node_name, map(int, result.worms.visits(hold.worm))))
        source = result.network.topology.node_name(int(result.worms.source[hold.worm]))
        lines.append(f"  {hold.name} (from {source} to {visits}) {holds_and_waits(result.network.topology, hold)}")
    return "\n".join(lines)
