"""Driver of a link: its sending end."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from cocotb.triggers import Event

from .flits import Flit
from .link import Agent, Chunks, Link, ProtocolError
from .waits import never

__all__ = ["LinkDriver"]


class LinkDriver(Agent):
    """Driver that sends flits on a link as the credits of each virtual channel allow.

    Worms of one virtual channel are sent one after the other. Virtual channels take turns flit by flit. A credit that
    is on the link in cycle c can be spent in cycle c + 1. The driver does not check that flits form worms: damaged
    worms are sent, too.

    Parameters
    ----------
    dut, prefix, separator
        As in `Link`.
    clock, reset, reset_active
        As in `Agent`.
    depth : int
        Flits of buffer at the receiving end for each virtual channel.
    chunk : int
        Flits for each credit. The first flit of each worm and of each further chunk spends one credit.

    Attributes
    ----------
    idle : iterator of bool
        True in each cycle in which the driver stays idle although it could send; see ``waits``.
    credits : list of int
        Credits by virtual channel. A credit beyond ``most`` raises `ProtocolError`. Credits for flits that `send`
        sent with ``unpaid`` are exempt.
    most : int
        Credits at reset: ``depth`` / ``chunk``.
    sent : int
        Flits sent since reset.
    arrived : int
        Number of reports of arrivals received since reset; 0 on links without reports.
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
        """Queue flits on a virtual channel.

        Parameters
        ----------
        flits : iterable of Flit
            One worm or several, complete or not.
        vc : int
            Virtual channel of the flits.
        at : int
            First cycle in which the first flit may be on the link.
        unpaid : bool
            Send the flits without credits: an error that the receiver must find if its buffer overflows.

        Raises
        ------
        ValueError
            The virtual channel does not exist, or a flit does not fit in the link. After this error, none of ``flits``
            is queued.
        """
        new = [Flit(*flit) for flit in flits]
        self.link.must_carry(vc, new)
        self._queues[vc].extend((at, flit, unpaid) for flit in new)
        if self.waiting:
            self._empty.clear()

    @property
    def waiting(self) -> int:
        """Number of queued flits."""
        return sum(map(len, self._queues))

    async def wait(self) -> None:
        """Wait until all flits are sent."""
        await self._empty.wait()

    def restart(self) -> None:
        """Empty the queues, restore all credits, send nothing."""
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
        """Receive credits and reports of arrivals."""
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
        """Send a flit of the next virtual channel that can send."""
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
