"""Verilog of a network: a module for each kind of router and interface, and a top module that connects instances."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ...build.network import HOST, Network
from ..clocking import ENABLE
from .ports import ComponentPort, ports

__all__ = ["Outside", "kind_module", "outside", "table_words", "top"]

INTERFACE = "interface"
TABLES_IN, TABLES_OUT = "tables_in", "tables_out"

Pins = dict[tuple[str, int, str], str]
"""Wire or constant at each port of each instance, by kind, instance and port."""


@dataclass(frozen=True)
class Outside:
    """A port of the network: between an interface and its host, a fault output, or the bus that writes routing tables.

    Parameters
    ----------
    of : "node", "router" or ""
        Owner of the port. In direct networks, a router's ports belong to its node. Empty: the network.
    scope : str
        Name of the owner: ``1_2``, ``s3``.
    what : str
        The port's name without the owner: ``host_in_0_valid``, ``router_fault``, ``fault``, ``tables_in``.
    kind : str
    instance : int
    port : ComponentPort
        Port of the component.
    """

    of: str
    scope: str
    what: str
    kind: str
    instance: int
    port: ComponentPort

    @property
    def name(self) -> str:
        """Name in Verilog: ``node_1_2_host_in_0_valid``, ``router_s3_fault``, ``tables_in``."""
        return "_".join(filter(None, (self.of, self.scope, self.what)))


def kind_module(name: str, kind: str) -> str:
    """Return the module name of a kind of component in network ``name``."""
    return f"{name}_{kind}"


def outside(network: Network) -> Iterator[Outside]:
    """Yield the network's ports: table bus, ports of each node, and fault outputs of routers in indirect networks."""
    if network.chain:
        kind, instance = network.chain[0]
        yield Outside("", "", TABLES_IN, kind, instance, _port(network, kind, TABLES_IN))
    own = network.topology.direct
    for node in range(network.nodes):
        yield from _of_node(network, node)
        if own:
            home = network.home(node)
            yield Outside("node", network.node_scope(node), "router_fault", home.kind, home.instance,
                          _port(network, home.kind, "fault"))
    for switch in range(0 if own else network.topology.switches):
        home = network.home(switch)
        yield Outside("router", network.switch_scope(switch), "fault", home.kind, home.instance,
                      _port(network, home.kind, "fault"))


def _of_node(network: Network, node: int) -> Iterator[Outside]:
    """Yield the ports between a node's interface and its host, for links and streams that the node has, and the fault
    output."""
    ways, scope = network.host_ports(node), network.node_scope(node)
    for port in ports(network.components[INTERFACE]):
        if port.path[0] in ways:
            yield Outside("node", scope, port.name, INTERFACE, node, port)
    yield Outside("node", scope, "interface_fault", INTERFACE, node, _port(network, INTERFACE, "fault"))


def _port(network: Network, kind: str, name: str) -> ComponentPort:
    """Return port ``name`` of a kind of component. The port must not be part of a link."""
    return next(port for port in ports(network.components[kind]) if port.path == (name,))


def table_words(network: Network) -> list[int]:
    """Return the words for ``tables_in``, one per cycle: all entries, then 0 until the last entry has arrived."""
    bus = network.blueprint.tables
    if bus is None:
        return []
    words = [bus.layout.const(entry).as_bits() for entry in network.table_writes()]
    return words + [0] * len(network.chain)


def top(network: Network, name: str, *, clock_enable: bool = False) -> str:
    """Return the Verilog of the network's top module ``name``. `kind_module` returns the names of its submodules.

    Parameters
    ----------
    clock_enable : bool
        As in `netlist`.
    """
    return "".join(_top(network, name, ["clk", "rst", *[ENABLE] * clock_enable]))


def _top(network: Network, name: str, shared: list[str]) -> Iterator[str]:
    """Yield the lines of the top module. ``shared``: inputs that go to all components."""
    listed = [f"  input  wire {port}" for port in shared]
    pins: Pins = {}
    for entry in outside(network):
        pins[entry.kind, entry.instance, entry.port.name] = entry.name
        way = "input " if entry.port.inward else "output"
        listed.append(f"  {way} wire {_range(entry.port.width)}{entry.name}")
    yield f"module {name}(\n" + ",\n".join(listed) + "\n);\n"
    yield from _join(network, pins)
    unused = []
    for kind, component in network.components.items():
        for instance, called in enumerate(network.kinds[kind].instances):
            lines = [f".{port}({port})" for port in shared]
            for port in ports(component):
                at = kind, instance, port.name
                if at not in pins and port.inward:
                    strap = network.kinds[kind].straps.get(port.name)
                    pins[at] = f"{port.width}'h{0 if strap is None else int(strap[instance]):x}"
                elif at not in pins:
                    pins[at] = f"{called}_{port.name}"
                    unused.append(pins[at])
                    yield f"  wire {_range(port.width)}{pins[at]};\n"
                lines.append(f".{port.name}({pins[at]})")
            yield f"  {kind_module(name, kind)} {called} (\n    " + ",\n    ".join(lines) + "\n  );\n"
    if unused:
        yield "  wire unused = &{1'h0, " + ", ".join(unused) + "};\n"
    yield "endmodule\n"


def _join(network: Network, pins: Pins) -> Iterator[str]:
    """Declare a wire for each signal of each link and of the table bus, and connect the wire to both ends.

    Wires are named after their drivers.
    """
    for first, second in pairwise(network.chain):
        port = _port(network, first[0], TABLES_OUT)
        wire = f"{network.kinds[first[0]].instances[first[1]]}_{TABLES_OUT}"
        pins[*first, TABLES_OUT] = pins[*second, TABLES_IN] = wire
        yield f"  wire {_range(port.width)}{wire};\n"
    for join in network.joins:
        if HOST in (join.from_kind, join.to_kind):
            continue
        members = [port for port in ports(network.components[join.to_kind]) if port.path[0] == join.to_port]
        for start, end in zip(join.from_instances.tolist(), join.to_instances.tolist(), strict=True):
            for port in members:
                near = join.from_kind, start, f"{join.from_port}_{port.path[1]}"
                far = join.to_kind, end, port.name
                kind, instance, name = near if port.inward else far
                wire = f"{network.kinds[kind].instances[instance]}_{name}"
                pins[near] = pins[far] = wire
                yield f"  wire {_range(port.width)}{wire};\n"


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""
