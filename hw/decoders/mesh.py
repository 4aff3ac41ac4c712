"""Unicast and address-list headers in meshes, under e-cube and under the Hamiltonian relation R."""

from amaranth.hdl import C, Cat, Const, Module, Mux, Signal, Value

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.topologies.mesh import mesh_directions, port_name

from ..logic import any_of
from .base import Decoder, Request

__all__ = ["MeshDecoder"]

RELATIONS = ("e-cube", "hamiltonian")


class MeshDecoder(Decoder):
    """Decodes addresses of a mesh: the next output towards the first address that is not the own one.

    ::

        slot 0 ─▶ compare with straps ─┬─ equal: here ─▶ code
                                       └─▶ mux(here) ─▶ direction ─▶ code
        slot 1 ─▶ compare with straps ─────▶ ┘  └─ equal: nothing left in this flit (strip)
        slots ──▶ shifted down by one if here ─▶ buffer

    At a destination the own address is shifted out of the flit as it is written into the buffer, so the next
    hop is known at once: the header takes one cycle more there, for the consumption channel that is reserved
    before the link. When a flit held nothing else, it is dropped with the reservation and the next header flit
    is decoded in its place: two cycles more.

    *e-cube*: the last dimension first (in 2-D: along the row, then along the column). *hamiltonian* (2-D only):
    R of paper 002, section 2.1, without labels: along the row if the destination is in this row, or if it is in
    the adjacent row and the Hamiltonian path of this row leads towards its column; else along the column. As
    rows 2k and 2k + 1 meet at the right end of the path and rows 2k - 1 and 2k at the left, this is "to the right
    within a pair of rows, to the left within the other pairing".

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

    def _compare(self, m: Module, name: str, straps, address: Value) -> dict[tuple[str, int], Value]:
        """Where ``address`` lies from here, as single bits."""
        result: dict[tuple[str, int], Value] = {}
        for dim, field in self._split(address).items():
            own = straps[f"coordinate_{dim}"]
            result["above", dim] = field > own
            result["equal", dim] = field == own
            if dim == 0 and "hamiltonian" in self.relations:
                result["right", dim] = (field ^ own) < 2
                result["left", dim] = ((field + 1) ^ (own + 1)) < 2
        for (what, dim), value in result.items():
            result[what, dim] = signal = Signal(name=f"{name}_{what}_{dim}")
            m.d.comb += signal.eq(value)
        return result

    def _directions(self, m: Module, compared, selector: Value) -> list[Value]:
        """One-hot over the outputs: where to go for a compared address (nowhere if it is the own one)."""
        directions: Value = Const(0, len(self.steps))
        for k, relation in enumerate(self.relations):
            rule = self._e_cube(compared) if relation == "e-cube" else self._hamiltonian(compared)
            directions = rule if k == 0 else Mux(selector == k, rule, directions)
        result = Signal(len(self.steps), name="direction")
        m.d.comb += result.eq(directions)
        return list(result)

    def _e_cube(self, compared):
        result = []
        dims = [dim for what, dim in compared if what == "equal"]
        for dim, sign in self.steps:
            above, equal = compared["above", dim], compared["equal", dim]
            later = [compared["equal", d] for d in dims if d > dim]
            side = above if sign > 0 else ~above & ~equal
            result.append(side & Cat(later).all() if later else side)
        return Cat(result)

    def _hamiltonian(self, compared):
        if len(self.steps) < 4:  # a single row or column
            return self._e_cube(compared)
        row_above, above = compared["above", 0], compared["above", 1]
        row_below, below = ~row_above & ~compared["equal", 0], ~above & ~compared["equal", 1]
        right, left = above & compared["right", 0], below & compared["left", 0]
        vertical = ~right & ~left
        by_step = {(1, 1): right, (1, -1): left, (0, 1): vertical & row_above, (0, -1): vertical & row_below}
        return Cat(by_step[step] for step in self.steps)

    def decode(self, m, port, straps, data, first):
        bits, header = self.header.address_bits, self.header
        slots = [data[s * bits:(s + 1) * bits] for s in range(header.capacity)]
        selector = data[len(data) - header.selector_bits:]
        compared, rewritten, here = self._compare(m, "address", straps, slots[0]), data, C(0)
        if self.delivers(port):
            own, here = Signal(name="own_address"), Signal(name="here")
            m.d.comb += [
                own.eq(Cat(value for (what, _), value in compared.items() if what == "equal").all()),
                here.eq(first & own),
            ]
            if self.multicast and header.capacity > 1:
                # both slots are compared at the same time: the arriving flit has one cycle for all this
                following = self._compare(m, "next_address", straps, slots[1])
                compared = {key: Mux(own, following[key], value) for key, value in compared.items()}
                rest = data[header.capacity * bits:]
                rewritten = Mux(here, Cat(*slots[1:], slots[-1], rest), data)
        going = self._directions(m, compared, selector)
        options = self.reaches(port)
        none = len(options)
        onward = Signal(name="onward")
        m.d.comb += onward.eq(first & Cat(going[o] for o in options).any())
        # one-hot to index, and `none` for none of them
        index = Signal(range(none + 1), init=none, name="direction_index")
        m.d.comb += index.eq(none ^ any_of([Mux(first & going[o], none ^ i, 0) for i, o in enumerate(options)]))
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
