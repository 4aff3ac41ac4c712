"""A history, read back from a waveform file alone."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wormcast.algorithms import WormcastError

from .comment import Comment
from .history import History, Hold, Link, Wait
from .vcd import Signal, Wave

__all__ = ["read_waveform"]


def read_waveform(path: Path) -> History:
    """Read what worms did from the waveform of a run or of a load experiment.

    Only the signals that tell of worms on links are looked at. A wait is left out if its worm has passed the link
    before the waveform begins.

    Raises
    ------
    WormcastError
        The file cannot be read, is no VCD file, tells nothing of worms, or is damaged.
    """
    wave = Wave(path)
    comment = Comment(path, wave.comment)
    tracks = [_Track(number, link, scope) for number, (link, scope)
              in enumerate(zip(comment.links, comment.scopes, strict=True))]
    setters: dict[bytes, list[tuple[_Track, Callable[[bytes], None]]]] = defaultdict(list)
    for track in tracks:
        for ident, setter in track.setters(path, wave.signals):
            setters[ident].append((track, setter))
    _follow(path, wave, comment, setters)
    holds = [hold for track in tracks for hold in track.close(comment.end - 1)]
    holds.sort(key=lambda hold: (hold.first, hold.link, hold.vc))
    for hold in holds:
        if hold.worm not in comment.worms:
            raise WormcastError(f"{path} is damaged: worm {hold.worm} is in it, of which its comment says nothing")
    waits = _with_worms([wait for track in tracks for wait in track.waits], holds, comment)
    return History(comment.topology, comment.scheme, comment.first, comment.end, comment.links, comment.worms,
                   tuple(holds), tuple(waits), comment.deadlock, comment.configuration)


def _follow(path: Path, wave: Wave, comment: Comment,
            setters: Mapping[bytes, Sequence[tuple["_Track", Callable[[bytes], None]]]]) -> None:
    """Take all tracks through the file."""
    now = comment.first
    busy: dict[int, _Track] = {}
    for time, changes in wave.changes(setters):
        cycle = min(-(-time // comment.period), comment.end)  # in its middle the change is seen first
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
                    raise WormcastError(f"{path} is damaged: {value.decode('ascii', 'replace')!r} is shown at {time} "
                                        f"by a signal of {track.link.name}") from None
    if now < comment.end:
        raise WormcastError(f"{path} is damaged: it ends in cycle {now}, its comment tells of cycles up to "
                            f"{comment.end - 1}")


@dataclass
class _Open:
    """A worm on a virtual channel whose tail is not seen yet."""

    worm: int
    first: int
    flits: list[int] = field(default_factory=list)


class _Track:
    """The signals of one link, and what they have come to."""

    def __init__(self, number: int, link: Link, scope: str):
        self.number, self.link, self.scope = number, link, scope
        self.holds: list[Hold] = []
        self.waits: list[Wait] = []
        self._flit = self._tail = False
        self._vc = 0
        self._worms: list[int | None] = [None] * link.vcs
        self._asks: list[tuple[str, ...]] = [()] * link.vcs
        self._open: list[_Open | None] = [None] * link.vcs
        self._waiting: list[tuple[int, tuple[str, ...]] | None] = [None] * link.vcs

    def setters(self, path: Path, signals: Mapping[str, Signal]) -> Iterable[tuple[bytes, Callable[[bytes], None]]]:
        """Short names of the signals, each with what takes a new value."""
        def signal(name: str) -> Signal:
            full = f"{self.scope}.{name}"
            if full not in signals:
                raise WormcastError(f"{path} is damaged: there is no signal {full}, of which its comment tells")
            return signals[full]

        yield signal("flit").ident, lambda value: setattr(self, "_flit", value == b"1")
        yield signal("tail").ident, lambda value: setattr(self, "_tail", value == b"1")
        if self.link.vcs > 1:
            yield signal("vc").ident, self._set_vc
        for vc in range(self.link.vcs):
            worm = signal(f"vc_{vc}.worm")
            yield worm.ident, self._set_worm(vc, none=(1 << worm.size) - 1)
            yield signal(f"vc_{vc}.waits").ident, self._set_asks(vc)

    def _set_vc(self, value: bytes) -> None:
        self._vc = int(value, 2) if value.isdigit() else -1

    def _set_worm(self, vc: int, none: int) -> Callable[[bytes], None]:
        def take(value: bytes) -> None:
            number = int(value, 2) if value.isdigit() else none
            self._worms[vc] = None if number == none else number

        return take

    def _set_asks(self, vc: int) -> Callable[[bytes], None]:
        def take(value: bytes) -> None:
            self._asks[vc] = tuple(value.decode("ascii").split("|")) if value else ()

        return take

    def show(self, cycle: int) -> bool:
        """Note what the signals show in this cycle; return whether there is anything that goes on."""
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
            waiting = self._waiting[vc]
            if waiting is not None and waiting[1] != asks:
                self._end_wait(vc, cycle - 1)
                waiting = None
            if asks and waiting is None:
                self._waiting[vc] = cycle, asks
            goes_on = goes_on or worm is not None or bool(asks)
        return goes_on

    def close(self, last: int) -> list[Hold]:
        """End what goes on; all holds."""
        for vc in range(self.link.vcs):
            self._close(vc, last, ended=False)
            self._end_wait(vc, last)
        return self.holds

    def _close(self, vc: int, last: int, *, ended: bool) -> None:
        current = self._open[vc]
        if current is not None:
            self.holds.append(Hold(self.number, vc, current.worm, current.first, last, tuple(current.flits), ended))
        self._open[vc] = None

    def _end_wait(self, vc: int, last: int) -> None:
        if (waiting := self._waiting[vc]) is not None:
            # whose it is comes out when all is read
            self.waits.append(Wait(-1, self.number, vc, waiting[0], last, waiting[1]))
        self._waiting[vc] = None


def _with_worms(waits: Iterable[Wait], holds: Sequence[Hold], comment: Comment) -> list[Wait]:
    """Find the worm of each wait: of those that came by its virtual channel, the first that has not left the router.

    Worms leave a buffer in the order in which they came. One has left when its tail was seen on each link by which it
    goes on from there, the consumption link alone at its last destination.
    """
    links = comment.links
    came_by: dict[tuple[int, int], list[Hold]] = defaultdict(list)
    goes_by: dict[tuple[int, int], list[Hold]] = defaultdict(list)
    for hold in holds:
        came_by[hold.link, hold.vc].append(hold)
        if links[hold.link].kind != "injection":
            goes_by[links[hold.link].source, hold.worm].append(hold)

    def gone(came: Hold, cycle: int) -> bool:
        node = links[came.link].target
        ways = [hold for hold in goes_by[node, came.worm] if came.first <= hold.first]
        last = node == comment.worms[came.worm].destinations[-1]
        known = last or any(links[way.link].kind == "network" for way in ways)
        return bool(ways) and known and all(way.ended and way.last < cycle for way in ways)

    found = []
    for wait in waits:
        assert wait.link is not None
        worm = next((hold.worm for hold in came_by[wait.link, wait.vc]
                     if hold.first <= wait.first and not gone(hold, wait.first)), None)
        if worm is not None:
            found.append(replace(wait, worm=worm))
    return sorted(found, key=lambda wait: (wait.first, wait.link or 0, wait.vc))
