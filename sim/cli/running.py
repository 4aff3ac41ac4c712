"""``run``: send messages through router hardware."""

import contextlib
import dataclasses
import json as json_module
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.errors import MessageError

from ..build.setup import Setup
from ..common.apart import require_apart
from ..common.text import resource_text
from ..common.whole_file import require_writable, whole_file
from ..engines.deadlock import Hold
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

__all__ = ["describe_deadlock", "holds_and_waits", "read_messages", "report"]

KEYS = {"at", "source", "destinations", "length"}


@app.command("run")
@takes_hardware
def run_(
    topology: TopologyName,
    scheme: SchemeName,
    source: Annotated[str | None, typer.Option(help="Sending node: id, row.column or @label.")] = None,
    destinations: Annotated[str | None, typer.Option(help="Receiving nodes, joined by commas.")] = None,
    length: Annotated[int | None, typer.Option(help="Payload flits; header flits come on top.")] = None,
    messages: Annotated[Path | None, typer.Option(
        help='JSON list of {"at": cycle, "source": NODE, "destinations": [NODE, ...], "length": flits}.')] = None,
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
    replay: Annotated[Path | None, typer.Option(
        help="Write a page for a browser that replays the run, or its deadlock, cycle by cycle.")] = None,
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
                  {**waveform_files(vcd, layouts=engine == "bulk"), "--replay": replay})
    with stdout_for_results():
        setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation, **given})
    network = setup.topology
    posted = _messages(network, source, destinations, length, messages)
    cycles = window_of(window)
    if replay:
        require_writable(replay)
    # the simulator of engine amaranth writes the waveform alone
    whole = whole_waveform if engine == "bulk" else whole_file
    with (stdout_for_results(), _entries_named(messages),
          whole(vcd) if vcd else contextlib.nullcontext() as unfinished):
        result = run(network, setup.scheme, posted, setup.configuration, engine=engine, vcd=unfinished, window=cycles,
                     instances=instances, timeout=timeout)
    if replay:
        replay_run(result, replay)
    left = None if vcd else record_deadlock(result)
    waveform = vcd or (left and left[0])
    if json:
        built = dataclasses.replace(setup, configuration=result.network.configuration)
        resolved = built.to_dict({"engine": engine, "timeout": timeout,
                                  "messages": [dataclasses.asdict(message) for message in posted]})
        emit({**result.to_dict(), "waveform": None if waveform is None else str(waveform),
              "replay": None if replay is None else str(replay)}, resolved, seed)
    else:
        report(result)
        if waveform:
            say(f"waveform: {waveform}" + (f" ({left[1]})" if left else ""))
        if replay:
            say(f"replay: {replay}")
    return {"delivered": Exit.DONE, "deadlock": Exit.DEADLOCK, "stalled": Exit.UNFINISHED}[result.outcome]


def _messages(network: Topology, source: str | None, destinations: str | None, length: int | None,
              file: Path | None) -> list[Message]:
    """Take the messages from the options of one multicast, or from a file: one of the two."""
    single = {"--source": source, "--destinations": destinations, "--length": length}
    given = [name for name, value in single.items() if value is not None]
    if file is not None:
        if given:
            raise WormcastError(f"run: {', '.join(given)} and --messages are given, allowed is one or the other")
        return read_messages(network, file)
    if source is None or destinations is None or length is None:
        missing = [name for name, value in single.items() if value is None]
        raise WormcastError(f"run: {', '.join(missing)} is missing; give {', '.join(single)}, or --messages FILE")
    return [Message(0, network.node(source), tuple(network.node_set(destinations)), length)]


def read_messages(network: Topology, file: Path) -> list[Message]:
    """Read a file of messages.

    Raises
    ------
    WormcastError
        It cannot be read, is no JSON, or has an entry that is no message.
    """
    try:
        entries = json_module.loads(file.read_text())
    except OSError as error:
        raise WormcastError(f"messages: {file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise WormcastError(f"messages: {file} is no JSON: {error}") from error
    if not isinstance(entries, list):
        raise WormcastError(f"messages: {file} holds no JSON list, it must be a list of messages")
    messages = []
    for index, entry in enumerate(entries):
        try:
            messages.append(_message(network, entry))
        except WormcastError as error:
            raise WormcastError(f"messages: entry {index} of {file}: {error}") from error
    return messages


@contextlib.contextmanager
def _entries_named(file: Path | None) -> Iterator[None]:
    """Name a message that is refused by its entry in the file, if it is from one."""
    try:
        yield
    except MessageError as error:
        if file is None:
            raise
        raise WormcastError(f"messages: entry {error.message} of {file}: {error.reason}") from error


def _message(network: Topology, entry: Any) -> Message:
    if not isinstance(entry, dict) or set(entry) != KEYS:
        what = f"{{{', '.join(sorted(entry))}}}" if isinstance(entry, dict) else repr(entry)
        raise WormcastError(f"{what} is given, it must have {', '.join(sorted(KEYS))}")
    for key in ("at", "length"):
        if not isinstance(entry[key], int) or isinstance(entry[key], bool):
            raise WormcastError(f"{key} {entry[key]!r} is given, it must be a whole number")
    nodes = entry["destinations"]
    if not isinstance(nodes, list) or not all(isinstance(node, int | str) for node in [entry["source"], *nodes]):
        raise WormcastError("the source must be a node, and the destinations a list of nodes")
    return Message(entry["at"], network.node(entry["source"]), tuple(network.node_set(nodes)), entry["length"])


def report(result: Run) -> None:
    """Print a run for people."""
    network = result.network.topology
    configuration = result.network.configuration
    outcome = "not finished by --timeout," if result.outcome == "stalled" else result.outcome
    say(f"{result.network.scheme.name} on {network.name}: {outcome} after {result.cycles} cycles "
        f"({count(len(result.worms), 'worm')}, {count(result.header_flits, 'header flit')}; engine {result.engine})")
    relation = result.network.scheme.relation
    own = relation is result.network.scheme.own_relation
    say(describe_hardware(configuration) + ("" if own else f", relation {relation.name}"))
    rows: list[list[object]] = []
    for index in range(len(result.messages)):
        message = result.message_to_dict(index)
        rows += [
            [index, network.node_name(message["source"]), network.node_name(int(node)), times["head"], times["tail"],
             times["received"], None if times["received"] is None else times["received"] - message["created"]]
            for node, times in message["deliveries"].items()
        ]
    table(["message", "from", "to", "head", "tail", "received", "latency"], rows)
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
