# amaranth: UnusedElaboratable=no
"""Headers of the worms to a mask of destinations, computed in hardware."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList, BitString

from ..logic import any_of
from .beats import header_flit

__all__ = ["AddressHeaders", "BitStringHeaders"]


class BitStringHeaders(wiring.Component):
    """Header of one worm to a mask of destinations, as a bit string.

    Bit n of a mask is node n; the bit of the sending node is ignored.

    *Latency*: the first header flit is valid in the cycle after the mask was accepted. *Throughput*: a header flit per
    cycle. *Reset*: no header.

    Parameters
    ----------
    header : BitString

    Members
    -------
    sets : In(stream of unsigned)
        Mask of the destinations of the next message.
    headers : Out(stream of header_flit)
        The header flits.
    strap_node : In(range(nodes))
        Id of this node.
    """

    def __init__(self, header: BitString):
        self.header = header
        super().__init__({
            "sets": In(stream.Signature(header.nodes)),
            "headers": Out(stream.Signature(header_flit(header.flit_width))),
            "strap_node": In(range(header.nodes)),
        })

    def elaborate(self, platform):
        m = Module()
        width, flits, front = self.header.flit_width, self.header.flits(), self.headers.payload
        string = Signal(width * flits)  # header flits that have not been taken, the first one in the lowest bits
        at = Signal(range(flits))
        none = Signal()
        others = self.sets.payload & ~(1 << self.strap_node)
        m.d.comb += [
            self.sets.ready.eq(~self.headers.valid),
            front.data.eq(string[:width]),
            front.ends.eq(at == flits - 1),
            front.last.eq(front.ends),
            front.none.eq(none),
        ]
        with m.If(self.sets.ready):
            m.d.sync += [
                string.eq(Cat(Const(0, 1), others[:self.header.nodes])),
                none.eq(~others[:self.header.nodes].any()),
                at.eq(0),
                self.headers.valid.eq(self.sets.valid),
            ]
        with m.Elif(self.headers.ready):
            m.d.sync += [string.eq(string >> width), at.eq(at + 1), self.headers.valid.eq(~front.last & ~none)]
        return m


class AddressHeaders(wiring.Component):
    """Headers of the worms to a mask of destinations, as lists of addresses along a path through all nodes.

    ::

        mask ─▶ positions on the path ─┬─ above this node, ascending  ─▶ next address ─▶ header flit
                                       └─ below this node, descending ─▶

    With ``each``, every destination gets a worm of its own, in the order of the path. Without ``each``, one worm visits
    the destinations above this node in ascending order of positions, and a second worm visits the destinations below
    this node in descending order. Bit n of a mask is node n; the bit of the sending node is ignored.

    *Latency*: the first header flit is valid 2 + n cycles after the mask was accepted, with n addresses in this flit,
    or 3 + n cycles if no destination is above this node and ``each`` is false. *Throughput*: a header flit with n
    addresses takes n + 1 cycles. *Reset*: no header.

    Parameters
    ----------
    header : AddressList
        A format with one relation, and without signs.
    path : sequence of int
        All nodes, in the order of the path.
    each : bool

    Members
    -------
    sets : In(stream of unsigned)
        Mask of the destinations of the next message.
    headers : Out(stream of header_flit)
        The header flits, worm by worm.
    strap_position : In(range(nodes))
        Position of this node on the path, from 0.
    """

    def __init__(self, header: AddressList, path: Sequence[int], *, each: bool):
        if header.relations > 1:
            raise WormcastError(f"AddressHeaders.header: a selector of {header.relations} relations is not valid. "
                                "Allowed: 1 relation.")
        if header.signed:
            raise WormcastError(f"AddressHeaders.header: signs of dimensions {header.signed} are not valid. Allowed: "
                                "no signs.")
        self.header = header
        self.path = tuple(map(int, path))
        self.each = each
        nodes = len(self.path)
        super().__init__({
            "sets": In(stream.Signature(nodes)),
            "headers": Out(stream.Signature(header_flit(header.flit_width))),
            "strap_position": In(range(nodes)),
        })

    def elaborate(self, platform):
        m = Module()
        header, path, front = self.header, self.path, self.headers.payload
        nodes, bits, capacity = len(path), header.address_bits, 1 if self.each else header.capacity
        wanted = Signal(nodes)
        above = Signal(nodes)  # positions above this node
        # destinations of the worm under way that are still to be chosen, the nearest one on the path in the lowest bit
        left = Signal(nodes)
        # destinations below this node, while the worm to the destinations above this node is under way
        other = Signal(nodes)
        descending = Signal()
        less = Signal(nodes)
        chosen = Signal(nodes)  # the destination whose address is next in the header, one-hot
        chosen_valid = Signal()  # there is such a destination
        busy = Signal()
        adds = Signal()
        address = Signal(bits)
        at = Signal(range(capacity))
        ends = Signal()
        full = Signal()
        rising = [header.address(node) for node in path]
        m.d.comb += [
            above.eq(Const((1 << nodes) - 2, nodes) << self.strap_position),
            wanted.eq(Cat(self.sets.payload[node] & (self.strap_position != k) for k, node in enumerate(path))),
            less.eq(left - 1),
            adds.eq(chosen_valid & ~self.headers.valid),
            address.eq(any_of([Mux(chosen[k], Mux(descending, rising[-1 - k], rising[k]), 0) for k in range(nodes)])),
            ends.eq((left == 0) | int(self.each)),
            full.eq(at == capacity - 1),
            self.sets.ready.eq(~busy),
        ]
        with m.If(self.sets.ready):
            m.d.sync += [
                left.eq(wanted if self.each else wanted & above),
                other.eq(0 if self.each else (wanted & ~above)[::-1]),
                descending.eq(0),
                at.eq(0),
                busy.eq(self.sets.valid),
                front.none.eq(~wanted.any()),
                self.headers.valid.eq(self.sets.valid & ~wanted.any()),
            ]
        with m.Else():
            # a destination is chosen a cycle or more before its address is written into the header
            # so the carry chain of the choice (`less`) ends in registers
            with m.If(adds | ~chosen_valid):
                m.d.sync += [chosen.eq(left & ~less), chosen_valid.eq(left != 0), left.eq(left & less)]
                with m.If(left == 0):
                    m.d.sync += [left.eq(other), other.eq(0), descending.eq(1)]
            with m.If(adds):
                for k in range(header.capacity):
                    with m.If(at <= k):  # free slots repeat the last address
                        m.d.sync += front.data[k * bits:(k + 1) * bits].eq(address)
                if header.last_bits:
                    m.d.sync += front.data[-1].eq(ends)
                m.d.sync += [
                    at.eq(Mux(ends | full, 0, at + 1)),
                    front.ends.eq(ends),
                    front.last.eq((left == 0) & (other == 0)),
                    self.headers.valid.eq(ends | full),
                ]
            with m.If(self.headers.valid & self.headers.ready):
                m.d.sync += [self.headers.valid.eq(0), busy.eq(~front.last & ~front.none)]
        return m
