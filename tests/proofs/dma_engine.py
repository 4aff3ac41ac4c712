# amaranth: UnusedElaboratable=no
"""The DMA engine of an interface against a token bucket of the bus's rate; and the parts that use its grants."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In

from wormcast.hw import PortSpec
from wormcast.hw.interface import Consumption, Injection
from wormcast.hw.interface.dma_engine import HELD_GRANTS, DmaEngine

from .harness import Harness, Inside, Property, implies, total
from .mutants import Mutant

__all__ = ["BusHarness", "DmaHarness"]

WHERE = "interface.dma_engine.DmaEngine.elaborate"


class DmaHarness(Harness):
    """The DMA engine. In each cycle, a flit of each link that has a grant crosses the bus or not."""

    component = "DmaEngine"
    properties = (
        Property("rate", "In T successive cycles, fewer than T * flits / cycles + 2 * links + 1 flits cross.",
                 Mutant(WHERE, "(parts - spent).as_unsigned() + self.flits", "most")),
        Property("lossless", "While a link requests a grant in vain, no part of a token is lost.",
                 Mutant(WHERE, "Mux(filled > most, most, filled)", "Mux(filled >= most, most - 1, filled)")),
        Property("busy", "A link requests a grant in vain only if the bucket has no token for it.",
                 Mutant(WHERE, "requested.eq(requests[k] & turn[k])", "requested.eq(requests[k] & early[k])")),
        Property("grants", "Each grant lets one flit of its link cross: a link never has more than two grants, and "
                           "loses none.",
                 Mutant(WHERE, "granted[k] - self.crosses[k]", "(granted[k] & ~self.crosses[k]) - self.crosses[k]")),
        Property("turns", "While a link requests a grant, each other link gets at most one.",
                 Mutant(WHERE, "m.d.sync += early.eq(from_here)", "m.d.sync += early.eq(early)")),
    )

    def __init__(self, *, links, flits, cycles):
        super().__init__()
        self.engine = DmaEngine(links=links, flits=flits, cycles=cycles)

    def elaborate(self, platform):
        m = Module()
        engine, links = self.engine, range(self.engine.links)
        inside = Inside(engine)
        m.submodules.engine = inside.fragment
        self.leave_free(engine.crosses)
        self.assume(m, (engine.crosses & ~engine.may_cross) == 0)
        parts, granted, early = inside["parts"], inside["granted"], inside["early"]
        most = engine.flits + engine.cycles - 1
        spent = total(granted) * engine.cycles

        # a token bucket of the bus's rate that holds all grants, too
        room = most + HELD_GRANTS * engine.links * engine.cycles
        bucket, left = Signal(range(room + 1), init=room), Signal(range(room + engine.flits + 1))
        m.d.comb += left.eq(bucket - total(engine.crosses) * engine.cycles + engine.flits)
        m.d.sync += bucket.eq(Mux(left > room, room, left))
        self.claim(m, "rate", total(engine.crosses) * engine.cycles <= bucket)

        held, waits = [], []
        for k in links:
            mine = Signal(range(HELD_GRANTS + 1), init=HELD_GRANTS, name=f"grants{k}")
            m.d.sync += mine.eq(mine + granted[k] - engine.crosses[k])
            self.claim(m, "grants", engine.may_cross[k] == (mine != 0))
            self.claim(m, "grants", implies(granted[k], mine < HELD_GRANTS))
            self.invariant(m, (mine <= HELD_GRANTS) & (inside[f"link{k}_grants"] == mine))
            held.append(mine)
            waits.append((mine != HELD_GRANTS) & ~granted[k])
            self.claim(m, "busy", implies(waits[k], parts - spent < engine.cycles))
        before, sent, short = Signal.like(parts), Signal(range(most + 1)), Signal()
        m.d.sync += [before.eq(parts), sent.eq(spent), short.eq(total(waits) != 0)]
        self.claim(m, "lossless", implies(short, parts == before - sent + engine.flits))
        self.invariant(m, implies(short, sent <= before))
        self.claim(m, "busy", spent <= parts)
        self.invariant(m, (parts <= most) & (bucket <= room))
        self.invariant(m, bucket >= parts + sum((mine * engine.cycles for mine in held[1:]),
                                                held[0] * engine.cycles))

        order = [early == (1 << len(links)) - (1 << k) for k in links]  # the links from k on come first
        self.invariant(m, total(order) == 1)
        for k in links:
            for other in links:
                if other != k:
                    passed = Signal(name=f"link{other}_passed_{k}")
                    m.d.sync += passed.eq(waits[k] & (passed | granted[other]))
                    self.claim(m, "turns", implies(passed & (held[k] != HELD_GRANTS), ~granted[other] | granted[k]))
                    # a link that has passed this one comes after it in the order
                    after = [first for first, at in enumerate(order) if self._comes_first(k, other, first)]
                    self.invariant(m, implies(passed & (held[k] != HELD_GRANTS), total(order[f] for f in after) == 1))
        return m

    def _comes_first(self, one, other, first):
        """Return whether a link comes before another in the order that begins with the link ``first``."""
        links = self.engine.links
        return (one - first) % links < (other - first) % links


class BusHarness(Harness):
    """An injection or consumption side of an interface with a DMA engine. All inputs are arbitrary, grants included.

    Of a smart interface, `Forwarding` stores a flit only while the flit waits.
    """

    component = "Injection, Consumption, I/O bus"
    properties = (
        Property("grant", "A flit crosses the bus only with a grant.",
                 Mutant("interface.injection.Injection.elaborate", "offered & self.may_cross", "offered & source.has")),
        Property("used", "Each flit that leaves the buffer of the link from the host, and each flit that is sent to "
                         "the host, uses a grant, and no grant is used otherwise.",
                 Mutant("interface.injection.Injection.elaborate", "self.crosses.eq(source.pop)",
                        "self.crosses.eq(send)")),
    )

    def __init__(self, *, side, **options):
        super().__init__()
        self.part = {"send": Injection, "receive": Consumption}[side](PortSpec("network", vcs=2, depth=2), width=2,
                                                                      bus=True, **options)
        self.sends, self.smart = side == "send", "smart" in options

    def elaborate(self, platform):
        m = Module()
        m.submodules.part = part = self.part
        self.leave_free(*(value for _, member, value in part.signature.flatten(part) if member.flow is In))
        if self.smart:
            self.assume(m, implies(part.stored, part.posted))
        before = Signal(name="crossed")
        m.d.sync += before.eq(part.crosses)
        self.claim(m, "grant", ~part.crosses | part.may_cross)
        self.claim(m, "used", (part.host.credit if self.sends else part.host.valid) == before)
        return m
