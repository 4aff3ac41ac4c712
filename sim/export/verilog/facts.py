"""Parameters of an export, for the header comment and the table of ports."""

from collections.abc import Iterator
from dataclasses import asdict

from wormcast.hw.router import Blueprint

from ...build.components import COMPONENTS
from ...build.configuration import DMA_FIELDS, HOST_FIELDS, INTERFACE_FIELDS, ROUTER_FIELDS, Configuration
from ...build.configurations import CONFIGURATIONS
from ...build.host_port import LINKS, HostPort
from ...build.stream_network import resolved
from ...common.option import options_of
from ...common.text import count

__all__ = ["CROSSING", "NETWORK", "facts", "foreign_options"]

NETWORK = "network"
"""Name of the whole network in `facts` and in the command."""

CROSSING = "clock-crossing"
"""Name of a link between two clock domains, which no router contains."""

#: Hardware options of a link.
OF_LINK = ("vcs", "buffer", "buffer_kind", "chunk", "flit_width")

#: Largest number of routers that a list names in full; longer lists name the first 7 and the last one.
MOST_NAMES = 8


def facts(blueprint: Blueprint, what: str, port: str | None = None, kind: str | None = None,
          named: str | None = None, host_port: HostPort = LINKS) -> Iterator[tuple[str, str]]:
    """Yield name and value of each parameter of a component or the network; for the scheme also its paper or origin."""
    topology, scheme, configuration = blueprint.topology, blueprint.scheme, blueprint.configuration
    if what == CROSSING:
        values = configuration.to_dict()
        yield from ((name, str(values[name])) for name in OF_LINK)
        return
    yield "topology", topology.name
    yield "scheme", f"{scheme.name}: {scheme.provenance}"
    if _whole(what) != "interface":
        yield "relations", ", ".join(blueprint.decoded)
        yield "classes", str(configuration.consumption_classes(topology, scheme)) or "none"
    if len(blueprint.kinds) > 1 and _whole(what) == "router":
        yield "kind", _kind(blueprint, kind)
    if port is not None:
        yield "port", port
    if named is not None:
        yield "configuration", f"{named}: {CONFIGURATIONS[named].description}"
    left_out = (*HOST_FIELDS, *foreign_options(what), "classes", *(DMA_FIELDS if configuration.dma is None else ()))
    for name, value in configuration.to_dict().items():
        if value is None:  # tokens: the default depends on the scheme
            value = "off" if blueprint.tokens is None else "on"
        if name not in left_out:
            yield name, str(value)
    if host_port.streams:
        yield from ((name, str(value)) for name, value in asdict(resolved(host_port, blueprint)).items())


def _kind(blueprint: Blueprint, name: str | None) -> str:
    """Describe the kind ``name`` of routers, by default the first kind: its switches, and the other kinds."""
    kinds, names = blueprint.named_kinds, blueprint.topology.switch_names
    chosen = next(iter(kinds)) if name is None else name
    members = [names[switch] for switch in kinds[chosen].members]
    listed = " ".join(members if len(members) <= MOST_NAMES else [*members[:MOST_NAMES - 1], "...", members[-1]])
    others = ", ".join(one for one in kinds if one != chosen)
    return f"{chosen}, of {count(len(members), 'router')}: {listed}; other kinds: {others}"


def foreign_options(what: str) -> tuple[str, ...]:
    """Return the hardware options that do not affect a component, because only interfaces or only routers read them."""
    if what == CROSSING:
        return tuple(name for name in options_of(Configuration) if name not in OF_LINK)
    if _whole(what) == "router":
        return INTERFACE_FIELDS
    if _whole(what) == "interface":
        # option ``classes`` affects interfaces: the number of classes is the default number of consumption channels
        return tuple(name for name in ROUTER_FIELDS if name != "classes")
    return ()


def _whole(what: str) -> str:
    """Return ``router``, ``interface`` or ``network``: the whole that a component belongs to."""
    return COMPONENTS[what].whole if what in COMPONENTS else NETWORK
