"""``run``: send messages through router hardware."""

import contextlib
import dataclasses
import json as json_module
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import ConsumptionClasses, Scheme, Topology, WormcastError, load_relation
from wormcast.algorithms import topology as build_topology
from wormcast.algorithms.errors import MessageError

from ..configuration import ALLOWED, LIMITS, Configuration
from ..configurations import CONFIGURATIONS
from ..host import Message
from ..run import ENGINES, MOST_CYCLES, Run, run
from .app import Exit, Json, SchemeName, TopologyName, app, count, emit, find_scheme, say, stdout_for_results, table
from .files import whole_file

__all__ = ["describe_classes", "describe_deadlock", "describe_hardware", "hardware", "read_messages", "report",
           "resolved_hardware"]

HARDWARE = "Hardware"
OVERHEADS = "Overheads, in cycles"


def _hardware(field: str, text: str, panel: str = HARDWARE) -> Any:
    """The option for a field of `Configuration`, with the values that this allows; it refuses all others."""
    values = "|".join(ALLOWED[field]) if field in ALLOWED else "{}..{}".format(*LIMITS[field])
    return typer.Option(help=text, rich_help_panel=panel, show_default=False, metavar=values)


Named = Annotated[str | None, typer.Option(
    metavar="NAME", help="Named configuration, options below override it; see: wormcast list configurations.",
    rich_help_panel=HARDWARE)]
Vcs = Annotated[int | None, _hardware("vcs", "Virtual channels of each link, 2 by default.")]
Buffer = Annotated[int | None, _hardware("buffer", "Flits of buffer per virtual channel, 4 by default.")]
Readers = Annotated[str | None, _hardware(
    "readers", "Whether the outputs of a worm advance together, as they do by default.")]
Consumption = Annotated[int | None, _hardware(
    "consumption", "Consumption channels of each node; default: one for each class, so that none shares one.")]
FlitWidth = Annotated[int | None, _hardware("flit_width", "Data bits of a flit, 32 by default.")]
Header = Annotated[str | None, _hardware("header", "ideal widens the flit until every header fits into one.")]
Delays = Annotated[str | None, _hardware(
    "delays", "Cycles per hop: paper, header 3 and data 2 (default), or fast, 4 and 3 for a higher clock.")]
Ports = Annotated[str | None, _hardware(
    "ports", "Injection ports of each node: one (default), or one for each link of its router.")]
ConsumptionLinks = Annotated[str | None, _hardware(
    "consumption_links", "Whether a node's consumption channels share one link (default).")]
Classes = Annotated[str | None, typer.Option(
    metavar="MAP",
    help='Classes of consumption channels, as check prints them (1+,0+/1-/0-:last); "": none, a worm takes any '
         "channel; default: the scheme's.",
    rich_help_panel=HARDWARE)]
RelationOption = Annotated[str | None, typer.Option(
    metavar="FILE.py[:NAME]",
    help="Route by this relation: e-cube, hamiltonian, or one of yours; default: the scheme's.")]
Packet = Annotated[int | None, _hardware("packet", "Payload flits of a packet; 0: worms are sent whole (default).")]
Queue = Annotated[int | None, _hardware("queue", "Flits of buffer between host and each injection port, 4 by default.")]
Storage = Annotated[str | None, _hardware("storage", "What the buffers are built of, lutram by default.")]
Ths = Annotated[int | None, _hardware("t_hs", "Host, before it posts a worm.", OVERHEADS)]
Thr = Annotated[int | None, _hardware("t_hr", "Host, for each receipt.", OVERHEADS)]
Tns = Annotated[int | None, _hardware("t_ns", "Interface, before each packet it sends.", OVERHEADS)]
Tnr = Annotated[int | None, _hardware(
    "t_nr", "Interface, before the last flit of each packet it gets is handed over.", OVERHEADS)]
