"""Values and limits of the hardware's options; this module needs no Amaranth."""

from collections.abc import Mapping

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList, MultiDrop, Unicast
from wormcast.algorithms.schemes import Scheme

__all__ = [
    "CONSUMPTION_LINKS",
    "DELAYS",
    "FORWARD_ORDERS",
    "INJECTION",
    "MOST_DELAY",
    "MOST_PACKET",
    "MOST_PLACES",
    "MOST_ROWS",
    "MOST_SHALLOW",
    "MOST_SLOTS",
    "PACKET_BITS",
    "READERS",
    "ROW_BITS",
    "SLOT_FLITS",
    "STORAGE",
    "require_buffers",
]

DELAYS = ("paper", "fast")
READERS = ("coupled", "independent")
CONSUMPTION_LINKS = ("shared", "separate")
INJECTION = ("one", "all")

#: Attribute ``ram_style`` of the buffers' memories, by the name of the storage.
STORAGE = {"lutram": "distributed", "registers": "registers"}

#: Most flits of a shallow buffer, whose credits stand for a flit each.
MOST_SHALLOW = 16

#: Most cycles of an overhead of an interface.
MOST_DELAY = 65535

#: Most payload flits of a packet.
MOST_PACKET = 65535

MOST_SLOTS = 16
SLOT_FLITS = (2, 65536)
"""Least and most flits of a message that a retransmission slot may have room for."""

ROW_BITS = 8
"""Low bits of a message's number that say its row in a child table; those of a message that is not forwarded are none
of a row."""

#: Most rows of a child table.
MOST_ROWS = 64

PACKET_BITS = 8
"""Bits of how many packets a message has, less one, where that is told."""

MOST_PLACES = 1 << PACKET_BITS

FORWARD_ORDERS: Mapping[str, bool] = {"fcfs": True, "fpfs": False}
"""Orders in which smart interfaces forward; True for those that need the number of packets of each message."""


def require_buffers(scheme: Scheme, *, deep: bool) -> None:
    """Refuse a scheme whose worms do not go through deep buffers, or not through shallow ones."""
    if not deep and (scheme.needs_whole_packet or issubclass(scheme.header, MultiDrop)):
        raise WormcastError(f"scheme {scheme.name}: its worms need switches that hold a whole worm, buffer-kind "
                            "shallow is given: allowed is deep")
    if deep and issubclass(scheme.header, AddressList) and not issubclass(scheme.header, Unicast):
        raise WormcastError(f"scheme {scheme.name}: buffer-kind deep is given, its worms go by one way through "
                            "buffers that hold a part of them: allowed is shallow")
