"""Decoder of bit-string headers in multistage networks: each stage reads one digit of every destination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import BitString
from wormcast.algorithms.phrases import count, given_text

from .. import hdl
from ..logic import any_of
from ..options import MOST_SHALLOW, RouterOptions
from ..router_kind import SwitchKind
from .base import Decoder
from .branching import BitCell, Table, TreeDecoder
from .reach import ReachDecoder
from .tag import require_digits, tag_digits

if TYPE_CHECKING:
    from amaranth.hdl import Value

    from .choice import DecoderPlace

__all__ = ["BitStringDecoder", "decoder_of"]


class BitStringDecoder(TreeDecoder):
    """Decoder that finds the outputs to which a bit string leads, and the bit string of each branch.

    ::

        header flit ─▶ AND with the bits of output o ─┬─ any set: a branch leaves by o
                                                      └─ the branch carries these bits and the report bit

    Each switch reads one digit of the node ids, its *deciding digit*. A node is behind the output whose number is the
    deciding digit of the node's id. The bits of an output are those of the nodes behind it. A switch has one output for
    each value of a digit; the number of outputs is a power of two. Either all outputs of a switch lead to other
    switches, or all lead to nodes. If the deciding digit differs between switches of the kind, a strap selects the
    digit. Bits that go to the same outputs are decoded together.

    *Latency*: combinational.

    Parameters
    ----------
    header : BitString
    kind : SwitchKind
    deciding : sequence of int
        The digits that decide at switches of the kind, counted from the least significant; a strap selects one of
        several.
    injection, ejection : "one" or "all"
        As in `Decoder`.

    Straps
    ------
    digit
        The deciding digit of the destinations, counted from the least significant.
    """

    def __init__(self, header: BitString, *, kind: SwitchKind, deciding: Sequence[int], injection: str = "one",
                 ejection: str = "one"):
        for digit in deciding:
            self.digit_bits, self.digits = require_digits("BitStringDecoder", kind, header.nodes, digit)
        super().__init__(kind, injection=injection, ejection=ejection)
        self.header: BitString = header
        self.flits = self.codes = header.flits()
        self.mark = header.form_bits
        self.deciding = tuple(sorted(set(deciding)))
        self.straps = {"digit": (self.digits - 1).bit_length()} if len(self.deciding) > 1 else {}

    def strap_values(self, routes, kind):
        return dict.fromkeys(self.straps, tag_digits(routes, kind))

    def seen(self, m, port, straps, flit, place):
        leads = self.leads(port)
        ways: list[list[Value]] = [[] for _ in leads]
        for bits, goes in self.wanted(leads):
            some = hdl.Signal(name=f"some_{bits[0]}")
            m.d.comb += some.eq(hdl.Cat(flit[bit] for bit in bits).any())
            for way, table in zip(ways, goes, strict=True):
                way.append(some & self.chosen(table, straps, place))
        return hdl.Cat(any_of(way) for way in ways)

    def branch_flit(self, m, output, straps, table, flit, place, *, sent, ends):
        found: list[Value] = [hdl.C(0)] * len(flit)
        for bits, [table] in self.carried(output):
            goes = self.chosen(table, straps, place)
            for bit in bits:
                found[bit] = flit[bit] & goes
        return hdl.Cat(found)

    def wanted(self, outputs: Sequence[int]) -> list[BitCell]:
        """Return the header bits that lead to these outputs, in cells: all bits of a cell lead to the same outputs."""
        cells = self._cells([self._nodes(o) for o in outputs])
        return [cell for cell in cells if any(any(map(any, table)) for table in cell.goes)]

    def carried(self, output: int) -> list[BitCell]:
        """Return all bits of a header flit, in cells. The branch by an output keeps the bits of the nodes behind this
        output, the report bit and the form.
        """
        masks, kept = self._nodes(output), (1 << self.mark + 1) - 1
        return self._cells([[[mask | kept * (flit == 0) for mask in digits] for flit, digits in enumerate(masks)]])

    def chosen(self, table: Table, straps: dict[str, Value], code: Value) -> Value:
        flits = hdl.Array(self._decided(row, straps) for row in table)
        return flits[code] if len(table) > 1 else flits[0]

    def _decided(self, row: tuple[bool, ...], straps: dict[str, Value]) -> Value:
        if len(row) == 1 or len(set(row)) == 1:
            return hdl.C(row[0], 1)
        # a strap value that is not in `deciding` selects the next lower digit in `deciding`, or else the lowest one
        # no switch of a network has such a strap value
        last = [max((k for k, one in enumerate(self.deciding) if one <= digit), default=0)
                for digit in range(self.digits)]
        return hdl.Array(hdl.C(row[k], 1) for k in last)[straps["digit"]]

    def _cells(self, masks: list[list[list[int]]]) -> list[BitCell]:
        """Group the bits of a flit: two bits are in one cell if each mask contains both or neither.

        ``masks[o][f][k]``: the bits of header flit ``f`` that go to output ``o``, at switches where ``deciding[k]`` is
        the deciding digit.
        """
        found: dict[tuple[Table, ...], list[int]] = {}
        for bit in range(self.header.flit_width):
            goes = tuple(tuple(tuple(bool(mask >> bit & 1) for mask in digits) for digits in flits) for flits in masks)
            found.setdefault(goes, []).append(bit)
        return [BitCell(bits, list(goes)) for goes, bits in found.items()]

    def _nodes(self, output: int) -> list[list[int]]:
        """Return the masks of the nodes behind an output, for each header flit and each digit in ``deciding``."""
        return [[self._mask(output, flit, digit) for digit in self.deciding] for flit in range(self.flits)]

    def _mask(self, output: int, flit: int, digit: int) -> int:
        value = output
        if output >= self.ejection:
            value = next(e for e, outputs in enumerate(self.ejections) if output in outputs)
        places = [self.header.place(node) for node in range(self.header.nodes)
                  if node >> digit * self.digit_bits & (1 << self.digit_bits) - 1 == value]
        return sum(1 << bit for at, bit in places if at == flit)


def decoder_of(place: DecoderPlace) -> Decoder:
    """Build the decoder of bit strings: with reachability strings if worms go up and then down, else by digits."""
    header, kind, routes, options = place.header, place.kind, place.routes, place.options
    assert isinstance(header, BitString)
    if place.scheme.needs_whole_packet:
        return ReachDecoder(header, kind=kind, injection=options.ports, in_turn=routes.in_turn,
                            adaptive=not (routes.in_turn or routes.deterministic), whole=options.strings == "whole")
    decided = tag_digits(routes, kind)
    outputs = max(len(kind.network_outputs), len(kind.ejections))
    if place.topology.kind == "min" and outputs.bit_count() > 1:
        raise WormcastError(f"scheme: {place.scheme.name} is not valid on {place.topology.name}: a switch has "
                            f"{outputs} outputs, and bits of the destination's id select one of them. Allowed: "
                            "switches whose number of outputs is a power of two, as with b=2 or b=4.")
    if decided is None:
        raise WormcastError(f"relation: {routes.relation.name} is not valid with {place.scheme.name} on "
                            f"{place.topology.name}: switches for {place.scheme.name} select an output by a digit of "
                            f"the destination, and {routes.relation.name} does not. Allowed: destination-tags on "
                            "multistage networks.")
    if not options.deep:
        _require_tree(header, options)
    return BitStringDecoder(header, kind=kind, deciding=decided, **place.ports)


def _require_tree(header: BitString, options: RouterOptions) -> None:
    """Refuse options that do not support replication to several outputs."""
    flits, depth = header.flits(), options.buffer
    if flits > depth:
        raise WormcastError(f"buffer: {given_text(options, 'buffer')} is not valid: a bit string of {header.bits} bits "
                            f"has {flits} flits of {count(header.flit_width, 'bit')}, which the buffer must hold. "
                            "Allowed: "
                            + (f"{flits} to {MOST_SHALLOW}, or " if flits <= MOST_SHALLOW else "")
                            + f"a flit_width of {-(-header.bits // depth)} or more.")
    if options.ports != "one":
        raise WormcastError(f"ports: {options.ports} is not valid: each of several injection ports leads to one "
                            "output, and a worm with a bit string may need several outputs. Allowed: one.")
    if options.slots:
        raise WormcastError(f"absorb: {options.slots} is not valid: worms with bit strings end at each "
                            "destination. Allowed: off, host.")
    if options.readers != "coupled":
        raise WormcastError(f"readers: {options.readers} is not valid: the scheme determines the replication of "
                            "worms with bit strings. Allowed: coupled.")
