"""The one switch behind every router of the five papers."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from .allocator import Allocator
from .decoders import Decoder
from .input_unit import InputUnit
from .link import LinkSignature, PortSpec
from .logic import bit_at
from .output_unit import OutputUnit

__all__ = ["DELAYS", "READERS", "Switch"]

DELAYS = ("paper", "fast")
READERS = ("coupled", "independent")


class Switch(wiring.Component):
    """A wormhole switch that copies a worm to its consumption channel while passing it on.

    ::

        {port}_in ─▶ InputUnit ─ flit ──────────────▶ crossbar ─▶ OutputUnit ─▶ {port}_out
                        │  ▲                             ▲            │
                 request│  │won                    select│            │free, pick, ready
                        └──┴──────── Allocator ──────────┴────────────┘

    Ports, straps and requests come from the decoder: mesh and torus routers, multistage switches and irregular
    ones are configurations of this component.

    *Latency*, with free resources, from link to link: ``paper`` header 3 cycles and data 2, ``fast`` 4 and 3;
    at a destination on the way the header takes 1 cycle more (2 where its flit is used up). *Throughput*: a
    flit per output and cycle; one worm alone min(1, depth / 4), with ``fast`` min(1, depth / 5).
    *Deadlock*: a worm reserves its consumption channel before it asks for the next link. *Reset*: empty, all
    credits held.

    Parameters
    ----------
    inputs, outputs : list of PortSpec
        In the order of the decoder's ports; the counts of virtual channels may differ per port and between a
        port's two directions. The ejection port's outputs are the node's consumption channels.
    decoder : Decoder
    width : int
        Data bits of a flit.
    readers : "coupled" or "independent"
    storage : "lutram" or "registers"
    delays : "paper" or "fast"

    Members
    -------
    {port}_in : In(LinkSignature), {port}_out : Out(LinkSignature)
    strap_{name} : In
        Static inputs: what distinguishes one switch from the next.

    Raises
    ------
    WormcastError
        A parameter that is not offered, or ports that the decoder does not know.
    """

    def __init__(self, *, inputs: list[PortSpec], outputs: list[PortSpec], decoder: Decoder, width: int,
                 readers: str = "coupled", storage: str = "lutram", delays: str = "paper"):
        for field, value, allowed in (("readers", readers, READERS), ("delays", delays, DELAYS)):
            if value not in allowed:
                raise WormcastError(f"Switch.{field}: must be one of {', '.join(allowed)}, not {value!r}")
        for field, ports in (("inputs", inputs), ("outputs", outputs)):
            if tuple(p.name for p in ports) != decoder.ports:
                raise WormcastError(f"Switch.{field}: must be {', '.join(decoder.ports)} as in the decoder, "
                                    f"not {', '.join(p.name for p in ports)}")
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.decoder = decoder
        self.width = width
        self.readers = readers
        self.storage = storage
        self.delays = delays
        super().__init__({
            **{f"{p.name}_in": In(LinkSignature(vcs=p.vcs, width=width)) for p in inputs},
            **{f"{p.name}_out": Out(LinkSignature(vcs=p.vcs, width=width)) for p in outputs},
            **{f"strap_{name}": In(bits) for name, bits in decoder.straps.items()},
        })

    def consumption_masks(self) -> list[int]:
        """For each consumption class the mask of consumption channels that its worms may take.

        Class k owns channel k; channels beyond the classes are open to all. With fewer channels than classes
        the classes share them (and can deadlock: paper 002, section 3.1).
        """
        channels, classes = self.outputs[self.decoder.ejection].vcs, self.decoder.classes
        extra = sum(1 << c for c in range(classes, channels))
        return [1 << k % channels | extra for k in range(classes)]

    def elaborate(self, platform):
        m = Module()
        ejection, extra_stage = self.decoder.ejection, self.delays == "fast"
        straps = {name: getattr(self, f"strap_{name}") for name in self.decoder.straps}
        inputs, outputs = [], []
        for i, port in enumerate(self.inputs):
            unit = InputUnit(i, port, outputs=self.outputs, width=self.width, decoder=self.decoder,
                             readers=self.readers, storage=self.storage)
            m.submodules[f"{port.name}_input"] = unit
            inputs.append(unit)
            wiring.connect(m, unit.link, wiring.flipped(getattr(self, f"{port.name}_in")))
            m.d.comb += [getattr(unit, f"strap_{name}").eq(strap) for name, strap in straps.items()]
        for o, port in enumerate(self.outputs):
            classes = self.consumption_masks() if o == ejection else [(1 << port.vcs) - 1]
            output = OutputUnit(port, width=self.width, classes=classes, extra_stage=extra_stage)
            m.submodules[f"{port.name}_output"] = output
            outputs.append(output)
            wiring.connect(m, output.link, wiring.flipped(getattr(self, f"{port.name}_out")))

        requesters = [(unit, r) for unit in inputs for r in range(len(unit.groups))]
        m.submodules.allocator = allocator = Allocator(
            reach=[set(unit.groups[r]) for unit, r in requesters],
            vcs=[unit.spec.vcs for unit, _ in requesters],
            outputs=len(outputs),
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
                output, kind = outputs[o], C(0)
                if o == ejection:
                    kind = self.decoder.consumption_class(unit.port, straps)
                picks = [getattr(output, f"pick_{c}") for c in range(len(output.classes))]
                m.d.comb += [
                    getattr(unit, f"pick_{o}").eq(Array(picks)[kind]),
                    getattr(unit, f"free_{o}").eq(bit_at(output.free, kind)),
                    getattr(unit, f"soon_{o}").eq(bit_at(output.soon, kind)),
                    getattr(unit, f"ready_{o}").eq(output.ready),
                    getattr(unit, f"ready_after_{o}").eq(output.ready_after),
                ]
        flits = {}
        for unit, r in requesters:
            flits[unit, r] = getattr(unit, f"flit_{r}").as_value()
            if extra_stage:
                staged = Signal.like(flits[unit, r], name=f"{self.inputs[unit.port].name}_{r}_flit")
                m.d.sync += staged.eq(flits[unit, r])
                flits[unit, r] = staged
        for o, output in enumerate(outputs):
            self._send(m, o, output, requesters, allocator, straps, flits)
        return m

    def _send(self, m, o, output, requesters, allocator, straps, flits):
        """Drive one output from the requester that was granted it: the crossbar, and what the win does."""
        touch, send, tail, vc = C(0), C(0), C(0), C(0)
        selected: Value = C(0, len(output.flit.as_value()))
        taken = [C(0) for _ in output.classes]
        for k, (unit, r) in enumerate(requesters):
            if o not in unit.groups[r]:
                continue
            name = f"{self.inputs[unit.port].name}_{r}_to_{self.outputs[o].name}"
            granted, won = Signal(name=f"grant_{name}"), Signal(name=f"won_{name}")
            m.d.comb += [
                granted.eq(getattr(allocator, f"grant_{k}")[o]),
                won.eq(getattr(unit, f"request_{r}")[o] & getattr(allocator, f"won_{k}")),
            ]
            # a crossbar in the same cycle follows the bare grant, which is earlier; only `send` waits for the win
            select = won if self.delays == "fast" else granted
            if o == self.decoder.ejection:
                takes, kind = getattr(unit, f"claims_{r}"), self.decoder.consumption_class(unit.port, straps)
                sends = getattr(unit, f"sends_{r}")
            else:
                takes, kind, sends = ~getattr(unit, f"owns_link_{r}"), C(0), C(1)
            send |= won & sends
            touch |= won & (sends | takes)
            vc |= Mux(select, getattr(unit, f"vc_{o}"), 0)
            tail |= select & getattr(unit, f"flit_{r}").tail
            for c in range(len(taken)):
                taken[c] |= won & takes & (kind == c)
            if self.delays == "fast":
                staged = Signal(name=f"select_{name}")
                m.d.sync += staged.eq(won)
                select = staged
            selected |= Mux(select, flits[unit, r], 0)
        m.d.comb += [
            output.touch.eq(touch),
            output.send.eq(send),
            output.vc.eq(vc),
            output.tail.eq(tail),
            output.flit.eq(selected),
            output.take.eq(Cat(taken)),
        ]
