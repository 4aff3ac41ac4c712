"""State machine of one input virtual channel."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from .bundles import RouteSignature, by_name
from .logic import any_of, bit_at, bits_for, late_mux

__all__ = ["InputVC", "ServiceSignature", "TargetSignature", "WormState"]


class WormState(enum.Enum, shape=3):
    """State of the worm at the front of an input virtual channel. Waveforms show it."""

    IDLE = 0  #: no worm, or its header has not been fetched
    WANTS_CONSUMPTION = 1  #: the worm is at a destination, and waits for a consumption channel
    WANTS_LINK = 2  #: the worm waits for a virtual channel of the next link
    MOVES = 3  #: the worm holds all virtual channels that it needs
    CONSUMED = 4  #: the worm holds a consumption channel; its next link is unknown until its next header flit


class ServiceSignature(wiring.Signature):
    """Signals between a virtual channel and one reader of its buffer, with the directions of the virtual channel.

    Members
    -------
    has : In(1)
        A flit is stored for the reader.
    shown : In(1)
        The reader presents this virtual channel.
    head, tail : In(1)
        Marks of the presented flit.
    won : In(1)
        The request of this virtual channel for the reader is granted.
    again : In(1)
        If the request is granted, the virtual channel is eligible in the next cycle.
    eligible : Out(1)
        The request for the reader is valid. ``eligible`` is undefined while the channel is idle.
    want : Out(1)
        The virtual channel needs the reader in the next cycle, if its request is not granted in this one.
    under_way : Out(1)
        The reader has finished the header flit with the worm's route: a further header flit belongs to the next worm.
    """

    def __init__(self):
        super().__init__({
            **{name: In(1) for name in ("has", "shown", "head", "tail", "won", "again")},
            **{name: Out(1) for name in ("eligible", "want", "under_way")},
        })


class TargetSignature(wiring.Signature):
    """State of an output's virtual channels, for a worm that may use this output.

    Members
    -------
    soon : Out(1)
        A virtual channel of the worm's class can be taken in the next cycle, if no header takes a channel in this one.
    ready : Out(vcs)
        In the next cycle this virtual channel can send a flit, if nothing is sent on it in this one.
    pick : Out(range(vcs))
        The virtual channel that a grant takes. Only with ``picks``.

    Parameters
    ----------
    vcs : int
        Virtual channels.
    picks : bool
    """

    def __init__(self, *, vcs: int, picks: bool = False):
        super().__init__({"soon": Out(1), "ready": Out(vcs), **({"pick": Out(range(vcs))} if picks else {})})


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
    values of ``eligible`` are computed, and the grant selects one. This component computes the value after a lost
    request; the input unit computes the value after a grant, once for all virtual channels. *Reset*: idle.

    Parameters
    ----------
    targets : dict of str to list of int
        For each target (pair of a network output and a class) its virtual channels.
    consumption : int
        Consumption channels; 0 if worms cannot use an ejection port.
    classes : int
        Number of consumption classes. The last class is for worms that may take any channel.
    class_bits : int
        Bits of the consumption class of a worm that is not at its last destination.
    exits : int
        Number of ejection ports that worms can use.
    choice : bool
        Adaptive routing: any one of the fetched targets suffices.
    absorbs : bool
        True: a worm with a destination here ends here. With ``absorbs``, the header flits of a worm that ends here may
        go to the consumption channel.
    readers : int
        1: coupled; 2: reader 0 serves the links, reader 1 the consumption channels.

    Members
    -------
    write : In(1)
        A flit arrives for this virtual channel: ``arrives`` of the buffer.
    readers_{r} : Out(ServiceSignature)
        Service by reader {r}.
    fetched : In(RouteSignature)
        Route in the presented header flit.
    fetched_soon : In(1)
        A consumption channel of the presented header flit's class can be taken in the next cycle: bit of ``soon`` in
        the ejection port's offer.
    pick_link : In
        The virtual channel of the link that a grant takes.
    targets_{target} : In(TargetSignature)
        State of the virtual channels of a target's output.
    exit_offer : In(TargetSignature)
        State of the ejection port's consumption channels, for the worm's class.
    links : Out
        The worm's target, one-hot: a network output and a class of virtual channels.
    here : Out(1)
        The worm has a destination here.
    exit : Out(range(exits))
        Ejection port of the consumption channel. ``exit`` exists only with several ejection ports.
    kind : Out
        Consumption class of the worm, while it needs a consumption channel.
    ends_here : Out(1)
        The worm's last destination is here, or its address list broke off here: no further header flit follows.
    wants_consumption : Out(1)
        The worm needs a consumption channel, and requests nothing else before it has one.
    owns_link : Out(1)
        The worm owns a virtual channel of the next link.
    undecided : Out(1)
        The worm holds a consumption channel, and its next link is unknown.
    unread : Out(1)
        The front flit may be a header flit that reader 0 has to fetch.
    link_vc, consumption_vc : Out
        Virtual channels that the worm owns. Until a worm that stops here on its way owns a consumption channel,
        ``consumption_vc`` holds its class.
    claims : Out(1)
        The last reader requests a consumption channel, and sends no flit on it.
    state : Out(WormState)
    """

    def __init__(self, *, targets: dict[str, list[int]], consumption: int, classes: int, class_bits: int, readers: int,
                 exits: int = 1, choice: bool = False, absorbs: bool = False):
        self.links_vcs = list(targets.values())
        self.consumption = consumption
        self.classes = classes
        self.class_bits = class_bits
        self.exits = exits
        self.choice = choice
        self.absorbs = absorbs
        counts = {name: max(channels) + 1 for name, channels in targets.items()}
        vcs = max(counts.values(), default=1)
        super().__init__({
            "write": In(1),
            "readers": Out(ServiceSignature()).array(readers),
            "fetched": In(RouteSignature(targets=len(targets), exits=exits, class_bits=class_bits, absorbs=absorbs)),
            "fetched_soon": In(1),
            "pick_link": In(range(vcs)),
            "targets": In(wiring.Signature({name: Out(TargetSignature(vcs=count)) for name, count in counts.items()})),
            **({"exit_offer": In(TargetSignature(vcs=consumption, picks=True))} if consumption else {}),
            "links": Out(len(targets)),
            "here": Out(1),
            **({"exit": Out(range(exits))} if exits > 1 else {}),
            "kind": Out(range(classes)),
            "ends_here": Out(1),
            "wants_consumption": Out(1),
            "owns_link": Out(1),
            "undecided": Out(1),
            "unread": Out(1),
            "link_vc": Out(range(vcs)),
            "consumption_vc": Out(max(bits_for(consumption), class_bits)),
            "claims": Out(1),
            "state": Out(WormState),
        })
        self.target = list(by_name(self.targets).values())  #: by bit of ``links``

    def elaborate(self, platform):
        m = Module()
        first, last = self.readers[0], self.readers[-1]
        coupled = len(self.readers) == 1
        done = [Signal(name=f"done_{r}") for r in range(len(self.readers))] if not coupled else [C(0)]
        goes_on = Signal()
        active = Signal()
        looks = Signal()
        m.d.comb += [
            goes_on.eq(self.links.any()),
            active.eq(goes_on | self.here),
            looks.eq(~goes_on & ~self.wants_consumption & ~self.ends_here),
            self.undecided.eq(looks & self.here),
            self.unread.eq(looks & first.has),
        ]

        fetch = Signal()
        m.d.comb += fetch.eq(first.shown & first.has & first.head & looks & ~self.fetched.nothing)
        # the last reader serves the consumption channel; while the worm's next link is unknown, it sends no header flit
        advance = [reader.won & ~(self.undecided & reader.head) if reader is last else reader.won
                   for reader in self.readers]
        ends = [reader.won & reader.tail for reader in self.readers]
        through = ends[0]
        if not coupled:
            used = [goes_on, self.here]
            through = Cat(done[r] | ends[r] | ~used[r] for r in range(2)).all() & Cat(ends).any()
            m.d.sync += [done[r].eq((done[r] | ends[r]) & ~through) for r in range(2)]
        stays = ~through
        m.d.sync += [
            self.links.eq(self._chosen(m, fetch, stays) if self.choice else
                          late_mux(fetch, self.fetched.links, self.links & stays.replicate(len(self.links)))),
            self.owns_link.eq((self.owns_link | (first.won & goes_on & ~self.claims)) & stays),
        ]
        # until a channel is owned, `link_vc` follows the pick, so that the late grant only sets `owns_link`
        with m.If(~self.owns_link):
            m.d.sync += self.link_vc.eq(self.pick_link)
        if self.consumption:
            self._consume(m, fetch, stays, advance[-1])

        ended_here = self.ends_here & ~self.wants_consumption
        if self.absorbs:
            keeps = Signal()  # the fetched flit has not been sent
            m.d.sync += keeps.eq((fetch & self.fetched.keeps) | (keeps & ~(advance[-1] & ~self.claims)))
            ended_here &= ~keeps
        if coupled:
            m.d.comb += first.under_way.eq(self.owns_link | ended_here)
        else:
            copied = Signal()
            m.d.sync += copied.eq((copied | (advance[1] & ~self.claims & goes_on)) & stays)
            m.d.comb += [first.under_way.eq(self.owns_link), last.under_way.eq(copied | ended_here)]

        self._prepare(m, fetch, goes_on, looks, done, advance)
        with m.If(self.wants_consumption):
            m.d.comb += self.state.eq(WormState.WANTS_CONSUMPTION)
        with m.Elif(self.undecided):
            m.d.comb += self.state.eq(WormState.CONSUMED)
        with m.Elif(goes_on & ~self.owns_link & ~done[0]):
            m.d.comb += self.state.eq(WormState.WANTS_LINK)
        with m.Elif(active):
            m.d.comb += self.state.eq(WormState.MOVES)
        return m

    def _consume(self, m, fetch, stays, advances):
        """Update the worm's stop at this router, and its consumption channel. ``advances``: a grant sends a flit, or
        reserves a channel."""
        last, held = self.readers[-1], self.consumption_vc
        cut = self.undecided & last.won & ~last.head
        m.d.sync += [
            self.here.eq((self.here & stays) | (fetch & self.fetched.here)),
            # payload after a used-up header flit: the worm ends here, as no address follows
            self.ends_here.eq(((self.ends_here | cut) & stays) | (fetch & self.fetched.ends_here)),
        ]
        if self.exits > 1:
            m.d.sync += self.exit.eq(Mux(fetch & ~self.here, self.fetched.exit, self.exit))
        reserved = Signal()
        m.d.comb += [
            reserved.eq(advances & self.claims),
            self.claims.eq(last.eligible & self.wants_consumption),
            # before the reservation `held` is the class; at the last destination any channel is allowed
            self.kind.eq(Mux(self.ends_here, self.classes - 1, held[:self.class_bits])),
        ]
        m.d.sync += [
            self.wants_consumption.eq((self.wants_consumption & ~reserved) | (fetch & self.fetched.here & ~self.here)),
            held.eq(Mux(self.wants_consumption, Mux(self.ends_here | reserved, self.exit_offer.pick, held),
                        Mux(fetch & ~self.here, self.fetched.kind, held))),
        ]

    def _prepare(self, m, fetch, goes_on, looks, done, advance):
        """Compute the requests of the next cycle: ``eligible`` and ``want`` of each reader."""
        first = self.readers[0]
        # `link`: the owned virtual channel has a credit, or a virtual channel of the link is expected to be free
        ready = [
            any_of([self.links[i] & target.ready[v]
                    for i, target in enumerate(self.target) if v in self.links_vcs[i]])
            for v in range(max((len(target.ready) for target in self.target), default=0))
        ]
        wanted = self._options if self.choice else self.links
        looks_free = any_of([wanted[i] & target.soon for i, target in enumerate(self.target)])
        link = ~goes_on | Mux(self.owns_link, bit_at(ready, self.link_vc) if ready else C(0), looks_free)
        channel, soon = C(1), C(0)
        if self.consumption:
            owned = self.consumption_vc[:bits_for(self.consumption)]
            channel, soon = ~self.here | bit_at(self.exit_offer.ready, owned), self.exit_offer.soon

        # a header flit with a bad address that follows a used-up header flit leaves the buffer without a grant
        dropped = Signal()
        m.d.comb += dropped.eq(first.shown & self.unread & self.fetched.nothing)
        claim = fetch & ~self.here & self.fetched.here
        for r, reader in enumerate(self.readers):
            # `flit`: the buffer has a flit for the reader in the next cycle, if no flit leaves in this one
            flit = reader.has | self.write
            if len(self.readers) == 1:
                # `goes` may be 1 for an idle channel, because its `links` are 0
                # a worm that is fetched in this cycle can therefore request in the next one
                goes = flit & ~dropped & link & channel & (~claim | self.fetched_soon)
                lost = Mux(self.wants_consumption, soon, goes)
                # `want` is also 1 while a header flit may have to be fetched, which takes a turn of reader 0
                want = Mux(self.wants_consumption, soon, flit & (looks | link & channel))
            elif r == 0:
                # `near`: the worm needs no consumption channel, or claims one in this cycle
                # a worm without `near` uses no turn of reader 0
                near = ~self.wants_consumption | self.claims
                goes = goes_on & ~done[0] & near & flit & link
                lost, want = goes | fetch & ~self.fetched.here, goes | looks & flit
            else:
                goes = self.here & ~self.wants_consumption & ~done[1] & flit & ~dropped & channel
                begins = fetch & ~self.here & ~self.fetched.here
                lost = want = goes | begins | Mux(self.wants_consumption, soon, claim)
            m.d.sync += reader.eligible.eq(Mux(advance[r], reader.again, lost))
            m.d.comb += reader.want.eq(want)

    def _chosen(self, m, fetch, stays) -> Value:
        """Return the target, of those that suffice, that the worm requests in the next cycle.

        The present target stays while it is expected to be free; otherwise the first target that is expected to be free
        replaces it. A granted target stays.
        """
        count = len(self.links)
        self._options = Signal(count, name="options")
        m.d.sync += self._options.eq(late_mux(fetch, self.fetched.links, self._options & stays.replicate(count)))
        looks = Cat(target.soon for target in self.target)
        fetched, waiting = self.fetched.links & looks, self._options & looks
        begins = Mux(fetched.any(), _first(fetched), _first(self.fetched.links))
        keeps = self.owns_link | self.readers[0].won | (self.links & looks).any() | ~waiting.any()
        return Mux(fetch, begins, Mux(keeps, self.links, _first(waiting)) & stays.replicate(count))


def _first(bits: Value) -> Value:
    """Return the lowest bit that is set, one-hot."""
    return Cat(bit & ~bits[:i].any() if i else bit for i, bit in enumerate(bits))
