"""What smart interfaces have counted: packets that they forwarded, and how long these were in their buffers."""

from dataclasses import dataclass
from typing import Any

from .bulk import BulkEngine

__all__ = ["Residence", "find_residences"]


@dataclass(frozen=True)
class Residence:
    """Counters of one smart network interface ([Sivaram98], section 4.2.3).

    Parameters
    ----------
    node : int
    forwarded : int
        Packets that it has sent to all of their children.
    resident : int
        Cycles from a packet's last flit until its place is free, of all of them.
    copied : int
        Cycles from a packet's first copy until its place is free, of all of them.
    peak : int
        The most packets that were in its buffer at a time.
    """

    node: int
    forwarded: int
    resident: int
    copied: int
    peak: int

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return dict(vars(self))


def find_residences(engine: BulkEngine) -> tuple[Residence, ...]:
    """Read the counters of all interfaces that have forwarded packets, of one lane, by nodes."""
    if not engine.network.configuration.smart:
        return ()
    names = ("forwarded", "resident", "copied", "peak")
    counted = zip(*(engine.register("interface", f"forwarding.{name}").tolist() for name in names), strict=True)
    return tuple(Residence(node, *counts) for node, counts in enumerate(counted) if counts[0])
