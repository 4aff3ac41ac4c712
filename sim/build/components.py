# amaranth: UnusedElaboratable=no
# Components are often built only to read their ports. Amaranth must not warn about unelaborated components.
"""Hardware components by name, each built as a part of a complete router or network interface."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.algorithms.errors import nearest

from .compatibility import require_sendable
from .configurations import hardware
from .host_port import LINKS, HostPort
from .setup import DEFAULTS, name_of

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from wormcast.hw.decoders.header_decoder import HeaderDecoder
    from wormcast.hw.input_decode import InputDecode
    from wormcast.hw.router import Blueprint

__all__ = ["COMPONENTS", "Exported", "blueprint_of", "build_component", "find_component", "host_port_of"]


def blueprint_of(options: Mapping[str, Any]) -> "Blueprint":
    """Build the `Blueprint` of a network, the parameters of all its components, from options as a user names them.

    Parameters
    ----------
    options : mapping
        ``topology``, ``scheme``, ``relation`` as for `find_scheme`, ``relations`` joined by commas, and the hardware
        options of `hardware`. A missing ``topology`` or ``scheme`` is taken from `DEFAULTS`.
    """
    from wormcast.hw.router import Blueprint

    chosen = {**DEFAULTS, **options}
    if "relation" in chosen and "relations" in chosen:
        raise WormcastError(f"relation: {name_of(chosen['relation'])} is not valid with relations "
                            f"{chosen['relations']}. Allowed: one of the two options.")
    network = topology(chosen.pop("topology"))
    scheme = find_scheme(chosen.pop("scheme"), network, chosen.pop("relation", None))
    relations = chosen.pop("relations", None)
    resolved = hardware(network, scheme, chosen)
    resolved.require_hardware()
    require_sendable(network, scheme, resolved)
    return Blueprint(network, scheme, resolved, tuple(relations.split(",")) if relations else ())


def host_port_of(name: str, given: Mapping[str, Any]) -> HostPort:
    """Return the port to the host for a component. ``given``: options of `HostPort`.

    The default of ``host`` is "stream" for components with `Exported.streams`, and that of `HostPort` for others.
    """
    part = COMPONENTS.get(name)
    return HostPort.of({"host": "stream", **given} if part is not None and part.streams else given)


def build_component(blueprint: "Blueprint", name: str, port: str | None = None,
                    kind: str | None = None, host_port: HostPort = LINKS) -> "wiring.Component":
    """Build a component.

    Parameters
    ----------
    name : str
        One of `COMPONENTS`.
    port : str, optional
        Port of the router that the component belongs to. Default: the first one.
    kind : str, optional
        Kind of router that the component belongs to: a key of `Blueprint.named_kinds`. Default: the first one.
    host_port : HostPort
        Port between the interface and its host. With Amaranth streams, only the interface and the parts of its streams
        can be built; with AXI4-Stream, only the interface.

    Raises
    ------
    WormcastError
        Name, port or kind is unknown, or this hardware does not contain the component.
    """
    part = find_component(name)
    kinds = blueprint.named_kinds
    if kind is not None and (kind not in kinds or part.whole == "interface"):
        reason = f"{blueprint.topology.name} has other kinds. Allowed: {', '.join(kinds)}."
        if part.whole == "interface":
            reason = f"{name} is not a part of a router. Allowed: with router and its parts."
        raise WormcastError(f"kind: {kind!r} is not valid: {reason}")
    router = blueprint.router(None if kind is None else kinds[kind])
    ports = {"input": router.decoder.inputs, "output": router.decoder.outputs}.get(part.side or "", ())
    if port is not None and port not in ports:
        reason = f". Allowed: {', '.join(ports)}." if ports else (
            f": {name} does not belong to a port. Allowed: with parts that do, for example decoder.")
        raise WormcastError(f"port: {port!r} is not valid{reason}")
    if host_port.streams and name != "interface" and not (part.streams and host_port.host == "stream"):
        raise WormcastError(f"host: {host_port.host} is not valid with {name}. Allowed: links"
                            f"{', stream' if part.streams else ''}; all hosts with network and interface.")
    if part.streams:
        host_port = replace(host_port, host="stream")
    from .stream_network import host_interface, resolved

    whole = host_interface(blueprint, host_port) if part.whole == "interface" else router
    path = [step.format(port=port or next(iter(ports), "")) for step in part.path]
    try:
        found = _inside(whole, path)
    except NameError:  # the hardware has no submodule at this path
        found = None
    if not isinstance(found, part.kind):
        given, instead = _given(blueprint, part), _instead(part, found)
        if part.path == ("headers",) and (form := _other_sets(blueprint, part, host_port)):
            given, instead = f"--sets {resolved(host_port, blueprint).sets}", f" Needed: --sets {form}."
        raise WormcastError(f"{name} is not a part of hardware with {given}.{instead}")
    return part.take(found)


def _other_sets(blueprint: "Blueprint", part: "Exported", port: HostPort) -> str | None:
    """Return the form of destination sets with which the stream of the same hardware has the component; None if there
    is none."""
    from .stream_network import has_headers, resolved

    form = "mask" if resolved(port, blueprint).sets == "table" else "table"
    return form if has_headers(blueprint, form, part.kind) else None


def _given(blueprint: "Blueprint", part: "Exported") -> str:
    """Return as text the blueprint's values of ``part.options``; if these are empty, of topology and scheme."""
    named = {"topology": blueprint.topology.name, "scheme": blueprint.scheme.name}
    given = {option: named.get(option, getattr(blueprint.configuration, option, None))
             for option in part.options or named}
    return " and ".join(f"--{option.replace('_', '-')} {value}" for option, value in given.items() if value is not None)


