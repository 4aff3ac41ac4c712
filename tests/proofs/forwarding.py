# amaranth: UnusedElaboratable=no
"""Packets that a smart network interface forwards, against a count of arrivals and one packet that is tracked."""

from amaranth.hdl import Array, Const, Module, Mux, Signal
from amaranth.lib import data

from wormcast.hw.interface.smart import Forwarding
from wormcast.hw.link import flit_layout

from .harness import Harness, Inside, Property, entry, implies
from .mutants import Mutant

__all__ = ["ForwardingHarness"]

#: The children of a row, by the flits of their headers: row 0 has two children, row 1 has one with a longer header.
CHILDREN = (((0x41,), (0x42,)), ((0x43, 0x44),))

MARK = 8
"""The data bit that the first payload flit of the packet that is followed has, and that of no other packet."""


class ForwardingHarness(Harness):
    """The packet buffer, the child table and the sender of a smart network interface.

    The table has two rows: row 0 has two children, row 1 has one. Packets arrive over all consumption channels and from
    the host, interleaved flit by flit. Packets belong to one of these rows, or to no row. No first payload flit of a
    packet arrives while the packet's row is full. A packet ends in a tail; a packet that was cut off ends in a flit
    with both marks. A row is written only while the buffer stores no packet of this row. No packet of a row arrives
    until the row is completely written. The flits of copies are taken from the sender in arbitrary cycles.

    With fcfs a message never has more packets than there are places. With fcfs the table row holds the number of the
    message's packets, and no further packets arrive.

    Parameters
    ----------
    order : "fcfs" or "fpfs"
    places, packet, channels : int
        As of `Forwarding`.
    """

    component = "Forwarding"
    properties = (
        Property("places", "The number of packets of a row that have begun to arrive and are not freed is at most the "
                           "number of its places. `occupancy` is the number of these packets of both rows.",
                 Mutant("interface.smart.forwarding.Forwarding._store", "mine = begins & (row == r)",
                        "mine = begins & (row == r) & ~freed")),
        Property("kept", "No packet is written into the place of a packet that is not freed. The order in which "
                         "packets become whole does not matter.",
                 Mutant("interface.smart.forwarding.Forwarding._store", "bit_select(next_place[r], 1).eq(1)",
                        "bit_select(next_place[r], 1).eq(flit.tail)")),
        Property("once", "A packet is sent at most once to each child of its row, and to no other node. Each copy has "
                         "the child's header and the packet's flits, unchanged. The packet is freed with its last "
                         "copy, when all children have their copies.",
                 Mutant("interface.smart.forwarding.Forwarding._send", "order.next_header.eq(pos)",
                        "order.next_header.eq(0)")),
        Property("lost", "If for two cycles no copy is presented and no packet becomes whole, all whole packets are "
                         "freed. With fcfs whole packets may also wait for other packets of their message.",
                 Mutant("interface.smart.forwarding.Forwarding._store", "self.order.whole.eq(ends)",
                        "self.order.whole.eq(ends & ~self.order.freed)")),
        Property("admitted", "After a row is written, it is not full until as many of its packets have arrived as it "
                             "has places. So no packet of a row is held back if at most as many packets as the row "
                             "has places are admitted.",
                 Mutant("interface.smart.forwarding.Forwarding._store", "bit_select(current.place, 1).eq(0)",
                        "bit_select(current.place, 1).eq(self.consumed)")),
    )

    def __init__(self, *, order: str, places: int, packet: int, channels: int):
        super().__init__()
        self.places, self.packet = places, packet
        self.forwarding = Forwarding(order=order, rows=len(CHILDREN), places=places, packet=packet, flits=2,
                                     channels=channels, width=MARK + 1)
        self.counts = self.forwarding.order.counts
        self.writers = range(channels + 1)

    def elaborate(self, platform):
        m = Module()
        unit = self.forwarding
        self.leave_free(unit.consumed, unit.consumed_vc, unit.consumed_flit, unit.posted, unit.posted_flit, unit.pop)
        inside = Inside(unit)
        m.submodules.forwarding = inside.fragment
        rows = range(len(CHILDREN))
        # packets of each row that have come since it was written, and those not freed, also not whole ones
        came = [Signal(8, name=f"row{r}_came") for r in rows]
        there = [Signal(8, name=f"row{r}_there") for r in rows]
        whole = [Signal(8, name=f"row{r}_whole") for r in rows]
        arrived = [Signal(8, name=f"row{r}_arrived") for r in rows]  # whole ones since it was written
        self._write(m, came, there, arrived)
        self._arrive(m, came, there)
        self._leave(m)
        for r in rows:
            begins, ends, freed = self.begins & (self.row == r), self.ends & (self.end_row == r), self.frees[r]
            m.d.sync += [there[r].eq(there[r] + begins - freed), whole[r].eq(whole[r] + ends - freed)]
            with m.If(self.renews & (self.renewed == r)):
                m.d.sync += [came[r].eq(0), arrived[r].eq(0)]
            with m.Else():
                m.d.sync += [came[r].eq(came[r] + begins), arrived[r].eq(arrived[r] + ends)]
            self.claim(m, "places", there[r] <= self.places)
            self.claim(m, "admitted", implies(came[r] < self.places, ~unit.full[r]))
        self.claim(m, "places", unit.occupancy == sum(there, start=there[0] & 0))
        idle = Signal(name="was_idle")
        m.d.sync += idle.eq(~unit.has & ~self.ends)
        for r in rows:
            waits = (arrived[r] <= self.told[r]) & (whole[r] == arrived[r]) if self.counts else Const(0)
            self.claim(m, "lost", implies(idle & ~unit.has, (whole[r] == 0) | waits))
        self._follow(m, inside)
        return m

    def _write(self, m, came, there, arrived):
        """Write the rows that the environment chooses, while no packet of them is stored."""
        unit, rows = self.forwarding, range(len(CHILDREN))
        wants, which = self.free(name="wants_row"), self.free(name="which_row")
        count = self.free(range(self.places), name="packets_told")
        self.written = [Signal(name=f"row{r}_written") for r in rows]
        self.told = [Signal(range(self.places), name=f"row{r}_told") for r in rows]
        self.renews, self.renewed = Signal(name="renews"), Signal(name="renewed_row")
        trains = [self._train(r) for r in rows]
        longest = max(map(len, trains))
        at, row = Signal(range(longest + 1), name="train_at"), Signal(name="train_row")
        self.training = [Signal(name=f"row{r}_training") for r in rows]
        idle = entry([n == 0 for n in there], which)
        m.d.comb += [
            self.renews.eq(wants & (at == 0) & idle),
            self.renewed.eq(which),
            *(one.eq((self.renews & (which == r)) | ((at != 0) & (row == r))) for r, one in enumerate(self.training)),
        ]
        now = Mux(at == 0, which, row)
        m.d.comb += unit.table.valid.eq(self.renews | (at != 0))
        lengths = Array(len(train) for train in trains)
        with m.If(unit.table.valid):
            m.d.sync += [at.eq(Mux(at + 1 == lengths[now], 0, at + 1)), row.eq(now)]
        for r, train in enumerate(trains):
            for k, (head, tail, word) in enumerate(train):
                with m.If((now == r) & (at == k)):
                    m.d.comb += [unit.table.flit.head.eq(head), unit.table.flit.tail.eq(tail),
                                 unit.table.flit.data.eq(self.told[r] if word is None else word)]
            with m.If(self.renews & (which == r)):
                m.d.sync += [self.told[r].eq(count), self.written[r].eq(1)]

    def _train(self, r):
        """Return the flits that write a row. The data of the flit with the number of packets are arbitrary."""
        flits = [[1, 0, r], *([[0, 0, None]] if self.counts else [])]
        for header in CHILDREN[r]:
            flits += [[0, int(k == len(header) - 1), word] for k, word in enumerate(header)]
        flits[-1][:2] = 1, 1
        return flits

    def _arrive(self, m, came, there):
        """Assume the rules of arriving flits, and find the packet of each flit."""
        unit, last = self.forwarding, self.writers[-1]
        flit = data.View(flit_layout(MARK + 1), Mux(unit.consumed, unit.consumed_flit, unit.posted_flit))
        within = [Signal(name=f"within{w}") for w in self.writers]
        stores = [Signal(name=f"stores{w}") for w in self.writers]
        rows = [Signal(name=f"row_of{w}") for w in self.writers]
        lengths = [Signal(range(self.packet + 1), name=f"length{w}") for w in self.writers]
        taken, writer = Signal(name="taken"), Signal(range(len(self.writers)), name="by")
        first, mine = Signal(name="is_first"), Signal(name="is_stored")
        self.begins, self.ends, self.row, self.end_row = (
            Signal(name=name) for name in ("packet_begins", "packet_ends", "begun_row", "ended_row"))
        m.d.comb += [
            taken.eq(Mux(unit.consumed, ~unit.consumed_flit.head | (unit.consumed_flit.tail & entry(within, writer)),
                         unit.stored)),
            writer.eq(Mux(unit.consumed, unit.consumed_vc, last)),
            first.eq(taken & ~entry(within, writer)),
            self.row.eq(flit.data[0]),
            mine.eq(taken & Mux(first, (flit.data[:8] < len(CHILDREN)) & entry(self.written, self.row),
                                entry(stores, writer))),
            self.begins.eq(first & mine),
            self.ends.eq(mine & flit.tail),
            self.end_row.eq(Mux(first, self.row, entry(rows, writer))),
        ]
        self.flit, self.writer, self.first, self.mine = flit, writer, first, mine
        for w in self.writers:
            with m.If(taken & (writer == w)):
                m.d.sync += [within[w].eq(~flit.tail), stores[w].eq(mine),
                             rows[w].eq(Mux(first, self.row, rows[w])),
                             lengths[w].eq(Mux(flit.tail, 0, lengths[w] + 1))]
        self.assume(m, implies(unit.consumed, unit.consumed_vc < last) if last & (last - 1) else Const(1))
        self.assume(m, implies(taken, flit.tail | (entry(lengths, writer) + 1 < self.packet)))
        self.assume(m, implies(unit.consumed & first & (flit.data[:8] < len(CHILDREN)),
                               ~entry(list(unit.full), self.row)))
        self.assume(m, implies(self.begins, ~entry(self.training, self.row)))
        if self.counts:
            self.assume(m, implies(self.begins, entry(came, self.row) <= entry(self.told, self.row)))
        # what the host posts waits until it is stored
        waits, posted = Signal(name="waited"), Signal(unit.posted_flit.shape(), name="waiting_flit")
        m.d.sync += [waits.eq(unit.posted & ~unit.stored), posted.eq(unit.posted_flit)]
        self.assume(m, implies(waits, unit.posted & (unit.posted_flit == posted)))
        self.assume(m, ~unit.posted_flit.head)

    def _leave(self, m):
        """Track the presented copy: its child, and a bit for the last child of its row."""
        unit = self.forwarding
        self.assume(m, implies(unit.pop, unit.has))
        children = [header for row in CHILDREN for header in row]
        rows = [r for r, row in enumerate(CHILDREN) for _ in row]
        lasts = [k == len(row) - 1 for row in CHILDREN for k, _ in enumerate(row)]
        self.headers = len(children)
        # which child's header is sent: all begin differently
        child, at = Signal(range(len(children)), name="child"), Signal(range(8), name="copied_flits")
        started = Signal(name="header_sent")
        now = Signal(range(len(children)), name="child_now")
        m.d.comb += now.eq(child)
        for k, header in enumerate(children):
            with m.If(unit.front.head & (at == 0) & (unit.front.data == header[0])):
                m.d.comb += now.eq(k)
        sizes = Array(len(header) for header in children)
        words = Array(Array(header[k] if k < len(header) else 0 for k in range(2)) for header in children)
        ends = unit.pop & ~unit.front.head & unit.front.tail
        with m.If(unit.pop):
            m.d.sync += [child.eq(now), at.eq(Mux(ends, 0, at + 1))]
        self.child, self.at, self.ended = now, at, ends
        self.copied_row = Array(rows)[now]
        self.payload_at = at - sizes[now]
        m.d.comb += started.eq(at >= sizes[now])
        self.claim(m, "once", implies(unit.has, unit.front.head == ~started))
        self.claim(m, "once", implies(unit.has & ~started, (unit.front.data == words[now][at[0]]) & ~unit.front.tail))
        self.in_payload = started
        self.frees = [Signal(name=f"frees{r}") for r in range(len(CHILDREN))]
        m.d.comb += [one.eq(ends & Array(lasts)[now] & (self.copied_row == r)) for r, one in enumerate(self.frees)]

    def _follow(self, m, inside):
        """Follow any one packet from its first flit until it is freed."""
        unit = self.forwarding
        watch = self.free(name="watch")
        known, done = Signal(name="known"), Signal(name="followed")
        whole = Signal(name="known_is_whole")
        by, row = Signal(range(len(self.writers)), name="known_by"), Signal(name="known_row")
        words = [Signal(MARK + 1, name=f"known_word{k}") for k in range(self.packet)]
        length = Signal(range(self.packet + 1), name="known_length")
        sent = [Signal(name=f"known_sent{k}") for k in range(self.headers)]
        place = Signal(unit.order.packet.shape(), name="known_place")
        name = data.View(unit.order.packet.shape(), inside["stored_packet"])
        begins = Signal(name="known_begins")
        m.d.comb += begins.eq(self.begins & watch & ~done)
        self.assume(m, implies(self.first, self.flit.data[MARK] == begins))
        mine = self.mine & (begins | (known & ~whole & (self.writer == by) & ~self.first))
        with m.If(begins):
            m.d.sync += [known.eq(1), done.eq(1), by.eq(self.writer), row.eq(self.row), place.eq(name)]
        with m.If(mine):
            m.d.sync += [length.eq(length + 1), whole.eq(self.flit.tail)]
            for k, word in enumerate(words):
                with m.If(length == k):
                    m.d.sync += word.eq(self.flit.data)
        self.claim(m, "kept", implies(known & self.mine & ~mine, name.as_value() != place.as_value()))
        # its copies
        it = Signal(name="copy_of_known")
        is_it = Signal(name="copies_known")
        m.d.comb += is_it.eq(Mux(self.payload_at == 0, unit.front.data[MARK], it))
        copies = self.in_payload & unit.has & is_it
        with m.If(unit.pop & self.in_payload):
            m.d.sync += it.eq(is_it & ~unit.front.tail)
        self.claim(m, "once", implies(copies, known & whole & (self.copied_row == row) & ~entry(sent, self.child)))
        self.claim(m, "once", implies(copies, (unit.front.data == entry(words, self.payload_at))
                                      & (unit.front.tail == (self.payload_at == length - 1))))
        last = copies & self.ended & entry(self.frees, row)
        for k, one in enumerate(sent):
            with m.If(copies & self.ended & (self.child == k)):
                m.d.sync += one.eq(1)
        k = 0
        for r, children in enumerate(CHILDREN):
            for _ in children[:-1]:
                self.claim(m, "once", implies(last & (row == r), sent[k]))
                k += 1
            k += 1
        with m.If(last):
            m.d.sync += known.eq(0)
