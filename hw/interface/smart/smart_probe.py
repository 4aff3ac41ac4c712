"""Probes of smart interfaces: they decode from registers the arriving packets, and the packet that is being copied.

Deadlock proofs and the tracking of forwarded packets read the registers of smart interfaces only through probes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..interface_probe import InterfaceProbe

if TYPE_CHECKING:
    from ..network_interface import NetworkInterface

__all__ = ["ForwardingProbe", "PacketBufferProbe"]

Read = Callable[[str], Any]
"""Function from a register's full name to its values in several interfaces, [interfaces].

The value is 0 for an interface without the register. The value of a memory is its rows, [interfaces, rows].
"""


class ForwardingProbe:
    """Packet buffers and senders of several smart interfaces. Values are arrays, [interfaces].

    Parameters
    ----------
    interface : NetworkInterface
        An interface of this kind.
    read : callable
        Returns a register of these interfaces.
    """

    def __init__(self, interface: "NetworkInterface", read: Read):
        forwarding = interface.forwarding
        assert forwarding is not None
        self.writers = forwarding.channels + 1
        self._packet, self.width, self._read = forwarding.packet, forwarding.width, read
        # without t_nr, the processor of a receive queue delays no packet
        self._queued = bool(interface.consumptions[0].queue and interface.consumptions[0].t_nr)
        self._row_bits, self._place_bits, self._flit_bits = ((count - 1).bit_length() for count in (
            forwarding.rows, forwarding.places, forwarding.packet))

    @property
    def keeps(self) -> Any:
        """Mask of the writers whose packet is arriving and is stored: consumption channels, then the host."""
        return self._read("forwarding.within") & self._read("forwarding.stores")

    def kept(self, writer: int) -> tuple[Any, Any]:
        """Return the child table row and the buffer entry of a writer's latest packet."""
        return self._place(self._read(f"forwarding.writer{writer}_packet"))

    @property
    def active(self) -> Any:
        """A copy is presented to injection."""
        return self._read("forwarding.active") != 0

    @property
    def payload(self) -> Any:
        """The header of the presented copy has been sent."""
        return self._read("forwarding.payload") != 0

    @property
    def header_at(self) -> Any:
        """Position of the next header flit in its row of the child table."""
        return self._read("forwarding.pos")

    @property
    def copied(self) -> tuple[Any, Any]:
        """Child table row and buffer entry of the packet that is being copied."""
        return self._place(self._read("forwarding.current"))

    @property
    def delayed(self) -> Any:
        """A received packet waits its t_nr cycles: its last flit, or with a receive queue all of it."""
        if self._queued:
            return (self._read("consumption_0.queue.packets_waiting") != 0) & (
                self._read("consumption_0.processor.was_done") == 0)
        return self._read("consumption_0.busy") != 0

    def flits(self, interface: int, row: int, place: int) -> list[int]:
        """Return the data of the payload flits of a whole packet in one of these interfaces."""
        start = self.start(row, place)
        found = []
        for word in self._read("forwarding.memory")[interface, start:start + self._packet].tolist():
            found.append(word & (1 << self.width) - 1)
            if word >> self.width:  # tail mark
                break
        return found

    def start(self, row: int, place: int) -> int:
        """Return the memory address of a packet's first payload flit."""
        return (row << self._place_bits | place) << self._flit_bits

    def _place(self, name: Any) -> tuple[Any, Any]:
        """Return the child table row and the buffer entry in a packet's name (see `packet_name`)."""
        return name & (1 << self._row_bits) - 1, name >> self._row_bits


class PacketBufferProbe(InterfaceProbe):
    """Packet buffer entries of one smart interface, as (row, place), and the packets that wait for one.

    Parameters are those of `InterfaceProbe`; ``read`` returns 0 for registers that the interface does not have.

    Attributes
    ----------
    rows, places : int
        As in `Forwarding`.
    """

    reads_missing = forwards = sends_on = True

    def __init__(self, interface: "NetworkInterface", read: Callable[[str], Any]):
        super().__init__(interface, read)
        assert interface.forwarding is not None
        self.rows, self.places = interface.forwarding.rows, interface.forwarding.places
        self._one = ForwardingProbe(interface, lambda name: np.array([read(name)]))

    def refused(self, channel: int) -> tuple[int, int] | None:
        """Return the entry that the front packet of a consumption channel waits for; None if it waits for no entry.

        With a receive queue, only the packet that leaves the queue next can wait for an entry.
        """
        if not int(self._read("consumption_0.waits_for_place")) >> channel & 1:
            return None
        row = self._number(f"consumption_0.vc{channel}_row", self.rows)
        place = self._number(f"forwarding.row{row}_place", self.places)
        return (row, place) if int(self._read(f"forwarding.row{row}_taken")) >> place & 1 else None

    @property
    def blocking(self) -> int | None:
        if not self.queues:
            return None
        return next((channel for channel in range(self.channels) if self.refused(channel) is not None), None)

    def stops(self, channel: int) -> bool:
        return self._lacks_place(channel) if self.queues else self.refused(channel) is not None

    def taken(self) -> list[tuple[int, int]]:
        """Return the occupied entries, including those of arriving packets."""
        return [(row, place) for row in range(self.rows) for place in range(self.places)
                if int(self._read(f"forwarding.row{row}_taken")) >> place & 1]

    def coming(self) -> dict[tuple[int, int], int]:
        """Return the entries of arriving packets, each with its writer.

        The writer is the number of a consumption channel, or the next higher number for the host.
        """
        keeps = int(self._one.keeps[0])
        return {self._of(self._one.kept(writer)): writer for writer in range(self._one.writers) if keeps >> writer & 1}

    def copied(self) -> tuple[int, int] | None:
        """Return the entry of the packet that is being copied; None without a copy."""
        return self._of(self._one.copied) if self._one.active[0] else None

    @property
    def offered(self) -> tuple[list[int], bool]:
        """Data of all payload flits of the packet that is being copied, and true, because its first payload flit is
        included. Without a copy, the list is empty, and the second value is false."""
        place = self.copied()
        return ([], False) if place is None else (self.flits(place), True)

    @property
    def copied_header(self) -> tuple[int, bool]:
        """Position of the copy's next header flit in its row of the child table, and true if the whole header has been
        sent."""
        return int(self._one.header_at[0]), bool(self._one.payload[0])

    def flits(self, place: tuple[int, int], writer: int | None = None) -> list[int]:
        """Return the data of the payload flits in an entry.

        With ``writer``, the packet of that writer is still arriving: return the flits that have arrived.
        """
        if writer is None:
            return self._one.flits(0, *place)
        first = self._one.start(*place)
        count = int(self._read(f"forwarding.writer{writer}_at"))
        mask = (1 << self._one.width) - 1
        return [int(word) & mask for word in self._read("forwarding.memory")[first:first + count]]

    def _of(self, place: tuple[Any, Any]) -> tuple[int, int]:
        return int(place[0][0]), int(place[1][0])
