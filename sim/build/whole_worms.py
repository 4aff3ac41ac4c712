"""Which worms the buffer of a deep input holds whole."""

from collections.abc import Iterable
from dataclasses import dataclass

from wormcast.algorithms import Scheme, Topology

from .configuration import Configuration

__all__ = ["WholeWorms", "whole_worms"]


@dataclass(frozen=True)
class WholeWorms:
    """How long worms may be that a buffer holds whole.

    A worm begins a row, and a buffer is a number of rows: so it holds one whole whose header and payload flits are no
    more than its own, those that the last row of the worm has empty among them.

    Parameters
    ----------
    buffer, chunk : int
        Flits of a buffer, and of a row.
    header : int
        Header flits of a worm, at most.
    payload : int or None
        Payload flits of the longest worm; None: it is not known.
    """

    buffer: int
    chunk: int
    header: int
    payload: int | None

    @property
    def longest(self) -> int:
        """Payload flits of the longest worm that is held whole; none if it is not positive."""
        return self.buffer - self.header

    @property
    def fits(self) -> bool:
        """Whether all worms are held whole, or else may be."""
        return self.longest > 0 if self.payload is None else self.payload <= self.longest

    @property
    def warning(self) -> str:
        """What may come of it where they are not."""
        return (f"worms with up to {self.payload} payload flits are copied out of buffers that hold {self.longest} of "
                "them: they may deadlock, as check says")

    @property
    def rows(self) -> int | None:
        """Rows that the longest worm takes; None: it is not known."""
        return None if self.payload is None else -(-(self.header + self.payload) // self.chunk)


def whole_worms(topology: Topology, schemes: Iterable[Scheme], configuration: Configuration,
                length: int | None = None) -> WholeWorms | None:
    """Find which worms of some schemes the switches' buffers hold whole; None where none are copied out of deep ones.

    Parameters
    ----------
    length : int, optional
        Payload flits of the longest message. One longer than ``packet`` goes as several worms.

    Raises
    ------
    WormcastError
        A header has no room in these flits.
    """
    copied = [scheme for scheme in schemes if scheme.replication is not None]
    if not copied or not configuration.deep:
        return None
    most = {scheme: scheme.most_visits(topology) for scheme in copied}
    flits = {scheme: configuration.for_headers(topology, scheme, most[scheme]).flit_width for scheme in copied}
    headers = [scheme.header.on(topology, flits[scheme]).flits(most[scheme]) for scheme in copied]
    bounds = [bound for bound in (length, configuration.packet or None) if bound is not None]
    return WholeWorms(configuration.buffer, configuration.chunk, max(headers), min(bounds, default=None))
