"""Base class of the wait-for graphs inside network interfaces, for `find_deadlock`: held resources and waits."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wormcast.algorithms.channels import Resource

from ..host import Packet
from .snapshot import Snapshot

__all__ = ["BufferEntry", "InterfaceWaits", "Standing", "packets_of"]

Standing = tuple[int, ...]
"""Vertex of the wait-for graph: a packet, as the numbers of its worm and of the packet in the worm.

If a packet in an interface has further destinations, the vertex has a third number, the node. The vertex is then only
the part of the packet in this node's interface. The part in the interface may move on while other parts of the packet
cannot."""


@dataclass(frozen=True)
class BufferEntry:
    """Consumption channel, packet buffer entry or retransmission slot of an interface, with its packet and waits.

    Parameters
    ----------
    resource : str
    packet : Standing or None
        The packet that holds the resource.
    waits : tuple of str
        Resources that ``packet`` waits for; any one suffices. If ``waits`` is empty, the packet waits for no resource.
    holders : tuple of (Standing or None)
        Packet that holds each resource in ``waits``; None: the resource is free, or assumed to become free.
    arriving : Packet or None
        Packet whose remaining flits can enter without waiting for a resource.
    """

    resource: str
    packet: Standing | None
    waits: tuple[str, ...] = ()
    holders: tuple[Standing | None, ...] = ()
    arriving: Packet | None = None


def packets_of(flits: Iterable[int]) -> Iterator[tuple[list[int], bool]]:
    """Yield the flits of each packet (numbers as in `Snapshot.named`), and whether its tail is among them."""
    packet = list[int]()
    for flit in flits:
        packet.append(flit)
        if flit >> 1 & 1:
            yield packet, True
            packet = []
    if packet:
        yield packet, False


class InterfaceWaits(ABC):
    """Wait-for graph inside the interfaces of a lane, in one cycle."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self._out = {link.source: link for link in snapshot.fabric.of_kind("injection")}

    def may_wait(self) -> bool:
        """Return false if no packet in an interface waits for ever, whatever other packets do."""
        return True

    @abstractmethod
    def kept(self) -> Iterator[BufferEntry]:
        """Yield the packet buffer entries or retransmission slots that hold packets."""

    @abstractmethod
    def consumption(self) -> Iterator[BufferEntry]:
        """Yield each packet in a consumption channel that may stall, with the channel and the packet's waits."""

    @abstractmethod
    def consumed(self, node: int, vc: int) -> Standing | None:
        """Return the packet in an interface that prevents the grant of a consumption channel without owner, or None."""

    def injection(self, node: int, under_way: int | None) -> tuple[tuple[str, ...], tuple[Packet | None, ...]]:
        """Return the injection channels for which a packet in an interface's buffer or slot waits, and their holders.

        ``under_way``: virtual channel of the injection link that a packet already holds; None if no packet holds one.
        """
        link = self._out[node]
        assert link.input is not None
        # a worm of the host may be ahead; if it has no channel yet, it waits for any one of the same channels
        vcs = range(self.snapshot.vcs) if under_way is None else (under_way,)
        waits = tuple(str(Resource.inj(node, link.number, vc)) for vc in vcs)
        if under_way is not None:
            return waits, (self.snapshot.injecting(link, under_way),)
        channels = [(link.target, link.input, vc) for vc in vcs]
        return waits, tuple(self.snapshot.first(channel) if self.snapshot.full(channel) else None
                            for channel in channels)
