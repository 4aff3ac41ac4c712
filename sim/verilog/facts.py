"""What a piece of Verilog was made for, and with what: told in its header comment and its table of ports."""

from collections.abc import Iterator

from wormcast.algorithms.headers import AddressList

from ..components import COMPONENTS, Blueprint
from ..configuration import HOST_FIELDS, INTERFACE_FIELDS, ROUTER_FIELDS
from ..configurations import CONFIGURATIONS
from ..wording import count

__all__ = ["NETWORK", "facts", "header_fields"]

NETWORK = "network"
"""What `facts` and the command call the network as a whole."""


def facts(blueprint: Blueprint, what: str, port: str | None = None,
          named: str | None = None) -> Iterator[tuple[str, str]]:
    """Parameters of a component, or of the network, by name: with where they are from, as far as that is known."""
    topology, scheme, configuration = blueprint.topology, blueprint.scheme, blueprint.configuration
    yield "topology", topology.name
    yield "scheme", f"{scheme.name}: {scheme.provenance}"
    whole = COMPONENTS[what].whole if what in COMPONENTS else NETWORK
    if whole != "interface":
        yield "relations", ", ".join(blueprint.relations or (scheme.relation.name,))
        yield "classes", str(configuration.consumption_classes(topology, scheme)) or "none"
    if port is not None:
        yield "port", port
    if named is not None:
        yield "configuration", f"{named}: {CONFIGURATIONS[named].description}"
    unused = {"router": INTERFACE_FIELDS, "interface": ROUTER_FIELDS}.get(whole, ())
    for name, value in configuration.to_dict().items():
        if name not in (*HOST_FIELDS, *unused, "classes", "header"):
            yield name, str(value)


def header_fields(header: AddressList) -> Iterator[tuple[int, int, str]]:
    """Fields of a header flit's data: lowest and highest bit, and what is there."""
    bits, top = header.address_bits, header.flit_width - header.selector_bits
    fields = [f"{count(width, 'bit')} of coordinate {d}" for d, width in enumerate(header.field_bits)]
    yield 0, bits - 1, f"address of the next destination: {', '.join(fields)}, from the top down"
    if header.capacity > 1:
        yield bits, header.capacity * bits - 1, (
            f"addresses of those behind it, {header.capacity - 1} in all, in visiting order; "
            "those left over repeat the last")
    if header.last_bits:
        yield top - 1, top - 1, "1 in the worm's last header flit"
    if header.selector_bits:
        yield top, header.flit_width - 1, "which relation the worm is routed by"
