"""What the registers of an interface with retransmission slots say: what is in its buffers, and who waits for a slot.

As of `PathFront`, whoever proves deadlocks asks here, and knows no register by name.
"""

from collections.abc import Callable
from typing import Any

from ..buffer import ReplicationBuffer
from .network_interface import NetworkInterface

__all__ = ["SlotsFront"]

Read = Callable[[str], Any]
"""A register of one interface by its full name -> its value; a memory's: its rows."""


class SlotsFront:
    """Consumption channels and retransmission slots of one interface.

    Parameters
    ----------
    interface : NetworkInterface
        One of the kind, with slots.
    read : callable
        A register of this one, or a row of a memory's values.
    """

    def __init__(self, interface: NetworkInterface, read: Read):
        [injection], [consumption] = interface.injections, interface.consumptions
        slots = injection.slots
        assert slots is not None
        self.slots, self.flits, self.channels = slots.slots, slots.flits, slots.channels
        self._depth, self._vcs = consumption.port.depth, injection.port.vcs
        self._read = read

    def _number(self, name: str, count: int) -> int:
        """A register with a number below ``count``: there is none of a single one."""
        return int(self._read(name)) if count > 1 else 0

    def stored(self, channel: int) -> list[int]:
        """Flits in the buffer of a consumption channel, front first: head mark, tail mark and data from bit 0."""
        prefix = f"consumption_0.buffer.vc{channel}_"
        at, start = (self._number(prefix + name, self._depth) for name in ("write_at", "read0_at"))
        count = ReplicationBuffer.stored(at, start, int(self._read(f"{prefix}filled0")), self._depth)
        if not count:
            return []
        memory, first = self._read("consumption_0.buffer.memory"), channel << (self._depth - 1).bit_length()
        return [int(memory[first + (start + k) % self._depth]) for k in range(count)]

    def full(self, channel: int, on_link: int) -> bool:
        """Whether that buffer has no room for a flit, with so many that are on its link."""
        return len(self.stored(channel)) + on_link == self._depth

    def waits(self, channel: int) -> bool:
        """Whether the packet at the front of that buffer waits for a slot."""
        flits = self.stored(channel)
        begins = bool(flits) and not int(self._read("consumption_0.within")) >> channel & 1
        return begins and flits[0] & 3 == 1 and not int(self._read("consumption_0.slots_left"))

    @property
    def next_slot(self) -> int:
        """The slot that is sent from, or will be next."""
        return self._number("injection_0.slots.read_slot", self.slots)

    @property
    def sending(self) -> bool:
        """Whether a packet from a slot has its virtual channel of the injection link, and has not ended."""
        return bool(self._read("injection_0.owns")) and bool(self._read("injection_0.last"))

    @property
    def injects_on(self) -> int | None:
        """Virtual channel of the injection link that some packet has, from host or slot; None: none has one."""
        return self._number("injection_0.packet_vc", self._vcs) if self._read("injection_0.owns") else None

    def filled(self, slot: int) -> bool:
        """Whether a slot holds a whole packet, or what of it has not been sent."""
        return bool(int(self._read("injection_0.slots.full")) >> slot & 1)

    def storing(self, slot: int) -> int | None:
        """The consumption channel whose packet is being stored in a slot; None: none is."""
        under_way = int(self._read("injection_0.slots.under_way"))
        for channel in range(self.channels):
            if under_way >> channel & 1 and self._slot_of(channel) == slot:
                return channel
        return None

    def _slot_of(self, channel: int) -> int:
        return self._number(f"injection_0.slots.vc{channel}_slot", self.slots)

    def flits_in(self, slot: int) -> list[int]:
        """Flits in a slot that have not been sent, as in `stored`."""
        rows, first = self._read("injection_0.slots.memory"), slot << (self.flits - 1).bit_length()
        channel = self.storing(slot)
        if channel is not None:
            return [int(rows[first + k]) for k in range(int(self._read(f"injection_0.slots.vc{channel}_row")))]
        found: list[int] = []
        start = int(self._read("injection_0.slots.read_at")) if slot == self.next_slot else 0
        for k in range(start, self.flits if self.filled(slot) else start):
            found.append(int(rows[first + k]))
            if found[-1] & 2:
                break
        return found