InjectionDelay = Annotated[int | None, _hardware(
    "injection_delay", "Host, once for each message: it prepares the headers.", OVERHEADS)]

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
    engine: Annotated[str | None, typer.Option(
        metavar="|".join(ENGINES),
        help="bulk: compiled, fast (default). amaranth: every signal, slow (default with --vcd).")] = None,
    vcd: Annotated[Path | None, typer.Option(help="Write the waveform of every signal to this file.")] = None,
    relation: RelationOption = None,
    configuration: Named = None,
    vcs: Vcs = None,
    buffer: Buffer = None,
    readers: Readers = None,
    consumption: Consumption = None,
    consumption_links: ConsumptionLinks = None,
    classes: Classes = None,
    ports: Ports = None,
    flit_width: FlitWidth = None,
    header: Header = None,
    delays: Delays = None,
    packet: Packet = None,
    queue: Queue = None,
    t_hs: Ths = None,
    t_hr: Thr = None,
    t_ns: Tns = None,
    t_nr: Tnr = None,
    injection_delay: InjectionDelay = None,
    timeout: Annotated[int, typer.Option(help="Cycles after which the run counts as stalled.",
                                          max=MOST_CYCLES)] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Goes into the JSON; nothing in a run is random.", min=0)] = 0,
    json: Json = False,
) -> int:
    """Send one multicast, or a file of messages, through the routers; report when each destination has it.

    Exit code 3 and the cycle of waiting worms on a deadlock; 5 if the run did not finish in time.

    Up to 4096 nodes by e-cube, and by hamiltonian in two dimensions.

    By other relations, which routers look up in tables, addresses of up to 8 bits: 16x16 or 4x8x8 nodes.
    """
    network = build_topology(topology)
    found = find_scheme(scheme, network)
    if relation is not None:
        with stdout_for_results():
            found = found.routed_by(load_relation(relation))
    options = hardware(
        network, found, named=configuration, vcs=vcs, buffer=buffer, readers=readers, consumption=consumption,
        consumption_links=consumption_links, classes=classes, ports=ports, flit_width=flit_width,
        header=header, delays=delays,
        packet=packet, queue=queue, t_hs=t_hs, t_hr=t_hr, t_ns=t_ns, t_nr=t_nr, injection_delay=injection_delay,
    )
    posted = _messages(network, source, destinations, length, messages)
    chosen = engine or ("amaranth" if vcd else "bulk")
    with (stdout_for_results(), _entries_named(messages),
          whole_file(vcd) if vcd else contextlib.nullcontext() as unfinished):
        result = run(network, found, posted, options, engine=chosen, vcd=unfinished,
                     timeout=timeout)
    resolved = {
        "topology": network.name, "scheme": scheme, "engine": chosen, "timeout": timeout, "named": configuration,
        "relation": relation or found.relation.name,
        **resolved_hardware(result.network.configuration, network, found),
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
    given = {name: value for name, value in options.items() if value is not None}
    chosen = CONFIGURATIONS[named].resolve(given) if named is not None else given
    configuration = Configuration(**chosen)
    if "consumption" in chosen:
        return configuration
    classes = configuration.consumption_classes(topology, scheme)
    return dataclasses.replace(configuration, consumption=classes.channels)


def resolved_hardware(configuration: Configuration, topology: Topology, scheme: Scheme) -> dict[str, Any]:
    """Give all hardware options as plain data for JSON, the scheme's classes where none are chosen."""
    return {**configuration.to_dict(), "classes": str(configuration.consumption_classes(topology, scheme))}


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
    own = relation is type(result.network.scheme).relation
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
        say(f"error on the wire: {fault.component} {network.node_name(fault.node)}, port {fault.port}, "
            f"virtual channel {fault.vc}: {fault.cause}")
    if result.deadlock:
        say(describe_deadlock(result))


def describe_hardware(configuration: Configuration) -> str:
    """Name the hardware options: the first five always, the others where they are not the usual ones."""
    told = {"vcs", "buffer", "consumption", "readers", "delays", "classes"}
    usual = Configuration().to_dict()
    others = [f"{name.replace('_', '-')} {value}" for name, value in configuration.to_dict().items()
              if name not in told and value != usual[name]]
    if configuration.classes is not None:
        others.append(describe_classes(ConsumptionClasses.parse(configuration.classes)))
    return ", ".join([
        f"{count(configuration.vcs, 'VC')} x {count(configuration.buffer, 'flit')}",
        count(configuration.consumption, "consumption channel"),
        f"{configuration.readers} readers", f"{configuration.delays} delays", *others,
    ])


def describe_classes(classes: ConsumptionClasses) -> str:
    """Write a map of classes, and in words that there are none: a worm then takes any channel."""
    return f"classes {classes}" if len(classes) else "no classes"


def describe_deadlock(result: Run) -> str:
    """Tell who waits for whom."""
    if result.deadlock is None:
        return "no deadlock"
    lines = [f"deadlock, proved in cycle {result.deadlock.at}: each worm waits for the next"]
    for hold in result.deadlock.cycle:
        visits = " ".join(map(result.network.topology.node_name, map(int, result.worms.visits(hold.worm))))
        source = result.network.topology.node_name(int(result.worms.source[hold.worm]))
        lines.append(f"  {hold.name} (from {source} to {visits}) holds {', '.join(hold.holds)}; "
                     f"waits for {' or '.join(hold.waits)}")
    return "\n".join(lines)
