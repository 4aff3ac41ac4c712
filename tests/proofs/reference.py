"""Specification of a channel of a replication buffer: a queue of its flits."""

from amaranth.hdl import Cat, Const, Mux, Signal

from .harness import entry, implies, on_ring

__all__ = ["Queue"]


class Queue:
    """Specification of a virtual channel: its flits, oldest first, and the number that each reader has passed.

    A single reader is a target of each flit, and has passed none of the stored flits.

    Members
    -------
    count : Signal
        Flits that are not freed.
    data, targets : list of Signal
        Data and targets of each flit. The targets are the readers that must read it.
    passed : list of Signal
        For each reader, the number of flits that it has passed, from the oldest on.
    front : Signal
        Number of flits that have been freed, modulo the size of the ring.
    """

    def __init__(self, name, *, depth, width, readers):
        self.name = name
        self.depth = depth
        self.readers = range(readers)
        self.count = Signal(range(depth + 1), name=f"{name}_count")
        self.data = [Signal(width, name=f"{name}_data{i}") for i in range(depth)]
        self.targets = [Signal(readers, name=f"{name}_targets{i}") if readers > 1 else Const(1) for i in range(depth)]
        self.passed = [Signal(range(depth + 1), name=f"{name}_passed{r}") for r in self.readers]
        self.front = Signal(range(max(depth, 2)), name=f"{name}_front")

    def waits(self, r, flits=1):
        """Return whether reader ``r`` has at least this number of flits to pass."""
        return self.passed[r] + flits <= self.count

    def next_of(self, values, r):
        """Return the entry, in a list over the flits, of the flit that reader ``r`` must read next."""
        return entry(values, self.passed[r])

    def row(self, i):
        """Return the position of the i-th flit in the ring."""
        return on_ring(self.front + i, self.depth)

    def done(self, take):
        """Return whether the last target reads the oldest flit. ``take`` has a bit for each reader that reads a
        flit."""
        passed = [~self.targets[0][r] | (self.passed[r] + take[r] != 0) for r in self.readers]
        return (self.count != 0) & self.targets[0].any() & Cat(passed).all()

    def rules(self, *, take, skip, follow):
        """Yield the rules of the readers, each as a bit: the rule holds in this cycle.

        A reader reads only a stored flit of which it is a target, while all flits in front have the same targets (a
        worm waits until the worm in front has left). When a flit is freed, the readers that are not its targets pass
        it, and no other reader does. The oldest flit is dropped unread only in a cycle in which no reader has passed it
        and no reader takes it.
        """
        for r in self.readers:
            own = self.next_of(self.targets, r)
            yield implies(take[r], self.waits(r) & own.bit_select(r, 1) & (own == self.targets[0]))
            yield implies(skip, self.waits(r) & (self.passed[r] == 0) & ~take[r])
            if len(self.readers) > 1:
                yield implies(self.done(take), follow[r] == ~self.targets[0][r])

    def stored(self, inside):
        """Yield invariants of the buffer's registers: its rows hold the flits, and it writes behind them."""
        rows = [inside[f"{self.name}_row{k}"] for k in range(self.depth)]
        for i in range(self.depth):
            yield implies(i < self.count, entry(rows, self.row(i)) == self.data[i])
        if self.depth > 1:
            yield inside[f"{self.name}_write_at"] == self.row(self.count)

    def stands(self, inside, at, filled, passed):
        """Yield invariants of a position's registers, after ``passed`` flits. The last change tells full from empty."""
        if self.depth > 1:
            yield inside[f"{self.name}_{at}"] == self.row(passed)
        yield implies(self.count == passed, ~inside[f"{self.name}_{filled}"])
        yield implies(self.count == passed + self.depth, inside[f"{self.name}_{filled}"])

    def step(self, m, *, write, data, targets, take, skip):
        """Move on by a cycle."""
        freed = self.done(take) | skip
        m.d.sync += self.count.eq(self.count + write - freed)
        last = self.count - freed
        for i in range(self.depth):
            for queue, new in ((self.data, data), (self.targets, targets)):
                if isinstance(queue[i], Const):
                    continue
                behind = queue[i + 1] if i + 1 < self.depth else Const(0)
                m.d.sync += queue[i].eq(Mux(write & (last == i), new, Mux(freed, behind, queue[i])))
        for r in self.readers:
            reached = self.passed[r] + take[r]
            m.d.sync += self.passed[r].eq(Mux(freed & (reached != 0), reached - 1, reached))
        with m.If(freed):
            m.d.sync += self.front.eq(Mux(self.front == self.depth - 1, 0, self.front + 1))