def _instead(part: "Exported", found: object) -> str:
    """Return the end of an error message: options with which hardware has a component, or the name of the component
    ``found`` at its place."""
    if part.options:
        words = (f"--{option.replace('_', '-')} {value}" for option, value in part.options.items())
        return f" Needed, for example: {' '.join(words)}."
    others = [name for name, other in COMPONENTS.items() if other.path == part.path and isinstance(found, other.kind)]
    return f" Allowed: {' or '.join(others)}." if others else ""


@dataclass(frozen=True)
class Exported:
    """Place of a component in a router or an interface.

    Parameters
    ----------
    description : str
        Function of the component, in one line.
    whole : "router" or "interface"
        Hardware that contains the component.
    path : tuple of str
        Nested submodules, from ``whole`` to the component; ``{port}`` stands for the name of a router's port.
    side : "input", "output" or None
        Each input, or each output, of a router has a component of this kind. If ``side`` is None, the
        component belongs to no port.
    found : str
        Module of wormcast.hw, and class in it that the submodule at ``path`` must have; empty: any class. The class of
        the submodule at ``path`` can depend on the hardware's options.
    take : callable
        Makes the component from the submodule at ``path``. By default, the submodule itself is the component.
    options : mapping
        Options with which hardware contains the component. If ``options`` is empty, hardware with the options
        `DEFAULTS` contains the component.
    streams : bool
        The component is part of an interface whose host has AXI or Amaranth streams.
    """

    description: str
    whole: str
    path: tuple[str, ...] = ()
    side: str | None = None
    found: str = ""
    take: Callable[[Any], "wiring.Component"] = lambda found: found
    options: Mapping[str, str | int] = field(default_factory=dict)
    streams: bool = False

    @property
    def kind(self) -> type:
        """Class that the submodule at ``path`` must have."""
        from amaranth.lib import wiring

        module, _, name = self.found.rpartition(".")
        return getattr(importlib.import_module(f"wormcast.hw.{module}"), name) if module else wiring.Component


def _decoder(intake: "InputDecode") -> "HeaderDecoder":
    from wormcast.hw.decoders.header_decoder import HeaderDecoder

    return HeaderDecoder(intake.port, intake.decoder, width=intake.width)


#: Options of hardware whose switches replicate tree worms, with tokens.
TREES = {"topology": "min:b=2,stages=2", "scheme": "atbm", "tokens": "on"}

