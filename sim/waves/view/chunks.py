"""Chunks in deep switches, from their first flit until their counter is 0, and the outputs that read them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wormcast.algorithms import WormcastError

__all__ = ["RecordedChunk", "RecordedReading", "choose_ports", "chunk_lanes"]


@dataclass(frozen=True)
class RecordedChunk:
    """Flits of a worm in a row of an input buffer.

    Parameters
    ----------
    switch, port : str
        Names in the waveform, without ``router_`` and ``_in``.
    row : int
        Number of the row in the buffer.
    worm : int or None
        Worm of the flits; None if the waveform lacks the cycle in which the first flit was on the link.
    first, last : int
        First and last cycle with flits in the row.
    freed : bool
        The row is free after cycle ``last``, because all outputs have fetched its flits or taken them in passing.
    flits : tuple of (int, int)
        Cycle, and number of flits in the row from that cycle on. ``flits`` is empty if the row was complete in the
        waveform's first cycle.
    counts : tuple of (int, int)
        Cycle, and replication chunk counter from that cycle on: the number of outputs that have not yet fetched the
        row. The first entry of ``counts`` is for the cycle in which the row is closed, or for the waveform's first
        cycle if the row is closed already. A row is closed when its last flit has arrived, and its counter is set then.
        ``counts`` is empty if the row was not closed, or if all outputs took the flits as they arrived, without a
        fetch.
    fetches : tuple of (int, str)
        Cycle of each fetch, and the output that fetches.
    """

    switch: str
    port: str
    row: int
    worm: int | None
    first: int
    last: int
    freed: bool
    flits: tuple[tuple[int, int], ...]
    counts: tuple[tuple[int, int], ...]
    fetches: tuple[tuple[int, str], ...]

    def between(self, first: int, end: int) -> "RecordedChunk":
        """Return the part of the chunk in cycles ``first`` to ``end`` - 1."""
        return replace(self, first=max(first, self.first), last=min(end - 1, self.last),
                       freed=self.freed and self.last < end - 1, flits=_between(self.flits, first, end),
                       counts=_between(self.counts, first, end),
                       fetches=tuple(one for one in self.fetches if first <= one[0] < end))


@dataclass(frozen=True)
class RecordedReading:
    """Period in which an output of a deep switch reads the flits of a buffer row, or waits for them.

    Parameters
    ----------
    switch, output : str
    port, row, worm
        The chunk, as in `RecordedChunk`.
    first, last : int
        First and last cycle of this period.
    places : tuple of (int, int)
        Cycle, and index in the row of the flit that the output sends next, from that cycle on.
    follows : bool
        The output takes at least the first flits as they arrive, without a fetch.
    """

    switch: str
    output: str
    port: str
    row: int
    worm: int | None
    first: int
    last: int
    places: tuple[tuple[int, int], ...]
    follows: bool

    def between(self, first: int, end: int) -> "RecordedReading":
        """Return the part of the reading in cycles ``first`` to ``end`` - 1."""
        return replace(self, first=max(first, self.first), last=min(end - 1, self.last),
                       places=_between(self.places, first, end))


def _between(steps: Sequence[tuple[int, int]], first: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the changes (cycle, new value) of a value in cycles ``first`` to ``end`` - 1.

    If the value in cycle ``first`` is known, the first entry is this cycle and this value.
    """
    before = [value for cycle, value in steps if cycle <= first]
    return (*((first, value) for value in before[-1:]), *(one for one in steps if first < one[0] < end))


def chunk_lanes(chunks: Sequence[RecordedChunk],
                readings: Sequence[RecordedReading]) -> list[tuple[str, str, int | None]]:
    """Return, for each switch, (switch, port, row) of all chunks, then (switch, output, None) of outputs that read."""
    return sorted({*((one.switch, one.port, one.row) for one in chunks),
                   *((one.switch, one.output, None) for one in readings)},
                  key=lambda lane: (_natural(lane[0]), lane[2] is None, _natural(lane[1]), lane[2] or 0))


def _natural(name: str) -> tuple[str, int]:
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters):] or -1)


def choose_ports(text: str, chunks: Sequence[RecordedChunk],
                 readings: Sequence[RecordedReading]) -> list[tuple[str, str, int | None]]:
    """Return the selected items of `chunk_lanes`. ``text`` is ``all``, or switches and ports: ``s0,s1.n0``."""
    lanes = chunk_lanes(chunks, readings)
    if not lanes:
        raise WormcastError(f"buffers: {text!r} is not valid: in these cycles no buffer of a deep switch has flits of "
                            "the shown worms. Allowed: a diagram without buffers, other cycles or other worms.")
    if text == "all":
        return lanes
    chosen: set[tuple[str, str, int | None]] = set()
    for name in map(str.strip, text.split(",")):
        found = [lane for lane in lanes if name in (lane[0], f"{lane[0]}.{lane[1]}")]
        if not found:
            ports = list(dict.fromkeys(f"{switch}.{port}" for switch, port, _ in lanes))
            raise WormcastError(f"buffers: {name!r} is not valid. Allowed: all, or switches and ports of the waveform, "
                                f"separated by commas, for example {ports[0].partition('.')[0]} or {ports[0]}.")
        chosen.update(found)
    return [lane for lane in lanes if lane in chosen]
