"""Decoder of unicast and address-list headers in meshes, under e-cube and the Hamiltonian relation R."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from wormcast.algorithms.consumption import ConsumptionClasses
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.phrases import count
from wormcast.algorithms.routing import ALONG_LABELS, E_CUBE, HAMILTONIAN_ROW_FIRST, Relation
from wormcast.algorithms.topologies.mesh import label_axes

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from .address import coordinates
from .base import ANY_CHANNEL
from .grid import GridDecoder

if TYPE_CHECKING:
    from amaranth.hdl import Value

__all__ = ["MeshDecoder"]

LABELLED = tuple(relation.name for relation in ALONG_LABELS)
RELATIONS = ("e-cube", *LABELLED)


class MeshDecoder(GridDecoder):
    """Decoder for meshes: it compares the coordinates in an address with those of the switch.

    `AddressListDecoder` describes the slots of a flit.

    At a destination the own address is shifted out of the flit as it is written into the buffer, so that the next hop
    is known at once. At a destination the header takes one more cycle, as the consumption channel is reserved before
    the link. If a header flit held only the own address, it is dropped with the reservation of the consumption channel,
    and the header takes two more cycles instead of one.

    *e-cube*: the last dimension first (in 2-D: along the row, then along the column).

    *hamiltonian*: R of [Boppana98], section 2.1, computed from coordinates, without labels. In two dimensions R leads
    along the row to a destination in the same row. R also leads along the row to a destination in an adjacent row, if
    the Hamiltonian path to that row runs towards the destination's column. To all other destinations in two dimensions,
    R leads along the column. The Hamiltonian path joins rows 2k and 2k + 1 at the right end, and rows 2k - 1 and 2k at
    the left end. So R leads right along row 2k or 2k + 1 only to destinations in these two rows. R leads left along row
    2k - 1 or 2k only to destinations in these two rows. In more than two dimensions ([Amnah]) the axes are tried from
    the slowest axis to the fastest. The slowest axis is the one whose coordinate changes least often along the
    Hamiltonian path. In more than two dimensions a worm goes along the first axis in which the destination's coordinate
    differs, unless this hop would pass the destination on the Hamiltonian path. A hop along an axis can go past the
    destination on the Hamiltonian path only if the destination is in the plane that the hop enters. If a hop would pass
    the destination, the worm takes the next axis in the order of trial that has a neighbour in the direction of the
    path.

    *hamiltonian-row-first*: as hamiltonian, except at injection ports of two-dimensional meshes. At injection ports of
    such a mesh, the hop leads along the row if the destination is in another column, and the hop changes the label
    towards the destination's label.

    Only hops that the relation allows are decoded: under e-cube a worm in a column does not turn into a row, under R
    labels do not rise and then fall. A header that requests a hop that the relation does not allow is an error on the
    wire.

    A dimension of extent 1 has no strap.

    Parameters
    ----------
    header : AddressList
        The header format. With several relations the top bits of each header flit select one, by its index in
        ``relations``.
    relations : tuple of str
        One or more of ``e-cube``, ``hamiltonian`` and ``hamiltonian-row-first``.
    consumption : ConsumptionClasses
        As in `Decoder`.
    multicast : bool
        False builds the decoder for unicast headers: the own address is always the last one.
    injection, ejection : "one" or "all"
        As in `Decoder`.
    kind : SwitchKind, optional
        Kind of the mesh's switches; by default derived from the header's shape.
    absorbs : bool
        As in `Decoder`.

    Straps
    ------
    coordinate_{d}
        The own coordinate in dimension {d}.
    """

    def __init__(self, header: AddressList, *, relations: tuple[str, ...],
                 consumption: ConsumptionClasses = ANY_CHANNEL, multicast: bool = True, injection: str = "one",
                 ejection: str = "one", kind: SwitchKind | None = None, absorbs: bool = False):
        self.relations = tuple(relations)
        for relation in self.relations:
            if relation not in RELATIONS:
                raise WormcastError(f"MeshDecoder.relations: {relation!r} is not valid. Allowed: "
                                    f"{', '.join(RELATIONS)}.")
        if not self.relations or len(set(self.relations)) != len(self.relations):
            raise WormcastError(f"MeshDecoder.relations: {self.relations!r} is not valid. Allowed: one relation or "
                                "more, each once.")
        if len(self.relations) != header.relations:
            raise WormcastError(f"MeshDecoder.relations: {self.relations!r} is not valid. Allowed: "
                                f"{count(header.relations, 'relation')}, as many as the header format selects among.")
        if HAMILTONIAN_ROW_FIRST.name in self.relations and len(header.shape) != 2:
            raise WormcastError(f"MeshDecoder.relations: {HAMILTONIAN_ROW_FIRST.name} is not valid in "
                                f"{len(header.shape)} dimensions. Allowed: 2 dimensions.")
        super().__init__(header, consumption=consumption, multicast=multicast, injection=injection, ejection=ejection,
                         kind=kind, absorbs=absorbs)

    @property
    def labelled(self) -> list[int]:
        """Indices of the relations under which labels only rise or only fall."""
        return [index for index, name in enumerate(self.relations) if name in LABELLED]

    def turns(self, port, output):
        """Return whether a relation of the decoder allows the turn at some switch: e-cube allows turns in its order of
        dimensions, R any turn."""
        if port >= self.links_in or self.labelled:
            return True
        return self.steps[output][0] <= self.steps[port][0]

    @staticmethod
    def knows(relation: Relation) -> bool:
        """Return whether the decoder supports the relation."""
        return relation is E_CUBE or relation in ALONG_LABELS

    def examine(self, m, name, straps, address, selector):
        """Compute the next hop to ``address`` as single bits: its dimension, one-hot, and its direction."""
        equal, above = {}, {}
        fields = coordinates(self.header, address)
        for dim, field in fields.items():
            own = straps[f"coordinate_{dim}"]
            equal[dim], above[dim] = hdl.Signal(name=f"{name}_equal_{dim}"), hdl.Signal(name=f"{name}_above_{dim}")
            m.d.comb += [equal[dim].eq(field == own), above[dim].eq(_exceeds(field, own))]
        along = self._last_first(equal)
        upwards = any_of([along[dim] & above[dim] for dim in fields])
        row_first: dict[tuple[str, int], Value] = {}
        if self.labelled and len(self.header.shape) > 2:
            by_labels, rising = self._by_labels(straps, fields, equal, above)
            chosen = selector == self.labelled[0] if len(self.relations) > 1 else hdl.C(1)
            along = {dim: hdl.Mux(chosen, by_labels[dim], along[dim]) for dim in fields}
            upwards = hdl.Mux(chosen, rising, upwards)
        elif self.labelled and len(fields) == 2:
            row, own_row = fields[0], straps["coordinate_0"]
            # row that the Hamiltonian path joins to the own row at the left end
            # an even row is joined to row - 1, an odd row to row + 1
            other = ((own_row + 1) ^ 1) - 1
            right, left = row[1:] == own_row[1:], equal[0] | (row == other[:len(row) + 1])
            in_pair = hdl.Signal(name=f"{name}_in_pair")
            m.d.comb += in_pair.eq(hdl.Mux(above[1], right, left))
            by_e_cube = reduce(and_, (selector != index for index in self.labelled))
            by_rows = ~equal[1] & (in_pair | by_e_cube)
            along = {0: ~equal[0] & ~by_rows, 1: by_rows}
            upwards = any_of([along[dim] & above[dim] for dim in fields])
            if HAMILTONIAN_ROW_FIRST.name in self.relations:
                rises = above[1] ^ own_row[0]  # the hop along the row leads to a higher label
                row_first = {("row_first", 1): ~equal[1] & (equal[0] | (rises == above[0])), ("right", 1): above[1]}
        way = {**row_first, **{("along", dim): bit for dim, bit in along.items()}, ("above", 0): upwards}
        return self._known(m, name, fields, equal, way)

    def _by_labels(self, straps, fields, equal, above) -> tuple[dict[int, Value], Value]:
        """Compute R in any number of dimensions: the dimension of the hop, and its direction.

        Of the two neighbours along an axis, one has a higher label and one a lower label. Among the neighbours with
        higher labels, the one along the slowest axis has the highest label. Among the neighbours with lower labels, the
        one along the slowest axis has the lowest label. R leads to the neighbour whose label is nearest to the
        destination's label and not past it. So the hop goes along the slowest axis on which the neighbour towards the
        destination's label exists and is not past that label.
        """
        axes = [dim for dim in label_axes(len(self.header.shape)) if dim in fields]
        odd = {dim: self._odd(dim, straps) for dim in axes}

        def before(rest: list[int], flipped: int) -> Value:
            """Return whether the destination is later on the Hamiltonian path than this switch, or with ``flipped``
            than the neighbour along the axis before ``rest``. Outside of the axes ``rest`` both nodes have equal
            coordinates.
            """
            later: Value = hdl.C(0)
            for dim in reversed(rest):
                later = hdl.Mux(equal[dim], later, above[dim] ^ odd[dim] ^ flipped)
            return later

        rises = before(axes, 0)
        along: dict[int, Value] = {}
        # inside: the coordinates along all earlier axes are equal; undecided: the hop is along none of the earlier axes
        inside, undecided = hdl.C(1), hdl.C(1)
        for k, dim in enumerate(axes):
            rest, own, extent = axes[k + 1:], straps[f"coordinate_{dim}"], self.header.shape[dim]
            up = rises ^ odd[dim]
            if not rest:
                along[dim] = undecided & ~(inside & equal[dim])
                continue
            near = fields[dim] == hdl.Mux(above[dim], own + 1, own - 1)[:len(own) + 1]
            same = hdl.Cat(equal[d] for d in rest).all()
            passes = near & ~same & (before(rest, 1) ^ rises)
            there = hdl.Mux(up, own != extent - 1, own != 0)
            along[dim] = undecided & hdl.Mux(inside, ~equal[dim] & ~passes, there)
            undecided &= ~along[dim]
            inside &= equal[dim]
        return along, any_of([along[dim] & (rises ^ odd[dim]) for dim in axes])

    def route(self, m, port, straps, examined, selector):
        above = examined["above", 0]
        along = {dim: examined["along", dim] for dim in {dim for dim, _ in self.steps}}
        if port >= self.links_in and ("row_first", 1) in examined:
            index = self.relations.index(HAMILTONIAN_ROW_FIRST.name)
            entry = examined["row_first", 1] & (selector == index if len(self.relations) > 1 else hdl.C(1))
            along = {0: along[0] & ~entry, 1: along[1] | entry}
            above = hdl.Mux(entry, examined["right", 1], above)
        legal = [self._legal(relation, port, straps) for relation in self.relations]
        directions: dict[tuple[int, int], Value] = {}
        for o, (dim, sign) in enumerate(self.steps):
            rules = [rule.get(o, hdl.C(0)) for rule in legal]
            allowed = hdl.Array(rules)[selector] if len(rules) > 1 else rules[0]
            directions[o, 0] = along[dim] & (above if sign > 0 else ~above) & allowed
        return directions, examined.get(("outside", 0), hdl.C(0))

    def _legal(self, relation: str, port: int, straps) -> dict[int, Value]:
        """Return the outputs that a worm of this relation from this port may take, with the condition for each."""
        if port >= self.links_in:
            return {o: hdl.C(1) for o in self.reaches(port)}
        dim, side = self.steps[port]
        if relation == "e-cube":
            return {o: hdl.C(1) for o in self.reaches(port) if self.steps[o][0] <= dim}
        legal: dict[int, Value] = {}
        for o in self.reaches(port):
            along, sign = self.steps[o]
            straight = -side == sign
            if along == dim:
                legal[o] = hdl.C(int(straight))
                continue
            # labels keep rising or falling: the hops' signs are equal if both parities are equal, else opposite
            odd = [self._odd(d, straps) for d in (dim, along) if self._turns_labels(d)]
            differs = odd[0] if len(odd) == 1 else odd[0] ^ odd[1]
            legal[o] = ~differs if straight else differs
        return legal


def _exceeds(one: Value, other: Value) -> Value:
    """Return whether a number is greater than another of the same width. The highest bit in which the numbers differ
    decides."""
    greater: Value = hdl.C(0)
    for a, b in zip(one, other, strict=True):
        greater = hdl.Mux(a ^ b, a, greater)
    return greater
