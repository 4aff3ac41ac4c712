"""Wormhole switch for unicasts and path worms, and the base class of the other variants of the router."""

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .allocator import Allocator
from .bundles import by_name
from .decoders import PathDecoder
from .faults import Cause, fault_layout, first_fault
from .input_unit import InputUnit
from .link import LinkSignature, flit_layout
from .output_unit import OutputUnit
from .port import numbers_of_links
from .switch_spec import SwitchSpec
from .tables import pass_on

__all__ = ["Switch"]


class Switch(SwitchSpec, wiring.Component):
    """Wormhole switch that replicates worms in flight, to a link and a consumption channel.

    ::

        {port}_in ─▶ InputUnit ─ flit ──────────────▶ crossbar ─▶ OutputUnit ─▶ {port}_out
                        │  ▲                             ▲            │
                 request│  │granted                select│            │free, vc_candidate, ready
                        └──┴──────── Allocator ──────────┴────────────┘

    The decoder determines ports, straps and requests: any number of input and output links, whose neighbours may
    differ, and any number of nodes. In a `Switch`, no worm leaves by the link back to the neighbour that it came from.
    Outputs to other switches may have classes of virtual channels; the request names the class of the worm's channel.
    Adaptive routing: the input requests one of several outputs that is expected to be free, until one is granted.

    At a destination on its way a worm takes a consumption channel of its class. At its last destination a worm takes
    any free consumption channel, and so does a unicast.

    *Errors on the wire* are detected at the port at which the wrong flit or credit arrives. docs/ports.md lists the
    effect of each error on its worm. If a worm cannot go on to a destination, the destinations that it had reached
    still receive its payload. The first cause stays in ``fault``, with its port and virtual channel, from two cycles
    after the wrong flit or credit was on the link until reset. An error of a flit affects no other worm. After an error
    of a credit, the virtual channel sends at most one more flit; at most two if a credit is for a chunk.

    *Latency*, with free resources, from link to link: ``paper`` header 3 cycles and data 2, ``fast`` 4 and 3;
    at a destination on the way the header takes 1 cycle more (2 if its flit is used up). *Throughput*: a flit per
    output and cycle. An output that only one worm uses sends min(1, depth / 4) flits per cycle, with ``fast`` min(1,
    depth / 5). *Deadlock*: a worm reserves its consumption channel before it requests the next link. *Reset*: all
    buffers are empty, and the outputs have all their credits.

    Parameters
    ----------
    inputs, outputs : list of PortSpec
        Ports in the order of the decoder's ports. The number of virtual channels may differ between ports, and between
        the directions of a port. All ejection ports have the same number of consumption channels. At an output to
        another switch, the number of virtual channels is a multiple of the decoder's number of classes of virtual
        channels.
    decoder : PathDecoder
    consumption_links : "shared" or "separate"
        ``shared``: one link for all consumption channels of an ejection port. ``separate``: one link for each
        consumption channel.
    ejected_header : "keep" or "strip"
        Treatment of the header flits that remain at a destination on the way. ``keep``: these header flits leave for
        the node before the payload. ``strip``: only the payload leaves for the node, in the same cycles as with
        ``keep``.
    width : int
        Data bits of a flit.
    tables : TableBus, optional
        The network's `TableBus`; by default one that serves only this switch, if the decoder has tables.
    readers : "coupled" or "independent"
        As in `InputUnit`.
    storage : "lutram" or "registers"
        Memory of the input buffers.
    delays : "paper" or "fast"
        ``fast`` adds a register between allocation and crossbar.

    Members
    -------
    local_in : In(LinkSignature)
        From the node.
    local_{port}_in : In(LinkSignature)
        From the node, only for worms that leave by {port}.
    {port}_in : In(LinkSignature)
        From the switch or the node at the port.
    local_out : Out(LinkSignature)
        To the node, all consumption channels.
    local_{c}_out : Out(LinkSignature)
        To the node, only consumption channel {c}.
    {port}_out : Out(LinkSignature)
        To the switch or the node at the port.
    fault : Out(fault_layout)
        The first error on the wire, until reset.
    strap_{name} : In
        Static inputs that distinguish switches of one kind.
    tables_in, tables_out : In(TableBus.layout), Out(TableBus.layout)
        With a `TableBus`: writes to the tables of this switch, and of the switches after it in the chain.
    """

    def __init__(self, **parameters: Any):
        super().__init__(**parameters)
        wiring.Component.__init__(self, self._members())
        ports = by_name(self)
        self.in_links = [ports[f"{p.name}_in"] for p in self.inputs]  #: Links of the inputs, by the input's number.
        #: Links of each output: several for an ejection port with separate consumption links.
        self.out_links = [[ports[f"{name}_out"] for name in self._names(o)] for o in range(len(self.outputs))]
        #: Ports ``strap_{name}``, by the strap's name.
        self.straps = {name: ports[f"strap_{name}"] for name in self.decoder.straps}

    def _members(self) -> dict[str, Any]:
        """Return the switch's ports."""
        members: dict[str, Any] = {}
        for i, p in enumerate(self.inputs):
            arrived = self.has_reports and i < self.decoder.links_in
            members[f"{p.name}_in"] = In(LinkSignature(vcs=p.vcs, width=self.width, arrived=arrived))
        for p in self.outputs[:self.ejection]:
            members[f"{p.name}_out"] = Out(LinkSignature(vcs=p.vcs, width=self.width, arrived=self.has_reports))
        for name in self.consumption_ports:
            vcs = 1 if self.separate else self.outputs[-1].vcs
            members[f"{name}_out"] = Out(LinkSignature(vcs=vcs, width=self.width))
        members["fault"] = Out(self.fault_layout)
        members |= {f"strap_{name}": In(bits) for name, bits in self.decoder.straps.items()}
        if self.tables is not None:
            members |= {"tables_in": In(self.tables.layout), "tables_out": Out(self.tables.layout)}
        return members

    @property
    def fault_layout(self):
        """Layout of ``fault``."""
        return fault_layout(max(len(self.inputs), len(self.outputs)), max(p.vcs for p in (*self.inputs, *self.outputs)))

    def fault_ports(self, cause: Cause) -> list[str]:
        """Return the names of the ports that the port numbers in ``fault`` stand for, from 0 on, for a cause."""
        return [port.name for port in (self.outputs if cause is Cause.CREDIT else self.inputs)]

    def elaborate(self, platform):
        m = Module()
        inputs = [self._input(m, i) for i in range(len(self.inputs))]
        outputs = [self._output(m, o) for o in range(len(self.outputs))]
        for o, output in enumerate(outputs):
            wiring.connect(m, output.offer, *(unit.offer[o] for unit in inputs if o in unit.offer))
        self._join(m, inputs)

        requesters = [(unit, r) for unit in inputs for r in range(len(unit.groups))]
        m.submodules.allocator = allocator = Allocator(
            reach={f"{self.inputs[unit.port].name}_{r}": {link for o in unit.groups[r] for link in self._links(o)}
                   for unit, r in requesters},
            turns=[len(unit.turns[r]) for unit, r in requesters],
            outputs=self.ejection + len(self.consumption_ports),
        )
        for (unit, r), request in zip(requesters, allocator.request, strict=True):
            wiring.connect(m, unit.readers[r].request, request)
        crossbar = self._crossbar(m, requesters)
        for o, output in enumerate(outputs):
            takes = [self._send(m, o, number, output, requesters, allocator, crossbar)
                     for number in range(len(self._links(o)))]
            m.d.comb += output.vc_allocate.eq(Cat(takes).any())
        self._finish(m, inputs, outputs)
        return m

    def _join(self, m, inputs) -> None:
        """Connect further signals of the inputs, such as token lines. In a switch for path worms the inputs have no
        further signals."""

    def _crossbar(self, m, requesters) -> list[Value]:
        """Return the flit of each reader as the crossbar takes it."""
        flits = []
        for unit, r in requesters:
            flit = self._crossbar_input(unit.readers[r])
            if self.delays == "fast":
                staged = Signal.like(flit, name=f"{self.inputs[unit.port].name}_{r}_flit")
                m.d.sync += staged.eq(flit)
                flit = staged
            flits.append(flit)
        return flits

    def _crossbar_input(self, reader) -> Value:
        """Return the bits that a reader gives to the crossbar: in a switch for path worms, the reader's flit."""
        return reader.flit.as_value()

    def _gated(self, m, o: int, name: str, select: Value, given: Value) -> Value:
        """Return the flit of a reader for an output, 0 without ``select``. ``name``: prefix of new signals' names."""
        return Mux(select, given, 0)

    def _without_header(self, o: int, sends: Value, flit) -> Value:
        """Return ``sends``, or 0 for a header flit that is stripped at this output."""
        return sends & (~flit.head | flit.tail) if self.ejected_header == "strip" and o >= self.ejection else sends

    def _finish(self, m, inputs, outputs, tables=()):
        """Connect the tables of the inputs and of ``tables`` to the bus, and drive ``fault``."""
        if self.decoder.table_layout is not None:
            pass_on(m, self.tables_in, self.tables_out, [*(unit.table for unit in inputs), *tables])
        elif self.tables is not None:
            pass_on(m, self.tables_in, self.tables_out, [])
        m.d.comb += self.fault.eq(first_fault(m, self.fault_layout, self._errors(inputs, outputs)))

    def _input(self, m, i: int) -> Any:
        """Add an input unit, and connect it to its link and to the straps."""
        port, unit = self.inputs[i], self._input_unit(i)
        m.submodules[f"{port.name}_input"] = unit
        wiring.connect(m, unit.link, wiring.flipped(self.in_links[i]))
        m.d.comb += [strap.eq(self.straps[name]) for name, strap in by_name(unit.strap).items()]
        return unit

    def _input_unit(self, i: int) -> Any:
        """Build an input unit."""
        assert isinstance(self.decoder, PathDecoder)
        return InputUnit(i, self.inputs[i], outputs=self.outputs, width=self.width, decoder=self.decoder,
                         readers=self.readers, storage=self.storage, separate=self.separate)

    def _output(self, m, o: int) -> OutputUnit:
        """Add an output unit, and connect it to its links."""
        port, to_node = self.outputs[o], o >= self.ejection
        output = OutputUnit(port, width=self.width,
                            classes=self.consumption_masks() if to_node else self.class_masks(port),
                            extra_stage=self.delays == "fast", separate=self._is_separate(o),
                            reports=self.has_reports and not to_node,
                            empty=self.decoder.absorbs if to_node else self.decoder.enters_empty)
        m.submodules[f"{port.name}_output"] = output
        for link, outside in zip(output.links, self.out_links[o], strict=True):
            wiring.connect(m, link, wiring.flipped(outside))
        return output

    def _links(self, o: int) -> range:
        """Return the links of an output, by their numbers in the allocator."""
        return numbers_of_links(o, self.ejection, len(self._names(o)))

    @staticmethod
    def _errors(inputs, outputs):
        """Yield the errors of all inputs and outputs, in the form that `first_fault` takes."""
        for o, output in enumerate(outputs):
            for v, found in enumerate(output.credit_error):
                yield found, Cause.CREDIT, o, v
        for i, unit in enumerate(inputs):
            yield unit.cause != Cause.NONE, unit.cause, i, unit.cause_vc

    def _send(self, m, o, number, output, requesters, allocator, crossbar):
        """Drive a link from the requester to which it is granted: crossbar and output unit.

        Return a signal that is 1 in the cycle in which a worm takes a virtual channel of this link.
        """
        link, drive = self._links(o)[number], output.sends[number]
        active, send, tail, vc, taken, reports = C(0), C(0), C(0), C(0), C(0), C(0)
        selected: Value = C(0, flit_layout(self.width).size)
        for (unit, r), request, flit in zip(requesters, allocator.request, crossbar, strict=True):
            if o not in unit.groups[r]:
                continue
            reader = unit.readers[r]
            name = f"{self.inputs[unit.port].name}_{r}_to_{self._names(o)[number]}"
            link_grant, granted = Signal(name=f"grant_{name}"), Signal(name=f"granted_{name}")
            m.d.comb += [
                link_grant.eq(request.grant[link]),
                granted.eq(reader.request.outputs[link] & request.granted),
            ]
            # without the extra stage, the grant selects the flit, `vc` and `tail`, as it settles earlier than `granted`
            select = granted if self.delays == "fast" else link_grant
            takes, sends = (reader.consumption_request, reader.sends) if o >= self.ejection else (~reader.owns, C(1))
            sends = self._without_header(o, sends, reader.flit)
            send |= granted & sends
            active |= granted & (sends | takes)
            vc |= Mux(select, unit.out_vc[o], 0)
            tail |= select & reader.flit.tail
            taken |= granted & takes
            if output.has_reports:
                reports |= granted & reader.reports
            if self.delays == "fast":
                staged = Signal(name=f"select_{name}")
                m.d.sync += staged.eq(granted)
                select = staged
            selected |= self._gated(m, o, name, select, flit)
        m.d.comb += [drive.vc_active.eq(active), drive.send.eq(send), drive.tail.eq(tail), drive.flit.eq(selected)]
        if output.has_reports:
            m.d.comb += drive.reports.eq(reports)
        if not output.separate:
            m.d.comb += drive.vc.eq(vc)
        return taken
