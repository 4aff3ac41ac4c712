"""Options of the port between a network interface and its host."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wormcast.algorithms import WormcastError

from ..common.option import option, require_allowed, require_types

__all__ = ["LINKS", "HostPort"]

PANEL = "Host"

#: Largest number of destination sets of a table.
MOST_SETS = 64


@dataclass(frozen=True, kw_only=True)
class HostPort:
    """Options of the port between a network interface and its host.

    Raises
    ------
    WormcastError
        A value that is not allowed.
    """

    host: str = option(
        "links: the host sends flits, with headers. stream: the host sends and receives messages without headers, over "
        "streams with valid and ready. axis: the same over AXI4-Stream. Default: {}.", "links",
        allowed=("links", "stream", "axis"), panel=PANEL)
    sets: str | None = option(
        "Destination set of a message to a stream. mask: a bit for each node. table: the number of a set that the host "
        "has written. Default: mask if the hardware can compute the scheme's headers, else table.", None, panel=PANEL,
        metavar="mask|table")
    set_count: int = option("Number of destination sets in a table, a power of two. Default: {}.", 16,
                            limits=(1, MOST_SETS), panel=PANEL)
    set_flits: int = option("Largest number of header flits of a destination set in a table. Default: {}. Unit: flits.",
                            16, limits=(1, 1024), panel=PANEL)
    message_flits: int = option("Longest message to a stream. Default: {}. Unit: flits.", 64, limits=(1, 4096),
                                panel=PANEL)

    def __post_init__(self) -> None:
        require_types(self)
        if not 1 <= self.set_count <= MOST_SETS or self.set_count & self.set_count - 1:
            raise WormcastError(f"set_count: {self.set_count} is not valid. Allowed: powers of two from 1 to "
                                f"{MOST_SETS}.")
        require_allowed(self)
        if self.sets not in (None, "mask", "table"):
            raise WormcastError(f"sets: {self.sets!r} is not valid. Allowed: mask, table.")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "HostPort":
        """Return the options given by name. Refuse options of streams for hosts with links."""
        idle = [name for name in given if name != "host"]
        if given.get("host", "links") == "links" and idle:
            default = "" if "host" in given else " (the default)"
            raise WormcastError(f"{idle[0]}: {given[idle[0]]} is not valid with host links{default}. Allowed: for "
                                "network and interface, with host stream or axis.")
        return cls(**given)

    @property
    def streams(self) -> bool:
        """The host has streams."""
        return self.host != "links"


LINKS = HostPort()
"""Hosts with links, the default."""
