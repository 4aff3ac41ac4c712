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
    presented : In(1)
        The reader presents this virtual channel.
    head, tail : In(1)
        Marks of the presented flit.
    granted : In(1)
        The request of this virtual channel for the reader is granted.
    eligible_after_grant : In(1)
        If the request is granted, the virtual channel is eligible in the next cycle.
    eligible : Out(1)
        If the reader presents this virtual channel, the reader requests outputs for it in this cycle. ``eligible`` is
        undefined while the channel is idle.
    want : Out(1)
        The virtual channel needs the reader in the next cycle, if its request is not granted in this one.
    under_way : Out(1)
        The reader has finished the header flit with the worm's route: a further header flit with a route belongs to the
        next worm.
    """

    def __init__(self):
        super().__init__({
            **{name: In(1) for name in ("has", "presented", "head", "tail", "granted", "eligible_after_grant")},
            **{name: Out(1) for name in ("eligible", "want", "under_way")},
        })


class TargetSignature(wiring.Signature):
    """State of an output's virtual channels, for a worm that may use this output.

    Members
    -------
    vc_free_next : Out(1)
        A virtual channel of the worm's class can be taken in the next cycle, if no header takes a channel in this one.
    ready : Out(vcs)
        In the next cycle this virtual channel can send a flit, if nothing is sent on it in this one.
    vc_candidate : Out(range(vcs))
        The virtual channel that a grant takes. Only with ``candidates``.

    Parameters
    ----------
    vcs : int
        Virtual channels.
    candidates : bool
    """

    def __init__(self, *, vcs: int, candidates: bool = False):
        super().__init__({
            "vc_free_next": Out(1),
            "ready": Out(vcs),
            **({"vc_candidate": Out(range(vcs))} if candidates else {}),
        })


class InputVC(wiring.Component):
    """State of one input virtual channel.

    ::

        IDLE ─ latch ─┬────────────────────────────────────────▶ WANTS_LINK ─▶ MOVES ─ tail ─▶ IDLE
                      └─▶ WANTS_CONSUMPTION ─┬─ next link known ────▲             ▲
                                             ├─ last destination ─────────────────┘
                                             └─ stripped ─▶ CONSUMED ─┬─ header flit ─▶ WANTS_LINK
                                                                      ├─ payload ─▶ MOVES
                                                                      └─ tail ─▶ IDLE

    The requests of a cycle come from registers. ``eligible`` of a reader: the worm has a flit, and the credit or the
    virtual channel that the flit needs is expected. ``consumption_request``: the worm requests a consumption channel.
    Two next values of ``eligible`` are computed, and the grant selects one. This component computes the value after a
    lost request; the input unit computes the value after a grant, once for all virtual channels. *Reset*: idle.

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
    ejection_ports : int
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
    header_route : In(RouteSignature)
        Route in the presented header flit.
    header_vc_free_next : In(1)
        A consumption channel of the presented header flit's class can be taken in the next cycle: bit of
        ``vc_free_next`` in the ejection port's offer.
    link_vc_candidate : In
        The virtual channel of the link that a grant takes.
    targets_{target} : In(TargetSignature)
        State of the virtual channels of a target's output.
    ejection_offer : In(TargetSignature)
        State of the ejection port's consumption channels, for the worm's class.
    links : Out
        The worm's target, one-hot: a network output and a class of virtual channels.
    here : Out(1)
        The worm has a destination here.
    ejection_port : Out(range(ejection_ports))
        Ejection port of the consumption channel. ``ejection_port`` exists only with several ejection ports.
    consumption_class : Out
        Consumption class of the worm, while it needs a consumption channel.
    ends_here : Out(1)
        The worm ends here: its last destination is here, its address list broke off here, or (``absorbs``) the node's
        interface absorbs it.
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
    consumption_request : Out(1)
        The last reader requests a consumption channel for the worm. The grant of this request sends no flit.
    state : Out(WormState)
    """

    def __init__(self, *, targets: dict[str, list[int]], consumption: int, classes: int, class_bits: int, readers: int,
                 ejection_ports: int = 1, choice: bool = False, absorbs: bool = False):
        self.links_vcs = list(targets.values())
        self.consumption = consumption
        self.classes = classes
        self.class_bits = class_bits
        self.ejection_ports = ejection_ports
        self.choice = choice
        self.absorbs = absorbs
        counts = {name: max(channels) + 1 for name, channels in targets.items()}
        vcs = max(counts.values(), default=1)
        super().__init__({
            "write": In(1),
            "readers": Out(ServiceSignature()).array(readers),
            "header_route": In(RouteSignature(targets=len(targets), ejection_ports=ejection_ports,
                                              class_bits=class_bits, absorbs=absorbs)),
            "header_vc_free_next": In(1),
            "link_vc_candidate": In(range(vcs)),
            "targets": In(wiring.Signature({name: Out(TargetSignature(vcs=count)) for name, count in counts.items()})),
            **({"ejection_offer": In(TargetSignature(vcs=consumption, candidates=True))} if consumption else {}),
            "links": Out(len(targets)),
            "here": Out(1),
            **({"ejection_port": Out(range(ejection_ports))} if ejection_ports > 1 else {}),
            "consumption_class": Out(range(classes)),
            "ends_here": Out(1),
            "wants_consumption": Out(1),
            "owns_link": Out(1),
            "undecided": Out(1),
            "unread": Out(1),
            "link_vc": Out(range(vcs)),
            "consumption_vc": Out(max(bits_for(consumption), class_bits)),
            "consumption_request": Out(1),
            "state": Out(WormState),
        })
        #: Members ``targets_{target}``, in the order of the bits of ``links``.
        self.target = list(by_name(self.targets).values())

    def elaborate(self, platform):
        m = Module()
        first, last = self.readers[0], self.readers[-1]
        coupled = len(self.readers) == 1
        done = [Signal(name=f"done_{r}") for r in range(len(self.readers))] if not coupled else [C(0)]
        goes_on = Signal()
        active = Signal()
        awaits_route = Signal()
        m.d.comb += [
            goes_on.eq(self.links.any()),
            active.eq(goes_on | self.here),
            awaits_route.eq(~goes_on & ~self.wants_consumption & ~self.ends_here),
            self.undecided.eq(awaits_route & self.here),
            self.unread.eq(awaits_route & first.has),
        ]

        route_latch = Signal()
        m.d.comb += route_latch.eq(first.presented & first.has & first.head & awaits_route & ~self.header_route.nothing)
        # the last reader serves the consumption channel; while the worm's next link is unknown, it sends no header flit
        advance = [reader.granted & ~(self.undecided & reader.head) if reader is last else reader.granted
                   for reader in self.readers]
        ends = [reader.granted & reader.tail for reader in self.readers]
        through = ends[0]
        if not coupled:
            used = [goes_on, self.here]
            through = Cat(done[r] | ends[r] | ~used[r] for r in range(2)).all() & Cat(ends).any()
            m.d.sync += [done[r].eq((done[r] | ends[r]) & ~through) for r in range(2)]
        stays = ~through
        m.d.sync += [
            self.links.eq(self._chosen(m, route_latch, stays) if self.choice else late_mux(
                route_latch, self.header_route.links, self.links & stays.replicate(len(self.links)))),
            self.owns_link.eq((self.owns_link | (first.granted & goes_on & ~self.consumption_request)) & stays),
        ]
        # until a channel is owned, `link_vc` follows `link_vc_candidate`; the late grant only sets `owns_link`
        with m.If(~self.owns_link):
            m.d.sync += self.link_vc.eq(self.link_vc_candidate)
        if self.consumption:
            self._consume(m, route_latch, stays, advance[-1])

        ended_here = self.ends_here & ~self.wants_consumption
        if self.absorbs:
            keeps = Signal()  # the fetched flit has not been sent
            m.d.sync += keeps.eq((route_latch & self.header_route.keeps)
                                 | (keeps & ~(advance[-1] & ~self.consumption_request)))
            ended_here &= ~keeps
        if coupled:
            m.d.comb += first.under_way.eq(self.owns_link | ended_here)
        else:
            copied = Signal()
            m.d.sync += copied.eq((copied | (advance[1] & ~self.consumption_request & goes_on)) & stays)
            m.d.comb += [first.under_way.eq(self.owns_link), last.under_way.eq(copied | ended_here)]

        self._prepare(m, route_latch, goes_on, awaits_route, done, advance)
        with m.If(self.wants_consumption):
            m.d.comb += self.state.eq(WormState.WANTS_CONSUMPTION)
        with m.Elif(self.undecided):
            m.d.comb += self.state.eq(WormState.CONSUMED)
        with m.Elif(goes_on & ~self.owns_link & ~done[0]):
            m.d.comb += self.state.eq(WormState.WANTS_LINK)
        with m.Elif(active):
            m.d.comb += self.state.eq(WormState.MOVES)
        return m

    def _consume(self, m, route_latch, stays, advances):
        """Update the worm's stop at this router, and its consumption channel. ``advances``: a grant sends a flit, or
        reserves a channel."""
        last, route, consumption_vc = self.readers[-1], self.header_route, self.consumption_vc
        cut = self.undecided & last.granted & ~last.head
        m.d.sync += [
            self.here.eq((self.here & stays) | (route_latch & route.here)),
            # payload after a used-up header flit: the worm ends here, as no address follows
            self.ends_here.eq(((self.ends_here | cut) & stays) | (route_latch & route.ends_here)),
        ]
        if self.ejection_ports > 1:
            m.d.sync += self.ejection_port.eq(Mux(route_latch & ~self.here, route.ejection_port, self.ejection_port))
        reserved = Signal()
        m.d.comb += [
            reserved.eq(advances & self.consumption_request),
            self.consumption_request.eq(last.eligible & self.wants_consumption),
            # before the reservation `consumption_vc` is the class; at the last destination any channel is allowed
            self.consumption_class.eq(Mux(self.ends_here, self.classes - 1, consumption_vc[:self.class_bits])),
        ]
        m.d.sync += [
            self.wants_consumption.eq((self.wants_consumption & ~reserved) | (route_latch & route.here & ~self.here)),
            consumption_vc.eq(Mux(
                self.wants_consumption,
                Mux(self.ends_here | reserved, self.ejection_offer.vc_candidate, consumption_vc),
                Mux(route_latch & ~self.here, route.consumption_class, consumption_vc))),
        ]

    def _prepare(self, m, route_latch, goes_on, awaits_route, done, advance):
        """Compute the requests of the next cycle: ``eligible`` and ``want`` of each reader."""
        first = self.readers[0]
        # `link`: the owned virtual channel has a credit, or a virtual channel of the link is expected to be free
        ready = [
            any_of([self.links[i] & target.ready[v]
                    for i, target in enumerate(self.target) if v in self.links_vcs[i]])
            for v in range(max((len(target.ready) for target in self.target), default=0))
        ]
        wanted = self._options if self.choice else self.links
        looks_free = any_of([wanted[i] & target.vc_free_next for i, target in enumerate(self.target)])
        link = ~goes_on | Mux(self.owns_link, bit_at(ready, self.link_vc) if ready else C(0), looks_free)
        channel, channel_free_next = C(1), C(0)
        if self.consumption:
            owned = self.consumption_vc[:bits_for(self.consumption)]
            channel = ~self.here | bit_at(self.ejection_offer.ready, owned)
            channel_free_next = self.ejection_offer.vc_free_next

        # a header flit with a bad address that follows a used-up header flit leaves the buffer without a grant
        dropped = Signal()
        m.d.comb += dropped.eq(first.presented & self.unread & self.header_route.nothing)
        stops = route_latch & ~self.here & self.header_route.here
        for r, reader in enumerate(self.readers):
            # `flit`: the buffer has a flit for the reader in the next cycle, if no flit leaves in this one
            flit = reader.has | self.write
            if len(self.readers) == 1:
                # `goes` may be 1 for an idle channel, because its `links` are 0
                # a worm that is fetched in this cycle can therefore request in the next one
                goes = flit & ~dropped & link & channel & (~stops | self.header_vc_free_next)
                lost = Mux(self.wants_consumption, channel_free_next, goes)
                # `want` is also 1 while a header flit may have to be fetched, which takes a turn of reader 0
                want = Mux(self.wants_consumption, channel_free_next, flit & (awaits_route | link & channel))
            elif r == 0:
                # `near`: the worm needs no consumption channel, or requests one in this cycle
                # a worm without `near` uses no turn of reader 0
                near = ~self.wants_consumption | self.consumption_request
                goes = goes_on & ~done[0] & near & flit & link
                lost, want = goes | route_latch & ~self.header_route.here, goes | awaits_route & flit
            else:
                goes = self.here & ~self.wants_consumption & ~done[1] & flit & ~dropped & channel
                begins = route_latch & ~self.here & ~self.header_route.here
                lost = want = goes | begins | Mux(self.wants_consumption, channel_free_next, stops)
            m.d.sync += reader.eligible.eq(Mux(advance[r], reader.eligible_after_grant, lost))
            m.d.comb += reader.want.eq(want)

    def _chosen(self, m, route_latch, stays) -> Value:
        """Return the target, of those that suffice, that the worm requests in the next cycle.

        The present target stays while it is expected to be free; otherwise the first target that is expected to be free
        replaces it. A granted target stays.
        """
        count = len(self.links)
        self._options = Signal(count, name="options")
        m.d.sync += self._options.eq(
            late_mux(route_latch, self.header_route.links, self._options & stays.replicate(count)))
        free_next = Cat(target.vc_free_next for target in self.target)
        fetched, waiting = self.header_route.links & free_next, self._options & free_next
        begins = Mux(fetched.any(), _first(fetched), _first(self.header_route.links))
        keeps = self.owns_link | self.readers[0].granted | (self.links & free_next).any() | ~waiting.any()
        return Mux(route_latch, begins, Mux(keeps, self.links, _first(waiting)) & stays.replicate(count))


def _first(bits: Value) -> Value:
    """Return the lowest bit that is set, one-hot."""
    return Cat(bit & ~bits[:i].any() if i else bit for i, bit in enumerate(bits))
