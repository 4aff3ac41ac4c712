# amaranth: UnusedElaboratable=no
"""Receive queues in smart and absorbing interfaces: consumption against counters, and any one flit that is followed."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data

from wormcast.hw import PortSpec
from wormcast.hw.interface.consumption import HOST_DEPTH, Consumption
from wormcast.hw.link import flit_layout

from .harness import Harness, Property, entry, implies
from .mutants import Mutant

__all__ = ["AbsorbedQueueHarness", "ForwardedQueueHarness"]

WHERE = "interface.consumption.Consumption."


class _QueueHarness(Harness):
    """Consumption with a receive queue, between any router and any host.

    A subclass drives in ``_goes_on`` the flit that leaves the queue, and ``held``. The events of a cycle are seen in
    the next cycle: the flits that leave the buffer, by their credits, and the flits that leave the queue, on the links.
    """

    def __init__(self, *, channels, places, packet, t_nr, depth, **options):
        super().__init__()
        self.unit = Consumption(PortSpec("network", vcs=channels, depth=depth), width=2, t_nr=t_nr, queue=places,
                                packet=packet, **options)
        self.places, self.channels, self.depth, self.t_nr = places, range(channels), depth, t_nr
        self.flits = self.unit.queue.flits

    def stores(self, flit):
        """Return whether the queue stores a flit."""
        return ~flit.head | flit.tail

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self.unit
        network, host = unit.network, unit.host
        self.leave_free(network.valid, network.vc, network.flit, host.credit)
        self.leaves, self.leaves_on = Signal(name="leaves"), Signal(network.vc.shape(), name="leaves_on")
        self.left_flit = Signal(flit_layout(unit.width), name="left_flit")
        #: The component behind the queue holds back the next packet that leaves.
        self.held = Signal(name="held_back")
        self._goes_on(m)

        whole, ready = [], []
        for v in self.channels:
            comes, credit = network.valid & (network.vc == v), network.credit[v]
            marks = [Signal(2, name=f"vc{v}_marks{k}") for k in range(self.depth)]  # of the flits in the buffer
            level = Signal(range(self.depth + 1), name=f"vc{v}_level")
            length = Signal(range(self.flits + 1), name=f"vc{v}_length")  # of the packet that comes in
            used, begun = Signal(range(self.places + 2), name=f"vc{v}_places_used"), Signal(name=f"vc{v}_begun")
            inside, tails = Signal(8, name=f"vc{v}_flits_queued"), Signal(8, name=f"vc{v}_whole")
            spent, waits = Signal(range(HOST_DEPTH + 2), name=f"vc{v}_host_has"), Signal(8, name=f"vc{v}_waits")
            stored, tail = (Signal(name=f"vc{v}_{name}") for name in ("is_stored", "is_tail"))
            goes, ends = (Signal(name=f"vc{v}_{name}") for name in ("goes", "ends"))
            self.assume(m, implies(comes, level < self.depth))
            self.assume(m, implies(comes & self.stores(network.flit) & (length == self.flits - 1), network.flit.tail))
            self.assume(m, implies(host.credit[v], spent != 0))
            here = host.valid & (host.vc == v)
            m.d.comb += [
                tail.eq(credit & marks[0][1]),
                stored.eq(credit & self.stores(data.View(data.StructLayout({"head": 1, "tail": 1}), marks[0]))),
                goes.eq(self.leaves & (self.leaves_on == v)),
                ends.eq(goes & self.left_flit.tail),
            ]
            after = [marks[k + 1] if k + 1 < self.depth else Const(0, 2) for k in range(self.depth)]
            left = level - credit
            m.d.sync += [
                *(mark.eq(Mux(comes & (left == k), Cat(network.flit)[:2], Mux(credit, following, mark)))
                  for k, (mark, following) in enumerate(zip(marks, after, strict=True))),
                level.eq(left + comes),
                spent.eq(spent + here - host.credit[v]),
                inside.eq(inside + stored - goes),
                tails.eq(tails + tail - ends),
                used.eq(used + (stored & ~begun) - ends),
            ]
            with m.If(comes & self.stores(network.flit)):
                m.d.sync += length.eq(Mux(network.flit.tail, 0, length + 1))
            with m.If(stored):
                m.d.sync += begun.eq(~tail)
            has_place = begun | (used < self.places)
            m.d.sync += waits.eq(Mux((level != 0) & has_place & ~credit, waits + 1, 0))
            self.claim(m, "overrun", ~unit.overflow[v] & ~unit.credit_error[v] & implies(credit, level != 0))
            self.claim(m, "overrun", implies(here, spent < HOST_DEPTH))
            self.claim(m, "overrun", used <= self.places)
            self.claim(m, "room", waits <= len(self.channels))
            self.claim(m, "once", implies(goes, (inside != 0) & (tails != 0)))
            whole.append(tails)
            ready.append(spent < HOST_DEPTH)

        within, on = Signal(name="within"), Signal.like(self.leaves_on, name="within_on")
        with m.If(self.leaves):
            m.d.sync += [within.eq(~self.left_flit.tail), on.eq(self.leaves_on)]
        self.claim(m, "order", implies(self.leaves & within, self.leaves_on == on))
        idle = Signal(8, name="idle")
        moves = self.leaves | self.held | ~Cat(ready).all() | ~Cat(one != 0 for one in whole).any()
        m.d.sync += idle.eq(Mux(moves, 0, idle + 1))
        self.claim(m, "leaves", idle <= max(self.t_nr, 1))
        self._flit(m)
        return m

    def _flit(self, m):
        """Follow any one stored flit from the router's link until it leaves the queue."""
        network = self.unit.network
        watch, known = self.free(name="watch"), Signal(name="flit_known")
        flit, channel = Signal.like(self.left_flit, name="known_flit"), Signal.like(network.vc, name="known_channel")
        ahead = Signal(8, name="flits_ahead")
        pending = [Signal(8, name=f"vc{v}_pending") for v in self.channels]
        comes = Signal(name="stored_comes")
        m.d.comb += comes.eq(network.valid & self.stores(network.flit))
        for v, count in enumerate(pending):
            m.d.sync += count.eq(count + (comes & (network.vc == v)) - (self.leaves & (self.leaves_on == v)))
        here = self.leaves & (self.leaves_on == channel)
        with m.If(known):
            m.d.sync += [ahead.eq(ahead - here), known.eq(~here | (ahead != 0))]
            self.claim(m, "once", implies(here & (ahead == 0), Cat(self.left_flit) == Cat(flit)))
        with m.Elif(watch & comes):
            m.d.sync += [known.eq(1), flit.eq(network.flit), channel.eq(network.vc),
                         ahead.eq(entry(pending, network.vc) - (self.leaves & (self.leaves_on == network.vc)))]


