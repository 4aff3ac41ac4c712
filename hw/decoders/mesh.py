"""Unicast and address-list headers in meshes, under e-cube and under the Hamiltonian relation R."""

from amaranth.hdl import C, Cat, Const, Module, Mux, Signal, Value

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.topologies.mesh import mesh_directions, port_name

from .base import Decoder, Request

__all__ = ["MeshDecoder"]

RELATIONS = ("e-cube", "hamiltonian")


class MeshDecoder(Decoder):
    """Decodes addresses of a mesh: the next output towards the first address that is not the own one.

    ::

        slot 0 ─┬─ = own? ──────────────┬─▶ here
                └─▶ mux(here) ─▶ compare with straps ─▶ direction ─▶ code
        slot 1 ───▶    ┘                └─ equal: nothing left in this flit (strip)
        slots ────▶ shifted down by one if here ─▶ buffer

    At a destination the own address is shifted out of the flit as it is written into the buffer, so the next
    hop is known at once: the header takes one cycle more there, for the consumption channel that is reserved
    before the link. When a flit held nothing else, it is dropped with the reservation and the next header flit
    is decoded in its place: two cycles more.

    *e-cube*: the last dimension first (in 2-D: along the row, then along the column). *hamiltonian* (2-D only):
    R of paper 002, section 2.1, without labels: along the row if the destination is in this row, or if it is in
    the adjacent row and the Hamiltonian path of this row leads towards its column; else along the column.

    Parameters
    ----------
    header : AddressList
        The header format. With several relations the top bits of each header flit select one, in the order
        given here.
    relations : tuple of str
        Of ``e-cube`` and ``hamiltonian``.
    multicast : bool
        False builds the decoder for unicast headers: the own address is always the last one.
    """

    def __init__(self, header: AddressList, *, relations: tuple[str, ...], multicast: bool = True):
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
        self.ports = (*(name for name, _, _ in steps), "local")
        self.ejection = len(steps)
        self.straps = {f"coordinate_{d}": (n - 1).bit_length() for d, n in enumerate(header.shape) if n > 1}
        if "hamiltonian" in self.relations:
            self.classes = 2
        else:
            self.classes = len(steps) if multicast else 1

    def reaches(self, port):
        return [o for o in range(self.ejection) if o != port]

    def delivers(self, port):
        return port != self.ejection

    def code_width(self, port):
        return len(self.reaches(port)).bit_length() + self.delivers(port)

    def class_of(self, port, *, odd):
        """The directed network of the last hop: H_u (0) or H_l (1) under R, else one class per direction."""
        if self.classes == 1 or port == self.ejection:
            return 0
        if "hamiltonian" not in self.relations:
            return port
        # the worm moves away from the side it came in by; in odd rows the labels fall from left to right
        dim, side = self.steps[port]
        upwards = side < 0 if dim == 0 else (side < 0) != odd
        return 0 if upwards else 1

    def consumption_class(self, port, straps):
        even, odd = (self.class_of(port, odd=parity) for parity in (False, True))
        if even == odd or "coordinate_0" not in straps:
            return C(even, range(max(self.classes, 2)))
        return straps["coordinate_0"][0] if odd else ~straps["coordinate_0"][0]

    def _split(self, address: Value) -> dict[int, Value]:
        """The coordinates in an address, by dimension."""
        fields, at = {}, 0
        for dim in reversed(range(len(self.header.shape))):
            width = (self.header.shape[dim] - 1).bit_length()
            if width:
                fields[dim] = address[at:at + width]
            at += width
        return fields

    def _directions(self, m: Module, name: str, straps, address: Value, selector: Value) -> list[Value]:
        """One-hot over the outputs: where to go for ``address`` (nowhere if it is the own one)."""
        fields = self._split(address)
        own = {dim: straps[f"coordinate_{dim}"] for dim in fields}
        compare = {}
        for dim, field in fields.items():
            above, equal = Signal(name=f"{name}_above_{dim}"), Signal(name=f"{name}_equal_{dim}")
            m.d.comb += [above.eq(field > own[dim]), equal.eq(field == own[dim])]
            compare[dim] = (above, equal)
        directions = Const(0, len(self.steps))
        for k, relation in enumerate(self.relations):
            rule = self._e_cube(compare) if relation == "e-cube" else self._hamiltonian(compare, fields, own)
            directions = rule if k == 0 else Mux(selector == k, rule, directions)
        result = Signal(len(self.steps), name=f"{name}_direction")
        m.d.comb += result.eq(directions)
        return list(result)

    def _e_cube(self, compare):
        result = []
        for dim, sign in self.steps:
            above, equal = compare[dim]
            later = [compare[d][1] for d in compare if d > dim]
            side = above if sign > 0 else ~above & ~equal
            result.append(side & Cat(later).all() if later else side)
        return Cat(result)

    def _hamiltonian(self, compare, fields, own):
        if len(compare) == 1:
            return self._e_cube(compare)
        row, mine = fields[0], own[0]
        (row_above, row_equal), (above, equal) = compare[0], compare[1]
        below = ~above & ~equal
        odd = mine[0]
        next_row, last_row = row == (mine + 1), (row + 1) == mine
        # rightwards the labels rise in even rows and fall in odd ones
        right = above & (row_equal | Mux(odd, last_row, next_row))
        left = below & (row_equal | Mux(odd, next_row, last_row))
        vertical = ~right & ~left
        by_step = {(1, 1): right, (1, -1): left,
                   (0, 1): vertical & row_above, (0, -1): vertical & ~row_above & ~row_equal}
        return Cat(by_step[step] for step in self.steps)

    def decode(self, m, port, straps, data, first):
        bits, header = self.header.address_bits, self.header
        slots = [data[s * bits:(s + 1) * bits] for s in range(header.capacity)]
        selector = data[len(data) - header.selector_bits:]
        address, rewritten, here = slots[0], data, C(0)
        if self.delivers(port):
            here = Signal(name="own_address")
            own = Cat(straps[f"coordinate_{d}"] for d in reversed(range(len(header.shape))) if header.shape[d] > 1)
            m.d.comb += here.eq(first & (slots[0] == own))
            if self.multicast and header.capacity > 1:
                address = Signal(bits, name="next_address")
                m.d.comb += address.eq(Mux(here, slots[1], slots[0]))
                rest = data[header.capacity * bits:]
                rewritten = Mux(here, Cat(*slots[1:], slots[-1], rest), data)
        going = self._directions(m, "address", straps, address, selector)
        index = Signal(range(len(self.reaches(port)) + 1), init=len(self.reaches(port)), name="direction_index")
        m.d.comb += index.eq(len(self.reaches(port)))
        onward = Signal(name="onward")
        m.d.comb += onward.eq(first & Cat(going[o] for o in self.reaches(port)).any())
        for i, o in enumerate(self.reaches(port)):
            with m.If(first & going[o]):
                m.d.comb += index.eq(i)
        code = Cat(index, here) if self.delivers(port) else index
        return code, rewritten, here & ~onward

    def request(self, port, code):
        options = self.reaches(port)
        index = code[: len(options).bit_length()]
        going = {o: index == i for i, o in enumerate(options)}
        here = code[-1] if self.delivers(port) else C(0)
        all_of = Cat(here if o == self.ejection else going.get(o, C(0)) for o in range(len(self.ports)))
        return Request(all_of=all_of, strip=here & (index == len(options)))


def mesh_steps(shape: tuple[int, ...]) -> list[tuple[str, int, int]]:
    """Name, dimension and sign of each network port of a mesh's switch, in the topology's order."""
    return [
        (port_name(len(shape), dim, sign).replace("+", "_plus").replace("-", "_minus"), dim, sign)
        for dim, sign in mesh_directions(shape)
    ]
