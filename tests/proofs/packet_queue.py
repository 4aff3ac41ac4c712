# amaranth: UnusedElaboratable=no
"""The queue of whole packets against counters, a list of packets, and any one flit that is followed."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal

from wormcast.hw.interface.packet_queue import PacketQueue
from wormcast.hw.logic import bit_at

from .harness import Harness, Property, entry, implies
from .mutants import Mutant

__all__ = ["PacketQueueHarness"]

WHERE = "interface.packet_queue.PacketQueue.elaborate"


class PacketQueueHarness(Harness):
    """The queue of whole packets, with a writer that keeps to `room`, and packets of any length up to the limit.

    Flits are arbitrary. Packets of the channels are written interleaved. Packets are served, and flits taken, at any
    time.
    """

    component = "PacketQueue"
    properties = (
        Property("order", "The flits of a channel leave in the order of the writes, each exactly once, and unchanged: "
                          "no flit is overwritten before it is taken.",
                 Mutant(WHERE, "write_at[v].eq(self._after(write_at[v], v * self.places, self.places))",
                        "write_at[v].eq(write_at[v])")),
        Property("packets", "Packets leave whole, in the order in which their tails arrived, whatever their channels.",
                 Mutant(WHERE, "m.d.sync += newest.eq(self._after(newest, 0, packets))", "pass")),
        Property("served", "A packet waits if and only if it is whole and not served. There is a flit to take if and "
                           "only if a served packet has not left.",
                 Mutant(WHERE, "ready + self.served - ends", "ready + self.served")),
        Property("room", "A channel accepts the first flit of a packet if and only if it has a free place, whatever "
                         "the other channels hold, and accepts all further flits of a packet that has begun. A "
                         "channel never holds more packets than it has places.",
                 Mutant(WHERE, "still != self.places", "still <= self.places")),
    )

    def __init__(self, *, channels, places, flits, width):
        super().__init__()
        self.queue = PacketQueue(channels=channels, places=places, flits=flits, width=width)

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = self.queue
        channels, packets = range(queue.channels), queue.channels * queue.places
        self.leave_free(queue.write, queue.channel, queue.flit, queue.served, queue.pop)
        room = Signal(queue.channels, name="had_room")
        m.d.sync += room.eq(queue.room)
        self.assume(m, implies(queue.write, (queue.channel < queue.channels) & bit_at(room, queue.channel)))
        self.assume(m, implies(queue.served, queue.waiting))
        self.assume(m, implies(queue.pop, queue.has))
        ends = Signal(name="ends")
        m.d.comb += ends.eq(queue.pop & queue.front.tail)

        used, stored = ([Signal(range(most + 1), name=f"vc{v}_{name}") for v in channels]
                        for name, most in (("packets", packets), ("flits", queue.places * queue.flits)))
        for v in channels:
            begun, row = Signal(name=f"vc{v}_begun"), Signal(range(queue.flits), name=f"vc{v}_written")
            writes, takes = Signal(name=f"vc{v}_writes"), Signal(name=f"vc{v}_takes")
            m.d.comb += [writes.eq(queue.write & (queue.channel == v)),
                         takes.eq(queue.pop & (queue.front_channel == v))]
            self.assume(m, implies(writes & (row == queue.flits - 1), queue.flit.tail))
            m.d.sync += [used[v].eq(used[v] + (writes & ~begun) - (takes & queue.front.tail)),
                         stored[v].eq(stored[v] + writes - takes)]
            with m.If(writes):
                m.d.sync += [begun.eq(~queue.flit.tail), row.eq(Mux(queue.flit.tail, 0, row + 1))]
            self.claim(m, "room", used[v] <= queue.places)
            # `had_room` is 0 in the first cycle
            first = Signal(name=f"vc{v}_first", init=1)
            m.d.sync += first.eq(0)
            self.claim(m, "room", first | (room[v] == (begun | (used[v] < queue.places))))
            self.claim(m, "order", implies(takes, stored[v] != 0))

        self._packets(m, packets, ends)
        self._flit(m, stored)
        return m

    def _packets(self, m, packets, ends):
        """List the channels of whole packets, oldest first; the first ``served`` of them are served."""
        queue = self.queue
        whole, served = Signal(range(packets + 2), name="whole"), Signal(range(packets + 2), name="served")
        listed = [Signal(range(queue.channels), name=f"packet{i}") for i in range(packets)]
        arrives = Signal(name="arrives")
        m.d.comb += arrives.eq(queue.write & queue.flit.tail)
        m.d.sync += [whole.eq(whole + arrives - ends), served.eq(served + queue.served - ends)]
        for i, of in enumerate(listed):
            following = listed[i + 1] if i + 1 < packets else of
            m.d.sync += of.eq(Mux(arrives & (whole - ends == i), queue.channel, Mux(ends, following, of)))
        self.claim(m, "served", queue.waiting == (whole > served))
        self.claim(m, "served", queue.has == (served != 0))
        self.claim(m, "packets", implies(queue.has, queue.front_channel == listed[0]))
        within, channel = Signal(name="leaving"), Signal(range(queue.channels), name="leaving_channel")
        with m.If(queue.pop):
            m.d.sync += [within.eq(~queue.front.tail), channel.eq(queue.front_channel)]
        self.claim(m, "packets", implies(queue.pop & within, queue.front_channel == channel))

    def _flit(self, m, stored):
        """Follow any one flit from its write until it is taken."""
        queue = self.queue
        watch = self.free(name="watch")
        known, ahead = Signal(name="flit_known"), Signal(range(queue.places * queue.flits + 1), name="flit_ahead")
        flit, channel = Signal.like(Cat(queue.flit), name="flit_data"), Signal.like(queue.channel, name="flit_channel")
        here = queue.pop & (queue.front_channel == channel)
        with m.If(known):
            m.d.sync += [ahead.eq(ahead - here), known.eq(~here | (ahead != 0))]
            self.claim(m, "order", implies(here & (ahead == 0), Cat(queue.front) == flit))
        with m.Elif(watch & queue.write):
            leaves = queue.pop & (queue.front_channel == queue.channel)
            m.d.sync += [known.eq(1), flit.eq(Cat(queue.flit)), channel.eq(queue.channel),
                         ahead.eq(entry(Array(stored), queue.channel) - leaves)]
