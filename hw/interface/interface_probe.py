"""Probes of network interfaces: they decode from registers what buffers and slots contain, and overheads in progress.

Deadlock proofs and waveforms read the registers of network interfaces only through probes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ring import fill_level

if TYPE_CHECKING:
    from .network_interface import NetworkInterface

__all__ = ["InterfaceProbe", "RetransmissionProbe", "oldest_packet", "packets_served", "service_ended", "startup_left",
           "tails_waited"]

TAIL = 2  # tail mark of a stored flit

Read = Callable[[str], Any]
"""Function from a register's full name to its value in one interface. The value of a memory is its rows."""


class InterfaceProbe:
    """Consumption channels of the first consumption link, and first injection port, of one interface. The host may
    share the injection port with retransmission slots or forwarded copies.

    Flits are integers: head mark (bit 0), tail mark (bit 1), data (from bit 2).

    Parameters
    ----------
    interface : NetworkInterface
        An interface of this kind.
    read : callable
        Returns a register of this interface.

    Attributes
    ----------
    channels, depth : int
        Number of consumption channels, and flits of buffer of each.
    queues : bool
        The interface has a receive queue.
    """

    #: True: a register that the interface lacks is read as 0. False: reading a register that the interface lacks is an
    #: error.
    reads_missing = False

    #: The injection port also sends packets that are not from the host. Property ``offered`` has the flits of such
    #: packets.
    sends_on = False

    #: The interface forwards packets to several children from its buffer, and counts the packets.
    #: A packet that finds no free packet buffer entry waits in its consumption channel, or in the receive queue.
    forwards = False

    def __init__(self, interface: "NetworkInterface", read: Read):
        injection, consumption = interface.injections[0], interface.consumptions[0]
        self.channels, self.depth = consumption.port.vcs, consumption.port.depth
        self._vcs = injection.port.vcs
        self._queue = consumption.queue
        self.queues = self._queue is not None
        self._read = read

    def _number(self, name: str, count: int) -> int:
        """Return the number below ``count`` in register ``name``; 0 for a count of 1, which has no register."""
        return int(self._read(name)) if count > 1 else 0

    def stored(self, channel: int) -> list[int]:
        """Return the flits in the buffer of a consumption channel that have not been consumed, front first."""
        prefix = f"consumption_0.buffer.vc{channel}_"
        at, start = (self._number(prefix + name, self.depth) for name in ("write_at", "read0_at"))
        count = fill_level(at, start, int(self._read(f"{prefix}filled0")), self.depth)
        if not count:
            return []
        memory, first = self._read("consumption_0.buffer.memory"), channel << (self.depth - 1).bit_length()
        return [int(memory[first + (start + k) % self.depth]) for k in range(count)]

    @property
    def blocking(self) -> int | None:
        """Consumption channel of the packet that leaves the receive queue next, if this packet must wait for room in
        the interface behind the queue; else None."""
        return None

    def stops(self, channel: int) -> bool:
        """Return true if no flit of a consumption channel's buffer can leave it before a packet in the interface gets
        room."""
        return False

    def queued(self, channel: int) -> list[int]:
        """Return the flits of a channel that are in the receive queue, oldest first.

        Flits of the packet that leaves the queue next are included even if they have left it. So call the function
        only while this packet waits (`blocking`): then none of its flits has left.
        """
        if self._queue is None:
            return []
        name, places, flits = "consumption_0.queue", self._queue.places, self._queue.flits
        memory, packets = self._read(f"{name}.memory"), int(self._read(f"{name}.vc{channel}_used"))
        oldest = self._number(f"{name}.vc{channel}_read_place", self.channels * places) - channel * places
        found: list[int] = []
        for k in range(packets):
            first = channel * places + (oldest + k) % places << (flits - 1).bit_length()
            stored = [int(flit) for flit in memory[first:first + flits]]
            if k == packets - 1 and self._arrives(channel):
                found += stored[:self._number(f"{name}.vc{channel}_row", flits)]
            else:
                found += stored[:1 + next(at for at, flit in enumerate(stored) if flit & TAIL)]
        return found

    def _arrives(self, channel: int) -> bool:
        """Return true if a packet of a channel has begun to enter the receive queue, and its tail has not."""
        return bool(int(self._read("consumption_0.queue.within")) >> channel & 1)

    def _lacks_place(self, channel: int) -> bool:
        """Return true if the next packet of a channel has no place in the receive queue, and none becomes free."""
        assert self._queue is not None
        return (self.blocking is not None and not self._queue.never_full and not self._arrives(channel)
                and int(self._read(f"consumption_0.queue.vc{channel}_used")) == self._queue.places)

    @property
    def sending(self) -> bool:
        """A packet that is not from the host holds a virtual channel of the injection link."""
        return bool(self._read("injection_0.owns")) and bool(self._read("injection_0.others_turn"))

    @property
    def injects_on(self) -> int | None:
        """Virtual channel of the injection link that the packet under way holds; None if no packet holds a channel."""
        return self._number("injection_0.packet_vc", self._vcs) if self._read("injection_0.owns") else None


