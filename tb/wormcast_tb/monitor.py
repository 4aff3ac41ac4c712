"""Monitor of a link: it collects worms and checks the protocol."""

from collections.abc import Callable
from typing import Any

from .flits import Flit, Worm
from .link import Agent, Chunks, Link, ProtocolError

__all__ = ["HEADERS", "LinkMonitor"]

HEADERS = ("needed", "allowed", "none")


class LinkMonitor(Agent):
    """Monitor that observes a link, collects its worms, and raises `ProtocolError` for a breach of the rules below.

    - A flit must be on a virtual channel that exists, and spend a credit: a credit returned in an earlier cycle, or one
      of the credits at reset. With chunks, the first flit of each worm and of each further chunk spends one credit.
    - A credit may only be returned for a flit that is on the link, in this cycle or an earlier one.
    - On each virtual channel worms must follow one another: header flits, payload flits, the tail mark on the last one.
      A header flit may not come between the payload flits of a worm.

    Parameters
    ----------
    dut, prefix, separator
        As in `Link`.
    clock, reset, reset_active
        As in `Agent`.
    depth : int
        Flits of buffer at the receiving end for each virtual channel.
    chunk : int
        Flits for each credit.
    headers : "needed", "allowed" or "none"
        Header flits at the beginning of worms. Use ``headers="allowed"`` for a consumption link, whose worms may have
        header flits or none. Use ``headers="none"`` for a link from an interface to its host, whose worms have no
        header flits.
    cuts : bool
        Collect worms that an error has cut off. If ``cuts`` is false, cut-off worms violate the protocol.

    Attributes
    ----------
    worms : list of Worm
        Complete worms, in the order of their last flits.
    open : dict of int to list of Flit
        Flits of the incomplete worm on each virtual channel.
    on_worm : list of callable
        Called with each worm when it is complete.
    credits : list of int
        Credits that the sender holds, by virtual channel.
    """

    def __init__(self, dut: Any, prefix: str, clock: Any, *, depth: int, chunk: int = 1, reset: Any = None,
                 reset_active: int = 1, separator: str = "_", headers: str = "needed", cuts: bool = False):
        if headers not in HEADERS:
            raise ValueError(f"monitor {prefix}: headers {headers!r} is not valid. Allowed: {', '.join(HEADERS)}.")
        self.link = Link(dut, prefix, separator)
        self.name, self.depth, self.headers, self.cuts = prefix, depth, headers, cuts
        self._chunks = Chunks(depth, chunk)
        self.on_worm: list[Callable[[Worm], None]] = []
        self.restart()
        super().__init__(clock, reset, reset_active)

    def restart(self) -> None:
        """Discard all worms, and count all credits as held by the sender."""
        self.worms: list[Worm] = []
        self.open: dict[int, list[Flit]] = {}
        self._cycles: dict[int, list[int]] = {}
        self.credits = [self._chunks.credits] * self.link.vcs
        self._chunks.restart()

    def sample(self) -> None:
        """Check the flit and the credits of this cycle."""
        came, mask = self.link.read(), self.link.read_credit()
        if came is not None:
            self._take(*came)
        for vc in range(self.link.vcs) if mask else ():
            if mask >> vc & 1:
                self._check(self.credits[vc] < self._chunks.credits, vc, "a credit for a flit that was not sent")
                self.credits[vc] += 1

    def _take(self, vc: int, flit: Flit) -> bool:
        """Check and collect a flit, and return whether the flit ends its chunk."""
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
        """Check that a flit may follow the earlier flits of its worm."""
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
