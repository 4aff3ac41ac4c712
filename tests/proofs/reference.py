"""A channel of a replication buffer as it ought to be: a queue that remembers everything."""

from amaranth.hdl import Cat, Const, Mux, Signal

from .harness import entry, implies, on_ring

__all__ = ["Queue"]


class Queue:
    """One virtual channel as it ought to be: its flits, the oldest first, and how many of them each reader has passed.

    With one reader every flit is for that one, and it has passed none.

    Members
    -------
    count : Signal
        Flits that are not freed.
    data, targets : list of Signal
        Of each flit: what was written, and who is to read it.
    passed : list of Signal
        For each reader, how many flits, from the oldest on, it has left behind.
    front : Signal
        How many flits have been freed, round the ring of the rows.
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
        """Return the entry, in a list over the flits, of the flit that reader ``r`` has to take next."""
        return entry(values, self.passed[r])

    def row(self, i):
        """Return the position of the i-th flit in the ring."""
        return on_ring(self.front + i, self.depth)

    def done(self, take):
        """Return whether the last target takes the oldest flit. ``take`` has a bit per reader: it takes a flit."""
        passed = [~self.targets[0][r] | (self.passed[r] + take[r] != 0) for r in self.readers]
        return (self.count != 0) & self.targets[0].any() & Cat(passed).all()

    def rules(self, *, take, skip, follow):
        """Yield, for each rule of the readers, whether they keep it in this cycle.

        A reader takes only what is there, what it is a target of, and only while all flits in front of that have the
        same targets (a worm waits until the one in front is through). It follows the freed flits exactly where it is no
        target of them. A flit leaves unread only where all readers stand before it.
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
