"""What the registers of a network interface say of its own times.

As of `SlotsFront`, who draws them asks here, and knows no register by name.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["startup_left", "through"]

Read = Callable[[str], Any]
"""A register of interfaces by its full name -> its value in each of them."""


def startup_left(port: int, read: Read) -> Any:
    """Cycles of t_ns that a first flit at an injection port has yet to wait; t_ns where none has waited one, or where
    one has just been sent. Only where t_ns is not 0."""
    return read(f"injection_{port}.left")


def through(link: int, read: Read) -> Any:
    """Channels of a consumption link at whose front a last flit has waited its t_nr, a bit each: set in the cycle that
    follows these, until the flit is handed over. Only where t_nr is not 0."""
    return read(f"consumption_{link}.waited")
