"""Counters of smart interfaces: forwarded packets, and their time in the buffers."""

from dataclasses import dataclass
from typing import Any

from .bulk import BulkEngine

__all__ = ["Residence", "find_residences"]


@dataclass(frozen=True)
class Residence:
    """Packets that a smart network interface has forwarded, and their times in its buffer ([Sivaram98], 4.2.3).

    Parameters
    ----------
    node : int
    forwarded : int
        Number of packets that the interface has sent to all their children.
    resident : int
        Cycles from a packet's last flit until its entry is free, summed over packets.
    copied : int
        Cycles from a packet's first copy until its entry is free, summed over packets.
    peak : int
        Largest number of packets in the interface's buffer at a time.
    """

    node: int
    forwarded: int
    resident: int
    copied: int
    peak: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counters as plain data for JSON."""
        return dict(vars(self))


def find_residences(engine: BulkEngine) -> tuple[Residence, ...]:
    """Return the counters of the interfaces that have forwarded packets, in the order of nodes, for one lane."""
    if not engine.network.interface_probe.forwards:
        return ()
    names = ("forwarded", "resident", "copied", "peak")
    counted = zip(*(engine.register("interface", f"forwarding.{name}").tolist() for name in names), strict=True)
    return tuple(Residence(node, *counts) for node, counts in enumerate(counted) if counts[0])
