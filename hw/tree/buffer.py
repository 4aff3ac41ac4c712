"""Buffer of a tree input: one writer, one reader per branch; the slowest branch frees a flit."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from ..buffer import ReplicationBuffer
from ..logic import any_of
from ..options import STORAGE

__all__ = ["BranchBuffer"]


class BranchBuffer(wiring.Component):
    """FIFO per virtual channel, in which all branches of a worm read each of its flits.

    ::

        write ──▶ memory, one row per (vc, position) ──▶ reader 0: row at its own position of `vc`
                  front[vc]: the oldest flit stored  ──▶ reader 1: ...
                  the last branch at the front takes its flit: it is freed, and the front advances

    All branches of a worm read its flits in the same order. The positions of the readers therefore determine which
    branches still need a flit, and no counter per flit is needed. Between two worms all readers are set to the front
    flit, so a reader without a branch of a worm does not have to follow the worm's flits.

    *Latency*: a flit written in cycle t can be read from cycle t + 1 on, and is freed in the cycle in which the last
    branch takes it. *Throughput*: one write per cycle, and one take per reader and cycle. All virtual channels share
    one memory, with one read port per reader, or one shared port. A flit that is written into a full virtual channel is
    dropped. *Reset*: empty.

    Parameters
    ----------
    vcs, depth : int
        Virtual channels, and flits per virtual channel (1 to 16).
    width : int
        Bits of a row.
    readers : int
    storage : "lutram" or "registers"
    shared : bool
        One read port serves all readers.

    Members
    -------
    write, write_vc, write_data : In
        Store a flit.
    vc_{r} : In
        The virtual channel presented to reader r.
    data_{r} : Out
        The flit of virtual channel ``vc_{r}`` that reader r takes next. With a shared port there is ``data_0`` only,
        for the reader in ``choice``.
    choice : In(range(readers))
        Reader that the shared port serves. Only with ``shared``.
    take_{r} : In(1)
        Reader r takes the presented flit. Reader r may take a flit only if it is stored, and while ``needs_{r}`` is
        set.
    needs_{r} : In(vcs)
        Reader r is a branch of the worm in this virtual channel, and has not sent the tail.
    between : In(vcs)
        No worm is under way, or its flits are skipped: the readers are set to the front at the end of the cycle.
    skip : In(vcs)
        The front flit of this virtual channel leaves the buffer unread. At this time no reader may need a flit of this
        virtual channel.
    has_{r}, more_{r} : Out(vcs)
        Per virtual channel: at least one / two flits are stored that reader r has not taken. ``has_{r}`` and
        ``more_{r}`` are undefined while ``needs_{r}`` is 0.
    arrives : Out(vcs)
        A flit is stored at the end of this cycle; ``has`` and ``more`` count it from the next cycle on.
    some, full : Out(vcs)
        A flit of this virtual channel is stored; no row of this virtual channel is free.
    freed : Out(vcs)
        A flit of this virtual channel is freed in this cycle.
    """

    def __init__(self, *, vcs: int, depth: int, width: int, readers: int, storage: str = "lutram",
                 shared: bool = False):
        self.vcs = vcs
        self.depth = depth
        self.width = width
        self.readers = readers
        self.storage = storage
        self.shared = shared
        members: dict = {
            "write": In(1),
            "write_vc": In(range(vcs)),
            "write_data": In(width),
            "between": In(vcs),
            "skip": In(vcs),
            "arrives": Out(vcs),
            "some": Out(vcs),
            "full": Out(vcs),
            "freed": Out(vcs),
        }
        if shared:
            members |= {"choice": In(range(readers))}
        for r in range(readers):
            members |= {
                f"vc_{r}": In(range(vcs)),
                **({f"data_{r}": Out(width)} if r == 0 or not shared else {}),
                f"take_{r}": In(1),
                f"needs_{r}": In(vcs),
                f"has_{r}": Out(vcs),
                f"more_{r}": Out(vcs),
            }
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        bits = (self.depth - 1).bit_length()
        store: memory.Memory = memory.Memory(shape=self.width, depth=self.vcs << bits, init=[],
                                             attrs={"ram_style": STORAGE[self.storage]})
        m.submodules.memory = store
        write_port = store.write_port()
        write_at = [Signal(bits, name=f"vc{v}_write_at") for v in range(self.vcs)]
        read_at = [[Signal(bits, name=f"vc{v}_read{r}_at") for r in range(self.readers)] for v in range(self.vcs)]
        m.d.comb += [
            write_port.en.eq(self.arrives.any()),
            write_port.addr.eq(Cat(Array(write_at)[self.write_vc], self.write_vc)),
            write_port.data.eq(self.write_data),
        ]
        rows = [Cat(Array(read_at[v][r] for v in range(self.vcs))[vc], vc)
                for r, vc in enumerate(getattr(self, f"vc_{r}") for r in range(self.readers))]
        for number, row in enumerate([Array(rows)[self.choice]] if self.shared else rows):
            read_port = store.read_port(domain="comb")
            m.d.comb += [read_port.addr.eq(row), getattr(self, f"data_{number}").eq(read_port.data)]
        for v in range(self.vcs):
            self._channel(m, v, write_at[v], read_at[v])
        return m

    def _channel(self, m, v, write_at, read_at):
        """Update the positions in one virtual channel."""
        comes, freed, between = self.arrives[v], self.freed[v], self.between[v]
        front = Signal.like(write_at, name=f"vc{v}_front_at")
        # with equal positions, the last change distinguishes full from empty
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
        for r, position in enumerate(read_at):
            take = getattr(self, f"take_{r}") & (getattr(self, f"vc_{r}") == v)
            unread = Signal(name=f"vc{v}_filled{r}")
            some = Signal(name=f"vc{v}_some{r}")
            m.d.comb += [
                some.eq((write_at != position) | unread),
                getattr(self, f"has_{r}")[v].eq(some),
                getattr(self, f"more_{r}")[v].eq(some & (write_at != self._after(position)) if self.depth > 1 else 0),
            ]
            m.d.sync += [
                position.eq(Mux(between, following, Mux(take, self._after(position), position))),
                unread.eq(Mux(between, _changed(filled, comes, skips), _changed(unread, comes, take))),
            ]
            at_front = Signal(name=f"vc{v}_at_front{r}")
            m.d.comb += at_front.eq(getattr(self, f"needs_{r}")[v] & (position == front) & (~same | unread))
            behind.append(at_front)
            stays.append(at_front & ~take)
            filled_for.append(unread)
        m.d.comb += freed.eq(skips | (any_of(behind) & ~any_of(stays)))
        self._count(m, v, front, filled, write_at, list(zip(read_at, filled_for, strict=True)))

    def _count(self, m, v, front, filled, write_at, readers):
        """Compute the replication chunk counters for waveforms: the number of branches of the worm at the front that
        have not taken the flit in a row.

        The counters follow from the readers' positions. No logic reads the counters, so synthesis removes them.
        """
        def reaches(start: Value, full: Value, row: int) -> Value:
            """Return 1 if a row lies between a position and the write position."""
            ahead = Mux(start < write_at, (start <= row) & (row < write_at), (start <= row) | (row < write_at))
            return Mux(start == write_at, full, ahead)

        for row in range(self.depth):
            pending = Signal(range(self.readers + 1), name=f"vc{v}_pending{row}")
            stored = reaches(front, filled, row)
            owed = [getattr(self, f"needs_{r}")[v] & reaches(position, unread, row)
                    for r, (position, unread) in enumerate(readers)]
            m.d.comb += pending.eq(Mux(stored, sum(owed, C(0)), 0))

    def _after(self, position: Value) -> Value:
        """Return the next position in the ring."""
        return ReplicationBuffer.after(position, self.depth)[:len(position)]


def _changed(filled: Value, comes: Value, goes: Value) -> Value:
    """Return the next value of ``filled``: a write sets it, a take clears it, both in one cycle cancel."""
    return (comes & ~goes) | (filled & (comes | ~goes))
