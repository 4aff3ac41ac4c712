"""Absorb buffers and retransmission slots of an interface, which store whole messages."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ..link import flit_layout
from ..logic import bit_at
from ..options import MOST_SLOTS, SLOT_FLITS

__all__ = ["Retransmission"]


class Retransmission(wiring.Component):
    """Absorb buffers and retransmission slots of an interface ([Boppana98], section 3.1).

    A node can hold one message per consumption channel, while it is consumed, and one message per slot, until it is
    sent again.

    ::

        write, vc, flit ─▶ absorb buffer of channel vc ─▶ memory, a row per (buffer, flit) ─▶ front, has
                                                            ▲
        granted, granted_vc: buffer of the channel ─▶ ring of slots: the oldest slot's buffer is read
                                                            └─ tail taken ─▶ freed

    Each channel has a buffer for a message, from the first header flit to the tail, and so has each slot. When a
    channel's message is granted a slot, channel and slot swap buffers: nothing is copied, and the channel has a free
    buffer. Messages are sent in the order in which their slots were granted. `Consumption` counts the slots: it must
    not grant a slot while no slot is free. `Consumption` must not write into the buffer of a whole message that has no
    slot yet.

    *Latency*: with tail and grant in cycle t, the message's first flit is on ``front`` in t + 1. A slot is reported as
    free in the cycle after its message's tail was taken. *Throughput*: a flit in and a flit out per cycle. *Reset*:
    empty.

    Parameters
    ----------
    slots : int
        Retransmission slots. Range: 1 to 16.
    flits : int
        Maximum number of flits of a message, header flits included. Range: 2 to 65536. Messages of more than ``flits``
        flits must not be sent: their last flits overwrite each other.
    channels : int
        Consumption channels, each with an absorb buffer.
    width : int
        Data bits of a flit.

    Members
    -------
    write : In(1)
        A flit of an absorbed message is written. A message has two flits or more.
    vc, flit : In
        With ``write``: consumption channel of the flit, and the flit itself.
    granted, granted_vc : In
        ``granted``: the message of channel ``granted_vc`` is granted a slot. The message's tail is written before the
        cycle of ``granted``, or in it.
    has : Out(1)
        There is a flit to send.
    front : Out
        The flit to send.
    pop : In(1)
        The flit on ``front`` is taken.
    freed : Out(1)
        A slot has become free.
    """

    @checked
    def __init__(self, *, slots: int, flits: int, channels: int, width: int):
        for field, value, (least, most) in (("slots", slots, (1, MOST_SLOTS)), ("flits", flits, SLOT_FLITS)):
            if not least <= value <= most:
                raise WormcastError(f"Retransmission.{field}: {value} is not valid. Allowed: {least} to {most}.")
        self.slots = slots
        self.flits = flits
        self.channels = channels
        self.width = width
        super().__init__({
            "write": In(1),
            "vc": In(range(channels)),
            "flit": In(flit_layout(width)),
            "granted": In(1),
            "granted_vc": In(range(channels)),
            "has": Out(1),
            "front": Out(flit_layout(width)),
            "pop": In(1),
            "freed": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        buffers, rows = range(self.slots + self.channels), range(self.flits)
        store: memory.Memory = memory.Memory(
            shape=flit_layout(self.width).size, depth=len(buffers) << (self.flits - 1).bit_length(), init=[],
            attrs={"ram_style": "block"},
        )
        m.submodules.memory = store
        write, read = store.write_port(), store.read_port()
        under_way = Signal(self.channels)  # for each consumption channel: a message is being written
        write_at = Array(Signal(rows, name=f"vc{v}_row") for v in range(self.channels))
        of_channel = Array(Signal(buffers, init=v, name=f"vc{v}_buffer") for v in range(self.channels))
        of_slot = Array(Signal(buffers, init=self.channels + s, name=f"slot{s}_buffer") for s in range(self.slots))
        row, buffer = Signal(rows), Signal(buffers)
        m.d.comb += [
            write.en.eq(self.write),
            row.eq(Mux(bit_at(under_way, self.vc), write_at[self.vc], 0)),
            buffer.eq(of_channel[self.vc]),
            write.addr.eq(Cat(row, buffer)),
            write.data.eq(self.flit),
        ]
        with m.If(self.write):
            m.d.sync += [
                write_at[self.vc].eq(Mux(row == self.flits - 1, row, row + 1)),
                under_way.bit_select(self.vc, 1).eq(~self.flit.tail),
            ]

        newest = Signal(range(self.slots))  # the slot that is granted next
        oldest = Signal(range(self.slots))  # the slot whose message is sent
        filled = Signal(range(self.slots + 1))
        read_at = Signal(rows)
        ends = Signal()
        m.d.comb += [
            self.front.eq(read.data),
            self.has.eq(filled != 0),
            ends.eq(self.pop & self.front.tail),
        ]
        with m.If(self.granted):
            m.d.sync += [
                of_slot[newest].eq(of_channel[self.granted_vc]),
                of_channel[self.granted_vc].eq(of_slot[newest]),
                newest.eq(self._after(newest)),
            ]
        following_slot, following_row, sent_from = Signal.like(oldest), Signal.like(read_at), Signal(buffers)
        m.d.comb += [
            following_slot.eq(Mux(ends, self._after(oldest), oldest)),
            following_row.eq(Mux(self.pop, Mux(self.front.tail, 0, read_at + 1), read_at)),
            sent_from.eq(Mux(self.granted & (following_slot == newest), of_channel[self.granted_vc],
                             of_slot[following_slot])),
            # the memory's data are valid in the next cycle; a message's first row was written a cycle or more before
            read.addr.eq(Cat(following_row, sent_from)),
        ]
        m.d.sync += [
            oldest.eq(following_slot),
            read_at.eq(following_row),
            filled.eq(filled + self.granted - ends),
            self.freed.eq(ends),
        ]
        return m

    def _after(self, slot):
        """Return the slot after ``slot`` in the ring of slots."""
        if self.slots & (self.slots - 1) == 0:
            return slot + 1
        return Mux(slot == self.slots - 1, 0, slot + 1)
