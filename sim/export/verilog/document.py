"""The table of ports that stands beside the Verilog, in Markdown."""

from collections.abc import Iterable, Iterator
from enum import EnumMeta
from itertools import groupby
from typing import Any

from amaranth.hdl import Shape
from amaranth.lib import data, wiring

from wormcast.hw.faults import Cause
from wormcast.hw.interface import NetworkInterface
from wormcast.hw.link import LinkSignature
from wormcast.hw.router import Blueprint
from wormcast.hw.switch import Switch

from ...build.network import Network
from .docstrings import member_meaning, summary
from .facts import axis, header_fields
from .links import CONSUMPTION, channel_classes, links
from .network import outside
from .ports import ComponentPort, ports

__all__ = ["component_tables", "document_component", "document_network", "meaning"]

CLOCKED = (("clk", "clock, rising edge"), ("rst", "reset, synchronous, active high"))

Named = tuple[str, ComponentPort, wiring.Component]
"""A port with the name that the table gives it, and whose it is."""

HEAD = "| port | direction | width | meaning |\n|---|---|---:|---|\n"


def document_component(blueprint: Blueprint, component: wiring.Component, module: str, *, command: str,
                       facts: Iterable[tuple[str, str]], clocked: bool) -> str:
    """What a component is, and its tables; see `component_tables`."""
    return "".join([
        *_opening(module, summary(type(component)), command, facts),
        component_tables(blueprint, component, clocked=clocked),
    ])


def component_tables(blueprint: Blueprint, component: wiring.Component, *, clocked: bool) -> str:
    """Tables of a component's ports, link by link, and of what is in a flit."""
    return "".join([
        _clock() if clocked else "",
        *_tables((port.name, port, component) for port in ports(component)),
        *(_flit(blueprint) if any(port.path[-1] in ("flit", "data") for port in ports(component)) else ()),
        *(_channels(blueprint) if any(link.channel == CONSUMPTION for link in links(component).values()) else ()),
    ])


def document_network(blueprint: Blueprint, network: Network, module: str, *, command: str,
                     facts: Iterable[tuple[str, str]]) -> str:
    """Tables of a node's and a router's ports, of what is in a flit, and of the nodes and routers."""
    direct = network.topology.direct
    return "".join([
        *_opening(module, summary(Network), command, facts),
        "\nIn the names of ports NODE stands for the node's name, below" + (
            ".\n" if direct else ", and SWITCH for the router's.\n"),
        _clock(),
        *_tables(_network_ports(network)),
        *([f"\n## Tables of routers\n\n{tables_told(network)}\n"] if network.chain else ()),
        *_flit(blueprint),
        *_channels(blueprint),
        "\n## Nodes\n\n| id | NODE |\n|---:|---|\n",
        *(f"| {node} | `{network.node_scope(node)}` |\n" for node in range(network.nodes)),
        *(() if direct else _switches(network)),
    ])


def tables_told(network: Network) -> str:
    """Say how the tables of a network's routers are written."""
    return (f"Routers look the way up in tables, which are empty at first: until they are written, every header is an "
            f"error on the wire. tables_in is the bus that writes them, a word a cycle; it goes through all "
            f"{len(network.chain)} routers, a cycle each. wormcast verilog network --tables FILE writes the words for "
            "these options, a list in JSON: put each on tables_in for a cycle, in their order, then reset, which the "
            "tables outlast.")


def _network_ports(network: Network) -> list[Named]:
    """Rows for the ports of the node that has most, and for what is the same for all routers of a kind."""
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
    """The routers' names, and which kind each is."""
    yield "\n## Routers\n\n| id | SWITCH | kind |\n|---:|---|---|\n"
    for switch in range(network.topology.switches):
        yield f"| {switch} | `{network.switch_scope(switch)}` | {network.home(switch).kind} |\n"