ONCE = Property(
    "once", "Each flit that the queue stores leaves it exactly once, unchanged, in the order of the flits of its "
            "channel, and only when its packet is stored whole.",
    Mutant(WHERE + "_store", "queue.channel.eq(sel)", "queue.channel.eq(0)"))
ORDER = Property(
    "order", "A packet leaves without a flit of another packet in between.",
    Mutant(WHERE + "_store", "drive.vc.eq(queue.front_channel)", "drive.vc.eq(following)"))
OVERRUN = Property(
    "overrun", "No channel ever has more packets in the queue than places. No flit arrives at a full buffer, and the "
               "host gets no flit for which its buffer has no room.",
    Mutant(WHERE + "_store", "return queue.room", "return queue.room | 1"))
ROOM = Property(
    "room", "While a channel has a place for its packet, the packet's next flit waits for at most as many cycles as "
            "there are channels, whatever the other channels hold. So a queue with room refuses no packet.",
    Mutant(WHERE + "_store", "return queue.room", "return queue.room & queue.room.all().replicate(len(queue.room))"))


class ForwardedQueueHarness(_QueueHarness):
    """The consumption side of a smart interface with a receive queue, between any router and any host.

    Flits are arbitrary, and packets have any length up to the limit. The router sends only with credits. The host
    returns credits at any time. Any rows of the child table are full in any cycle. The component contains its queue
    and its processor. With 0 rows it is that of a conventional interface.
    """

    component = "Consumption, receive queue, smart interface"
    properties = (
        ONCE, ORDER, OVERRUN, ROOM,
        Property("both", "The packet buffer gets each flit that the host gets, and no other flit.",
                 Mutant(WHERE + "_consume", "self.consumed.eq(pop)", "self.consumed.eq(pop & ~flit.tail)")),
        Property("entry", "No packet leaves the queue while its row of the child table is full.",
                 Mutant(WHERE + "_consume", "bit_at(self.full, row))", "self.full.all())")),
        Property("leaves", "While the host has room, no row is full, and a whole packet is stored, at most "
                           "max(t_nr, 1) cycles pass in which no flit leaves.",
                 Mutant(WHERE + "_store", "waits.eq(queue.waiting)", "waits.eq(queue.waiting & queue.write)")),
    )

    def __init__(self, *, rows, **parameters):
        super().__init__(rows=rows, **parameters)

    def _goes_on(self, m):
        unit, host = self.unit, self.unit.host
        m.d.comb += [self.leaves.eq(host.valid), self.leaves_on.eq(host.vc), self.left_flit.eq(host.flit)]
        if not unit.rows:
            return
        self.leave_free(unit.full)
        full = Signal(name="was_full")
        consumed, channel = Signal(name="was_consumed"), Signal.like(unit.consumed_vc, name="consumed_on")
        flit = Signal.like(unit.consumed_flit, name="was_flit")
        m.d.comb += self.held.eq(full)
        m.d.sync += [full.eq(unit.full.any()), consumed.eq(unit.consumed), channel.eq(unit.consumed_vc),
                     flit.eq(unit.consumed_flit)]
        self.claim(m, "both", consumed == host.valid)
        self.claim(m, "both", implies(consumed, (channel == host.vc) & (Cat(flit) == Cat(host.flit))))
        within = Signal(name="brings")
        with m.If(unit.consumed):
            m.d.sync += within.eq(~unit.consumed_flit.tail)
        row = unit.consumed_flit.data
        self.claim(m, "entry", implies(unit.consumed & ~within & ~unit.consumed_flit.head & (row < unit.rows),
                                       ~entry(list(unit.full), row[:(unit.rows - 1).bit_length()])))


