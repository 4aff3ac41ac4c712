"""Lengths of worms that the buffer of a deep input holds whole."""

from collections.abc import Iterable
from dataclasses import dataclass

from wormcast.algorithms import Scheme, Topology

from .configuration import Configuration

__all__ = ["WholeWorms", "whole_worms"]


@dataclass(frozen=True)
class WholeWorms:
    """Limit of the length of worms that a buffer holds whole.

    A buffer consists of rows, and the first flit of each worm is at the start of a row. A buffer holds a worm whole if
    the worm's header and payload flits fit into it; the empty part of the worm's last row counts as used.

    Parameters
    ----------
    buffer, chunk : int
        Flits of a buffer, and of a row.
    header : int
        Largest number of header flits of a worm.
    payload : int or None
        Payload flits of the longest worm; None: unknown.
    """

    buffer: int
    chunk: int
    header: int
    payload: int | None

    @property
    def longest(self) -> int:
        """Payload flits of the longest worm that the buffer holds whole; 0 or less: it holds no worm whole."""
        return self.buffer - self.header

    @property
    def fits(self) -> bool:
        """Flag: the buffer holds all worms whole, or at least the shortest worms if the length of worms is unknown."""
        return self.longest > 0 if self.payload is None else self.payload <= self.longest

    @property
    def warning(self) -> str:
        """Text of a warning that worms are too long for the buffer."""
        return (f"worms with up to {self.payload} payload flits are replicated from buffers that hold worms with up to "
                f"{self.longest}: the worms may deadlock, see check")

    @property
    def rows(self) -> int | None:
        """Buffer rows that the longest worm occupies; None: unknown."""
        return None if self.payload is None else -(-(self.header + self.payload) // self.chunk)


def whole_worms(topology: Topology, schemes: Iterable[Scheme], configuration: Configuration,
                length: int | None = None) -> WholeWorms | None:
    """Return the limit of the length of worms that the switches' buffers hold whole.

    Return None if no deep buffers replicate worms.

    Parameters
    ----------
    length : int, optional
        Payload flits of the longest message. A worm with more payload flits than ``packet`` is sent as several packets.

    Raises
    ------
    WormcastError
        Flits are too narrow for the header format on this network.
    """
    copied = [scheme for scheme in schemes if scheme.replication is not None]
    if not copied or not configuration.deep:
        return None
    most = {scheme: scheme.most_visits(topology) for scheme in copied}
    flits = {scheme: configuration.for_headers(topology, scheme, most[scheme]).flit_width for scheme in copied}
    headers = [scheme.header_on(topology, flits[scheme]).flits(most[scheme]) for scheme in copied]
    bounds = [bound for bound in (length, configuration.packet or None) if bound is not None]
    return WholeWorms(configuration.buffer, configuration.chunk, max(headers), min(bounds, default=None))
