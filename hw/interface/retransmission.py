"""Slots for messages that are on their way: absorbed by a node's interface, kept whole, and read out again."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..link import flit_layout
from ..logic import bit_at

__all__ = ["MOST_SLOTS", "SLOT_FLITS", "Retransmission"]

MOST_SLOTS = 16
SLOT_FLITS = (2, 65536)
"""Least and most flits of a slot."""


class Retransmission(wiring.Component):
    """The retransmission slots of an interface ([Boppana98], section 3.1): each holds one message.

    ::

        from consumption: write, vc, flit ─▶ slot and row of this channel ─▶ memory, a row per (slot, flit)
                                                                                │
        freed ◀── tail taken ◀── front, has ◀── slots in the order given ◀──────┘ full[slot] := tail written

    What a consumption channel brings, from a message's first header flit to its tail, is stored in the next slot, in a
    ring. Slots are read out in the order in which they were given, each when its tail is stored; it is free for the
    next message when its tail is taken. Whoever writes counts the free slots: it must not begin a message while there
    is none.

    *Latency*: with a tail written in cycle t, the message's first flit is there in t + 1; one that was freed is
    reported in the cycle after the tail was taken. *Throughput*: a flit in and a flit out per cycle. *Reset*: all slots
    free.

    Parameters
    ----------
    slots : int
        How many messages, 1 to 16.
    flits : int
        Longest message, header flits among them, 2 to 65536. Of a longer one the last row holds the tail alone, so it
        must not be sent.
    channels : int
        Consumption channels, each of which may bring a message at the same time.
    width : int
        Data bits of a flit.

    Members
    -------
    write, vc, flit : In
        A flit of a message that goes on, and the consumption channel that brings it.
    has, front : Out
        The flit that goes next, where there is one.
    take : In(1)
        It is taken.
    freed : Out(1)
        A slot has become free.

    Raises
    ------
    WormcastError
        A parameter outside its range.
    """

    def __init__(self, *, slots: int, flits: int, channels: int, width: int):
        for field, value, (least, most) in (("slots", slots, (1, MOST_SLOTS)), ("flits", flits, SLOT_FLITS)):
            if not least <= value <= most:
                raise WormcastError(f"Retransmission.{field}: must be {least} to {most}, not {value}")
        self.slots = slots
        self.flits = flits
        self.channels = channels
        self.width = width
        super().__init__({
            "write": In(1),
            "vc": In(range(channels)),
            "flit": In(flit_layout(width)),
            "has": Out(1),
            "front": Out(flit_layout(width)),
            "take": In(1),
            "freed": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        layout, rows = flit_layout(self.width), range(self.flits)
        m.submodules.memory = store = memory.Memory(
            shape=layout.size, depth=self.slots << (self.flits - 1).bit_length(), init=[], attrs={"ram_style": "block"}
        )
        write, read = store.write_port(), store.read_port()
        full = Signal(self.slots)
        next_slot = Signal(range(self.slots))  # the one that is given next
        under_way = Signal(self.channels)  # a message of this channel is being stored
        slots = Array(Signal(range(self.slots), name=f"vc{v}_slot") for v in range(self.channels))
        write_at = Array(Signal(rows, name=f"vc{v}_row") for v in range(self.channels))
        slot, row, goes_on = Signal(range(self.slots)), Signal(rows), Signal()
        m.d.comb += [
            goes_on.eq(bit_at(under_way, self.vc)),
            slot.eq(Mux(goes_on, slots[self.vc], next_slot)),
            row.eq(Mux(goes_on, write_at[self.vc], 0)),
            write.en.eq(self.write),
            write.addr.eq(Cat(row, slot)),
            write.data.eq(self.flit),
        ]
        with m.If(self.write):
            m.d.sync += [
                slots[self.vc].eq(slot),
                write_at[self.vc].eq(Mux(row == self.flits - 1, row, row + 1)),
                under_way.bit_select(self.vc, 1).eq(~self.flit.tail),
            ]
            with m.If(~goes_on):
                m.d.sync += next_slot.eq(self._after(next_slot))

        read_slot, read_at = Signal(range(self.slots)), Signal(rows)
        ends = Signal()
        m.d.comb += [
            self.front.eq(read.data),
            self.has.eq(bit_at(full, read_slot)),
            ends.eq(self.take & self.front.tail),
        ]
        following_slot, following_row = Signal.like(read_slot), Signal.like(read_at)
        m.d.comb += [
            following_slot.eq(Mux(ends, self._after(read_slot), read_slot)),
            following_row.eq(Mux(self.take, Mux(self.front.tail, 0, read_at + 1), read_at)),
            # the memory answers in the next cycle; a message's first row has then been there for a cycle or more
            read.addr.eq(Cat(following_row, following_slot)),
        ]
        m.d.sync += [read_slot.eq(following_slot), read_at.eq(following_row), self.freed.eq(ends)]
        for s in range(self.slots):
            stored = self.write & self.flit.tail & (slot == s)
            m.d.sync += full[s].eq((full[s] | stored) & ~(ends & (read_slot == s)))
        return m

    def _after(self, slot):
        """The slot behind this one, round the ring."""
        if self.slots & (self.slots - 1) == 0:
            return slot + 1
        return Mux(slot == self.slots - 1, 0, slot + 1)
