"""The sending end of a link."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from cocotb.triggers import Event

from .flits import Flit
from .link import Agent, Chunks, Link, ProtocolError
from .waits import never

__all__ = ["LinkDriver"]


class LinkDriver(Agent):
    """Sends flits on a link, as many on each virtual channel as there are credits.

    Worms of one virtual channel go one after the other; virtual channels take turns flit by flit. A credit that is on
    the link in cycle c can be spent in cycle c + 1. Nothing is asked of the flits: those of an error are sent alike.

    Parameters
    ----------
    dut, prefix, separator
        As of `Link`.
    clock, reset, reset_active
        As of `Agent`.
    depth : int
        Flits of buffer at the receiving end for each virtual channel.
    chunk : int
        Flits that a credit stands for: each worm's first one spends it, and that of each further chunk.

    Attributes
    ----------
    idle : iterator of bool
        Whether nothing is sent in a cycle in which something could be; see ``waits``.
    credits : list of int
        By virtual channel. A credit beyond ``most`` raises `ProtocolError`, but one for each flit sent unpaid.
    most : int
        Credits at reset: ``depth`` / ``chunk``.
    sent : int
        Flits sent since reset.
    arrived : int
        Reports of arrivals that came back since reset; on links without reports 0.
    """

    def __init__(self, dut: Any, prefix: str, clock: Any, *, depth: int, chunk: int = 1, reset: Any = None,
                 reset_active: int = 1, separator: str = "_"):
        self.link = Link(dut, prefix, separator)
        self.name, self.depth = prefix, depth
        self._chunks = Chunks(depth, chunk)
        self.most = self._chunks.credits
        self.idle: Iterator[bool] = never()
        self._queues: list[deque[tuple[int, Flit, bool]]] = [deque() for _ in range(self.link.vcs)]
        self._empty = Event()
        self.restart()
        super().__init__(clock, reset, reset_active)

    def send(self, flits: Iterable[tuple[int, int, int]], vc: int = 0, *, at: int = 0, unpaid: bool = False) -> None:
        """Queue flits, behind those that wait on the same virtual channel.

        Parameters
        ----------
        flits : iterable of Flit
            One worm or several, whole or not.
        vc : int
        at : int
            Cycle before which the first of them is not on the link.
        unpaid : bool
            Send them without credits: an error that the receiver must find where its buffer overflows.

        Raises
        ------
        ValueError
            There is no such virtual channel, or a flit does not fit in the link; none of them is queued.
        """
        new = [Flit(*flit) for flit in flits]
        self.link.must_carry(vc, new)
        self._queues[vc].extend((at, flit, unpaid) for flit in new)
        if self.waiting:
            self._empty.clear()

    @property
    def waiting(self) -> int:
        """Flits that are yet to be sent."""
        return sum(map(len, self._queues))

    async def wait(self) -> None:
        """Wait until all flits are sent."""
        await self._empty.wait()

    def restart(self) -> None:
        """Forget what waits, hold all credits, send nothing."""
        self.credits = [self.most] * self.link.vcs
        self._chunks.restart()
        self.sent = 0
        self.arrived = 0
        self._unpaid = [0] * self.link.vcs
        self._turn = self.link.vcs - 1
        for queue in self._queues:
            queue.clear()
        self._empty.set()
        self.link.write_nothing()
        self._driven = False

    def sample(self) -> None:
        """Take the credits and the reports that come back."""
        self.arrived += self.link.read_arrived().bit_count()
        mask = self.link.read_credit()
        for vc in range(self.link.vcs) if mask else ():
            if not mask >> vc & 1:
                continue
            if self.credits[vc] < self.most:
                self.credits[vc] += 1
            elif self._unpaid[vc]:
                self._unpaid[vc] -= 1
            else:
                raise ProtocolError(f"{self.name}, cycle {self.cycle}, virtual channel {vc}: a credit for a flit that "
                                    "was not sent")

    def drive(self) -> None:
        """Send a flit of the next virtual channel that can."""
        vcs = self.link.vcs
        for vc in ((self._turn + k) % vcs for k in range(1, vcs + 1)):
            queue = self._queues[vc]
            if queue and queue[0][0] <= self.cycle and (
                    self.credits[vc] or queue[0][2] or not self._chunks.begins(vc)):
                break
        else:
            self._rest()
            return
        if next(self.idle):
            self._rest()
            return
        _, flit, unpaid = queue.popleft()
        if self._chunks.begins(vc):
            if unpaid:
                self._unpaid[vc] += 1
            else:
                self.credits[vc] -= 1
        self._chunks.take(vc, flit)
        self._turn = vc
        self.sent += 1
        self.link.write(vc, flit)
        self._driven = True
        if not self.waiting:
            self._empty.set()

    def _rest(self) -> None:
        if self._driven:
            self.link.write_nothing()
            self._driven = False
