"""What must arrive, and what does."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .flits import Flit, Worm
from .monitor import LinkMonitor

__all__ = ["Scoreboard"]

Flits = tuple[Flit, ...]


class Scoreboard:
    """Holds worms that are expected, each at its end, against those that monitors collect there: none is missing, none
    comes twice or unexpected, each is whole, flit for flit. In which order they come at an end does not matter.

    Parameters
    ----------
    strict : bool
        An unexpected worm raises AssertionError at once; else it is kept in ``extra``.

    Attributes
    ----------
    extra : list of (str, Worm)
        Unexpected worms, with their ends.
    """

    def __init__(self, *, strict: bool = True):
        self.strict = strict
        self.restart()

    def restart(self) -> None:
        """Expect nothing, and forget what was unexpected."""
        self.extra: list[tuple[str, Worm]] = []
        self._expected: dict[str, Counter[Flits]] = {}

    def expect(self, end: str, flits: Iterable[tuple[int, int, int]]) -> None:
        """Expect a worm at an end; a multicast is expected at each of its ends."""
        self._expected.setdefault(end, Counter())[tuple(Flit(*flit) for flit in flits)] += 1

    def expect_copies(self, flits: Iterable[tuple[int, int, int]], masks: Mapping[str, Sequence[int]], *,
                      reports: bool = True) -> int:
        """Expect the copies of a worm whose header is a bit string: one at each end that some bit is behind.

        Parameters
        ----------
        flits : iterable of Flit
            As it is sent.
        masks : mapping of str to sequence of int
            By end, the bits of the nodes behind it, of each header flit.
        reports : bool
            Arrivals are reported: bit 0 of a copy's first header flit is set if the worm's is, or if there are several
            copies. Else it is the worm's.

        Returns
        -------
        Number of copies.
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
        """Take the worms that a monitor collects; the end is the monitor's name where none is given."""
        name = end or monitor.name
        monitor.on_worm.append(lambda worm: self.arrived(name, worm))

    def arrived(self, end: str, worm: Worm) -> None:
        """Take one worm.

        Raises
        ------
        AssertionError
            It is not expected there, or not any more.
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
        """Worms that have not arrived, with their ends."""
        return [(end, flits) for end, due in self._expected.items() for flits in due.elements()]

    def check(self) -> None:
        """Raise AssertionError if a worm is missing."""
        if missing := self.missing:
            end, flits = missing[0]
            raise AssertionError(f"{len(missing)} of the expected worms are missing, the first one at {end}: "
                                 f"{_written(flits)}")

    @staticmethod
    def _nearest(due: Counter[Flits], flits: Flits) -> str:
        """The expected worm that has most flits in common with this one, in words."""
        waiting = list(due.elements())
        if not waiting:
            return "none is expected there any more" if due else "none is expected there"
        nearest = max(waiting, key=lambda other: len(set(other) & set(flits)))
        return f"the most similar one of {len(waiting)} expected there: {_written(nearest)}"


def _written(flits: Flits) -> str:
    """A worm's flits in hexadecimal, in front of each its marks."""
    return " ".join(f"{'H' * flit.head}{'T' * flit.tail}{flit.data:x}" for flit in flits)
