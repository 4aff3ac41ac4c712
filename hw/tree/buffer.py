"""Buffer of a tree input: one writer, one reader per branch. A flit is freed when the slowest branch has read it."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.typecheck import checked

from ..buffer import ReplicationBuffer
from ..logic import any_of
from ..options import STORAGE

__all__ = ["BranchBuffer", "BranchReaderSignature"]


class BranchReaderSignature(wiring.Signature):
    """Signals between a `BranchBuffer` and one of its readers, seen from the reader.

    Members
    -------
    vc : Out(range(vcs))
        The virtual channel that is presented.
    data : In(width)
        The flit of virtual channel ``vc`` that this reader takes next. With a shared port, the reader has no ``data``.
    pop : Out(1)
        The reader takes the presented flit. The reader may take a flit only if the flit is stored, and only while
        ``needs`` is set.
    needs : Out(vcs)
        The worm in this virtual channel has a branch at this reader, and the branch has not sent the tail.
    has, more : In(vcs)
        For each virtual channel: at least one (``has``) or two flits (``more``) are stored that this reader has not
        taken. ``has`` and ``more`` are undefined while ``needs`` is 0.

    Parameters
    ----------
    vcs, width : int
        Virtual channels, and bits that the buffer stores for a flit.
    shared : bool
        One read port serves all readers.
    """

    def __init__(self, *, vcs: int, width: int, shared: bool):
        super().__init__({
            "vc": Out(range(vcs)),
            **({} if shared else {"data": In(width)}),
            "pop": Out(1),
            "needs": Out(vcs),
            "has": In(vcs),
            "more": In(vcs),
        })


class BranchBuffer(wiring.Component):
    """FIFO per virtual channel, in which all branches of a worm read each of the worm's flits.

    ::

        write ──▶ memory, one row per (vc, position) ──▶ reader 0: row at its own position of `vc`
                  front[vc]: the oldest flit stored  ──▶ reader 1: …
                  the last branch takes the front flit: the flit is freed, and the front advances

    All branches of a worm read its flits in the same order. The positions of the readers therefore determine which
    branches still need a flit, and no counter per flit is needed. Between two worms all readers are set to the front
    flit, so a reader without a branch of a worm does not have to follow the worm's flits.

    *Latency*: a flit written in cycle t can be read from cycle t + 1 on, and is freed in the cycle in which the last
    branch takes it. *Throughput*: one write per cycle, and one read per reader and cycle. All virtual channels share
    one memory, with one read port per reader, or one shared port. A flit that is written into a full virtual channel is
    dropped. *Reset*: empty.

    Parameters
    ----------
    vcs, depth : int
        Virtual channels, and flits per virtual channel (1 to 16).
    width : int
        Bits that the buffer stores for a flit.
    readers : int
        Number of readers.
    storage : "lutram" or "registers"
    shared : bool
        One read port serves all readers.

    Members
    -------
    write, write_vc, write_data : In
        Store a flit.
    readers_{r} : In(BranchReaderSignature)
        Reader {r}.
    choice, data : In(range(readers)), Out(width)
        Number of the reader that the shared port serves, and the flit that the served reader takes next. Only with
        ``shared``.
    between : In(vcs)
        No worm is under way, or the worm's flits are skipped: at the end of the cycle all readers are set to the oldest
        flit that stays.
    skip : In(vcs)
        The front flit of this virtual channel leaves the buffer unread. While ``skip`` is set, no reader may need a
        flit of this virtual channel.
    arrives : Out(vcs)
        A flit is stored at the end of this cycle; ``has`` and ``more`` count it from the next cycle on.
    some : Out(vcs)
        A flit of this virtual channel is stored.
    full : Out(vcs)
        This virtual channel has no room for another flit.
    freed : Out(vcs)
        A flit of this virtual channel is freed in this cycle.
    """

    @checked
    def __init__(self, *, vcs: int, depth: int, width: int, readers: int, storage: str = "lutram",
                 shared: bool = False):
        self.vcs = vcs
        self.depth = depth
        self.width = width
        self.storage = storage
        self.shared = shared
        super().__init__({
            "write": In(1),
            "write_vc": In(range(vcs)),
            "write_data": In(width),
            "readers": In(BranchReaderSignature(vcs=vcs, width=width, shared=shared)).array(readers),
            **({"choice": In(range(readers)), "data": Out(width)} if shared else {}),
            "between": In(vcs),
            "skip": In(vcs),
            "arrives": Out(vcs),
            "some": Out(vcs),
            "full": Out(vcs),
            "freed": Out(vcs),
        })

    def elaborate(self, platform):
        m = Module()
        bits = (self.depth - 1).bit_length()
        store: memory.Memory = memory.Memory(shape=self.width, depth=self.vcs << bits, init=[],
                                             attrs={"ram_style": STORAGE[self.storage]})
        m.submodules.memory = store
        write_port = store.write_port()
        write_at = [Signal(bits, name=f"vc{v}_write_at") for v in range(self.vcs)]
        read_at = [[Signal(bits, name=f"vc{v}_read{r}_at") for r in range(len(self.readers))]
                   for v in range(self.vcs)]
        m.d.comb += [
            write_port.en.eq(self.arrives.any()),
            write_port.addr.eq(Cat(Array(write_at)[self.write_vc], self.write_vc)),
            write_port.data.eq(self.write_data),
        ]
        rows = [Cat(Array(read_at[v][r] for v in range(self.vcs))[reader.vc], reader.vc)
                for r, reader in enumerate(self.readers)]
        served = [(Array(rows)[self.choice], self.data)] if self.shared else [
            (row, reader.data) for row, reader in zip(rows, self.readers, strict=True)]
        for row, data in served:
            read_port = store.read_port(domain="comb")
            m.d.comb += [read_port.addr.eq(row), data.eq(read_port.data)]
        for v in range(self.vcs):
            self._channel(m, v, write_at[v], read_at[v])
        return m

    def _channel(self, m, v, write_at, read_at):
        """Update the positions in one virtual channel."""
        comes, freed, between = self.arrives[v], self.freed[v], self.between[v]
        front = Signal.like(write_at, name=f"vc{v}_front_at")
        # if the write and front positions are equal, `filled` is 1 for a full channel and 0 for an empty one
        filled = Signal(name=f"vc{v}_filled")
        same = Signal(name=f"vc{v}_same")
        m.d.comb += [
            same.eq(write_at == front),
            self.some[v].eq(~same | filled),
            self.full[v].eq(same & filled),
            comes.eq(self.write & (self.write_vc == v) & ~self.full[v]),
        ]
        m.d.sync += filled.eq(_changed(filled, comes, freed))
        with m.If(comes):
            m.d.sync += write_at.eq(self._after(write_at))
        with m.If(freed):
            m.d.sync += front.eq(self._after(front))

        skips = self.skip[v]
        following = Mux(skips, self._after(front), front)
        behind, stays, filled_for = [], [], []
        for r, (reader, position) in enumerate(zip(self.readers, read_at, strict=True)):
            pop = reader.pop & (reader.vc == v)
            unread = Signal(name=f"vc{v}_filled{r}")
            some = Signal(name=f"vc{v}_some{r}")
            m.d.comb += [
                some.eq((write_at != position) | unread),
                reader.has[v].eq(some),
                reader.more[v].eq(some & (write_at != self._after(position)) if self.depth > 1 else 0),
            ]
            m.d.sync += [
                position.eq(Mux(between, following, Mux(pop, self._after(position), position))),
                unread.eq(Mux(between, _changed(filled, comes, skips), _changed(unread, comes, pop))),
            ]
            at_front = Signal(name=f"vc{v}_at_front{r}")
            m.d.comb += at_front.eq(reader.needs[v] & (position == front) & (~same | unread))
            behind.append(at_front)
            stays.append(at_front & ~pop)
            filled_for.append(unread)
        m.d.comb += freed.eq(skips | (any_of(behind) & ~any_of(stays)))
        self._count(m, v, front, filled, write_at, list(zip(read_at, filled_for, strict=True)))

    def _count(self, m, v, front, filled, write_at, positions):
        """Compute the replication chunk counters for waveforms: for each row, the number of the front worm's branches
        that have not taken the row's flit.

        The counters follow from the readers' positions. No logic reads the counters, so synthesis removes them.
        """
        def reaches(start: Value, full: Value, row: int) -> Value:
            """Return 1 if row ``row`` is in the ring from position ``start`` up to the write position."""
            ahead = Mux(start < write_at, (start <= row) & (row < write_at), (start <= row) | (row < write_at))
            return Mux(start == write_at, full, ahead)

        for row in range(self.depth):
            pending = Signal(range(len(self.readers) + 1), name=f"vc{v}_pending{row}")
            stored = reaches(front, filled, row)
            owed = [reader.needs[v] & reaches(position, unread, row)
                    for reader, (position, unread) in zip(self.readers, positions, strict=True)]
            m.d.comb += pending.eq(Mux(stored, sum(owed, C(0)), 0))

    def _after(self, position: Value) -> Value:
        """Return the position after ``position`` in the channel's ring."""
        return ReplicationBuffer.after(position, self.depth)[:len(position)]


def _changed(filled: Value, comes: Value, goes: Value) -> Value:
    """Return the next value of ``filled``: a write sets it, a read clears it, both in one cycle cancel."""
    return (comes & ~goes) | (filled & (comes | ~goes))
