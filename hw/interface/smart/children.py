"""The child table of a smart network interface: to whom it forwards the packets of a message."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ...link import LinkSignature
from ...options import MOST_ROWS, PACKET_BITS, ROW_BITS

__all__ = ["ChildTable", "child_word"]


def child_word(width: int) -> data.StructLayout:
    """Layout of a word of the table: a header flit, whether it is a child's last one, and the last child's."""
    return data.StructLayout({"data": width, "ends": 1, "last": 1})


class ChildTable(wiring.Component):
    """A row for each message that may be under way: the headers of the worms to its children, one behind the other.

    A row is written by a train of flits. The first one has the head mark and the row's number. Where packets are
    counted, the second one has how many packets the message has, less one. Then come the header flits, child by child;
    the last one of each child has the tail mark. The train's last flit has both marks: where it is the first one, too,
    the node has no children. A row has children from the cycle after its train's last flit: a packet of it that begins
    earlier is not forwarded. It must not be written while packets of it are there. A train for a row that is not there
    writes nothing; one with more header flits than a row has room for leaves its row without children.

    *Latency*: a flit is stored at the end of the cycle in which it is on the link; the word that is asked for is there
    in the next cycle. *Throughput*: a flit and a word per cycle. *Reset*: no row has children.

    Parameters
    ----------
    rows : int
        1 to 64, a power of two.
    flits : int
        Header flits of all children of a row, 1 to 1024.
    width : int
        Data bits of a flit, 8 or more.
    counts : bool
        Trains say how many packets a message has, up to `MOST_PLACES`.

    Members
    -------
    link : In(LinkSignature)
        From the host; each flit's credit comes in the next cycle.
    row, at : In
        The word that is asked for.
    word : Out(child_word)
        The one that was asked for in the cycle before.
    children : Out(rows)
        Which rows have some.
    renewed : Out(rows)
        A train for this row begins.
    outside, too_long : Out(1), Out(1)
        A train begins for a row that is not there; one goes on behind the last header flit that a row has room for.
    last_packet : Out(8), for each row
        Packets of its message, less one; only with ``counts``.

    Raises
    ------
    WormcastError
        A parameter outside its range.
    """

    def __init__(self, *, rows: int, flits: int, width: int, counts: bool):
        if rows & (rows - 1) or not 1 <= rows <= MOST_ROWS:
            raise WormcastError(f"ChildTable.rows: must be a power of two up to {MOST_ROWS}, not {rows}")
        if not 1 <= flits <= 1024:
            raise WormcastError(f"ChildTable.flits: must be 1 to 1024, not {flits}")
        if width < ROW_BITS:
            raise WormcastError(f"ChildTable.width: must be {ROW_BITS} bits or more, not {width}")
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
            **({f"last_packet_{r}": Out(PACKET_BITS) for r in range(rows)} if counts else {}),
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
        begun = Signal()  # a train's first flit has come
        counted = Signal()  # and the one that counts packets
        row, at = Signal(range(self.rows)), Signal(range(self.flits))
        fits = Signal()  # its row is there, and has room for what has come
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
            last = Array(getattr(self, f"last_packet_{r}") for r in range(self.rows))
            with m.If(self.link.valid & begun & ~counted & fits):
                m.d.sync += last[row].eq(flit.data)
        return m
