"""The life of a worm in one input virtual channel: fetched, owner of what it needs, through."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["InputVC", "WormState"]


class WormState(enum.Enum, shape=3):
    """What the worm at the front of an input virtual channel does; for waveforms and deadlock analysis."""

    IDLE = 0  #: no worm, or its header is yet to be fetched
    WANTS_CONSUMPTION = 1  #: at a destination, waits for a consumption channel
    WANTS_LINK = 2  #: waits for a virtual channel of the next link
    MOVES = 3  #: holds all that it needs
    CONSUMED = 4  #: holds a consumption channel; a header flit to come would send it on from here


class InputVC(wiring.Component):
    """State of one input virtual channel.

    ::

        IDLE ─ fetch ─┬─▶ WANTS_LINK ─────────────────┬─▶ MOVES ─ tail ─▶ IDLE
                      └─▶ WANTS_CONSUMPTION ─┬────────┘
                               (stripped)    └─▶ CONSUMED ─┬─ header flit ─▶ WANTS_LINK
                                                           └─ tail ─▶ IDLE

    For each reader there is a registered ``eligible``: in this cycle the worm has a flit and what that flit
    needs (a credit, or a virtual channel that looked free). Its next value is prepared twice, for this cycle's
    request won and not won; the win selects. *Reset*: idle.

    Parameters
    ----------
    links : list of int
        Virtual channels of each network output that can be reached.
    consumption : int
        Consumption channels; 0 where the ejection port cannot be reached.
    readers : int
        1: coupled. 2: reader 0 serves the links, reader 1 the consumption channels.

    Members
    -------
    write : In(1)
        A flit for this virtual channel is on the link.
    has_{r}, more_{r} : In(1)
        One / two flits are stored for reader r.
    shown_{r}, head_{r}, tail_{r} : In(1)
        Reader r presents this virtual channel; marks of the flit that it presents.
    fetched_links, fetched_here : In
        The request in the presented flit's code.
    won_{r} : In(1)
        The request of this virtual channel by reader r was granted.
    pick, soon, pick_after_{i}, ready_{i}, ready_after_{i}, ... : In
        The outputs' virtual channels, as in `OutputUnit`; ``c`` for the ejection port.
    links, here : Out
        The worm's targets: network outputs (one-hot) and the consumption channel.
    wants_consumption, wants_link, undecided : Out(1)
        Conditions behind the states WANTS_CONSUMPTION, WANTS_LINK and CONSUMED.
    unread : Out(1)
        The front flit may be a header flit that reader 0 has to fetch.
    link_vc, consumption_vc : Out
        What the worm owns.
    eligible_{r} : Out(1)
    want_{r}, want_after_{r} : Out(1)
        The virtual channel has a use for reader r in the next cycle, if not won / if won now.
    state : Out(WormState)
    """

    def __init__(self, *, links: list[int], consumption: int, readers: int):
        self.links_vcs = links
        self.consumption = consumption
        self.readers = readers
        members: dict = {
            "write": In(1),
            "fetched_links": In(len(links)),
            "fetched_here": In(1),
            "links": Out(len(links)),
            "here": Out(1),
            "wants_consumption": Out(1),
            "wants_link": Out(1),
            "undecided": Out(1),
            "unread": Out(1),
            "link_vc": Out(range(max(links, default=1))),
            "consumption_vc": Out(range(max(consumption, 1))),
            "state": Out(WormState),
        }
        for r in range(readers):
            for name in ("has", "more", "shown", "head", "tail", "won"):
                members[f"{name}_{r}"] = In(1)
            for name in ("eligible", "want", "want_after"):
                members[f"{name}_{r}"] = Out(1)
        for i, vcs in [*enumerate(links), *([("c", consumption)] if consumption else [])]:
            members |= {
                f"pick_{i}": In(range(vcs)),
                f"soon_{i}": In(1),
                f"pick_after_{i}": In(1),
                f"ready_{i}": In(vcs),
                f"ready_after_{i}": In(vcs),
            }
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        coupled = self.readers == 1
        owns_link = Signal()
        owns_consumption = Signal()
        done = [Signal(name=f"done_{r}") for r in range(self.readers)] if not coupled else [C(0)]
        goes_on = Signal()
        active = Signal()
        m.d.comb += [
            goes_on.eq(self.links.any()),
            active.eq(goes_on | self.here),
            self.wants_consumption.eq(self.here & ~owns_consumption),
            self.wants_link.eq(goes_on & ~owns_link & ~self.wants_consumption & ~done[0]),
            self.undecided.eq(self.here & owns_consumption & ~goes_on),
            self.unread.eq((~active | self.undecided) & self.has_0),
        ]

        fetch = Signal()
        m.d.comb += fetch.eq(self.shown_0 & self.has_0 & self.head_0 & ~goes_on & ~self.wants_consumption)
        with m.If(fetch):
            m.d.sync += [self.links.eq(self.fetched_links), self.here.eq(self.here | self.fetched_here)]

        # the reader of the consumption channel is the last one; a halted win sends nothing
        advance, ends = [], []
        for r in range(self.readers):
            won, head, tail = getattr(self, f"won_{r}"), getattr(self, f"head_{r}"), getattr(self, f"tail_{r}")
            halted = self.undecided & head if r == self.readers - 1 else C(0)
            advance.append(won & ~halted)
            ends.append(won & tail & ~self.wants_consumption)
        if self.consumption:
            with m.If(advance[-1] & self.wants_consumption):
                m.d.sync += [owns_consumption.eq(1), self.consumption_vc.eq(self.pick_c)]
        with m.If(advance[0] & self.wants_link):
            picked = [Mux(self.links[i], getattr(self, f"pick_{i}"), 0) for i in range(len(self.links_vcs))]
            m.d.sync += [owns_link.eq(1), self.link_vc.eq(_any(picked))]
        through = ends[0]
        if not coupled:
            used = [goes_on, self.here]
            through = Cat(done[r] | ends[r] | ~used[r] for r in range(2)).all() & Cat(ends).any()
            for r in range(2):
                with m.If(ends[r]):
                    m.d.sync += done[r].eq(1)
        with m.If(through):
            m.d.sync += [self.links.eq(0), self.here.eq(0), owns_link.eq(0), owns_consumption.eq(0)]
            m.d.sync += [d.eq(0) for d in done if not coupled]

        # credits of what is owned, or a sight of a free virtual channel
        link, link_after = ~goes_on, ~goes_on
        for i, vcs in enumerate(self.links_vcs):
            now = Mux(owns_link, _at(getattr(self, f"ready_{i}"), self.link_vc, vcs), getattr(self, f"soon_{i}"))
            after = Mux(owns_link, _at(getattr(self, f"ready_after_{i}"), self.link_vc, vcs),
                        getattr(self, f"pick_after_{i}"))
            link, link_after = link | (self.links[i] & now), link_after | (self.links[i] & after)
        channel = channel_after = soon = C(1)
        if self.consumption:
            channel = ~self.here | _at(self.ready_c, self.consumption_vc, self.consumption)
            channel_after = ~self.here | _at(self.ready_after_c, self.consumption_vc, self.consumption)
            soon = self.soon_c

        for r in range(self.readers):
            tail = getattr(self, f"tail_{r}")
            # a flit is there in the next cycle, if none / one leaves in this one
            flit = getattr(self, f"has_{r}") | self.write
            flit_after = getattr(self, f"more_{r}") | self.write
            if coupled:
                lost = Mux(self.wants_consumption, soon, active & flit & link & channel) | (fetch & ~self.here)
                won = Mux(self.wants_consumption, Mux(goes_on, link, flit_after),
                          flit_after & link_after & channel_after & ~tail)
            elif r == 0:
                lost = goes_on & ~done[0] & flit & link | fetch
                won = flit_after & link_after & ~tail
            else:
                lost = Mux(self.wants_consumption, soon, self.here & ~done[1] & flit & channel) | fetch & ~self.here
                won = Mux(self.wants_consumption, goes_on | flit_after, flit_after & channel_after & ~tail)
            unread = (~active | self.undecided) & flit if r == 0 else C(0)
            eligible = getattr(self, f"eligible_{r}")
            m.d.sync += eligible.eq(Mux(advance[r], won, lost))
            m.d.comb += [
                getattr(self, f"want_{r}").eq(lost | unread),
                getattr(self, f"want_after_{r}").eq(won | (tail & flit_after if r == 0 else C(0))),
            ]

        with m.If(self.wants_consumption):
            m.d.comb += self.state.eq(WormState.WANTS_CONSUMPTION)
        with m.Elif(self.undecided):
            m.d.comb += self.state.eq(WormState.CONSUMED)
        with m.Elif(self.wants_link):
            m.d.comb += self.state.eq(WormState.WANTS_LINK)
        with m.Elif(active):
            m.d.comb += self.state.eq(WormState.MOVES)
        return m


def _any(values: list[Value]) -> Value:
    """OR of several values."""
    result = values[0]
    for value in values[1:]:
        result = result | value
    return result


def _at(bits: Value, index: Value, count: int) -> Value:
    """The bit of ``bits`` at ``index``, of ``count``."""
    return Array(bits[v] for v in range(count))[index] if count > 1 else bits[0]
