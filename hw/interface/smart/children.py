"""Child table of a smart network interface: headers of the worms that forward a message's packets."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ...link import LinkSignature
from ...options import MOST_ROW_FLITS, MOST_ROWS, PACKET_BITS, ROW_BITS

__all__ = ["ChildTable", "child_word"]


def child_word(width: int) -> data.StructLayout:
    """Return the layout of a word of the table: a header flit, a mark of a child's last header flit, and a mark of the
    row's last header flit."""
    return data.StructLayout({"data": width, "ends": 1, "last": 1})


class ChildTable(wiring.Component):
    """Table with a row per message: the headers of the worms to the node's children, one after the other.

    A sequence of flits from the host writes a row. The first flit of a row has the head mark and the row's number. If
    packets are counted, the second flit of a row has the number of the message's packets minus one. The header flits of
    the row follow, child by child; the last header flit of each child has the tail mark. The last flit of a row has
    head mark and tail mark; if it is also the first flit, the node has no children. A row has children from the cycle
    after the arrival of its last flit on. A packet that begins before its row has children is not forwarded. The host
    must not write a row while the packet buffer has packets of the row's message. Flits for a row that does not exist
    are ignored. A row that gets more header flits than it has room for is left without children.

    *Latency*: a flit is stored at the end of the cycle in which it is on the link; a requested word is valid in the
    next cycle. *Throughput*: a flit written and a word read per cycle. *Reset*: no row has children.

    Parameters
    ----------
    rows : int
        Rows of the table, a power of two. Range: 1 to 64.
    flits : int
        Maximum number of header flits in a row, for all its children together. Range: 1 to 1024.
    width : int
        Data bits of a flit, 8 or more.
    counts : bool
        True: the second flit of a row has the number of the message's packets minus one; a message has at most
        `MOST_PLACES` packets.

    Members
    -------
    link : In(LinkSignature)
        From the host. The credit of a flit is sent in the next cycle.
    row, at : In
        Row of the requested word, and the word's position in the row.
    word : Out(child_word)
        The word that was requested in the cycle before.
    children : Out(rows)
        Rows that have children.
    renewed : Out(rows)
        Row whose first flit arrives in this cycle: the host begins to write the row.
    outside : Out(1)
        The host begins to write a row that does not exist.
    too_long : Out(1)
        The host sends more header flits for a row than the row has room for.
    last_packet : Out(8), for each row
        Packets of the row's message, minus one. Only with ``counts``.
    """

    @checked
    def __init__(self, *, rows: int, flits: int, width: int, counts: bool):
        if rows & (rows - 1) or not 1 <= rows <= MOST_ROWS:
            raise WormcastError(f"ChildTable.rows: {rows} is not valid. Allowed: powers of two from 1 to {MOST_ROWS}.")
        if not 1 <= flits <= MOST_ROW_FLITS:
            raise WormcastError(f"ChildTable.flits: {flits} is not valid. Allowed: 1 to {MOST_ROW_FLITS}.")
        if width < ROW_BITS:
            raise WormcastError(f"ChildTable.width: {width} is not valid. Allowed: {ROW_BITS} bits or more.")
        self.rows = rows
        self.flits = flits
        self.width = width
        self.counts = counts
        super().__init__({
            "link": In(LinkSignature(vcs=1, width=width)),
            "row": In(range(rows)),
            "at": In(range(flits)),
            "word": Out(child_word(width)),
            "children": Out(rows),
            "renewed": Out(rows),
            "outside": Out(1),
            "too_long": Out(1),
            **({"last_packet": Out(PACKET_BITS).array(rows)} if counts else {}),
        })

    def elaborate(self, platform):
        m = Module()
        store: memory.Memory = memory.Memory(
            shape=child_word(self.width), depth=self.rows << (self.flits - 1).bit_length(), init=[],
            attrs={"ram_style": "block"},
        )
        m.submodules.memory = store
        write, read = store.write_port(), store.read_port()
        flit = self.link.flit
        begun = Signal()  # the first flit of a row has arrived, its last one has not
        counted = Signal()  # the flit with the number of packets has arrived
        row, at = Signal(range(self.rows)), Signal(range(self.flits))
        fits = Signal()  # the table has this row, and the header flits that came for it so far fit into it
        first, ends = Signal(), Signal()
        m.d.comb += [
            first.eq(self.link.valid & ~begun),
            ends.eq(flit.head & flit.tail),
            self.outside.eq(first & (flit.data[:ROW_BITS] >= self.rows)),
            self.too_long.eq(write.en & (at == self.flits - 1) & ~ends),
            self.renewed.eq(Mux(first, Cat(flit.data[:ROW_BITS] == r for r in range(self.rows)), 0)),
            write.en.eq(self.link.valid & begun & counted & fits),
            write.addr.eq(Cat(at, row)),
            write.data.data.eq(flit.data),
            write.data.ends.eq(flit.tail),
            write.data.last.eq(flit.head),
            read.addr.eq(Cat(self.at, self.row)),
            self.word.eq(read.data),
        ]
        m.d.sync += self.link.credit.eq(self.link.valid)
        with m.If(self.link.valid):
            m.d.sync += [
                begun.eq(~ends),
                counted.eq(begun | int(not self.counts)),
                at.eq(Mux(begun & counted, at + 1, 0)),
            ]
        with m.If(first):
            m.d.sync += [row.eq(flit.data), fits.eq(~self.outside)]
        with m.Elif(self.too_long):
            m.d.sync += fits.eq(0)
        for r in range(self.rows):
            with m.If(self.renewed[r]):
                m.d.sync += self.children[r].eq(0)
            with m.Elif(write.en & ends & (row == r)):
                m.d.sync += self.children[r].eq(1)
        if self.counts:
            last = Array(self.last_packet)
            with m.If(self.link.valid & begun & ~counted & fits):
                m.d.sync += last[row].eq(flit.data)
        return m