class RetransmissionProbe(InterfaceProbe):
    """Registers of an interface with retransmission slots.

    Attributes
    ----------
    slots : int
        Number of slots.
    """

    sends_on = True

    def __init__(self, interface: "NetworkInterface", read: Read):
        super().__init__(interface, read)
        slots = interface.injections[0].slots
        assert slots is not None
        self.slots = slots.slots
        self._flits, self._buffers = slots.flits, slots.slots + slots.channels

    @property
    def blocking(self) -> int | None:
        # the packet that leaves the receive queue next goes to the absorb buffer of its channel
        if self._queue is None or not any(int(self._read(f"consumption_0.queue.vc{channel}_used"))
                                          for channel in range(self.channels)):
            return None
        channel = self._number("consumption_0.queue.front_channel", self.channels)
        return channel if self.waits(channel) else None

    def stops(self, channel: int) -> bool:
        return self.queues and self._lacks_place(channel)

    def waits(self, channel: int) -> bool:
        """Return true if the message in a channel's absorb buffer is whole, and waits for a slot."""
        return bool(int(self._read("consumption_0.waits_for_slot")) >> channel & 1)

    def absorbed(self, channel: int) -> list[int]:
        """Return the flits of the whole message in a channel's absorb buffer."""
        if self._read("consumption_0.absorbed") and self._number("consumption_0.absorbed_vc", self.channels) == channel:
            # the memory gets the tail at the end of this cycle
            return [*self._arrived(channel), int(self._read("consumption_0.absorbed_flit"))]
        return self._message(f"vc{channel}_buffer", 0)

    def _arrived(self, channel: int) -> list[int]:
        """Return the flits of an arriving message that the memory of the absorb buffer has."""
        under_way = int(self._read("injection_0.slots.under_way")) >> channel & 1
        count = int(self._read(f"injection_0.slots.vc{channel}_row")) if under_way else 0
        first = self._first(f"vc{channel}_buffer")
        return [int(word) for word in self._read("injection_0.slots.memory")[first:first + count]]

    @property
    def next_slot(self) -> int:
        """Slot whose message is sent now or next."""
        return self._number("injection_0.slots.oldest", self.slots)

    @property
    def offered(self) -> tuple[list[int], bool]:
        """Data of the payload flits of the packet that is sent now or next; and true if the first of them is
        included."""
        flits = self.in_slot(self.next_slot)
        return [flit >> 2 for flit in flits if not flit & 1], bool(flits[0] & 1)

    def filled(self) -> list[int]:
        """Return the slots with messages, in sending order. Some flits of the first slot's message may have been
        sent."""
        return [(self.next_slot + k) % self.slots for k in range(int(self._read("injection_0.slots.filled")))]

    def in_slot(self, slot: int) -> list[int]:
        """Return the flits of the message in a slot that have not been sent."""
        sent = int(self._read("injection_0.slots.read_at")) if slot == self.next_slot else 0
        return self._message(f"slot{slot}_buffer", sent)

    def _message(self, buffer: str, start: int) -> list[int]:
        rows, first = self._read("injection_0.slots.memory"), self._first(buffer)
        found: list[int] = []
        while start + len(found) < self._flits and not (found and found[-1] & TAIL):
            found.append(int(rows[first + start + len(found)]))
        return found

    def _first(self, buffer: str) -> int:
        """Return the memory row of a buffer's first flit. ``buffer``: register with the number of the buffer."""
        return self._number(f"injection_0.slots.{buffer}", self._buffers) << (self._flits - 1).bit_length()


def startup_left(port: int, read: Read) -> Any:
    """Return how many of its t_ns cycles the first flit of a packet still waits at an injection port.

    While no first flit waits, the value is t_ns. During the wait the value counts down to 0, and it stays 0 until the
    flit is sent. The register exists only if t_ns is not 0.
    """
    return read(f"injection_{port}.left")


def tails_waited(link: int, read: Read) -> Any:
    """Return a mask of the channels of a consumption link whose front flit is a tail that has waited its t_nr.

    A bit is set from the cycle after the wait until the flit is sent to the host. The register exists only if t_nr is
    not 0.
    """
    return read(f"consumption_{link}.waited")


def oldest_packet(queue: str, places: int, flits: int, read: Read) -> list[int]:
    """Return the flits of the oldest packet in a queue of one channel: numbers, as in `InterfaceProbe`.

    ``queue``: name of a `PacketQueue` that holds a whole packet. ``places``, ``flits``: parameters of the queue.
    """
    place = int(read(f"{queue}.vc0_read_place")) if places > 1 else 0
    first = place << (flits - 1).bit_length()
    rows = [int(row) for row in read(f"{queue}.memory")[first:first + flits]]
    return rows[:1 + next(k for k, row in enumerate(rows) if row & TAIL)]


def packets_served(link: int, read: Read, channels: int, places: int) -> tuple[Any, Any]:
    """Return the place in the order of arrival after the packet that was served last, and that packet's channel.

    The place advances when a packet is served; if the receive queue stores one packet, the place is 1 from the packet's
    service until the packet has left. ``channels``, ``places``: consumption channels of the link, and packets that the
    receive queue stores for each.
    """
    queue, packets = f"consumption_{link}.queue", channels * places
    served = read(f"{queue}.packets_served")
    if packets == 1:
        return served, np.zeros_like(served)
    following = (read(f"{queue}.oldest") + served) % packets
    if channels == 1:
        return following, np.zeros_like(served)
    order = read(f"{queue}.order")
    return following, np.take_along_axis(order, (following[:, None] - 1) % packets, axis=1)[:, 0]


def service_ended(port: int, read: Read) -> Any:
    """Return 1 from the cycle after the one processor of an interface has served a packet of an injection port, until
    the packet's first flit is sent; else 0."""
    return read(f"injection_{port}.granted")
