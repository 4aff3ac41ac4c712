# amaranth: UnusedElaboratable=no
# (a `Consumption` creates its queue to check the parameters, and may never be elaborated)
"""Queue of whole packets in a network interface, and the processor of received packets."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..link import flit_layout
from ..logic import bit_at
from ..options import MOST_DELAY, MOST_PACKET, MOST_QUEUE, NEVER_FULL_PLACES

__all__ = ["PacketProcessor", "PacketQueue"]


class PacketQueue(wiring.Component):
    """Memory of whole packets, with places for each channel ([Sivaram98], section 3.1).

    ::

        write, channel, flit ─▶ next place of the channel ─▶ memory, a row per (place, flit) ─▶ front, has
                     tail ─▶ order of arrival ─▶ waiting ─▶ processor ─▶ served ─▶ sent in this order

    A packet takes the next place of its channel with its first flit, and frees the place when its tail is taken.
    Channels do not share places: while all places of a channel are full, other channels can store packets. Packets of
    all channels are served, and leave, in the order in which their tails arrived.

    *Latency*: with the tail in cycle t, ``waiting`` is 1 in t + 1. With ``served`` in cycle s, the packet's first flit
    is on ``front`` in s + 1, if the packets before it have left. *Throughput*: a flit in and a flit out per cycle.
    *Reset*: empty.

    Parameters
    ----------
    channels : int
        Channels, each with places of its own.
    places : int
        Packets that a channel can store. Range: 1 to 256, or 1024 (`NEVER_FULL_PLACES`): a queue for simulation that
        always has room.
    flits : int
        Maximum number of flits of a packet. Packets of more than ``flits`` flits must not be written: the last flits of
        such a packet overwrite each other.
    width : int
        Data bits of a flit.

    Members
    -------
    write : In(1)
        A flit of a packet is written. A channel's flit may be written only if its bit of ``room`` was 1 in the cycle
        before.
    channel, flit : In
        With ``write``: channel of the flit, and the flit itself.
    room : Out(channels)
        A flit of the channel can be written in the next cycle. ``room`` is combinational, from ``write``, ``channel``,
        ``flit`` and ``pop``.
    overflow : Out(channels)
        The first flit of a packet is written, and all places of its channel are full: packets are lost. ``overflow`` is
        combinational. Only with 1024 places.
    waiting : Out(1)
        A whole packet is stored, and not served.
    served : In(1)
        The processor has served the packet that waits longest.
    has : Out(1)
        There is a flit of a served packet.
    front, front_channel : Out
        The flit, and its channel.
    next_channel : Out
        Value of ``front_channel`` in the next cycle. Combinational, from ``pop``.
    pop : In(1)
        The flit on ``front`` is taken.
    """

    def __init__(self, *, channels: int, places: int, flits: int, width: int):
        self.never_full = places == NEVER_FULL_PLACES
        for field, value, most in (("places", places, NEVER_FULL_PLACES if self.never_full else MOST_QUEUE),
                                   ("flits", flits, MOST_PACKET)):
            if not 1 <= value <= most:
                raise WormcastError(f"PacketQueue.{field}: {value} is not valid. Allowed: 1 to {most}.")
        self.channels = channels
        self.places = places
        self.flits = flits
        self.width = width
        super().__init__({
            "write": In(1),
            "channel": In(range(channels)),
            "flit": In(flit_layout(width)),
            "room": Out(channels),
            **({"overflow": Out(channels)} if self.never_full else {}),
            "waiting": Out(1),
            "served": In(1),
            "has": Out(1),
            "front": Out(flit_layout(width)),
            "front_channel": Out(range(channels)),
            "next_channel": Out(range(channels)),
            "pop": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        channels, packets = range(self.channels), self.channels * self.places
        rows, count = range(self.flits), range(packets + 1)
        store: memory.Memory = memory.Memory(
            shape=flit_layout(self.width).size, depth=packets << (self.flits - 1).bit_length(), init=[],
            attrs={"ram_style": "block"},
        )
        m.submodules.memory = store
        write, read = store.write_port(), store.read_port()

        # places in the memory, channel by channel: those of channel v begin at v * places
        write_at, read_at = ([Signal(range(packets), init=v * self.places, name=f"vc{v}_{name}") for v in channels]
                             for name in ("write_place", "read_place"))
        row = [Signal(rows, name=f"vc{v}_row") for v in channels]
        used = [Signal(range(self.places + 1), name=f"vc{v}_used") for v in channels]
        within = Signal(self.channels)  # a packet is being written
        ends = Signal()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(Cat(bit_at(row, self.channel), bit_at(write_at, self.channel))),
            write.data.eq(self.flit),
            ends.eq(self.pop & self.front.tail),
        ]
        for v in channels:
            here, frees, still = Signal(name=f"vc{v}_here"), Signal(name=f"vc{v}_frees"), Signal.like(used[v])
            m.d.comb += [
                here.eq(self.write & (self.channel == v)),
                frees.eq(ends & (self.front_channel == v)),
                still.eq(used[v] + (here & ~within[v]) - frees),
                self.room[v].eq(1 if self.never_full else
                                Mux(here, ~self.flit.tail, within[v]) | (still != self.places)),
            ]
            if self.never_full:
                m.d.comb += self.overflow[v].eq(here & ~within[v] & (used[v] == self.places) & ~frees)
            m.d.sync += used[v].eq(still)
            with m.If(here):
                m.d.sync += [
                    within[v].eq(~self.flit.tail),
                    row[v].eq(Mux(self.flit.tail, 0, Mux(row[v] == self.flits - 1, row[v], row[v] + 1))),
                ]
                with m.If(self.flit.tail):
                    m.d.sync += write_at[v].eq(self._after(write_at[v], v * self.places, self.places))
            with m.If(frees):
                m.d.sync += read_at[v].eq(self._after(read_at[v], v * self.places, self.places))

        newest, oldest = Signal(range(packets)), Signal(range(packets))
        waiting, ready = Signal(count, name="packets_waiting"), Signal(count, name="packets_served")
        arrives = Signal()
        read_row, following_row, following = Signal(rows), Signal(rows), Signal(range(packets))
        if self.channels > 1:
            order: memory.Memory = memory.Memory(shape=range(self.channels), depth=packets, init=[],
                                                 attrs={"ram_style": "distributed"})
            m.submodules.order = order
            note, look = order.write_port(), order.read_port(domain="comb")
            m.d.comb += [note.en.eq(arrives), note.addr.eq(newest), note.data.eq(self.channel),
                         look.addr.eq(following), self.next_channel.eq(look.data)]
        m.d.comb += [
            arrives.eq(self.write & self.flit.tail),
            following.eq(Mux(ends, self._after(oldest, 0, packets), oldest)),
            following_row.eq(Mux(self.pop, Mux(self.front.tail, 0, read_row + 1), read_row)),
            # the memory's data are valid in the next cycle; a packet's first row was written a cycle or more before
            read.addr.eq(Cat(following_row, Mux(
                ends & (self.next_channel == self.front_channel),
                bit_at([self._after(read_at[v], v * self.places, self.places) for v in channels], self.next_channel),
                bit_at(read_at, self.next_channel),
            ))),
            self.front.eq(read.data),
            self.waiting.eq(waiting != 0),
            self.has.eq(ready != 0),
        ]
        m.d.sync += [
            self.front_channel.eq(self.next_channel),
            oldest.eq(following),
            read_row.eq(following_row),
            waiting.eq(waiting + arrives - self.served),
            ready.eq(ready + self.served - ends),
        ]
        with m.If(arrives):
            m.d.sync += newest.eq(self._after(newest, 0, packets))
        return m

    @staticmethod
    def _after(place, first, count):
        """Return the place after ``place`` in the ring of ``count`` places from ``first`` on."""
        return Mux(place == first + count - 1, first, place + 1)


class PacketProcessor(wiring.Component):
    """Communication processor of an interface, which serves packets one after the other ([Sivaram98], section 3.1).

    *Latency*: a packet that begins to wait in cycle t while the processor is idle is served in cycle t + max(cycles, 1)
    - 1. *Throughput*: a packet in max(cycles, 1) + 1 cycles. *Reset*: idle.

    Parameters
    ----------
    cycles : int
        Cycles to serve a packet. Range: 0 to 65535; 0 takes a cycle, like 1.

    Members
    -------
    waiting : In(1)
        A packet waits.
    done : Out(1)
        The packet is served in this cycle. In the cycle after ``done``, ``waiting`` is 1 only if another packet waits.
    """

    def __init__(self, cycles: int):
        if not 0 <= cycles <= MOST_DELAY:
            raise WormcastError(f"PacketProcessor.cycles: {cycles} is not valid. Allowed: 0 to {MOST_DELAY}.")
        self.cycles = cycles
        super().__init__({"waiting": In(1), "done": Out(1)})

    def elaborate(self, platform):
        m = Module()
        last = max(self.cycles, 1) - 1
        left, was_done = Signal(range(last + 1), init=last), Signal()
        works = Signal()
        m.d.comb += [works.eq(self.waiting & ~was_done), self.done.eq(works & (left == 0))]
        m.d.sync += was_done.eq(self.done)
        with m.If(works):
            m.d.sync += left.eq(Mux(self.done, last, left - 1))
        return m
