"""The hardware options, the same for every command that builds a network."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from wormcast.algorithms import ConsumptionClasses, Scheme
from wormcast.algorithms.schemes import TreeScheme

from ..build.configuration import HOST_FIELDS, UNTIMED_FIELDS, Configuration, unusual
from ..build.setup import DEFAULTS
from ..common.schema import options_of
from .app import count
from .options import as_typer, takes

__all__ = ["ANALYSED", "Packet", "RelationOption", "Ties", "chosen", "describe_classes", "describe_hardware",
           "takes_analysed", "takes_component", "takes_hardware"]

RelationOption = Annotated[str | None, typer.Option(
    metavar="NAME|FILE.py[:NAME]",
    help="Route by this relation, see: wormcast list relations; or one of yours. Default: the scheme's.")]

#: The options, as typer wants them, in the order of --help.
OPTIONS = {
    "configuration": Annotated[str | None, typer.Option(
        metavar="NAME", help="Named configuration, options below override it; see: wormcast list configurations.",
        rich_help_panel="Hardware")],
    **{name: as_typer(option) for name, option in options_of(Configuration).items()},
}
Packet, Ties = OPTIONS["packet"], OPTIONS["ties"]

#: Those that an analysis of deadlocks depends on.
ANALYSED = ("vcs", "consumption", "classes", "ejection", "vc_classes", "ties", "absorb", "tokens", "buffer_kind",
            "buffer", "chunk", "flit_width", "header", "packet", "ni", "places")


def chosen(name: str, value: Any) -> Any:
    """Give the value of a hardware option, its default for None; refuses one that is not allowed."""
    declared = options_of(Configuration)[name]
    value = declared.default if value is None else value
    declared.require(value)
    return value


#: What a component is built for beside the hardware options, in the order of --help.
COMPONENT = {
    "topology": Annotated[str | None, typer.Option(
        help=f"Network that it is built for, {DEFAULTS['topology']} by default.", show_default=False)],
    "scheme": Annotated[str | None, typer.Option(
        help=f"Scheme that it is built for, {DEFAULTS['scheme']} by default.", show_default=False)],
    "relation": RelationOption,
    "relations": Annotated[str | None, typer.Option(
        help="Routing relations that a router decodes, joined by commas; default: the scheme's.")],
    "port": Annotated[str | None, typer.Option(
        help="Port of the router whose part it is, as in local; default: the first.")],
    "kind": Annotated[str | None, typer.Option(
        help="Kind of router that it is, or is a part of, where there are several, as in router_1; default: the "
        "first.")],
}


def takes_component(command: Callable) -> Callable:
    """Give a command the options of a component, in place of its parameters ``built_for`` and ``given``: see `takes`.

    Those of hosts, whose software is no component, are left out.
    """
    return takes("built_for", COMPONENT)(_takes_all_but(HOST_FIELDS)(command))


def takes_hardware(command: Callable) -> Callable:
    """Give a command the hardware options of a run, in place of its parameter ``given``: those that are given.

    Those on which no cycle depends are left out.
    """
    return _takes_all_but(UNTIMED_FIELDS)(command)


def takes_analysed(command: Callable) -> Callable:
    """Give a command the hardware options on which deadlocks depend, in place of its parameter ``given``."""
    return takes("given", {name: OPTIONS[name] for name in ("configuration", *ANALYSED)})(command)


def _takes_all_but(names: tuple[str, ...]) -> Callable[[Callable], Callable]:
    return takes("given", {name: option for name, option in OPTIONS.items() if name not in names})


#: What the values of two options mean, in short, and how trees are copied.
READERS = {"coupled": "copies move together", "independent": "copies move apart"}
COPIES = {"asynchronous": "each copy goes by itself", "synchronous": "copies move together",
          "serial": "a flit of one copy a cycle"}
DELAYS = {"paper": "header 3 cycles a hop", "fast": "header 4 cycles a hop"}


def describe_hardware(configuration: Configuration, scheme: Scheme) -> str:
    """Name the hardware options: the first five always, the others where they are not the usual ones.

    Of trees it names how they are copied, and whether by tokens, where it names the readers of others.
    """
    told = {"vcs", "buffer", "buffer_kind", "chunk", "consumption", "readers", "delays", "classes", "tokens"}
    options = configuration.to_dict()
    copied = f"{configuration.readers} readers ({READERS[configuration.readers]})"
    if configuration.deep:
        copied = f"deep buffers in chunks of {configuration.chunk} flits ({COPIES['asynchronous']})"
    elif isinstance(scheme, TreeScheme):
        tokens = "no tokens" if configuration.tokens == "off" else "tokens"
        copied = f"{scheme.replication} copies ({COPIES[scheme.replication]}), {tokens}"
    if configuration.smart and not configuration.deep:
        told.remove("buffer_kind")
    others = unusual(options, [name for name in options if name not in told])
    if configuration.classes is not None:
        others.append(describe_classes(ConsumptionClasses.parse(configuration.classes)))
    return ", ".join([
        f"{count(configuration.vcs, 'VC')} x {count(configuration.buffer, 'flit')}",
        count(configuration.consumption, "consumption channel"),
        copied,
        f"{configuration.delays} delays ({DELAYS[configuration.delays]})", *others,
    ])


def describe_classes(classes: ConsumptionClasses) -> str:
    """Write a map of classes, and in words that there are none: a worm then takes any channel."""
    return f"classes {classes}" if len(classes) else "no classes"
