"""The one switch behind every router of the five papers."""

from typing import Any, NamedTuple

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.channels import channels_of_class
from wormcast.algorithms.errors import WormcastError

from .allocator import Allocator
from .decoders import BitStringDecoder, Decoder, PathDecoder
from .faults import Cause, fault_layout, first_fault
from .input_unit import InputUnit
from .link import LinkSignature, PortSpec, flit_layout
from .options import CONSUMPTION_LINKS, DELAYS, READERS
from .output_unit import OutputUnit
from .tables import pass_on, table_bus
from .tokens import TokenSignature, TokenStation
from .tree import REPLICATION, TreeInput

__all__ = ["ConsumptionLink", "Switch"]


class ConsumptionLink(NamedTuple):
    """A link from a switch to a node.

    Parameters
    ----------
    name : str
        As the switch's member has it, without ``_out``.
    output : int
        The switch's output that it belongs to.
    first : int
        Which of the node's consumption channels its first one is.
    channels : int
        Consumption channels on it.
    """

    name: str
    output: int
    first: int
    channels: int


class Switch(wiring.Component):
    """A wormhole switch that copies a worm while passing it on: to its consumption channel, or to several outputs.

    ::

        {port}_in ─▶ InputUnit ─ flit ──────────────▶ crossbar ─▶ OutputUnit ─▶ {port}_out
                        │  ▲                             ▲            │
                 request│  │won                    select│            │free, pick, ready
                        └──┴──────── Allocator ──────────┴────────────┘

    Ports, straps and requests come from the decoder: any number of links in and out, which need not lead to the same
    neighbours, and any number of nodes. No worm goes back by the port that it came in by, where one leads back. Outputs
    to other switches may have classes of virtual channels; a worm takes one of the class that its request says. It may
    leave the choice among several outputs: the input asks for one that looks free, until one is won.

    At a destination on its way a worm takes a consumption channel of its class; at its last destination any that is
    free, and so does a unicast.

    With a `BitStringDecoder` inputs are `TreeInput`s: a worm is copied to all outputs that its bits lead to. Arrivals
    may be reported (`LinkSignature`), and copying wait for a token: then the switch has a `TokenStation`.

    *Errors on the wire* are found where they arrive (`Cause`). What each costs its worm is said there; destinations
    that it had reached get what comes of it. The first cause stays in ``fault``, with its port and
    virtual channel, from two cycles after it was on the link until reset. All other worms go their way.

    *Latency*, with free resources, from link to link: ``paper`` header 3 cycles and data 2, ``fast`` 4 and 3;
    at a destination on the way the header takes 1 cycle more (2 where its flit is used up). *Throughput*: a
    flit per output and cycle; one worm alone min(1, depth / 4), with ``fast`` min(1, depth / 5).
    *Deadlock*: a worm reserves its consumption channel before it asks for the next link. *Reset*: empty, all
    credits held.

    Parameters
    ----------
    inputs, outputs : list of PortSpec
        In the order of the decoder's ports; the counts of virtual channels may differ per port and between a
        port's two directions. Those of ejection ports are consumption channels, as many at each. An output to another
        switch has a multiple of the decoder's classes.
    decoder : Decoder
    consumption_links : "shared" or "separate"
        All consumption channels of an ejection port on one link, or a link for each.
    width : int
        Data bits of a flit.
    tables : StructLayout, optional
        The network's `table_bus`; the switch's own if it is not given and the decoder has tables.
    readers : "coupled" or "independent"
    storage : "lutram" or "registers"
    delays : "paper" or "fast"
    replication : "asynchronous", "synchronous" or "serial"
        How a `TreeInput` copies worms.
    reports, tokens : bool
        Links to and from other switches have reports; the switch is in a group with a token. Only where worms are
        copied to several outputs, and tokens only with reports.

    Members
    -------
    local_in : In(LinkSignature)
        From the node.
    local_{port}_in : In(LinkSignature)
        From the node, for worms that leave by {port} alone.
    {port}_in : In(LinkSignature)
        From the switch or the node that is joined to the port.
    local_out : Out(LinkSignature)
        To the node, all consumption channels.
    local_{c}_out : Out(LinkSignature)
        To the node, consumption channel {c} alone.
    {port}_out : Out(LinkSignature)
        To the switch or the node that is joined to the port.
    fault : Out(fault_layout)
        The first error on the wire, until reset.
    strap_{name} : In
        Static inputs: what distinguishes one switch from the next.
    strap_first : In(1)
        With tokens: the token of the switch's group begins here; of one switch of each group.
    token_in, token_out : In(TokenSignature), Out(TokenSignature)
        With tokens: the ring of the group, a pulse where the token goes over: from the switch before this one, and to
        the one behind it.
    tables_in, tables_out : In(table_bus), Out(table_bus)
        Where the decoder has tables: writes to those of this switch, and of those behind it in the chain.

    Raises
    ------
    WormcastError
        A parameter that is not offered, or ports that the decoder does not know.
    """

    def __init__(self, *, inputs: list[PortSpec], outputs: list[PortSpec], decoder: Decoder, width: int,
                 readers: str = "coupled", storage: str = "lutram", delays: str = "paper",
                 consumption_links: str = "shared", tables: data.StructLayout | None = None,
                 replication: str = "asynchronous", reports: bool = False, tokens: bool = False):
        for field, value, allowed in (("readers", readers, READERS), ("delays", delays, DELAYS),
                                      ("replication", replication, REPLICATION),
                                      ("consumption_links", consumption_links, CONSUMPTION_LINKS)):
            if value not in allowed:
                raise WormcastError(f"Switch.{field}: must be one of {', '.join(allowed)}, not {value!r}")
        for field, ports, names in (("inputs", inputs, decoder.inputs), ("outputs", outputs, decoder.outputs)):
            if tuple(p.name for p in ports) != names:
                raise WormcastError(f"Switch.{field}: must be {', '.join(names)} as in the decoder, "
                                    f"not {', '.join(p.name for p in ports)}")
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.decoder = decoder
        self.width = width
        self.readers = readers
        self.storage = storage
        self.delays = delays
        self.separate = consumption_links == "separate"
        self.ejection = decoder.ejection
        self.replication = replication
        self.has_reports = reports
        self.has_tokens = tokens
        if ((reports or tokens) and not isinstance(decoder, BitStringDecoder)) or (tokens and not reports):
            raise WormcastError(f"Switch.tokens: {tokens} is given with reports {reports} and a "
                                f"{type(decoder).__name__}; reports go with bit strings, and tokens with reports")
        if len({p.vcs for p in outputs[self.ejection:]}) > 1:
            raise WormcastError("Switch.outputs: ejection ports must have the same number of consumption channels, not "
                                f"{', '.join(str(p.vcs) for p in outputs[self.ejection:])}")
        for p in outputs[:self.ejection]:
            if p.vcs % decoder.vc_classes:
                raise WormcastError(f"Switch.outputs: {p.name} has {p.vcs} virtual channels, for "
                                    f"{decoder.vc_classes} classes of them it must be a multiple of that")
        self.tables = tables
        if decoder.table_layout is not None and tables is None:
            self.tables = table_bus(tables=decoder.table_count, address_bits=decoder.table_layout["address"].width,
                                    entry_bits=decoder.table_layout["entry"].width)
        consumption_vcs = 1 if self.separate else outputs[-1].vcs
        super().__init__({
            **{f"{p.name}_in": In(LinkSignature(vcs=p.vcs, width=width, arrived=reports and i < decoder.links_in))
               for i, p in enumerate(inputs)},
            **{f"{p.name}_out": Out(LinkSignature(vcs=p.vcs, width=width, arrived=reports))
               for p in outputs[:self.ejection]},
            **{f"{name}_out": Out(LinkSignature(vcs=consumption_vcs, width=width)) for name in self.consumption_ports},
            "fault": Out(self.fault_layout),
            **{f"strap_{name}": In(bits) for name, bits in decoder.straps.items()},
            **({"token_in": In(TokenSignature()), "token_out": Out(TokenSignature()), "strap_first": In(1)}
               if tokens else {}),
            **({} if self.tables is None else {"tables_in": In(self.tables), "tables_out": Out(self.tables)}),
        })

    @property
    def injection_ports(self) -> tuple[str, ...]:
        """Names of the inputs from nodes."""
        return self.decoder.injection_ports

    @property
    def consumption_ports(self) -> tuple[str, ...]:
        """Names of the links to nodes."""
        return tuple(name for o in range(self.ejection, len(self.outputs)) for name in self._names(o))

    def _names(self, o: int) -> tuple[str, ...]:
        """Names of an output's links."""
        port = self.outputs[o]
        return tuple(f"{port.name}_{c}" for c in range(port.vcs)) if self._is_separate(o) else (port.name,)

    def _is_separate(self, o: int) -> bool:
        """Whether an output has a link for each virtual channel."""
        return self.separate and o >= self.ejection

    @property
    def injections(self) -> tuple[tuple[str, ...], ...]:
        """Names of the inputs from each node, in the order of the kind's injections."""
        return tuple(tuple(self.inputs[i].name for i in ports) for ports in self.decoder.injections)

    @property
    def consumptions(self) -> tuple[tuple[ConsumptionLink, ...], ...]:
        """Links to each node, in the order of the kind's ejections."""
        found = []
        for outputs in self.decoder.ejections:
            links: list[ConsumptionLink] = []
            first = 0
            for o in outputs:
                names = self._names(o)
                channels = self.outputs[o].vcs // len(names)
                for name in names:
                    links.append(ConsumptionLink(name, o, first, channels))
                    first += channels
            found.append(tuple(links))
        return tuple(found)

    @property
    def fault_layout(self):
        """Layout of ``fault``."""
        return fault_layout(max(len(self.inputs), len(self.outputs)), max(p.vcs for p in (*self.inputs, *self.outputs)))

    def fault_port(self, cause: Cause, port: int) -> str:
        """Name of the port that ``fault`` gives by its number."""
        return (self.outputs if cause is Cause.CREDIT else self.inputs)[port].name

    def consumption_masks(self) -> list[int]:
        """For each consumption class the mask of an ejection port's channels that its worms may take; last, that of
        worms of no class.

        Class k owns channel k; channels beyond the classes are open to all. With fewer channels than classes
        the classes share them (and can deadlock: [Boppana98], section 3.1).
        """
        channels, classes = self.outputs[-1].vcs, len(self.decoder.consumption)
        extra = sum(1 << c for c in range(classes, channels))
        return [*(1 << k % channels | extra for k in range(classes)), (1 << channels) - 1]

    def class_masks(self, port: PortSpec) -> list[int]:
        """For each class of virtual channels on a link to another switch the mask of those that it has."""
        classes = self.decoder.vc_classes
        return [sum(1 << v for v in channels_of_class(port.vcs, classes, k)) for k in range(classes)]

    def elaborate(self, platform):
        m = Module()
        extra_stage = self.delays == "fast"
        straps = {name: getattr(self, f"strap_{name}") for name in self.decoder.straps}
        inputs: list[Any] = []
        outputs = []
        for i, port in enumerate(self.inputs):
            unit: Any = self._input(i, port)
            m.submodules[f"{port.name}_input"] = unit
            inputs.append(unit)
            wiring.connect(m, unit.link, wiring.flipped(getattr(self, f"{port.name}_in")))
            m.d.comb += [getattr(unit, f"strap_{name}").eq(strap) for name, strap in straps.items()]
        for o, port in enumerate(self.outputs):
            classes = self.consumption_masks() if o >= self.ejection else self.class_masks(port)
            output = OutputUnit(port, width=self.width, classes=classes, extra_stage=extra_stage,
                                separate=self._is_separate(o), reports=self.has_reports and o < self.ejection,
                                empty=self.decoder.enters_empty if o < self.ejection else self.decoder.absorbs)
            m.submodules[f"{port.name}_output"] = output
            outputs.append(output)
            for number, name in enumerate(self._names(o)):
                link = getattr(output, output.member("link", number))
                wiring.connect(m, link, wiring.flipped(getattr(self, f"{name}_out")))

        requesters = [(unit, r) for unit in inputs for r in range(len(unit.groups))]
        m.submodules.allocator = allocator = Allocator(
            reach=[{link for o in unit.groups[r] for link in self._links(o)} for unit, r in requesters],
            vcs=[len(unit.turns[r]) for unit, r in requesters],
            outputs=self.ejection + len(self.consumption_ports),
        )
        for k, (unit, r) in enumerate(requesters):
            m.d.comb += [
                getattr(allocator, f"request_{k}").eq(getattr(unit, f"request_{r}")),
                getattr(allocator, f"complete_{k}").eq(getattr(unit, f"complete_{r}")),
                getattr(allocator, f"vc_{k}").eq(getattr(unit, f"sel_{r}")),
                getattr(unit, f"won_{r}").eq(getattr(allocator, f"won_{k}")),
            ]

        for unit in inputs:
            for o in set().union(*unit.groups):
                output = outputs[o]
                for k in range(len(output.classes)):
                    m.d.comb += getattr(unit, f"pick_{o}_{k}").eq(getattr(output, f"pick_{k}"))
                m.d.comb += [getattr(unit, f"{name}_{o}").eq(getattr(output, name))
                             for name in ("free", "soon", "held", "ready", "ready_after")]
                if output.has_reports:
                    m.d.comb += getattr(unit, f"arrived_{o}").eq(getattr(self, f"{self.outputs[o].name}_out").arrived)
        if self.has_tokens:
            self._station(m, inputs)
        flits = {}
        for unit, r in requesters:
            flits[unit, r] = getattr(unit, f"flit_{r}").as_value()
            if self.copies:
                flits[unit, r] = Cat(flits[unit, r], getattr(unit, f"place_{r}"))
            if extra_stage:
                staged = Signal.like(flits[unit, r], name=f"{self.inputs[unit.port].name}_{r}_flit")
                m.d.sync += staged.eq(flits[unit, r])
                flits[unit, r] = staged
        for o, output in enumerate(outputs):
            takes = [self._send(m, o, number, output, requesters, allocator, flits)
                     for number in range(len(self._links(o)))]
            m.d.comb += output.take.eq(Cat(takes).any())
        self._finish(m, inputs, outputs)
        return m

    def _finish(self, m, inputs, outputs, tables=()):
        """Pass tables on, those behind the inputs' too, and say what was wrong first."""
        if self.decoder.table_layout is not None:
            pass_on(m, self.tables_in, self.tables_out, [*(unit.table for unit in inputs), *tables])
        elif self.tables is not None:
            pass_on(m, self.tables_in, self.tables_out, [])
        m.d.comb += self.fault.eq(first_fault(m, self.fault_layout, self._reports(inputs, outputs)))

    @property
    def copies(self) -> bool:
        """Whether worms are copied to several outputs."""
        return isinstance(self.decoder, BitStringDecoder)

    @property
    def copying(self) -> str:
        """How worms are copied, in words: two switches with equal decoders and options may differ in it."""
        return f"{self.replication} {self.has_reports} {self.has_tokens}" if self.copies else ""

    def enough(self, port: int) -> bool:
        """Whether each worm that comes by an input is consumed without waiting for another to be."""
        return all(self.outputs[o].vcs >= sum(p.vcs for i, p in enumerate(self.inputs) if o in self.decoder.exits(i))
                   for o in self.decoder.exits(port))

    def _input(self, i: int, port: PortSpec) -> InputUnit | TreeInput:
        """Build an input."""
        if isinstance(self.decoder, BitStringDecoder):
            return TreeInput(i, port, outputs=self.outputs, decoder=self.decoder, replication=self.replication,
                             storage=self.storage, separate=self.separate, reports=self.has_reports,
                             tokens=self.has_tokens, consumed=self.enough(i))
        assert isinstance(self.decoder, PathDecoder)
        return InputUnit(i, port, outputs=self.outputs, width=self.width, decoder=self.decoder, readers=self.readers,
                         storage=self.storage, separate=self.separate)

    def _station(self, m, inputs):
        """The place of the token."""
        m.submodules.token = station = TokenStation(sum(unit.spec.vcs for unit in inputs))
        m.d.comb += [
            station.strap_first.eq(self.strap_first),
            station.asks.eq(Cat(unit.needs_token for unit in inputs)),
            station.ends.eq(Cat(unit.ends_token for unit in inputs)),
            Cat(unit.granted for unit in inputs).eq(station.granted),
        ]
        wiring.connect(m, station.token_in, wiring.flipped(self.token_in))
        wiring.connect(m, station.token_out, wiring.flipped(self.token_out))

    def _links(self, o) -> range:
        """Numbers of an output's links among those that are granted."""
        if o < self.ejection:
            return range(o, o + 1)
        each = len(self._names(o))
        first = self.ejection + (o - self.ejection) * each
        return range(first, first + each)

    @staticmethod
    def _reports(inputs, outputs):
        """What the inputs and the outputs found wrong in the cycle before."""
        for o, output in enumerate(outputs):
            for v, wrong in enumerate(output.wrong):
                yield wrong, Cause.CREDIT, o, v
        for i, unit in enumerate(inputs):
            yield unit.cause != Cause.NONE, unit.cause, i, unit.cause_vc

    def _send(self, m, o, number, output, requesters, allocator, flits):
        """Drive one link from the requester that was granted it: the crossbar, and what the win does.

        Returns whether a virtual channel is taken.
        """
        link = self._links(o)[number]
        touch, send, tail, vc, taken, reports = C(0), C(0), C(0), C(0), C(0), C(0)
        selected: Value = C(0, flit_layout(self.width).size)
        for k, (unit, r) in enumerate(requesters):
            if o not in unit.groups[r]:
                continue
            name = f"{self.inputs[unit.port].name}_{r}_to_{output.member(self.outputs[o].name, number)}"
            granted, won = Signal(name=f"grant_{name}"), Signal(name=f"won_{name}")
            m.d.comb += [
                granted.eq(getattr(allocator, f"grant_{k}")[link]),
                won.eq(getattr(unit, f"request_{r}")[link] & getattr(allocator, f"won_{k}")),
            ]
            # a crossbar in the same cycle follows the bare grant, which is earlier; only `send` waits for the win
            select = won if self.delays == "fast" else granted
            if o >= self.ejection:
                takes, sends = getattr(unit, f"claims_{r}"), getattr(unit, f"sends_{r}")
            else:
                takes, sends = ~getattr(unit, f"owns_link_{r}"), C(1)
            send |= won & sends
            touch |= won & (sends | takes)
            vc |= Mux(select, getattr(unit, f"vc_{o}"), 0)
            tail |= select & getattr(unit, f"flit_{r}").tail
            taken |= won & takes
            if output.has_reports:
                reports |= won & getattr(unit, f"reports_{r}")
            if self.delays == "fast":
                staged = Signal(name=f"select_{name}")
                m.d.sync += staged.eq(won)
                select = staged
            flit = flits[unit, r]
            selected |= self._copy(m, o, name, select, flit) if self.copies else Mux(select, flit, 0)
        driven = {"touch": touch, "send": send, "tail": tail, "flit": selected}
        if output.has_reports:
            driven["reports"] = reports
        if not output.separate:
            driven["vc"] = vc
        m.d.comb += [getattr(output, output.member(member, number)).eq(value) for member, value in driven.items()]
        return taken

    def _copy(self, m, o, name, select, flit):
        """What a flit, where it is selected, gives to an output: of a header the bits that go with that copy.

        Masks and selection are one, so that the crossbar is no larger than one without masks.
        """
        size = flit_layout(self.width).size
        straps = {name: getattr(self, f"strap_{name}") for name in self.decoder.straps}
        passed: list[Value] = [flit[0] & select, flit[1] & select, *[C(0)] * self.width]
        for bits, [table] in self.decoder.carried(o):
            kept = Signal(name=f"select_{name}_{bits[0]}")
            m.d.comb += kept.eq(select & ((~flit[0] | flit[1]) | self.decoder.chosen(table, straps, flit[size:])))
            for bit in bits:
                passed[2 + bit] = flit[2 + bit] & kept
        return Cat(passed)
