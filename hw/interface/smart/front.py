"""What the registers of smart interfaces say: which packets come in, and of which packet a copy is presented.

As of `SlotsFront`, whoever follows forwarding asks here, and knows no register by name.
"""

from collections.abc import Callable
from typing import Any

from ..network_interface import NetworkInterface

__all__ = ["ForwardingFront"]

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

    def __init__(self, interface: NetworkInterface, read: Read):
        forwarding = interface.forwarding
        assert forwarding is not None
        self.writers = forwarding.channels + 1
        self._packet, self._width, self._read = forwarding.packet, forwarding.width, read
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
        start = (row << self._place_bits | place) << self._flit_bits
        found = []
        for word in self._read("forwarding.memory")[interface, start:start + self._packet].tolist():
            found.append(word & (1 << self._width) - 1)
            if word >> self._width:  # its tail
                break
        return found

    def _place(self, name: Any) -> tuple[Any, Any]:
        """Row and place of a packet's name; see `packet_name`."""
        return name & (1 << self._row_bits) - 1, name >> self._row_bits
