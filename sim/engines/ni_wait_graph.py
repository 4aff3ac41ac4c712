"""Interface between `find_deadlock` and the buffers inside network interfaces: held resources and waits."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from wormcast.algorithms.channels import Resource

from ..host import Packet
from .snapshot import Snapshot

__all__ = ["BufferEntry", "Inside", "Standing"]

Standing = tuple[int, ...]
"""Packet: worm and number. A third number is a node: the part of a packet with further destinations that is in the
interface of this node. It may go on when other parts cannot."""


@dataclass(frozen=True)
class BufferEntry:
    """Consumption channel, or an entry or slot of an interface.

    Parameters
    ----------
    resource : str
    packet : Standing or None
        The packet that holds it.
    waits : tuple of str
        Resources that this packet waits for here. Any one suffices. Empty if it waits for nothing.
    holders : tuple of (Standing or None)
        The holder of each of these resources; None for a resource that will be released.
    arriving : Packet or None
        Packet whose flits come in without further resources.
    """

    resource: str
    packet: Standing | None
    waits: tuple[str, ...] = ()
    holders: tuple[Standing | None, ...] = ()
    arriving: Packet | None = None


class Inside(ABC):
    """Interfaces of a lane in one cycle."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self._out = {link.source: link for link in snapshot.fabric.of_kind("injection")}

    @abstractmethod
    def kept(self) -> Iterator[BufferEntry]:
        """Yield the entries or slots with packets that go on from there."""

    @abstractmethod
    def consumption(self) -> Iterator[BufferEntry]:
        """Yield the consumption channels, behind the routers."""

    @abstractmethod
    def consumed(self, node: int, vc: int) -> Standing | None:
        """Return the packet that keeps a consumption channel without an owner from being taken, or None."""

    def injection(self, node: int, under_way: int | None) -> tuple[tuple[str, ...], tuple[Packet | None, ...]]:
        """Return the resources that the next packet to be sent waits for, and their holders.

        ``under_way``: the virtual channel that some packet already has.
        """
        link = self._out[node]
        assert link.input is not None
        # or behind a host's worm that has no channel yet, and waits for any of them as well
        vcs = range(self.snapshot.vcs) if under_way is None else (under_way,)
        waits = tuple(str(Resource.inj(node, link.number, vc)) for vc in vcs)
        if under_way is not None:
            return waits, (self.snapshot.injecting(link, under_way),)
        channels = [(link.target, link.input, vc) for vc in vcs]
        return waits, tuple(self.snapshot.first(channel) if self.snapshot.full(channel) else None
                            for channel in channels)