class AbsorbedQueueHarness(_QueueHarness):
    """The consumption side of an interface with a receive queue and retransmission slots.

    Router and host are those of the proof for smart interfaces. Header flits come only before the payload of their
    packet, except a flit with both marks, which ends the packet. Granted slots are freed at any time.
    """

    component = "Consumption, receive queue, retransmission slots"
    properties = (
        ONCE, ORDER, OVERRUN, ROOM,
        Property("both", "A packet goes on, with all its flits, if and only if it begins with a header flit that is no "
                         "tail. The host gets all payload flits of all packets, and tails.",
                 Mutant(WHERE + "_absorb", "self.absorbed.eq(pop & absorbs)",
                        "self.absorbed.eq(pop & absorbs & flit.head)")),
        Property("slots", "Each packet that goes on is granted a slot once, when it has left the queue; until then no "
                          "further flit of its channel leaves. A free slot is granted at once. No more slots are "
                          "granted than there are.",
                 Mutant(WHERE + "_absorb", "self.granted_vc.eq(chosen)", "self.granted_vc.eq(served)")),
        Property("leaves", "While the host has room, no packet waits for a slot, and a whole packet is stored, at most "
                           "max(t_nr, 1) cycles pass in which no flit leaves.",
                 Mutant(WHERE + "_store", "waits.eq(queue.waiting)", "waits.eq(queue.waiting & queue.write)")),
    )

    def __init__(self, *, slots, **parameters):
        super().__init__(slots=slots, **parameters)
        self.slots = slots

    def stores(self, flit):
        return Const(1)

    def _goes_on(self, m):
        unit, host, network = self.unit, self.unit.host, self.unit.network
        self.leave_free(unit.freed)
        absorbed, flit = unit.absorbed, self.left_flit
        m.d.comb += [
            self.leaves.eq(absorbed | host.valid),
            self.leaves_on.eq(Mux(absorbed, unit.absorbed_vc, host.vc)),
            flit.eq(Mux(absorbed, unit.absorbed_flit, host.flit)),
        ]
        self.claim(m, "both", implies(absorbed & host.valid, (unit.absorbed_vc == host.vc)
                                      & (Cat(unit.absorbed_flit) == Cat(host.flit))))
        self.claim(m, "both", implies(self.leaves, host.valid == (~flit.head | flit.tail)))
        used, waited = Signal(range(self.slots + 2), name="slots_used"), Signal(8, name="slot_waited")
        pending = Signal(len(self.channels), name="waits_for_slot")
        self.assume(m, implies(unit.freed, used != 0))
        m.d.sync += used.eq(used + unit.granted - unit.freed)
        for v in self.channels:
            headers = Signal(name=f"vc{v}_headers", init=1)  # no payload has come yet
            comes = network.valid & (network.vc == v)
            self.assume(m, implies(comes & network.flit.head & ~network.flit.tail, headers))
            with m.If(comes):
                m.d.sync += headers.eq(network.flit.tail | (headers & network.flit.head))
            begun, goes_on = Signal(name=f"vc{v}_leaving"), Signal(name=f"vc{v}_goes_on")
            leaves = self.leaves & (self.leaves_on == v)
            goes = Mux(begun, goes_on, flit.head & ~flit.tail)
            self.claim(m, "both", implies(leaves, absorbed == goes))
            with m.If(leaves):
                m.d.sync += [begun.eq(~flit.tail), goes_on.eq(goes)]
            whole = leaves & absorbed & flit.tail
            mine = unit.granted & (unit.granted_vc == v)
            self.claim(m, "slots", implies(mine, pending[v] | whole))
            self.claim(m, "slots", implies(leaves, ~pending[v]))
            m.d.sync += pending[v].eq((pending[v] | whole) & ~mine)
        self.claim(m, "slots", implies(unit.granted, used < self.slots))
        m.d.sync += waited.eq(Mux(pending.any() & (used < self.slots) & ~unit.granted, waited + 1, 0))
        self.claim(m, "slots", waited <= 1)
        m.d.comb += self.held.eq(pending.any())