def _opening(module: str, said: str, command: str, facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"# Ports of `{module}`\n\n{said}\n\n    {command}\n\n| parameter | |\n|---|---|\n"
    yield from (f"| {name} | {value} |\n" for name, value in facts)


def _tables(rows: Iterable[Named]) -> Iterator[str]:
    """Ports link by link, then the others."""
    for link, group in groupby(rows, _link):
        listed = list(group)
        if link is None:
            yield "\n## Other ports\n\n"
        else:
            yield f"\n## Link `{link}`\n\n{_link_meaning(*listed[0][1:])}\n\n"
        yield HEAD
        yield from (_row(name, _way(port), port.width, meaning(component, port)) for name, port, component in listed)


def _link(row: Named) -> str | None:
    """Name of the link that a port belongs to."""
    name, port, component = row
    return name.removesuffix(f"_{port.path[-1]}") if port.path[0] in links(component) else None


def _link_meaning(port: ComponentPort, component: wiring.Component) -> str:
    """What a link is for, and its credits; ``port`` is its first member, ``valid``."""
    name = port.path[0]
    vcs = component.signature.members[name].signature.vcs
    said = _of_node(component, name) or member_meaning(type(component), name)
    return " ".join(filter(None, [said, links(component)[name].credits(inward=port.inward, vcs=vcs)]))


def _of_node(component: wiring.Component, name: str) -> str | None:
    """What is said of a switch's link from or to a node, whatever the node's port is called; None of others."""
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
                alone = "" if decoder.outputs[o] == kind.name(p) else f" For worms that came by {way} alone."
                return f"{member_meaning(Switch, f'local{link}')}{alone}"
    return None


def _clock() -> str:
    return "\n## Clock and reset\n\n" + HEAD + "".join(_row(name, "in", 1, said) for name, said in CLOCKED)


def _row(name: str, way: str, width: int, said: str) -> str:
    return f"| `{name}` | {way} | {width} | {said} |\n".replace("|  |", "| |")


def _way(port: ComponentPort) -> str:
    return "in" if port.inward else "out"


def meaning(component: wiring.Component, port: ComponentPort) -> str:
    """What the docstrings say of a port, and which bits are what."""
    said: str | None
    if port.path[0] in links(component):
        channel = links(component)[port.path[0]].channel
        said = (member_meaning(LinkSignature, port.path[-1]) or "").replace("virtual channel", channel)
    else:
        said = _strap(component, port) or member_meaning(type(component), port.path[0])
    fields = _fields(port.shape)
    return " ".join(filter(None, [said, fields and f"{fields}.", _fault_ports(component, port)]))


def _strap(component: wiring.Component, port: ComponentPort) -> str | None:
    decoder = getattr(component, "decoder", None)
    name = port.path[0].removeprefix("strap_")
    if decoder is None or name == port.path[0]:
        return None
    said = member_meaning(type(decoder), name)
    d = name.removeprefix("coordinate_")
    if said is None or d == name:
        return said
    return said.replace(f"dimension {d}", f"dimension {axis(len(decoder.header.shape), int(d))}")


def _fault_ports(component: wiring.Component, port: ComponentPort) -> str:
    """What the numbers of ports in a fault stand for."""
    if port.path != ("fault",) or not isinstance(component, Switch | NetworkInterface):
        return ""
    if isinstance(component, Switch):
        numbers = len(component.inputs), len(component.outputs)
    else:
        links = len(component.injections) + len(component.consumptions)
        numbers = links + component.smart, links
    told = [", ".join(f"{k} {component.fault_port(cause, k)}" for k in range(count))
            for cause, count in zip((Cause.OVERFLOW, Cause.CREDIT), numbers, strict=True)]
    return f"Ports: {told[0]}" + (f"; of a credit {told[1]}." if told[0] != told[1] else ".")


def _fields(shape: Any) -> str:
    """Fields of a layout by their bits, names of an enumeration's values."""
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
    """What is in a flit, bit by bit; its layout is that of all links."""
    width = blueprint.configuration.flit_width
    yield "\n## Flit\n\n| bits of `flit` | field | meaning |\n|---:|---|---|\n"
    yield "| 0 | `head` | a header flit |\n| 1 | `tail` | the worm's last flit |\n"
    yield f"| {width + 1}:2 | `data` | {width} bits: payload, or what follows |\n"
    yield "\n## Data of a header flit\n\n| bits of `data` | meaning |\n|---:|---|\n"
    for low, high, said in header_fields(blueprint.header, up_and_down=blueprint.scheme.needs_whole_packet):
        yield f"| {low if low == high else f'{high}:{low}'} | {said} |\n"


def _channels(blueprint: Blueprint) -> Iterator[str]:
    """Which worms may take which consumption channel."""
    configuration = blueprint.configuration
    classes = configuration.consumption_classes(blueprint.topology, blueprint.scheme)
    yield "\n## Consumption channels\n\n"
    if not classes:
        yield "A worm takes any that is free.\n"
        return
    hop = "next hop, or where none does, of its last hop" if classes.by == "next" else "last hop"
    yield (f"At a destination on its way a worm takes one that serves the direction of its {hop}; at its last "
           "destination any that is free. Directions are those of `--classes`.\n\n"
           "| channel | directions |\n|---:|---|\n")
    for channel, served in enumerate(channel_classes(classes, configuration.consumption)):
        yield f"| {channel} | {served} |\n"
