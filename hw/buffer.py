"""Shallow replication buffer: one writer, one or more readers; with several, a counter of pending reads per flit."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from .logic import any_of, late_mux
from .options import STORAGE

__all__ = ["BufferReaderSignature", "ReplicationBuffer"]


class BufferReaderSignature(wiring.Signature):
    """Signals between a `ReplicationBuffer` and one of its readers, seen from the reader.

    Members
    -------
    vc : Out(range(vcs))
        The virtual channel whose next flit the reader presents.
    data : In(width)
        The presented flit: the one of virtual channel ``vc`` that this reader takes next.
    pop : Out(1)
        The reader takes the presented flit.
    follow : Out(vcs)
        This reader does not read the worm in this virtual channel. The position of a reader with ``follow`` advances
        with each freed flit, and so stays at the front of the buffer. Only with several readers.
    has, more : In(vcs)
        For each virtual channel: at least one (``has``) or two flits (``more``) are stored that this reader has not
        taken.

    Parameters
    ----------
    vcs, width : int
        Virtual channels, and bits that the buffer stores for a flit.
    alone : bool
        True: this reader is the only reader of the buffer.
    """

    def __init__(self, *, vcs: int, width: int, alone: bool):
        super().__init__({
            "vc": Out(range(vcs)),
            "data": In(width),
            "pop": Out(1),
            **({} if alone else {"follow": Out(vcs)}),
            "has": In(vcs),
            "more": In(vcs),
        })


class ReplicationBuffer(wiring.Component):
    """Buffer of an input port: a FIFO per virtual channel. One reader or several read each flit.

    ::

        write ──▶ memory, one row per (vc, position) ──▶ reader 0: row at its own read position of `vc`
                  pending[vc][position] := count     ──▶ reader 1: …
                  a reader takes a flit: pending -= 1; at zero the flit is freed

    *Latency*: a flit written in cycle t can be read from cycle t + 1 on. *Throughput*: one write per cycle, and one
    read per reader and cycle. A `ReplicationBuffer` with a single reader does not count the pending reads of a flit:
    each read frees a flit. All virtual channels share one memory, with one read port per reader. A flit that is written
    into a full virtual channel is dropped. *Reset*: empty.

    Parameters
    ----------
    vcs, depth : int
        Virtual channels, and flits per virtual channel (1 to 16).
    width : int
        Bits that the buffer stores for a flit.
    readers : int
        Number of readers.
    storage : "lutram" or "registers"

    Members
    -------
    write, write_vc, write_data, write_count : In
        Store a flit, which ``write_count`` readers take later. A flit with a ``write_count`` of 0 leaves by ``skip``.
    readers_{r} : In(BufferReaderSignature)
        Reader {r}.
    skip : In(vcs)
        The front flit of this virtual channel leaves the buffer unread. With ``skip``, the positions of all readers of
        the virtual channel must be at its front flit. ``skip`` exists only with several readers: a single reader takes
        the flit instead.
    arrives : Out(vcs)
        A flit is stored at the end of this cycle; ``has`` and ``more`` count it from the next cycle on. With a single
        reader and a depth of 2 flits or more, ``arrives`` is also 1 for a flit that is dropped because the virtual
        channel is full.
    full : Out(vcs)
        This virtual channel has no room for another flit.
    freed : Out(vcs)
        A flit of this virtual channel is freed in this cycle; at most one per virtual channel and cycle.
    """

    @checked
    def __init__(self, *, vcs: int, depth: int, width: int, readers: int = 1, storage: str = "lutram"):
        if not 1 <= depth <= 16:
            raise WormcastError(f"ReplicationBuffer.depth: {depth} is not valid. Allowed: 1 to 16 flits.")
        for field, value in (("vcs", vcs), ("width", width), ("readers", readers)):
            if value < 1:
                raise WormcastError(f"ReplicationBuffer.{field}: {value} is not valid. Allowed: 1 or more.")
        if storage not in STORAGE:
            raise WormcastError(f"ReplicationBuffer.storage: {storage!r} is not valid. Allowed: {', '.join(STORAGE)}.")
        self.vcs = vcs
        self.depth = depth
        self.width = width
        self.storage = storage
        super().__init__({
            "write": In(1),
            "write_vc": In(range(vcs)),
            "write_data": In(width),
            "write_count": In(range(readers + 1)),
            "readers": In(BufferReaderSignature(vcs=vcs, width=width, alone=readers == 1)).array(readers),
            **({"skip": In(vcs)} if readers > 1 else {}),
            "arrives": Out(vcs),
            "full": Out(vcs),
            "freed": Out(vcs),
        })

    def elaborate(self, platform):
        m = Module()
        position_bits = (self.depth - 1).bit_length()
        store: memory.Memory = memory.Memory(
            shape=self.width, depth=self.vcs << position_bits, init=[], attrs={"ram_style": STORAGE[self.storage]}
        )
        m.submodules.memory = store
        write_port = store.write_port()
        at = [Signal(position_bits, name=f"vc{v}_write_at") for v in range(self.vcs)]
        writes = [Signal(name=f"vc{v}_write") for v in range(self.vcs)]
        m.d.comb += [
            write_port.en.eq(Cat(writes).any()),
            write_port.addr.eq(Cat(Array(at)[self.write_vc], self.write_vc)),
            write_port.data.eq(self.write_data),
        ]
        for v in range(self.vcs):
            offered = self.write & (self.write_vc == v)
            # with one reader and depth > 1, `arrives` is 1 also for a dropped flit of a full channel: saves a gate
            spared = len(self.readers) == 1 and self.depth > 1
            m.d.comb += [
                writes[v].eq(offered & ~self.full[v]),
                self.arrives[v].eq(offered if spared else writes[v]),
            ]
            with m.If(writes[v]):
                m.d.sync += at[v].eq(self.after(at[v], self.depth))

        pops = [[Signal(name=f"vc{v}_pop{r}") for r in range(len(self.readers))] for v in range(self.vcs)]
        read_at = [[Signal(position_bits, name=f"vc{v}_read{r}_at") for r in range(len(self.readers))]
                   for v in range(self.vcs)]
        skip = [Signal(name=f"vc{v}_skip") for v in range(self.vcs)]
        if len(self.readers) > 1:
            m.d.comb += Cat(skip).eq(self.skip)
        stored: list[list] = [[] for _ in range(self.vcs)]
        for r, reader in enumerate(self.readers):
            read_port = store.read_port(domain="comb")
            m.d.comb += [
                read_port.addr.eq(Cat(Array(read_at[v][r] for v in range(self.vcs))[reader.vc], reader.vc)),
                reader.data.eq(read_port.data),
            ]
            for v in range(self.vcs):
                m.d.comb += pops[v][r].eq(reader.pop & (reader.vc == v))
                gone = pops[v][r] | skip[v]
                if len(self.readers) > 1:
                    gone |= reader.follow[v] & self.freed[v]
                position = read_at[v][r]
                m.d.sync += position.eq(late_mux(gone, self.after(position, self.depth)[:position_bits], position))
                # at equal read and write positions, `filled` is 1 for a full channel and 0 for an empty one
                # a write sets `filled`, a read clears it, and both in one cycle leave it unchanged
                filled = Signal(name=f"vc{v}_filled{r}")
                came, kept = self.arrives[v], ~gone
                m.d.sync += filled.eq((came & kept) | (filled & (came | kept)))
                same, single = C(1), C(1)
                if self.depth > 1:
                    same, single = at[v] == position, at[v] == self.after(position, self.depth)[:position_bits]
                some = Signal(name=f"vc{v}_some{r}")
                m.d.comb += [
                    some.eq(~same | filled),
                    reader.has[v].eq(some),
                    reader.more[v].eq(some & ~single),
                ]
                stored[v].append(same & filled)
        for v in range(self.vcs):
            # the slowest reader determines whether the buffer of the virtual channel is full
            m.d.comb += self.full[v].eq(any_of(stored[v]))
            m.d.comb += self.freed[v].eq(self._freed(m, v, writes, at, pops, read_at, skip))
        return m

    @staticmethod
    def after(position: Value, depth: int) -> Value:
        """Return the position after ``position`` in a ring of ``depth`` positions."""
        if depth & (depth - 1) == 0:
            return position + 1
        return Mux(position == depth - 1, 0, position + 1)

    def _freed(self, m, v, writes, at, pops, read_at, skip):
        """Count the reads of each flit of virtual channel ``v``; return 1 in the cycle in which a flit is freed."""
        if len(self.readers) == 1:
            return pops[v][0]
        freed = [skip[v]]
        for k in range(self.depth):
            pending = Signal(range(len(self.readers) + 1), name=f"vc{v}_pending{k}")
            popped = sum((pops[v][r] & (read_at[v][r] == k) for r in range(len(self.readers))), 0)
            with m.If(writes[v] & (at[v] == k)):
                m.d.sync += pending.eq(self.write_count)
            with m.Elif(~skip[v]):
                m.d.sync += pending.eq(pending - popped)
            freed.append((popped != 0) & (pending == popped))
        return Cat(freed).any()
