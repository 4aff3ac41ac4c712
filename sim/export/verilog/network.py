"""A network in Verilog: routers and interfaces, each kind a module once, joined as the topology says."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...build.network import HOST, Network
from .ports import ComponentPort, ports

__all__ = ["Outside", "kind_module", "outside", "top"]

Pins = dict[tuple[str, int, str], str]
"""What stands behind each port of each instance: kind, instance, port."""


@dataclass(frozen=True)
class Outside:
    """A port of the network: one of an interface's to its host, or what a component has found wrong.

    Parameters
    ----------
    node : str
        The node's name, as in ``1_2``.
    instance : int
    kind : str
    port : ComponentPort
        The component's.
    """

    node: str
    instance: int
    kind: str
    port: ComponentPort

    @property
    def name(self) -> str:
        """Name in Verilog: ``node_1_2_host_in_0_valid``, ``node_1_2_router_fault``."""
        return f"node_{self.node}_" + (f"{self.kind}_" if len(self.port.path) == 1 else "") + self.port.name


def kind_module(name: str, kind: str) -> str:
    """Name of the module of a kind of component, in a network of that name."""
    return f"{name}_{kind}"


def outside(network: Network) -> Iterator[Outside]:
    """Ports of the network, node after node."""
    hosts = {join.to_port if join.from_kind == HOST else join.from_port
             for join in network.joins if HOST in (join.from_kind, join.to_kind)}
    for instance in range(network.instances):
        for kind in ("interface", "router"):
            node = network.kinds[kind].instances[instance].removeprefix(f"{kind}_")
            for port in ports(network.components[kind]):
                if port.path == ("fault",) or (kind == "interface" and port.path[0] in hosts):
                    yield Outside(node, instance, kind, port)


def top(network: Network, name: str) -> str:
    """Verilog of the network's own module, called ``name``; what it is made of is called as `kind_module` says."""
    return "".join(_top(network, name))


def _top(network: Network, name: str) -> Iterator[str]:
    listed = ["  input  wire clk", "  input  wire rst"]
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
            lines = [".clk(clk)", ".rst(rst)"]
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
    """Put a wire between the two ends of each member of a link, called as the end that drives it."""
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
