"""Unicast and address-list headers under any routing relation, by a table of output ports."""

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
    """Looks the next output up in a table, so that a relation is data: whatever a `Relation` says, the router does.

    ::

        slot 0 ─▶ equal to the own address? ─┬─ yes: here ──────────────▶ code
        slot 0, slot 1 ─▶ mux(here) ─▶ route[address] ─▶ output, or none ─▶ code

    The switch has one node. Classes of hops by dimensions are those of a mesh's ports, whatever these are joined to;
    there input i and output i must lead to the same neighbour.

    The table is a static input, one entry an address: tied to constants it becomes the logic of that one router. Timing
    is that of every decoder: a header delay of 3 cycles, see `Switch`. An address whose entry is empty, or that leads
    back where the worm came from, is an error on the wire. The table does not know which turns a relation's worms may
    take, so no other order of destinations is refused.

    Parameters
    ----------
    header : AddressList
        The header format, of one relation; addresses have at most 8 bits.
    consumption : ConsumptionClasses
    multicast : bool
        False builds the decoder for unicast headers: the own address is always the last one.
    injection, ejection : "one" or "all"
    kind : SwitchKind, optional
        A mesh's of the header's shape if it is not given.
    absorbs : bool
        As `Decoder` has it.

    Straps
    ------
    address
        The own address, as the header format packs it.
    route
        For each address, from the least significant bits upwards, the output's number; the number behind the last
        output where there is none.
    rises
        A bit for each output: it leads to a higher Hamiltonian label. Only with classes ``up`` or ``down``.
    """

    def __init__(self, header: AddressList, *, consumption: ConsumptionClasses = ANY_CHANNEL, multicast: bool = True,
                 injection: str = "one", ejection: str = "one", kind: SwitchKind | None = None,
                 absorbs: bool = False):
        if header.relations != 1:
            raise WormcastError(f"TableDecoder.header: it selects among {header.relations} relations, one is allowed")
        if header.address_bits > MOST_ADDRESS_BITS:
            raise WormcastError(f"TableDecoder.header: addresses have {header.address_bits} bits, "
                                f"a table of ports is built for at most {MOST_ADDRESS_BITS}")
        self.header = header
        self.multicast = multicast
        self.absorbs = absorbs
        self.steps = mesh_directions(header.shape)
        super().__init__(kind or grid_kind(header.shape), injection=injection, ejection=ejection,
                         consumption=consumption)
        if len(self.kind.ejections) != 1:
            raise WormcastError(f"TableDecoder.kind: {len(self.kind.ejections)} nodes are given at a switch, lists of "
                                "addresses are decoded at switches of one")
        self.entry_bits = self.ejection.bit_length()
        self.straps = {
            "address": header.address_bits,
            "route": self.entry_bits << header.address_bits,
        }
        if any(direction in ("up", "down") for network in consumption.networks for direction in network):
            self.straps["rises"] = self.ejection
            if any(o is None for o in self.kind.back):
                raise WormcastError("TableDecoder.kind: it has inputs without an output that leads back, classes of "
                                    "hops to higher and to lower labels need one")

    def strap_values(self, routes, kind):
        topology, nowhere = routes.topology, self.ejection
        table = kind.output_numbers[routes.table]
        addresses = [self.header.address(node) for node in range(topology.nodes)]
        own = kind.nodes_at(topology)[:, 0].tolist()
        values: dict[str, list[int]] = {"address": [addresses[node] for node in own], "route": [], "rises": []}
        for switch in kind.members.tolist():
            route = sum(nowhere << self.entry_bits * a for a in range(1 << self.header.address_bits))
            for node, address in enumerate(addresses):
                output = int(table[switch, node]) if routes.table[switch, node] >= 0 else nowhere
                if output < nowhere:
                    route ^= (nowhere ^ output) << self.entry_bits * address
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
        rises = straps["rises"][output] ^ into  # into: from there to here, the other way round
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
        # the own address has no entry, but it exists
        nowhere = (entry == self.ejection) & ~self.is_own(straps, examined)
        return {(o, 0): entry == o for o in self.reaches(port)}, nowhere
