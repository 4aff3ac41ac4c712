"""``run``: send messages through router hardware."""

import contextlib
import dataclasses
import enum
import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import Scheme, Topology, WormcastError
from wormcast.algorithms import topology as build_topology

from ..configuration import Configuration
from ..host import Message
from ..run import MOST, Run, run
from .app import Exit, Json, SchemeName, TopologyName, app, emit, find_scheme, say, table
from .files import whole_file

__all__ = ["describe_deadlock", "hardware", "read_messages", "report"]

Engine = enum.StrEnum("Engine", ["bulk", "amaranth"])
Readers = enum.StrEnum("Readers", ["coupled", "independent"])
Header = enum.StrEnum("Header", ["real", "ideal"])
Delays = enum.StrEnum("Delays", ["paper", "fast"])

HARDWARE = "Hardware"
Vcs = Annotated[int, typer.Option(help="Virtual channels of each link.", rich_help_panel=HARDWARE)]
Buffer = Annotated[int, typer.Option(help="Flits of buffer per virtual channel.", rich_help_panel=HARDWARE)]
ReadersOption = Annotated[Readers, typer.Option(
    help="Whether the outputs of a worm advance together.", rich_help_panel=HARDWARE)]
Consumption = Annotated[int | None, typer.Option(
    help="Consumption channels of each node; default: as many as the scheme needs against deadlock.",
    rich_help_panel=HARDWARE)]
FlitWidth = Annotated[int, typer.Option(help="Data bits of a flit.", rich_help_panel=HARDWARE)]
HeaderOption = Annotated[Header, typer.Option(
    help="ideal widens the flit until every header fits into one.", rich_help_panel=HARDWARE)]
DelaysOption = Annotated[Delays, typer.Option(
    help="Cycles per hop: header 3 and data 2, or 4 and 3 for a higher clock.", rich_help_panel=HARDWARE)]

KEYS = {"at", "source", "destinations", "length"}


@app.command("run")
def run_(
    topology: TopologyName,
    scheme: SchemeName,
    source: Annotated[str | None, typer.Option(help="Sending node: id, row.column or @label.")] = None,
    destinations: Annotated[str | None, typer.Option(help="Receiving nodes, joined by commas.")] = None,
    length: Annotated[int | None, typer.Option(help="Payload flits; header flits come on top.")] = None,
    messages: Annotated[Path | None, typer.Option(
        help='JSON list of {"at": cycle, "source": NODE, "destinations": [NODE, ...], "length": flits}.')] = None,
    engine: Annotated[Engine | None, typer.Option(
        help="bulk: compiled, fast (default). amaranth: every signal, slow (default with --vcd).")] = None,
    vcd: Annotated[Path | None, typer.Option(help="Write the waveform of every signal to this file.")] = None,
    vcs: Vcs = 2,
    buffer: Buffer = 4,
    readers: ReadersOption = Readers.coupled,
    consumption: Consumption = None,
    flit_width: FlitWidth = 32,
    header: HeaderOption = Header.real,
    delays: DelaysOption = Delays.paper,
    timeout: Annotated[int, typer.Option(help="Cycles after which the run counts as stalled.", max=MOST)] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of what is random; so far nothing is.", min=0, max=MOST)] = 0,
    json: Json = False,
) -> int:
    """Send one multicast, or a file of messages, through the routers; report when each destination has it.

    Exit code 3 and the cycle of waiting worms on a deadlock; 5 if the run did not finish in time.
    """
    network = build_topology(topology)
    found = find_scheme(scheme, network)
    configuration = hardware(
        network, found, vcs=vcs, buffer=buffer, readers=readers.value, consumption=consumption,
        flit_width=flit_width, header=header.value, delays=delays.value,
    )
    posted = _messages(network, source, destinations, length, messages)
    chosen = (engine or (Engine.amaranth if vcd else Engine.bulk)).value
    with whole_file(vcd) if vcd else contextlib.nullcontext() as unfinished:
        result = run(network, found, posted, configuration, engine=chosen, vcd=unfinished,
                     timeout=timeout, seed=seed)
    resolved = {
        "topology": network.name, "scheme": scheme, "engine": chosen, "timeout": timeout,
        **result.network.configuration.to_dict(),
        "messages": [dataclasses.asdict(message) for message in posted],
    }
    if json:
        emit(result.to_dict(), resolved, seed)
    else:
        report(result)
        if vcd:
            say(f"waveform: {vcd}")
    return {"delivered": Exit.DONE, "deadlock": Exit.DEADLOCK, "stalled": Exit.UNFINISHED}[result.outcome]


def hardware(network: Topology, scheme: Scheme, *, consumption: int | None = None, **options: Any) -> Configuration:
    """Resolve the hardware options for a scheme on a network."""
    channels = scheme.classes_on(network).channels if consumption is None else consumption
    return Configuration(consumption=channels, **options)


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
    return [_message(network, f"messages: entry {index} of {file}", entry) for index, entry in enumerate(entries)]


def _message(network: Topology, where: str, entry: Any) -> Message:
    if not isinstance(entry, dict) or set(entry) != KEYS:
        what = ", ".join(sorted(entry)) if isinstance(entry, dict) else repr(entry)
        raise WormcastError(f"{where} is {{{what}}}, it must have {', '.join(sorted(KEYS))}")
    for key in ("at", "length"):
        if not isinstance(entry[key], int) or isinstance(entry[key], bool):
            raise WormcastError(f"{where} has {key} {entry[key]!r}, it must be a whole number")
    nodes = entry["destinations"]
    if not isinstance(nodes, list) or not all(isinstance(node, int | str) for node in [entry["source"], *nodes]):
        raise WormcastError(f"{where} must name its source by a node and its destinations by a list of nodes")
    return Message(entry["at"], network.node(entry["source"]), tuple(network.node_set(nodes)), entry["length"])


def report(result: Run) -> None:
    """Print a run for people."""
    network = result.network.topology
    configuration = result.network.configuration
    say(f"{result.network.scheme.name} on {network.name}: {result.outcome} after {result.cycles} cycles "
        f"({len(result.worms)} worms, {result.header_flits} header flits; {configuration.vcs} VCs x "
        f"{configuration.buffer} flits, {configuration.consumption} consumption channels, "
        f"{configuration.readers} readers, {configuration.delays} delays, engine {result.engine})")
    rows: list[list[object]] = []
    for index in range(len(result.messages)):
        message = result.message_to_dict(index)
        rows += [
            [index, network.node_name(message["source"]), network.node_name(int(node)), times["head"], times["tail"],
             None if times["tail"] is None else times["tail"] - message["created"]]
            for node, times in message["deliveries"].items()
        ]
    table(["message", "from", "to", "head", "tail", "latency"], rows)
    if result.deadlock:
        say(describe_deadlock(result))


def describe_deadlock(result: Run) -> str:
    """Tell who waits for whom."""
    if result.deadlock is None:
        return "no deadlock"
    lines = [f"deadlock, proved in cycle {result.deadlock.at}: each worm waits for the next"]
    for hold in result.deadlock.cycle:
        visits = " ".join(map(result.network.topology.node_name, map(int, result.worms.visits(hold.worm))))
        source = result.network.topology.node_name(int(result.worms.source[hold.worm]))
        lines.append(f"  worm {hold.worm} (from {source} to {visits}) holds {', '.join(hold.holds)}; "
                     f"waits for {' or '.join(hold.waits)}")
    return "\n".join(lines)
