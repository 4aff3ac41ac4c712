"""Verilog of a component or of a network, and the table of its ports."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from amaranth.lib import wiring

from wormcast.algorithms import WormcastError
from wormcast.hw.router import Blueprint

from ...build.components import COMPONENTS, build_component
from ...build.network import Network
from .comment import CLOCK, NO_CLOCK, RESET, comment
from .docstrings import promises, summary
from .document import document_component, document_network, tables_told
from .facts import NETWORK, facts
from .netlist import netlist
from .network import kind_module, table_words, top
from .yosys import translate

__all__ = ["Export", "component_verilog", "export", "has_clock"]

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Export:
    """What was exported.

    Attributes
    ----------
    module : str
        Name of the module on top.
    verilog : str
        The file: a comment, then all modules.
    document : str
        Tables of the ports of the module on top, in Markdown.
    yosys : str
        Which Yosys has written it.
    tables : list of int
        Of a network whose routers have tables: what to put on ``tables_in``, a word a cycle, before a reset.
    """

    module: str
    verilog: str
    document: str
    yosys: str
    tables: list[int]


def component_verilog(component: wiring.Component, name: str,
                      progress: Progress = lambda line: None) -> tuple[str, str]:
    """Verilog of a component without a comment, and the version of Yosys; see `translate`."""
    return translate(netlist(component, name), progress)


def export(blueprint: Blueprint, what: str, *, port: str | None = None, kind: str | None = None,
           module: str | None = None, named: str | None = None, command: str,
           progress: Progress = lambda line: None) -> Export:
    """Export a component, or the network.

    Parameters
    ----------
    what : str
        One of `COMPONENTS`, or ``network``.
    port, kind : str, optional
        As in `build_component`.
    module : str, optional
        Name of the module on top, with which those of all others begin; ``wormcast_`` and what it is by default.
    named : str, optional
        Which named configuration it is built by, for the comment.
    command : str
        What makes this file, for the comment.
    progress : callable
        CycleStep what takes long.

    Raises
    ------
    ToolMissing
        Yosys is not installed.
    WormcastError
        What cannot be built, or is not named as Verilog wants it.
    """
    if module is not None:
        _require_name(module, progress)
    name = f"wormcast_{what.replace('-', '_')}" if module is None else module
    tables: list[int] = []
    said: list[str] = []
    if what == NETWORK:
        for word, value in (("port", port), ("kind", kind), ("relations", blueprint.relations)):
            if value:
                raise WormcastError(f"network: {word} is given, allowed for a component alone")
        listed = list(facts(blueprint, what, named=named))
        network = Network(blueprint.topology, blueprint.scheme, blueprint.configuration)
        parts = [component_verilog(one.build(), kind_module(name, one.name), progress)
                 for one in network.kinds.values()]
        text, yosys = "\n".join([top(network, name), *(part for part, _ in parts)]), parts[0][1]
        document = document_network(blueprint, network, name, command=command, facts=listed)
        built: type = Network
        clocked = True
        if network.chain:
            tables, said = table_words(network), [f"Tables: {tables_told(network)}"]
    else:
        if what not in COMPONENTS:
            raise WormcastError(f"verilog: {what!r} is unknown, there are {NETWORK}, {', '.join(COMPONENTS)}")
        component = build_component(blueprint, what, port, kind)
        listed = list(facts(blueprint, what, port, kind, named))
        text, yosys = component_verilog(component, name, progress)
        built, clocked = type(component), has_clock(text)
        document = document_component(blueprint, component, name, command=command, facts=listed, clocked=clocked)
    told = [*((CLOCK, RESET) if clocked else (NO_CLOCK,)), *said, *promises(built)]
    head = comment(name, summary(built), command=command, yosys=yosys, facts=listed, promises=told)
    return Export(name, head + text, document, yosys, tables)


def has_clock(verilog: str) -> bool:
    """Whether a component's Verilog has flip-flops."""
    return "input clk;" in verilog


def _require_name(module: str, progress: Progress) -> None:
    """Refuse what is no name of Verilog's; Yosys knows its words, and escapes them."""
    if not re.fullmatch(r"[A-Za-z_]\w*", module, re.ASCII):
        raise WormcastError(
            f"module: {module!r} is given, it must be letters, digits and _, and not begin with a digit")
    text, _ = translate(f"module \\{module}\nend", progress)
    if f"module \\{module} " in text:
        raise WormcastError(f"module: {module!r} is given, a word of Verilog's own, allowed are all other names")
