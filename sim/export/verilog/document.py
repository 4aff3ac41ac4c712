"""Table of the ports of an export, in Markdown."""

from collections.abc import Iterable, Iterator
from enum import EnumMeta
from itertools import groupby
from typing import Any

from amaranth.hdl import Shape
from amaranth.lib import data, wiring

from wormcast.algorithms.headers.address_list import axis
from wormcast.hw.faults import Cause
from wormcast.hw.interface import NetworkInterface
from wormcast.hw.link import LinkSignature
from wormcast.hw.router import Blueprint
from wormcast.hw.switch import Switch

from ...build.network import Network
from ..clocking import ENABLE
from .contract import ENABLE_RULES, contract_tables, errors_of_hosts
from .docstrings import member_meaning, summary
from .links import CONSUMPTION, channel_classes, links
from .network import outside
from .ports import ComponentPort, domains, ports
from .streams import is_stream, stream_member_meaning

__all__ = ["component_tables", "document_component", "document_network", "meaning"]

RESETS = {"sync": "reset, synchronous, active high",
          "async": "reset, asynchronous, active high; the design around the module makes it fall in step with clk"}

Named = tuple[str, ComponentPort, wiring.Component]
"""A port with its name in the table and its component."""

HEAD = "| port | direction | width | meaning |\n|---|---|---:|---|\n"


def document_component(blueprint: Blueprint, component: wiring.Component, module: str, *, command: str,
                       facts: Iterable[tuple[str, str]], clocked: bool, reset: str, clock_enable: bool = False) -> str:
    """Return the summary of a component and its tables; see `component_tables`."""
    return "".join([
        *_opening(module, summary(type(component)), command, facts),
        component_tables(blueprint, component, clocked=clocked, reset=reset, clock_enable=clock_enable),
    ])


def component_tables(blueprint: Blueprint, component: wiring.Component, *, clocked: bool, reset: str = "sync",
                     clock_enable: bool = False) -> str:
    """Return the tables of a component's ports, link by link, of their contract, and of a flit's fields."""
    return "".join([
        _clock(reset, domains(component), clock_enable=clock_enable) if clocked else "",
        *_tables((port.name, port, component) for port in ports(component)),
        *contract_tables(blueprint, component),
        *(_flit(blueprint) if any(port.path[-1] in ("flit", "data") for port in ports(component)) else ()),
        *(_channels(blueprint) if any(link.channel == CONSUMPTION for link in links(component).values()) else ()),
    ])


def document_network(blueprint: Blueprint, network: Network, module: str, *, command: str,
                     facts: Iterable[tuple[str, str]], reset: str, clock_enable: bool = False) -> str:
    """Return the tables of a node's and a router's ports, of the contract with hosts, of a flit's fields, and of the
    nodes and routers."""
    direct = network.topology.direct
    return "".join([
        *_opening(module, summary(Network), command, facts),
        "\nNODE in the names of ports is the node's name, listed below" + (
            ".\n" if direct else ", and SWITCH is the router's name.\n"),
        _clock(reset, clock_enable=clock_enable),
        *_tables(_network_ports(network)),
        *contract_tables(blueprint, network.components["interface"], "node_NODE_"),
        errors_of_hosts(blueprint.router()),
        *([f"\n## Tables of routers\n\n{describe_tables(network)}\n"] if network.chain else ()),
        *_flit(blueprint),
        *_channels(blueprint),
        "\n## Nodes\n\n| id | NODE |\n|---:|---|\n",
        *(f"| {node} | `{network.node_scope(node)}` |\n" for node in range(network.nodes)),
        *(() if direct else _switches(network)),
    ])


def describe_tables(network: Network) -> str:
    """Return instructions for writing the tables of a network's routers."""
    return (f"Routers have routing tables, which are empty at power-up. Until the tables are written, every header is "
            "an error on the wire. The bus tables_in writes the tables, one word per cycle. The bus passes through all "
            f"{len(network.chain)} routers, with a delay of a cycle each. wormcast verilog network --tables FILE "
            "writes the words for these options as a list in JSON. Put each word on tables_in for a cycle, in order, "
            "then reset. Reset keeps the tables.")


def _network_ports(network: Network) -> list[Named]:
    """Return the rows of the port tables: the ports of the node with most ports, then other ports, once per kind."""
    of_nodes: dict[str, list[Named]] = {}
    others: dict[tuple[str, str], Named] = {}
    for entry in outside(network):
        component = network.components[entry.kind]
        if entry.of == "node":
            of_nodes.setdefault(entry.scope, []).append((f"node_NODE_{entry.what}", entry.port, component))
        else:
            place = f"router_SWITCH_{entry.what}" if entry.of else entry.what
            several = f" of {entry.kind}" if entry.of and len(network.routers) > 1 else ""
            others[entry.kind, entry.what] = (place + several, entry.port, component)
    return [*max(of_nodes.values(), key=len), *others.values()]


