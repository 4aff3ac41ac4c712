"""Base class of the decoders of unicast headers: an address leads to other switches, or to an ejection port."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from wormcast.algorithms.consumption import NO_CLASS
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList, Unicast

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from .address import beyond, coordinates
from .branching import BranchingDecoder
from .path import DecodedHeader, PathDecoder

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

__all__ = ["UnicastDecoder"]


class UnicastDecoder(PathDecoder, BranchingDecoder):
    """Decoder of a header flit with one address, at switches with any number of nodes.

    ::

        address ─▶ way ─┬─ one of the targets, or several: output, VC class ─▶ code
                        └─ one of the ejection ports: ends_here, ejection_port

    A worm ends at the ejection port that its address leads to. A switch has no address of its own. A route that the
    input port cannot take is an error on the wire.

    Parameters
    ----------
    header : Unicast
    kind : SwitchKind
    injection, ejection : "one" or "all"
        As in `Decoder`.
    vc_classes : int
    adaptive, preferred, enters_empty
        As in `PathDecoder`.
    """

    def __init__(self, header: AddressList, *, kind: SwitchKind, injection: str = "one", ejection: str = "one",
                 vc_classes: int = 1, adaptive: bool = False, preferred: tuple[int, ...] = (),
                 enters_empty: bool = False):
        who = type(self).__name__
        if not isinstance(header, Unicast):
            raise WormcastError(f"{who}.header: an address list is not valid. Allowed: unicast headers.")
        if header.relations != 1:
            raise WormcastError(f"{who}.header: a selector of {header.relations} relations is not valid. Allowed: 1 "
                                "relation.")
        super().__init__(kind, injection=injection, ejection=ejection, vc_classes=vc_classes, adaptive=adaptive,
                         preferred=preferred, enters_empty=enters_empty)
        self.header = header

    @abstractmethod
    def way(self, m: Module, port: int, straps: dict[str, Value],
            address: Value) -> tuple[dict[tuple[int, int], Value], list[Value]]:
        """Return the route to an address: a bit for each target and each ejection port of the input, all 0 without a
        route.
        """

    def chosen(self, m: Module, ways: dict[tuple[int, int], Value], commit: Value) -> dict[tuple[int, int], Value]:
        """Return the routes that a worm requests, out of those that `way` returned. Default: all. ``commit`` is 1 when
        the worm is stored.
        """
        return ways

    header: AddressList
    flits = 1

    def seen(self, m, port, straps, flit, place):
        ways, ejection_ports = self.way(m, port, straps, flit[:self.header.address_bits])
        return hdl.Cat(*(ways.get(target, hdl.C(0)) for target in self.targets(port)), *ejection_ports)

    def alternatives(self, port, straps, seen):
        return hdl.C(1)

    def hop_class(self, output, straps, *, into, vc_class=None):
        """Return no class, as a unicast does not stop on its way."""
        return [(hdl.C(1), NO_CLASS)]

    def decode(self, m, port, straps, arrival):
        address = arrival.data[:self.header.address_bits]
        ways, ejection_ports = self.way(m, port, straps, address)
        ways = self.chosen(m, ways, arrival.commit)
        nowhere = beyond(self.header, coordinates(self.header, address))
        wanted = arrival.first if nowhere is None else arrival.first & ~nowhere
        going = {target: way & wanted for target, way in ways.items()}
        onward, end, outside = hdl.Signal(name="onward"), hdl.Signal(name="ends_here"), hdl.Signal(name="outside")
        m.d.comb += [
            onward.eq(any_of(list(going.values()))),
            end.eq(any_of(ejection_ports) & wanted),
            outside.eq(hdl.C(0) if nowhere is None else nowhere),
        ]
        number = (len(ejection_ports) - 1).bit_length() if ejection_ports else 0
        chosen = any_of([hdl.Mux(way, hdl.C(e, number), 0) for e, way in enumerate(ejection_ports)])[:number]
        no_route = arrival.first & ~onward & ~end
        return DecodedHeader(
            code=self.encode(m, port, going, hdl.C(0)),
            data=arrival.data,
            strip=hdl.C(0),
            ends_here=end,
            last=hdl.C(1),
            outside=no_route & outside,
            wrong_order=no_route & ~outside,
            ejection_port=chosen,
        )
