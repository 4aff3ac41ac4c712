"""The hardware options, the same for every command that builds a network."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from wormcast.algorithms import ConsumptionClasses

from ..build.components import DEFAULTS
from ..build.configuration import ALLOWED, HOST_FIELDS, LIMITS, Configuration
from ..build.configurations import hardware
from .app import count
from .options import takes

__all__ = ["Classes", "Consumption", "RelationOption", "describe_classes", "describe_hardware", "hardware",
           "takes_component", "takes_hardware"]

HARDWARE = "Hardware"
OVERHEADS = "Overheads, in cycles"


def _option(field: str, text: str, panel: str = HARDWARE) -> Any:
    """The option for a field of `Configuration`, with the values that this allows; it refuses all others."""
    named = field in ALLOWED
    values = "|".join(ALLOWED[field]) if named else "{}..{}".format(*LIMITS[field])
    option = typer.Option(help=text, rich_help_panel=panel, show_default=False, metavar=values)
    return Annotated[str | None, option] if named else Annotated[int | None, option]


RelationOption = Annotated[str | None, typer.Option(
    metavar="FILE.py[:NAME]",
    help="Route by this relation: e-cube, hamiltonian, or one of yours; default: the scheme's.")]

Consumption = _option(
    "consumption", "Consumption channels of each node; default: one for each class, so that none shares one.")

Classes = Annotated[str | None, typer.Option(
    metavar="MAP",
    help='Classes of consumption channels, as check prints them (1+,0+/1-/0-:last); "": none, a worm takes any '
         "channel; default: the scheme's.",
    rich_help_panel=HARDWARE)]

#: The options, as typer wants them, in the order of --help.
OPTIONS = {
    "configuration": Annotated[str | None, typer.Option(
        metavar="NAME", help="Named configuration, options below override it; see: wormcast list configurations.",
        rich_help_panel=HARDWARE)],
    "vcs": _option("vcs", "Virtual channels of each link, 2 by default."),
    "buffer": _option("buffer", "Flits of buffer per virtual channel, 4 by default."),
    "readers": _option("readers", "Whether the outputs of a worm advance together, as they do by default."),
    "consumption": Consumption,
    "consumption_links": _option(
        "consumption_links", "Whether a node's consumption channels share one link (default)."),
    "classes": Classes,
    "ports": _option("ports", "Injection ports of each node: one (default), or one for each link of its router."),
    "flit_width": _option("flit_width", "Data bits of a flit, 32 by default."),
    "header": _option("header", "ideal widens the flit until every header fits into one."),
    "delays": _option(
        "delays", "Cycles per hop: paper, header 3 and data 2 (default), or fast, 4 and 3 for a higher clock."),
    "packet": _option("packet", "Payload flits of a packet; 0: worms are sent whole (default)."),
    "queue": _option("queue", "Flits of buffer between host and each injection port, 4 by default."),
    "storage": _option("storage", "What the buffers are built of, lutram by default."),
    "t_hs": _option("t_hs", "Host, before it posts a worm.", OVERHEADS),
    "t_hr": _option("t_hr", "Host, for each receipt.", OVERHEADS),
    "t_ns": _option("t_ns", "Interface, before each packet it sends.", OVERHEADS),
    "t_nr": _option("t_nr", "Interface, before the last flit of each packet it gets is handed over.", OVERHEADS),
    "injection_delay": _option("injection_delay", "Host, once for each message: it prepares the headers.", OVERHEADS),
}


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
}


def takes_component(command: Callable) -> Callable:
    """Give a command the options of a component, in place of its parameters ``built_for`` and ``given``: see `takes`.

    Those of hosts, whose software is no component, are left out.
    """
    return takes("built_for", COMPONENT)(takes_hardware("header", *HOST_FIELDS)(command))


def takes_hardware(*without: str) -> Callable[[Callable], Callable]:
    """Give a command the hardware options, but for some, in place of its parameter ``given``: those that are given."""
    return takes("given", {name: option for name, option in OPTIONS.items() if name not in without})


#: What the values of two options mean, in short.
READERS = {"coupled": "copies move together", "independent": "copies move apart"}
DELAYS = {"paper": "header 3 cycles a hop", "fast": "header 4 cycles a hop"}


def describe_hardware(configuration: Configuration) -> str:
    """Name the hardware options: the first five always, the others where they are not the usual ones."""
    told = {"vcs", "buffer", "consumption", "readers", "delays", "classes"}
    usual = Configuration().to_dict()
    others = [f"{name.replace('_', '-')} {value}" for name, value in configuration.to_dict().items()
              if name not in told and value != usual[name]]
    if configuration.classes is not None:
        others.append(describe_classes(ConsumptionClasses.parse(configuration.classes)))
    return ", ".join([
        f"{count(configuration.vcs, 'VC')} x {count(configuration.buffer, 'flit')}",
        count(configuration.consumption, "consumption channel"),
        f"{configuration.readers} readers ({READERS[configuration.readers]})",
        f"{configuration.delays} delays ({DELAYS[configuration.delays]})", *others,
    ])


def describe_classes(classes: ConsumptionClasses) -> str:
    """Write a map of classes, and in words that there are none: a worm then takes any channel."""
    return f"classes {classes}" if len(classes) else "no classes"
