"""Header decoder of one input as a separate component, for measurements and tests."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bundles import strap_ports, straps_of
from .path import ArrivingHeader, PathDecoder

__all__ = ["HeaderDecoder"]


class HeaderDecoder(wiring.Component):
    """Header decoder of one input of a switch, without the rest of the input.

    *Latency*: combinational. *Throughput*: a header flit per cycle. The component has state and a clock only if the
    decoder has a table, or if worms take outputs in turn: then each cycle with ``first`` set counts as a worm.

    Parameters
    ----------
    port : int
        Index of the input in the decoder's list.
    decoder : PathDecoder
    width : int
        Data bits of a flit.

    Members
    -------
    data, first, after_strip : In
        As in `ArrivingHeader`.
    strap_{name} : In
        The decoder's straps.
    table : In(Decoder.table_layout)
        Writes to the decoder's table; present if the decoder has a table.
    code, rewritten, strip, ends_here, last, outside, wrong_order, ejection_port : Out
        As in `DecodedHeader`. ``rewritten`` is the field ``data`` of `DecodedHeader`. ``ejection_port`` is present if
        worms of the input can end at several ejection ports.
    """

    def __init__(self, port: int, decoder: PathDecoder, *, width: int):
        self.port = port
        self.decoder = decoder
        ejection_ports = len(decoder.ejection_ports(port))
        super().__init__({
            "data": In(width),
            "first": In(1),
            "after_strip": In(1),
            **strap_ports(decoder),
            "code": Out(decoder.code_width(port)),
            "rewritten": Out(width),
            **{name: Out(1) for name in ("strip", "ends_here", "last", "outside", "wrong_order")},
            **({"ejection_port": Out(range(ejection_ports))} if ejection_ports > 1 else {}),
        })

    def elaborate(self, platform):
        m = Module()
        straps = straps_of(self)
        arrival = ArrivingHeader(data=self.data, first=self.first, after_strip=self.after_strip, commit=self.first)
        decoded = self.decoder.decode(m, self.port, straps, arrival)
        m.d.comb += [
            self.code.eq(decoded.code),
            self.rewritten.eq(decoded.data),
            self.strip.eq(decoded.strip),
            self.ends_here.eq(decoded.ends_here),
            self.last.eq(decoded.last),
            self.outside.eq(decoded.outside),
            self.wrong_order.eq(decoded.wrong_order),
        ]
        if len(self.decoder.ejection_ports(self.port)) > 1:
            m.d.comb += self.ejection_port.eq(decoded.ejection_port)
        return m
