"""Decoder of unicast and address-list headers with a table of outputs, under relations with one route per
destination."""

import numpy as np

from wormcast.algorithms.consumption import NO_CLASS, ConsumptionClasses
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.topologies.mesh import direction_name, mesh_directions

from .. import hdl
from ..router_kind import SwitchKind
from .address_list import AddressListDecoder
from .base import ANY_CHANNEL
from .grid import grid_kind

__all__ = ["TableDecoder"]

MOST_ADDRESS_BITS = 8


class TableDecoder(AddressListDecoder):
    """Decoder with a table of output ports, which can hold any routing relation with one route per destination.

    ::

        slot 0 ─▶ compare: the own address ─▶ here ─────────────────────▶ code
        slot 0, slot 1 ─▶ mux(here) ─▶ route[address] ─▶ output, or none ─▶ code

    The decoder is for switches with one node. Consumption classes by dimension follow from a mesh's port names, also in
    other networks with these names. With consumption classes by dimension, input i and output i must lead to the same
    neighbour.

    The table is a static input with one entry for each address. With the table's input tied to constants, synthesis
    turns the table into the logic of one router. The worm's delays are those that `Switch` states. The address of
    another node whose entry is empty, or leads back to the previous switch, is an error on the wire. The table does not
    contain the allowed turns of a relation, so an order of destinations that the relation forbids is detected only if
    the route leads back.

    Parameters
    ----------
    header : AddressList
        The header format, of one relation. Addresses have at most 8 bits.
    consumption : ConsumptionClasses
        As in `Decoder`.
    multicast : bool
        False builds the decoder for unicast headers: the own address is always the last one.
    injection, ejection : "one" or "all"
        As in `Decoder`.
    kind : SwitchKind, optional
        Kind of the switches; by default that of a mesh with the header's shape.
    absorbs : bool
        As in `Decoder`.

    Straps
    ------
    address
        The own address, as the header format packs it.
    route
        For each address, from the least significant bits upwards, the number of the output; for an address without an
        output, the number of outputs to other switches.
    rises
        A bit for each output, set if the output leads to a higher Hamiltonian label. The strap ``rises`` exists only if
        a consumption class is for hops ``up`` or ``down``.
    """

    def __init__(self, header: AddressList, *, consumption: ConsumptionClasses = ANY_CHANNEL, multicast: bool = True,
                 injection: str = "one", ejection: str = "one", kind: SwitchKind | None = None,
                 absorbs: bool = False):
        if header.relations != 1:
            raise WormcastError(f"TableDecoder.header: a selector of {header.relations} relations is not valid. "
                                "Allowed: 1 relation.")
        if header.address_bits > MOST_ADDRESS_BITS:
            raise WormcastError(f"TableDecoder.header: addresses of {header.address_bits} bits are not valid. Allowed: "
                                f"at most {MOST_ADDRESS_BITS} bits.")
        self.header = header
        self.multicast = multicast
        self.absorbs = absorbs
        self.steps = mesh_directions(header.shape)
        super().__init__(kind or grid_kind(header.shape), injection=injection, ejection=ejection,
                         consumption=consumption)
        if len(self.kind.ejections) != 1:
            raise WormcastError(f"TableDecoder.kind: a switch with {len(self.kind.ejections)} nodes is not valid. "
                                "Allowed: 1 node.")
        self.entry_bits = self.ejection.bit_length()
        self.straps = {
            "address": header.address_bits,
            "route": self.entry_bits << header.address_bits,
        }
        if any(direction in ("up", "down") for network in consumption.networks for direction in network):
            self.straps["rises"] = self.ejection
            if any(o is None for o in self.kind.back):
                raise WormcastError("classes: up and down are not valid on a network in which a link has no link "
                                    "back. Allowed: other classes, or \"\".")

    def strap_values(self, routes, kind):
        topology, nowhere = routes.topology, self.ejection
        addresses = [self.header.address(node) for node in range(topology.nodes)]
        own = kind.nodes_at(topology)[:, 0].tolist()
        values: dict[str, list[int]] = {"address": [addresses[node] for node in own], "route": [], "rises": []}
        for switch in kind.members.tolist():
            ports = routes.table[switch]
            outputs = np.where(ports < 0, nowhere, kind.output_numbers[np.maximum(ports, 0)]).tolist()
            route = sum(nowhere << self.entry_bits * a for a in range(1 << self.header.address_bits))
            for node, address in enumerate(addresses):
                if outputs[node] < nowhere:
                    route ^= (nowhere ^ outputs[node]) << self.entry_bits * address
            values["route"].append(route)
            if "rises" in self.straps:
                label = topology.hamiltonian_labels
                values["rises"].append(sum(
                    int(label[far] > label[switch]) << o
                    for o, far in enumerate(topology.neighbours[switch][list(kind.network_outputs)]) if far >= 0
                ))
        return {name: values[name] for name in self.straps}

    def hop_class(self, output, straps, *, into, vc_class=None):
        if self.kind.names[:-1] != grid_kind(self.header.shape).names[:-1]:
            k, output = NO_CLASS, self.kind.back[output] if into else output
        else:
            dim, side = self.steps[output]
            k = self.consumption.of_direction(direction_name(dim, -side if into else side), vc_class)
        if k != NO_CLASS or "rises" not in straps:
            return [(hdl.C(1), k)]
        rises = straps["rises"][output] ^ into  # a hop into the switch has the opposite direction of the output
        up, down = (self.consumption.of_direction(name, vc_class) for name in ("up", "down"))
        return [(rises, up), (~rises, down)]

    def own_address(self, straps):
        return straps["address"]

    def examine(self, m, name, straps, address, selector):
        return {"address": address}

    def is_own(self, straps, examined):
        return examined["address"] == straps["address"]

    def route(self, m, port, straps, examined, selector):
        entry = hdl.Signal(self.entry_bits, name="entry")
        m.d.comb += entry.eq(straps["route"].word_select(examined["address"], self.entry_bits))
        # the own address has no entry, but is the address of a node
        nowhere = (entry == self.ejection) & ~self.is_own(straps, examined)
        return {(o, 0): entry == o for o in self.reaches(port)}, nowhere
