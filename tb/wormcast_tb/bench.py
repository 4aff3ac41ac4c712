"""Bench: clock, reset, drivers and sinks of a design's links, and the expected worms."""

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
    """Clock and reset of a design, and the agents on its links.

    Reset is active from the beginning; the method `reset` ends it.

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
        Names of the module's clock and reset ports.
    reset_active : int
        Active level of reset, 0 or 1.
    period : float
        Period of the clock, in ns.
    strict : bool
        Raise AssertionError at once for an unexpected worm; see `Scoreboard`.

    Attributes
    ----------
    drivers, sinks : dict
        `LinkDriver` and `LinkSink` by prefix.
    scoreboard : Scoreboard
        Checks the worms of all sinks.
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
        """Add a driver for a link whose receiving end is in the design."""
        self.drivers[prefix] = LinkDriver(self.dut, prefix, self.clock, depth=depth, **self._reset, **options)
        return self.drivers[prefix]

    def sink(self, prefix: str, *, depth: int, end: str | None = None, **options: Any) -> LinkSink:
        """Add a sink for a link whose sending end is in the design.

        The scoreboard checks the worms that the sink receives.
        ``end`` is the name under which the scoreboard expects worms at this sink, by default ``prefix``. Several sinks
        can have the same ``end`` if a worm may arrive at any of them.
        """
        self.sinks[prefix] = LinkSink(self.dut, prefix, self.clock, depth=depth, **self._reset, **options)
        self.scoreboard.watch(self.sinks[prefix], end)
        return self.sinks[prefix]

    def monitor(self, prefix: str, *, depth: int, **options: Any) -> LinkMonitor:
        """Add a monitor of a link that the bench does not drive."""
        return LinkMonitor(self.dut, prefix, self.clock, depth=depth, **self._reset, **options)

    def wait_by(self, *, idle: Callable[[int], Iterator[bool]], pressure: Callable[[int], Iterator[bool]]) -> None:
        """Set the patterns of idling of all drivers and of back-pressure of all sinks, each with its own seed."""
        for seed, driver in enumerate(self.drivers.values()):
            driver.idle = idle(seed)
        for seed, sink in enumerate(self.sinks.values()):
            sink.pause = pressure(len(self.drivers) + seed)

    async def reset(self, cycles: int = 2) -> None:
        """Hold reset for at least `cycles` cycles, then release it.

        Cycle 0 begins with empty queues and no expected worms.

        Raises
        ------
        ValueError
            Worms were sent or expected before the first reset, which would discard them.
        """
        if not self._was_reset and (self.scoreboard.missing or any(one.waiting for one in self.drivers.values())):
            raise ValueError("reset: worms were sent or expected before the first reset, which discards them")
        self._was_reset = True
        self.reset_signal.value = self.reset_active
        self.scoreboard.restart()
        await self.cycles(cycles + 1)
        self.reset_signal.value = 1 - self.reset_active

    async def cycles(self, count: int) -> None:
        """Wait for `count` cycles."""
        edge = RisingEdge(self.clock)
        for _ in range(count):
            await edge

    async def finish(self, limit: int = 10_000, quiet: int = 30) -> None:
        """Wait until all worms are sent, all expected worms have arrived, and all credits are back.

        After the wait, check for ``quiet`` cycles that no further worm arrives.

        Parameters
        ----------
        limit : int
            Most cycles to wait.
        quiet : int
            Number of cycles after the wait in which no worm may arrive.

        Raises
        ------
        AssertionError
            The limit is reached, or a worm arrives in the ``quiet`` cycles. At the limit, the error message has the
            number of missing worms and their sinks, each unfinished driver's unsent flits and credits, and each sink
            with a worm without tail.
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
            raise AssertionError(f"all expected worms have arrived, but the bench is not finished: {'; '.join(left)}")

    def _unfinished(self) -> list[str]:
        """Return the missing worms, unsent flits, missing credits and incomplete worms, in words."""
        missing = self.scoreboard.missing
        ends = sorted({end for end, _ in missing})
        found = [f"{len(missing)} worms are missing at {', '.join(ends)}"] if missing else []
        for name, driver in self.drivers.items():
            if driver.waiting:
                found.append(f"{name} has {driver.waiting} flits to send and credits {driver.credits}")
            elif driver.credits != [driver.most] * driver.link.vcs:
                found.append(f"{name} has credits {driver.credits} of {driver.most}")
        for name, sink in self.sinks.items():
            found += [f"{name} has a worm without tail on virtual channel {vc}" for vc in sink.open]
        return found

    @property
    def _reset(self) -> dict[str, Any]:
        return {"reset": self.reset_signal, "reset_active": self.reset_active}
