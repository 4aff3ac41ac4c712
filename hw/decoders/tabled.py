"""What is written into the memories of a decoder before the first cycle."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

__all__ = ["Rows"]


@dataclass(frozen=True)
class Rows:
    """What one memory of the members of a kind of switches holds.

    Parameters
    ----------
    path : tuple of str
        Submodules of a switch down to the memory.
    table : int
        Number by which the bus calls the table that it is a part of.
    first : int
        Address of its first row there.
    rows : int64 array, or object where a row has more than 63 bits, [members, rows]
    nowhere : int
        What a row holds that nobody has written.
    """

    path: tuple[str, ...]
    table: int
    first: int
    rows: npt.NDArray[Any]
    nowhere: int = 0
