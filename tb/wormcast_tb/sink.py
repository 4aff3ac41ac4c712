"""Sink of a link: its receiving end."""

from collections.abc import Iterator
from typing import Any

from .flits import Flit
from .monitor import LinkMonitor
from .waits import never

__all__ = ["LinkSink"]


class LinkSink(LinkMonitor):
    """Sink that receives worms like `LinkMonitor`, and returns the credit of each flit in a later cycle.

    A credit is returned one cycle after the flit or later. With chunks, the sink returns one credit for each chunk,
    after the last flit of the chunk.

    On a link with reports, the sink reports the arrival of each worm whose first header flit has bit 0 set, once, after
    that flit.

    Parameters
    ----------
    dut, prefix, clock, depth, chunk, reset, reset_active, separator, headers, cuts
        As in `LinkMonitor`.

    Attributes
    ----------
    pause : iterator of bool
        Back-pressure: True holds back a due credit, or a due report, for one cycle. In each cycle, the sink reads the
        next value of ``pause`` for each virtual channel with a due report, then for each virtual channel with a due
        credit; see ``waits``.
    owed : list of int
        Credits to return, by virtual channel.
    unreported : list of bool
        Arrivals to report, by virtual channel.
    """

    def __init__(self, dut: Any, prefix: str, clock: Any, **options: Any):
        self.pause: Iterator[bool] = never()
        super().__init__(dut, prefix, clock, **options)

    def restart(self) -> None:
        """Discard all worms and all due credits."""
        super().restart()
        self.owed = [0] * self.link.vcs
        self.unreported = [False] * self.link.vcs
        self._false = 0
        self._driven = 0
        self._reported = 0
        self.link.write_credit(0)
        self.link.write_arrived(0)

    def spoil(self, vc: int = 0) -> None:
        """Return a false credit in the next cycle. The sender must detect the false credit as an error.

        Flits that the sender sends for a false credit do not violate the protocol.

        Raises
        ------
        ValueError
            The virtual channel does not exist.
        """
        self.link.must_carry(vc)
        self._false |= 1 << vc

    def sample(self) -> None:
        """Check the flit of this cycle. Credits are not checked, because the sink itself returns them."""
        came = self.link.read()
        if came is not None:
            self._take(*came)
        for vc in range(self.link.vcs) if self._driven else ():
            self.credits[vc] += self._driven >> vc & 1

    def drive(self) -> None:
        """Return credits, and report arrivals."""
        reports = sum(1 << vc for vc, due in enumerate(self.unreported) if due and not next(self.pause))
        if reports or self._reported:
            self.link.write_arrived(reports)
            self._reported = reports
            self.unreported = [due and not reports >> vc & 1 for vc, due in enumerate(self.unreported)]
        mask = self._false
        for vc, owed in enumerate(self.owed):
            # a channel with a false credit returns a due credit no earlier than in the next cycle
            if owed and not mask >> vc & 1 and not next(self.pause):
                self.owed[vc] -= 1
                mask |= 1 << vc
        self._false = 0
        if mask or self._driven:
            self.link.write_credit(mask)
            self._driven = mask

    def _take(self, vc: int, flit: Flit) -> bool:
        begins = flit.head and vc not in self.open
        ends = super()._take(vc, flit)
        self.owed[vc] += ends
        if begins and flit.data & 1 and self.link.arrived is not None:
            self.unreported[vc] = True
        return ends
