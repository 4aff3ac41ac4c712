"""Unicast and address-list headers in meshes, under e-cube and under the Hamiltonian relation R."""

from amaranth.hdl import Array, C, Cat, Mux, Signal, Value

from wormcast.algorithms.consumption import NO_CLASS, ConsumptionClasses
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.routing import E_CUBE, HAMILTONIAN, Relation
from wormcast.algorithms.topologies.mesh import direction_name, mesh_directions, port_name

from ..logic import any_of
from .address_list import AddressListDecoder
from .base import ANY_CHANNEL

__all__ = ["MeshDecoder"]

RELATIONS = ("e-cube", "hamiltonian")


class MeshDecoder(AddressListDecoder):
    """Decodes addresses of a mesh by comparing their coordinates with the own ones; how a flit is taken apart, see
    `AddressListDecoder`.

    At a destination the own address is shifted out of the flit as it is written into the buffer, so the next
    hop is known at once: the header takes one cycle more there, for the consumption channel that is reserved
    before the link. When a flit held nothing else, it is dropped with the reservation and the next header flit
    is decoded in its place: two cycles more.

    *e-cube*: the last dimension first (in 2-D: along the row, then along the column). *hamiltonian* (2-D only):
    R of [Boppana98], section 2.1, without labels: along the row if the destination is in this row, or if it is in
    the adjacent row and the Hamiltonian path of this row leads towards its column; else along the column. As
    rows 2k and 2k + 1 meet at the right end of the path and rows 2k - 1 and 2k at the left, this is "to the right
    within a pair of rows, to the left within the other pairing".

    Only hops that the relation's worms may take are decoded: under e-cube a worm in a column does not turn into a row,
    under R labels do not rise and then fall. Whatever else a header asks for is an error on the wire.

    A dimension of one node has no strap.

    Parameters
    ----------
    header : AddressList
        The header format. With several relations the top bits of each header flit select one, in the order
        given here.
    relations : tuple of str
        Of ``e-cube`` and ``hamiltonian``.
    consumption : ConsumptionClasses
    multicast : bool
        False builds the decoder for unicast headers: the own address is always the last one.
    injection : "one" or "all"

    Straps
    ------
    coordinate_{d}
        The own coordinate in dimension {d}.
    """

    def __init__(self, header: AddressList, *, relations: tuple[str, ...],
                 consumption: ConsumptionClasses = ANY_CHANNEL, multicast: bool = True, injection: str = "one"):
        self.header = header
        self.relations = tuple(relations)
        self.multicast = multicast
        for relation in self.relations:
            if relation not in RELATIONS:
                raise WormcastError(f"MeshDecoder.relations: must be of {', '.join(RELATIONS)}, not {relation!r}")
        if not self.relations or len(set(self.relations)) != len(self.relations):
            raise WormcastError(f"MeshDecoder.relations: must name relations once each, not {self.relations!r}")
        if len(self.relations) != header.relations:
            raise WormcastError(f"MeshDecoder.relations: {len(self.relations)} given, but the header format "
                                f"selects among {header.relations}")
        if "hamiltonian" in self.relations and len(header.shape) != 2:
            raise WormcastError("MeshDecoder.relations: hamiltonian is built for 2-dimensional meshes, not for "
                                f"{len(header.shape)} dimensions")
        steps = mesh_steps(header.shape)
        self.steps = [(dim, sign) for _, dim, sign in steps]
        super().__init__([name for name, _, _ in steps], injection=injection, consumption=consumption)
        self.straps = {f"coordinate_{d}": (n - 1).bit_length() for d, n in enumerate(header.shape) if n > 1}

    def turns(self, port, output):
        """Under e-cube no turn into a dimension that comes earlier; under R all but the way back."""
        if port >= self.ejection or "hamiltonian" in self.relations:
            return True
        return self.steps[output][0] <= self.steps[port][0]

    @staticmethod
    def knows(relation: Relation, shape: tuple[int, ...]) -> bool:
        """Whether the relation is built here, for meshes of this shape."""
        return relation is E_CUBE or (relation is HAMILTONIAN and len(shape) == 2)

    def strap_values(self, topology, relation):
        return {name: topology.coordinates[:, int(name.rsplit("_", 1)[1])].tolist() for name in self.straps}

    def _odd_row(self, straps) -> Value:
        return straps["coordinate_0"][0] if "coordinate_0" in straps else C(0)

    def _rises(self, step: tuple[int, int], *, odd: bool) -> bool:
        """Whether a hop leads to a higher Hamiltonian label: downwards, and to the right in even rows."""
        dim, sign = step
        return sign > 0 if dim == 0 else (sign > 0) != odd

    def hop_class(self, output, straps, *, into):
        dim, side = self.steps[output]
        step = dim, -side if into else side  # a worm moves away from the side it came in by
        by_row = []
        for odd in (False, True):
            k = self.consumption.of_direction(direction_name(*step))
            if k == NO_CLASS:
                k = self.consumption.of_direction("up" if self._rises(step, odd=odd) else "down")
            by_row.append(k)
        if by_row[0] == by_row[1]:
            return [(C(1), by_row[0])]
        odd_row = self._odd_row(straps)
        return [(~odd_row, by_row[0]), (odd_row, by_row[1])]

    def _split(self, address: Value) -> dict[int, Value]:
        """The coordinates in an address, by dimension."""
        fields, at = {}, 0
        for dim in reversed(range(len(self.header.shape))):
            width = (self.header.shape[dim] - 1).bit_length()
            if width:
                fields[dim] = address[at:at + width]
            at += width
        return fields

    def own_address(self, straps):
        return Cat(straps[name] for name in reversed(self.straps))

    def examine(self, m, name, straps, address, selector):
        """The next hop to ``address`` as single bits: along which dimension, if any, and whether upwards."""
        equal, above = {}, {}
        fields = self._split(address)
        for dim, field in fields.items():
            own = straps[f"coordinate_{dim}"]
            equal[dim], above[dim] = Signal(name=f"{name}_equal_{dim}"), Signal(name=f"{name}_above_{dim}")
            m.d.comb += [equal[dim].eq(field == own), above[dim].eq(_exceeds(field, own))]
        along: dict[int, Value] = {}
        for dim in fields:
            later = [equal[d] for d in fields if d > dim]
            along[dim] = Cat(~equal[dim], *later).all()
        if "hamiltonian" in self.relations and len(fields) == 2:
            row, own_row = fields[0], straps["coordinate_0"]
            # in the other pairing this row goes with the one below an even row, above an odd one
            other = ((own_row + 1) ^ 1) - 1
            right, left = row[1:] == own_row[1:], equal[0] | (row == other[:len(row) + 1])
            in_pair = Signal(name=f"{name}_in_pair")
            m.d.comb += in_pair.eq(Mux(above[1], right, left))
            by_rows = ~equal[1] & (in_pair | (selector != self.relations.index("hamiltonian")))
            along = {0: ~equal[0] & ~by_rows, 1: by_rows}
        result: dict[tuple[str, int], Value] = {("along", dim): bit for dim, bit in along.items()}
        result["above", 0] = any_of([along[dim] & above[dim] for dim in fields])
        result["own", 0] = Cat(equal.values()).all()
        beyond = [field >= self.header.shape[dim] for dim, field in fields.items()
                  if self.header.shape[dim].bit_count() > 1]
        if beyond:
            result["outside", 0] = Cat(beyond).any()
        for (what, dim), value in result.items():
            result[what, dim] = signal = Signal(name=f"{name}_{what}_{dim}")
            m.d.comb += signal.eq(value)
        return result

    def route(self, m, port, straps, examined, selector):
        above = examined["above", 0]
        legal = [self._legal(relation, port, straps) for relation in self.relations]
        directions: dict[int, Value] = {}
        for o, (dim, sign) in enumerate(self.steps):
            allowed = Array(rule.get(o, C(0)) for rule in legal)[selector] if len(legal) > 1 else legal[0].get(o, C(0))
            directions[o] = examined["along", dim] & (above if sign > 0 else ~above) & allowed
        return directions, examined.get(("outside", 0), C(0))

    def _legal(self, relation: str, port: int, straps) -> dict[int, Value]:
        """The outputs that a worm of this relation from this port may take, with the condition for each."""
        if port >= self.ejection:
            return {o: C(1) for o in self.reaches(port)}
        dim, side = self.steps[port]
        if relation == "e-cube":
            return {o: C(1) for o in self.reaches(port) if self.steps[o][0] <= dim}
        odd_row, legal = self._odd_row(straps), {}
        for o in self.reaches(port):
            even, odd = (self._rises((dim, -side), odd=odd) == self._rises(self.steps[o], odd=odd)
                         for odd in (False, True))
            legal[o] = C(1) if even and odd else odd_row if odd else ~odd_row if even else C(0)
        return legal

    def is_own(self, straps, examined):
        return examined["own", 0]


def _exceeds(one: Value, other: Value) -> Value:
    """Whether a number is greater than another of as many bits: in the highest place where they differ."""
    greater: Value = C(0)
    for a, b in zip(one, other, strict=True):
        greater = Mux(a ^ b, a, greater)
    return greater


def mesh_steps(shape: tuple[int, ...]) -> list[tuple[str, int, int]]:
    """Name, dimension and sign of each network port of a mesh's switch, in the topology's order."""
    return [
        (port_name(len(shape), dim, sign).replace("+", "_plus").replace("-", "_minus"), dim, sign)
        for dim, sign in mesh_directions(shape)
    ]
