"""Forwarding orders of a smart network interface: packet by packet, or child by child."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ...logic import any_of, bit_at
from ...options import FORWARD_ORDERS, PACKET_BITS

__all__ = ["ORDERS", "ForwardOrder", "MessageOrder", "PacketOrder", "packet_name"]


def packet_name(rows: int, places: int) -> data.StructLayout:
    """Return the layout of a packet's name: the row of its message, and its entry among that row's packets."""
    return data.StructLayout({"row": range(rows), "place": range(places)})


class ForwardOrder(wiring.Component):
    """Scheduler of the copies of forwarded packets. Each forwarding order is a subclass of this class.

    *Latency*: the first copy of a packet that becomes whole in cycle t can begin in cycle t + 1. *Throughput*: a
    decision per cycle. *Reset*: no packets.

    Parameters
    ----------
    rows, places, flits : int
        As in `Forwarding`.

    Members
    -------
    whole : In(1)
        The last flit of a packet is stored.
    whole_packet : In(packet_name)
        With ``whole``: name of the packet whose last flit is stored.
    last_packet_{r} : In(8)
        As in `ChildTable`. Only with ``counts``.
    start : In(1)
        A copy begins in this cycle, if there is a copy to begin.
    done : In(1)
        The tail of a copy is sent in this cycle. ``done`` implies ``start``, because another copy can begin in this
        cycle.
    last_child : In(1)
        With ``done``: the copy that ends was for the last child.
    next_header : In
        With ``done``: position of the next child's header in the row.
    has_copy : Out(1)
        There is a copy to begin.
    packet : Out
        Packet of the copy to begin.
    child : Out
        Position, in the row, of the header for the child of the copy to begin.
    freed : Out(1)
        With ``done``: the copy that ends is the packet's last one.
    """

    counts: bool
    """True if the order needs the number of a message's packets."""

    def __init__(self, *, rows: int, places: int, flits: int):
        self.rows = rows
        self.places = places
        name = packet_name(rows, places)
        super().__init__({
            "whole": In(1),
            "whole_packet": In(name),
            **({"last_packet": In(PACKET_BITS).array(rows)} if self.counts else {}),
            "start": In(1),
            "done": In(1),
            "last_child": In(1),
            "next_header": In(range(flits)),
            "has_copy": Out(1),
            "packet": Out(name),
            "child": Out(range(flits)),
            "freed": Out(1),
        })


class PacketOrder(ForwardOrder):
    """First-packet-first-served order (FPFS, [Sivaram98], section 4.2): a packet goes to all children, then the next
    packet does.

    ::

        whole ─▶ queue of packets, in the order in which they became whole ─▶ to child 1, 2, ..., k

    This order does not need the number of a message's packets. Latency, throughput, reset and members as in
    `ForwardOrder`.
    """

    counts = FORWARD_ORDERS["fpfs"]

    def elaborate(self, platform):
        m = Module()
        depth = self.rows * self.places
        queue: memory.Memory = memory.Memory(shape=self.whole_packet.shape(), depth=depth, init=[],
                                             attrs={"ram_style": "distributed"})
        m.submodules.queue = queue
        write, read = queue.write_port(), queue.read_port(domain="comb")
        put, get, count = Signal(range(depth)), Signal(range(depth)), Signal(range(depth + 1))

        def behind(place):
            return Mux(place == depth - 1, 0, place + 1)

        m.d.comb += [
            write.en.eq(self.whole),
            write.addr.eq(put),
            write.data.eq(self.whole_packet),
            self.freed.eq(self.done & self.last_child),
            read.addr.eq(Mux(self.freed, behind(get), get)),
            self.packet.eq(read.data),
            self.has_copy.eq(count > self.freed),
            self.child.eq(Mux(self.done & ~self.last_child, self.next_header, 0)),
        ]
        m.d.sync += [
            put.eq(Mux(self.whole, behind(put), put)),
            get.eq(read.addr),
            count.eq(count + self.whole - self.freed),
        ]
        return m


class MessageOrder(ForwardOrder):
    """First-child-first-served order (FCFS, [Sivaram98], section 4.2).

    All packets of a message go to the node's first child, each as soon as it is whole; then all go to the second child,
    and so on.

    ::

        whole ─▶ whole packets of each row ─┐
                 next packet and child ─────┴─▶ the row under way, or the next row whose next packet is whole

    A row of the child table keeps the turn while the packet of its next copy is whole. After a row has lost the turn,
    one cycle passes before another row gets the turn. A message has at most ``places`` packets. Latency, throughput,
    reset and members as in `ForwardOrder`.
    """

    counts = FORWARD_ORDERS["fcfs"]

    def elaborate(self, platform):
        m = Module()
        rows = range(self.rows)
        here = Array(Signal(self.places, name=f"row{r}_here") for r in rows)
        following = Array(Signal(range(self.places), name=f"row{r}_next") for r in rows)
        child = Array(Signal(self.child.shape(), name=f"row{r}_child") for r in rows)
        last_packet = Array(self.last_packet)
        now = Signal(range(self.rows))  # the row of the copy that began last
        turn = Signal(range(self.rows))
        ready, later, first = Signal(self.rows), Signal(self.rows), Signal(self.rows)
        chosen = Signal(self.rows)
        # `ends`: last packet for the child; `finished`: last copy of the message; `goes_on`: this row has the next copy
        ends, finished, goes_on = Signal(), Signal(), Signal()
        next_packet, next_child = Signal(range(self.places)), Signal(self.child.shape())
        m.d.comb += [
            ready.eq(Cat(bit_at(here[r], following[r]) for r in rows)),
            later.eq(Cat(C(0, 1), *(ready[r] & (now < r) for r in rows[1:]))),
            first.eq(Mux(later.any(), later, ready)),
            chosen.eq(first & ~(first - 1)[:self.rows]),
            turn.eq(any_of([Mux(chosen[r], r, 0) for r in rows])),
            ends.eq(following[now] == last_packet[now]),
            finished.eq(ends & self.last_child),
            next_packet.eq(Mux(ends, 0, following[now] + 1)),
            next_child.eq(Mux(ends, self.next_header, child[now])),
            goes_on.eq(~finished & bit_at(here[now], next_packet)),
            self.has_copy.eq(Mux(self.done, goes_on, ready.any())),
            self.packet.row.eq(Mux(self.done, now, turn)),
            self.packet.place.eq(Mux(self.done, next_packet, following[turn])),
            self.child.eq(Mux(self.done, next_child, child[turn])),
            self.freed.eq(self.done & self.last_child),
        ]
        with m.If(self.done):
            m.d.sync += [following[now].eq(next_packet), child[now].eq(Mux(finished, 0, next_child))]
        with m.Elif(self.start & self.has_copy):
            m.d.sync += now.eq(turn)
        for r in rows:
            with m.If(self.done & finished & (now == r)):
                m.d.sync += here[r].eq(0)
            with m.Elif(self.whole & (self.whole_packet.row == r)):
                m.d.sync += here[r].bit_select(self.whole_packet.place, 1).eq(1)
        return m


ORDERS = {"fcfs": MessageOrder, "fpfs": PacketOrder}
"""Forwarding orders by their names on the command line."""
