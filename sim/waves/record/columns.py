"""Waveform variables whose values in all recorded cycles are known before the waveform is written."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from vcd import VCDWriter
from vcd.writer import Variable

__all__ = ["Columns"]

#: Function from a value to the number or text that the waveform shows for it; the text ``x`` shows an unknown value.
Shown = Callable[[int], int | str]


class Columns:
    """Declarations of waveform variables, and the lines of a VCD file for their changes in each cycle."""

    def __init__(self, writer: VCDWriter):
        self._writer = writer
        self._lines: list[Callable[[int], str]] = []
        self._cycles: list[npt.NDArray[np.int64]] = []
        self._values: list[npt.NDArray[np.int64]] = []

    def add(self, scope: tuple[str, ...], name: str, kind: str, bits: int, values: npt.NDArray[Any],
            shown: Shown = int) -> Variable[Any]:
        """Declare a variable with the value ``shown(values[c])`` in cycle c of the recording."""
        variable = self._writer.register_var(scope, name, kind, size=bits, init=shown(int(values[0])))
        changes = np.flatnonzero(values[1:] != values[:-1]) + 1
        self._cycles.append(changes)
        self._values.append(values[changes].astype(np.int64))
        self._lines.append(_line(variable, shown))
        return variable

    def alias(self, scope: tuple[str, ...], name: str, variable: Variable[Any]) -> None:
        """Declare a second name for a variable."""
        self._writer.register_alias(scope, name, variable)

    def finish(self) -> None:
        """Sort all changes by cycle. Call this method once, after the last `add`."""
        self._which = np.repeat(np.arange(len(self._cycles)), [len(cycles) for cycles in self._cycles])
        cycles, values = np.concatenate(self._cycles), np.concatenate(self._values)
        order = np.argsort(cycles, kind="stable")
        self._all_cycles, self._all_values, self._which = cycles[order], values[order], self._which[order]

    def lines(self, cycle: int) -> str:
        """Return the VCD lines of the variables that change in cycle ``cycle`` of the recording."""
        begin, end = np.searchsorted(self._all_cycles, (cycle, cycle + 1))
        return "".join([self._lines[which](value) for which, value in zip(
            self._which[begin:end].tolist(), self._all_values[begin:end].tolist(), strict=True)])


def _line(variable: Variable[Any], shown: Shown) -> Callable[[int], str]:
    known: dict[int, str] = {}

    def line(value: int) -> str:
        if value not in known:
            known[value] = f"{variable.format_value(shown(value), check=False)}\n"
        return known[value]

    return line
