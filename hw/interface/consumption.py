# amaranth: UnusedElaboratable=no
# (a `Consumption` creates its `PacketQueue`, to check the parameters, and may never be elaborated)
"""Consumption side of a network interface: payload from the consumption channels of a link to the host."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ..buffer import ReplicationBuffer
from ..link import LinkSignature, flit_layout
from ..logic import bit_at
from ..options import CONTROL, MOST_DELAY, MOST_QUEUE, MOST_ROWS, MOST_SLOTS, NEVER_FULL_PLACES, ROW_BITS
from ..output_unit import OutputUnit
from ..port import PortSpec
from .packet_queue import PacketProcessor, PacketQueue

__all__ = ["HOST_DEPTH", "Consumption"]

HOST_DEPTH = 4
"""Size of the host's buffer for each consumption channel, in flits. The buffer covers the credit loop of the link to
the host, 3 cycles."""


class Consumption(wiring.Component):
    """Receiving half of an interface, for one link: sends the payload of arriving packets to the host.

    ::

        network ─▶ buffer (all channels) ─▶ round robin ─┬─ payload ─▶ OutputUnit ─▶ host
                            ▲                            ├─ remaining header flits: dropped
                            └── a tail flit waits t_nr ◀─┘

        with a receive queue: ─▶ round robin ─┬─ payload ─▶ PacketQueue ─▶ OutputUnit ─▶ host
                                              └─ header flits: dropped  └─▶ PacketProcessor: t_nr

    ``consumed`` and ``absorbed`` have the flits that leave the round robin. With a receive queue, they have the flits
    that leave the queue. With slots, the queue stores header flits, too.

    *Latency*: 2 cycles from link to link; for a packet's tail flit ``t_nr`` more. *Throughput*: a flit per cycle over
    all channels; one channel alone gets min(1, depth / 4) flits per cycle. A header flit waits for a credit of the host
    like other flits and takes a cycle, but does not use the credit. The end of a worm that was cut off by an error is
    sent to the host like a tail flit. With slots, a packet that begins with a header flit continues from this node. All
    flits of a packet that continues are also sent on ``absorbed``, 2 cycles or more after they were on the network's
    link. A packet that continues from this node needs a retransmission slot when it is whole. A free slot is granted in
    the cycle in which the packet's tail is taken. Until a slot is granted, no further flits of the channel are taken,
    and the credit of the tail is held back. A router that reserves only channels with all credits does not reserve the
    channel for another worm before it has got this credit. Consumption channels that wait for a retransmission slot
    take turns. With a receive queue the payload of each packet is stored whole, and then waits ``t_nr`` for the
    interface's processor, in the order in which the tails arrived; see `PacketQueue`. A channel takes a packet's header
    only if it has a place for the packet. The host gets a packet's first payload flit max(t_nr, 1) + 3 cycles after the
    packet's tail was on the network's link. With rows, a served packet waits in the queue until it has a packet buffer
    entry, and the packets behind it, of all channels, wait too. With a receive queue and slots, a served packet waits
    while the packet before it on the same channel waits for a slot; the credit of a tail is not held back. *Waiting*,
    without a receive queue: one tail flit at a time waits its t_nr cycles, counted from the cycle in which it could
    have been sent. While a tail flit waits, tail flits of other channels wait for their turn, and other flits pass.
    Detecting that a flit has to wait takes a cycle of the link. A packet of one flit that finds no free packet buffer
    entry after its t_nr cycles is sent to the host as soon as an entry is free. *Reset*: empty.

    Parameters
    ----------
    network : PortSpec
        The link from the router: one virtual channel for each consumption channel.
    width : int
        Data bits of a flit.
    storage : "lutram" or "registers"
    t_nr : int
        Cycles that a packet's tail flit waits. Range: 0 to 65535. 0 adds no hardware.
    slots : int
        Number of retransmission slots. Range: 0 to 16. 0 adds no hardware.
    rows : int
        Number of rows of the child table. Range: 0 to 64. 0 adds no hardware.
    queue : int
        Receive queue: packets that each channel can store. Range: 0 to 256, or 1024 for a queue that is never full, see
        `PacketQueue`. 0 adds no hardware.
    packet : int
        Payload flits of a packet, which a place of the receive queue holds.
    header_flits : int
        Maximum number of header flits of a packet. With slots, a place of the receive queue holds them, too.
    control : bool
        Control packets for the interface are not sent to the host; see `RowAdmission`. Only with rows.
    served : bool
        A processor outside of this component spends the t_nr cycles of each packet, see `CommunicationProcessor`. Only
        with a receive queue.
    bus : bool
        Flits are sent to the host only with grants of a `DmaEngine` outside of this component. Header flits that the
        host does not get wait for a grant like other flits, but use none.

    Members
    -------
    network : In(LinkSignature)
    host : Out(LinkSignature)
        A virtual channel for each consumption channel, as in ``network``. A host stalls its consumption by holding back
        credits.
    credit_error : Out(vcs)
        As in `OutputUnit`.
    overflow : Out(vcs)
        A flit for a full buffer is received and dropped in this cycle; or a packet enters a receive queue that should
        never be full and is full.
    absorbed : Out(1)
        A flit of a packet that continues from this node is taken. Only with slots.
    absorbed_vc, absorbed_flit : Out
        While ``absorbed`` is 1: consumption channel of the flit, and the flit itself.
    granted, granted_vc : Out(1), Out
        ``granted``: the packet of channel ``granted_vc`` is granted a slot, with its tail or later. Only with slots.
    freed : In(1)
        A retransmission slot has become free. Only with slots.
    consumed : Out(1)
        A flit is taken from a consumption channel, or from the receive queue. Only with rows.
    consumed_vc, consumed_flit : Out
        While ``consumed`` is 1: consumption channel of the flit, and the flit itself. ``consumed``, ``consumed_vc`` and
        ``consumed_flit`` are combinational: `Forwarding` stores their values.
    full : In(rows)
        Rows of the child table whose next packet has no free packet buffer entry, and waits in its channel, or in the
        receive queue. Only with rows.
    of_control, closed : Out(1), In(vcs)
        ``control`` and ``closed`` of `RowAdmission`. ``of_control`` is combinational. Only with ``control``.
    arrives : Out(1)
        A packet is stored whole in this cycle. Only with ``served``.
    waits : Out(1)
        A whole packet is stored, and not served. Only with ``served``.
    done : In(1)
        The processor has served the packet that waits longest. Only with ``served``.
    may_cross, crosses : In(1), Out(1)
        As in `DmaEngine`, for one link: a flit is sent to the host. ``crosses`` is combinational. Only with ``bus``.
    """

    @checked
    def __init__(self, network: PortSpec, *, width: int, storage: str = "lutram", t_nr: int = 0,
                 slots: int = 0, rows: int = 0, queue: int = 0, packet: int = 0, header_flits: int = 1,
                 control: bool = False, served: bool = False, bus: bool = False):
        for field, value, most in (("t_nr", t_nr, MOST_DELAY), ("slots", slots, MOST_SLOTS), ("rows", rows, MOST_ROWS),
                                   ("queue", queue, NEVER_FULL_PLACES if queue == NEVER_FULL_PLACES else MOST_QUEUE)):
            if not 0 <= value <= most:
                raise WormcastError(f"Consumption.{field}: {value} is not valid. Allowed: 0 to {most}.")
        if slots and rows:
            raise WormcastError(f"Consumption.rows: {rows} is not valid with slots {slots}. Allowed: slots 0, or "
                                "rows 0.")
        if served and not queue:
            raise WormcastError("Consumption.served: True is not valid with queue 0. Allowed: False, or with queue 1 "
                                "or more.")
        if control and not rows:
            raise WormcastError("Consumption.control: True is not valid with rows 0. Allowed: False, or with rows 1 or "
                                "more.")
        self.control = control
        self.served = served
        self.bus = bus
        self.queue = PacketQueue(channels=network.vcs, places=queue, flits=packet + (header_flits if slots else 0),
                                 width=width) if queue else None
        self.port = network
        self.width = width
        self.storage = storage
        self.t_nr = t_nr
        self.slots = slots
        self.rows = rows
        super().__init__({
            "network": In(LinkSignature(vcs=network.vcs, width=width)),
            "host": Out(LinkSignature(vcs=network.vcs, width=width)),
            "credit_error": Out(network.vcs),
            "overflow": Out(network.vcs),
            **({"absorbed": Out(1), "absorbed_vc": Out(range(network.vcs)), "absorbed_flit": Out(flit_layout(width)),
                "granted": Out(1), "granted_vc": Out(range(network.vcs)), "freed": In(1)} if slots else {}),
            **({"consumed": Out(1), "consumed_vc": Out(range(network.vcs)), "consumed_flit": Out(flit_layout(width)),
                "full": In(rows)} if rows else {}),
            **({"of_control": Out(1), "closed": In(network.vcs)} if control else {}),
            **({"arrives": Out(1), "waits": Out(1), "done": In(1)} if served else {}),
            **({"may_cross": In(1), "crosses": Out(1)} if bus else {}),
        })

    def elaborate(self, platform):
        m = Module()
        vcs, layout = self.port.vcs, flit_layout(self.width)
        m.submodules.buffer = buffer = ReplicationBuffer(
            vcs=vcs, depth=self.port.depth, width=layout.size, storage=self.storage
        )
        m.submodules.output = output = OutputUnit(
            PortSpec("host", vcs=vcs, depth=HOST_DEPTH), width=self.width, classes=[(1 << vcs) - 1]
        )
        [source], [drive], offer = buffer.readers, output.sends, output.offer
        wiring.connect(m, output.links[0], wiring.flipped(self.host))
        overflow: Value = Cat(self.network.valid & (self.network.vc == v) & buffer.full[v] for v in range(vcs))
        if self.queue and self.queue.never_full:
            overflow = overflow | self.queue.overflow
        m.d.comb += [
            buffer.write.eq(self.network.valid),
            buffer.write_vc.eq(self.network.vc),
            buffer.write_data.eq(self.network.flit),
            buffer.write_count.eq(1),
            self.credit_error.eq(output.credit_error),
            self.overflow.eq(overflow),
        ]
        if self.queue or not self.slots:
            m.d.sync += self.network.credit.eq(buffer.freed)

        eligible = Signal(vcs)
        sel = Signal(range(vcs))
        last = Signal(range(vcs))
        presented = Signal()
        pop = Signal()
        flit = Signal(layout)
        waits = Signal(vcs)
        present = eligible.any()
        if self.bus:
            m.d.comb += self.crosses.eq(drive.send)
            if not self.queue:
                present = present & self.may_cross
        m.d.comb += [sel.eq(_next_of(m, eligible, last)), presented.eq(present)]
        consumes = bool(self.rows) and not self.queue
        no_place, refused = self._consume(m, presented, sel, flit, pop) if consumes else (C(0), C(0))
        holds = C(0) if self.queue else self._holds(m, presented & ~no_place, sel, flit, pop, waits) | no_place
        if self.slots and not self.queue:
            waits = waits | self._absorb(m, sel, flit, pop, buffer.freed)[1]
        if consumes:
            waits = waits | refused
        m.d.comb += [
            pop.eq(presented & ~holds),
            source.vc.eq(sel),
            source.pop.eq(pop),
            flit.eq(source.data),
        ]
        if self.queue:
            room = self._store(m, self.queue, sel, flit, pop, drive, offer)
            accepts = [(room[v], room[v]) for v in range(vcs)]
        else:
            m.d.comb += [
                drive.flit.eq(flit),
                drive.vc.eq(sel),
                drive.send.eq(self._for_host(pop & (~flit.head | flit.tail))),
                drive.vc_active.eq(drive.send),
                drive.tail.eq(flit.tail),
            ]
            accepts = [(Mux(drive.send, offer.ready_after[v], offer.ready[v]), offer.ready[v]) for v in range(vcs)]
        with m.If(presented):
            m.d.sync += last.eq(sel)
        for v, (after, before) in enumerate(accepts):
            m.d.sync += eligible[v].eq(~waits[v] & Mux(
                pop & (sel == v),
                (source.more[v] | buffer.arrives[v]) & after,
                (source.has[v] | buffer.arrives[v]) & before,
            ))
        return m

    def _store(self, m, queue, sel, flit, pop, drive, offer):
        """Store packets in the receive queue, and send the payload of served packets to the host.

        With rows or slots, the flits that leave the queue are also sent to `Forwarding` or `Retransmission`.

        Return a mask of the channels that can take a flit in the next cycle.
        """
        m.submodules.queue = queue
        if self.served:
            m.d.comb += self.arrives.eq(queue.write & queue.flit.tail)
            waits, done = self.waits, self.done
        else:
            m.submodules.processor = processor = PacketProcessor(self.t_nr)
            waits, done = processor.waiting, processor.done
        credit = Signal()
        following = queue.next_channel
        may_go: Value = queue.has
        if self.bus:
            may_go = may_go & self.may_cross
        if self.rows:
            no_place, _ = self._consume(m, queue.has, queue.front_channel, queue.front, queue.pop)
            may_go = may_go & ~no_place
        may_go = may_go & credit
        writes: Value = pop & (~flit.head | flit.tail)
        leaves, sends = drive.send, may_go
        if self.slots:  # a packet goes on with its header flits, which the host does not get
            waiting, _ = self._absorb(m, queue.front_channel, queue.front, queue.pop)
            writes, leaves = pop, may_go & ~bit_at(waiting, queue.front_channel)
            sends = queue.pop & (~queue.front.head | queue.front.tail)
        if self.control:
            leaves, sends = may_go, self._for_host(may_go)
        m.d.comb += [
            queue.write.eq(writes),
            queue.channel.eq(sel),
            queue.flit.eq(flit),
            waits.eq(queue.waiting),
            queue.served.eq(done),
            queue.pop.eq(leaves),
            drive.flit.eq(queue.front),
            drive.vc.eq(queue.front_channel),
            drive.send.eq(sends),
            drive.vc_active.eq(drive.send),
            drive.tail.eq(queue.front.tail),
        ]
        m.d.sync += credit.eq(Mux(drive.send & (following == queue.front_channel), bit_at(offer.ready_after, following),
                                  bit_at(offer.ready, following)))
        return queue.room

    def _absorb(self, m, sel, flit, pop, freed=None):
        """Send the flits of absorbed packets, and grant slots.

        Without a receive queue, also return the credits of ``freed`` to the network: the credit of a tail with the
        grant of a slot. Return masks of the channels that wait for a slot in this cycle, and in the next cycle.
        """
        vcs = self.port.vcs
        left = Signal(range(self.slots + 1), init=self.slots, name="slots_left")
        within = Signal(vcs)  # the packet's first flit has been taken
        goes_on = Signal(vcs)  # the packet's first flit is a header flit
        waiting, needs = Signal(vcs, name="waits_for_slot"), Signal(vcs, name="needs_slot")  # the packet is whole
        first, absorbs, grant = Signal(), Signal(), Signal()
        whole, granted = Signal(vcs), Signal(vcs)
        served = Signal(range(vcs), name="slot_turn")
        here = Cat(sel == v for v in range(vcs))
        chosen = _next_of(m, needs, served, name="granted_next")
        m.d.comb += [
            first.eq(~bit_at(within, sel)),
            absorbs.eq(Mux(first, flit.head & ~flit.tail, bit_at(goes_on, sel))),
            whole.eq(Mux(pop & absorbs & flit.tail, here, 0)),
            needs.eq(waiting | whole),
            grant.eq(needs.any() & (left != 0)),
            granted.eq(Mux(grant, Cat(chosen == v for v in range(vcs)), 0)),
        ]
        m.d.sync += [
            left.eq(left + self.freed - grant),
            waiting.eq(needs & ~granted),
            *([] if freed is None else [self.network.credit.eq((freed & ~whole) | granted)]),
            self.absorbed.eq(pop & absorbs),
            self.absorbed_vc.eq(sel),
            self.absorbed_flit.eq(flit),
            self.granted.eq(grant),
            self.granted_vc.eq(chosen),
        ]
        with m.If(grant):
            m.d.sync += served.eq(chosen)
        for v in range(vcs):
            with m.If(pop & (sel == v)):
                m.d.sync += [within[v].eq(~flit.tail), goes_on[v].eq(absorbs)]
        return waiting, needs & ~granted

    def _for_host(self, sends):
        """Return 1 if the flit that is taken, with ``sends``, is sent to the host."""
        return sends & ~self.of_control if self.control else sends

    def _consume(self, m, presented, sel, flit, pop):
        """Drive ``consumed`` with the flits that are taken.

        Return 1 if the presented flit waits because its packet has no packet buffer entry, and a mask of the channels
        that wait for an entry in the next cycle.
        """
        vcs = self.port.vcs
        within = Signal(vcs, name="within_packet")  # the packet's first payload flit has been taken
        waiting, refused = Signal(vcs, name="waits_for_place"), Signal(vcs, name="refused")
        stays, rows = Signal(), Array(Signal(range(self.rows), name=f"vc{v}_row") for v in range(vcs))
        row = Signal(range(self.rows), name="row")
        m.d.comb += [
            row.eq(flit.data),
            stays.eq(presented & ~flit.head & ~bit_at(within, sel) & (flit.data[:ROW_BITS] < self.rows)
                     & bit_at(self.full, row)),
            self.consumed.eq(pop),
            self.consumed_vc.eq(sel),
            self.consumed_flit.eq(flit),
        ]
        for v in range(vcs):
            with m.If(presented & (sel == v)):
                m.d.sync += rows[v].eq(row)
            with m.If(pop & (sel == v) & (~flit.head | flit.tail)):
                m.d.sync += within[v].eq(~flit.tail)
            m.d.comb += refused[v].eq((stays & (sel == v)) | (waiting[v] & bit_at(self.full, rows[v])))
        m.d.sync += waiting.eq(refused)
        if not self.control:
            return stays, refused
        controls = Signal(vcs, name="control_packet")  # the packet that is being taken is a control packet
        m.d.comb += self.of_control.eq(Mux(bit_at(within, sel), bit_at(controls, sel),
                                           ~flit.head & (flit.data[:ROW_BITS] == CONTROL)))
        for v in range(vcs):
            with m.If(pop & (sel == v) & (~flit.head | flit.tail)):
                m.d.sync += controls[v].eq(self.of_control)
        return stays | (presented & self.of_control & bit_at(self.closed, sel)), refused

    def _holds(self, m, presented, sel, flit, pop, waits):
        """Return 1 if the presented flit is a tail flit that has not waited its t_nr cycles.

        ``waits`` is driven with the channels whose tail flit is still waiting in the next cycle.
        """
        if not self.t_nr:
            return C(0)
        vcs = self.port.vcs
        waiting = Signal(vcs)  # the front flit is a tail flit that was held back
        waited = Signal(vcs)  # the front flit is a tail flit that has waited
        holds = Signal()
        here = Signal(vcs)
        needs = Signal(vcs)
        busy = Signal()  # the counter runs, for channel `served`
        served = Signal(range(vcs))
        serves = Signal(range(vcs))
        left = Signal(range(self.t_nr + 1))
        now_left = Signal(range(self.t_nr + 1))  # remaining cycles of the wait, including this one
        wait_ends = Signal(vcs)
        ends = Signal()
        turn = _next_of(m, needs, served, name="turn")
        m.d.comb += [
            ends.eq(presented & flit.tail),
            here.eq(Cat(sel == v for v in range(vcs))),
            holds.eq(ends & ~bit_at(waited, sel)),
            needs.eq(waiting | Mux(holds, here, 0)),
            serves.eq(Mux(busy, served, turn)),
            now_left.eq(Mux(busy, left, self.t_nr)),
            waits.eq(needs & ~wait_ends),
        ]
        for v in range(vcs):
            m.d.comb += wait_ends[v].eq(needs[v] & (serves == v) & (now_left == 1))
        m.d.sync += [
            waiting.eq(waits),
            # a flit that has waited and finds no packet buffer entry does not wait t_nr again
            waited.eq((waited & ~Mux(pop, here, 0)) | wait_ends),
            busy.eq(waits.any() & ~wait_ends.any()),
            left.eq(now_left - 1),
            served.eq(serves),
        ]
        return holds


def _next_of(m, candidates, last, name="next"):
    """Return the first candidate after ``last`` in the ring of candidates; ``last`` if there is no other candidate."""
    count = len(candidates)
    chosen = Signal(range(count), name=name)
    m.d.comb += chosen.eq(last)
    with m.Switch(last):
        for v in range(count):
            with m.Case(v):
                for w in [v, *((v - k) % count for k in range(1, count))]:
                    with m.If(candidates[w]):
                        m.d.comb += chosen.eq(w)
    return chosen
