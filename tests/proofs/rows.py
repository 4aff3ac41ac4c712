"""Specification of the rows of a deep buffer: a queue of rows, and the readers that have not fetched each row."""

from amaranth.hdl import Array, Cat, Const, Mux, Signal, Value

from wormcast.hw.deep.chunk_buffer import row_bits

from .harness import entry, implies, on_ring, total

__all__ = ["Rows"]


class Rows:
    """Specification of a `ChunkBuffer`: the number of rows, the readers that have not fetched each row, and one flit.

    The environment chooses the readers that must fetch a closed row, and the reader that fetches a row. Its rules are
    `fetches` and `writes`.

    Parameters
    ----------
    inside : Inside
        Of a `ChunkBuffer`.

    Members
    -------
    front : Signal
        Number of the oldest row that is not free; numbers go twice round the ring of places.
    kept, closed : Signal
        Number of rows that are filled and not free, and number of these rows that are closed.
    needs : list of Signal
        For each row, from the front on: the readers that have not fetched it. 0 if the row is not closed.
    begun, void : Signal
        The row that is written has flits; its further flits are not stored.
    over : Signal
        This row was cut: it is filled, and the sender continues it.
    due : Signal
        Number of freed rows that are not reported yet.
    """

    def __init__(self, m, harness, inside):
        self.store = store = inside.component
        self.inside = inside
        self.readers, self.rows = range(store.readers), store.rows
        self.front = Signal(range(2 * store.rows), name="front")
        self.kept, self.closed, self.due = (Signal(range(store.rows + 1), name=f"rows_{name}")
                                            for name in ("kept", "closed", "due"))
        self.needs = [Signal(store.readers, name=f"needs_{i}") for i in range(store.rows)]
        self.begun, self.void, self.over = (Signal(name=f"row_{name}") for name in ("begun", "is_void", "is_over"))
        self.asked = harness.free(store.readers, name="asked")  # the readers that must fetch the row that is closed
        self.which = harness.free(range(max(self.rows, 2)), name="which")  # the row that is fetched; `who`: its reader
        self.who = harness.free(range(max(store.readers, 2)), name="who")
        self.rest = Signal(store.readers, name="still_needed")
        self._step(m)

    def number(self, i) -> Value:
        """Return the number of the i-th row from the front on, in the encoding of the store."""
        at = on_ring(self.front + i, 2 * self.rows)
        bits = row_bits(self.rows) - 1
        return Cat(on_ring(at, self.rows)[:bits] if bits else Const(0, 0), at >= self.rows)

    def place(self, i) -> Value:
        """Return the row of the memories that holds the i-th row of the queue."""
        return on_ring(on_ring(self.front + i, 2 * self.rows), self.rows)

    @property
    def used(self):
        """Rows that have flits, or credits, and are not free."""
        return self.kept + self.begun

    def fetches(self):
        """Yield the rules of readers, each as a bit: the rule holds in this cycle.

        No row is fetched in a cycle in which a row is closed. Each reader fetches a row once. Rows are freed in the
        order in which they were closed.
        """
        store, mine = self.store, list(entry(self.needs, self.which))
        yield (self.which < self.rows) & (self.who < store.readers)
        yield store.needed == total(self.asked)
        yield implies(store.fetch, ~store.close & (self.which < self.closed) & entry(mine, self.who)
                      & (store.fetch_row == self.number(self.which)))
        yield implies(store.fetch & (self.rest == 0), self.which == 0)
        yield implies(store.close & (self.asked == 0), self.closed == 0)

    def writes(self):
        """Yield the rules of the writer: a row is closed when it is filled. In a row, the flits after a void flit, and
        after the flit that cuts the row, are void."""
        store = self.store
        yield implies(store.close, self.closed < self.kept)
        yield implies((store.write | store.void) & self.void, store.void)
        yield implies(store.cut, store.write & ~store.void)

    def _step(self, m):
        store = self.store
        rest = entry(self.needs, self.which) & ~(Const(1, store.readers) << self.who)[:store.readers]
        m.d.comb += self.rest.eq(rest)
        self.accepted, self.last, self.fills, self.skipped, self.leaves = (
            Signal(name=f"rows_{name}") for name in ("accepted", "last", "fills", "skipped", "leaves"))
        self.bank = bank = Signal(range(store.chunk), name="rows_bank")
        m.d.comb += [
            self.accepted.eq((store.write | store.void) & ((self.used < self.rows) | self.begun | self.over)),
            self.last.eq(self.accepted & (store.ends | (bank == store.chunk - 1))),
            self.fills.eq(self.accepted & (self.last | store.cut) & ~store.void),
            self.skipped.eq(self.last & store.void & ~self.over),
            self.leaves.eq(Mux(store.close, self.asked == 0, store.fetch & (self.rest == 0))),
        ]
        after = [Signal(store.readers, name=f"needs_{i}_after") for i in range(self.rows)]
        m.d.comb += [one.eq(Mux(store.close & (self.closed == i), self.asked,
                                Mux(store.fetch & (self.which == i), self.rest, was)))
                     for i, (one, was) in enumerate(zip(after, self.needs, strict=True))]
        m.d.sync += [
            self.begun.eq(Mux(self.accepted, ~self.last & ~self.over & ~store.cut, self.begun)),
            self.void.eq(Mux(self.accepted, (store.void | store.cut) & ~self.last, self.void)),
            self.over.eq(Mux(self.accepted, (self.over | store.cut) & ~self.last, self.over)),
            bank.eq(Mux(self.accepted, Mux(self.last, 0, bank + 1), bank)),
            self.kept.eq(self.kept + self.fills - self.leaves),
            self.closed.eq(self.closed + store.close - self.leaves),
            self.front.eq(on_ring(self.front + self.leaves, 2 * self.rows)),
            self.due.eq(self.due + self.leaves + self.skipped - self.freed),
            *(one.eq(Mux(self.leaves, behind, same))
              for one, behind, same in zip(self.needs, [*after[1:], Const(0)], after, strict=True)),
        ]

    @property
    def freed(self):
        """Return whether a free row is to be reported. One row is reported in each cycle."""
        return (self.due != 0) | self.leaves | self.skipped

    def invariants(self, m, harness):
        """Assert the invariants of the specification, and of the store's registers."""
        store, inside = self.store, self.inside
        harness.invariant(m, (self.front < 2 * self.rows) & (self.closed <= self.kept) & (self.bank < store.chunk))
        harness.invariant(m, self.used + self.due <= self.rows)
        harness.invariant(m, (self.begun | self.over) == (self.bank != 0))
        harness.invariant(m, ~(self.begun & self.over))
        harness.invariant(m, implies(self.over, self.void))
        harness.invariant(m, implies(self.void, self.begun | self.over))
        for i, needs in enumerate(self.needs):
            harness.invariant(m, (needs != 0) == (i < self.closed))
        harness.invariant(m, store.bank == self.bank)
        harness.invariant(m, inside["used"] == self.used)
        harness.invariant(m, inside["owed"] == self.due)
        harness.invariant(m, inside["over"] == self.over)
        harness.invariant(m, store.write_row == self.number(self.kept))
        harness.invariant(m, store.closed_row == self.number(self.closed))
        for i, needs in enumerate(self.needs):
            counters = Array(inside[f"row{k}_pending"] for k in range(self.rows))
            harness.invariant(m, implies(i < self.closed, counters[self.place(i)] == total(needs)))
