# amaranth: UnusedElaboratable=no
"""The buffer of a deep input against a list of rows, each with the readers that have not fetched it."""

from amaranth.hdl import Array, Module, Mux, Signal

from wormcast.hw.deep.chunk_buffer import ChunkBuffer

from .harness import Harness, Inside, Property, entry, implies, total
from .mutants import Mutant
from .rows import Rows

__all__ = ["StoreHarness"]

WHERE = "deep.chunk_buffer.ChunkBuffer.elaborate"


class StoreHarness(Harness):
    """The buffer of a deep input, with any readers and any writer, even one that does not keep to its credits.

    A filled row is closed at any later time. Any of the readers may have to fetch a closed row. Each of these readers
    fetches the row once, at any time. Rows are freed in the order in which they were closed, as if each reader fetched
    rows in this order and continued to the end of a worm. In a row, all flits after a void flit, and after the flit
    that cuts the row, are void.
    """

    component = "ChunkBuffer"
    properties = (
        Property("order", "Each flit of a fetched row is the flit that was written there, for any reader and at any "
                          "time: no row is overwritten before it is free.",
                 Mutant(WHERE, "used.eq(used + begins - gained)", "used.eq(used - gained)")),
        Property("counted", "The counter of a closed row is the number of readers that have not fetched the row yet. "
                            "The counter is never below zero.",
                 Mutant(WHERE, "left.data - 1", "left.data - (left.data != 2)")),
        Property("freed", "The buffer returns exactly one credit for each row: when its last reader fetches it, when "
                          "it is closed if it has no readers, or when it has ended if it is void. At most one credit "
                          "is returned per cycle; further credits follow in the next cycles.",
                 Mutant(WHERE, "owed.eq(owed + gained - self.freed)", "owed.eq(0)")),
        Property("numbers", "The row to be closed next and the row that is being written have the same number if and "
                            "only if no filled row waits to be closed, even if all rows are filled.",
                 Mutant(WHERE, "row_after(self.closed_row, self.rows)", "row_after(self.closed_row, self.rows)[:-1]")),
        Property("overflow", "The buffer is full if and only if all its rows are filled and the sender has ended its "
                             "own last row. A write to a full buffer changes nothing.",
                 Mutant(WHERE, "(used == self.rows) & (self.bank == 0)", "used == self.rows")),
    )

    def __init__(self, *, rows, chunk, width, readers):
        super().__init__()
        self.store = ChunkBuffer(rows=rows, chunk=chunk, width=width, readers=readers)

    def elaborate(self, platform):
        m = Module()
        store = self.store
        self.leave_free(store.write, store.void, store.data, store.ends, store.cut, store.close, store.needed,
                        store.fetch, store.fetch_row)
        inside = Inside(store)
        m.submodules.store = inside.fragment
        rows = Rows(m, self, inside)
        for rule in (*rows.writes(), *rows.fetches()):
            self.assume(m, rule)
        counters = Array(inside[f"row{k}_pending"] for k in range(store.rows))
        for i, needs in enumerate(rows.needs):
            self.claim(m, "counted", implies(i < rows.closed, counters[rows.place(i)] == total(needs)))
        self.claim(m, "freed", store.freed == rows.freed)
        self.claim(m, "numbers", (store.closed_row == store.write_row) == (rows.closed == rows.kept))
        self.claim(m, "numbers", store.closed_row == rows.number(rows.closed))
        self.claim(m, "overflow", store.full == ((rows.kept == store.rows) & ~rows.over))
        self.claim(m, "overflow", store.closes == rows.fills)
        self._flit(m, rows, inside)
        rows.invariants(m, self)
        return m

    def _flit(self, m, rows, inside):
        """Follow any one flit from its write until its row is freed."""
        store = self.store
        watch = self.free(name="watch")
        known, data = Signal(name="flit_known"), Signal(store.width, name="flit_data")
        row, bank = Signal(range(store.rows + 1), name="flit_row"), Signal(range(store.chunk), name="flit_bank")
        shown = Signal(name="flit_shown")  # its row was fetched in the cycle before
        begins = watch & rows.accepted & ~store.void & ~known
        gone = Mux(row == rows.kept, rows.skipped, rows.leaves & (row == 0))
        m.d.sync += [
            known.eq(begins | (known & ~gone)),
            row.eq(Mux(known, row, rows.kept) - rows.leaves),
            shown.eq(known & store.fetch & (rows.which == row)),
        ]
        with m.If(begins):
            m.d.sync += [bank.eq(rows.bank), data.eq(store.data)]
        seen = entry([store.row[k * store.width:(k + 1) * store.width] for k in range(store.chunk)], bank)
        self.claim(m, "order", implies(shown, seen == data))
        kept = entry([entry([inside[f"row{k}_bank{place}"] for place in range(store.chunk)], bank)
                      for k in range(store.rows)], rows.place(row))
        self.invariant(m, implies(known, (kept == data) & (bank < store.chunk)))
        self.invariant(m, implies(known, (row < rows.kept) | ((row == rows.kept) & rows.begun
                                                              & (rows.void | (bank < rows.bank)))))
