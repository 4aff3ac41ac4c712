"""Scoreboard: expected and received worms."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .flits import Flit, Worm
from .monitor import LinkMonitor

__all__ = ["Scoreboard"]

Flits = tuple[Flit, ...]


class Scoreboard:
    """Comparison of the worms expected at each end with the worms that monitors collect there.

    An *end* is a place where worms arrive: a sink, or several sinks of one name (`TB.sink`). Each expected worm must
    arrive once and complete, flit for flit, and no other worm may arrive. Worms may arrive at an end in any order.

    Parameters
    ----------
    strict : bool
        Raise AssertionError at once for an unexpected worm. If ``strict`` is false, only store an unexpected worm in
        ``extra``.

    Attributes
    ----------
    extra : list of (str, Worm)
        Unexpected worms, with their ends.
    """

    def __init__(self, *, strict: bool = True):
        self.strict = strict
        self.restart()

    def restart(self) -> None:
        """Discard all expected and unexpected worms."""
        self.extra: list[tuple[str, Worm]] = []
        self._expected: dict[str, Counter[Flits]] = {}

    def expect(self, end: str, flits: Iterable[tuple[int, int, int]]) -> None:
        """Expect a worm at ``end``, the name of a sink. For a multicast, call this method for the end of each copy."""
        self._expected.setdefault(end, Counter())[tuple(Flit(*flit) for flit in flits)] += 1

    def expect_copies(self, flits: Iterable[tuple[int, int, int]], masks: Mapping[str, Sequence[int]], *,
                      reports: bool = True) -> int:
        """Expect the branches of a worm with a bit-string header: one at each output that leads to a destination.

        Parameters
        ----------
        flits : iterable of Flit
            The worm as it is sent.
        masks : mapping of str to sequence of int
            For each output of the switch, by the name of its sink: bits of the nodes that worms reach through the
            output, for each header flit.
        reports : bool
            Arrivals are reported. The report bit is bit 0 of the first header flit. A branch's report bit is set if the
            worm's report bit is set, or if there are several branches. If ``reports`` is false, each branch has the
            report bit of the worm.

        Returns
        -------
        Number of branches.
        """
        worm = [Flit(*flit) for flit in flits]
        header = [flit.data for flit in worm if flit.head]
        kept = {end: [data & mask for data, mask in zip(header, bits, strict=True)] for end, bits in masks.items()}
        kept = {end: data for end, data in kept.items() if any(data)}
        report = header[0] & 1 or (reports and len(kept) > 1)
        for end, (first, *others) in kept.items():
            self.expect(end, [*(Flit(1, 0, data) for data in (first | report, *others)), *worm[len(header):]])
        return len(kept)

    def watch(self, monitor: LinkMonitor, end: str | None = None) -> None:
        """Check the worms that a monitor collects. By default, ``end`` is the monitor's name."""
        name = end or monitor.name
        monitor.on_worm.append(lambda worm: self.arrived(name, worm))

    def arrived(self, end: str, worm: Worm) -> None:
        """Check one received worm.

        Raises
        ------
        AssertionError
            The worm is not expected at this end, or has arrived there already.
        """
        due = self._expected.get(end, Counter())
        if due[worm.flits] > 0:
            due[worm.flits] -= 1
            return
        self.extra.append((end, worm))
        if self.strict:
            raise AssertionError(f"{end}: unexpected worm on virtual channel {worm.vc} in cycles {worm.cycles[0]} to "
                                 f"{worm.cycles[-1]}: {_written(worm.flits)}; {self._nearest(due, worm.flits)}")

    @property
    def missing(self) -> list[tuple[str, Flits]]:
        """Expected worms that have not arrived, with their ends."""
        return [(end, flits) for end, due in self._expected.items() for flits in due.elements()]

    def check(self) -> None:
        """Raise AssertionError if a worm is missing."""
        if missing := self.missing:
            end, flits = missing[0]
            raise AssertionError(f"{len(missing)} of the expected worms are missing, the first one at {end}: "
                                 f"{_written(flits)}")

    @staticmethod
    def _nearest(due: Counter[Flits], flits: Flits) -> str:
        """Return the expected worm that shares most flits with an unexpected worm, in words."""
        waiting = list(due.elements())
        if not waiting:
            return "no more worms are expected there" if due else "no worm is expected there"
        nearest = max(waiting, key=lambda other: len(set(other) & set(flits)))
        return f"the most similar one of {len(waiting)} expected there: {_written(nearest)}"


def _written(flits: Flits) -> str:
    """Return a worm's flits in hexadecimal, each after its marks."""
    return " ".join(f"{'H' * flit.head}{'T' * flit.tail}{flit.data:x}" for flit in flits)
