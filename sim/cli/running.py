"""``run``: send messages through router hardware."""

import contextlib
import dataclasses
import enum
import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import ConsumptionClasses, Scheme, Topology, WormcastError, load_relation
from wormcast.algorithms import topology as build_topology

from ..configuration import MOST as MOST_CYCLES
from ..configuration import Configuration
from ..configurations import CONFIGURATIONS
from ..host import Message
from ..run import MOST, Run, run
from .app import Exit, Json, SchemeName, TopologyName, app, emit, find_scheme, say, table
from .files import whole_file

__all__ = ["describe_deadlock", "hardware", "read_messages", "report"]

Engine = enum.StrEnum("Engine", ["bulk", "amaranth"])
Readers = enum.StrEnum("Readers", ["coupled", "independent"])
Header = enum.StrEnum("Header", ["real", "ideal"])
Delays = enum.StrEnum("Delays", ["paper", "fast"])
Ports = enum.StrEnum("Ports", ["one", "all"])
ConsumptionLinks = enum.StrEnum("ConsumptionLinks", ["shared", "separate"])

HARDWARE = "Hardware"
OVERHEADS = "Overheads, in cycles"


def _hardware(text: str, panel: str = HARDWARE, most: int | None = None) -> Any:
    """An option that a named configuration may give; with ``most``, numbers from 0 to there."""
    least = None if most is None else 0
    return typer.Option(help=text, rich_help_panel=panel, show_default=False, min=least, max=most)


Named = Annotated[str | None, _hardware("Named configuration, options below override it; see: wormcast list "
                                        "configurations.")]
Vcs = Annotated[int | None, _hardware("Virtual channels of each link, 2 by default.")]
Buffer = Annotated[int | None, _hardware("Flits of buffer per virtual channel, 4 by default.")]
ReadersOption = Annotated[Readers | None, _hardware(
    "Whether the outputs of a worm advance together, as they do by default.")]
Consumption = Annotated[int | None, _hardware(
    "Consumption channels of each node; default: as many as the scheme needs against deadlock.")]
FlitWidth = Annotated[int | None, _hardware("Data bits of a flit, 32 by default.")]
HeaderOption = Annotated[Header | None, _hardware("ideal widens the flit until every header fits into one.")]
DelaysOption = Annotated[Delays | None, _hardware(
    "Cycles per hop: paper, header 3 and data 2 (default), or fast, 4 and 3 for a higher clock.")]
PortsOption = Annotated[Ports | None, _hardware(
    "Injection ports of each node: one (default), or one for each link of its router.")]
ConsumptionLinksOption = Annotated[ConsumptionLinks | None, _hardware(
    "Whether a node's consumption channels share one link (default).")]
Classes = Annotated[str | None, typer.Option(
    metavar="MAP",
    help="Classes of consumption channels, as check prints them (1+,0+/1-/0-:last); default: the scheme's.",
    rich_help_panel=HARDWARE)]
RelationOption = Annotated[str | None, typer.Option(
    metavar="FILE.py[:NAME]",
    help="Route by this relation: e-cube, hamiltonian, or one of yours; default: the scheme's.")]
Packet = Annotated[int | None, _hardware("Payload flits of a packet; 0: worms are sent whole (default).")]
Queue = Annotated[int | None, _hardware("Flits of buffer between host and each injection port, 4 by default.")]
Ths = Annotated[int | None, _hardware("Host, before it posts a worm.", OVERHEADS, MOST_CYCLES)]
Thr = Annotated[int | None, _hardware("Host, for each receipt.", OVERHEADS, MOST_CYCLES)]
Tns = Annotated[int | None, _hardware("Interface, before each packet it sends.", OVERHEADS, 65535)]
Tnr = Annotated[int | None, _hardware("Interface, before the last flit of each packet it gets is handed over.",
                                      OVERHEADS, 65535)]
InjectionDelay = Annotated[int | None, _hardware(
    "Host, once for each message: it prepares the headers.", OVERHEADS, MOST_CYCLES)]

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
    relation: RelationOption = None,
    configuration: Named = None,
    vcs: Vcs = None,
    buffer: Buffer = None,
    readers: ReadersOption = None,
    consumption: Consumption = None,
    consumption_links: ConsumptionLinksOption = None,
    classes: Classes = None,
    ports: PortsOption = None,
    flit_width: FlitWidth = None,
    header: HeaderOption = None,
    delays: DelaysOption = None,
    packet: Packet = None,
    queue: Queue = None,
    t_hs: Ths = None,
    t_hr: Thr = None,
    t_ns: Tns = None,
    t_nr: Tnr = None,
    injection_delay: InjectionDelay = None,
    timeout: Annotated[int, typer.Option(help="Cycles after which the run counts as stalled.", max=MOST)] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of what is random; so far nothing is.", min=0, max=MOST)] = 0,
    json: Json = False,
) -> int:
    """Send one multicast, or a file of messages, through the routers; report when each destination has it.

    Exit code 3 and the cycle of waiting worms on a deadlock; 5 if the run did not finish in time.
    """
    network = build_topology(topology)
    found = find_scheme(scheme, network)
    if relation is not None:
        found = found.routed_by(load_relation(relation))
    options = hardware(
        network, found, named=configuration, vcs=vcs, buffer=buffer, readers=readers, consumption=consumption,
        consumption_links=consumption_links, classes=classes, ports=ports, flit_width=flit_width,
        header=header, delays=delays,
        packet=packet, queue=queue, t_hs=t_hs, t_hr=t_hr, t_ns=t_ns, t_nr=t_nr, injection_delay=injection_delay,
    )
    posted = _messages(network, source, destinations, length, messages)
    chosen = (engine or (Engine.amaranth if vcd else Engine.bulk)).value
    with whole_file(vcd) if vcd else contextlib.nullcontext() as unfinished:
        result = run(network, found, posted, options, engine=chosen, vcd=unfinished,
                     timeout=timeout, seed=seed)
    resolved = {
        "topology": network.name, "scheme": scheme, "engine": chosen, "timeout": timeout, "named": configuration,
        "relation": found.relation.name,
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


def hardware(topology: Topology, scheme: Scheme, *, named: str | None = None, **options: Any) -> Configuration:
    """Resolve the hardware options for a scheme: those given, then the named configuration's, then the defaults."""
    given = {name: value.value if isinstance(value, enum.Enum) else value
             for name, value in options.items() if value is not None}
    chosen = CONFIGURATIONS[named].resolve(given) if named is not None else given
    classes = scheme.classes_on(topology)
    if chosen.get("classes") is not None:
        classes = ConsumptionClasses.parse(chosen["classes"])
    return Configuration(**{"consumption": classes.channels, **chosen})


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
    usual = Configuration().to_dict()
    told = {"vcs", "buffer", "consumption", "readers", "delays"}
    others = [f"{name} {value}" for name, value in configuration.to_dict().items()
              if name not in told and value != usual[name]]
    relation = result.network.scheme.relation
    if relation is not type(result.network.scheme).relation:
        others.insert(0, f"relation {relation.name}")
    if others:
        say(", ".join(others))
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
        say(f"error on the wire: {fault.component} {network.node_name(fault.node)}, port {fault.port}, "
            f"virtual channel {fault.vc}: {fault.cause}")
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
