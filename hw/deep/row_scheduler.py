"""Round-robin scheduler of the readers of a deep switch, which fetch one row per cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..logic import any_of
from .chunk_buffer import row_bits

__all__ = ["RowScheduler"]


class RowScheduler(wiring.Component):
    """Scheduler of the row bus: grants the bus to the readers in turn.

    The reader with the turn fetches the row that it requests, if that row is closed and the row's input closes no other
    row in this cycle. All inputs together deliver at most one row per cycle. If a row has as many flits as there are
    outputs, one row per cycle has a flit for each output: one bus of a row's width suffices for the switch.

    A reader loses its turn if the row that it requests is not closed yet, or if the row's input closes another row in
    the same cycle. If rows have no more flits than there are readers, these lost turns cost throughput: outputs send
    less than a flit per cycle while all inputs receive a flit in each cycle. Rows with at least three flits, and at
    least one flit more than there are readers, keep the outputs busy in all but a few cycles.

    *Latency*: combinational. *Throughput*: a row per cycle; each requesting reader has a turn within ``readers``
    cycles. *Reset*: reader 0 has the first turn.

    Parameters
    ----------
    readers, inputs, rows : int

    Members
    -------
    fetch_request : In(readers)
        Readers that request a row.
    owner_{o}, row_{o} : In
        The input and the row that reader o requests.
    closed_row_{i} : In
        The row of input i that is closed next, as in `ChunkBuffer`.
    busy : In(inputs)
        Inputs that cannot deliver a row in this cycle.
    fetch_grant : Out(readers)
        Reader whose row is fetched, one-hot.
    fetch : Out(inputs)
        Input that delivers the fetched row, one-hot.
    fetch_row : Out
        The fetched row.
    """

    def __init__(self, *, readers: int, inputs: int, rows: int):
        self.readers = readers
        self.inputs = inputs
        super().__init__({
            "fetch_request": In(readers),
            "owner": In(inputs).array(readers),
            "row": In(row_bits(rows)).array(readers),
            "closed_row": In(row_bits(rows)).array(inputs),
            "busy": In(inputs),
            "fetch_grant": Out(readers),
            "fetch": Out(inputs),
            "fetch_row": Out(row_bits(rows)),
        })

    def elaborate(self, platform):
        m = Module()
        # readers up to the one with the last turn: their next turns come after those of the later readers
        behind = Signal(self.readers)
        turn = Signal(self.readers)
        later = Signal(self.readers)
        first = Signal(self.readers)
        source = Signal(self.inputs)
        closed = Signal(self.fetch_row.shape())
        goes = Signal()
        m.d.comb += [
            later.eq(self.fetch_request & ~behind),
            first.eq(Mux(later.any(), later, self.fetch_request)),
            turn.eq(first & ~(first - 1)[:self.readers]),
            source.eq(any_of([Mux(turn[o], self.owner[o], 0) for o in range(self.readers)])),
            self.fetch_row.eq(any_of([Mux(turn[o], self.row[o], 0) for o in range(self.readers)])),
            closed.eq(any_of([Mux(source[i], self.closed_row[i], 0) for i in range(self.inputs)])),
            goes.eq((closed != self.fetch_row) & ~(source & self.busy).any()),
            self.fetch_grant.eq(Mux(goes, turn, 0)),
            self.fetch.eq(Mux(goes & turn.any(), source, 0)),
        ]
        with m.If(turn.any()):
            m.d.sync += behind.eq(Cat(turn[o:].any() for o in range(self.readers)))
        return m
