# amaranth: UnusedElaboratable=no
# An interface's ports are read before the interface is elaborated, and some interfaces are never elaborated.
"""Interfaces and networks whose hosts have streams in place of links."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wormcast.algorithms import SCHEMES, WormcastError
from wormcast.algorithms.headers import BitString
from wormcast.algorithms.phrases import given_text

from ..common.text import span_text
from .configuration import Configuration
from .host_port import LINKS, HostPort
from .network import ComponentKind, Network

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from wormcast.hw.router import Blueprint

__all__ = ["StreamNetwork", "has_headers", "host_interface", "require_streams", "resolved", "set_beats"]

#: Hardware options that streams require, with the reason.
REQUIRED = {
    "packet": (0, "packets of a message may overtake each other"),
    "ni": ("conventional", "a stream cannot write the child table of a smart interface"),
    "absorb": ("off", "streams do not send absorbed worms again"),
    "ports": ("one", "a stream goes to one injection port"),
}


def resolved(port: HostPort, blueprint: "Blueprint[Configuration]") -> HostPort:
    """Return the options with the form of destination sets that the hardware has."""
    if port.sets is not None or not port.streams:
        return port
    return replace(port, sets="table" if _headers_by_mask(blueprint) is None else "mask")


def _headers_by_mask(blueprint: "Blueprint[Configuration]") -> "tuple[wiring.Component, np.ndarray] | None":
    """Return the component that computes the scheme's headers from a mask, with the position of each node.

    Return None if the hardware has no such component.
    """
    from wormcast.hw.streams import AddressHeaders, BitStringHeaders

    header, topology, scheme = blueprint.header, blueprint.topology, blueprint.scheme
    ids = np.arange(topology.nodes)
    if isinstance(header, BitString):
        return BitStringHeaders(header), ids
    if header.relations > 1 or header.signed:
        return None
    if type(scheme) is type(SCHEMES["individual"]):
        return AddressHeaders(header, ids, each=True), ids  # type: ignore[arg-type]
    if type(scheme) is type(SCHEMES["dual-path"]):
        return (AddressHeaders(header, topology.node_of_label, each=False),  # type: ignore[arg-type]
                topology.hamiltonian_labels)
    return None


def has_headers(blueprint: "Blueprint[Configuration]", form: str, kind: type) -> bool:
    """Return whether streams with this form of destination sets have headers from a component of this class."""
    from wormcast.hw.streams import SetTable

    masks = _headers_by_mask(blueprint)
    return kind is SetTable if form == "table" else masks is not None and isinstance(masks[0], kind)


def require_streams(blueprint: "Blueprint[Configuration]", port: HostPort) -> None:
    """Refuse streams for hardware that cannot have them."""
    options = blueprint.configuration
    given = options.to_dict()
    for name, (value, reason) in REQUIRED.items():
        if given[name] != value:
            raise WormcastError(f"{name}: {given[name]} is not valid with host {port.host}: {reason}. "
                                f"Allowed: {value}.")
    if port.sets == "table" or _headers_by_mask(blueprint) is None:
        _require_sent_by_source(blueprint, port)
    _require_width(blueprint, port)
    if port.sets == "mask":
        sizes, usual = asdict(port), asdict(LINKS)
        for name in ("set_count", "set_flits"):
            if (size := sizes[name]) != usual[name]:
                raise WormcastError(f"{name}: {size} is not valid with sets mask: only a table has a size. Allowed: "
                                    "with sets table.")
    if port.sets == "mask" and _headers_by_mask(blueprint) is None:
        raise WormcastError(f"sets: mask is not valid: the hardware does not compute headers of {blueprint.scheme.name}"
                            f" on {blueprint.topology.name}. Allowed: table.")
    header = blueprint.header
    most = header.flits(max(blueprint.topology.nodes - 1, 1) if header.multicast else 1) + 1
    if options.deep and most + port.message_flits > options.buffer:
        allowed = f"with buffer {most + port.message_flits} or more"
        if options.buffer > most:
            allowed = f"message_flits {span_text(1, options.buffer - most)}, or {allowed}"
        raise WormcastError(f"message_flits: {given_text(port, 'message_flits')} is not valid: a buffer of "
                            f"{options.buffer} flits must hold a whole worm, with {most} flits in front of the "
                            f"message. Allowed: {allowed}.")


def _require_width(blueprint: "Blueprint[Configuration]", port: HostPort) -> None:
    """Refuse a flit width that is too small for the id of a node or for a table of sets.

    With AXI4-Stream, also refuse a width that is no multiple of 8 bits.
    """
    width, bits = blueprint.configuration.flit_width, (blueprint.topology.nodes - 1).bit_length()
    least = max(bits, 8 if port.sets == "table" else 1)
    reason = "a flit must hold the id of a node" if width < bits else "" if width >= least else (
        "a table of sets needs flits of at least a byte")
    if port.host == "axis" and not reason and width % 8:
        reason = "AXI4-Stream has whole bytes"
    if reason:
        allowed = f"multiples of 8, from {-(-least // 8) * 8}" if port.host == "axis" else f"{least} or more"
        raise WormcastError(f"flit_width: {width} is not valid with host {port.host}: {reason}. Allowed: {allowed}.")


def _require_sent_by_source(blueprint: "Blueprint[Configuration]", port: HostPort) -> None:
    """Refuse streams for a scheme whose destinations send copies on."""
    network, scheme = blueprint.topology, blueprint.scheme
    others = np.arange(1, network.nodes)
    if len(others) and len({*scheme.batch(network, [0], [0, len(others)], others).source.tolist()}) > 1:
        raise WormcastError(f"host: {port.host} is not valid with scheme {scheme.name}: its destinations send copies "
                            "on, and a stream's hardware sends the worms of its own host alone. Allowed: host links, "
                            "or a scheme whose source sends all worms of a message, for example individual.")


def host_interface(blueprint: "Blueprint[Configuration]", port: HostPort, **count: int | None) -> "wiring.Component":
    """Build a network interface with the port to the host. ``count`` is as in `Blueprint.interface`."""
    interface = blueprint.interface(**count)
    if not port.streams:
        return interface
    from wormcast.hw.streams import AxisInterface, SetTable, StreamInterface

    port = resolved(port, blueprint)
    require_streams(blueprint, port)
    masks = _headers_by_mask(blueprint) if port.sets == "mask" else None
    headers = masks[0] if masks else SetTable(sets=port.set_count, flits=port.set_flits,
                                              width=blueprint.configuration.flit_width)
    streams = StreamInterface(interface, headers, nodes=blueprint.topology.nodes, message=port.message_flits)
    return AxisInterface(streams) if port.host == "axis" else streams


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamNetwork(Network):
    """Network whose hosts send and receive messages by streams. A network with streams can be exported, but engines do
    not simulate it.

    Parameters
    ----------
    host_port : HostPort
        With streams.
    """

    host_port: HostPort

    @cached_property
    def components(self) -> "dict[str, Any]":
        return {**super().components, "interface": self._host_interface()}

    @cached_property
    def kinds(self) -> dict[str, ComponentKind]:
        kinds = super().kinds
        positions = _headers_by_mask(self.blueprint)
        straps = {"strap_node": np.arange(self.nodes)}
        if "strap_position" in self.components["interface"].signature.members and positions is not None:
            straps["strap_position"] = np.asarray(positions[1], np.int64)
        given = {name: np.tile(values, self.lanes) for name, values in straps.items()}
        return kinds | {"interface": replace(kinds["interface"], build=self._host_interface, straps=given)}

    def _host_interface(self) -> "wiring.Component":
        return host_interface(self.blueprint, self.host_port, **self._interface)

    def host_ports(self, node: int) -> set[str]:
        axis = self.host_port.host == "axis"
        received, sent = ("m_axis", {"s_axis", "s_axis_table"}) if axis else ("receive", {"send", "table"})
        return sent | {f"{received}_{link}" for link in range(len(self.consumption_links(node)))} | {"send_fault"}


def set_beats(network: Network, number: int, source: int, destinations: Sequence[int]) -> list[tuple[int, int]]:
    """Return the beats that write a destination set into the table of a node's interface: data and mark of each beat.

    The first beat has the number of the set. The other beats are header flits; the mark is 1 at the last header flit of
    a worm. TLAST is 1 in the last beat of the list.

    Parameters
    ----------
    number : int
        Number of the set.
    source : int
        Node that sends to the set.
    destinations : sequence of int
    """
    worms = network.scheme.batch(network.topology, [source], [0, len(destinations)], destinations)
    offsets, flits = network.encode(worms)
    ends = {int(end) - 1 for end in offsets[1:]}
    words = (sum(int(part) << 64 * k for k, part in enumerate(flit)) for flit in flits)
    return [(number, 0), *((word, int(k in ends)) for k, word in enumerate(words))]
