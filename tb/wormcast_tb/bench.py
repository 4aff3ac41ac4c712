"""A bench: clock, reset, the links of a design with their drivers and sinks, and what is expected of it."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from .driver import LinkDriver
from .monitor import LinkMonitor
from .scoreboard import Scoreboard
from .sink import LinkSink

__all__ = ["TB"]


class TB:
    """Clock and reset of a design, and everybody on its links.

    Reset is on from the beginning; `reset` ends it.

    ::

        tb = TB(dut)
        east = tb.driver("east_in", depth=4)
        tb.sink("west_out", depth=4)
        await tb.reset()
        east.send(worm)
        tb.scoreboard.expect("west_out", worm)
        await tb.finish()

    Parameters
    ----------
    dut
        The handle of the top module.
    clock, reset : str
        Names of its ports.
    reset_active : int
        The value with which reset is on.
    period : float
        Of the clock, in ns.
    strict : bool
        As of `Scoreboard`.

    Attributes
    ----------
    drivers, sinks : dict
        `LinkDriver` and `LinkSink` by prefix.
    scoreboard : Scoreboard
        Takes the worms of all sinks.
    """

    def __init__(self, dut: Any, *, clock: str = "clk", reset: str = "rst", reset_active: int = 1, period: float = 10,
                 strict: bool = True):
        self.dut = dut
        self.log = logging.getLogger(f"cocotb.{dut._name}")
        self.clock, self.reset_signal, self.reset_active = getattr(dut, clock), getattr(dut, reset), reset_active
        self.drivers: dict[str, LinkDriver] = {}
        self.sinks: dict[str, LinkSink] = {}
        self.scoreboard = Scoreboard(strict=strict)
        self.reset_signal.value = reset_active
        self._was_reset = False
        Clock(self.clock, period, unit="ns").start()

    def driver(self, prefix: str, *, depth: int, **options: Any) -> LinkDriver:
        """Drive a link into the design."""
        self.drivers[prefix] = LinkDriver(self.dut, prefix, self.clock, depth=depth, **self._reset, **options)
        return self.drivers[prefix]

    def sink(self, prefix: str, *, depth: int, end: str | None = None, **options: Any) -> LinkSink:
        """Take what comes by a link out of the design, and hold it against the scoreboard.

        Several links can have one ``end``, where it does not matter by which of them a worm comes.
        """
        self.sinks[prefix] = LinkSink(self.dut, prefix, self.clock, depth=depth, **self._reset, **options)
        self.scoreboard.watch(self.sinks[prefix], end)
        return self.sinks[prefix]

    def monitor(self, prefix: str, *, depth: int, **options: Any) -> LinkMonitor:
        """Watch a link whose two ends are others'."""
        return LinkMonitor(self.dut, prefix, self.clock, depth=depth, **self._reset, **options)

    def wait_by(self, *, idle: Callable[[int], Iterator[bool]], pressure: Callable[[int], Iterator[bool]]) -> None:
        """Let all drivers be idle and all sinks hold back credits by patterns made from a seed each."""
        for seed, driver in enumerate(self.drivers.values()):
            driver.idle = idle(seed)
        for seed, sink in enumerate(self.sinks.values()):
            sink.pause = pressure(len(self.drivers) + seed)

    async def reset(self, cycles: int = 2) -> None:
        """Hold reset for so many cycles, and end it: cycle 0 begins, with nothing to send and nothing expected.

        Raises
        ------
        ValueError
            Something is to be sent or expected before the first reset, which would forget it.
        """
        if not self._was_reset and (self.scoreboard.missing or any(one.waiting for one in self.drivers.values())):
            raise ValueError("worms are sent or expected before the first reset, which would forget them; they must "
                             "come after it")
        self._was_reset = True
        self.reset_signal.value = self.reset_active
        self.scoreboard.restart()
        await self.cycles(cycles + 1)
        self.reset_signal.value = 1 - self.reset_active

    async def cycles(self, count: int) -> None:
        """Let so many cycles pass."""
        edge = RisingEdge(self.clock)
        for _ in range(count):
            await edge

    async def finish(self, limit: int = 10_000, quiet: int = 30) -> None:
        """Wait until all is sent, all that is expected has arrived, and all credits are back; look for more.

        Parameters
        ----------
        limit : int
            Cycles after which it must be so.
        quiet : int
            Cycles that are watched then; nothing may arrive in them.

        Raises
        ------
        AssertionError
            It is not so; the sentence says what waits where.
        """
        for _ in range(limit):
            if not self._unfinished():
                break
            await self.cycles(1)
        else:
            raise AssertionError(f"after {limit} cycles: {'; '.join(self._unfinished())}")
        await self.cycles(quiet)
        self.scoreboard.check()
        if left := self._unfinished():
            raise AssertionError(f"after all had arrived: {'; '.join(left)}")

    def _unfinished(self) -> list[str]:
        """What is not as it must be in the end, in words."""
        missing = self.scoreboard.missing
        ends = sorted({end for end, _ in missing})
        said = [f"{len(missing)} worms are missing at {', '.join(ends)}"] if missing else []
        for name, driver in self.drivers.items():
            if driver.waiting:
                said.append(f"{name} has {driver.waiting} flits to send and credits {driver.credits}")
            elif driver.credits != [driver.most] * driver.link.vcs:
                said.append(f"{name} has credits {driver.credits} of {driver.most}")
        for name, sink in self.sinks.items():
            said += [f"{name} has a worm without end on virtual channel {vc}" for vc in sink.open]
        return said

    @property
    def _reset(self) -> dict[str, Any]:
        return {"reset": self.reset_signal, "reset_active": self.reset_active}
