"""Signals of a link, and the base class of agents that act on them once per cycle."""

from collections.abc import Iterable
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from .flits import Flit

__all__ = ["Agent", "Chunks", "Link", "ProtocolError"]


class ProtocolError(AssertionError):
    """Violation of a link's protocol."""


class Link:
    """Signals of one link, found by the prefix of their names.

    Forward signals are ``{prefix}_valid``, ``{prefix}_vc`` and ``{prefix}_flit``. The backward signals are
    ``{prefix}_credit`` and, on links with reports, ``{prefix}_arrived``. In ``flit``, bit 0 is the head mark and bit 1
    the tail mark; all further bits are data. The width of ``credit`` is the number of virtual channels. A link with one
    virtual channel has no ``vc``.

    Parameters
    ----------
    dut
        The handle of the module that has the signals.
    prefix : str
        For example ``east_in``.
    separator : str
        Text between prefix and name. Exported Verilog has ``_``.

    Raises
    ------
    ValueError
        A signal is missing, or the flit has no data.
    """

    def __init__(self, dut: Any, prefix: str, separator: str = "_"):
        self.name = prefix

        def signal(name: str) -> Any:
            full = f"{prefix}{separator}{name}"
            try:
                return getattr(dut, full)
            except AttributeError:
                raise ValueError(f"link {prefix}: {dut._name} has no signal {full}") from None

        self.valid, self.flit, self.credit = signal("valid"), signal("flit"), signal("credit")
        # only hardware with tree worms has reports
        self.arrived = getattr(dut, f"{prefix}{separator}arrived", None)
        self.vcs = len(self.credit)
        self.width = len(self.flit) - 2
        self.vc = signal("vc") if self.vcs > 1 else None
        if self.width < 1:
            raise ValueError(f"link {prefix}: a flit of {len(self.flit)} bits is not valid. Allowed: at least 3 (head, "
                             "tail, data).")

    def must_carry(self, vc: int, flits: Iterable[Flit] = ()) -> None:
        """Refuse a virtual channel that the link does not have, and flits that do not fit in the link."""
        if vc not in range(self.vcs):
            raise ValueError(f"link {self.name}: virtual channel {vc} is not valid. "
                             f"Allowed: {'0' if self.vcs == 1 else f'0 to {self.vcs - 1}'}.")
        for flit in flits:
            if flit.head not in (0, 1) or flit.tail not in (0, 1):
                raise ValueError(f"link {self.name}: a flit with head mark {flit.head} and tail mark {flit.tail} is "
                                 "not valid. Allowed for each mark: 0, 1.")
            if not 0 <= flit.data < 1 << self.width:
                raise ValueError(f"link {self.name}: a flit with data {flit.data:#x} is not valid. Allowed: 0 to "
                                 f"{(1 << self.width) - 1:#x}, {self.width} bits.")

    def read(self) -> tuple[int, Flit] | None:
        """Return virtual channel and flit on the link in this cycle, or None if there is no flit.

        Raises
        ------
        ProtocolError
            A bit of a signal is neither 0 nor 1.
        """
        if not self._number(self.valid):
            return None
        bits = self._number(self.flit)
        return (0 if self.vc is None else self._number(self.vc)), Flit(bits & 1, bits >> 1 & 1, bits >> 2)

    def read_credit(self) -> int:
        """Return the mask of the virtual channels that get a credit in this cycle."""
        return self._number(self.credit)

    def read_arrived(self) -> int:
        """Return the mask of the virtual channels whose worm is reported as arrived; 0 on links without reports."""
        return 0 if self.arrived is None else self._number(self.arrived)

    def write_arrived(self, mask: int) -> None:
        """Report the arrival of the worms on the virtual channels of a mask, if the link has reports."""
        if self.arrived is not None:
            self.arrived.value = mask

    def write(self, vc: int, flit: Flit) -> None:
        """Drive a flit onto the link."""
        self.valid.value = 1
        if self.vc is not None:
            self.vc.value = vc
        self.flit.value = flit.head | flit.tail << 1 | flit.data << 2

    def write_nothing(self) -> None:
        """Remove the flit from the link."""
        self.valid.value = 0

    def write_credit(self, mask: int) -> None:
        """Give a credit to each virtual channel of a mask."""
        self.credit.value = mask

    def _number(self, signal: Any) -> int:
        value = signal.value
        if not value.is_resolvable:
            raise ProtocolError(f"{self.name}: {signal._name} is {value}")
        return int(value)


class Chunks:
    """Chunk boundaries of each virtual channel. A worm begins a new chunk, and its tail ends the current chunk.

    Parameters
    ----------
    depth : int
        Flits of buffer for each virtual channel.
    chunk : int
        Flits for each credit.

    Attributes
    ----------
    credits : int
        Credits of a sender at reset.
    """

    def __init__(self, depth: int, chunk: int):
        if chunk < 1 or depth % chunk:
            raise ValueError(f"chunk: {chunk} is not valid. Allowed: divisors of {depth}, the buffer's depth in flits.")
        self.credits, self._chunk = depth // chunk, chunk
        self.restart()

    def restart(self) -> None:
        """Let the next flit of each virtual channel begin a chunk."""
        self._places: dict[int, int] = {}

    def begins(self, vc: int) -> bool:
        """Return whether the next flit of a virtual channel is the first of a chunk, and so spends a credit."""
        return self._places.get(vc, 0) == 0

    def take(self, vc: int, flit: Flit) -> bool:
        """Count the next flit of a virtual channel, and return whether it is the last of its chunk."""
        place = self._places.get(vc, 0) + 1
        ends = bool(flit.tail) or place == self._chunk
        self._places[vc] = 0 if ends else place
        return ends


class Agent:
    """Agent that samples a link and drives it once per cycle, as a register would.

    ::

        clock  ___/▔▔▔\\___/▔▔▔\\___
                  │   │
                  │   └ falling edge: all signals of this cycle are stable: `sample`
                  └ after the rising edge: `drive`

    Results do not depend on the order of agents or on the simulator. In a cycle with active reset, `restart` is called
    instead of `sample` and `drive`. With a reset signal, an agent does nothing before the first reset.

    Parameters
    ----------
    clock, reset
        Handles; ``reset`` may be None.
    reset_active : int
        Active level of reset, 0 or 1.

    Attributes
    ----------
    cycle : int
        Number of the current cycle. Cycle 0 is the first one after reset.
    """

    def __init__(self, clock: Any, reset: Any = None, reset_active: int = 1):
        self.cycle = 0
        self._clock, self._reset, self._reset_active = clock, reset, reset_active
        cocotb.start_soon(self._run())

    def restart(self) -> None:
        """Return to the state after reset."""

    def sample(self) -> None:
        """Read the signals of the link."""

    def drive(self) -> None:
        """Drive the signals of the link for the cycle that has begun."""

    async def _run(self) -> None:
        falling, rising = FallingEdge(self._clock), RisingEdge(self._clock)
        was_reset = self._reset is None
        while True:
            await falling
            on = self._reset is not None and self._reset.value == self._reset_active
            was_reset |= on
            if on:
                self.cycle = 0
                self.restart()
            elif was_reset:
                self.sample()
            await rising
            if was_reset and not on:
                self.cycle += 1
                self.drive()
