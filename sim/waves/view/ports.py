"""Ports of deep switches in a waveform: rows and readers, parsed from their text signals."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, itemgetter

from .chunks import RecordedChunk, RecordedReading
from .vcd import Signal

__all__ = ["PortTrack", "chunks_and_readings", "port_tracks"]

ROUTERS = "bench.top.routers."
#: A switch, its port, and a row of the port's buffer.
Place = tuple[str, str, int]

#: Number of cycles from a flit on the link to its storage in a row.
STORED = 2

ROW = re.compile(r"(\d+)(?:\+(\d*)|:(\d+))")
READS = re.compile(r"(\w+):(\d+)\.(\d+)(,follows)?")
FETCHES = re.compile(r"(\w+):(\d+)")


@dataclass
class PortTrack:
    """Signals of one port. By a signal's name, ``shown`` has the signal's changes: cycle and new text.

    Parameters
    ----------
    number : int
    switch, port : str
    signals : mapping of str to Signal
    """

    number: int
    switch: str
    port: str
    signals: Mapping[str, Signal]
    shown: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    _new: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the port in error messages."""
        return f"{self.switch}.{self.port}"

    def setters(self) -> Iterable[tuple[bytes, Callable[[bytes], None]]]:
        """Yield the identifier code of each signal, and a function that stores a new value."""
        for name, signal in self.signals.items():
            self.shown[name] = []
            yield signal.ident, self._setter(name)

    def _setter(self, name: str) -> Callable[[bytes], None]:
        known = {"rows": ROW, "reads": READS, "fetches": FETCHES}.get(name)

        def take(value: bytes) -> None:
            text = value.decode("ascii")
            if text and known and not all(map(known.fullmatch, text.split(",") if name == "rows" else [text])):
                raise ValueError
            self._new[name] = text

        return take

    def show(self, cycle: int) -> bool:
        """Record that from cycle ``cycle`` on the signals have the values that the functions of `setters` stored.

        Return False: `show` need not be called again until a signal of the port changes.
        """
        for name, text in self._new.items():
            self.shown[name].append((cycle, text))
        self._new.clear()
        return False


def port_tracks(signals: Mapping[str, Signal], number: int) -> list[PortTrack]:
    """Return the ports with rows or readers in a waveform, numbered from ``number`` on."""
    found: list[PortTrack] = []
    for name in signals:
        scope, _, what = name.rpartition(".")
        if name.startswith(ROUTERS) and what in ("rows", "reads"):
            switch, port, _ = scope.removeprefix(ROUTERS).split(".")
            asked = ("rows", "holder") if what == "rows" else ("reads", "fetches")
            found.append(PortTrack(number + len(found), switch.removeprefix("router_"), port.rpartition("_")[0],
                                   {one: signals[f"{scope}.{one}"] for one in asked if f"{scope}.{one}" in signals}))
    return found


def chunks_and_readings(tracks: Sequence[PortTrack], end: int) -> tuple[tuple[RecordedChunk, ...],
                                                                        tuple[RecordedReading, ...]]:
    """Convert the signals of the ports to chunks and readings."""
    fetches: dict[Place, list[tuple[int, str]]] = defaultdict(list)
    for track in tracks:
        for cycle, text in track.shown.get("fetches", []):
            if match := FETCHES.fullmatch(text):
                fetches[track.switch, match[1], int(match[2])].append((cycle, track.port))
    for found in fetches.values():
        found.sort()
    of_row: dict[Place, list[RecordedChunk]] = defaultdict(list)
    for track in tracks:
        for chunk in _chunks(track, fetches, end):
            of_row[chunk.switch, chunk.port, chunk.row].append(chunk)
    chunks = sorted((chunk for found in of_row.values() for chunk in found),
                    key=lambda one: (one.first, one.switch, one.port, one.row))
    readings = sorted((reading for track in tracks for reading in _readings(track, of_row, end)),
                      key=lambda one: (one.first, one.switch, one.output))
    return tuple(chunks), tuple(readings)


