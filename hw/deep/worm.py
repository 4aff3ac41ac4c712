"""State machine of a deep input's worms: the worm in front requests its outputs, the others wait in a queue."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import enum, memory, wiring
from amaranth.lib.wiring import In, Out

from ..bundles import by_name, named
from ..logic import bits_for
from .chunk_buffer import row_bits

__all__ = ["DeepState", "DeepWorm"]


class DeepState(enum.Enum, shape=2):
    """State of the worm at the front of a deep input. Waveforms show it."""

    IDLE = 0  #: no worm
    BRANCHES = 1  #: a branch waits for its output
    MOVES = 2  #: no branch waits for its output, and at least one still reads


class DeepWorm(wiring.Component):
    """State of the worm that is served, and a queue of known worms behind it.

    ::

        known ─┬─ idle ───────────────────────────▶ wants ─ granted ─▶ readers ─ still_read = 0 ─▶ the next worm
               └─ busy: queue ─ the worm in front ends ─▲

    The next worm is served when all branches of the worm in front have read its last flit. A worm that is known while
    the input is idle requests its outputs in the next cycle.

    With `choices` the outputs to other switches may be alternatives. A worm with alternatives requests, in each cycle,
    the lowest of them that is free, until one is granted. The worm keeps the granted output, and drops its other
    alternatives.

    *Latency*: one cycle from ``known`` to ``wants_{output}`` or ``chosen``. *Reset*: idle.

    Parameters
    ----------
    outputs : int
        Outputs of the switch.
    leads : dict of str to int
        Outputs that worms of this input can use, by name.
    rows : int
        Rows of the input's buffer, which is also the maximum number of worms in it.
    choices : list of int
        Outputs that may be alternatives. Default: none.

    Members
    -------
    known : In(1)
        The branches of an arriving worm become known in this cycle.
    requested_outputs : In(outputs)
        With ``known``: outputs of the worm.
    start : In
        With ``known``: number of the worm's first row in the buffer.
    drops : In(1)
        With ``known``: the worm's copies to other switches lose header flits.
    alternatives : In(1)
        With ``known``: the outputs of ``requested_outputs`` that are in `choices` are alternatives. The worm takes one
        of its alternatives. With `choices` only.
    free : In(outputs)
        Outputs that can be granted in this cycle. With `choices` only.
    granted : In(outputs)
        Outputs that are granted to the worm in front in this cycle.
    still_read : In(1)
        From the readers: some reader still reads the worm in front after this cycle.
    wants_{output} : Out(1)
        The worm in front requests the output.
    chosen : Out(outputs)
        The alternative that the worm in front requests in this cycle, one-hot. With `choices` only.
    starts : Out(1)
        The branches of the worm in front became known in the cycle before. ``starts`` stays 0 for a worm that was
        queued.
    start_row, skips : Out
        For the worm in front: the values that the inputs ``start`` and ``drops`` had when the worm became known.
    turn : Out(1)
        A bit that changes with each worm that is served.
    state : Out(DeepState)
    """

    def __init__(self, *, outputs: int, leads: dict[str, int], rows: int, choices: Sequence[int] = ()):
        self.outputs = outputs
        self.leads = leads
        self.rows = rows
        self.choices = choices
        row = row_bits(rows)
        super().__init__({
            "known": In(1),
            "requested_outputs": In(outputs),
            "start": In(row),
            "drops": In(1),
            **({"alternatives": In(1), "free": In(outputs), "chosen": Out(outputs)} if choices else {}),
            "granted": In(outputs),
            "still_read": In(1),
            "wants": Out(named(dict.fromkeys(leads, 1))),
            "starts": Out(1),
            "start_row": Out(row),
            "skips": Out(1),
            "turn": Out(1),
            "state": Out(DeepState),
        })

    def elaborate(self, platform):
        m = Module()
        wants = {self.leads[name]: want for name, want in by_name(self.wants).items()}
        over = Signal()  # the worm in front does not need the input after this cycle
        waits = Signal()  # worms are queued
        at_once = Signal()
        waiting: Any = Cat(want & ~self.granted[o] for o, want in wants.items()).any()
        requests: Any = Cat(wants.values())
        if self.choices:
            options = Signal(len(self.choices))  # alternatives of the worm in front, in the order of `choices`
            found = Signal()  # the worm in front is granted one of its alternatives
            waiting |= options.any() & ~found
            requests = Cat(requests, options)
        m.d.comb += [
            over.eq(~waiting & ~self.still_read),
            at_once.eq(self.known & over & ~waits),
        ]
        bits = bits_for(self.rows)
        entry = Cat(self.requested_outputs, self.start, self.drops)
        if self.choices:
            entry = Cat(entry, self.alternatives)
        queue: memory.Memory = memory.Memory(shape=len(entry), depth=1 << bits, init=[],
                                             attrs={"ram_style": "distributed"})
        m.submodules.queue = queue
        write, read = queue.write_port(), queue.read_port(domain="comb")
        put, get = Signal(bits + 1, name="queue_put"), Signal(bits + 1, name="queue_get")
        following = Signal(len(entry))
        m.d.comb += [
            waits.eq(put != get),
            write.en.eq(self.known & ~at_once),
            write.addr.eq(put[:bits]),
            write.data.eq(entry),
            read.addr.eq(get[:bits]),
            following.eq(Mux(waits, read.data, entry)),
        ]
        begins = over & (waits | self.known)
        requested: Any = following
        if self.choices:
            requested = self._choose(m, options, found, over, begins, following)
        m.d.sync += [
            put.eq(Mux(write.en, put + 1, put)),
            get.eq(Mux(over & waits, get + 1, get)),
            self.starts.eq(at_once),
            self.turn.eq(self.turn ^ begins),
            *(want.eq(Mux(over, begins & requested[o], want & ~self.granted[o])) for o, want in wants.items()),
        ]
        with m.If(over):
            m.d.sync += Cat(self.start_row, self.skips).eq(following[self.outputs:])
        moves = Signal()  # a branch reads
        m.d.sync += moves.eq(self.still_read)
        with m.If(requests.any()):
            m.d.comb += self.state.eq(DeepState.BRANCHES)
        with m.Elif(moves):
            m.d.comb += self.state.eq(DeepState.MOVES)
        return m

    def _choose(self, m, options, found, over, begins, following):
        """Request the lowest free alternative of the worm in front. Return the outputs that the next worm requests, a
        branch for each."""
        may = options & Cat(self.free[o] for o in self.choices)
        choice = Signal(len(options))
        either = following[-1]
        m.d.comb += [
            choice.eq(may & -may),
            *(self.chosen[o].eq(choice[k]) for k, o in enumerate(self.choices)),
            found.eq(options.any() & Cat(self.granted[o] for o in self.choices).any()),
        ]
        m.d.sync += options.eq(Mux(over, Mux(begins & either, Cat(following[o] for o in self.choices), 0),
                                   Mux(found, 0, options)))
        return Cat(following[o] & ~either if o in self.choices else following[o] for o in range(self.outputs))
