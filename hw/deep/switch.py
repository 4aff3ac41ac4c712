"""Switch with deep input buffers, whose outputs read a worm independently."""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal

from ..allocator import Allocator
from ..link import flit_layout
from ..logic import any_of
from ..switch import Switch
from .input_unit import DeepInput
from .reader import RowReader
from .row_scheduler import RowScheduler
from .switch_spec import DeepSwitchSpec

__all__ = ["DeepSwitch"]


class DeepSwitch(DeepSwitchSpec, Switch):
    """Switch with room for whole packets at its inputs, which replicates them to any outputs ([Sivaram98], 5.1.2).

    ::

        {port}_in ─▶ DeepInput ─┬─ the flit that passes ─▶ crossbar ──────────┐
                       │  ▲     └─ fetched row ─▶ bus ─▶ RowReader of output ─┴▶ OutputUnit ─▶ {port}_out
                  wants│  │granted                 ▲                                │ free, ready
                       └──┴──── Allocator ─────────┴─ RowScheduler ◀─ fetch_request │
                                    ▲───────────────────────────────────────────────┘

    Each output reads the worm independently: a blocked branch does not block the others. Unicasts and worms with many
    branches share the buffers. In each cycle at most one row of all input buffers is fetched, by the output with the
    turn.

    Each link has one virtual channel. The credit of a link to a deep switch is a chunk, and is used by the first flit
    of a row. The credit of a consumption link is a flit.

    *Latency*, with free resources, from link to link: 3 cycles for each flit, plus the number of header flits that
    determine the worm's branches, minus one. The first flit of a worm that has waited is on the link 4 cycles after the
    worm's first row is fetched. *Throughput*: in cut-through a flit per output and cycle; with fetched rows too, unless
    rows are closed at the same time. *Deadlock*: none with up*/down* routes, if a whole worm fits into the buffer of
    each input. *Errors on the wire*: as in `Switch`; two exceptions: a worm that begins before the worm in front has
    ended is lost, and an error of a flit is in ``fault`` three cycles after the flit was on the link. *Reset*: all
    buffers are empty, and the outputs have all their credits.

    Parameters
    ----------
    inputs, outputs : list of PortSpec
        Inputs, and outputs to other switches, have one chunk size and one buffer depth. A chunk has at least as many
        flits as the switch has outputs, and as header flits are needed to decode a worm's branches.
    decoder : Decoder
        A `BranchingDecoder`.
    width, ejected_header, tables
        As in `Switch`.
    """

    def elaborate(self, platform):
        m = Module()
        inputs = [self._input(m, i) for i in range(len(self.inputs))]
        outputs = [self._output(m, o) for o in range(len(self.outputs))]
        readers = [RowReader(inputs=len(inputs), rows=self.rows, chunk=self.chunk, width=self.width,
                             strips=self.branching.strips if o < self.ejection else 0) for o in range(len(outputs))]
        for port, reader in zip(self.outputs, readers, strict=True):
            m.submodules[f"{port.name}_reader"] = reader
        self._allocate(m, inputs, outputs, readers)
        self._fetch(m, inputs, readers)
        tables = [Signal(self.branching.table_layout, name=f"{port.name}_table") for port in self.outputs] if (
            self.branching.table_count > len(inputs)) else []
        for o, (output, reader) in enumerate(zip(outputs, readers, strict=True)):
            self._read(m, o, output, reader, inputs)
            passed = self.branching.branch_flit(m, o, self.straps, tables[o] if tables else None, reader.flit.data,
                                           reader.place, sent=reader.send, ends=reader.flit.tail)
            if passed is not None:
                with m.If(reader.first & reader.flit.head & ~reader.flit.tail):
                    m.d.comb += output.sends[0].flit.data.eq(passed)
        for i, unit in enumerate(inputs):
            m.d.comb += [
                unit.still_read.eq(any_of([reader.holds[i] for reader in readers])),
                unit.follows.eq(sum((reader.follows[i] for reader in readers[1:]), start=readers[0].follows[i])),
            ]
        self._finish(m, inputs, outputs, tables)
        return m

    def _input_unit(self, i: int) -> DeepInput:
        return DeepInput(i, self.inputs[i], outputs=len(self.outputs), decoder=self.branching)

    def _allocate(self, m, inputs, outputs, readers):
        """Grant each output to the least recently granted of the inputs that request it."""
        for unit in inputs:
            if self.branching.adaptive:
                m.d.comb += unit.free.eq(Cat(output.offer.free for output in outputs))
        requesters = [(i, o) for i, unit in enumerate(inputs) for o in unit.leads]
        m.submodules.allocator = allocator = Allocator(
            reach={f"{self.inputs[i].name}_{self.outputs[o].name}": {o} for i, o in requesters},
            turns=[1] * len(requesters), outputs=len(outputs),
        )
        for (i, o), request in zip(requesters, allocator.request, strict=True):
            requested = Signal(name=f"requested_{i}_{o}")
            wants = inputs[i].wants_of[o] & outputs[o].offer.free
            m.d.comb += [
                requested.eq(wants | inputs[i].chosen[o] if o in inputs[i].choices else wants),
                request.outputs[o].eq(requested),
                request.complete.eq(requested),
                inputs[i].granted[o].eq(request.granted),
                readers[o].granted[i].eq(request.granted),
            ]

    def _fetch(self, m, inputs, readers):
        """Connect the row bus: one row per cycle goes from its input to the reader that requested it."""
        m.submodules.order = order = RowScheduler(readers=len(readers), inputs=len(inputs), rows=self.rows)
        row, ends = Signal(self.chunk * flit_layout(self.width).size, name="bus"), Signal(name="bus_ends")
        source, target = Signal(len(inputs), name="bus_source"), Signal(len(readers), name="bus_target")
        m.d.sync += [source.eq(order.fetch), target.eq(order.fetch_grant)]
        m.d.comb += [
            row.eq(any_of([Mux(source[i], unit.row, 0) for i, unit in enumerate(inputs)])),
            ends.eq(any_of([source[i] & unit.row_ends for i, unit in enumerate(inputs)])),
            order.fetch_request.eq(Cat(reader.fetch_request for reader in readers)),
            order.busy.eq(Cat(unit.busy for unit in inputs)),
        ]
        for i, unit in enumerate(inputs):
            m.d.comb += [
                order.closed_row[i].eq(unit.closed_row),
                unit.fetch.eq(order.fetch[i]),
                unit.fetch_row.eq(order.fetch_row),
            ]
        for o, reader in enumerate(readers):
            m.d.comb += [
                order.owner[o].eq(reader.owner),
                order.row[o].eq(reader.row),
                reader.fetch_grant.eq(order.fetch_grant[o]),
                reader.loads.eq(target[o]),
                reader.fetched.eq(row),
                reader.fetched_ends.eq(ends),
            ]

    def _read(self, m, o, output, reader, inputs):
        """Connect the inputs' passing flits to an output's reader, and the reader to the output unit."""
        port, send = self.outputs[o].name, output.sends[0]
        sources = [(i, unit) for i, unit in enumerate(inputs) if o in unit.leads]
        granted, may = Signal(name=f"{port}_granted"), Signal(name=f"{port}_may_send")
        chosen = Signal(len(inputs), name=f"{port}_source")
        m.d.comb += [granted.eq(reader.granted.any()), chosen.eq(Mux(granted, reader.granted, reader.owner))]

        def of_source(of: Callable[[DeepInput], Any]) -> Any:
            """Apply ``of`` to the input unit whose worm this output sends, and return the result."""
            return any_of([Mux(chosen[i], of(unit), 0) for i, unit in sources])

        m.d.sync += may.eq(Mux(reader.send, output.offer.ready_after, output.offer.ready))
        m.d.comb += [
            reader.starts.eq(of_source(lambda unit: unit.starts)),
            reader.start_row.eq(of_source(lambda unit: unit.start_row)),
            reader.skips.eq(of_source(lambda unit: unit.skips)),
            reader.passes.eq(of_source(lambda unit: unit.passes)),
            reader.closes.eq(of_source(lambda unit: unit.closes)),
            reader.passing.eq(of_source(lambda unit: unit.passing.as_value())),
            # an output that is granted is free, and a free output has a credit
            reader.credit.eq(granted | may),
            output.vc_allocate.eq(granted),
            send.vc_active.eq(granted | reader.send),
            send.send.eq(self._without_header(o, reader.send, reader.flit)),
            send.tail.eq(reader.send & reader.flit.tail),
            send.flit.eq(reader.flit),
            # a reservation of the output without a flit sent does not end a worm
            send.flit.tail.eq(send.tail),
        ]
