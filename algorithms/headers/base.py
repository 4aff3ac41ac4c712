"""What a header format is."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..compiled import compiled

__all__ = ["Header", "or_bits"]


class Header(ABC):
    """The bits a worm carries to find its destinations.

    It encodes on the host; the hardware decoder is built from the same object, and each is the other's oracle.

    Attributes
    ----------
    shape : tuple of int
        Extents of the coordinates; node ids are row-major in it.
    flit_width : int
        W, bits of data in a flit.
    relations : int
        Number of routing relations that it selects among.
    signed : tuple of int
        Dimensions in which it says which way around a ring is meant where both are as long.
    """

    shape: tuple[int, ...]
    flit_width: int
    relations: int
    signed: tuple[int, ...]

    @abstractmethod
    def __init__(self, shape: tuple[int, ...], flit_width: int, relations: int = 1,
                 signed: tuple[int, ...] = ()) -> None: ...

    @classmethod
    @abstractmethod
    def ideal_width(cls, shape: tuple[int, ...], destinations: int, relations: int = 1,
                    signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width that makes the header of so many destinations one flit (``--header ideal``)."""

    @property
    def nodes(self) -> int:
        """Number of nodes that have an address."""
        return int(np.prod(self.shape))

    @abstractmethod
    def flits(self, destinations: int) -> int:
        """Count the header flits for so many destinations."""

    @abstractmethod
    def encode_batch(
        self,
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
        relation: int = 0,
        signs: npt.NDArray[np.int64] | None = None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Encode the headers of many worms; their destinations as the fields of `Worms`, each once.

        Parameters
        ----------
        relation : int
            The routing relation of all of them.
        signs : int64 array [all destinations], optional
            Of each destination a bit for each dimension, set for downwards; by default none is.

        Returns
        -------
        flit_offsets : int64 array [worms + 1]
            Header of worm w is flits[flit_offsets[w]:flit_offsets[w + 1]].
        flits : uint64 array [all header flits, ceil(W / 64)]
            Data of each flit, bits 0 to 63 in column 0.

        Raises
        ------
        WormcastError
            A worm without destination, a destination without an address, or an unknown relation.
        """

    @abstractmethod
    def decode(self, flits: Iterable[int]) -> list[int]:
        """Decode header flits to destinations, in visiting order where there is one."""


@compiled
def or_bits(parts, bit, value):
    """Or a value of at most 64 bits into a flit of 64-bit parts, from this bit upwards (compiled)."""
    part, shift = bit // 64, bit % 64
    parts[part] |= value << np.uint64(shift)
    rest = value >> np.uint64(64 - shift) if shift else np.uint64(0)  # a shift by 64 is undefined
    if rest:
        parts[part + 1] |= rest
