"""What the registers of an interface say of one that packets may wait for: what is in its buffers, and who waits there.

As of `PathFront`, whoever proves deadlocks asks here, and knows no register by name.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ring import fill_level

if TYPE_CHECKING:
    from .network_interface import NetworkInterface

__all__ = ["InterfaceFront", "SlotsFront"]

TAIL = 2  # mark of a flit as it is stored

Read = Callable[[str], Any]
"""A register of one interface by its full name -> its value; a memory's: its rows."""


class InterfaceFront:
    """The consumption channels of one interface, and its injection port, which hosts and something else share; flits
    have head mark, tail mark and data from bit 0.

    Parameters
    ----------
    interface : NetworkInterface
        One of the kind.
    read : callable
        A register of this one.

    Attributes
    ----------
    channels, depth : int
        Consumption channels, and flits that each has room for.
    """

    def __init__(self, interface: "NetworkInterface", read: Read):
        [injection], [consumption] = interface.injections, interface.consumptions
        self.channels, self.depth = consumption.port.vcs, consumption.port.depth
        self._vcs = injection.port.vcs
        self._read = read

    def _number(self, name: str, count: int) -> int:
        """A register with a number below ``count``: there is none of a single one."""
        return int(self._read(name)) if count > 1 else 0

    def stored(self, channel: int) -> list[int]:
        """Flits in the buffer of a consumption channel that have not been consumed, front first."""
        prefix = f"consumption_0.buffer.vc{channel}_"
        at, start = (self._number(prefix + name, self.depth) for name in ("write_at", "read0_at"))
        count = fill_level(at, start, int(self._read(f"{prefix}filled0")), self.depth)
        if not count:
            return []
        memory, first = self._read("consumption_0.buffer.memory"), channel << (self.depth - 1).bit_length()
        return [int(memory[first + (start + k) % self.depth]) for k in range(count)]

    @property
    def sending(self) -> bool:
        """Whether what is none of the host has its virtual channel of the injection link."""
        return bool(self._read("injection_0.owns")) and bool(self._read("injection_0.others_turn"))

    @property
    def injects_on(self) -> int | None:
        """Virtual channel of the injection link that some packet has, of the host or not; None: none has one."""
        return self._number("injection_0.packet_vc", self._vcs) if self._read("injection_0.owns") else None


class SlotsFront(InterfaceFront):
    """One with retransmission slots; parameters as of `InterfaceFront`.

    Attributes
    ----------
    slots : int
    """

    def __init__(self, interface: "NetworkInterface", read: Read):
        super().__init__(interface, read)
        slots = interface.injections[0].slots
        assert slots is not None
        self.slots = slots.slots
        self._flits, self._buffers = slots.flits, slots.slots + slots.channels

    def waits(self, channel: int) -> bool:
        """Whether the message in a channel's absorb buffer is whole, and has no slot."""
        return bool(int(self._read("consumption_0.waits_for_slot")) >> channel & 1)

    def absorbed(self, channel: int) -> list[int]:
        """Flits of the message in a channel's absorb buffer that is whole."""
        return self._message(f"vc{channel}_buffer", 0)

    @property
    def next_slot(self) -> int:
        """The slot that is sent from, or will be next."""
        return self._number("injection_0.slots.oldest", self.slots)

    def filled(self) -> list[int]:
        """The slots with messages, in the order in which they are sent; of the first one a part may have been."""
        return [(self.next_slot + k) % self.slots for k in range(int(self._read("injection_0.slots.filled")))]

    def in_slot(self, slot: int) -> list[int]:
        """Flits of the message in a slot that have not been sent."""
        sent = int(self._read("injection_0.slots.read_at")) if slot == self.next_slot else 0
        return self._message(f"slot{slot}_buffer", sent)

    def _message(self, buffer: str, start: int) -> list[int]:
        rows = self._read("injection_0.slots.memory")
        first = self._number(f"injection_0.slots.{buffer}", self._buffers) << (self._flits - 1).bit_length()
        found: list[int] = []
        while start + len(found) < self._flits and not (found and found[-1] & TAIL):
            found.append(int(rows[first + start + len(found)]))
        return found
