"""Decoder of mixed headers: unicasts by a routing table, and bit strings by reachability strings."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from wormcast.algorithms.headers import MixedHeader

from .. import hdl
from ..router_kind import SwitchKind
from . import addresses, bit_string
from .base import Decoder
from .branching import CopyingDecoder
from .reach import ReachDecoder
from .route import RouteDecoder
from .tabled import TableBits

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

    from .choice import DecoderPlace

__all__ = ["MixedDecoder", "decoder_of"]


class MixedDecoder(CopyingDecoder):
    """Decoder that reads the form of each header, and decodes the header as one of that form.

    ::

        header flits ─┬─▶ form ────────────────────────────┐
                      ├─▶ address ─▶ RouteDecoder ──────▶ select ─▶ branches
                      └─▶ bit string ─▶ ReachDecoder ─────▶┘

    A unicast's branches are known with the last flit of its address, those of a bit string with its last flit. An
    output keeps the form of the worm that it sends, and changes only the headers of bit strings.

    In the tables of `TableBus` the highest bit of an address selects the form: 0 has the routing table of an input, 1
    the reachability strings.

    *Latency*: combinational.

    Parameters
    ----------
    header : MixedHeader
    kind : SwitchKind
    injection : "one" or "all"
    unicasts : RouteDecoder
        Decoder of the addresses of unicasts.
    strings : ReachDecoder
        Decoder of bit strings.

    Straps
    ------
    up
        As in `ReachDecoder`.
    """

    def __init__(self, header: MixedHeader, *, kind: SwitchKind, injection: str = "one", unicasts: RouteDecoder,
                 strings: ReachDecoder):
        super().__init__(kind, injection=injection)
        self.header: MixedHeader = header
        self.unicasts = unicasts
        self.strings = strings
        self.adaptive = strings.adaptive
        self.flits = max(header.unicast_flits, strings.flits)
        self.straps = strings.straps
        bits = self._bits
        self.table_bits = TableBits(address=1 + max(one.address for one in bits), entry=max(one.entry for one in bits))

    @property
    def signature(self) -> str:
        return f"{type(self).__name__} {self.header} {self.unicasts.signature} {self.strings.signature}"

    @property
    def table_count(self) -> int:
        return self.strings.table_count

    @property
    def _bits(self) -> list[TableBits]:
        """Widths of the tables of unicasts and of bit strings."""
        return [cast(TableBits, one.table_bits) for one in (self.unicasts, self.strings)]

    def strap_values(self, routes, kind):
        return self.strings.strap_values(routes, kind)

    def _table(self, table: Any, form: int) -> Any:
        """Return the writes to the tables of one form."""
        top, (address, entry) = cast(TableBits, self.table_bits).address - 1, self._bits[form]
        return SimpleNamespace(write=table.write & (table.address[top] == form), address=table.address[:address],
                               entry=table.entry[:entry])

    def _straps(self, straps: dict[str, Value], form: int) -> dict[str, Any]:
        return {**straps, "table": self._table(straps["table"], form)}

    def _raw_bits(self) -> int:
        """Return the number of bits of the first header flits, which hold the form and the address of a unicast."""
        return self.header.unicast_flits * self.header.flit_width

    def _is_string(self, flit: Value) -> Value:
        """Return whether a header that begins with this flit is a bit string."""
        return flit[:self.header.form_bits] == self.header.string.form

    def seen(self, m, port, straps, flit, place):
        raw = hdl.Cat(hdl.Mux(place == k, flit, 0) for k in range(self.header.unicast_flits))
        return hdl.Cat(raw, self.strings.seen(m, port, self._straps(straps, 1), flit, place))

    def known(self, port, straps, seen, place):
        return hdl.Mux(self._is_string(seen), place == self.strings.flits - 1, place == self.header.unicast_flits - 1)

    def branches(self, m, port, straps, seen, taken):
        is_string = hdl.Signal(name="is_string")
        m.d.comb += is_string.eq(self._is_string(seen))
        found = self._unicast(m, port, self._straps(straps, 0), seen, taken & ~is_string)
        strings = self.strings.branches(m, port, straps, seen[self._raw_bits():], taken & is_string)
        return hdl.Cat(hdl.Mux(is_string, strings[i], found.get(o, 0)) for i, o in enumerate(self.leads(port)))

    def _unicast(self, m: Module, port: int, straps: dict[str, Value], seen: Value, taken: Value) -> dict[int, Value]:
        """Return the outputs of a unicast, a bit for each output that its input leads to."""
        first = self.header.form_bits
        address = seen[first:first + self.header.unicast.address_bits]
        ways = self.unicasts.seen(m, port, straps, address, hdl.C(0))
        outputs = self.unicasts.branches(m, port, straps, ways, taken)
        return dict(zip(self.unicasts.leads(port), outputs, strict=True))

    def alternatives(self, port, straps, seen):
        return ~self._is_string(seen) | self.strings.alternatives(port, straps, seen[self._raw_bits():])

    def astray(self, port, straps, seen):
        return self._is_string(seen) & self.strings.astray(port, straps, seen[self._raw_bits():])

    def passed(self, m, output, straps, table, flit, place, *, sent, ends):
        name, first = self.outputs[output], place == 0
        is_string, was_string = hdl.Signal(name=f"{name}_is_string"), hdl.Signal(name=f"{name}_was_string")
        m.d.comb += is_string.eq(hdl.Mux(first, self._is_string(flit), was_string))
        with m.If(sent):
            # a copy without its first header flits begins at a later place, and is no bit string
            m.d.sync += was_string.eq(is_string & ~ends)
        string = self.strings.passed(m, output, straps, self._table(table, 1), flit, place, sent=sent, ends=ends)
        return hdl.Mux(is_string, string, flit)

    def memories(self, routes, kind):
        below = 1 << cast(TableBits, self.table_bits).address - 1
        return [*self.unicasts.memories(routes, kind),
                *(replace(one, first=one.first + below) for one in self.strings.memories(routes, kind))]


def decoder_of(place: DecoderPlace) -> Decoder:
    """Build the decoder of mixed headers."""
    header = place.header
    assert isinstance(header, MixedHeader)
    return MixedDecoder(
        header, kind=place.kind, injection=place.options.ports,
        unicasts=cast(RouteDecoder, addresses.decoder_of(replace(place, header=header.unicast))),
        strings=cast(ReachDecoder, bit_string.decoder_of(replace(place, header=header.string))),
    )