@dataclass
class _Row:
    """A row of a buffer that holds a chunk: its changes up to the cycle read last."""

    first: int
    flits: list[tuple[int, int]] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)
    whole: bool = False

    def show(self, cycle: int, match: re.Match[str], *, begun: bool) -> None:
        """Record a change of the row. ``begun``: all flits of the row arrived after the start of the waveform."""
        if match[3]:
            _add(self.counts, cycle, int(match[3]))
        elif match[2]:
            _add(self.flits, cycle, int(match[2]))
        elif not self.whole:
            self.whole = True
            if self.flits or begun:
                _add(self.flits, cycle, self.flits[-1][1] + 1 if self.flits else 1)


def _chunks(track: PortTrack, fetches: Mapping[Place, list[tuple[int, str]]], end: int) -> Iterable[RecordedChunk]:
    """Yield the chunks of an input; chunks of one row are in order of time."""
    holders = track.shown.get("holder", [])

    def made(number: int, row: _Row, last: int, *, freed: bool) -> RecordedChunk:
        came = bisect_right(holders, row.first - STORED, key=itemgetter(0))
        worm = holders[came - 1][1].rpartition("_")[2] if came else ""
        found = fetches.get((track.switch, track.port, number), [])
        begin, behind = (bisect_left(found, cycle, key=itemgetter(0)) for cycle in (row.first, last + 1))
        return RecordedChunk(track.switch, track.port, number, int(worm) if worm else None, row.first, last, freed,
                             tuple(row.flits), tuple(row.counts), tuple(found[begin:behind]))

    rows: dict[int, _Row] = {}
    shown = track.shown.get("rows", [])
    for cycle, text in shown:
        now = {int(one[1]): one for one in map(ROW.fullmatch, text.split(",")) if one}
        for number in [one for one, row in rows.items() if one not in now or (row.counts and not now[one][3])]:
            yield made(number, rows.pop(number), cycle - 1, freed=True)
        for number, match in now.items():
            rows.setdefault(number, _Row(cycle)).show(cycle, match, begun=cycle > shown[0][0])
    for number, row in rows.items():
        yield made(number, row, end - 1, freed=False)


def _add(steps: list[tuple[int, int]], cycle: int, value: int) -> None:
    if not steps or steps[-1][1] != value:
        steps.append((cycle, value))


def _readings(track: PortTrack, of_row: Mapping[Place, Sequence[RecordedChunk]], end: int) -> list[RecordedReading]:
    """Return the readings of an output in order of time, a reading for each row that it reads."""
    found: list[RecordedReading] = []
    shown = track.shown.get("reads", [])
    for (cycle, text), (until, _) in zip(shown, [*shown, (end, "")][1:], strict=True):
        if not (match := READS.fullmatch(text)):
            continue
        port, row, place = match[1], int(match[2]), (cycle, int(match[3]))
        if found and (found[-1].port, found[-1].row, found[-1].last) == (port, row, cycle - 1):
            found[-1] = replace(found[-1], last=until - 1, places=(*found[-1].places, place))
        else:
            found.append(RecordedReading(track.switch, track.port, port, row, None, cycle, until - 1, (place,),
                                         bool(match[4])))
    over: dict[tuple[str, int], int] = defaultdict(int)  # by row: first cycle after the output last read the row
    for at, one in enumerate(found):
        found[at] = replace(one, worm=_worm(one, of_row.get((one.switch, one.port, one.row), []),
                                            over[one.port, one.row]))
        over[one.port, one.row] = one.last + 1
    return found


def _worm(reading: RecordedReading, chunks: Sequence[RecordedChunk], begin: int) -> int | None:
    """Return the worm of a reading: the worm of the chunk that the output fetches from cycle ``begin`` on.

    If the output fetches no chunk, the result is the worm of the first chunk that is in the row while the output reads
    the row. A fetched row may be freed, and used by another worm, before the output sends the first flit of the fetched
    chunk.
    """
    passing = None
    for chunk in chunks[bisect_left(chunks, begin, key=attrgetter("last")):]:
        if chunk.first > reading.last:
            break
        if any(output == reading.output and begin <= cycle <= reading.last for cycle, output in chunk.fetches):
            return chunk.worm
        if passing is None and chunk.last >= reading.first:
            passing = chunk
    return passing.worm if passing else None
