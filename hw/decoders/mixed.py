"""Decoder of mixed headers: reads the form of each header, and decodes the header as one of this form."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from wormcast.algorithms.headers import MixedHeader

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from . import addresses, bit_string
from .base import Decoder
from .bit_string import BitStringDecoder
from .branching import BitCell, BranchingDecoder, Table, TreeDecoder
from .multi_drop import MultiDropDecoder
from .reach import ReachDecoder
from .table_memory import TableBits
from .tag import TagDecoder
from .unicast import UnicastDecoder

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

    from .choice import DecoderPlace

__all__ = ["MixedDecoder", "TaggedDecoder", "decoder_of"]


class MixedDecoder(BranchingDecoder):
    """Decoder that reads the form of each header, and decodes the header as one of this form.

    ::

        header flits ─┬─▶ form ──────────────────────────────────┐
                      ├─▶ id ─────────▶ RouteDecoder ──────────▶ select ─▶ branches
                      ├─▶ bit string ─▶ ReachDecoder ───────────▶┤
                      └─▶ pairs ──────▶ MultiDropDecoder ───────▶┘

    The branches of a worm are known as soon as the decoder of the worm's form has determined them. An output changes
    only headers that are bit strings. The output stores whether the worm that it sends has a bit string.

    In the tables of the switch, the highest bits of an address are the form: each decoder has tables of its own.

    *Latency*: combinational.

    Parameters
    ----------
    header : MixedHeader
    kind : SwitchKind
    injection, ejection : "one" or "all"
        As in `Decoder`.
    unicasts : UnicastDecoder
    strings : ReachDecoder or BitStringDecoder
    drops : MultiDropDecoder or None
        Decoders of the forms, for the same switches.

    Straps
    ------
    up
        As in `ReachDecoder`.
    switch
        As in `MultiDropDecoder`; only with ``drops``.
    """

    def __init__(self, header: MixedHeader, *, kind: SwitchKind, injection: str = "one", ejection: str = "one",
                 unicasts: UnicastDecoder, strings: ReachDecoder | BitStringDecoder,
                 drops: MultiDropDecoder | None = None):
        super().__init__(kind, injection=injection, ejection=ejection)
        self.header: MixedHeader = header
        self.unicasts = unicasts
        self.strings = strings
        self.pairs = drops
        #: Decoders by form.
        self.decoders: list[BranchingDecoder] = [unicasts, strings, *([drops] if drops else [])]
        self.adaptive = any(one.adaptive for one in self.decoders)
        self.flits = max(header.unicast_flits, strings.flits, drops.flits if drops else 0)
        #: Number of first header flits that are collected. They hold the id of a unicast, or the part of a multi-drop
        #: header that `MultiDropDecoder` collects.
        self.collected = max(header.unicast_flits, drops.flits if drops else 0)
        #: Number of bits that are collected from the first header flits.
        self.front_bits = self.collected * header.flit_width
        self.variable_length = drops is not None
        self.strips = drops.strips if drops else 0
        self.straps = {name: bits for one in self.decoders for name, bits in one.straps.items()}
        tables = [one.table_bits for one in self.decoders if one.table_bits]
        if tables:
            self.row_bits = max(one.address for one in tables)  #: Number of the address bits below the form.
            self.table_bits = TableBits(self.row_bits + header.form_bits, max(one.entry for one in tables))

    @property
    def signature(self) -> str:
        return f"{type(self).__name__} {self.header} {' '.join(one.signature for one in self.decoders)}"

    @property
    def table_count(self) -> int:
        return self.strings.table_count

    def reaches(self, port):
        return self.strings.reaches(port)

    def strap_values(self, routes, kind):
        return {name: values for one in self.decoders for name, values in one.strap_values(routes, kind).items()}

    def _table(self, table: Any, decoder: BranchingDecoder) -> Any:
        """Return the writes to the tables of one decoder."""
        if decoder.table_bits is None:
            return None
        address, entry = decoder.table_bits
        mine = table.address[self.row_bits:] == self.decoders.index(decoder)
        return SimpleNamespace(write=table.write & mine, address=table.address[:address], entry=table.entry[:entry])

    def _straps(self, straps: dict[str, Value], decoder: BranchingDecoder) -> dict[str, Any]:
        return {**straps, "table": self._table(straps["table"], decoder)} if decoder.table_bits else straps

    def _is(self, decoder: BranchingDecoder, flit: Value) -> Value:
        """Return whether a header that begins with this flit has the form of a decoder."""
        return flit[:self.header.form_bits] == self.decoders.index(decoder)

    def _string(self, seen: Value) -> Value:
        """Return the information of the decoder of bit strings."""
        return seen[self.front_bits:]

    def seen(self, m, port, straps, flit, place):
        first = hdl.Cat(hdl.Mux(place == k, flit, 0) for k in range(self.collected))[:self.front_bits]
        return hdl.Cat(first, self.strings.seen(m, port, self._straps(straps, self.strings), flit, place))

    def known(self, port, straps, seen, place):
        known = hdl.Mux(self._is(self.strings, seen), place == self.strings.flits - 1,
                        place == self.header.unicast_flits - 1)
        if self.pairs is None:
            return known
        return hdl.Mux(self._is(self.pairs, seen), self.pairs.known(port, straps, seen, place), known)

    def branches(self, m, port, straps, seen, commit):
        found: list[tuple[Value, dict[int, Value]]] = []
        for one in self.decoders:
            mine = hdl.Signal(name=f"form_{len(found)}")
            m.d.comb += mine.eq(self._is(one, seen))
            asked = self._branches_of(one, m, port, self._straps(straps, one), seen, commit & mine)
            found.append((mine, dict(zip(one.leads(port), asked, strict=True))))
        # a form without a decoder has no branches
        return hdl.Cat(any_of([mine & asked[o] for mine, asked in found if o in asked]) for o in self.leads(port))

    def _branches_of(self, decoder: BranchingDecoder, m: Module, port: int, straps: dict[str, Any], seen: Value,
                     commit: Value) -> Value:
        """Return the outputs of a worm by the decoder of its form, a bit for each of the decoder's `leads`."""
        if decoder is self.unicasts:
            first = self.header.form_bits
            ways = decoder.seen(m, port, straps, seen[first:first + self.header.unicast.address_bits], hdl.C(0))
            return decoder.branches(m, port, straps, ways, commit)
        return decoder.branches(m, port, straps, self._string(seen) if decoder is self.strings else seen, commit)

    def alternatives(self, port, straps, seen):
        return ~self._is(self.strings, seen) | self.strings.alternatives(port, straps, self._string(seen))

    def drops(self, port, straps, seen):
        return hdl.C(0) if self.pairs is None else self._is(self.pairs, seen) & self.pairs.drops(port, straps, seen)

    def unreachable(self, port, straps, seen):
        found = self._is(self.strings, seen) & self.strings.unreachable(port, straps, self._string(seen))
        if self.pairs is None:
            return found
        return found | (self._is(self.pairs, seen) & self.pairs.unreachable(port, straps, seen))

    def branch_flit(self, m, output, straps, table, flit, place, *, sent, ends):
        name = self.outputs[output]
        is_string, was_string = hdl.Signal(name=f"{name}_is_string"), hdl.Signal(name=f"{name}_was_string")
        m.d.comb += is_string.eq(hdl.Mux(place == 0, self._is(self.strings, flit), was_string))
        with m.If(sent):
            # a copy that has lost its first pair begins at a later place, and is no bit string
            m.d.sync += was_string.eq(is_string & ~ends)
        string = self.strings.branch_flit(m, output, straps, self._table(table, self.strings), flit, place, sent=sent,
                                     ends=ends)
        return hdl.Mux(is_string, string, flit)

    def memories(self, routes, kind):
        return [replace(rows, first=rows.first + (form << self.row_bits))
                for form, one in enumerate(self.decoders) for rows in one.memories(routes, kind)]


