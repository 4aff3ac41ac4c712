"""The ports of deep switches, as a waveform tells of them in words."""

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
#: A switch, its port, and a row there.
Place = tuple[str, str, int]

#: Cycles from a flit on the link to when a row has it.
STORED = 2

ROW = re.compile(r"(\d+)(?:\+(\d*)|:(\d+))")
READS = re.compile(r"(\w+):(\d+)\.(\d+)(,follows)?")
FETCHES = re.compile(r"(\w+):(\d+)")


@dataclass
class PortTrack:
    """What the signals of one port have shown, by their names: from which cycle on which text.

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
        """Where it is, for errors."""
        return f"{self.switch}.{self.port}"

    def setters(self) -> Iterable[tuple[bytes, Callable[[bytes], None]]]:
        """Short names of the signals, each with what takes a new value."""
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
        """Note what the signals show from this cycle on; there is nothing that goes on."""
        for name, text in self._new.items():
            self.shown[name].append((cycle, text))
        self._new.clear()
        return False


def port_tracks(signals: Mapping[str, Signal], number: int) -> list[PortTrack]:
    """The ports of which a waveform shows rows or readers, numbered from here on."""
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
    """What the ports' signals have come to by the end."""
    fetches: dict[Place, list[tuple[int, str]]] = defaultdict(list)
    for track in tracks:
        for cycle, text in track.shown.get("fetches", []):
            if told := FETCHES.fullmatch(text):
                fetches[track.switch, told[1], int(told[2])].append((cycle, track.port))
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
    """A row with flits, up to now."""

    first: int
    flits: list[tuple[int, int]] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)
    whole: bool = False

    def show(self, cycle: int, told: re.Match[str], *, begun: bool) -> None:
        """Note what is told of it from a cycle on; whether all of it has come since the waveform began."""
        if told[3]:
            _add(self.counts, cycle, int(told[3]))
        elif told[2]:
            _add(self.flits, cycle, int(told[2]))
        elif not self.whole:
            self.whole = True
            if self.flits or begun:
                _add(self.flits, cycle, self.flits[-1][1] + 1 if self.flits else 1)


def _chunks(track: PortTrack, fetches: Mapping[Place, list[tuple[int, str]]], end: int) -> Iterable[RecordedChunk]:
    """The stays of flits in the rows of an input, those of each row in order."""
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
        for number, told in now.items():
            rows.setdefault(number, _Row(cycle)).show(cycle, told, begun=cycle > shown[0][0])
    for number, row in rows.items():
        yield made(number, row, end - 1, freed=False)


def _add(steps: list[tuple[int, int]], cycle: int, value: int) -> None:
    if not steps or steps[-1][1] != value:
        steps.append((cycle, value))


def _readings(track: PortTrack, of_row: Mapping[Place, Sequence[RecordedChunk]], end: int) -> list[RecordedReading]:
    """What an output reads, row by row."""
    found: list[RecordedReading] = []
    shown = track.shown.get("reads", [])
    for (cycle, text), (until, _) in zip(shown, [*shown, (end, "")][1:], strict=True):
        if not (told := READS.fullmatch(text)):
            continue
        port, row, place = told[1], int(told[2]), (cycle, int(told[3]))
        if found and (found[-1].port, found[-1].row, found[-1].last) == (port, row, cycle - 1):
            found[-1] = replace(found[-1], last=until - 1, places=(*found[-1].places, place))
        else:
            found.append(RecordedReading(track.switch, track.port, port, row, None, cycle, until - 1, (place,),
                                         bool(told[4])))
    over: dict[tuple[str, int], int] = defaultdict(int)  # when the reading before one of the same row was
    for at, one in enumerate(found):
        found[at] = replace(one, worm=_worm(one, of_row.get((one.switch, one.port, one.row), []),
                                            over[one.port, one.row]))
        over[one.port, one.row] = one.last + 1
    return found


def _worm(reading: RecordedReading, chunks: Sequence[RecordedChunk], begin: int) -> int | None:
    """Whose flits an output reads: those of the chunk that it fetches from a cycle on, or of the one that passes.

    A row that is fetched may be free, and have flits of another worm, before the first of them is sent.
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
