"""Identification of the packet that a flit belongs to, by its data or by the interface that sends it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wormcast.hw.ring import fill_level

from .constants import MESSAGES, NONE, PACKET, SPREAD, TAG_BITS, WIDTH
from .payload import joined, place_of
from .program_layout import Host

__all__ = ["Packet", "brought_by", "children_at", "packet_at_interface", "packet_of"]

Packet = tuple[int, int]
"""Index of a worm, and number of one of its packets, from 0."""


def packet_of(host: Host, flits: Sequence[int], *, begins: bool) -> Packet | None:
    """Return the packet that payload flits belong to, decoded from their data.

    For all worms that interfaces forward, the result names the first worm of their message.

    Parameters
    ----------
    flits : sequence of int
        Data of consecutive flits.
    begins : bool
        The first of ``flits`` is the packet's first payload flit.

    Returns
    -------
    Packet or None
        None if no worm under way has this tag, or if the narrow flits are too few to identify a packet. If control
        packets request rows, also None if ``begins`` is false, because their flits can have the bits of a tag.
    """
    if host.options[MESSAGES] and not begins:
        return None
    width, packet, spread = (int(host.options[place]) for place in (WIDTH, PACKET, SPREAD))
    if spread == 1:
        worm = int(host.tagged[flits[0] & len(host.tagged) - 1])
        place = place_of(flits[0] & 0xFFFFFFFF, width)
        return None if worm < 0 else (worm, place // packet if packet else 0)
    mask = (1 << width) - 1
    if begins and len(flits) >= spread:
        word = 0
        for before, flit in enumerate(flits[:spread]):
            word = joined(word, flit & mask, before, width)
        worm = int(host.tagged[word & len(host.tagged) - 1])
        return None if worm < 0 else (worm, word >> TAG_BITS)
    under_way = np.flatnonzero(host.tagged >= 0)
    same = host.tagged[under_way[(under_way ^ flits[-1]) & mask == 0]]
    if len(same) != 1 or (packet and host.worms["length"][same[0]] > packet):
        return None
    # later flits hold the tag's low bits; first flits do, too, if the tags of all worms under way fit into one flit
    return (int(same[0]), 0) if len(flits) > spread or under_way.max() <= mask else None


def brought_by(host: Host, node: int, root: int) -> int:
    """Return the worm by which a node gets a message, or -1. ``root``: as for `children_at`."""
    return _delivery(host, node, root, "worm")


def children_at(host: Host, node: int, root: int) -> list[int]:
    """Return the worms by which a node's interface forwards a message, in the order of sending.

    Parameters
    ----------
    root : int
        First worm of the message.
    """
    worm, order = root, []
    if host.worms["source"][root] != node:
        worm = _delivery(host, node, root, "child")
    while worm != NONE:
        order.append(int(worm))
        worm = host.worms["sibling"][worm]
    return order


def _delivery(host: Host, node: int, root: int, field: str) -> int:
    """Return a field of a message's delivery to a node, or -1."""
    rows = slice(int(host.worms["delivery"][root]), int(host.worms["delivery_end"][host.worms["posting"][root]]))
    [found] = host.deliveries[field][rows][host.deliveries["node"][rows] == node].tolist() or [NONE]
    return int(found)


def packet_at_interface(host: Host, register: Callable[[str, int], Any], queue: int, on_link: bool, node: int,
                        port: int, vc: int) -> Packet | None:
    """Return the packet that an injection port is sending on a virtual channel.

    Parameters
    ----------
    register : callable
        (name, node) -> value of a register of the node's interface now; 0 for the number of a single virtual channel.
    queue : int
        Capacity of the port's buffer in flits.
    on_link : bool
        A flit is on the link from the host to this port.

    Returns
    -------
    Packet or None
        None if the port has no packet on this virtual channel, or the packet belongs to a message that interfaces
        forward. If control packets request rows, always None, because the host's program does not record which control
        packets it has sent.
    """
    if host.options[MESSAGES]:
        return None
    name = f"injection_{port}"
    if not register(f"{name}.owns", node) or int(register(f"{name}.packet_vc", node)) != vc:
        return None
    # flits that the host has sent and the injection port has not: those on the link, and in the port's buffer
    buffer = f"{name}.buffer.vc0_"
    end, start = (int(register(buffer + place, node)) if queue > 1 else 0 for place in ("write_at", "read0_at"))
    behind = int(on_link) + fill_level(end, start, int(register(buffer + "filled0", node)), queue)
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
    if host.worms["posting"][worm] >= 0:
        return None
    packet = int(host.options[PACKET])
    # the port is still sending its packet, which is therefore the packet of the port's next payload flit
    payload = max(0, sent - behind - int(host.worms["headers"][worm]))
    return worm, payload // packet if packet else 0


def _flits(host: Host, worm: int) -> int:
    return int(host.worms["headers"][worm] + host.worms["length"][worm])
