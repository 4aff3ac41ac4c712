"""Reader of one output of a deep switch: the input that it reads, and its position in that input's worm."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..link import flit_layout
from .chunk_buffer import row_after, row_bits

__all__ = ["RowReader"]


class RowReader(wiring.Component):
    """Reader of a deep input for one output: sends one copy of a worm, at its own pace.

    ::

        window of the input ──▶ flit in passing ───────┬─▶ flit
        fetched row ─▶ next ─▶ current row, position ──┘

    A reader that is granted its output while the worm's first flit passes the input's window *follows* in cut-through:
    it takes each flit as it passes the window. A following reader that cannot take a flit for lack of a credit stops
    following, and fetches rows from this flit's row on. A reader that is granted its output after the worm's first flit
    has passed the window fetches the worm's rows, from the first row on. A reader has room for two rows: one is sent
    while the next one is fetched. A reader fetches a row at most once, as a whole, after the row is closed (see
    `ChunkBuffer`).

    The reader ``holds`` its input until the worm's tail is taken from the input's window, or the worm's last row is
    fetched.

    *Latency*: a flit that passes the input's window is sent in the same cycle. A row that is requested and fetched in
    cycle t is sent from t + 3 on. *Throughput*: a flit per cycle, if each row is fetched at most ``chunk`` - 3 cycles
    after its request. If rows are fetched d > ``chunk`` - 3 cycles after their requests, the throughput is a row in d +
    3 cycles. So rows of 2 flits that are fetched at once (d = 0) give 2 flits in 3 cycles. *Reset*: idle.

    Parameters
    ----------
    inputs : int
        Inputs of the switch.
    rows, chunk, width : int
        Rows of an input's buffer, flits of a row, data bits of a flit.
    strips : int
        Number of flits that a worm's copies lose with ``skips``; less than ``chunk``.

    Members
    -------
    granted : In(inputs)
        The input whose worm is granted this output in this cycle, one-hot.
    starts : In(1)
        With ``granted``: the worm's first flit passes in this cycle.
    start_row : In(row_bits(rows))
        With ``granted``: the worm's first row.
    skips : In(1)
        With ``granted``: the first ``strips`` flits of the worm are not sent.
    passes : In(1)
        A flit passes the window of the granted input, or without a grant the window of ``owner``.
    closes : In(1)
        The passing flit is the last one of its row.
    passing : In
        The passing flit.
    credit : In(1)
        The output can send a flit in this cycle.
    fetch_request : Out(1)
        Request to fetch ``row`` of ``owner``.
    fetch_grant : In(1)
        The requested row is fetched in this cycle.
    loads : In(1)
        The row that was fetched in the cycle before is for this reader.
    fetched : In
        The row that was fetched in the cycle before.
    fetched_ends : In(1)
        With ``loads``: the row has its worm's last flit.
    owner : Out(inputs)
        Input whose worm is sent, one-hot. Undefined without a worm.
    row : Out(row_bits(rows))
        The row from which the next flits are taken.
    holds : Out(inputs)
        Input whose buffer is still read after this cycle, one-hot.
    follows : Out(inputs)
        Input whose passing flit is taken, or need not be fetched, in this cycle, one-hot.
    send : Out(1)
        A flit is sent.
    flit : Out
        The flit that is sent.
    place : Out(range(chunk))
        Position of ``flit`` in its row.
    first : Out(1)
        ``flit`` is in the worm's first row.
    """

    def __init__(self, *, inputs: int, rows: int, chunk: int, width: int, strips: int = 0):
        self.inputs = inputs
        self.rows = rows
        self.chunk = chunk
        self.width = width
        self.strips = strips
        flit = flit_layout(width)
        super().__init__({
            "granted": In(inputs),
            "starts": In(1),
            "start_row": In(row_bits(rows)),
            "skips": In(1),
            "passes": In(1),
            "closes": In(1),
            "passing": In(flit),
            "credit": In(1),
            "fetch_request": Out(1),
            "fetch_grant": In(1),
            "loads": In(1),
            "fetched": In(chunk * flit.size),
            "fetched_ends": In(1),
            "owner": Out(inputs),
            "row": Out(row_bits(rows)),
            "holds": Out(inputs),
            "follows": Out(inputs),
            "send": Out(1),
            "flit": Out(flit),
            "place": Out(range(chunk)),
            "first": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        layout, size = flit_layout(self.width), flit_layout(self.width).size
        granted = Signal()
        holding = Signal()  # the worm has flits in the input that this reader has not taken
        following = Signal()
        flit_passes = Signal()  # a flit passes, and this reader follows in cut-through
        left_out = Signal()  # the passing flit is stripped, and not sent
        sends_passing = Signal()
        falls_behind = Signal()
        moves = Signal()  # the row in `behind` becomes the current row
        done = Signal()  # the current row has been sent
        was_fetched = Signal()  # a row was fetched in the cycle before
        later = Signal()  # the worm's first row has been sent
        current, behind = ([Signal(layout, name=f"{name}_{k}") for k in range(self.chunk)]
                           for name in ("current", "behind"))
        has_current = Signal()
        has_behind = Signal()
        from_row = Signal(layout)
        row_flits = [layout(self.fetched[k * size:(k + 1) * size]) for k in range(self.chunk)]
        m.d.comb += [
            granted.eq(self.granted.any()),
            flit_passes.eq(self.passes & Mux(granted, self.starts, following)),
            sends_passing.eq(flit_passes & self.credit & ~left_out),
            falls_behind.eq(flit_passes & ~self.credit & ~left_out),
            self.first.eq(~later),
            from_row.eq(Array(current)[self.place]),
            self.send.eq(sends_passing | (has_current & self.credit)),
            self.flit.eq(Mux(has_current, from_row, self.passing)),
            done.eq(has_current & self.credit & (from_row.tail | (self.place == self.chunk - 1))),
            moves.eq(has_behind & (~has_current | done)),
            # a row is requested only when `behind` has room for it
            self.fetch_request.eq(holding & ~following & ~was_fetched & ~has_behind),
        ]
        ended = Signal()
        m.d.comb += [
            ended.eq((sends_passing & self.passing.tail) | (self.loads & self.fetched_ends)),
            self.holds.eq(Mux(granted, self.granted, Mux(holding & ~ended, self.owner, 0))),
            self.follows.eq(Mux(sends_passing | (flit_passes & left_out), Mux(granted, self.granted, self.owner), 0)),
        ]
        with m.If(granted):
            m.d.sync += [self.owner.eq(self.granted), self.row.eq(self.start_row)]
        with m.Elif((flit_passes & ~falls_behind & self.closes) | self.fetch_grant):
            m.d.sync += self.row.eq(row_after(self.row, self.rows))
        if self.strips:
            left = Signal(range(self.strips + 1))  # number of passing flits that are still to be stripped
            m.d.comb += left_out.eq(Mux(granted, self.skips, left != 0))
            with m.If(granted):
                m.d.sync += left.eq(Mux(self.skips, self.strips - flit_passes, 0))
                with m.If(self.skips):
                    m.d.sync += self.place.eq(self.strips)
            with m.Elif(flit_passes & left_out):
                m.d.sync += left.eq(left - 1)
        with m.If(self.send):
            ends = self.flit.tail
            m.d.sync += [
                self.place.eq(Mux(ends | (self.place == self.chunk - 1), 0, self.place + 1)),
                later.eq(~ends & (later | (self.place == self.chunk - 1))),
            ]
        with m.If(self.loads):
            m.d.sync += [one.eq(flit) for one, flit in zip(behind, row_flits, strict=True)]
        with m.If(moves):
            m.d.sync += [one.eq(flit) for one, flit in zip(current, behind, strict=True)]
        m.d.sync += [
            holding.eq((granted | holding) & ~ended),
            following.eq(Mux(granted, self.starts, following) & ~falls_behind & ~(sends_passing & self.passing.tail)),
            was_fetched.eq(self.fetch_grant),
            has_behind.eq(self.loads | (has_behind & ~moves)),
            has_current.eq(moves | (has_current & ~done)),
        ]
        return m
