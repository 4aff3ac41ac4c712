"""Which worm a network interface is sending: read from its registers and from what the host has sent."""

from collections.abc import Callable
from typing import Any

from .layout import Host

__all__ = ["worm_at_interface"]


def worm_at_interface(host: Host, register: Callable[[str, int], Any], on_link: bool, node: int, port: int,
                      vc: int) -> int | None:
    """Find the worm that an injection port is sending on a virtual channel.

    Parameters
    ----------
    register : callable
        (name, node) -> value of a register of the node's interface now; 0 for the number of a single virtual channel.
    on_link : bool
        A flit lies on the link from the host to this port.

    Returns
    -------
    int or None
        The worm; None when the port has no packet on this virtual channel.
    """
    name = f"injection_{port}"
    if not register(f"{name}.owns", node) or int(register(f"{name}.packet_vc", node)) != vc:
        return None
    # flits that the host has sent and the injection not yet: in its buffer, whose level counts one that left in the
    # cycle before, and on the link
    behind = int(register(f"{name}.buffer.vc0_level0", node)).bit_count()
    behind += int(on_link) - int(register(f"{name}.buffer.vc0_left0", node))
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
    return worm


def _flits(host: Host, worm: int) -> int:
    return int(host.worms["headers"][worm] + host.worms["length"][worm])
