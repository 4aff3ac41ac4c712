# amaranth: UnusedElaboratable=no
"""The replication buffer against a queue that remembers everything."""

from amaranth.hdl import Cat, Const, Module, Signal

from wormcast.hw.buffer import ReplicationBuffer

from .harness import Harness, Inside, Property, entry, implies, total
from .mutants import Mutant
from .reference import Queue

__all__ = ["BufferHarness"]


class BufferHarness(Harness):
    """The replication buffer, with a writer that keeps to its credits and readers that keep to these rules.

    A reader takes a flit only if the flit is stored, the reader is one of its targets, and all flits in front have the
    same targets. (A worm waits until the worm in front has left.) When a flit is freed, the readers that are not its
    targets advance past it without reading it, and no other reader does. The oldest flit is dropped unread only in a
    cycle in which no reader has passed it and no reader takes it. With several readers, a flit without targets leaves
    the buffer only by being dropped.
    """

    component = "ReplicationBuffer"
    properties = (
        Property("order", "Each target of a flit reads it exactly once. Flits are read in the order of the writes.",
                 Mutant("buffer.ReplicationBuffer.elaborate", "reader.follow[v] & self.freed[v]", "0")),
        Property("has", "For each reader, `has` is 1 if and only if at least one flit waits for it, and `more` if and "
                        "only if at least two flits wait.",
                 Mutant("buffer.ReplicationBuffer.elaborate", "some & ~single", "some")),
        Property("freed", "A flit is freed in the cycle in which its last target takes it, or in which it is dropped "
                          "unread, and in no other cycle.",
                 Mutant("buffer.ReplicationBuffer._freed", "(popped != 0) & (pending == popped)", "popped != 0")),
        Property("overflow", "The buffer is full if and only if the number of flits that are not freed equals its "
                             "depth. A writer that keeps to its credits never writes to a full buffer.",
                 Mutant("buffer.ReplicationBuffer.elaborate", "same & filled", "filled")),
    )

    def __init__(self, *, vcs, depth, width, readers):
        super().__init__()
        self.buffer = ReplicationBuffer(vcs=vcs, depth=depth, width=width, readers=readers)

    def elaborate(self, platform):
        m = Module()
        dut = self.buffer
        vcs, several = range(dut.vcs), len(dut.readers) > 1
        targets = self.free(len(dut.readers), name="targets")
        self.leave_free(dut.write, dut.write_vc, dut.write_data)
        for reader in dut.readers:
            self.leave_free(reader.vc, reader.pop)
            if several:
                self.leave_free(reader.follow)
        m.d.comb += dut.write_count.eq(total(targets))
        self.assume(m, dut.write_vc < dut.vcs)
        if several:
            self.leave_free(dut.skip)
        else:
            self.assume(m, targets)

        inside = Inside(dut)
        m.submodules.buffer = inside.fragment
        for v in vcs:
            queue = Queue(f"vc{v}", depth=dut.depth, width=dut.width, readers=len(dut.readers))
            self._channel(m, v, queue, targets)
            if self.inductive:
                self.invariants(m, v, queue, inside)
        return m

    def _channel(self, m, v, queue, targets):
        dut, readers = self.buffer, queue.readers
        write = Signal(name=f"vc{v}_writes")
        take = [Signal(name=f"vc{v}_takes{r}") for r in readers]
        several = len(dut.readers) > 1
        skip = dut.skip[v] if several else Const(0)
        follow = [reader.follow[v] if several else Const(0) for reader in dut.readers]
        m.d.comb += write.eq(dut.write & (dut.write_vc == v))
        self.assume(m, implies(write, queue.count < dut.depth))
        for rule in queue.rules(take=take, skip=skip, follow=follow):
            self.assume(m, rule)
        for r, reader in enumerate(dut.readers):
            m.d.comb += take[r].eq(reader.pop & (reader.vc == v))
            self.assume(m, reader.vc < dut.vcs)
            self.claim(m, "order", implies(take[r], reader.data == queue.next_of(queue.data, r)))
            self.claim(m, "has", reader.has[v] == queue.waits(r))
            self.claim(m, "has", reader.more[v] == queue.waits(r, 2))
        self.claim(m, "freed", dut.freed[v] == (queue.done(take) | skip))
        self.claim(m, "overflow", dut.full[v] == (queue.count == dut.depth))
        self.claim(m, "overflow", ~(write & dut.full[v]))
        queue.step(m, write=write, data=dut.write_data, targets=targets, take=take, skip=skip)

    def invariants(self, m, v, queue, inside):
        """Assert that the buffer's registers agree with the queue."""
        depth, several = self.buffer.depth, len(self.buffer.readers) > 1
        # of the queue itself: who has passed a flit was its target, and the oldest one still waits for somebody
        self.invariant(m, queue.count <= depth)
        self.invariant(m, queue.front < depth)
        pending = [queue.targets[0][r] & (queue.passed[r] == 0) for r in queue.readers]
        self.invariant(m, implies((queue.count != 0) & queue.targets[0].any(), Cat(pending).any()))
        for i in range(depth):
            for r in queue.readers:
                alike = queue.targets[i][r] & (queue.targets[i] == queue.targets[0])
                self.invariant(m, implies(i < queue.passed[r], alike))
        # of the buffer
        for r in queue.readers:
            self.invariant(m, queue.passed[r] <= queue.count)
            self.invariants_of(m, queue.stands(inside, f"read{r}_at", f"filled{r}", queue.passed[r]))
        self.invariants_of(m, queue.stored(inside))
        if several:
            counters = [inside[f"vc{v}_pending{k}"] for k in range(depth)]
            for i in range(depth):
                due = total(queue.targets[i][r] & (queue.passed[r] <= i) for r in queue.readers)
                self.invariant(m, implies(i < queue.count, entry(counters, queue.row(i)) == due))
