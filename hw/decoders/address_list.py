"""Base class of the address-list decoders: address slots of a flit, own address, end of a worm."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.headers import AddressList

from .. import hdl
from .path import DecodedHeader, PathDecoder

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

__all__ = ["AddressListDecoder"]

Examined = dict[Any, "Value"]
"""Properties of an address, bits or numbers by name. The names are the same for all addresses."""


class AddressListDecoder(PathDecoder):
    """Decoder of the first of a worm's remaining header flits. The next hop leads towards the flit's first address that
    is not the switch's own one.

    ::

        slot 0 ─▶ examine ─┬─ the own one: here ─▶ code
                           └─▶ mux(here) ─▶ route ─▶ output ─▶ code
        slot 1 ─▶ examine ───▶ ┘   └─ the own one: nothing left in this flit (strip; ends_here)
        slots ──▶ shifted down by one if here ─▶ buffer

    Slots 0 and 1 are examined in parallel, because a flit is decoded in one cycle, and slot 1 decides the route if slot
    0 holds the own address. Only slot 0 is examined at inputs whose worms cannot have a destination here, for unicast
    headers, for flits with one slot, and if the decoder absorbs worms.

    A header flit is used up if all its address slots hold the switch's own address. If slots 0 and 1 of a flit hold the
    own address, and a later slot holds another one, the header is in error, and the worm ends here.

    If the decoder absorbs, a worm with the own address in slot 0 always ends here, and slot 1 is not routed. The header
    flits of an absorbed worm, without the own address, go to the node. A used-up header flit of an absorbed worm is
    dropped, and does not go to the node.

    Attributes
    ----------
    header : AddressList
    multicast : bool
        False: headers are unicast headers, and the own address is always the last one.
    """

    header: AddressList
    multicast: bool
    absorbs: bool

    @abstractmethod
    def own_address(self, straps: dict[str, Value]) -> Value:
        """Return the switch's own address, as the header format packs it, without signs."""

    @abstractmethod
    def examine(self, m: Module, name: str, straps: dict[str, Value], address: Value, selector: Value) -> Examined:
        """Compute the properties of an address that `is_own` and `route` need, under the relation in ``selector``.

        ``name`` is the prefix of new signals' names.
        """

    @abstractmethod
    def is_own(self, straps: dict[str, Value], examined: Examined) -> Value:
        """Return a bit that is set if the examined address is the switch's own one."""

    @abstractmethod
    def route(self, m: Module, port: int, straps: dict[str, Value], examined: Examined,
              selector: Value) -> tuple[dict[tuple[int, int], Value], Value]:
        """Return the hop towards an address, and a bit that is set if the network has no such address.

        The hop is one-hot over the port's targets, or a mask with adaptive routing. All bits of the hop are 0 if no hop
        is allowed.
        """

    def decode(self, m, port, straps, arrival):
        data, bits, header = arrival.data, self.header.address_bits, self.header
        slots = [data[s * bits:(s + 1) * bits] for s in range(header.capacity)]
        selector = data[len(data) - header.selector_bits:]
        last = data[len(data) - header.selector_bits - 1] if header.last_bits else hdl.C(1)
        examined, rewritten = self.examine(m, "address", straps, slots[0], selector), data
        own, here, used = hdl.Signal(name="own_address"), hdl.Signal(name="here"), hdl.Signal(name="used_up")
        m.d.comb += own.eq(self.is_own(straps, examined))
        if self.delivers(port):
            m.d.comb += [here.eq(arrival.first & ~arrival.after_strip & own), used.eq(1)]
            if self.multicast and header.capacity > 1:
                looked_at = 1 if self.absorbs else 2
                behind = hdl.Cat(slot[:header.coordinate_bits] for slot in slots[looked_at:])
                repeated = behind == self.own_address(straps).replicate(header.capacity - looked_at)
                if self.absorbs:
                    m.d.comb += used.eq(repeated)
                else:
                    following = self.examine(m, "next_address", straps, slots[1], selector)
                    m.d.comb += used.eq(self.is_own(straps, following) & repeated)
                    examined = {key: hdl.Mux(own, following[key], value) for key, value in examined.items()}
                rest = data[header.capacity * bits:]
                rewritten = hdl.Mux(here, hdl.Cat(*slots[1:], slots[-1], rest), data)
        asked, nowhere = self.route(m, port, straps, examined, selector)
        # a flit that begins with the own address directly after a used-up flit is in error (`wrong_order`)
        refused = arrival.after_strip & own
        outside = nowhere & ~refused
        wanted = arrival.first & ~refused & ~outside
        going = {target: asked[target] & wanted for target in self.targets(port) if target in asked}
        onward, end = hdl.Signal(name="onward"), hdl.Signal(name="ends_here")
        if self.absorbs:
            ends, strips, arrived = here & used, hdl.C(0), here
        else:
            # a worm that cannot go on from a destination ends there
            ends = here & ~onward & (last | ~used) if self.multicast else here
            strips, arrived = here & ~onward & ~end, here & used
        m.d.comb += [
            onward.eq(hdl.Cat(going.values()).any()),
            end.eq(ends),
        ]
        no_route = arrival.first & ~onward & ~arrived
        return DecodedHeader(
            code=self.encode(m, port, going, here & ~end),
            data=rewritten,
            strip=strips,
            ends_here=end,
            last=last,
            outside=no_route & outside,
            wrong_order=no_route & ~outside,
        )
