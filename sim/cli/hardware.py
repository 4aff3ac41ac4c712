"""Hardware options, shared by all commands that build a network."""

from collections.abc import Callable
from typing import Annotated

import typer

from wormcast.algorithms import ConsumptionClasses, Scheme
from wormcast.algorithms.schemes import TreeScheme

from ..build.configuration import ANALYSED, HOST_FIELDS, UNTIMED_FIELDS, Configuration, describe_classes, unusual
from ..build.host_port import HostPort
from ..build.setup import DEFAULTS
from ..common.option import options_of
from ..common.text import consumption_text
from .app import count
from .options import as_typer, takes

__all__ = ["RESET", "ClockEnable", "Packet", "RelationOption", "Ties", "describe_hardware", "takes_analysed",
           "takes_component", "takes_hardware", "takes_host_port"]

RelationOption = Annotated[str | None, typer.Option(
    metavar="NAME|FILE.py[:NAME]",
    help="Routing relation. All relations: wormcast list relations. Your own: FILE.py[:NAME]. Default: the scheme's.")]

RESET = typer.Option(
    metavar="sync|async", help="Reset of all registers, active high. async: rst may rise at any time, and your design "
    "makes rst fall in step with clk. Default: sync.", show_default=False)

ClockEnable = Annotated[bool, typer.Option(
    "--clock-enable", help="Add an input enable. At a rising edge of clk with enable 0, registers keep their values.")]

#: Typer annotations of the hardware options, in the order of --help.
OPTIONS = {
    "configuration": Annotated[str | None, typer.Option(
        metavar="NAME", help="Named configuration of the options below, each of which can override it. All names: "
        "wormcast list configurations.", rich_help_panel="Hardware")],
    **{name: as_typer(option) for name, option in options_of(Configuration).items()},
}
Packet, Ties = OPTIONS["packet"], OPTIONS["ties"]

#: Options of a component besides the hardware options, in the order of --help.
COMPONENT = {
    "topology": Annotated[str | None, typer.Option(
        help=f"Network that the component is built for. Default: {DEFAULTS['topology']}.", show_default=False)],
    "scheme": Annotated[str | None, typer.Option(
        help=f"Scheme that the component is built for. Default: {DEFAULTS['scheme']}.", show_default=False)],
    "relation": RelationOption,
    "relations": Annotated[str | None, typer.Option(
        metavar="NAME,NAME,...", help="Routing relations that a router decodes. Default: the scheme's.")],
    "port": Annotated[str | None, typer.Option(
        help="Router port of the component, for parts of a router, for example local. Default: the first.")],
    "kind": Annotated[str | None, typer.Option(
        help="Kind of router, in networks with several kinds, for example router_1. Default: the first.")],
}


def takes_component(command: Callable) -> Callable:
    """Add the options of a component to a command, in place of its parameters ``built_for`` and ``given``: see `takes`.

    Options of hosts are left out, because host software is no component.
    """
    return takes("built_for", COMPONENT)(_takes_all_but(HOST_FIELDS)(command))


def takes_host_port(command: Callable) -> Callable:
    """Add the options of the port to the host to a command, in place of its parameter ``host_port``: see `takes`."""
    return takes("host_port", {name: as_typer(declared) for name, declared in options_of(HostPort).items()})(command)


def takes_hardware(command: Callable) -> Callable:
    """Add the hardware options of a run to a command, in place of its parameter ``given``: see `takes`.

    Options that change no cycle of a run are left out.
    """
    return _takes_all_but(UNTIMED_FIELDS)(command)


def takes_analysed(command: Callable) -> Callable:
    """Add the hardware options that affect a deadlock analysis to a command, in place of its parameter ``given``: see
    `takes`."""
    return takes("given", {name: OPTIONS[name] for name in ("configuration", *ANALYSED)})(command)


def _takes_all_but(names: tuple[str, ...]) -> Callable[[Callable], Callable]:
    return takes("given", {name: option for name, option in OPTIONS.items() if name not in names})


#: Short descriptions of the readers, of the replication of tree worms, and of the delays.
READERS = {"coupled": "branches advance together", "independent": "branches advance apart"}
COPIES = {"asynchronous": "each branch at its own pace", "synchronous": "branches advance together",
          "serial": "one flit of one branch per cycle"}
DELAYS = {"paper": "header 3 cycles a hop", "fast": "header 4 cycles a hop"}


def describe_hardware(configuration: Configuration, scheme: Scheme) -> str:
    """Return the hardware options in words: VCs, buffers, consumption channels, readers and delays.

    Other options are included where they differ from the default, or where `unusual` always lists them. For tree
    schemes, the text names the kind of replication and the tokens instead of the readers. For deep buffers, the text
    names the chunks instead of the readers.
    """
    listed = {"vcs", "buffer", "buffer_kind", "chunk", "consumption", "readers", "delays", "classes", "tokens"}
    options = configuration.to_dict()
    copied = f"{configuration.readers} readers ({READERS[configuration.readers]})"
    if configuration.deep:
        copied = f"deep buffers in chunks of {configuration.chunk} flits ({COPIES['asynchronous']})"
    elif isinstance(scheme, TreeScheme):
        tokens = "no tokens" if configuration.tokens == "off" else "tokens"
        copied = f"{scheme.replication} copies ({COPIES[scheme.replication]}), {tokens}"
    if configuration.smart and not configuration.deep:
        listed.remove("buffer_kind")
    others = unusual(options, [name for name in options if name not in listed])
    if configuration.classes is not None:
        others.append(describe_classes(ConsumptionClasses.parse(configuration.classes)))
    return ", ".join([
        f"{count(configuration.vcs, 'VC')} x {count(configuration.buffer, 'flit')}",
        consumption_text(configuration.consumption, configuration.ejection),
        copied,
        f"{configuration.delays} delays ({DELAYS[configuration.delays]})", *others,
    ])
