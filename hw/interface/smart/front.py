"""What the registers of smart interfaces say: which packets come in, and of which packet a copy is presented.

As of `SlotsFront`, whoever follows forwarding or proves deadlocks asks here, and knows no register by name.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..front import InterfaceFront

if TYPE_CHECKING:
    from ..network_interface import NetworkInterface

__all__ = ["ForwardingFront", "PlacesFront"]

Read = Callable[[str], Any]
"""A register of several interfaces by its full name -> its values, [interfaces], 0 where it is built without; a
memory's: its rows, [interfaces, rows]."""


class ForwardingFront:
    """The packet buffers and senders of several smart interfaces; what is said of them is [interfaces].

    Parameters
    ----------
    interface : NetworkInterface
        One of the kind.
    read : callable
        A register of these.
    """

    def __init__(self, interface: "NetworkInterface", read: Read):
        forwarding = interface.forwarding
        assert forwarding is not None
        self.writers = forwarding.channels + 1
        self._packet, self.width, self._read = forwarding.packet, forwarding.width, read
        self._row_bits, self._place_bits, self._flit_bits = ((count - 1).bit_length() for count in (
            forwarding.rows, forwarding.places, forwarding.packet))

    @property
    def keeps(self) -> Any:
        """Writers of which a packet is coming in and kept, a bit for each: consumption channels, then the host."""
        return self._read("forwarding.within") & self._read("forwarding.stores")

    def kept(self, writer: int) -> tuple[Any, Any]:
        """Row and place of the packet that has come in last by a writer."""
        return self._place(self._read(f"forwarding.writer{writer}_packet"))

    @property
    def active(self) -> Any:
        """Whether a copy is presented to injection."""
        return self._read("forwarding.active") != 0

    @property
    def payload(self) -> Any:
        """Whether its header is sent."""
        return self._read("forwarding.payload") != 0

    @property
    def header_at(self) -> Any:
        """Place in its row of the child table from which the next header flit comes."""
        return self._read("forwarding.pos")

    @property
    def copied(self) -> tuple[Any, Any]:
        """Row and place of the packet that is copied."""
        return self._place(self._read("forwarding.current"))

    @property
    def delayed(self) -> Any:
        """Whether the last flit of a packet is held back for t_nr."""
        return self._read("consumption_0.busy") != 0

    def flits(self, interface: int, row: int, place: int) -> list[int]:
        """Data of the payload flits of a packet that has come in whole, of one of these interfaces."""
        start = self.start(row, place)
        found = []
        for word in self._read("forwarding.memory")[interface, start:start + self._packet].tolist():
            found.append(word & (1 << self.width) - 1)
            if word >> self.width:  # its tail
                break
        return found

    def start(self, row: int, place: int) -> int:
        """Row of the memory with a packet's first payload flit."""
        return (row << self._place_bits | place) << self._flit_bits

    def _place(self, name: Any) -> tuple[Any, Any]:
        """Row and place of a packet's name; see `packet_name`."""
        return name & (1 << self._row_bits) - 1, name >> self._row_bits


class PlacesFront(InterfaceFront):
    """The packet places of one smart interface, as (row, place), and who waits for one; parameters as of
    `InterfaceFront`, where ``read`` gives 0 for what it is built without."""

    def __init__(self, interface: "NetworkInterface", read: Callable[[str], Any]):
        super().__init__(interface, read)
        assert interface.forwarding is not None
        self.rows, self.places = interface.forwarding.rows, interface.forwarding.places
        self._one = ForwardingFront(interface, lambda name: np.array([read(name)]))

    def refused(self, channel: int) -> tuple[int, int] | None:
        """The place that the packet in front of a consumption channel waits for; None: it does not wait for one."""
        if not int(self._read("consumption_0.waits_for_place")) >> channel & 1:
            return None
        row = self._number(f"consumption_0.vc{channel}_row", self.rows)
        place = self._number(f"forwarding.row{row}_place", self.places)
        return (row, place) if int(self._read(f"forwarding.row{row}_taken")) >> place & 1 else None

    def taken(self) -> list[tuple[int, int]]:
        """All places that packets are in or come into."""
        return [(row, place) for row in range(self.rows) for place in range(self.places)
                if int(self._read(f"forwarding.row{row}_taken")) >> place & 1]

    def coming(self) -> dict[tuple[int, int], int]:
        """Places that packets come into, and by which writer: a consumption channel, or the one behind them, the
        host."""
        keeps = int(self._one.keeps[0])
        return {self._of(self._one.kept(writer)): writer for writer in range(self._one.writers) if keeps >> writer & 1}

    def copied(self) -> tuple[int, int] | None:
        """The place of the packet of which a copy is presented to injection, where there is one."""
        return self._of(self._one.copied) if self._one.active[0] else None

    @property
    def copied_header(self) -> tuple[int, bool]:
        """Where in its row of the child table the next header flit of that copy is, and whether all are sent."""
        return int(self._one.header_at[0]), bool(self._one.payload[0])

    def flits(self, place: tuple[int, int], writer: int | None = None) -> list[int]:
        """Data of the payload flits of a packet in a place: of those that have come, where one comes in by a
        writer."""
        if writer is None:
            return self._one.flits(0, *place)
        first = self._one.start(*place)
        count = int(self._read(f"forwarding.writer{writer}_at"))
        mask = (1 << self._one.width) - 1
        return [int(word) & mask for word in self._read("forwarding.memory")[first:first + count]]

    def _of(self, place: tuple[Any, Any]) -> tuple[int, int]:
        return int(place[0][0]), int(place[1][0])
