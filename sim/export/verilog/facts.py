"""What a piece of Verilog was made for, and with what: told in its header comment and its table of ports."""

from collections.abc import Iterator

from wormcast.algorithms.headers import AddressList, BitString, Header, MultiDrop, Unicast
from wormcast.hw.router import Blueprint

from ...build.components import COMPONENTS
from ...build.configuration import HOST_FIELDS, INTERFACE_FIELDS, ROUTER_FIELDS
from ...build.configurations import CONFIGURATIONS
from ...common.text import count

__all__ = ["NETWORK", "axis", "facts", "foreign_options", "header_fields"]

NETWORK = "network"
"""What `facts` and the command call the network as a whole."""

#: Switches that are named one by one.
MOST_NAMES = 8


def facts(blueprint: Blueprint, what: str, port: str | None = None, kind: str | None = None,
          named: str | None = None) -> Iterator[tuple[str, str]]:
    """Parameters of a component, or of the network, by name: with where they are from, as far as that is known."""
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
        if value is None:  # what it is depends on the scheme
            value = "off" if blueprint.tokens is None else "on"
        if name not in (*HOST_FIELDS, *foreign_options(what), "classes"):
            yield name, str(value)


def _kind(blueprint: Blueprint, name: str | None) -> str:
    """Which kind of routers it is, the first by default: of which switches, and which others there are."""
    kinds, names = blueprint.named_kinds, blueprint.topology.switch_names
    chosen = next(iter(kinds)) if name is None else name
    members = [names[switch] for switch in kinds[chosen].members]
    told = " ".join(members if len(members) <= MOST_NAMES else [*members[:MOST_NAMES - 1], "...", members[-1]])
    others = ", ".join(one for one in kinds if one != chosen)
    return f"{chosen}, of {count(len(members), 'router')}: {told}; there are {others} too"


def foreign_options(what: str) -> tuple[str, ...]:
    """Hardware options that change nothing in a component, as they are the other half's of a node."""
    if _whole(what) == "router":
        return INTERFACE_FIELDS
    if _whole(what) == "interface":
        # by default there are as many consumption channels as classes
        return tuple(name for name in ROUTER_FIELDS if name != "classes")
    return ()


def _whole(what: str) -> str:
    """``router`` or ``interface``, or the network."""
    return COMPONENTS[what].whole if what in COMPONENTS else NETWORK


def axis(dimensions: int, d: int) -> str:
    """Number of a dimension, in two dimensions with its name."""
    return f"{d} ({('row', 'column')[d]})" if dimensions == 2 else str(d)


def header_fields(header: Header, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
    """Fields of a header flit's data: lowest and highest bit, and what is there.

    ``up_and_down``: bit strings are those of networks with links up and down.
    """
    if isinstance(header, AddressList):
        yield from _address_fields(header)
    elif isinstance(header, BitString):
        yield from _bit_fields(header, "the worm is on its way down, and is never sent up again" if up_and_down else
                               "the worm is a copy, whose arrival is to be reported")
    elif isinstance(header, MultiDrop):
        yield from _pair_fields(header)


def _pair_fields(header: MultiDrop) -> Iterator[tuple[int, int, str]]:
    """Those of the first flit of a pair."""
    width, id_bits = header.flit_width, header.switch_bits
    ports = "a bit for each output port of that switch from 0 on, 1 if the node there is a destination"
    for low, high, said in (
        (0, id_bits - 1, "id of the next switch with destinations"),
        (id_bits, id_bits, "1 in the worm's last pair"),
        (id_bits + 1, header.pair_bits - 1, ports),
    ):
        if low < width:
            behind = "; the pair's other bits are in the flits behind it, from bit 0 on"
            yield low, min(high, width - 1), said + (behind if high >= width else "")
    if header.pair_bits < width:
        yield header.pair_bits, width - 1, "unused, 0"


def _bit_fields(header: BitString, first: str) -> Iterator[tuple[int, int, str]]:
    """Those of the first flit of a bit string; ``first``: what bit 0 says."""
    top = min(header.bits, header.flit_width) - 1
    yield 0, 0, f"1: {first}; hosts send 0"
    behind = "" if header.flits() == 1 else (
        f"; the other bits are in {count(header.flits() - 1, 'more header flit')}, from bit 0 on")
    if top:
        yield 1, top, f"a bit for each node from 0 on, 1 if it is a destination{behind}"
    if top < header.flit_width - 1:
        yield top + 1, header.flit_width - 1, "unused, 0"


def _address_fields(header: AddressList) -> Iterator[tuple[int, int, str]]:
    """Those of any flit of a list of addresses."""
    bits, top = header.address_bits, header.flit_width - header.selector_bits
    fields = [f"{count(width, 'bit')} of coordinate {axis(len(header.shape), d)}" if len(header.shape) > 1 else
              "the node's id" for d, width in enumerate(header.field_bits) if width]
    fields = [*(f"1 bit for ties in dimension {axis(len(header.shape), d)} (1 down)" for d in header.signed), *fields]
    order = ", from the top down" if len(fields) > 1 else ""
    yield 0, bits - 1, f"address of the next destination: {', '.join(fields)}{order}"
    used, marks = header.capacity * bits, top - header.last_bits
    if header.capacity > 1:
        yield bits, used - 1, (
            "the same address again, as often as there is room" if isinstance(header, Unicast) else
            f"addresses of those behind it, {header.capacity - 1} in all, in visiting order; "
            "those left over repeat the last")
    if used < marks:
        yield used, marks - 1, "unused, 0"
    if header.last_bits:
        yield top - 1, top - 1, "1 in the worm's last header flit"
    if header.selector_bits:
        yield top, header.flit_width - 1, "which relation the worm is routed by"
