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
from .branching import BranchingDecoder, CopyingDecoder
from .multi_drop import MultiDropDecoder
from .reach import ReachDecoder
from .route import RouteDecoder
from .table_memory import TableBits

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

    from .choice import DecoderPlace

__all__ = ["MixedDecoder", "decoder_of"]


class MixedDecoder(CopyingDecoder):
    """Decoder that reads the form of each header, and decodes the header as one of this form.

    ::

        header flits ─┬─▶ form ──────────────────────────────────┐
                      ├─▶ id ─────────▶ RouteDecoder ──────────▶ select ─▶ branches
                      ├─▶ bit string ─▶ ReachDecoder ───────────▶┤
                      └─▶ pairs ──────▶ MultiDropDecoder ───────▶┘

    The branches of a worm are known as soon as the decoder of the worm's form has determined them. An output keeps
    the form of the worm that it sends, and changes only the headers of bit strings.

    In the tables of the switch, the highest bits of an address are the form: each decoder has tables of its own.

    *Latency*: combinational.

    Parameters
    ----------
    header : MixedHeader
    kind : SwitchKind
    injection : "one" or "all"
    unicasts : RouteDecoder
    strings : ReachDecoder
    drops : MultiDropDecoder or None
        Decoders of the forms, for the same switches.

    Straps
    ------
    up
        As in `ReachDecoder`.
    switch
        As in `MultiDropDecoder`; only with ``drops``.
    """

    def __init__(self, header: MixedHeader, *, kind: SwitchKind, injection: str = "one", unicasts: RouteDecoder,
                 strings: ReachDecoder, drops: MultiDropDecoder | None = None):
        super().__init__(kind, injection=injection)
        self.header: MixedHeader = header
        self.unicasts = unicasts
        self.strings = strings
        self.pairs = drops
        #: Decoders by form.
        self.decoders: list[BranchingDecoder] = [unicasts, strings, *([drops] if drops else [])]
        self.adaptive = any(one.adaptive for one in self.decoders)
        self.flits = max(header.unicast_flits, strings.flits, drops.flits if drops else 0)
        #: First header flits that are collected: they hold the id of a unicast, or what `MultiDropDecoder` collects.
        self.collected = max(header.unicast_flits, drops.flits if drops else 0)
        self.goes_on = drops is not None
        self.strips = drops.strips if drops else 0
        self.straps = {name: bits for one in self.decoders for name, bits in one.straps.items()}
        tables = [cast(TableBits, one.table_bits) for one in self.decoders]
        self.row_bits = max(one.address for one in tables)  #: bits of an address below the form
        self.table_bits = TableBits(self.row_bits + header.form_bits, max(one.entry for one in tables))

    @property
    def signature(self) -> str:
        return f"{type(self).__name__} {self.header} {' '.join(one.signature for one in self.decoders)}"

    @property
    def table_count(self) -> int:
        return self.strings.table_count

    def strap_values(self, routes, kind):
        return {name: values for one in self.decoders for name, values in one.strap_values(routes, kind).items()}

    def _table(self, table: Any, decoder: BranchingDecoder) -> Any:
        """Return the writes to the tables of one decoder."""
        address, entry = cast(TableBits, decoder.table_bits)
        mine = table.address[self.row_bits:] == self.decoders.index(decoder)
        return SimpleNamespace(write=table.write & mine, address=table.address[:address], entry=table.entry[:entry])

    def _straps(self, straps: dict[str, Value], decoder: BranchingDecoder) -> dict[str, Any]:
        return {**straps, "table": self._table(straps["table"], decoder)}

    def _is(self, decoder: BranchingDecoder, flit: Value) -> Value:
        """Return whether a header that begins with this flit has the form of a decoder."""
        return flit[:self.header.form_bits] == self.decoders.index(decoder)

    def _string(self, seen: Value) -> Value:
        """Return the information of the decoder of bit strings."""
        return seen[self.collected * self.header.flit_width:]

    def seen(self, m, port, straps, flit, place):
        first = hdl.Cat(hdl.Mux(place == k, flit, 0) for k in range(self.collected))
        return hdl.Cat(first, self.strings.seen(m, port, self._straps(straps, self.strings), flit, place))

    def known(self, port, straps, seen, place):
        known = hdl.Mux(self._is(self.strings, seen), place == self.strings.flits - 1,
                        place == self.header.unicast_flits - 1)
        if self.pairs is None:
            return known
        return hdl.Mux(self._is(self.pairs, seen), self.pairs.known(port, straps, seen, place), known)

    def branches(self, m, port, straps, seen, taken):
        found: list[tuple[Value, dict[int, Value]]] = []
        for one in self.decoders:
            mine = hdl.Signal(name=f"form_{len(found)}")
            m.d.comb += mine.eq(self._is(one, seen))
            asked = self._branches_of(one, m, port, self._straps(straps, one), seen, taken & mine)
            found.append((mine, dict(zip(one.leads(port), asked, strict=True))))
        # a form without a decoder has no branches
        return hdl.Cat(any_of([mine & asked[o] for mine, asked in found if o in asked]) for o in self.leads(port))

    def _branches_of(self, decoder: BranchingDecoder, m: Module, port: int, straps: dict[str, Any], seen: Value,
                     taken: Value) -> Value:
        """Return the outputs of a worm by the decoder of its form, a bit for each of the decoder's `leads`."""
        if decoder is self.unicasts:
            first = self.header.form_bits
            ways = decoder.seen(m, port, straps, seen[first:first + self.header.unicast.address_bits], hdl.C(0))
            return decoder.branches(m, port, straps, ways, taken)
        return decoder.branches(m, port, straps, self._string(seen) if decoder is self.strings else seen, taken)

    def alternatives(self, port, straps, seen):
        return ~self._is(self.strings, seen) | self.strings.alternatives(port, straps, self._string(seen))

    def drops(self, port, straps, seen):
        return hdl.C(0) if self.pairs is None else self._is(self.pairs, seen) & self.pairs.drops(port, straps, seen)

    def astray(self, port, straps, seen):
        found = self._is(self.strings, seen) & self.strings.astray(port, straps, self._string(seen))
        if self.pairs is None:
            return found
        return found | (self._is(self.pairs, seen) & self.pairs.astray(port, straps, seen))

    def passed(self, m, output, straps, table, flit, place, *, sent, ends):
        name = self.outputs[output]
        is_string, was_string = hdl.Signal(name=f"{name}_is_string"), hdl.Signal(name=f"{name}_was_string")
        m.d.comb += is_string.eq(hdl.Mux(place == 0, self._is(self.strings, flit), was_string))
        with m.If(sent):
            # a copy that has lost its first pair begins at a later place, and is no bit string
            m.d.sync += was_string.eq(is_string & ~ends)
        string = self.strings.passed(m, output, straps, self._table(table, self.strings), flit, place, sent=sent,
                                     ends=ends)
        return hdl.Mux(is_string, string, flit)

    def memories(self, routes, kind):
        return [replace(rows, first=rows.first + (form << self.row_bits))
                for form, one in enumerate(self.decoders) for rows in one.memories(routes, kind)]


def decoder_of(place: DecoderPlace) -> Decoder:
    """Build the decoder of mixed headers."""
    header, options = place.header, place.options
    assert isinstance(header, MixedHeader)
    return MixedDecoder(
        header, kind=place.kind, injection=options.ports,
        unicasts=cast(RouteDecoder, addresses.decoder_of(replace(place, header=header.unicast))),
        strings=cast(ReachDecoder, bit_string.decoder_of(replace(place, header=header.string))),
        drops=None if header.drops is None else MultiDropDecoder(
            header.drops, kind=place.kind, injection=options.ports, adaptive=not place.routes.deterministic,
            memory="pairs"),
    )
