"""The output's side of a deep switch: who has an output, and where in its worm it is."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..link import flit_layout
from .chunk_buffer import row_after, row_bits

__all__ = ["RowReader"]


class RowReader(wiring.Component):
    """Sends one copy of a worm by one output, at its own pace.

    ::

        window of the input ──▶ flit in passing ───────┬─▶ flit
        fetched row ─▶ next ─▶ current row, position ──┘

    A reader that has its output in time *follows*: it takes each flit as it passes the input's window. The first flit
    that it cannot take, for want of a credit, ends that: from there on it fetches rows, as does a reader that comes
    later. It has two: one that is sent, and one that is fetched meanwhile. A row is fetched once, whole and closed.

    The worm's input is the reader's while it ``holds`` it: until its tail is taken from the window, or its last row is
    fetched.

    *Latency*: a flit that passes is sent in that cycle. A row that is asked for in cycle t, and fetched in t, is sent
    from t + 3 on. *Throughput*: a flit a cycle, if ``chunk`` is at least 3 and a row that is asked for is fetched
    within ``chunk`` - 1 cycles; with rows of 2 flits, which are asked for every third cycle, 2 in 3 cycles.
    *Reset*: idle.

    Parameters
    ----------
    inputs : int
        Inputs whose worms may come here.
    rows, chunk, width : int
        Rows of an input's buffer, flits of a row, data bits of a flit.
    strips : int
        Flits that copies lose where ``skips`` says so: fewer than a row has.

    Members
    -------
    won : In(inputs)
        An input's worm gets this output with this cycle.
    starts : In(1)
        With ``won``: its first flit passes in this cycle.
    start_row, skips : In(row_bits(rows)), In(1)
        With ``won``: the row in which it begins; its first ``strips`` flits are not sent.
    passes, closes, passing : In
        In the window of the winner, or of ``owner``: a flit passes; it is the last of its row; the flit.
    credit : In(1)
        The output may send in this cycle.
    asks : Out(1)
        A row is wanted: ``row`` of ``owner``.
    taken : In(1)
        It is fetched in this cycle.
    loads, fetched, fetched_ends : In
        What was fetched in the cycle before is for this reader; it has its worm's last flit.
    owner : Out(inputs)
        Whose worm it sends, one-hot; of one that does not ``hold`` it means nothing.
    row : Out(row_bits(rows))
        The row that it takes flits from next.
    holds : Out(inputs)
        Whose buffer it still reads after this cycle.
    follows : Out(inputs)
        Whose flit that passes in this cycle it takes, or has no need to fetch.
    send, flit : Out
        A flit is sent.
    place : Out(range(chunk))
        Its place in its row.
    first : Out(1)
        It is in the worm's first row.
    """

    def __init__(self, *, inputs: int, rows: int, chunk: int, width: int, strips: int = 0):
        self.inputs = inputs
        self.rows = rows
        self.chunk = chunk
        self.width = width
        self.strips = strips
        flit = flit_layout(width)
        super().__init__({
            "won": In(inputs),
            "starts": In(1),
            "start_row": In(row_bits(rows)),
            "skips": In(1),
            "passes": In(1),
            "closes": In(1),
            "passing": In(flit),
            "credit": In(1),
            "asks": Out(1),
            "taken": In(1),
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
        won = Signal()
        holding = Signal()  # the worm has flits in the input that this reader has not had
        following = Signal()
        comes = Signal()  # a flit passes that a follower needs
        left_out = Signal()  # it is one of those that are not sent
        takes = Signal()
        falls = Signal()
        moves = Signal()  # the row behind becomes the current one
        done = Signal()  # the current row has been sent
        asked = Signal()  # a row is on its way
        later = Signal()  # the worm's first row has been sent
        current, behind = ([Signal(layout, name=f"{name}_{k}") for k in range(self.chunk)]
                           for name in ("current", "behind"))
        has_current = Signal()
        has_behind = Signal()
        from_row = Signal(layout)
        lanes = [layout(self.fetched[k * size:(k + 1) * size]) for k in range(self.chunk)]
        m.d.comb += [
            won.eq(self.won.any()),
            comes.eq(self.passes & Mux(won, self.starts, following)),
            takes.eq(comes & self.credit & ~left_out),
            falls.eq(comes & ~self.credit & ~left_out),
            self.first.eq(~later),
            from_row.eq(Array(current)[self.place]),
            self.send.eq(takes | (has_current & self.credit)),
            self.flit.eq(Mux(has_current, from_row, self.passing)),
            done.eq(has_current & self.credit & (from_row.tail | (self.place == self.chunk - 1))),
            moves.eq(has_behind & (~has_current | done)),
            # one is asked for when there is room for it: that of the row behind, empty or emptied
            self.asks.eq(holding & ~following & ~asked & ~has_behind),
        ]
        ended = Signal()
        m.d.comb += [
            ended.eq((takes & self.passing.tail) | (self.loads & self.fetched_ends)),
            self.holds.eq(Mux(won, self.won, Mux(holding & ~ended, self.owner, 0))),
            self.follows.eq(Mux(takes | (comes & left_out), Mux(won, self.won, self.owner), 0)),
        ]
        with m.If(won):
            m.d.sync += [self.owner.eq(self.won), self.row.eq(self.start_row)]
        with m.Elif((comes & ~falls & self.closes) | self.taken):
            m.d.sync += self.row.eq(row_after(self.row, self.rows))
        if self.strips:
            left = Signal(range(self.strips + 1))  # flits that are to pass and are not sent
            m.d.comb += left_out.eq(Mux(won, self.skips, left != 0))
            with m.If(won):
                m.d.sync += left.eq(Mux(self.skips, self.strips - comes, 0))
                with m.If(self.skips):
                    m.d.sync += self.place.eq(self.strips)
            with m.Elif(comes & left_out):
                m.d.sync += left.eq(left - 1)
        with m.If(self.send):
            ends = self.flit.tail
            m.d.sync += [
                self.place.eq(Mux(ends | (self.place == self.chunk - 1), 0, self.place + 1)),
                later.eq(~ends & (later | (self.place == self.chunk - 1))),
            ]
        with m.If(self.loads):
            m.d.sync += [one.eq(lane) for one, lane in zip(behind, lanes, strict=True)]
        with m.If(moves):
            m.d.sync += [one.eq(lane) for one, lane in zip(current, behind, strict=True)]
        m.d.sync += [
            holding.eq((won | holding) & ~ended),
            following.eq(Mux(won, self.starts, following) & ~falls & ~(takes & self.passing.tail)),
            asked.eq(self.taken),
            has_behind.eq(self.loads | (has_behind & ~moves)),
            has_current.eq(moves | (has_current & ~done)),
        ]
        return m
