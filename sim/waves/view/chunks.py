"""What became of the rows of deep switches, and who read them: chunks, from the first flit to the counter's zero."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wormcast.algorithms import WormcastError

__all__ = ["RecordedChunk", "RecordedReading", "choose_ports", "chunk_lanes"]


@dataclass(frozen=True)
class RecordedChunk:
    """A row of an input's buffer with flits of a worm.

    Parameters
    ----------
    switch, port : str
        As in the waveform.
    row : int
        Its place in the buffer.
    worm : int or None
        Whose flits these are; None if they came before the first cycle.
    first, last : int
        Cycles in which it has flits, both included.
    freed : bool
        Whether it is free after the last one: its counter is 0.
    flits : tuple of (int, int)
        From which cycle on it has how many flits; none of those that came before the first cycle.
    counts : tuple of (int, int)
        From which cycle on so many outputs have yet to fetch it; the first is when it is closed. None where all took
        its flits as they passed.
    fetches : tuple of (int, str)
        Cycle of each fetch, and the output that it is for.
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
        """What is seen of it in cycles ``first`` to ``end`` - 1."""
        return replace(self, first=max(first, self.first), last=min(end - 1, self.last),
                       freed=self.freed and self.last < end - 1, flits=_between(self.flits, first, end),
                       counts=_between(self.counts, first, end),
                       fetches=tuple(one for one in self.fetches if first <= one[0] < end))


@dataclass(frozen=True)
class RecordedReading:
    """An output of a deep switch takes the flits of a row, or waits for them.

    Parameters
    ----------
    switch, output : str
    port, row, worm
        Of which chunk, as `RecordedChunk` has it.
    first, last : int
        Cycles, both included.
    places : tuple of (int, int)
        From which cycle on which flit of the row comes next.
    follows : bool
        It takes them, or takes them first, as they pass.
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
        """What is seen of it in cycles ``first`` to ``end`` - 1."""
        return replace(self, first=max(first, self.first), last=min(end - 1, self.last),
                       places=_between(self.places, first, end))


def _between(steps: Sequence[tuple[int, int]], first: int, end: int) -> tuple[tuple[int, int], ...]:
    """Steps of a value in some cycles; what held before them holds in the first one."""
    before = [value for cycle, value in steps if cycle <= first]
    return (*((first, value) for value in before[-1:]), *(one for one in steps if first < one[0] < end))


def chunk_lanes(chunks: Sequence[RecordedChunk],
                readings: Sequence[RecordedReading]) -> list[tuple[str, str, int | None]]:
    """Switch, port and row of all chunks, switch by switch; behind a switch's rows its outputs, whose row is None."""
    return sorted({*((one.switch, one.port, one.row) for one in chunks),
                   *((one.switch, one.output, None) for one in readings)},
                  key=lambda lane: (_natural(lane[0]), lane[2] is None, _natural(lane[1]), lane[2] or 0))


def _natural(name: str) -> tuple[str, int]:
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters):] or -1)


def choose_ports(text: str, chunks: Sequence[RecordedChunk],
                 readings: Sequence[RecordedReading]) -> list[tuple[str, str, int | None]]:
    """Read which lanes of `chunk_lanes` are meant: ``all``, or switches and ports joined by commas, ``s0``, ``s0.n0``.

    Raises
    ------
    WormcastError
        The waveform shows nothing of such a port.
    """
    lanes = chunk_lanes(chunks, readings)
    if not lanes:
        raise WormcastError(f"buffers: {text!r} is given, the waveform shows none of deep switches in these cycles")
    if text == "all":
        return lanes
    chosen: set[tuple[str, str, int | None]] = set()
    for name in map(str.strip, text.split(",")):
        found = [lane for lane in lanes if name in (lane[0], f"{lane[0]}.{lane[1]}")]
        if not found:
            ports = list(dict.fromkeys(f"{switch}.{port}" for switch, port, _ in lanes))
            raise WormcastError(f"buffers: {name!r} is given, allowed are all, or switches and ports in the waveform, "
                                f"joined by commas, as {ports[0].partition('.')[0]} or {ports[0]}")
        chosen.update(found)
    return [lane for lane in lanes if lane in chosen]
