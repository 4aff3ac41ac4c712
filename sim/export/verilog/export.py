"""Export of a component or network: Verilog and the table of its ports."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from amaranth.lib import wiring

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import flag_text, nearest
from wormcast.hw.crossing import ClockCrossing
from wormcast.hw.router import Blueprint

from ...build.components import COMPONENTS, build_component
from ...build.host_port import LINKS, HostPort
from ...build.network import Network
from ...build.stream_network import StreamNetwork
from ...common.external import find_tool
from ..clocking import require_clock, require_reset
from .checkers import bind_lines, checkers_of, formal_module, modules
from .comment import CLOCK, CLOCK_ENABLE, CROSSING_CLOCK, CROSSING_RESET, NO_CLOCK, RESET, comment, module_comment
from .constraints import constraints, crossing_constraints
from .docstrings import promises, summary
from .document import describe_tables, document_component, document_network
from .facts import CROSSING, NETWORK, facts
from .netlist import netlist
from .network import kind_module, table_words, top
from .ports import domains, ports
from .verilog_names import KEYWORDS
from .yosys import translate

__all__ = ["Export", "component_verilog", "export", "has_clock"]

Progress = Callable[[str], None]

CHECKED = ("router", "interface")
"""Components whose links have checkers; the links of a network have checkers, too."""

#: For the comments of the files with checkers: a summary, and what the file's user needs to know.
CHECKS = ("checkers of links: modules with assertions.",
          ["Each assertion is in a block with its name. Assertions hold from the first reset on."])
BIND = ("the lines that bind the checkers to the modules of the export, for simulators.",
        ["Translate this file together with the export and its checkers."])
FORMAL = ("the component and its checkers, for formal tools.",
          ["What the component receives is assumed, and what it sends is asserted.",
           "The first cycle is a reset. Static inputs have any constant value."])


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
    sdc : str
        Timing constraints in SDC. Empty for a component without a clock.
    checks, bind : str
        For a router, an interface or the network: SystemVerilog modules with assertions on links, and the lines that
        bind them to the modules of ``verilog``. Else empty.
    formal : str
        For a router or an interface: a module for formal tools, with the component and its checkers. Else empty.
    """

    module: str
    verilog: str
    document: str
    yosys: str
    tables: list[int]
    sdc: str
    checks: str = ""
    bind: str = ""
    formal: str = ""


def component_verilog(component: wiring.Component, name: str,
                      progress: Progress = lambda line: None) -> tuple[str, str]:
    """Return the Verilog of a component without the head comment, and the version of Yosys; see `translate`."""
    return components_verilog({name: component}, name, progress=progress)


def components_verilog(components: Mapping[str, wiring.Component], prefix: str, *, reset: str = "sync",
                       clock_enable: bool = False, src: bool = False,
                       progress: Progress = lambda line: None) -> tuple[str, str]:
    """Return the Verilog of components without the head comment, and the version of Yosys.

    Equal modules are written once.

    Parameters
    ----------
    components : mapping
        Components by the names of their modules. The names of all other modules begin with ``prefix``.
    reset, clock_enable, src
        As in `netlist`.
    """
    find_tool("yosys", "verilog")  # a missing Yosys is reported before the netlist is made, which takes seconds
    units = netlist(components, prefix, reset=reset, clock_enable=clock_enable, src=src)
    text, yosys = translate("".join(unit.text for unit in units), progress)
    heads = {unit.name: module_comment(unit) for unit in units}
    return re.sub(r"^module (\w+)\(", lambda module: heads[module[1]] + module[0], text, flags=re.MULTILINE), yosys


