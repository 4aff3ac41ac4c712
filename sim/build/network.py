"""Composition of a network: its components, and the links between them."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import NO_CLASS, ConsumptionClasses, WormcastError, Worms
from wormcast.algorithms.consumption import without_default
from wormcast.algorithms.headers import AddressList, Header
from wormcast.algorithms.routing import ALONG_LABELS, default_signs, routes_of
from wormcast.algorithms.source_digest import source_digest
from wormcast.hw.decoders import Decoder
from wormcast.hw.decoders.table_memory import RouteRows
from wormcast.hw.input_probe import InputProbe
from wormcast.hw.interface.interface_probe import InterfaceProbe
from wormcast.hw.variants import probe_of

from .configuration import MOST_WIDTH
from .fabric import HOST, Fabric
from .placement import Placement

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from wormcast.hw.interface import NetworkInterface
    from wormcast.hw.switch import Switch

__all__ = ["HOST", "TOKEN_IN", "ComponentKind", "Join", "Network"]

Instances = npt.NDArray[np.int64]

TOKEN_IN, TOKEN_OUT = "token_in", "token_out"


@dataclass(frozen=True)
class ComponentKind:
    """Components that differ only in straps and tables, so that they are elaborated, lowered and compiled once.

    Parameters
    ----------
    name : str
    build : callable
        Makes one of the components. A call of ``build`` imports Amaranth.
    instances : tuple of str
        Name of each instance in waveforms.
    straps : dict of str to int array [instances]
        Values of the static inputs, by name.
    tables : dict of str to int array [instances, rows]
        Contents of memories before the first cycle, by name. In exported hardware, the bus ``tables_in`` writes the
        memories in ``tables``, the routing tables.
    key : str
        Identifies the hardware: two kinds with the same key are the same hardware.
    """

    name: str
    build: "Callable[[], wiring.Component]"
    instances: tuple[str, ...]
    straps: dict[str, Instances]
    tables: dict[str, Instances]
    key: str


@dataclass(frozen=True)
class Join:
    """Links from a port of one kind of component to a port of the same or another kind, one per pair of instances.

    ``line``: the links are token lines, without signals from receiver to sender.
    """

    from_kind: str
    from_port: str
    from_instances: Instances
    to_kind: str
    to_port: str
    to_instances: Instances
    line: bool


@dataclass(frozen=True, eq=False)
class Network(Placement):
    """Routers and network interfaces, joined according to a topology.

    Parameters
    ----------
    topology : Topology
    scheme : Scheme
        Defines the header format and the routing relation of the routers. The network stores the scheme bound to its
        relation on the topology.
    configuration : Configuration
    lanes : int
        Number of independent networks side by side. Instance i of a kind in lane k has the number k x `count` + i.

    Raises
    ------
    WormcastError
        Two switches would have the same name, or a consumption class would depend on an unknown hop.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheme", self.configuration.as_sent(self.scheme.on(self.topology)))
        self._require_names()
        self._require_known_classes()

    def _require_names(self) -> None:
        """Refuse a network in which two switches have the same name in waveforms and Verilog."""
        names: dict[str, int] = {}
        for switch in range(self.topology.switches):
            other = names.setdefault(self.switch_scope(switch), switch)
            if other != switch:
                first, second = (self.topology.switch_names[one] for one in (other, switch))
                raise WormcastError(f"topology: {self.topology.name} is not valid: switches {first!r} and {second!r} "
                                    f"would have the same name in hardware, {self.switch_scope(switch)}. "
                                    "Allowed: names that differ in letters and digits.")

    def _require_known_classes(self) -> None:
        """Refuse consumption classes by the next hop if the next hop may be unknown at a stop.

        If a stop's address is the last one in a header flit, the next address is in a later flit, and the hop after the
        stop is unknown. The router then uses the class of the hop by which the worm arrives at the stop. The hops
        before and after a stop have the same class if the worm stays in one dimension, or in one of the networks up and
        down of the Hamiltonian labels.
        """
        rule = self.consumption_rule
        if rule.by == "last" or not len(rule) or not self.header.multicast:
            return
        assert isinstance(self.header, AddressList)
        header = self.header
        partial = bool((rule.of_channels(self.topology) == NO_CLASS).any())
        marks = header.selector_bits + header.last_bits
        if partial and self.header.capacity < 2:
            raise WormcastError(
                f"flit_width: {header.flit_width} is not valid: classes {without_default(rule)} depend on the next "
                f"hop, so a header flit must hold two addresses of {header.address_bits} bits, and the header's other "
                f"bits ({marks}). Allowed: {2 * header.address_bits + marks} or more."
            )
        dimensions = {direction.rstrip("+-") for network in rule.networks for direction in network}
        by_labels = dimensions <= {"up", "down"}
        known = len(dimensions) <= 1 or (by_labels and self.scheme.relation in ALONG_LABELS)
        if not known and self.header.capacity < self.nodes - 1:
            whole = (self.nodes - 1) * header.address_bits + marks
            wider = f", flit_width {whole} or more" if whole <= MOST_WIDTH else ""
            other = (f"relation {' or '.join(relation.name for relation in ALONG_LABELS)}" if by_labels
                     else "directions of one dimension")
            origin = "" if self.configuration.classes is not None else f" (of scheme {self.scheme.name})"
            raise WormcastError(
                f"classes: {without_default(rule)}{origin} is not valid with relation {self.scheme.relation.name}: the "
                "classes depend on the hop after a stop, and the next address may be in a later header flit. Allowed: "
                f"{without_default(rule)}:last{wider}, {other}."
            )

    @cached_property
    def header(self) -> Header:
        """Header format of the network's worms."""
        return self.blueprint.header

    @cached_property
    def consumption_rule(self) -> ConsumptionClasses:
        """Consumption classes: the consumption channels that worms may use at a stop."""
        return self.configuration.consumption_classes(self.topology, self.scheme)

    @cached_property
    def components(self) -> "dict[str, Switch | NetworkInterface]":
        """One unelaborated component of each kind, from which port names and layouts are read."""
        routers = {name: self.blueprint.router(kind) for name, kind in self.switch_kinds.items()}
        return {**routers, "interface": self.interface}

    @cached_property
    def interface(self) -> "NetworkInterface":
        """An unelaborated network interface."""
        return self.blueprint.interface(**self._interface)

    @property
    def interface_probe(self) -> type[InterfaceProbe]:
        """Class of the probes of the network's interfaces."""
        return self.blueprint.interface_variant.probe

    @property
    def _interface(self) -> dict[str, Any]:
        """Counts of an interface's injection ports, of its consumption links, and of a consumption link's channels."""
        return {"ports": self.ports, "links": self.links, "channels": self.channels}

    @property
    def fed(self) -> list[str]:
        """Names of an interface's ports that its host drives: injection ports, and ports that the variant adds."""
        return [*(f"host_in_{port}" for port in range(self.ports)), *self.blueprint.interface_variant.host_ports]

    def encode(self, worms: Worms) -> "tuple[Instances, npt.NDArray[np.uint64]]":
        """Return offsets and flits of the headers of worms, as `Header.encode_batch`, with the signs of the worms or
        the default signs."""
        signs = None
        if self.header.signed:
            signs = default_signs(self.topology, worms) if worms.signs is None else worms.signs
        return self.header.encode_batch(worms.destination_offsets, worms.destinations, signs=signs)

    def host_ports(self, node: int) -> set[str]:
        """Return the names of the interface's links and streams that a node's host uses."""
        return {*(f"host_in_{port}" for port in range(len(self.injection_ports(node)))),
                *(f"host_out_{link}" for link in range(len(self.consumption_links(node)))),
                *self.blueprint.interface_variant.host_ports}

    def probe(self, kind: str, port: int, vc: int) -> InputProbe:
        """Return the probe of an input virtual channel, for a kind of routers."""
        if (kind, port, vc) not in self._probes:
            router = self.routers[kind]
            self._probes[kind, port, vc] = probe_of(router, port, vc)
        return self._probes[kind, port, vc]

    @cached_property
    def _probes(self) -> dict[tuple[str, int, int], InputProbe]:
        return {}

    def injection_port_of(self, worms: Worms) -> Instances:
        """Return the injection port of each worm, [worms].

        If nodes have several injection ports, a worm's first hop determines its port.
        """
        if self.ports == 1:
            return np.zeros(len(worms), np.int64)
        first = worms.destinations[worms.destination_offsets[:-1]]
        switches = self.topology.injections[worms.source, 0]
        ports = np.empty(len(worms), np.int64)
        for rows, routes in routes_of(self.blueprint.routes, worms):
            phases = routes.phase_of_node[worms.source[rows]]
            ports[rows] = routes.options[phases, switches[rows], first[rows], 0] // len(routes.classes)  # preferred
        outputs = np.zeros(self.topology.neighbours.shape, np.int64)
        for switch in range(self.topology.switches):
            for port, output in self.home(switch).outputs.items():
                outputs[switch, port] = output
        return outputs[switches, ports]

    @cached_property
    def _hop_classes(self) -> npt.NDArray[np.int8]:
        """Consumption class of a hop on each link, for each class of virtual channels, [links, classes]."""
        vc_classes = len(self.blueprint.routes.classes)
        return self.consumption_rule.of_channels(self.topology, vc_classes).reshape(-1, vc_classes)

    def consumption_mask(self, switch: int, port: int, vc: int, output: int | None, ends_here: bool) -> int:
        """Return the mask of an ejection port's channels that a worm may use.

        Parameters
        ----------
        port, vc : int
            Router input and virtual channel by which the worm arrives. A worm that goes on after this node arrives on
            a link, not at an injection port.
        output : int or None
            Router output of the worm's next hop (of several candidates the last one); None: the header does not contain
            this hop.
        ends_here : bool
            The node is the worm's last destination.
        """
        masks = self.home(switch).router.consumption_masks()
        if ends_here:
            return masks[-1]
        came = vc * self._hop_classes.shape[1] // self.configuration.vcs
        last, following = (NO_CLASS if row is None or row >= len(self._hop_classes) else self._hop_classes[row, k]
                           for row, k in ((self.fabric.into[switch, port], came),
                                          (None if output is None else self.fabric.out_of[switch, output], 0)))
        # `NO_CLASS` is -1 and so selects the last mask
        return masks[int(self.consumption_rule.at_stop(last, following))]

    @cached_property
    def fabric(self) -> Fabric:
        """Links of the network."""
        return Fabric(self)

    @cached_property
    def kinds(self) -> dict[str, ComponentKind]:
        """Kinds of components by name: the kinds of routers, then the interface."""
        found = {}
        for name, kind in self.switch_kinds.items():
            decoder = self.routers[name].decoder
            straps = {
                f"strap_{strap}": np.tile(np.array(values, object), self.lanes)
                for strap, values in decoder.strap_values(self.blueprint.routes, kind).items()
            }
            if self.routers[name].has_tokens:
                straps["strap_first"] = np.tile(self._first_of_rings[kind.members], self.lanes)
            found[name] = ComponentKind(
                name,
                partial(self.blueprint.router, kind),
                self._in_lanes([f"router_{self.switch_scope(switch)}" for switch in kind.members.tolist()]),
                straps,
                {name: np.tile(rows, (self.lanes, 1)) for name, rows in self._tables(name).items()},
                f"{self.blueprint.variant.name} router {decoder.signature} {_source_of(decoder)}"
                f"{self.blueprint.parameters(kind) | {'decoder': None}}",
            )
        found["interface"] = ComponentKind(
            "interface",
            partial(self.blueprint.interface, **self._interface),
            self._in_lanes([f"interface_{self.node_scope(node)}" for node in range(self.nodes)]),
            {},
            {},
            f"{self.blueprint.interface_variant.name} interface "
            f"{self.blueprint.interface_parameters(**self._interface)}",
        )
        return found

    @cached_property
    def _first_of_rings(self) -> Instances:
        """Flag for each switch: it holds its group's token after reset, [switches]."""
        first = np.zeros(self.topology.switches, np.int64)
        first[[ring[0] for ring in self.rings.values()]] = 1
        return first

    @cached_property
    def rings(self) -> dict[tuple[int, int], list[int]]:
        """Switches of each group that shares a token, by (stage, group), in the token's order."""
        return {} if self.blueprint.tokens is None else self.blueprint.tokens.rings()

    def ring_of(self, switch: int) -> tuple[int, int]:
        """Return stage and group of a switch that shares a token."""
        assert self.blueprint.tokens is not None
        return int(self.blueprint.tokens.stage[switch]), int(self.blueprint.tokens.group[switch])

    def _tables(self, kind: str) -> dict[str, Instances]:
        """Return the memory contents of all routers of a kind in one lane, by the name of the memory."""
        return {".".join(found.path): found.rows for found in self._memories(kind)}

    def _memories(self, kind: str) -> list[RouteRows]:
        return self.routers[kind].decoder.memories(self.blueprint.routes, self.switch_kinds[kind])

    @property
    def chain(self) -> list[tuple[str, int]]:
        """Routers of all lanes, (kind, instance), in their order on the bus that writes the routing tables."""
        if self.blueprint.tables is None:
            return []
        homes = [self.home(switch) for switch in range(self.topology.switches)]
        return [(home.kind, lane * self.count(home.kind) + home.instance)
                for lane in range(self.lanes) for home in homes]

    def table_writes(self) -> Iterator[dict[int | str, int]]:
        """Yield the writes on the bus that fills the routing tables, one per cycle, for all entries with an output."""
        for hops, (kind, instance) in enumerate(self.chain):
            for found in self._memories(kind):
                rows = self.kinds[kind].tables[".".join(found.path)]
                for address, entry in enumerate(rows[instance].tolist()):
                    if entry != found.nowhere:
                        yield {"write": 1, "hops": hops, "input": found.table, "address": found.first + address,
                               "entry": entry}

    def _in_lanes(self, names: list[str]) -> tuple[str, ...]:
        """Return the names of instances of all lanes, with the number of the lane if there are several."""
        if self.lanes == 1:
            return tuple(names)
        parts = [name.partition("_") for name in names]
        return tuple(f"{kind}_lane{lane}_{name}" for lane in range(self.lanes) for kind, _, name in parts)

    @cached_property
    def joins(self) -> list[Join]:
        """All links and token lines between components of the network, including the links of hosts."""
        near: dict[tuple[str, str, str, str, bool], list[tuple[int, int]]] = {}
        for link in self.fabric.links:
            ends = link.near.kind, link.near.port, link.far.kind, link.far.port, False
            near.setdefault(ends, []).append((link.near.instance, link.far.instance))
        for ring in self.rings.values():
            homes = [self.home(switch) for switch in ring]
            for giver, taker in zip(homes, [*homes[1:], homes[0]], strict=True):
                ends = giver.kind, TOKEN_OUT, taker.kind, TOKEN_IN, True
                near.setdefault(ends, []).append((giver.instance, taker.instance))
        for port in range(self.ports):
            fed = [(node, node) for node in range(self.nodes) if port < len(self.injection_ports(node))]
            near[HOST, f"tx_{port}", "interface", f"host_in_{port}", False] = fed
        for number, name in enumerate(self.fed[self.ports:], self.ports):
            near[HOST, f"tx_{number}", "interface", name, False] = [(node, node) for node in range(self.nodes)]
        return [self._join(*ends, np.array(pairs).T) for ends, pairs in near.items()]

    def _join(self, from_kind: str, from_port: str, to_kind: str, to_port: str, line: bool, pairs: Instances) -> Join:
        starts, ends = (self._everywhere(kind, some) for kind, some in zip((from_kind, to_kind), pairs, strict=True))
        return Join(from_kind, from_port, starts, to_kind, to_port, ends, line)

    def _everywhere(self, kind: str, instances: Instances) -> Instances:
        """Return the numbers of these instances of a kind in all lanes: first all of lane 0, then all of lane 1, ..."""
        return (np.arange(self.lanes)[:, None] * self.count(kind) + instances).reshape(-1)


def _source_of(decoder: Decoder) -> str:
    """Return a digest of the file of a user's decoder, or an empty text for a decoder of this package.

    The keys of all cached kernels already depend on the sources of this package's decoders.
    """
    ours = type(decoder).__module__.startswith("wormcast.")
    return "" if ours else f"{source_digest([inspect.getfile(type(decoder))])} "
