"""Decoder of bit-string headers in multistage networks: each stage reads one digit of every destination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from wormcast.algorithms.headers import BitString

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from .branching import BranchingDecoder
from .tag import require_digits, tag_digits

if TYPE_CHECKING:
    from amaranth.hdl import Value

__all__ = ["BitCell", "BitStringDecoder"]

Table = tuple[tuple[bool, ...], ...]


class BitCell(NamedTuple):
    """Bits of a header flit that go to the same outputs in every flit and for every strap value.

    Parameters
    ----------
    bits : list of int
    goes : list of Table
        By output: True where the bits go there, for each header flit and each digit that may decide.
    """

    bits: list[int]
    goes: list[Table]


class BitStringDecoder(BranchingDecoder):
    """Decoder that finds the outputs to which a bit string leads, and the bit string of each branch.

    ::

        header flit ─▶ AND with the bits of output o ─┬─ any set: a branch leaves by o
                                                      └─ the branch carries these bits and the report bit

    The bits of an output are those of the nodes whose deciding digit is the output's number. A node that the switch
    reaches is behind the output whose number is the node's deciding digit. A switch has one output for each value of a
    digit; the number of outputs is a power of two. All outputs lead to other switches, or all to nodes. If the deciding
    digit differs between switches of the kind, a strap selects it. Bits that go to the same outputs are decoded
    together.

    *Latency*: combinational.

    Parameters
    ----------
    header : BitString
    kind : SwitchKind
    deciding : sequence of int
        The digits that decide at switches of the kind, counted from the least significant; a strap selects one of
        several.
    injection, ejection : "one" or "all"

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
        self.flits = header.flits()
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

    def passed(self, m, output, straps, table, flit, place):
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
        """Return all bits, in cells. The branch by an output keeps the bits of the nodes behind this output, and the
        report bit.
        """
        masks = self._nodes(output)
        return self._cells([[[mask | (flit == 0) for mask in digits] for flit, digits in enumerate(masks)]])

    def chosen(self, table: Table, straps: dict[str, Value], place: Value) -> Value:
        """Return the table entry of a cell for header flit number ``place``."""
        flits = hdl.Array(self._decided(row, straps) for row in table)
        return flits[place] if len(table) > 1 else flits[0]

    def _decided(self, row: tuple[bool, ...], straps: dict[str, Value]) -> Value:
        if len(row) == 1 or len(set(row)) == 1:
            return hdl.C(row[0], 1)
        # a digit that decides at no switch is treated as the next lower one that does
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
        """Return the masks of the nodes behind an output, for each header flit and each deciding digit."""
        return [[self._mask(output, flit, digit) for digit in self.deciding] for flit in range(self.flits)]

    def _mask(self, output: int, flit: int, digit: int) -> int:
        value = output
        if output >= self.ejection:
            value = next(e for e, outputs in enumerate(self.ejections) if output in outputs)
        places = [self.header.place(node) for node in range(self.header.nodes)
                  if node >> digit * self.digit_bits & (1 << self.digit_bits) - 1 == value]
        return sum(1 << bit for at, bit in places if at == flit)
