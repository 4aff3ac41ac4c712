"""Values and limits of the hardware options. This module does not import Amaranth."""

from collections.abc import Mapping
from typing import Protocol

from wormcast.algorithms.consumption import ConsumptionClasses
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.schemes import Scheme
from wormcast.algorithms.topologies.base import Topology

__all__ = [
    "ADMISSION",
    "CONSUMPTION_LINKS",
    "CONTROL",
    "CONTROL_ANSWER",
    "CONTROL_BITS",
    "DELAYS",
    "DMA_BUCKETS",
    "DMA_ENGINES",
    "EJECTED_HEADER",
    "FORWARD_ORDERS",
    "GRANTED",
    "INJECTION",
    "LABEL_BITS",
    "MOST_BUS_RATE",
    "MOST_CHUNK",
    "MOST_DELAY",
    "MOST_PACKET",
    "MOST_PLACES",
    "MOST_QUEUE",
    "MOST_ROWS",
    "MOST_ROW_FLITS",
    "MOST_SHALLOW",
    "MOST_SLOTS",
    "MOST_SOURCES",
    "NEVER_FULL",
    "NEVER_FULL_PLACES",
    "PACKET_BITS",
    "PROCESSORS",
    "READERS",
    "REFUSED",
    "RELEASE",
    "REQUEST",
    "REQUEST_LEAF",
    "ROW_BITS",
    "SERVICE_ORDERS",
    "SLOT_FLITS",
    "STORAGE",
    "STRINGS",
    "RouterOptions",
    "queue_places",
    "require_buffers",
]

DELAYS = ("paper", "fast")
READERS = ("coupled", "independent")
CONSUMPTION_LINKS = ("shared", "separate")
INJECTION = ("one", "all")
EJECTED_HEADER = ("keep", "strip")
PROCESSORS = ("two", "one")
SERVICE_ORDERS = ("arrival", "receive-first", "send-first")
DMA_ENGINES = ("host", "interface")
DMA_BUCKETS = ("shared", "separate")

#: Kinds of reachability strings. ``restricted``: each node is in the string of one output of a switch. ``whole``: each
#: node is in the strings of all outputs that lead down to it.
STRINGS = ("restricted", "whole")

#: Attribute ``ram_style`` of the buffers' memories, by kind of storage.
STORAGE = {"lutram": "distributed", "registers": "registers"}

#: Maximum flits of a shallow buffer, in which a credit is one flit.
MOST_SHALLOW = 16

#: Maximum flits of a row of a deep buffer.
MOST_CHUNK = 256

#: Maximum header flits of a child table row.
MOST_ROW_FLITS = 1024

#: Maximum of ``t_ns`` and ``t_nr``, in cycles.
MOST_DELAY = 65535

#: Maximum of both numbers of the rate of an I/O bus: flits, and the cycles that these take.
MOST_BUS_RATE = 9999

#: Maximum payload flits of a packet.
MOST_PACKET = 65535

#: Maximum packets that a queue of an interface can store for each channel.
MOST_QUEUE = 256

#: Word for a queue of an interface that refuses no packet. Only in simulation.
NEVER_FULL = "never-full"

#: Packets that a queue with `NEVER_FULL` can store for each channel. A packet beyond this number is an error on the
#: wire.
NEVER_FULL_PLACES = 1024

MOST_SLOTS = 16
SLOT_FLITS = (2, 65536)
"""Minimum and maximum size of a retransmission slot, in flits."""

ROW_BITS = 8
"""Number of low bits in a packet's first payload flit that hold the row number of the message in the child table. If
the message is not forwarded, these low bits of the first payload flit differ from all row numbers.
"""

#: Maximum rows of a child table.
MOST_ROWS = 64

PACKET_BITS = 8
"""Width in bits of the field in the child table that holds a message's number of packets minus one."""

MOST_PLACES = 1 << PACKET_BITS

ADMISSION = ("oracle", "messages")

CONTROL, CONTROL_ANSWER = 255, 254
"""Values of the low `ROW_BITS` bits of a control packet's first payload flit: for an interface, and for a host."""

LABEL_BITS, CONTROL_BITS = 16, 32
"""Bits of a node's number in a control packet, and of the word at the start of a control packet."""

#: Kinds of control packets for interfaces: a request of a node with children, and of one without; a release.
REQUEST, REQUEST_LEAF, RELEASE = range(3)

#: Kinds of answers.
REFUSED, GRANTED = range(2)

#: Maximum nodes that may request rows of an interface.
MOST_SOURCES = 256

FORWARD_ORDERS: Mapping[str, bool] = {"fcfs": True, "fpfs": False}
"""Orders in which smart interfaces forward, each with True if the order needs the number of packets of each message."""


class RouterOptions(Protocol):
    """Hardware options of routers and network interfaces. `Configuration` documents them."""

    @property
    def vcs(self) -> int: ...
    @property
    def buffer(self) -> int: ...
    @property
    def deep(self) -> bool: ...
    @property
    def chunk(self) -> int: ...
    @property
    def readers(self) -> str: ...
    @property
    def consumption(self) -> int: ...
    @property
    def flit_width(self) -> int: ...
    @property
    def delays(self) -> str: ...
    @property
    def storage(self) -> str: ...
    @property
    def ports(self) -> str: ...
    @property
    def ejection(self) -> str: ...
    @property
    def consumption_links(self) -> str: ...
    @property
    def ejected_header(self) -> str: ...
    @property
    def packet(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def receive_queue(self) -> int | str: ...
    @property
    def send_queue(self) -> int | str: ...
    @property
    def ni_processors(self) -> str: ...
    @property
    def ni_order(self) -> str: ...
    @property
    def bus_rate(self) -> tuple[int, int]: ...
    @property
    def dma_buckets(self) -> str: ...
    @property
    def t_ns(self) -> int: ...
    @property
    def t_nr(self) -> int: ...
    @property
    def vc_classes(self) -> str: ...
    @property
    def strings(self) -> str: ...
    @property
    def ties(self) -> str: ...
    @property
    def tokens(self) -> str | None: ...
    @property
    def slots(self) -> int: ...
    @property
    def slot(self) -> int: ...
    @property
    def ni(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def places(self) -> int: ...
    @property
    def row(self) -> int: ...
    @property
    def admission(self) -> str: ...

    def consumption_classes(self, topology: Topology, scheme: Scheme) -> ConsumptionClasses:
        """Return the consumption classes of the routers."""


def queue_places(queue: int | str) -> int:
    """Return the places of each channel of a queue, from the option ``receive_queue`` or ``send_queue``."""
    return NEVER_FULL_PLACES if isinstance(queue, str) else queue


def require_buffers(scheme: Scheme, *, deep: bool) -> None:
    """Refuse a scheme whose worms cannot pass switches with this kind of buffer."""
    if not deep and (scheme.needs_whole_packet or "shallow" not in scheme.header.buffers):
        raise WormcastError(f"scheme: {scheme.name} is not valid with buffer_kind shallow (the default): its worms "
                            "need switches that hold a whole worm. Needed: buffer_kind deep.")
    if deep and "deep" not in scheme.header.buffers:
        raise WormcastError(f"scheme: {scheme.name} is not valid with buffer_kind deep: its worms carry "
                            f"{scheme.header.contents}, which switches with deep buffers do not decode. Allowed: "
                            "with buffer_kind shallow, or a scheme with other headers, for example tree.")
