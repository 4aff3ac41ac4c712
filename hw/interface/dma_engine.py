# amaranth: UnusedElaboratable=no
# (an interface creates its engines to check the parameters, and may never be elaborated)
"""DMA engine of a network interface: it grants the I/O bus, flit by flit, to the links between host and interface."""

from math import gcd

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..options import MOST_BUS_RATE

__all__ = ["HELD_GRANTS", "DmaEngine"]

HELD_GRANTS = 2
"""Maximum number of grants that a link holds.

With a maximum of 2, a link requests its next grant while it still holds one grant, so it can send a flit in each cycle.
With a maximum of 1, a link could send a flit only in every second cycle.
"""


class DmaEngine(wiring.Component):
    """Token bucket of the I/O bus between a host and its interface ([Sivaram98], section 3.1).

    ::

        flits per cycles ─▶ token bucket ─▶ round robin ─▶ grants of each link (0 to 2) ─▶ may_cross
                                               ▲                    │  ▲
                                               └── fewer than 2 ────┘  └── crosses

    A flit crosses the bus with a grant, which costs a token. Each link requests grants in advance, until it holds 2. So
    links of both directions share a bus, and no link waits for another link: a link that is stopped keeps its grants,
    and requests no more. If tokens are fewer than requests, the first link that got none is the first in the next
    cycle. So while a link requests a grant, each other link gets at most one.

    Each cycle adds ``flits`` parts to the bucket, and ``cycles`` parts are a token. The bucket holds at most flits +
    cycles - 1 parts: the smallest size with which no part is lost while a link requests a grant. In T successive
    cycles, fewer than T * flits / cycles + 2 * links + 1 flits cross.

    *Latency*: a grant is held from the cycle after its request. *Throughput*: flits / cycles, at most a flit per cycle
    for each link. *Reset*: each link holds 2 grants, and the bucket is full, as after a long time without flits.

    Parameters
    ----------
    links : int
        Number of links that share the bus.
    flits, cycles : int
        Rate of the bus: ``flits`` tokens in ``cycles`` cycles. Range: 1 to 9999.

    Members
    -------
    may_cross : Out(links)
        The link holds a grant. ``may_cross`` comes from registers.
    crosses : In(links)
        A flit of the link crosses the bus, and uses up a grant. ``crosses`` may be 1 only while ``may_cross`` is 1.
    """

    def __init__(self, *, links: int, flits: int, cycles: int):
        for field, value in (("flits", flits), ("cycles", cycles)):
            if not 1 <= value <= MOST_BUS_RATE:
                raise WormcastError(f"DmaEngine.{field}: {value} is not valid. Allowed: 1 to {MOST_BUS_RATE}.")
        self.links = links
        self.flits, self.cycles = (number // gcd(flits, cycles) for number in (flits, cycles))
        super().__init__({"may_cross": Out(links), "crosses": In(links)})

    def elaborate(self, platform):
        m = Module()
        links, most = range(self.links), self.flits + self.cycles - 1
        at_once = min(self.links, most // self.cycles)  # tokens that the bucket can have, as far as links need them
        parts = Signal(range(most + 1), init=most)
        grants_held = [Signal(range(HELD_GRANTS + 1), init=HELD_GRANTS, name=f"link{k}_grants") for k in links]
        early = Signal(self.links, init=(1 << self.links) - 1)  # links that come first in this cycle, then the others
        requests, granted = Signal(self.links), Signal(self.links)
        m.d.comb += [
            self.may_cross.eq(Cat(one != 0 for one in grants_held)),
            requests.eq(Cat(one != HELD_GRANTS for one in grants_held)),
        ]
        left = Cat(parts >= k * self.cycles for k in range(1, at_once + 1))  # bit k: more than k tokens are left
        grants, refusals = [], []
        for name, turn in (("early", early), ("late", ~early)):
            for k in links:
                requested, after = Signal(name=f"link{k}_{name}"), Signal(at_once, name=f"left_after_link{k}_{name}")
                m.d.comb += [requested.eq(requests[k] & turn[k]), after.eq(Mux(requested, left[1:], left))]
                grants.append(requested & left[0])
                refusals.append((requested & ~left[0], (1 << self.links) - (1 << k)))
                left = after
        m.d.comb += granted.eq(Cat(grants[k] | grants[self.links + k] for k in links))
        for refused, from_here in reversed(refusals):  # the first refused link comes last, and decides
            with m.If(refused):
                m.d.sync += early.eq(from_here)
        spent = Array(count * self.cycles for count in range(at_once + 1))[sum(granted[1:], granted[0])]
        filled = Signal(range(most + self.flits + 1))
        # never negative: linters report a signed value that is stored as an unsigned one
        m.d.comb += filled.eq((parts - spent).as_unsigned() + self.flits)
        m.d.sync += parts.eq(Mux(filled > most, most, filled))
        for k in links:
            m.d.sync += grants_held[k].eq(grants_held[k] + granted[k] - self.crosses[k])
        return m
