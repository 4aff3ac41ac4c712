"""What packets hold and wait for inside interfaces: the frame of what `find_deadlock` asks there."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from wormcast.algorithms.channels import Resource

from ..host import Packet
from .snapshot import Snapshot

__all__ = ["BufferEntry", "Inside", "Standing"]

Standing = tuple[int, ...]
"""A packet, worm and number; and the node, of that part of one with further destinations which is in the interface of
one of them: it may go on when others cannot."""


@dataclass(frozen=True)
class BufferEntry:
    """A consumption channel, or a place in an interface.

    Parameters
    ----------
    resource : str
    packet : Standing or None
        Whose it is.
    waits : tuple of str
        What this one waits for here: of these any one will do; empty where it waits for nothing.
    holders : tuple of (Standing or None)
        Because of whom it cannot have each; None for one that is not held for ever.
    arriving : Packet or None
        The packet whose flits come in by themselves.
    """

    resource: str
    packet: Standing | None
    waits: tuple[str, ...] = ()
    holders: tuple[Standing | None, ...] = ()
    arriving: Packet | None = None


class Inside(ABC):
    """The interfaces of a lane in one cycle."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self._out = {link.source: link for link in snapshot.fabric.of_kind("injection")}

    @abstractmethod
    def kept(self) -> Iterator[BufferEntry]:
        """All that keep packets which go on from there."""

    @abstractmethod
    def consumption(self) -> Iterator[BufferEntry]:
        """Consumption channels, behind the routers."""

    @abstractmethod
    def consumed(self, node: int, vc: int) -> Standing | None:
        """Because of whom a consumption channel that no front owns cannot be taken; None: it can be."""

    def injection(self, node: int, under_way: int | None) -> tuple[tuple[str, ...], tuple[Packet | None, ...]]:
        """What a packet waits for that is to be sent next from here, and who has it; ``under_way``: the virtual channel
        that some packet has."""
        link = self._out[node]
        assert link.input is not None
        # or behind a host's worm that has none yet, and waits for any one as well
        vcs = range(self.snapshot.vcs) if under_way is None else (under_way,)
        waits = tuple(str(Resource.inj(node, link.number, vc)) for vc in vcs)
        if under_way is not None:
            return waits, (self.snapshot.injecting(link, under_way),)
        channels = [(link.target, link.input, vc) for vc in vcs]
        return waits, tuple(self.snapshot.first(channel) if self.snapshot.full(channel) else None
                            for channel in channels)
