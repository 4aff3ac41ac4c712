"""Buffer of a deep input: rows of flits in block memory, with a replication chunk counter per row."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..logic import bits_for

__all__ = ["ChunkBuffer", "row_after", "row_bits"]


def row_bits(rows: int) -> int:
    """Return the width of a row's number: the row's place in the ring, and above it a bit that changes with each lap.

    The lap bit distinguishes a ring whose rows are all closed from a ring without closed rows.
    """
    return bits_for(rows) + 1


def row_after(row: Value, rows: int) -> Value:
    """Return the number of the row after ``row``, in a ring of ``rows`` rows."""
    place, lap = row[:-1], row[-1]
    last = place == rows - 1
    return Cat(Mux(last, 0, place + 1)[:len(place)], lap ^ last)


class ChunkBuffer(wiring.Component):
    """Ring of rows of ``chunk`` flits. A row is freed when all its readers have fetched it ([Sivaram98], 5.1.2).

    ::

        write ─▶ bank 0 │ bank 1 │  …  │ bank chunk-1     a flit goes into one bank, a fetch reads a row in all banks
        close ─▶ pending[row] := needed                    the paper's replication chunk counter
        fetch ─▶ pending[row] -= 1 ── 0: the row is freed; rows are freed in the order of closing

    Each worm begins a new row, so a worm's last row may be filled only in part. A filled row is *closed* when its
    replication chunk counter is set; only closed rows can be fetched. A reader fetches the rows of a worm in order.
    Readers that took a row's flits in cut-through are not counted in ``needed``. A *bank* is a memory with one flit
    position of all rows. One flit is written into one bank per cycle, so no byte enables are needed.

    *Latency*: a row that is closed in cycle t can be fetched from t + 1 on, and is on ``row`` in the cycle after the
    fetch. *Throughput*: one flit written, and one row fetched or closed, per cycle. *Reset*: empty.

    Parameters
    ----------
    rows : int
        Rows of the ring, 2 or more.
    chunk : int
        Flits of a row, 2 or more.
    width : int
        Bits of a flit, marks included.
    readers : int
        Maximum number of readers of a row.

    Members
    -------
    write : In(1)
        Store the flit on ``data``, unless ``full``.
    data : In(width)
        The flit to store.
    ends : In(1)
        The flit ends its sender's row, even if the row is not full: it has the tail mark that its sender set.
    cut : In(1)
        With ``write``: the flit is the last one in this buffer's row, but not in its sender's row. The flits after
        ``cut`` in the sender's row are void and take no room, because they use no credit.
    void : In(1)
        The flit is not stored, with ``write`` set or not, but takes up its position in the row. The flits after a void
        flit in its row must be void, too. The room of a row that ends in void flits is free again when the row is full
        or has ended.
    closes : Out(1)
        The written flit fills or ends a row that is stored.
    full : Out(1)
        There is no room for the next flit: it is dropped.
    close : In(1)
        Close the oldest filled row that is not closed yet: set its replication chunk counter to ``needed``.
    needed : In
        With ``close``: number of readers that fetch the row later.
    fetch, fetch_row : In(1), In(row_bits(rows))
        Fetch this row, which must be closed and not freed. ``fetch`` and ``close`` must not be set in the same cycle.
    row : Out(chunk * width)
        The row that was fetched in the cycle before, its first flit in the lowest bits. Flits of ``row`` after the
        worm's last flit are undefined.
    row_ends : Out(1)
        The row on ``row`` has its worm's last flit. ``row_ends`` comes from a register, because the outputs of a block
        memory settle late in the cycle.
    closed_row : Out(row_bits(rows))
        The row that is closed next.
    write_row : Out(row_bits(rows))
        The row that flits are written to.
    bank : Out(range(chunk))
        Position in the row at which the next flit is written.
    freed : Out(1)
        A pulse for each row that is free again.
    """

    def __init__(self, *, rows: int, chunk: int, width: int, readers: int):
        for field, value in (("rows", rows), ("chunk", chunk)):
            if value < 2:
                raise WormcastError(f"ChunkBuffer.{field}: {value} is not valid. Allowed: 2 or more.")
        self.rows = rows
        self.chunk = chunk
        self.width = width
        self.readers = readers
        super().__init__({
            "write": In(1),
            "data": In(width),
            "ends": In(1),
            "cut": In(1),
            "void": In(1),
            "closes": Out(1),
            "full": Out(1),
            "close": In(1),
            "needed": In(range(readers + 1)),
            "fetch": In(1),
            "fetch_row": In(row_bits(rows)),
            "row": Out(chunk * width),
            "row_ends": Out(1),
            "closed_row": Out(row_bits(rows)),
            "write_row": Out(row_bits(rows)),
            "bank": Out(range(chunk)),
            "freed": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        accepted = Signal()
        last = Signal()
        over = Signal()  # the row has been cut: the rest of the sender's row takes no room
        used = Signal(range(self.rows + 1))  # rows in use: with at least one flit, stored or void
        owed = Signal(range(self.rows + 1))  # freed rows that ``freed`` has not reported
        m.d.comb += [
            self.full.eq((used == self.rows) & (self.bank == 0)),
            accepted.eq((self.write | self.void) & ~self.full),
            last.eq(accepted & ((self.bank == self.chunk - 1) | self.ends)),
            self.closes.eq((last | (accepted & self.cut)) & ~self.void),
        ]
        with m.If(accepted):
            m.d.sync += [self.bank.eq(Mux(last, 0, self.bank + 1)), over.eq((self.cut | over) & ~last)]
        with m.If(self.closes):
            m.d.sync += self.write_row.eq(row_after(self.write_row, self.rows))
        with m.If(self.close):
            m.d.sync += self.closed_row.eq(row_after(self.closed_row, self.rows))
        for k in range(self.chunk):
            bank: memory.Memory = memory.Memory(shape=self.width, depth=self.rows, init=[],
                                                attrs={"ram_style": "block"})
            m.submodules[f"bank_{k}"] = bank
            write, read = bank.write_port(), bank.read_port()
            m.d.comb += [
                write.en.eq(accepted & ~self.void & (self.bank == k)),
                write.addr.eq(self.write_row[:-1]),
                write.data.eq(self.data),
                read.en.eq(self.fetch),
                read.addr.eq(self.fetch_row[:-1]),
                self.row[k * self.width:(k + 1) * self.width].eq(read.data),
            ]

        tails: memory.Memory = memory.Memory(shape=1, depth=self.rows, init=[], attrs={"ram_style": "distributed"})
        m.submodules.tails = tails
        ended, ends = tails.write_port(), tails.read_port(domain="comb")
        m.d.comb += [
            ended.en.eq(self.closes),
            ended.addr.eq(self.write_row[:-1]),
            ended.data.eq(self.ends | self.cut),
            ends.addr.eq(self.fetch_row[:-1]),
        ]
        m.d.sync += self.row_ends.eq(ends.data)

        pending: memory.Memory = memory.Memory(shape=self.needed.shape(), depth=self.rows, init=[],
                                               attrs={"ram_style": "distributed"})
        m.submodules.pending = pending
        count, left = pending.write_port(), pending.read_port(domain="comb")
        fetched = Signal()
        unread = Signal()
        skipped = Signal()
        m.d.comb += [
            left.addr.eq(self.fetch_row[:-1]),
            count.en.eq(self.close | self.fetch),
            count.addr.eq(Mux(self.close, self.closed_row, self.fetch_row)[:-1]),
            count.data.eq(Mux(self.close, self.needed, left.data - 1)),
            fetched.eq(self.fetch & (left.data == 1)),
            unread.eq(self.close & (self.needed == 0)),
            skipped.eq(last & self.void & ~over),
        ]
        gained = Signal(2)
        begins = Signal()
        m.d.comb += [
            # a row cannot be closed and fetched in one cycle
            gained.eq((fetched | unread) + skipped),
            begins.eq(accepted & (self.bank == 0)),
            self.freed.eq((owed != 0) | (gained != 0)),
        ]
        m.d.sync += [
            owed.eq(owed + gained - self.freed),
            used.eq(used + begins - gained),
        ]
        return m
