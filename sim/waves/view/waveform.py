"""Reader of a waveform file: returns its history."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .comment import Comment
from .damage import damaged
from .history import History, RecordedBuffer, RecordedHold, RecordedLink, RecordedToken, Wait
from .ports import PortTrack, chunks_and_readings, port_tracks
from .vcd import Signal, Wave

__all__ = ["read_waveform"]


def read_waveform(path: Path) -> History:
    """Read the history of a run or of a load experiment from its waveform.

    Only the signals of worms on links, of fill levels and credits, and of rows and readers of deep switches, are read.

    Raises
    ------
    WormcastError
        The file cannot be read, is not a VCD file, has no worms, or is damaged.
    """
    wave = Wave(path)
    comment = Comment(path, wave.comments)
    tracks = [_Track(number, link, scope) for number, (link, scope)
              in enumerate(zip(comment.links, comment.scopes, strict=True))]
    ports = port_tracks(wave.signals, len(tracks))
    setters: dict[bytes, list[tuple[_Track | PortTrack, Callable[[bytes], None]]]] = defaultdict(list)
    for track in tracks:
        for ident, setter in track.setters(path, wave.signals):
            setters[ident].append((track, setter))
    for port in ports:
        for ident, setter in port.setters():
            setters[ident].append((port, setter))
    _follow(path, wave, comment, setters)
    holds = [hold for track in tracks for hold in track.close(comment.end - 1)]
    holds.sort(key=lambda hold: (hold.first, hold.link, hold.vc))
    waits = [wait for track in tracks for wait in track.waits]
    waits.sort(key=lambda wait: (wait.first, wait.link, wait.vc))
    for worm in {hold.worm for hold in holds} | {wait.worm for wait in waits}:
        if worm not in comment.worms:
            raise damaged(path, f"its signals have worm {worm}, which its comment lacks")
    history = History(comment.topology, comment.scheme, comment.first, comment.end, comment.links, comment.worms,
                      tuple(holds), tuple(waits), comment.deadlock, comment.configuration,
                      *chunks_and_readings(ports, comment.end), tuple(one for track in tracks for one in track.buffers),
                      tuple(sorted((one for track in tracks for one in track.tokens), key=lambda one: one.first)),
                      comment.replicates, comment.vc_classes)
    # `between` removes the deadlock from the history if a flit of the deadlock's worms is on a link in the last cycle
    return history.between(history.first, history.end)


def _follow(path: Path, wave: Wave, comment: Comment,
            setters: Mapping[bytes, Sequence[tuple["_Track | PortTrack", Callable[[bytes], None]]]]) -> None:
    """Pass the changes in the file, cycle by cycle, to the tracks of links and ports."""
    now = comment.first
    busy: dict[int, _Track | PortTrack] = {}
    for time, changes in wave.changes(setters):
        if time > comment.end * comment.period:
            raise damaged(path, f"it continues at {time}, but its comment has cycles up to "
                                f"{comment.end - 1}")
        cycle = min(-(-time // comment.period), comment.end)  # the first cycle whose middle has the new value
        while now < cycle:
            for track in list(busy.values()):
                if not track.show(now):
                    del busy[track.number]
            now += 1
        for ident, value in changes:
            for track, setter in setters[ident]:
                busy[track.number] = track
                try:
                    setter(value)
                except ValueError:
                    text = value.decode("ascii", "replace")
                    raise damaged(path, f"a signal of {track.name} has the value {text!r} at "
                                        f"{time}") from None
    if now < comment.end:
        raise damaged(path, f"it ends in cycle {now}, but its comment has cycles up to "
                            f"{comment.end - 1}")


@dataclass
class _Open:
    """A hold of a virtual channel by a worm whose tail has not passed yet."""

    worm: int
    first: int
    flits: list[int] = field(default_factory=list)


@dataclass
class _Level:
    """A number that changes: its value in the present cycle, and its changes, cycle and new value."""

    now: int | None = None
    changes: list[tuple[int, int]] = field(default_factory=list)

    def show(self, cycle: int) -> None:
        """Record the present value as the value in cycle ``cycle``."""
        if self.now is not None and (not self.changes or self.changes[-1][1] != self.now):
            self.changes.append((cycle, self.now))


class _Track:
    """Signals of one link, and the holds, waits and held tokens found in them."""

    def __init__(self, number: int, link: RecordedLink, scope: str):
        self.number, self.link, self.scope, self.name = number, link, scope, link.name
        self.holds: list[RecordedHold] = []
        self.waits: list[Wait] = []
        self.tokens: list[RecordedToken] = []
        self._at_node = link.kind in ("consumption", "slots")  # at nodes, the worm that waits is the channel's holder
        self._flit = self._tail = False
        self._vc = 0
        self._worms: list[int | None] = [None] * link.vcs
        self._fronts: list[int | None] = [None] * link.vcs
        self._asks: list[tuple[str, ...]] = [()] * link.vcs
        self._open: list[_Open | None] = [None] * link.vcs
        self._waiting: list[Wait | None] = [None] * link.vcs
        self._tokens: list[str] = [""] * link.vcs
        self._having: list[RecordedToken | None] = [None] * link.vcs
        self._levels: list[dict[str, _Level]] = [{"stored": _Level(), "spent": _Level()} for _ in range(link.vcs)]

    def setters(self, path: Path, signals: Mapping[str, Signal]) -> Iterable[tuple[bytes, Callable[[bytes], None]]]:
        """Yield the identifier code of each signal, and a function that stores a new value."""
        def signal(name: str) -> Signal:
            full = f"{self.scope}.{name}"
            if full not in signals:
                raise damaged(path, f"it has no signal {full}, which its comment names")
            return signals[full]

        yield signal("flit").ident, lambda value: setattr(self, "_flit", value == b"1")
        yield signal("tail").ident, lambda value: setattr(self, "_tail", value == b"1")
        if self.link.vcs > 1:
            yield signal("vc").ident, self._set_vc
        for vc in range(self.link.vcs):
            yield signal(f"vc_{vc}.worm").ident, _number(self._worms, vc)
            yield signal(f"vc_{vc}.waits").ident, self._set_asks(vc)
            if not self._at_node:
                yield signal(f"vc_{vc}.front").ident, _number(self._fronts, vc)
            if (full := f"{self.scope}.vc_{vc}.token") in signals:
                yield signals[full].ident, self._set_token(vc)
            for name, levels in self._levels[vc].items():
                if (full := f"{self.scope}.vc_{vc}.{name}") in signals:
                    yield signals[full].ident, _level(levels)

    def _set_vc(self, value: bytes) -> None:
        self._vc = int(value, 2) if value.isdigit() else -1

    def _set_asks(self, vc: int) -> Callable[[bytes], None]:
        def take(value: bytes) -> None:
            self._asks[vc] = tuple(value.decode("ascii").split("|")) if value else ()

        return take

    def _set_token(self, vc: int) -> Callable[[bytes], None]:
        return lambda value: self._tokens.__setitem__(vc, value.decode("ascii"))

    def show(self, cycle: int) -> bool:
        """Record the values of the signals in cycle ``cycle``. Return whether a hold or wait continues."""
        goes_on = False
        for vc, (worm, asks) in enumerate(zip(self._worms, self._asks, strict=True)):
            current = self._open[vc]
            if current is not None and current.worm != worm:
                self._close(vc, cycle - 1, ended=False)
                current = None
            if worm is not None and current is None:
                current = self._open[vc] = _Open(worm, cycle)
            if current is not None and self._flit and self._vc == vc:
                current.flits.append(cycle)
                if self._tail:
                    self._close(vc, cycle, ended=True)
            waiting, front = self._waiting[vc], worm if self._at_node else self._fronts[vc]
            if waiting is not None and (waiting.resources, waiting.worm) != (asks, front):
                self._end_wait(vc, cycle - 1)
                waiting = None
            if asks and waiting is None and front is not None:
                self._waiting[vc] = Wait(front, self.number, vc, cycle, cycle, asks)
            having, token = self._having[vc], self._tokens[vc]
            if having is not None and (having.resource, having.worm) != (token, front):
                self._end_token(vc, cycle - 1)
                having = None
            if token and having is None and front is not None:
                self._having[vc] = RecordedToken(token, front, cycle, cycle)
            for level in self._levels[vc].values():
                level.show(cycle)
            goes_on = goes_on or worm is not None or bool(asks)
        return goes_on

    def close(self, last: int) -> list[RecordedHold]:
        """End all open holds and waits, and return all holds of channels."""
        for vc in range(self.link.vcs):
            self._close(vc, last, ended=False)
            self._end_wait(vc, last)
            self._end_token(vc, last)
        return self.holds

    @property
    def buffers(self) -> list[RecordedBuffer]:
        """Fill levels and credits of the link's virtual channels; only channels with recorded changes."""
        return [RecordedBuffer(self.number, vc, *(tuple(levels[name].changes) for name in ("stored", "spent")))
                for vc, levels in enumerate(self._levels) if any(level.changes for level in levels.values())]

    def _close(self, vc: int, last: int, *, ended: bool) -> None:
        current = self._open[vc]
        if current is not None:
            self.holds.append(RecordedHold(self.number, vc, current.worm, current.first, last, tuple(current.flits),
                                           ended))
        self._open[vc] = None

    def _end_wait(self, vc: int, last: int) -> None:
        if (waiting := self._waiting[vc]) is not None:
            self.waits.append(replace(waiting, last=last))
        self._waiting[vc] = None

    def _end_token(self, vc: int, last: int) -> None:
        if (having := self._having[vc]) is not None:
            self.tokens.append(replace(having, last=last))
        self._having[vc] = None


def _level(level: _Level) -> Callable[[bytes], None]:
    """Return a function that stores the present value of a level; an unknown value is stored as None."""
    def take(value: bytes) -> None:
        level.now = int(value, 2) if value.isdigit() else None

    return take


def _number(numbers: list[int | None], vc: int) -> Callable[[bytes], None]:
    """Return a function that stores a worm number; an unknown value is stored as None."""
    def take(value: bytes) -> None:
        numbers[vc] = int(value, 2) if value.isdigit() else None

    return take
