# amaranth: UnusedElaboratable=no
"""Packet buffer and sender of a smart network interface: packets are stored once, and sent to each child."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ...link import LinkSignature, flit_layout
from ...logic import bit_at
from ...options import MOST_PACKET, MOST_PLACES, ROW_BITS
from .children import ChildTable
from .orders import ORDERS, packet_name

__all__ = ["COUNT_BITS", "Forwarding"]

COUNT_BITS = 32
"""Width of the counters ``forwarded``, ``resident`` and ``copied``, which wrap around."""


class Forwarding(wiring.Component):
    """Packet buffer, child table and sender of a smart network interface ([Sivaram98], section 4).

    ::

        consumed, from consumption ─┐
        posted, by the host ───────┴▶ packet buffer: rows x entries ─▶ payload ─┐
                                      table ─▶ ChildTable ─▶ a child's header ──┴▶ front, has
                                      order: which packet, which child

    The low 8 bits of a packet's first payload flit hold the row of its message in the child table. If the low 8 bits of
    a packet's first payload flit are not the number of a row, the packet is not forwarded. Packets of a row without
    children are not stored. A packet is forwarded when it is whole. A packet's buffer entry is free when the packet's
    tail has been sent to the last child. The host receives its own copy of a packet while the packet arrives. A packet
    of a row without a free entry waits in its consumption channel. With ``fcfs`` the host's program must make sure that
    a row has an entry for each packet. A packet with too many payload flits is cut: the last flit that fits ends its
    copies. A packet that was cut off on its way ends in a flit with head mark and tail mark. A packet that was cut off
    is forwarded with its last flit, which loses the head mark.

    *Latency*: if the tail of a packet arrives in cycle t, the first header flit of its first copy is presented in t + 2
    at the earliest. *Throughput*: a flit in and a flit out per cycle; copies are presented without a gap, except when
    `MessageOrder` changes to another message (1 cycle). *Reset*: empty, and no row has children.

    Parameters
    ----------
    order : "fcfs" or "fpfs"
    rows : int
        Rows of the child table, a power of two. Range: 1 to 64.
    places : int
        Packet buffer entries of each row. Range: 1 to 256. The memory has room for ``places`` entries per row, rounded
        up to a power of two.
    packet : int
        Maximum number of payload flits of a packet. Range: 1 to 65535. The memory has room for ``packet`` flits per
        entry, rounded up to a power of two.
    flits : int
        Maximum number of header flits in a row of the child table. Range: 1 to 1024.
    channels : int
        Number of consumption channels.
    width : int
        Data bits of a flit, 8 or more.
    reports : bool
        The component has the members ``inner``, ``freed`` and ``freed_row``.

    Members
    -------
    table : In(LinkSignature)
        As in `ChildTable`.
    consumed : In(1)
        A flit is taken from a consumption channel.
    consumed_vc, consumed_flit : In
        While ``consumed`` is 1: consumption channel of the flit, and the flit itself.
    posted : In(1)
        A payload flit of the host waits.
    posted_flit : In
        The payload flit that waits. The flit's tail mark ends a packet.
    stored : Out(1)
        The host's flit is taken. Flits of consumption channels have priority over the host's flits.
    full : Out(rows)
        For each row of the child table: the entry of the row's next packet is occupied.
    too_long : Out(1)
        A flit from a consumption channel fills its packet's entry and is not the packet's tail: the packet is cut.
    row_in_use : Out(1)
        Error: the host begins to write a row of the child table while packets of the row are stored.
    has : Out(1)
        There is a flit to send.
    front : Out
        The flit to send.
    pop : In(1)
        The flit on ``front`` is taken.
    forwarded : Out(32)
        Number of packets whose entry was freed.
    resident : Out(32)
        Sum over all packets of the cycles from the packet's last stored flit to the freeing of its entry.
    copied : Out(32)
        Sum over all packets of the cycles from the start of a packet's first copy to the freeing of its entry
        ([Sivaram98], section 4.2.3: residence).
    occupancy : Out
        Number of occupied entries.
    peak : Out
        Maximum of ``occupancy`` since reset.
    inner : Out(rows)
        Rows that have children, as in ``children`` of `ChildTable`. Only with ``reports``.
    freed, freed_row : Out(1), Out
        An entry is freed, and its row. Combinational, from ``pop``. Only with ``reports``.
    """

    @checked
    def __init__(self, *, order: str, rows: int, places: int, packet: int, flits: int, channels: int, width: int,
                 reports: bool = False):
        for field, value, most in (("places", places, MOST_PLACES), ("packet", packet, MOST_PACKET)):
            if not 1 <= value <= most:
                raise WormcastError(f"Forwarding.{field}: {value} is not valid. Allowed: 1 to {most}.")
        self.rows = rows
        self.places = places
        self.packet = packet
        self.channels = channels
        self.width = width
        self.reports = reports
        kind = ORDERS[order]
        self.children = ChildTable(rows=rows, flits=flits, width=width, counts=kind.counts)
        self.order = kind(rows=rows, places=places, flits=flits)
        flit = flit_layout(width)
        super().__init__({
            "table": In(LinkSignature(vcs=1, width=width)),
            "consumed": In(1), "consumed_vc": In(range(channels)), "consumed_flit": In(flit),
            "posted": In(1), "posted_flit": In(flit), "stored": Out(1),
            "full": Out(rows), "too_long": Out(1), "row_in_use": Out(1),
            "has": Out(1), "front": Out(flit), "pop": In(1),
            "forwarded": Out(COUNT_BITS), "resident": Out(COUNT_BITS), "copied": Out(COUNT_BITS),
            "occupancy": Out(range(rows * places + 1)), "peak": Out(range(rows * places + 1)),
            **({"inner": Out(rows), "freed": Out(1), "freed_row": Out(range(rows))} if reports else {}),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.children = children = self.children
        m.submodules.order = order = self.order
        wiring.connect(m, wiring.flipped(self.table), children.link)
        store: memory.Memory = memory.Memory(
            shape=self.width + 1, init=[], attrs={"ram_style": "block"},
            depth=self.rows << (self.places - 1).bit_length() << (self.packet - 1).bit_length(),
        )
        m.submodules.memory = store
        if order.counts:
            m.d.comb += [one.eq(last) for one, last in zip(order.last_packet, children.last_packet, strict=True)]
        current = Signal(packet_name(self.rows, self.places))  # the packet that is being copied
        if self.reports:
            m.d.comb += [self.inner.eq(children.children), self.freed.eq(order.freed),
                         self.freed_row.eq(current.row)]
        self._store(m, store.write_port(), current)
        self._send(m, store.read_port(), current)
        return m

    def _store(self, m, write, current):
        """Write arriving flits into the entries of their packets, and report whole packets to the order."""
        name = packet_name(self.rows, self.places)
        writers, rows = self.channels + 1, range(self.rows)  # writers: consumption channels, then the host
        within = Signal(writers)  # a packet's first payload flit has arrived
        stores = Signal(writers)  # the writer's packet is stored
        packets = Array(Signal(name, name=f"writer{w}_packet") for w in range(writers))
        places_in = Array(Signal(range(self.packet), name=f"writer{w}_at") for w in range(writers))
        next_place = Array(Signal(range(self.places), name=f"row{r}_place") for r in rows)
        # a bit per entry: packets of several channels can be freed in another order than that of their arrival
        taken = Array(Signal(self.places, name=f"row{r}_taken") for r in rows)
        flit, writer = Signal.like(self.consumed_flit, name="flit"), Signal(range(writers))
        first, keeps, arrives = Signal(name="first"), Signal(name="keeps"), Signal(name="arrives")
        row, packet, at = Signal(range(self.rows)), Signal(name, name="stored_packet"), Signal(range(self.packet))
        begins, ends = Signal(), Signal()
        at_last = Signal()  # the last flit that a packet has room for
        m.d.comb += [
            flit.eq(Mux(self.consumed, self.consumed_flit, self.posted_flit)),
            writer.eq(Mux(self.consumed, self.consumed_vc, self.channels)),
            first.eq(~bit_at(within, writer)),
            row.eq(flit.data),
            self.full.eq(Cat(bit_at(taken[r], next_place[r]) for r in rows)),
            self.stored.eq(~self.consumed & self.posted & ~(first & bit_at(self.full, row))),
            # header flits from the network are not stored, except a flit with both marks that ends a cut-off packet
            arrives.eq(Mux(self.consumed, ~flit.head | (flit.tail & ~first), self.stored)),
            keeps.eq(Mux(first, (flit.data[:ROW_BITS] < self.rows) & bit_at(self.children.children, row),
                         bit_at(stores, writer))),
            packet.eq(packets[writer]),
            at.eq(places_in[writer]),
            write.en.eq(arrives & keeps),
            at_last.eq(at == self.packet - 1),
            write.data.eq(Cat(flit.data, flit.tail | at_last)),
            begins.eq(write.en & first),
            ends.eq(write.en & (flit.tail | at_last)),
            self.too_long.eq(write.en & at_last & ~flit.tail),
            self.order.whole.eq(ends),
            self.order.whole_packet.eq(packet),
        ]
        with m.If(first):
            m.d.comb += [packet.row.eq(row), packet.place.eq(next_place[row]), at.eq(0)]
        m.d.comb += write.addr.eq(Cat(at, packet.place, packet.row))
        with m.If(arrives):
            m.d.sync += [
                within.bit_select(writer, 1).eq(~flit.tail),
                stores.bit_select(writer, 1).eq(keeps & ~at_last),
                packets[writer].eq(packet),
                places_in[writer].eq(at + 1),
            ]
        freed = self.order.freed
        rewritten = Signal(self.rows)
        m.d.comb += self.row_in_use.eq(rewritten.any())
        for r in rows:
            mine = begins & (row == r)
            m.d.comb += rewritten[r].eq(self.children.renewed[r] & (taken[r].any() | mine))
            with m.If(self.children.renewed[r]):
                m.d.sync += next_place[r].eq(0)
            with m.Elif(mine):
                m.d.sync += next_place[r].eq(Mux(next_place[r] == self.places - 1, 0, next_place[r] + 1))
                m.d.sync += taken[r].bit_select(next_place[r], 1).eq(1)
            with m.If(freed & (current.row == r)):
                m.d.sync += taken[r].bit_select(current.place, 1).eq(0)
        whole = Signal(range(self.rows * self.places + 1))  # packets that are whole and not freed
        m.d.sync += [
            whole.eq(whole + ends - freed),
            self.occupancy.eq(self.occupancy + begins - freed),
            self.peak.eq(Mux(self.occupancy > self.peak, self.occupancy, self.peak)),
            self.forwarded.eq(self.forwarded + freed),
            self.resident.eq(self.resident + whole),
        ]

    def _send(self, m, read, current):
        """Present the copies one after the other: a child's header from the table, then the payload."""
        children, order = self.children, self.order
        active = Signal()  # a copy is presented
        payload = Signal()  # the copy's header has been sent
        last = Signal()  # the copy is for the last child
        pos = Signal(children.at.shape())
        at = Signal(range(self.packet))
        header, word = Signal(flit_layout(self.width)), children.word
        ends = Signal()  # the copy's tail is taken
        next_pos, next_at, next_current = Signal.like(pos), Signal.like(at), Signal.like(current)
        m.d.comb += [
            header.head.eq(1),
            header.data.eq(word.data),
            self.has.eq(active),
            self.front.eq(header),
            ends.eq(self.pop & payload & self.front.tail),
            order.start.eq(~active | ends),
            order.done.eq(ends),
            order.last_child.eq(last),
            order.next_header.eq(pos),
            next_pos.eq(pos + (self.pop & ~payload)),
            next_at.eq(Mux(payload, at + self.pop, 0)),
            next_current.eq(current),
            # the memories' data are valid in the next cycle
            children.row.eq(next_current.row),
            children.at.eq(next_pos),
            read.addr.eq(Cat(next_at, next_current.place, next_current.row)),
        ]
        with m.If(payload):
            m.d.comb += [self.front.head.eq(0), self.front.data.eq(read.data), self.front.tail.eq(read.data[-1])]
        with m.If(self.pop & ~payload):
            m.d.sync += [payload.eq(word.ends), last.eq(word.last)]
        with m.If(order.start):
            m.d.comb += [next_current.eq(order.packet), next_pos.eq(order.child)]
            m.d.sync += [active.eq(order.has_copy), payload.eq(0)]
        m.d.sync += [pos.eq(next_pos), at.eq(next_at), current.eq(next_current)]
        # the first copy of a packet begins at the start of its row of the child table
        being_copied = Signal(self.occupancy.shape())
        begins = Signal()
        m.d.comb += begins.eq(order.start & order.has_copy & (order.child == 0))
        m.d.sync += [
            being_copied.eq(being_copied + begins - order.freed),
            self.copied.eq(self.copied + being_copied),
        ]
