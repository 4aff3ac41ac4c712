"""The signals of a link, and who acts on them once a cycle."""

from collections.abc import Iterable
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from .flits import Flit

__all__ = ["Agent", "Chunks", "Link", "ProtocolError"]


class ProtocolError(AssertionError):
    """Somebody does on a link what its protocol forbids."""


class Link:
    """The signals of one link, found by the prefix of their names.

    Forward ``{prefix}_valid``, ``{prefix}_vc`` and ``{prefix}_flit``, backward ``{prefix}_credit``. A flit holds
    from bit 0 upwards the head mark, the tail mark and the data; its width gives that of the data. ``credit`` has a
    bit for each virtual channel, and gives their number; a link with one virtual channel has no ``vc``.

    Parameters
    ----------
    dut
        The handle of the module that has the signals.
    prefix : str
        For example ``east_in``.
    separator : str
        What stands between prefix and name, ``_`` in exported Verilog.

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
        # reports are there on links of hardware with tree worms alone
        self.arrived = getattr(dut, f"{prefix}{separator}arrived", None)
        self.vcs = len(self.credit)
        self.width = len(self.flit) - 2
        self.vc = signal("vc") if self.vcs > 1 else None
        if self.width < 1:
            raise ValueError(f"link {prefix}: a flit of {len(self.flit)} bits, it must have from 3 (head, tail, data)")

    def must_carry(self, vc: int, flits: Iterable[Flit] = ()) -> None:
        """Ask whether there is such a virtual channel, and whether flits fit in.

        Raises
        ------
        ValueError
            No; the sentence says what was given and what is allowed.
        """
        if vc not in range(self.vcs):
            raise ValueError(f"link {self.name}: virtual channel {vc} is given, "
                             f"allowed {'is 0' if self.vcs == 1 else f'are 0 to {self.vcs - 1}'}")
        for flit in flits:
            if flit.head not in (0, 1) or flit.tail not in (0, 1):
                raise ValueError(f"link {self.name}: a flit with marks {flit.head} and {flit.tail} is given, "
                                 "allowed are 0 and 1")
            if not 0 <= flit.data < 1 << self.width:
                raise ValueError(f"link {self.name}: a flit with data {flit.data:#x} is given, allowed are 0 to "
                                 f"{(1 << self.width) - 1:#x}, {self.width} bits")

    def read(self) -> tuple[int, Flit] | None:
        """Virtual channel and flit on the link now; None if there is none.

        Raises
        ------
        ProtocolError
            A bit of it is neither 0 nor 1.
        """
        if not self._number(self.valid):
            return None
        bits = self._number(self.flit)
        return (0 if self.vc is None else self._number(self.vc)), Flit(bits & 1, bits >> 1 & 1, bits >> 2)

    def read_credit(self) -> int:
        """Mask of the virtual channels that a credit comes back for now."""
        return self._number(self.credit)

    def read_arrived(self) -> int:
        """Mask of the virtual channels whose worm is reported to have arrived; 0 on links without reports."""
        return 0 if self.arrived is None else self._number(self.arrived)

    def write_arrived(self, mask: int) -> None:
        """Report the arrival of the worms on the virtual channels of a mask, where the link has reports."""
        if self.arrived is not None:
            self.arrived.value = mask

    def write(self, vc: int, flit: Flit) -> None:
        """Put a flit on the link."""
        self.valid.value = 1
        if self.vc is not None:
            self.vc.value = vc
        self.flit.value = flit.head | flit.tail << 1 | flit.data << 2

    def write_nothing(self) -> None:
        """Take the flit from the link."""
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
    """Which flits of a virtual channel are the first and the last of their chunk: a worm begins one, and its tail ends
    it.

    Parameters
    ----------
    depth : int
        Flits of buffer for each virtual channel.
    chunk : int
        Flits that a credit stands for.

    Attributes
    ----------
    credits : int
        Credits of a sender that has sent nothing.

    Raises
    ------
    ValueError
        The buffer does not hold whole chunks.
    """

    def __init__(self, depth: int, chunk: int):
        if chunk < 1 or depth % chunk:
            raise ValueError(f"chunk: {chunk} flits are given, of a buffer of {depth}; it must hold whole chunks")
        self.credits, self._chunk = depth // chunk, chunk
        self.restart()

    def restart(self) -> None:
        """Begin a chunk on each virtual channel."""
        self._places: dict[int, int] = {}

    def begins(self, vc: int) -> bool:
        """Whether the next flit is the first of a chunk: it takes a credit."""
        return self._places.get(vc, 0) == 0

    def take(self, vc: int, flit: Flit) -> bool:
        """Take the next flit; whether it is the last of its chunk."""
        place = self._places.get(vc, 0) + 1
        ends = bool(flit.tail) or place == self._chunk
        self._places[vc] = 0 if ends else place
        return ends


class Agent:
    """Acts on a link once a cycle: looks at it while all is quiet, and drives it as a register would.

    ::

        clock  ___/▔▔▔\\___/▔▔▔\\___
                  │   │
                  │   └ falling edge: everything of this cycle is on the links: `sample`
                  └ behind the rising edge: `drive`

    No bench depends on the order of agents or on the simulator's. In a cycle in which reset is on, `restart` takes the
    place of both; where a reset is given, nothing happens before it was on for the first time.

    Parameters
    ----------
    clock, reset
        Handles; ``reset`` may be None.
    reset_active : int
        The value with which reset is on.

    Attributes
    ----------
    cycle : int
        The cycle that runs, from 0: the first one without reset.
    """

    def __init__(self, clock: Any, reset: Any = None, reset_active: int = 1):
        self.cycle = 0
        self._clock, self._reset, self._reset_active = clock, reset, reset_active
        cocotb.start_soon(self._run())

    def restart(self) -> None:
        """Be as after reset."""

    def sample(self) -> None:
        """Look at the link."""

    def drive(self) -> None:
        """Drive the link for the cycle that has begun."""

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
