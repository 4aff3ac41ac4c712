"""Export of a component or network: Verilog and the table of its ports."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from amaranth.lib import wiring

from wormcast.algorithms import WormcastError
from wormcast.hw.router import Blueprint

from ...build.components import COMPONENTS, build_component
from ...build.host_port import LINKS, HostPort
from ...build.network import Network
from ...build.stream_network import StreamNetwork, require_streams, resolved
from .comment import CLOCK, NO_CLOCK, RESET, comment
from .docstrings import promises, summary
from .document import describe_tables, document_component, document_network
from .facts import NETWORK, facts
from .netlist import netlist
from .network import kind_module, table_words, top
from .yosys import translate

__all__ = ["Export", "component_verilog", "export", "has_clock"]

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Export:
    """Result of an export.

    Attributes
    ----------
    module : str
        Name of the top module.
    verilog : str
        Text of the Verilog file: a comment, then all modules.
    document : str
        Tables of the top module's ports, in Markdown.
    yosys : str
        Version of Yosys.
    tables : list of int
        For networks with routing tables: words for ``tables_in``, one per cycle, before a reset. Else empty.
    """

    module: str
    verilog: str
    document: str
    yosys: str
    tables: list[int]


def component_verilog(component: wiring.Component, name: str,
                      progress: Progress = lambda line: None) -> tuple[str, str]:
    """Return the Verilog of a component without a comment, and the version of Yosys; see `translate`."""
    return translate(netlist(component, name), progress)


def export(blueprint: Blueprint, what: str, *, port: str | None = None, kind: str | None = None,
           module: str | None = None, named: str | None = None, host_port: HostPort = LINKS, command: str,
           progress: Progress = lambda line: None) -> Export:
    """Export a component or the network.

    Parameters
    ----------
    what : str
        One of `COMPONENTS`, or ``network``.
    port, kind : str, optional
        Port and kind of the router that the component belongs to, as in `build_component`.
    module : str, optional
        Name of the top module, and prefix of all other modules' names. Default: ``wormcast_`` and ``what``.
    named : str, optional
        Name of the named configuration, for the comment.
    host_port : HostPort
        Port between an interface and its host, for the network and the interface.
    command : str
        Command that writes this file, for the comment.
    progress : callable
        Called with a line of text before YoWASP compiles Yosys for this machine.

    Raises
    ------
    ToolMissing
        Yosys is not installed.
    WormcastError
        The component cannot be built, or the name is not valid in Verilog.
    """
    if module is not None:
        _require_name(module, progress)
    name = f"wormcast_{what.replace('-', '_')}" if module is None else module
    tables: list[int] = []
    said: list[str] = []
    if what == NETWORK:
        for word, value in (("port", port), ("kind", kind), ("relations", blueprint.relations)):
            if value:
                raise WormcastError(f"{word} is not valid with {NETWORK}. Allowed: with a component.")
        listed = list(facts(blueprint, what, named=named, host_port=host_port))
        setup = blueprint.topology, blueprint.scheme, blueprint.configuration
        network = Network(*setup)
        if host_port.streams:
            host_port = resolved(host_port, blueprint)
            require_streams(blueprint, host_port)
            network = StreamNetwork(*setup, host_port=host_port)
        parts = [component_verilog(one.build(), kind_module(name, one.name), progress)
                 for one in network.kinds.values()]
        text, yosys = "\n".join([top(network, name), *(part for part, _ in parts)]), parts[0][1]
        document = document_network(blueprint, network, name, command=command, facts=listed)
        built: type = Network
        clocked = True
        if network.chain:
            tables, said = table_words(network), [f"Tables: {describe_tables(network)}"]
    else:
        if what not in COMPONENTS:
            raise WormcastError(f"verilog: {what!r} is not valid. Allowed: {NETWORK}, {', '.join(COMPONENTS)}.")
        component = build_component(blueprint, what, port, kind, host_port)
        listed = list(facts(blueprint, what, port, kind, named, host_port))
        text, yosys = component_verilog(component, name, progress)
        built, clocked = type(component), has_clock(text)
        document = document_component(blueprint, component, name, command=command, facts=listed, clocked=clocked)
    sentences = [*((CLOCK, RESET) if clocked else (NO_CLOCK,)), *said, *promises(built)]
    head = comment(name, summary(built), command=command, yosys=yosys, facts=listed, promises=sentences)
    return Export(name, head + text, document, yosys, tables)


def has_clock(verilog: str) -> bool:
    """Return whether a component's Verilog has a clock, and so flip-flops."""
    return "input clk;" in verilog


def _require_name(module: str, progress: Progress) -> None:
    """Refuse a module name that is not valid in Verilog. A name of valid letters that Yosys escapes is a keyword."""
    if not re.fullmatch(r"[A-Za-z_]\w*", module, re.ASCII):
        raise WormcastError(f"module: {module!r} is not valid. Allowed: letters, digits and _, without a digit at the "
                            "beginning.")
    text, _ = translate(f"module \\{module}\nend", progress)
    if f"module \\{module} " in text:
        raise WormcastError(f"module: {module!r} is not valid: it is a keyword of Verilog")
