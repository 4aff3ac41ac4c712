# amaranth: UnusedElaboratable=no
# (an `Injection` creates its `Retransmission` and `PacketQueue` to check the parameters, and may never be elaborated)
"""Injection side of a network interface: worms from the host, split into packets, each on a free virtual channel."""

from functools import partial

from amaranth.hdl import Array, C, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ..buffer import ReplicationBuffer
from ..link import LinkSignature, flit_layout
from ..options import MOST_DELAY, MOST_PACKET, MOST_QUEUE, NEVER_FULL_PLACES, STORAGE
from ..output_unit import OutputUnit
from ..port import PortSpec
from .packet_queue import PacketQueue
from .retransmission import Retransmission

__all__ = ["Injection"]


class Injection(wiring.Component):
    """Sending half of an interface: sends the host's worms one after the other, in packets.

    ::

        host ─▶ buffer (queue) ─┬──────────────▶ flit ─▶ OutputUnit: free VC, credits ─▶ network
                                ├─▶ header memory ─▲       ▲
                                │                  │       │ may go
                 payload counter: end of packet ───┴── wait t_ns

        with a send queue:  ─▶ packets ─▶ PacketQueue ─▶ flit ─▶ wait t_ns ─▶ OutputUnit ─▶ network

    If ``packet`` is not 0, a worm of H header and L payload flits becomes ceil(L / packet) packets. Each packet has the
    H header flits, then ``packet`` payload flits (the last packet has the rest); its last flit has the tail mark. The
    first packet's header passes through and is stored; the headers of the other packets come from the memory. Each
    packet takes a virtual channel of its own.

    *Latency*: 2 cycles from link to link, header and data alike; a packet's first flit ``t_ns`` more. The t_ns cycles
    count from the cycle in which the packet's first flit is next to be sent, even while no virtual channel is free.
    *Throughput*: min(1, queue / 3) flits per cycle on the host's link; on the network's link one worm gets min(1, depth
    / 4). Between two packets on the same virtual channel one cycle is unused. *Reset*: empty.

    With a send queue the packets of the host are stored whole, headers included, before they are sent ([Sivaram98],
    section 3.1). A packet enters the send queue only if the queue has a place for the packet. While all places of the
    send queue are taken, further flits wait in the buffer, and then at the host. In a send queue, the t_ns cycles of a
    packet count from the first cycle in which the packet is whole and the oldest one, and the link sends no other
    packet.
    *Latency* with a send queue, of a packet that is alone: its first flit is on the network's link 4 + ``t_ns`` cycles
    after its last flit was on the host's link. *Throughput* of the send queue: a flit per cycle enters while another
    packet leaves. Absorbed messages and forwarded copies do not pass through the send queue.

    With slots the port also sends absorbed messages, from its `Retransmission`. The host and the retransmission slots
    take turns, a whole worm at a time. The first flit of an absorbed message is on the network's link at the earliest 2
    + ``t_ns`` cycles after the message's tail was on ``absorbed``.

    In a smart interface the port also sends the copies of forwarded packets. The host and the forwarded copies take
    turns, a worm or a copy at a time. A worm of the host that begins with a flit with head mark and tail mark is a
    *posting*. A posting is not sent to the network: its payload is stored, packet by packet, for the node's children.
    If a posting has no tail, the next worm's header ends the packet under way, as its last flit. If a worm has no tail
    and a posting follows, the posting's first flit, which has head mark and tail mark, ends the worm.

    Parameters
    ----------
    network : PortSpec
        The link to the router.
    width : int
        Data bits of a flit.
    storage : "lutram" or "registers"
    queue : int
        Flits of buffer between host and injection. Range: 1 to 16.
    packet : int
        Payload flits of a packet; 0: a worm is sent whole, without hardware for packets.
    header_flits : int
        Maximum number of header flits of a worm that is split into packets; the interface stores them all. With
        packets, headers of more than ``header_flits`` flits are not supported.
    t_ns : int
        Cycles that a packet's first flit waits. Range: 0 to 65535. 0 adds no hardware.
    slots, slot_flits, channels : int
        Retransmission slots, flits of each, and consumption channels with messages, as in `Retransmission`. 0 slots add
        no hardware.
    smart : bool
        The interface forwards copies of packets.
    answers : bool
        The interface also sends the answers of a `RowAdmission`. Only with ``smart``.
    send_queue : int
        Packets that the send queue can store. Range: 0 to 256, or 1024 for a queue that is never full, see
        `PacketQueue`. 0 adds no hardware. Only with packets.
    served : bool
        A processor outside of this component spends the t_ns cycles of each packet, see `CommunicationProcessor`. Only
        with a send queue.
    bus : bool
        Flits of the host leave the buffer only with grants of a `DmaEngine` outside of this component.

    Members
    -------
    host : In(LinkSignature)
        One virtual channel.
    network : Out(LinkSignature)
        To the router.
    credit_error : Out(vcs)
        As in `OutputUnit`.
    overflow : Out(1)
        A flit for a full buffer is received and dropped in this cycle; or a packet enters a send queue that should
        never be full and is full.
    no_tail : Out(1)
        A worm or a posting has begun before the tail of the worm or posting in front, which is cut off. Only smart
        interfaces have postings.
    absorbed, absorbed_vc, absorbed_flit : In(1), In, In
        Connected to ``write``, ``vc`` and ``flit`` of `Retransmission`. Only with slots.
    granted, granted_vc, freed : In(1), In, Out(1)
        As in `Retransmission`. Only with slots.
    posted, posted_flit, stored : Out(1), Out, In(1)
        Payload that the host posts for forwarding: as in `Forwarding`. The outputs are combinational. Only with
        ``smart``.
    forwards, forward, forward_pop : In(1), In, Out(1)
        Forwarded copies: ``has``, ``front`` and ``pop`` of `Forwarding`. The output is combinational. Only with
        ``smart``.
    answers, answer, answer_pop : In(1), In, Out(1)
        Answers: ``has``, ``front`` and ``pop`` of `RowAdmission`. The output is combinational. Only with ``answers``.
    arrives : Out(1)
        A packet is stored whole in this cycle. Only with ``served``.
    waits : Out(1)
        A packet can be served: it is next to be sent, and the link sends no other packet. Only with ``served``.
    done : In(1)
        The processor has served the packet that waits. The packet's first flit can be sent in the next cycle. Only with
        ``served``.
    may_cross, crosses : In(1), Out(1)
        As in `DmaEngine`, for one link: a flit of the host leaves the buffer. ``crosses`` is combinational. Only with
        ``bus``.
    """

    @checked
    def __init__(self, network: PortSpec, *, width: int, storage: str = "lutram", queue: int = 4, packet: int = 0,
                 header_flits: int = 1, t_ns: int = 0, slots: int = 0, slot_flits: int = 128, channels: int = 1,
                 smart: bool = False, answers: bool = False, send_queue: int = 0, served: bool = False,
                 bus: bool = False):
        for field, value, least, most in (("queue", queue, 1, 16), ("packet", packet, 0, MOST_PACKET),
                                          ("header_flits", header_flits, 1, 64), ("t_ns", t_ns, 0, MOST_DELAY),
                                          ("send_queue", send_queue, 0,
                                           NEVER_FULL_PLACES if send_queue == NEVER_FULL_PLACES else MOST_QUEUE)):
            if not least <= value <= most:
                raise WormcastError(f"Injection.{field}: {value} is not valid. Allowed: {least} to {most}.")
        if slots and smart:
            raise WormcastError(f"Injection.smart: True is not valid with slots {slots}. Allowed: slots 0, or smart "
                                "False.")
        for user, needs in (("smart True", smart), (f"send_queue {send_queue}", send_queue)):
            if needs and not packet:
                raise WormcastError(f"Injection.packet: 0 is not valid with {user}. Allowed: 1 or more.")
        if answers and not smart:
            raise WormcastError("Injection.answers: True is not valid with smart False. Allowed: False, or with smart "
                                "True.")
        if served and not send_queue:
            raise WormcastError("Injection.served: True is not valid with send_queue 0. Allowed: False, or with "
                                "send_queue 1 or more.")
        self.port = network
        self.width = width
        self.storage = storage
        self.queue = queue
        self.packet = packet
        self.header_flits = header_flits
        self.t_ns = t_ns
        self.smart = smart
        self.with_answers = answers
        self.served = served
        self.bus = bus
        self.store = PacketQueue(channels=1, places=send_queue, flits=header_flits + packet,
                                 width=width) if send_queue else None
        self.slots = Retransmission(slots=slots, flits=slot_flits, channels=channels, width=width) if slots else None
        super().__init__({
            "host": In(LinkSignature(vcs=1, width=width)),
            "network": Out(LinkSignature(vcs=network.vcs, width=width)),
            "credit_error": Out(network.vcs),
            "overflow": Out(1),
            "no_tail": Out(1),
            **({"absorbed": In(1), "absorbed_vc": In(range(channels)), "absorbed_flit": In(flit_layout(width)),
                "granted": In(1), "granted_vc": In(range(channels)), "freed": Out(1)} if slots else {}),
            **({"posted": Out(1), "posted_flit": Out(flit_layout(width)), "stored": In(1), "forwards": In(1),
                "forward": In(flit_layout(width)), "forward_pop": Out(1)} if smart else {}),
            **({"answers": In(1), "answer": In(flit_layout(width)), "answer_pop": Out(1)} if answers else {}),
            **({"arrives": Out(1), "waits": Out(1), "done": In(1)} if served else {}),
            **({"may_cross": In(1), "crosses": Out(1)} if bus else {}),
        })

    def elaborate(self, platform):
        m = Module()
        layout = flit_layout(self.width)
        m.submodules.buffer = buffer = ReplicationBuffer(
            vcs=1, depth=self.queue, width=layout.size, storage=self.storage
        )
        m.submodules.output = output = OutputUnit(self.port, width=self.width, classes=[(1 << self.port.vcs) - 1])
        [source], [drive], offer = buffer.readers, output.sends, output.offer
        wiring.connect(m, output.links[0], wiring.flipped(self.network))
        overflow: Value = self.host.valid & buffer.full
        if self.store is not None and self.store.never_full:
            overflow = overflow | self.store.overflow
        m.d.comb += [
            buffer.write.eq(self.host.valid),
            buffer.write_data.eq(self.host.flit),
            buffer.write_count.eq(1),
            self.credit_error.eq(output.credit_error),
            self.overflow.eq(overflow),
        ]
        m.d.sync += self.host.credit.eq(buffer.freed)

        front = Signal(layout)  # next flit of the host or of another sender
        within = Signal()  # payload of the worm under way has been sent, its tail has not
        flit = Signal(layout)  # flit that is sent
        owns = Signal()  # the packet under way owns its virtual channel
        repeats = Signal()  # the flit that is sent comes from the header memory
        valid = Signal()
        may_go = Signal()
        packet_vc = Signal(range(self.port.vcs))
        credit = Signal()
        send = Signal()
        allocate = Signal()
        ends = Signal()
        cuts = Signal()  # a worm begins before the tail of the worm in front
        moves = send  # the packet's next flit is sent, or is stored in the send queue
        if self.store is not None:
            moves = Signal(name="stores")
        pop = moves & ~repeats & ~cuts
        turns = self._turns(m)  # other senders take turns with the host at the network's link, or behind the send queue
        early = turns if self.store is None else _host_only
        cuts_post: Value = C(0)
        offered = source.has  # a flit of the host can be taken
        if self.bus:
            offered = offered & self.may_cross
            m.d.comb += self.crosses.eq(source.pop)
        if self.smart:
            first, has, pop, cuts_post = self._post(m, source.data, offered, pop, early)
        else:
            first, has, pop = early(source.data, offered, pop)
        m.d.comb += [
            front.eq(first),
            flit.eq(front),
            valid.eq(has),
            cuts.eq(within & front.head & ~front.tail & ~repeats & valid),
            self.no_tail.eq(cuts | cuts_post),
        ]
        sent, presented = flit, valid
        if self.store is not None:
            sent, presented = self._store(m, self.store, flit, valid, moves, send, turns)
        m.d.comb += [
            send.eq(presented & may_go & Mux(owns, credit, offer.free)),
            allocate.eq(send & ~owns),
            source.pop.eq(pop),
            ends.eq(sent.tail),
            drive.flit.eq(sent),
            drive.vc_active.eq(send),
            drive.send.eq(send),
            drive.tail.eq(ends),
            output.vc_allocate.eq(allocate),
            drive.vc.eq(Mux(owns, packet_vc, offer.vc_candidate[0])),
        ]
        ready, after = (Array(bits)[drive.vc] for bits in (offer.ready, offer.ready_after))
        m.d.sync += credit.eq(Mux(send, after, ready))
        with m.If(allocate):
            m.d.sync += packet_vc.eq(offer.vc_candidate[0])
        with m.If(send):
            m.d.sync += owns.eq(~ends)
        with m.If(moves & ~repeats):
            m.d.sync += within.eq((within | ~front.head) & ~front.tail & ~cuts)
        with m.If(cuts):
            m.d.comb += flit.tail.eq(1)
        if self.packet:
            self._packetise(m, front, flit, moves, repeats, valid)
        if self.served:
            self._await_processor(m, presented & ~owns, send, may_go)
        else:
            self._wait(m, presented & ~owns, send, may_go)
        return m

    def _store(self, m, queue, flit, valid, moves, send, turns):
        """Store the host's packets in the send queue. Return the next flit for the network, and 1 if there is one."""
        m.submodules.packets = queue
        room = Signal(name="has_room")
        m.d.sync += room.eq(queue.room)
        m.d.comb += [
            moves.eq(valid & room),
            queue.write.eq(moves),
            queue.flit.eq(flit),
            # the queue adds no delay: the oldest packet waits for t_ns before its first flit is sent
            queue.served.eq(queue.waiting),
        ]
        sent, presented, pop = turns(queue.front, queue.has, send)
        m.d.comb += queue.pop.eq(pop)
        return sent, presented

    def _turns(self, m):
        """Connect the other sender, if there is one.

        Return a function that lets this sender and the host take turns, a whole worm at a time. The function's
        arguments are the host's next flit, 1 if the host has a flit, and 1 if the chosen flit is taken. The function
        returns the chosen sender's next flit, 1 if that sender has a flit, and 1 if the host's flit is taken.
        """
        if self.slots is not None:
            slots = m.submodules.slots = self.slots
            m.d.comb += [
                slots.write.eq(self.absorbed),
                slots.vc.eq(self.absorbed_vc),
                slots.flit.eq(self.absorbed_flit),
                slots.granted.eq(self.granted),
                slots.granted_vc.eq(self.granted_vc),
                self.freed.eq(slots.freed),
            ]
            return partial(self._take_turns, m, slots.front, slots.has, slots.pop)
        if self.with_answers:
            return partial(self._answer_too, m)
        if self.smart:
            return partial(self._take_turns, m, self.forward, self.forwards, self.forward_pop)
        return _host_only

    def _answer_too(self, m, host_flit, host_has, pop):
        """Let answers and the host take turns, and both with the forwarded copies; see `_turns`."""
        popped = Signal(name="popped_by_host_side")
        flit, has, host_pop = self._take_turns(m, self.answer, self.answers, self.answer_pop, host_flit, host_has,
                                               popped, names=("answer_presented", "answer_presents", "answers_turn"))
        front, valid, side_pop = self._take_turns(m, self.forward, self.forwards, self.forward_pop, flit, has, pop)
        m.d.comb += popped.eq(side_pop)
        return front, valid, host_pop

    def _post(self, m, of_host, offered, pop, turns):
        """Pass the host's payload for children (postings) to `Forwarding`.

        Return the three values of ``turns`` (see `_turns`) for the host's worms, and a fourth one. The fourth value is
        1 if a header flit of the host follows a posting without tail, or a posting follows a worm without tail.
        """
        flit = Signal(flit_layout(self.width), name="of_host")
        posts = Signal()  # the first flit of a posting has arrived, its tail has not
        sends = Signal(name="within_worm")  # the first flit of a worm has been sent, its tail has not
        begins, both = Signal(name="begins_post"), Signal(name="both_marks")
        payload = Signal(range(self.packet), name="posted_payload")
        ends, closes = Signal(name="ends_posted"), Signal(name="ends_post")
        m.d.comb += [
            flit.eq(of_host),
            both.eq(flit.head & flit.tail),
            begins.eq(offered & both & ~posts & ~sends),
            # a header flit that arrives between two packets ends no packet
            closes.eq(offered & posts & flit.head & (payload == 0)),
            self.posted.eq(offered & posts & ~closes),
            ends.eq(flit.head | flit.tail | (payload == self.packet - 1)),
            self.posted_flit.eq(flit),
            self.posted_flit.tail.eq(ends),
        ]
        worm = offered & ~begins & ~posts
        first, has, pop = turns(flit, worm, pop)
        with m.If(pop):
            m.d.sync += sends.eq(~flit.tail)
        with m.If(begins | (pop & both)):
            m.d.sync += posts.eq(1)
        with m.Elif(closes):
            m.d.sync += posts.eq(0)
        with m.Elif(self.stored):
            m.d.sync += [posts.eq(~flit.tail), payload.eq(Mux(ends, 0, payload + 1))]
        untailed = offered & flit.head & (posts | (sends & flit.tail))
        return first, has, pop | begins | (self.stored & ~flit.head), untailed

    def _take_turns(self, m, other_flit, other_has, other_pop, host_flit, host_has, pop,
                    names=("presented", "presents", "others_turn")):
        """Choose between the host and another sender for a whole worm, to its tail; see `_turns`."""
        front, valid = Signal(flit_layout(self.width), name=names[0]), Signal(name=names[1])
        begun = Signal()  # a worm is presented, and its tail is not taken
        last = Signal(name=names[2])  # the worm that was presented last is not from the host
        from_other = Signal()  # the presented flit is not from the host
        m.d.comb += [
            from_other.eq(Mux(begun, last, other_has & ~(host_has & last))),
            front.eq(Mux(from_other, other_flit, host_flit)),
            valid.eq(Mux(from_other, other_has, host_has)),
            other_pop.eq(pop & from_other),
        ]
        # a worm stays presented while its next flits have not arrived
        m.d.sync += begun.eq((begun | valid) & ~(pop & front.tail))
        with m.If(valid):
            m.d.sync += last.eq(from_other)
        return front, valid, pop & ~from_other

    def _packetise(self, m, front, flit, send, repeats, valid):
        """End a packet after ``packet`` payload flits, and repeat the header in front of the next one."""
        kept = Signal(range(self.header_flits))  # memory address of the header flit that is written or read next
        last = Signal(range(self.header_flits))  # memory address at which the header's last flit is stored
        keeps = Signal()
        header = flit.head & ~flit.tail
        m.d.comb += keeps.eq(send & header & ~repeats)
        if self.header_flits == 1:
            stored: Value = Signal(self.width, name="header")
            with m.If(keeps):
                m.d.sync += stored.eq(front.data)
        else:
            store: memory.Memory = memory.Memory(
                shape=self.width, depth=self.header_flits, init=[], attrs={"ram_style": STORAGE[self.storage]}
            )
            m.submodules.header = store
            write, read = store.write_port(), store.read_port(domain="comb")
            m.d.comb += [
                write.en.eq(keeps),
                write.addr.eq(kept),
                write.data.eq(front.data),
                read.addr.eq(kept),
            ]
            stored = read.data
            with m.If(keeps):
                m.d.sync += last.eq(kept)
            with m.If(send):
                m.d.sync += kept.eq(Mux(header, kept + 1, 0))

        payload = Signal(range(self.packet))  # payload flits of this packet that have been sent
        full = Signal()
        m.d.comb += full.eq(payload == self.packet - 1)
        with m.If(repeats):
            m.d.comb += [valid.eq(1), flit.head.eq(1), flit.tail.eq(0), flit.data.eq(stored)]
        with m.Elif(~front.head):
            m.d.comb += flit.tail.eq(front.tail | full)
        with m.If(send):
            with m.If(header):
                m.d.sync += repeats.eq(repeats & (kept != last))
            with m.Else():
                m.d.sync += [payload.eq(Mux(flit.tail, 0, payload + 1)), repeats.eq(full & ~front.tail & ~flit.head)]

    def _await_processor(self, m, begins, send, may_go):
        """Hold back a packet's first flit, which is present while ``begins`` is 1, until the packet is served."""
        assert self.store is not None
        granted = Signal()
        m.d.comb += [
            self.arrives.eq(self.store.write & self.store.flit.tail),
            self.waits.eq(begins & ~granted),
            may_go.eq(~begins | granted),
        ]
        m.d.sync += granted.eq((granted | self.done) & ~send)

    def _wait(self, m, begins, send, may_go):
        """Hold back a packet's first flit, which is present while ``begins`` is 1, for t_ns cycles."""
        if not self.t_ns:
            m.d.comb += may_go.eq(C(1))
            return
        left = Signal(range(self.t_ns + 1), init=self.t_ns)
        m.d.comb += may_go.eq(~begins | (left == 0))
        with m.If(~begins | send):
            m.d.sync += left.eq(self.t_ns)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)


def _host_only(flit, has, pop):
    """Return the arguments: the host is the only sender; see `Injection._turns`."""
    return flit, has, pop
