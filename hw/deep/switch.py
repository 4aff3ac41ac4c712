"""Switch with deep input buffers, whose outputs read a worm independently."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring

from ..allocator import Allocator
from ..link import flit_layout
from ..logic import any_of
from ..output_unit import OutputUnit
from ..switch import Switch
from .input_unit import DeepInput
from .reader import RowReader
from .row_scheduler import FetchOrder
from .switch_spec import DeepSwitchSpec

__all__ = ["DeepSwitch"]


class DeepSwitch(DeepSwitchSpec, Switch):
    """Switch with room for whole packets at its inputs, which replicates them to any outputs ([Sivaram98], 5.1.2).

    ::

        {port}_in ─▶ DeepInput ─┬─ the flit that passes ─▶ crossbar ──────────┐
                       │  ▲     └─ fetched row ─▶ bus ─▶ RowReader of output ─┴▶ OutputUnit ─▶ {port}_out
                  wants│  │won                     ▲                                │ free, ready
                       └──┴──── Allocator ─────────┴─ FetchOrder ◀─ asks            │
                                    ▲───────────────────────────────────────────────┘

    Each output reads the worm independently: a blocked branch does not block the others. Unicasts and worms with many
    branches share the buffers. In each cycle at most one row of all input buffers is fetched, by the output with the
    turn.

    Each link has one virtual channel. The credit of a link to a deep switch is a chunk, and is used by the first flit
    of a row. The credit of a consumption link is a flit.

    *Latency*, with free resources, from link to link: 3 cycles for each flit, plus the number of header flits with
    which the worm is known, minus one. Latency of a worm that has waited: 3 cycles from the cycle in which its row is
    fetched. *Throughput*: in cut-through a flit per output and cycle; with fetched rows too, unless rows are closed at
    the same time (see `FetchOrder`). *Deadlock*: none with up*/down* routes, if a whole worm fits the buffer. *Errors
    on the wire*: as in `Switch`; in addition, a worm that begins before the worm in front has ended is lost. *Reset*:
    empty, all credits held.

    Parameters
    ----------
    inputs, outputs : list of PortSpec
        Inputs, and outputs to other switches, have one chunk size and one buffer depth. A chunk has at least as many
        flits as the switch has outputs, and as header flits are needed to decode a worm's branches.
    decoder : Decoder
        A `BranchingDecoder`.
    width, tables
        As in `Switch`.
    """

    def elaborate(self, platform):
        m = Module()
        straps = {name: getattr(self, f"strap_{name}") for name in self.decoder.straps}
        inputs: list[Any] = []
        for i, port in enumerate(self.inputs):
            unit = DeepInput(i, port, outputs=len(self.outputs), decoder=self.branching)
            m.submodules[f"{port.name}_input"] = unit
            inputs.append(unit)
            wiring.connect(m, unit.link, wiring.flipped(getattr(self, f"{port.name}_in")))
            m.d.comb += [getattr(unit, f"strap_{name}").eq(strap) for name, strap in straps.items()]
        outputs = []
        for port in self.outputs:
            output = OutputUnit(port, width=self.width, classes=[1])
            m.submodules[f"{port.name}_output"] = output
            outputs.append(output)
            wiring.connect(m, output.link, wiring.flipped(getattr(self, f"{port.name}_out")))
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
            passed = self.branching.passed(m, o, straps, tables[o] if tables else None, reader.flit.data,
                                             reader.place)
            if passed is not None:
                with m.If(reader.first & reader.flit.head & ~reader.flit.tail):
                    m.d.comb += output.flit.data.eq(passed)
        for i, unit in enumerate(inputs):
            m.d.comb += [
                unit.held.eq(any_of([reader.holds[i] for reader in readers])),
                unit.follows.eq(sum((reader.follows[i] for reader in readers[1:]), start=readers[0].follows[i])),
            ]
        self._finish(m, inputs, outputs, tables)
        return m

    def _allocate(self, m, inputs, outputs, readers):
        """Grant each output to the least recently granted of the inputs that request it."""
        requesters = [(i, o) for i, unit in enumerate(inputs) for o in unit.leads]
        m.submodules.allocator = allocator = Allocator(reach=[{o} for _, o in requesters], vcs=[1] * len(requesters),
                                                       outputs=len(outputs))
        for k, (i, o) in enumerate(requesters):
            asks = Signal(name=f"asks_{i}_{o}")
            m.d.comb += [
                asks.eq(getattr(inputs[i], f"wants_{o}") & outputs[o].free),
                getattr(allocator, f"request_{k}").eq(asks << o),
                getattr(allocator, f"complete_{k}").eq(asks),
                inputs[i].won[o].eq(getattr(allocator, f"won_{k}")),
                readers[o].won[i].eq(getattr(allocator, f"won_{k}")),
            ]

    def _fetch(self, m, inputs, readers):
        """Connect the row bus: one row per cycle goes from its input to the reader that requested it."""
        m.submodules.order = order = FetchOrder(readers=len(readers), inputs=len(inputs), rows=self.rows)
        row, ends = Signal(self.chunk * flit_layout(self.width).size, name="bus"), Signal(name="bus_ends")
        source, target = Signal(len(inputs), name="bus_source"), Signal(len(readers), name="bus_target")
        m.d.sync += [source.eq(order.fetch), target.eq(order.taken)]
        m.d.comb += [
            row.eq(any_of([Mux(source[i], unit.row, 0) for i, unit in enumerate(inputs)])),
            ends.eq(any_of([source[i] & unit.row_ends for i, unit in enumerate(inputs)])),
            order.asks.eq(Cat(reader.asks for reader in readers)),
            order.busy.eq(Cat(unit.busy for unit in inputs)),
        ]
        for i, unit in enumerate(inputs):
            m.d.comb += [
                getattr(order, f"closed_row_{i}").eq(unit.closed_row),
                unit.fetch.eq(order.fetch[i]),
                unit.fetch_row.eq(order.fetch_row),
            ]
        for o, reader in enumerate(readers):
            m.d.comb += [
                getattr(order, f"owner_{o}").eq(reader.owner),
                getattr(order, f"row_{o}").eq(reader.row),
                reader.taken.eq(order.taken[o]),
                reader.loads.eq(target[o]),
                reader.fetched.eq(row),
                reader.fetched_ends.eq(ends),
            ]

    def _read(self, m, o, output, reader, inputs):
        """Connect the inputs' passing flits to an output's reader, and the reader to the output unit."""
        port = self.outputs[o].name
        sources = [(i, unit) for i, unit in enumerate(inputs) if o in unit.leads]
        won, may = Signal(name=f"{port}_won"), Signal(name=f"{port}_may_send")
        chosen = Signal(len(inputs), name=f"{port}_source")
        m.d.comb += [won.eq(reader.won.any()), chosen.eq(Mux(won, reader.won, reader.owner))]

        def of_source(name: str):
            """Return a member of the input whose worm this output sends."""
            return any_of([Mux(chosen[i], getattr(unit, name).as_value() if name == "passing" else getattr(unit, name),
                               0) for i, unit in sources])

        m.d.sync += may.eq(Mux(reader.send, output.ready_after, output.ready))
        m.d.comb += [
            reader.starts.eq(of_source("starts")),
            reader.start_row.eq(of_source("start_row")),
            reader.skips.eq(of_source("skips")),
            reader.passes.eq(of_source("passes")),
            reader.closes.eq(of_source("closes")),
            reader.passing.eq(of_source("passing")),
            # a free output has a credit
            reader.credit.eq(won | may),
            output.take.eq(won),
            output.touch.eq(won | reader.send),
            output.send.eq(reader.send),
            output.tail.eq(reader.send & reader.flit.tail),
            output.flit.eq(reader.flit),
            # a reservation of the output without a flit sent does not end a worm
            output.flit.tail.eq(output.tail),
        ]
