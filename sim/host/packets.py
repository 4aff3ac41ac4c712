"""Which packet of which worm a flit belongs to: by what it says, or by what a network interface is sending."""

from collections.abc import Callable
from typing import Any

from wormcast.hw.buffer import ReplicationBuffer

from .layout import Host
from .program import PACKET, WIDTH, place_of

__all__ = ["Packet", "packet_at_interface", "packet_of"]

Packet = tuple[int, int]
"""A worm, and which of its packets, from 0."""


def packet_of(host: Host, data: int) -> Packet | None:
    """Find the packet that a payload flit belongs to by its data; None where no worm with its tag is under way."""
    worm = int(host.tagged[data & len(host.tagged) - 1])
    if worm < 0:
        return None
    packet = int(host.options[PACKET])
    return worm, place_of(data & 0xFFFFFFFF, int(host.options[WIDTH])) // packet if packet else 0


def packet_at_interface(host: Host, register: Callable[[str, int], Any], queue: int, on_link: bool, node: int,
                        port: int, vc: int) -> Packet | None:
    """Find the packet that an injection port is sending on a virtual channel.

    Parameters
    ----------
    register : callable
        (name, node) -> value of a register of the node's interface now; 0 for the number of a single virtual channel.
    queue : int
        Flits that the port's buffer holds at most.
    on_link : bool
        A flit lies on the link from the host to this port.

    Returns
    -------
    Packet or None
        None when the port has no packet on this virtual channel.
    """
    name = f"injection_{port}"
    if not register(f"{name}.owns", node) or int(register(f"{name}.packet_vc", node)) != vc:
        return None
    # flits that the host has sent and the injection not yet: on the link, and in its buffer
    buffer = f"{name}.buffer.vc0_"
    end, start = (int(register(buffer + place, node)) if queue > 1 else 0 for place in ("write_at", "read0_at"))
    behind = int(on_link) + ReplicationBuffer.stored(end, start, int(register(buffer + "filled0", node)), queue)
    stream = host.streams[port * len(host.nodes) + node]
    worm = int(stream["worm"])
    sent = int(stream["sent"])
    if worm < 0:
        worm = int(stream["before"])
        sent = _flits(host, worm)
    while behind >= sent:
        behind -= sent
        worm = int(host.worms["previous"][worm])
        sent = _flits(host, worm)
    packet = int(host.options[PACKET])
    # the packet is not through: it is the one of the next payload flit
    payload = max(0, sent - behind - int(host.worms["headers"][worm]))
    return worm, payload // packet if packet else 0


def _flits(host: Host, worm: int) -> int:
    return int(host.worms["headers"][worm] + host.worms["length"][worm])
