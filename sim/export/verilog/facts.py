"""Parameters of an export, for the header comment and the table of ports."""

from collections.abc import Iterator

from wormcast.algorithms.headers import AddressList, BitString, Header, MultiDrop, Unicast
from wormcast.hw.router import Blueprint

from ...build.components import COMPONENTS
from ...build.configuration import HOST_FIELDS, INTERFACE_FIELDS, ROUTER_FIELDS
from ...build.configurations import CONFIGURATIONS
from ...common.text import count

__all__ = ["NETWORK", "axis", "facts", "foreign_options", "header_fields"]

NETWORK = "network"
"""Name of the whole network in `facts` and in the command."""

#: Largest number of routers that a list names in full; longer lists name the first 7 and the last one.
MOST_NAMES = 8


def facts(blueprint: Blueprint, what: str, port: str | None = None, kind: str | None = None,
          named: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield name and value of each parameter of a component or of the network; the scheme's value has its source."""
    topology, scheme, configuration = blueprint.topology, blueprint.scheme, blueprint.configuration
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
    for name, value in configuration.to_dict().items():
        if value is None:  # tokens: the default depends on the scheme
            value = "off" if blueprint.tokens is None else "on"
        if name not in (*HOST_FIELDS, *foreign_options(what), "classes"):
            yield name, str(value)


def _kind(blueprint: Blueprint, name: str | None) -> str:
    """Describe a kind of routers (default: the first): its switches, and the other kinds."""
    kinds, names = blueprint.named_kinds, blueprint.topology.switch_names
    chosen = next(iter(kinds)) if name is None else name
    members = [names[switch] for switch in kinds[chosen].members]
    listed = " ".join(members if len(members) <= MOST_NAMES else [*members[:MOST_NAMES - 1], "...", members[-1]])
    others = ", ".join(one for one in kinds if one != chosen)
    return f"{chosen}, of {count(len(members), 'router')}: {listed}; other kinds: {others}"


def foreign_options(what: str) -> tuple[str, ...]:
    """Return the hardware options without effect on a component: a router's on an interface, and the reverse."""
    if _whole(what) == "router":
        return INTERFACE_FIELDS
    if _whole(what) == "interface":
        # interfaces keep ``classes``: the number of classes is the default number of consumption channels
        return tuple(name for name in ROUTER_FIELDS if name != "classes")
    return ()


def _whole(what: str) -> str:
    """Return ``router``, ``interface`` or ``network``: the whole that a component belongs to."""
    return COMPONENTS[what].whole if what in COMPONENTS else NETWORK


def axis(dimensions: int, d: int) -> str:
    """Return the number of a dimension, in two dimensions with its name."""
    return f"{d} ({('row', 'column')[d]})" if dimensions == 2 else str(d)


def header_fields(header: Header, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
    """Yield the fields of a header flit's data: lowest bit, highest bit, meaning.

    ``up_and_down``: the network has up and down links, and bit 0 of a bit string marks worms on their way down.
    """
    if isinstance(header, AddressList):
        yield from _address_fields(header)
    elif isinstance(header, BitString):
        yield from _bit_fields(header, "the worm is on its way down, and never goes up again" if up_and_down else
                               "the worm is a copy, and its arrival must be reported")
    elif isinstance(header, MultiDrop):
        yield from _pair_fields(header)


def _pair_fields(header: MultiDrop) -> Iterator[tuple[int, int, str]]:
    """Yield the fields of the first flit of a pair: a switch, and its output ports to destinations."""
    width, id_bits = header.flit_width, header.switch_bits
    ports = "a bit for each output port of that switch from 0 on, 1 if the node there is a destination"
    for low, high, said in (
        (0, id_bits - 1, "id of the next switch with destinations"),
        (id_bits, id_bits, "1 in the worm's last pair"),
        (id_bits + 1, header.pair_bits - 1, ports),
    ):
        if low < width:
            behind = "; the pair's other bits are in the following flits, from bit 0 on"
            yield low, min(high, width - 1), said + (behind if high >= width else "")
    if header.pair_bits < width:
        yield header.pair_bits, width - 1, "unused, 0"


def _bit_fields(header: BitString, first: str) -> Iterator[tuple[int, int, str]]:
    """Yield the fields of the first flit of a bit string; ``first``: meaning of bit 0."""
    top = min(header.bits, header.flit_width) - 1
    yield 0, 0, f"1: {first}; hosts send 0"
    behind = "" if header.flits() == 1 else (
        f"; the other bits are in {count(header.flits() - 1, 'more header flit')}, from bit 0 on")
    if top:
        yield 1, top, f"a bit for each node from 0 on, 1 if it is a destination{behind}"
    if top < header.flit_width - 1:
        yield top + 1, header.flit_width - 1, "unused, 0"


def _address_fields(header: AddressList) -> Iterator[tuple[int, int, str]]:
    """Yield the fields of any flit of an address list."""
    bits, top = header.address_bits, header.flit_width - header.selector_bits
    fields = [f"{count(width, 'bit')} of coordinate {axis(len(header.shape), d)}" if len(header.shape) > 1 else
              "the node's id" for d, width in enumerate(header.field_bits) if width]
    fields = [*(f"1 bit for ties in dimension {axis(len(header.shape), d)} (1 down)" for d in header.signed), *fields]
    order = ", from the top down" if len(fields) > 1 else ""
    yield 0, bits - 1, f"address of the next destination: {', '.join(fields)}{order}"
    used, marks = header.capacity * bits, top - header.last_bits
    if header.capacity > 1:
        yield bits, used - 1, (
            "the same address, repeated to fill the flit" if isinstance(header, Unicast) else
            f"addresses of the next destinations, {header.capacity - 1} in all, in visiting order; "
            "unused fields repeat the last address")
    if used < marks:
        yield used, marks - 1, "unused, 0"
    if header.last_bits:
        yield top - 1, top - 1, "1 in the worm's last header flit"
    if header.selector_bits:
        yield top, header.flit_width - 1, "routing relation of the worm"