#: Options of hardware with deep buffers, which hold whole worms.
WHOLE = {"topology": "irregular:switches=4,ports=4,nodes=6", "scheme": "tree", "configuration": "sivaram_32"}

#: Options of hardware with smart interfaces, which forward packets.
FORWARDS: dict[str, str | int] = {"ni": "fpfs", "packet": 16}

#: Options of hardware whose smart interfaces have rows that are requested by control packets.
ADMISSION: dict[str, str | int] = {**FORWARDS, "admission": "messages"}

#: Options of hardware whose interfaces have queues of whole packets, and one processor for both.
QUEUES: dict[str, str | int] = {"packet": 16, "receive_queue": 2, "send_queue": 2, "ni_processors": "one"}

COMPONENTS: Mapping[str, Exported] = {
    "router": Exported("one switch, with all its inputs and outputs", "router"),
    "input-unit": Exported("one input of a router: buffer, worms, readers", "router", ("{port}_input",), "input",
                       "input_unit.InputUnit"),
    "intake": Exported("an input's write side: frames worms, finds errors", "router", ("{port}_input", "intake"),
                       "input", "input_decode.InputDecode"),
    "decoder": Exported("an input's header decoder, without a clock", "router", ("{port}_input", "intake"), "input",
                    "input_decode.InputDecode", _decoder),
    "replication-buffer": Exported(
        "an input's buffer: one writer, several readers, pending counters", "router", ("{port}_input", "buffer"),
        "input", "buffer.ReplicationBuffer"),
    "input-vc": Exported("state machine of a worm in one virtual channel", "router", ("{port}_input", "channel_0"),
                         "input", "input_vc.InputVC"),
    "tree-input": Exported("one input of a router that copies worms to several outputs", "router", ("{port}_input",),
                       "input", "tree.input_unit.TreeInput", options=TREES),
    "tree-intake": Exported("a tree input's write side: finds a worm's branches, and errors", "router",
                        ("{port}_input", "intake"), "input", "tree.input_decode.TreeInputDecode", options=TREES),
    "branch-buffer": Exported("a tree input's buffer: one writer, a reader for each branch", "router",
                          ("{port}_input", "buffer"), "input", "tree.buffer.BranchBuffer", options=TREES),
    "tree-worm": Exported("a worm's branches and reports, in one virtual channel", "router",
                          ("{port}_input", "channel_0"), "input", "tree.worm.TreeWorm", options=TREES),
    "token-station": Exported("takes the token of a router's group, and passes it on", "router", ("token",), None,
                          "token_station.TokenStation", options=TREES),
    "deep-input": Exported("one input of a router that holds whole worms", "router", ("{port}_input",), "input",
                       "deep.input_unit.DeepInput", options=WHOLE),
    "deep-intake": Exported("a deep input's write side: finds a worm's branches, and errors", "router",
                        ("{port}_input", "intake"), "input", "deep.input_decode.DeepInputDecode", options=WHOLE),
    "chunk-store": Exported("a deep input's buffer: rows of flits in block memory, with replication chunk counters",
                        "router", ("{port}_input", "store"), "input", "deep.chunk_buffer.ChunkBuffer", options=WHOLE),
    "window": Exported("a deep input's recent flits, for outputs that forward them without the buffer", "router",
                   ("{port}_input", "window"), "input", "deep.cut_through.CutThroughWindow", options=WHOLE),
    "deep-worm": Exported("the worm that a deep input serves, and its requests", "router",
                      ("{port}_input", "channel_0"), "input", "deep.worm.DeepWorm", options=WHOLE),
    "row-reader": Exported("an output's reader of a worm, row by row or cut-through", "router", ("{port}_reader",),
                       "output", "deep.reader.RowReader", options=WHOLE),
    "fetch-order": Exported("selects the reader of a router that fetches a row", "router", ("order",), None,
                        "deep.row_scheduler.RowScheduler", options=WHOLE),
    "allocator": Exported("grants a router's outputs, in one least-recently-granted order", "router", ("allocator",)),
    "output-unit": Exported("one output of a router: owners, credits, the link's register", "router",
                            ("{port}_output",), "output"),
    "interface": Exported("the network interface of one node", "interface"),
    "injection": Exported("an interface's injection side: packets on free virtual channels", "interface",
                          ("injection_0",)),
    "consumption": Exported("an interface's ejection side: payload from the consumption channels", "interface",
                        ("consumption_0",)),
    "retransmission": Exported("an interface's absorb buffers and retransmission slots, with --absorb SLOTS",
                               "interface", ("injection_0", "slots"), options={"absorb": "1"}),
    "packet-queue": Exported("an interface's receive queue of whole packets, with --receive-queue PACKETS", "interface",
                             ("consumption_0", "queue"), found="interface.packet_queue.PacketQueue",
                             options={"packet": 16, "receive_queue": 2}),
    "communication-processor": Exported(
        "the processor of both queues of an interface, with --ni-processors one", "interface", ("processor",),
        found="interface.communication_processor.CommunicationProcessor", options=QUEUES),
    "dma-engine": Exported(
        "token bucket of the bus between host and interface, with --dma RATE --dma-engine interface", "interface",
        ("dma_0",), found="interface.dma_engine.DmaEngine", options={"dma": "4/3", "dma_engine": "interface"}),
    "forwarding": Exported("a smart interface's packets, stored once and sent to each child, with --ni fcfs or fpfs",
                       "interface", ("forwarding",), found="interface.smart.forwarding.Forwarding", options=FORWARDS),
    "child-table": Exported("the children of each message that a smart interface forwards", "interface",
                        ("forwarding", "children"), found="interface.smart.children.ChildTable", options=FORWARDS),
    "row-admission": Exported(
        "grants or refuses rows of the child table to requests, with --admission messages", "interface", ("admission",),
        found="interface.smart.row_admission.RowAdmission", options=ADMISSION),
    "packet-order": Exported("selects the next packet and child: first packet, first served", "interface",
                         ("forwarding", "order"), found="interface.smart.orders.PacketOrder", options=FORWARDS),
    "message-order": Exported("selects the next packet and child: first child, first served", "interface",
                          ("forwarding", "order"), found="interface.smart.orders.MessageOrder",
                          options={**FORWARDS, "ni": "fcfs"}),
    "stream-interface": Exported("a network interface whose host has streams of payload", "interface",
                                 found="streams.StreamInterface", streams=True),
    "stream-sender": Exported("sends each message of a host as the worms of its destination set", "interface",
                              ("sender",), found="streams.StreamSender", streams=True),
    "stream-receiver": Exported("turns worms into messages that name their source", "interface", ("receiver_0",),
                                found="streams.StreamReceiver", streams=True),
    "set-table": Exported("headers of destination sets that the host has written", "interface", ("headers",),
                          found="streams.SetTable", options={"scheme": "e-mcast"}, streams=True),
    "address-headers": Exported("computes address lists from a mask of destinations", "interface", ("headers",),
                                found="streams.AddressHeaders", streams=True),
    "bit-string-headers": Exported("computes a bit string from a mask of destinations", "interface", ("headers",),
                                   found="streams.BitStringHeaders", streams=True,
                                   options={"topology": "min:b=2,stages=5", "scheme": "atbm"}),
}


def find_component(name: str) -> Exported:
    """Return the entry of `COMPONENTS` with this name. Refuse an unknown name, and list all names in the message."""
    if name not in COMPONENTS:
        raise WormcastError(f"what: {name!r} is not valid.{nearest(name, COMPONENTS)} "
                            f"Allowed: {', '.join(COMPONENTS)}.")
    return COMPONENTS[name]


def _inside(whole: "wiring.Component", path: list[str]) -> Any:
    """Elaborate a component and return its submodule at ``path``; for an empty path, return the component itself."""
    if not path:
        return whole
    from amaranth.hdl import Fragment

    fragment = Fragment.get(whole, None)
    for step in path:
        fragment = fragment.find_subfragment(step)
    return fragment.origins[0]
