"""State machine of one input virtual channel."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from .logic import any_of, bit_at, bits_for, late_mux

__all__ = ["InputVC", "WormState"]


class WormState(enum.Enum, shape=3):
    """State of the worm at the front of an input virtual channel. Waveforms show it."""

    IDLE = 0  #: no worm, or its header has not been fetched
    WANTS_CONSUMPTION = 1  #: at a destination; waits for a consumption channel
    WANTS_LINK = 2  #: waits for a virtual channel of the next link
    MOVES = 3  #: holds all virtual channels that it needs
    CONSUMED = 4  #: holds a consumption channel; its next link is unknown until the next header flit


class InputVC(wiring.Component):
    """State of one input virtual channel.

    ::

        IDLE ─ fetch ─┬────────────────────────────────────────▶ WANTS_LINK ─▶ MOVES ─ tail ─▶ IDLE
                      └─▶ WANTS_CONSUMPTION ─┬─ next link known ────▲             ▲
                                             ├─ last destination ─────────────────┘
                                             └─ stripped ─▶ CONSUMED ─┬─ header flit ─▶ WANTS_LINK
                                                                      ├─ payload ─▶ MOVES
                                                                      └─ tail ─▶ IDLE

    The requests of a cycle come from registers. ``eligible`` of a reader: the worm has a flit, and the credit or the
    virtual channel that the flit needs is expected. ``claims``: the worm requests a consumption channel. Two next
    values of ``eligible`` are computed, and the grant selects one. The next value of ``eligible`` after a lost request
    is computed here, that after a grant in the input unit, once for all virtual channels. *Reset*: idle.

    Parameters
    ----------
    links : list of list of int
        For each target (pair of a network output and a class) its virtual channels.
    consumption : int
        Consumption channels; 0 if worms cannot use an ejection port.
    classes, class_bits : int
        Number of consumption classes, the last one for worms that may take any channel; bits of the class of a worm
        that is not at its last destination.
    exits : int
        Number of ejection ports that worms can use.
    choice : bool
        Adaptive routing: any one of the fetched targets suffices.
    absorbs : bool
        A worm with a destination here ends here. The header flits of a worm that ends here may go to the consumption
        channel.
    readers : int
        1: coupled; 2: reader 0 serves the links, reader 1 the consumption channels.

    Members
    -------
    write : In(1)
        A flit for this virtual channel is on the link.
    has_{r} : In(1)
        A flit is stored for reader r.
    shown_{r}, head_{r}, tail_{r} : In(1)
        Reader r presents this virtual channel; marks of the presented flit.
    fetched_links, fetched_here, fetched_kind, fetched_ends_here, fetched_nothing : In
        Route in the presented header flit: targets; a destination is here; its consumption class; the worm's last
        destination is here; the flit requests nothing, and is not fetched.
    won_{r}, again_{r} : In(1)
        The request of this virtual channel by reader r is granted; if it is granted, the virtual channel is eligible in
        the next cycle.
    pick_link, pick_c : In
        The virtual channel of the link, and the consumption channel, that a grant takes.
    soon_{i}, ready_{i} : In
        State of the outputs' virtual channels, as in `OutputUnit`. ``c`` in place of i stands for the ejection port,
        where ``soon`` is that of the worm's class.
    fetched_soon : In(1)
        ``soon_c`` for the consumption class of the presented header flit.
    fetched_keeps : In(1)
        The presented header flit itself goes to the consumption channel. Only with ``absorbs``.
    fetched_exit : In(range(exits))
        Ejection port of the worm that ends here. ``fetched_exit`` and ``exit`` exist only with several ejection ports.
    links, here : Out
        Targets of the worm: a network output and class, one-hot; the consumption channel.
    exit : Out(range(exits))
        Ejection port of the consumption channel.
    kind : Out
        Consumption class of the worm, while it needs a consumption channel.
    ends_here : Out(1)
        The worm's last destination is here, or its list broke off here: no further header flit follows.
    wants_consumption, owns_link, undecided : Out(1)
        The worm needs a consumption channel, and requests nothing else before it has one. ``owns_link``: the worm owns
        a virtual channel of the next link. ``undecided``: the worm holds a consumption channel, and its next link is
        unknown.
    under_way_{r} : Out(1)
        Reader r has finished the header flit with the worm's route: a further header flit belongs to the next worm.
    unread : Out(1)
        The front flit may be a header flit that reader 0 has to fetch.
    link_vc, consumption_vc : Out
        Virtual channels that the worm owns. Until a worm that stops here on its way owns a consumption channel,
        ``consumption_vc`` holds its class.
    eligible_{r} : Out(1)
        The request for reader r is valid. ``eligible`` is undefined while the channel is idle.
    claims : Out(1)
        The last reader requests a consumption channel, and sends no flit on it.
    want_{r} : Out(1)
        The virtual channel needs reader r in the next cycle, if its request is not granted in this one.
    state : Out(WormState)
    """

    def __init__(self, *, links: list[list[int]], consumption: int, classes: int, class_bits: int, readers: int,
                 exits: int = 1, choice: bool = False, absorbs: bool = False):
        self.links_vcs = links
        self.consumption = consumption
        self.classes = classes
        self.class_bits = class_bits
        self.readers = readers
        self.exits = exits
        self.choice = choice
        self.absorbs = absorbs
        vcs = max((max(channels) + 1 for channels in links), default=1)
        members: dict = {
            "write": In(1),
            "fetched_links": In(len(links)),
            "fetched_here": In(1),
            "fetched_kind": In(class_bits),
            "fetched_soon": In(1),
            "fetched_ends_here": In(1),
            "fetched_nothing": In(1),
            "links": Out(len(links)),
            "here": Out(1),
            "kind": Out(range(classes)),
            "ends_here": Out(1),
            "wants_consumption": Out(1),
            "owns_link": Out(1),
            "claims": Out(1),
            "undecided": Out(1),
            "unread": Out(1),
            "pick_link": In(range(vcs)),
            "link_vc": Out(range(vcs)),
            "consumption_vc": Out(max(bits_for(consumption), class_bits)),
            "state": Out(WormState),
        }
        for r in range(readers):
            for name in ("has", "shown", "head", "tail", "won", "again"):
                members[f"{name}_{r}"] = In(1)
            for name in ("eligible", "want", "under_way"):
                members[f"{name}_{r}"] = Out(1)
        if absorbs:
            members["fetched_keeps"] = In(1)
        if exits > 1:
            members |= {"fetched_exit": In(range(exits)), "exit": Out(range(exits))}
        counts = [max(channels) + 1 for channels in links]
        for i, count in [*enumerate(counts), *([("c", consumption)] if consumption else [])]:
            members |= {f"soon_{i}": In(1), f"ready_{i}": In(count)}
        if consumption:
            members["pick_c"] = In(range(consumption))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        coupled = self.readers == 1
        done = [Signal(name=f"done_{r}") for r in range(self.readers)] if not coupled else [C(0)]
        goes_on = Signal()
        active = Signal()
        looks = Signal()
        m.d.comb += [
            goes_on.eq(self.links.any()),
            active.eq(goes_on | self.here),
            looks.eq(~goes_on & ~self.wants_consumption & ~self.ends_here),
            self.undecided.eq(looks & self.here),
            self.unread.eq(looks & self.has_0),
        ]

        fetch = Signal()
        m.d.comb += fetch.eq(self.shown_0 & self.has_0 & self.head_0 & looks & ~self.fetched_nothing)
        # the last reader serves the consumption channel; a halted grant sends nothing
        advance, ends = [], []
        for r in range(self.readers):
            won, head, tail = getattr(self, f"won_{r}"), getattr(self, f"head_{r}"), getattr(self, f"tail_{r}")
            halted = self.undecided & head if r == self.readers - 1 else C(0)
            advance.append(won & ~halted)
            ends.append(won & tail)
        through = ends[0]
        if not coupled:
            used = [goes_on, self.here]
            through = Cat(done[r] | ends[r] | ~used[r] for r in range(2)).all() & Cat(ends).any()
            m.d.sync += [done[r].eq((done[r] | ends[r]) & ~through) for r in range(2)]
        stays = ~through
        consumes, sees_head = getattr(self, f"won_{self.readers - 1}"), getattr(self, f"head_{self.readers - 1}")
        cut = self.undecided & consumes & ~sees_head
        m.d.sync += [
            self.links.eq(self._chosen(m, fetch, stays) if self.choice else
                          late_mux(fetch, self.fetched_links, self.links & stays.replicate(len(self.links)))),
            self.owns_link.eq((self.owns_link | (self.won_0 & goes_on & ~self.claims)) & stays),
        ]
        # until a channel is owned, `link_vc` follows the pick, so that the late grant sets `owns_link` alone
        with m.If(~self.owns_link):
            m.d.sync += self.link_vc.eq(self.pick_link)
        if self.consumption:
            m.d.sync += [
                self.here.eq((self.here & stays) | (fetch & self.fetched_here)),
                # payload after a used-up header flit: the worm ends here, as no address follows
                self.ends_here.eq(((self.ends_here | cut) & stays) | (fetch & self.fetched_ends_here)),
            ]
            if self.exits > 1:
                m.d.sync += self.exit.eq(Mux(fetch & ~self.here, self.fetched_exit, self.exit))
            reserved = Signal()
            held = self.consumption_vc
            m.d.comb += reserved.eq(advance[-1] & self.claims)
            m.d.sync += self.wants_consumption.eq(
                (self.wants_consumption & ~reserved) | (fetch & self.fetched_here & ~self.here)
            )
            # before the reservation this register holds the class; at the last destination any channel is allowed
            m.d.comb += self.kind.eq(Mux(self.ends_here, self.classes - 1, held[:self.class_bits]))
            m.d.sync += held.eq(Mux(self.wants_consumption, Mux(self.ends_here | reserved, self.pick_c, held),
                                    Mux(fetch & ~self.here, self.fetched_kind, held)))

        ended_here = self.ends_here & ~self.wants_consumption
        if self.absorbs:
            keeps = Signal()  # the fetched flit has not been sent
            m.d.sync += keeps.eq((fetch & self.fetched_keeps) | (keeps & ~(advance[-1] & ~self.claims)))
            ended_here &= ~keeps
        if coupled:
            m.d.comb += self.under_way_0.eq(self.owns_link | ended_here)
        else:
            copied = Signal()
            m.d.sync += copied.eq((copied | (advance[1] & ~self.claims & goes_on)) & stays)
            m.d.comb += [self.under_way_0.eq(self.owns_link), self.under_way_1.eq(copied | ended_here)]

        # a credit of the owned virtual channel, or a virtual channel that is expected to be free
        target = range(len(self.links_vcs))
        ready = [
            any_of([self.links[i] & getattr(self, f"ready_{i}")[v] for i in target if v in self.links_vcs[i]])
            for v in range(max((len(getattr(self, f"ready_{i}")) for i in target), default=0))
        ]
        wanted = self._options if self.choice else self.links
        looks_free = any_of([wanted[i] & getattr(self, f"soon_{i}") for i in target])
        link = ~goes_on | Mux(self.owns_link, bit_at(ready, self.link_vc) if ready else C(0), looks_free)
        channel, soon = C(1), C(0)
        if self.consumption:
            owned = self.consumption_vc[:bits_for(self.consumption)]
            channel, soon = ~self.here | bit_at(self.ready_c, owned), self.soon_c
            m.d.comb += self.claims.eq(getattr(self, f"eligible_{self.readers - 1}") & self.wants_consumption)

        # a header flit with a bad address, after a used-up one, leaves without a grant
        dropped = Signal()
        m.d.comb += dropped.eq(self.shown_0 & self.unread & self.fetched_nothing)
        claim = fetch & ~self.here & self.fetched_here
        for r in range(self.readers):
            # a flit is stored in the next cycle, if no flit leaves in this one
            flit = getattr(self, f"has_{r}") | self.write
            if coupled:
                # also true while idle: idle channels request nothing, and a worm that is fetched can request at once
                goes = flit & ~dropped & link & channel & (~claim | self.fetched_soon)
                lost = Mux(self.wants_consumption, soon, goes)
                # `want` differs from `goes`: a turn in which reader 0 looks for a header flit is used up
                want = Mux(self.wants_consumption, soon, flit & (looks | link & channel))
            elif r == 0:
                # only when a consumption channel is about to be reserved: till then reader 0 presents other channels
                near = ~self.wants_consumption | self.claims
                goes = goes_on & ~done[0] & near & flit & link
                lost, want = goes | fetch & ~self.fetched_here, goes | looks & flit
            else:
                goes = self.here & ~self.wants_consumption & ~done[1] & flit & ~dropped & channel
                begins = fetch & ~self.here & ~self.fetched_here
                lost = want = goes | begins | Mux(self.wants_consumption, soon, claim)
            m.d.sync += getattr(self, f"eligible_{r}").eq(Mux(advance[r], getattr(self, f"again_{r}"), lost))
            m.d.comb += getattr(self, f"want_{r}").eq(want)

        with m.If(self.wants_consumption):
            m.d.comb += self.state.eq(WormState.WANTS_CONSUMPTION)
        with m.Elif(self.undecided):
            m.d.comb += self.state.eq(WormState.CONSUMED)
        with m.Elif(goes_on & ~self.owns_link & ~done[0]):
            m.d.comb += self.state.eq(WormState.WANTS_LINK)
        with m.Elif(active):
            m.d.comb += self.state.eq(WormState.MOVES)
        return m

    def _chosen(self, m, fetch, stays) -> Value:
        """Return the target, of those that suffice, that the worm requests in the next cycle.

        The present target stays while it is expected to be free; otherwise the first target that is expected to be free
        replaces it. A granted target stays.
        """
        count = len(self.links)
        self._options = Signal(count, name="options")
        m.d.sync += self._options.eq(late_mux(fetch, self.fetched_links, self._options & stays.replicate(count)))
        looks = Cat(getattr(self, f"soon_{i}") for i in range(count))
        fetched, waiting = self.fetched_links & looks, self._options & looks
        begins = Mux(fetched.any(), _first(fetched), _first(self.fetched_links))
        keeps = self.owns_link | self.won_0 | (self.links & looks).any() | ~waiting.any()
        return Mux(fetch, begins, Mux(keeps, self.links, _first(waiting)) & stays.replicate(count))


def _first(bits: Value) -> Value:
    """Return the lowest bit that is set, one-hot."""
    return Cat(bit & ~bits[:i].any() if i else bit for i, bit in enumerate(bits))