def _switches(network: Network) -> Iterator[str]:
    """Yield the table of routers: names and kinds."""
    yield "\n## Routers\n\n| id | SWITCH | kind |\n|---:|---|---|\n"
    for switch in range(network.topology.switches):
        yield f"| {switch} | `{network.switch_scope(switch)}` | {network.home(switch).kind} |\n"


def _opening(module: str, said: str, command: str, facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"# Ports of `{module}`\n\n{said}\n\n    {command}\n\n| parameter | |\n|---|---|\n"
    yield from (f"| {name} | {value} |\n" for name, value in facts)


def _tables(rows: Iterable[Named]) -> Iterator[str]:
    """Yield the tables of ports, link by link, then the other ports."""
    for link, group in groupby(rows, _link):
        listed = list(group)
        _, port, component = listed[0]
        if link is None:
            yield "\n## Other ports\n\n"
        elif is_stream(component, port.bundle):
            yield f"\n## Stream `{link}`\n\n{member_meaning(type(component), port.bundle)}\n\n"
        else:
            yield f"\n## Link `{link}`\n\n{_link_meaning(port, component)}\n\n"
        yield HEAD
        yield from (_row(name, _way(port), port.width, meaning(component, port)) for name, port, component in listed)


def _link(row: Named) -> str | None:
    """Return the name of the link or stream that a port belongs to, or None."""
    name, port, component = row
    there = port.bundle in links(component) or is_stream(component, port.bundle)
    return name.removesuffix(f"_{port.path[-1]}") if there else None


def _link_meaning(port: ComponentPort, component: wiring.Component) -> str:
    """Return the meaning of a link, and its credits; ``port`` is its first member, ``valid``."""
    name = port.bundle
    vcs = component.signature.members[port.path[0]].signature.vcs
    said = _of_node(component, name) or member_meaning(type(component), name)
    return " ".join(filter(None, [said, links(component)[name].credits(inward=port.inward, vcs=vcs)]))


def _of_node(component: wiring.Component, name: str) -> str | None:
    """Return the meaning of a switch's link from or to a node, for any name of its port; None for other links."""
    if not isinstance(component, Switch):
        return None
    decoder, kind = component.decoder, component.decoder.kind
    for place, p in enumerate(kind.injections):
        for i in decoder.injections[place]:
            if name == f"{decoder.inputs[i]}_in":
                way = decoder.inputs[i].removeprefix(kind.name(p))
                return member_meaning(Switch, f"local{way}_in")
    for place, p in enumerate(kind.ejections):
        for o in decoder.ejections[place]:
            link, way = name.removeprefix(decoder.outputs[o]), decoder.outputs[o].removeprefix(f"{kind.name(p)}_")
            if link in ("_out", *(f"_{c}_out" for c in range(component.outputs[o].vcs))):
                alone = "" if decoder.outputs[o] == kind.name(p) else f" For worms from {way} only."
                return f"{member_meaning(Switch, f'local{link}')}{alone}"
    return None


def _clock(reset: str, prefixes: Iterable[str] = ("",), *, clock_enable: bool) -> str:
    rows = [row for prefix in prefixes for row in (
        _row(f"{prefix}clk", "in", 1, "clock, rising edge"),
        _row(f"{prefix}rst", "in", 1, RESETS[reset].replace("clk", f"{prefix}clk")))]
    if clock_enable:
        rows.append(_row(ENABLE, "in", 1, "clock enable"))
    rules = f"\n{ENABLE_RULES}\n" if clock_enable else ""
    return "\n## Clock and reset\n\n" + HEAD + "".join(rows) + rules


def _row(name: str, way: str, width: int, said: str) -> str:
    return f"| `{name}` | {way} | {width} | {said} |\n".replace("|  |", "| |")


def _way(port: ComponentPort) -> str:
    return "in" if port.inward else "out"


def meaning(component: wiring.Component, port: ComponentPort) -> str:
    """Return the meaning of a port from the docstrings, and its fields by bits."""
    said: str | None
    if port.bundle in links(component):
        channel = links(component)[port.bundle].channel
        said = (member_meaning(LinkSignature, port.path[-1]) or "").replace("virtual channel", channel)
    elif is_stream(component, port.bundle):
        said = stream_member_meaning(port)
    else:
        said = (_strap(component, port) or _in_bundle(component, port)
                or member_meaning(type(component), "_".join(port.path)))
    fields = _fields(port.shape)
    return " ".join(filter(None, [said, fields and f"{fields}.", _fault_ports(component, port)]))


def _in_bundle(component: wiring.Component, port: ComponentPort) -> str | None:
    """Return the meaning of a bundle's member, from the innermost bundle's docstring, and the bundle's meaning."""
    said, members = None, component.signature.members
    for k, step in enumerate(port.path):
        if step in members and members[step].is_signature:
            signature = members[step].signature
            members, rest = signature.members, [name for name in port.path[k + 1:] if not name.isdigit()]
            kind = type(signature.flip() if isinstance(signature, wiring.FlippedSignature) else signature)
            said = member_meaning(kind, rest[0]) or said if kind is not wiring.Signature else said
    outer = (member_meaning(type(component), "_".join(port.path[:k])) for k in reversed(range(1, len(port.path))))
    return " ".join(filter(None, [said, next(filter(None, outer), None)]))


def _strap(component: wiring.Component, port: ComponentPort) -> str | None:
    decoder = getattr(component, "decoder", None)
    name = port.name.removeprefix("strap_")
    if decoder is None or name == port.name:
        return None
    said = member_meaning(type(decoder), name)
    d = name.removeprefix("coordinate_")
    if said is None or d == name:
        return said
    return said.replace(f"dimension {d}", f"dimension {axis(len(decoder.header.shape), int(d))}")


def _fault_ports(component: wiring.Component, port: ComponentPort) -> str:
    """Return the numbers by which a fault output identifies ports, with the names of these ports."""
    outer, component = component, getattr(component, "interface", component)
    if port.path != ("fault",) or not isinstance(component, Switch | NetworkInterface):
        return ""
    # with streams, the links between interface and host are inside the component
    inside = set(links(component)) - set(links(outer))
    names = [", ".join(f"{k} {name}{' (inside)' if name in inside else ''}"
                       for k, name in enumerate(component.fault_ports(cause)))
             for cause in (Cause.OVERFLOW, Cause.CREDIT)]
    return f"Ports: {names[0]}" + (f"; of a credit {names[1]}." if names[0] != names[1] else ".")


def _fields(shape: Any) -> str:
    """Return the fields of a layout by bits, or the names of an enumeration's values."""
    if isinstance(shape, EnumMeta):
        return ", ".join(f"{value.value} {value.name}" for value in list[Any](shape))
    if not isinstance(shape, data.Layout):
        return ""
    fields = []
    for name, found in shape:
        width = Shape.cast(found.shape).width
        if width:
            bits = f"{found.offset + width - 1}:{found.offset}" if width > 1 else str(found.offset)
            inner = _fields(found.shape)
            fields.append(f"[{bits}] {name}" + (f" ({inner})" if inner else ""))
    return "; ".join(fields)


def _flit(blueprint: Blueprint) -> Iterator[str]:
    """Yield the tables of a flit's fields, which are the same on all links."""
    width = blueprint.configuration.flit_width
    yield "\n## Flit\n\n| bits of `flit` | field | meaning |\n|---:|---|---|\n"
    yield "| 0 | `head` | a header flit |\n| 1 | `tail` | the worm's last flit |\n"
    yield f"| {width + 1}:2 | `data` | {width} bits: payload, or the fields below |\n"
    yield "\n## Data of a header flit\n\n| bits of `data` | meaning |\n|---:|---|\n"
    for low, high, said in blueprint.header.fields(up_and_down=blueprint.scheme.needs_whole_packet):
        yield f"| {low if low == high else f'{high}:{low}'} | {said} |\n"


def _channels(blueprint: Blueprint) -> Iterator[str]:
    """Yield the table of consumption channels and the directions that they serve."""
    configuration = blueprint.configuration
    classes = configuration.consumption_classes(blueprint.topology, blueprint.scheme)
    yield "\n## Consumption channels\n\n"
    if not classes:
        yield "A worm reserves any free channel.\n"
        return
    hop = "next hop, or of its last hop if the next one has no class" if classes.by == "next" else "last hop"
    yield (f"At a destination on its way a worm reserves a channel that serves the direction of its {hop}. At its last "
           "destination it reserves any free channel. Directions are those of `--classes`.\n\n"
           "| channel | directions |\n|---:|---|\n")
    for channel, served in enumerate(channel_classes(classes, configuration.consumption)):
        yield f"| {channel} | {served} |\n"