class TaggedDecoder(MixedDecoder, TreeDecoder):
    """Decoder of unicasts by routing tag beside bit strings, in multistage networks ([Varavithya], figure 4, step 1).

    ::

        header flits ─┬─▶ form ───────────────────────────────────────┐
                      ├─▶ id, the routing tag ─▶ TagDecoder ─────▶ select ─▶ outputs
                      └─▶ bit string ─────────▶ BitStringDecoder ──▶┘

    The routing tag is the id of the destination: each stage takes one digit of it as the number of the output. No
    switch changes a routing tag. A unicast is never replicated, so that its header has no report bit. The code of a bit
    string's header flit is the flit's number in the header. The codes of a unicast's header flits are the next higher
    numbers.

    A unicast with a cut header requests nothing, and is dropped.

    *Latency*: combinational.

    Parameters
    ----------
    header : MixedHeader
        Without multi-drop headers.
    kind : SwitchKind
    injection, ejection : "one" or "all"
        As in `Decoder`.
    unicasts : TagDecoder
    strings : BitStringDecoder

    Straps
    ------
    digit
        As in `TagDecoder` and `BitStringDecoder`.
    """

    strings: BitStringDecoder

    def __init__(self, header: MixedHeader, *, kind: SwitchKind, injection: str = "one", ejection: str = "one",
                 unicasts: TagDecoder, strings: BitStringDecoder):
        super().__init__(header, kind=kind, injection=injection, ejection=ejection, unicasts=unicasts, strings=strings)
        self.front_bits = header.form_bits + header.unicast.address_bits
        self.codes = strings.codes + header.unicast_flits
        self.mark = strings.mark

    def seen_bits(self, port: int) -> int:
        return self.front_bits + self.strings.seen_bits(port)

    def _branches_of(self, decoder, m, port, straps, seen, commit):
        found = super()._branches_of(decoder, m, port, straps, seen, commit)
        return hdl.Mux(commit, found, 0) if decoder is self.unicasts else found

    def carried(self, output: int) -> list[BitCell]:
        """Return all bits of a header flit, in cells. A unicast keeps all bits of its header."""
        whole = ((True,) * len(self.strings.deciding),) * self.header.unicast_flits
        return [BitCell(bits, [table + whole for table in goes]) for bits, goes in self.strings.carried(output)]

    def chosen(self, table: Table, straps: dict[str, Value], code: Value) -> Value:
        return self.strings.chosen(table, straps, code)

    def code(self, seen: Value, place: Value) -> Value:
        return hdl.Mux(self._is(self.strings, seen), place, place + self.strings.codes)

    def begins(self, code: Value) -> Value:
        return (code == 0) | (code == self.strings.codes)

    def reports(self, flit: Value) -> Value:
        return self.strings.reports(flit) & self._is(self.strings, flit)


def decoder_of(place: DecoderPlace) -> Decoder:
    """Build the decoder of mixed headers."""
    header, options = place.header, place.options
    assert isinstance(header, MixedHeader)
    strings = bit_string.decoder_of(replace(place, header=header.string))
    if isinstance(strings, BitStringDecoder):
        digit = strings.deciding[0] if len(strings.deciding) == 1 else None
        tags = TagDecoder(header.unicast, kind=place.kind, digit=digit, **place.ports)
        return TaggedDecoder(header, kind=place.kind, unicasts=tags, strings=strings, **place.ports)
    return MixedDecoder(
        header, kind=place.kind, injection=options.ports,
        unicasts=cast(UnicastDecoder, addresses.decoder_of(replace(place, header=header.unicast))),
        strings=cast(ReachDecoder, strings),
        drops=None if header.drops is None else MultiDropDecoder(
            header.drops, kind=place.kind, injection=options.ports, adaptive=not place.routes.deterministic,
            memory="pairs"),
    )
