"""Which of the readers of a switch fetches a row: one in a cycle, in turns."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..logic import any_of
from .chunk_buffer import row_bits

__all__ = ["FetchOrder"]


class FetchOrder(wiring.Component):
    """Takes turns among the readers that want a row; whose turn it is gets it, if that row is closed.

    All inputs together deliver one row a cycle: where a row has as many flits as there are outputs, all of them are
    kept busy. So one bus of a row's width is enough for all inputs and outputs.

    A turn is lost where the row is not closed yet, or where its input closes another one in that cycle. So outputs
    that read rows of inputs at which flits arrive all the time send less than a flit a cycle, if a row has no more
    flits than there are readers: one more, at least three, is enough for all but a few cycles.

    *Latency*: combinational. *Throughput*: a row a cycle; a reader that asks has its turn within ``readers`` cycles.
    *Reset*: reader 0 is the first.

    Parameters
    ----------
    readers, inputs, rows : int

    Members
    -------
    asks : In(readers)
        Who wants a row.
    owner_{o}, row_{o} : In
        The input and the row that reader o wants.
    closed_row_{i}, busy : In, In(inputs)
        As of `ChunkStore`: the next row of input i that will be closed; it can deliver none now.
    taken : Out(readers)
        Whose row is fetched.
    fetch, fetch_row : Out(inputs), Out
        The input and the row.
    """

    def __init__(self, *, readers: int, inputs: int, rows: int):
        self.readers = readers
        self.inputs = inputs
        super().__init__({
            "asks": In(readers),
            **{f"owner_{o}": In(inputs) for o in range(readers)},
            **{f"row_{o}": In(row_bits(rows)) for o in range(readers)},
            **{f"closed_row_{i}": In(row_bits(rows)) for i in range(inputs)},
            "busy": In(inputs),
            "taken": Out(readers),
            "fetch": Out(inputs),
            "fetch_row": Out(row_bits(rows)),
        })

    def elaborate(self, platform):
        m = Module()
        # who had its turn, and all before it, come behind those that ask after it
        behind = Signal(self.readers)
        turn = Signal(self.readers)
        later = Signal(self.readers)
        first = Signal(self.readers)
        owner = Signal(self.inputs)
        closed = Signal(self.fetch_row.shape())
        goes = Signal()
        m.d.comb += [
            later.eq(self.asks & ~behind),
            first.eq(Mux(later.any(), later, self.asks)),
            turn.eq(first & ~(first - 1)[:self.readers]),
            owner.eq(any_of([Mux(turn[o], getattr(self, f"owner_{o}"), 0) for o in range(self.readers)])),
            self.fetch_row.eq(any_of([Mux(turn[o], getattr(self, f"row_{o}"), 0) for o in range(self.readers)])),
            closed.eq(any_of([Mux(owner[i], getattr(self, f"closed_row_{i}"), 0) for i in range(self.inputs)])),
            goes.eq((closed != self.fetch_row) & ~(owner & self.busy).any()),
            self.taken.eq(Mux(goes, turn, 0)),
            self.fetch.eq(Mux(goes & turn.any(), owner, 0)),
        ]
        with m.If(turn.any()):
            m.d.sync += behind.eq(Cat(turn[o:].any() for o in range(self.readers)))
        return m
