"""Registers of a network interface that show its software overheads.

Waveforms read these registers only through the functions of this module.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["startup_left", "through"]

Read = Callable[[str], Any]
"""Function from a register's full name to its value in each interface."""


def startup_left(port: int, read: Read) -> Any:
    """Return how many of its t_ns cycles the first flit of a packet still waits at an injection port.

    The value is t_ns before the first cycle of the wait, and just after a first flit was sent. The register exists only
    if t_ns is not 0.
    """
    return read(f"injection_{port}.left")


def through(link: int, read: Read) -> Any:
    """Return a mask of the channels of a consumption link whose front flit is a tail that has waited its t_nr.

    A bit is set from the cycle after the wait until the flit is sent to the host. The register exists only if t_nr is
    not 0.
    """
    return read(f"consumption_{link}.waited")