def export(blueprint: Blueprint, what: str, *, port: str | None = None, kind: str | None = None,
           module: str | None = None, reset: str = "sync", clock_enable: bool = False, src: bool = False,
           named: str | None = None, host_port: HostPort = LINKS, command: str,
           progress: Progress = lambda line: None) -> Export:
    """Export a component or the network.

    Parameters
    ----------
    what : str
        One of `COMPONENTS`, ``network``, or ``clock-crossing``.
    port, kind : str, optional
        Port and kind of the router that the component belongs to, as in `build_component`.
    module : str, optional
        Name of the top module, and prefix of all other modules' names. Default: ``wormcast_`` and ``what``.
    reset, clock_enable, src
        As in `netlist`.
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
    require_reset(reset)
    if module is not None:
        _require_name(module)
    name = f"wormcast_{what.replace('-', '_')}" if module is None else module
    tables: list[int] = []
    said: list[str] = []
    checked: Mapping[str, wiring.Component] = {}
    if what == NETWORK:
        for word, value, parts in (("port", port, "parts that belong to a port, as decoder"),
                                   ("kind", kind, "router and its parts"),
                                   ("relations", ", ".join(blueprint.relations), "router and its parts")):
            if value:
                raise WormcastError(f"{word}: {value} is not valid with {NETWORK}. Allowed: with {parts}.")
        listed = list(facts(blueprint, what, named=named, host_port=host_port))
        setup = blueprint.topology, blueprint.scheme, blueprint.configuration
        network = StreamNetwork(*setup, host_port=host_port) if host_port.streams else Network(*setup)
        text, yosys = components_verilog({kind_module(name, one.name): one.build() for one in network.kinds.values()},
                                         name, reset=reset, clock_enable=clock_enable, src=src, progress=progress)
        text = f"{top(network, name, clock_enable=clock_enable)}\n{text}"
        document = document_network(blueprint, network, name, command=command, facts=listed, reset=reset,
                                    clock_enable=clock_enable)
        straps: list[tuple[str, int]] = []
        built: type = Network
        clocked = True
        checked = network.components
        if network.chain:
            tables, said = table_words(network), [f"Tables: {describe_tables(network)}"]
    else:
        if what not in (CROSSING, *COMPONENTS):
            raise WormcastError(f"what: {what!r} is not valid.{nearest(what, (NETWORK, *COMPONENTS, CROSSING))} "
                                f"Allowed: {NETWORK}, {', '.join(COMPONENTS)}, {CROSSING}.")
        if what == CROSSING and clock_enable:
            raise WormcastError(f"{flag_text('clock_enable')} is not valid with {CROSSING}: its two sides have no "
                                f"common clock. Allowed: with {NETWORK}, components with registers.")
        component = _crossing(blueprint, reset, port=port, kind=kind, host_port=host_port) if what == CROSSING else (
            build_component(blueprint, what, port, kind, host_port))
        listed = list(facts(blueprint, what, port, kind, named, host_port))
        text, yosys = components_verilog({name: component}, name, reset=reset, clock_enable=clock_enable, src=src,
                                         progress=progress)
        built, clocked = type(component), what == CROSSING or has_clock(text)
        require_clock(what, reset=reset, clock_enable=clock_enable, clocked=clocked)
        if what in CHECKED:
            checked = {what: component}
        document = document_component(blueprint, component, name, command=command, facts=listed, clocked=clocked,
                                      reset=reset, clock_enable=clock_enable)
        straps = [(port.name, port.width) for port in ports(component)
                  if port.inward and port.name.startswith("strap_")]

    def head(module: str, sentence: str, sentences: Iterable[str]) -> str:
        return comment(module, sentence, command=command, yosys=yosys, facts=listed, promises=sentences)

    clocks, sdc = (CLOCK, RESET[reset], *[CLOCK_ENABLE] * clock_enable) if clocked else (NO_CLOCK,), ""
    if what == CROSSING:
        clocks = CROSSING_CLOCK, CROSSING_RESET
        sdc = crossing_constraints(name, command=command, domains=domains(component))
    elif clocked:
        sdc = constraints(name, command=command, reset=reset, straps=straps)
    top_comment = head(name, summary(built), [*clocks, *said, *promises(built)])
    found = {kind: checkers_of(blueprint, part, clock_enable=clock_enable) for kind, part in checked.items()}
    if not found:
        return Export(name, top_comment + text, document, yosys, tables, sdc)
    modules_text = modules(blueprint, name, (checker.kind for several in found.values() for checker in several),
                           reset=reset)
    bind = "".join(bind_lines(name, name if kind == what else kind_module(name, kind), several)
                   for kind, several in found.items())
    formal = "" if what == NETWORK else formal_module(
        name, ports(checked[what]), found[what], clock_enable=clock_enable)
    return Export(
        name, top_comment + text, document, yosys, tables, sdc, checks=head(f"{name}_checks", *CHECKS) + modules_text,
        bind=head(f"{name}_bind", *BIND) + bind, formal=formal and head(f"{name}_formal", *FORMAL) + formal)


def _crossing(blueprint: Blueprint, reset: str, *, host_port: HostPort, **given: str | None) -> ClockCrossing:
    """Build a link between two clock domains, for a link between routers. Refuse options that such a link does not
    have."""
    for word, value in given.items():
        if value:
            raise WormcastError(f"{word}: {value} is not valid with {CROSSING}. Allowed: with router and its parts.")
    if host_port.streams:
        raise WormcastError(f"host: {host_port.host} is not valid with {CROSSING}. Allowed: with network, interface.")
    if reset != "async":
        raise WormcastError(f"reset: {reset} is not valid with {CROSSING}: each side resets registers of the other "
                            "one. Allowed: async.")
    receiver = next(iter(blueprint.routers.values())).inputs[0]
    return ClockCrossing(receiver, width=blueprint.configuration.flit_width)


def has_clock(verilog: str) -> bool:
    """Return whether a component's Verilog has a clock, and so flip-flops."""
    return "input clk;" in verilog


def _require_name(module: str) -> None:
    """Refuse a module name that is not valid in Verilog."""
    if not re.fullmatch(r"[A-Za-z_]\w*", module, re.ASCII):
        raise WormcastError(f"module: {module!r} is not valid. Allowed: letters, digits and _, without a digit at the "
                            "beginning.")
    if module in KEYWORDS:
        raise WormcastError(f"module: {module!r} is not valid: it is a keyword of Verilog. Allowed: other names.")
