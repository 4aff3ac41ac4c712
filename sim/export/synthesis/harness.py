"""Harness for placement: a component between registers, with two data pins."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Harness"]


class Harness(wiring.Component):
    """A component between registers, so that every path has a timing and two data pins suffice.

    ::

        si ─▶ shift register, a bit per input ─▶ component ─▶ captured ─▶ XOR of 16 each ─▶ XOR ─▶ so

    The harness is placed, never run. *Latency* and *reset* are therefore not specified.

    Members
    -------
    si : In(1), so : Out(1)
        Ends of the chain that prevents the component's removal by optimisation.
    """

    GROUP = 16

    def __init__(self, component: wiring.Component):
        self.component = component
        super().__init__({"si": In(1), "so": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.component = self.component
        ports: dict[wiring.Flow, list[Value]] = {In: [], Out: []}
        for _, member, value in self.component.signature.flatten(self.component):
            ports[member.flow].append(Value.cast(value))
        driven, captured = (Cat(ports[flow]) for flow in (In, Out))
        chain = Signal(len(driven), reset_less=True)
        q = Signal(len(captured), reset_less=True)
        groups = [q[at:at + self.GROUP] for at in range(0, len(q), self.GROUP)]
        folded = Signal(len(groups), reset_less=True)
        so = Signal(reset_less=True)
        m.d.sync += [
            chain.eq(Cat(self.si, chain)),
            q.eq(captured),
            folded.eq(Cat(group.xor() for group in groups)),
            so.eq(folded.xor()),
        ]
        m.d.comb += [driven.eq(chain), self.so.eq(so)]
        return m
