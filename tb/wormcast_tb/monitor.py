"""A link watched: worms collected, the protocol checked."""

from collections.abc import Callable
from typing import Any

from .flits import Flit, Worm
from .link import Agent, Chunks, Link, ProtocolError

__all__ = ["HEADERS", "LinkMonitor"]

HEADERS = ("needed", "allowed", "none")


class LinkMonitor(Agent):
    """Watches a link without driving it, collects its worms, and raises `ProtocolError` for what must not be.

    - A flit comes on a virtual channel that exists, and with a credit: one that was given back in a cycle before, or
      one of those at reset. Where a credit is a chunk, the first flit of each worm and of each further chunk has one.
    - A credit comes back for a flit that was on the link in a cycle before.
    - On each virtual channel a worm follows the other: header flits, payload flits, the tail mark on the last; no
      header flit within the payload, which would be a second worm's.

    Parameters
    ----------
    dut, prefix, separator
        As of `Link`.
    clock, reset, reset_active
        As of `Agent`.
    depth : int
        Flits of buffer at the receiving end for each virtual channel.
    chunk : int
        Flits that a credit stands for.
    headers : "needed", "allowed" or "none"
        Whether worms begin with header flits here. On a consumption link they may have none, and hosts get none.
    cuts : bool
        Collect worms that an error has cut off; else they are against the protocol.

    Attributes
    ----------
    worms : list of Worm
        In the order of their last flits.
    open : dict of int to list of Flit
        By virtual channel: what has come of a worm whose end has not.
    on_worm : list of callable
        Called with each worm as it ends.
    credits : list of int
        Those that the sender holds, by virtual channel.
    """

    def __init__(self, dut: Any, prefix: str, clock: Any, *, depth: int, chunk: int = 1, reset: Any = None,
                 reset_active: int = 1, separator: str = "_", headers: str = "needed", cuts: bool = False):
        if headers not in HEADERS:
            raise ValueError(f"monitor {prefix}: headers {headers!r} is given, allowed are {', '.join(HEADERS)}")
        self.link = Link(dut, prefix, separator)
        self.name, self.depth, self.headers, self.cuts = prefix, depth, headers, cuts
        self._chunks = Chunks(depth, chunk)
        self.on_worm: list[Callable[[Worm], None]] = []
        self.restart()
        super().__init__(clock, reset, reset_active)

    def restart(self) -> None:
        """Forget all worms; the sender holds all credits."""
        self.worms: list[Worm] = []
        self.open: dict[int, list[Flit]] = {}
        self._cycles: dict[int, list[int]] = {}
        self.credits = [self._chunks.credits] * self.link.vcs
        self._chunks.restart()

    def sample(self) -> None:
        """Look at the flit and the credits of this cycle."""
        came, mask = self.link.read(), self.link.read_credit()
        returned = [vc for vc in range(self.link.vcs) if mask >> vc & 1] if mask else ()
        for vc in returned:
            self._check(self.credits[vc] < self._chunks.credits, vc, "a credit for a flit that was not sent")
        if came is not None:
            self._take(*came)
        for vc in returned:
            self.credits[vc] += 1

    def _take(self, vc: int, flit: Flit) -> bool:
        """Take a flit; whether its chunk ends with it."""
        self._check(vc < self.link.vcs, vc, f"a flit, but there are {self.link.vcs} virtual channels")
        if self._chunks.begins(vc):
            self._check(self.credits[vc] > 0, vc, "a flit without a credit")
            self.credits[vc] -= 1
        ends = self._chunks.take(vc, flit)
        flits = self.open.setdefault(vc, [])
        self._frame(vc, flits, flit)
        flits.append(flit)
        self._cycles.setdefault(vc, []).append(self.cycle)
        if flit.tail:
            worm = Worm(tuple(self.open.pop(vc)), vc, tuple(self._cycles.pop(vc)))
            self.worms.append(worm)
            for called in self.on_worm:
                called(worm)
        return ends

    def _frame(self, vc: int, flits: list[Flit], flit: Flit) -> None:
        """Check that a flit may follow those of its worm."""
        if flit.cuts:
            self._check(self.cuts and bool(flits), vc, "the end of a worm that was cut off" + (
                "" if flits else ", but no worm is there"))
        elif flit.head:
            self._check(self.headers != "none", vc, f"a header flit, {flit.data:#x}, where there are none")
            self._check(not flits or bool(flits[-1].head), vc,
                        f"a header flit, {flit.data:#x}, within the payload of another worm")
        else:
            self._check(bool(flits) or self.headers != "needed", vc, f"payload, {flit.data:#x}, before a header")

    def _check(self, holds: bool, vc: int, sentence: str) -> None:
        if not holds:
            raise ProtocolError(f"{self.name}, cycle {self.cycle}, virtual channel {vc}: {sentence}")
