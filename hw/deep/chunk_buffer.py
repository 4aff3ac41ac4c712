"""The buffer of a deep input: rows of flits in block memory, each with a counter of those who have yet to read it."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..logic import bits_for

__all__ = ["ChunkStore", "row_after", "row_bits"]


def row_bits(rows: int) -> int:
    """Bits of a row's number: its place in the ring, and above it a bit that changes from lap to lap.

    Without that bit a ring full of closed rows would look like one without any.
    """
    return bits_for(rows) + 1


def row_after(row: Value, rows: int) -> Value:
    """The number of the row behind this one."""
    place, lap = row[:-1], row[-1]
    last = place == rows - 1
    return Cat(Mux(last, 0, place + 1)[:len(place)], lap ^ last)


class ChunkStore(wiring.Component):
    """A ring of rows of ``chunk`` flits; a row is freed when as many have fetched it as were to ([Sivaram98], 5.1.2).

    ::

        write ─▶ lane 0 │ lane 1 │ ... │ lane chunk-1     a flit goes into one lane, a fetch takes the row of all
        close ─▶ pending[row] := needed                    the paper's chunk counter
        fetch ─▶ pending[row] -= 1 ── 0: the row is freed, in the order in which it was closed

    A worm begins a row, so a worm's last row may have empty lanes. Whoever reads a worm fetches its rows in order;
    those who have had a row's flits on their way in are not counted. Each lane is a memory of its own: one flit is
    written in a cycle, and no byte enables are needed.

    *Latency*: a row that is closed in cycle t can be fetched from t + 1 on, and lies on ``row`` in the cycle after the
    fetch. *Throughput*: one flit written and one row fetched or closed in a cycle. *Reset*: empty.

    Parameters
    ----------
    rows : int
        At least 2.
    chunk : int
        Flits of a row, at least 2.
    width : int
        Bits of a flit, marks included.
    readers : int
        Most that fetch a row.

    Members
    -------
    write, data, ends : In
        Store a flit, unless ``full``; it is the last that its sender puts into a row.
    cut : In(1)
        With ``write``: it is the last of its row although its sender's goes on. What follows up to the end of that is
        void, and takes no room, as it has none of the sender's credits.
    void : In(1)
        With ``write`` or without: the flit counts and is not kept, as those behind it in its row are not; its room is
        free again when the row is full or has ended.
    closes : Out(1)
        The flit that is written fills or ends a row that is kept.
    full : Out(1)
        There is no room for the next flit: it is dropped.
    close, needed : In
        The oldest row that is filled and not closed is closed; so many will fetch it.
    fetch, fetch_row : In(1), In(row_bits(rows))
        Fetch this row: only a closed one that is not free, and in no cycle with ``close``.
    row : Out(chunk * width)
        What was fetched in the cycle before, lane 0 lowest; lanes behind the worm's last flit hold anything.
    row_ends : Out(1)
        It has its worm's last flit: from a register, as nothing is that comes out of block memory.
    closed_row, write_row : Out(row_bits(rows))
        The next row that will be closed; the one that flits are written to.
    lane : Out(range(chunk))
        Where the next flit goes.
    freed : Out(1)
        A row is free again, for each a pulse.
    """

    def __init__(self, *, rows: int, chunk: int, width: int, readers: int):
        for field, value in (("rows", rows), ("chunk", chunk)):
            if value < 2:
                raise WormcastError(f"ChunkStore.{field}: must be at least 2, not {value}")
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
            "lane": Out(range(chunk)),
            "freed": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        accepted = Signal()
        last = Signal()
        over = Signal()  # the row has been cut: what is left of the sender's takes no room
        used = Signal(range(self.rows + 1))  # rows with a flit, or in the one that is void
        owed = Signal(range(self.rows + 1))  # rows freed that nobody was told of
        m.d.comb += [
            self.full.eq((used == self.rows) & (self.lane == 0)),
            accepted.eq((self.write | self.void) & ~self.full),
            last.eq(accepted & ((self.lane == self.chunk - 1) | self.ends)),
            self.closes.eq((last | (accepted & self.cut)) & ~self.void),
        ]
        with m.If(accepted):
            m.d.sync += [self.lane.eq(Mux(last, 0, self.lane + 1)), over.eq((self.cut | over) & ~last)]
        with m.If(self.closes):
            m.d.sync += self.write_row.eq(row_after(self.write_row, self.rows))
        with m.If(self.close):
            m.d.sync += self.closed_row.eq(row_after(self.closed_row, self.rows))
        for k in range(self.chunk):
            lane: memory.Memory = memory.Memory(shape=self.width, depth=self.rows, init=[],
                                                attrs={"ram_style": "block"})
            m.submodules[f"lane_{k}"] = lane
            write, read = lane.write_port(), lane.read_port()
            m.d.comb += [
                write.en.eq(accepted & ~self.void & (self.lane == k)),
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
            begins.eq(accepted & (self.lane == 0)),
            self.freed.eq((owed != 0) | (gained != 0)),
        ]
        m.d.sync += [
            owed.eq(owed + gained - self.freed),
            used.eq(used + begins - gained),
        ]
        return m
