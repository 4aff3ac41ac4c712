"""What a header format is."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..errors import WormcastError
from ..topologies.base import Topology

__all__ = ["Header", "HeaderByShape", "count_destinations", "or_bits", "require_nodes"]


class Header(ABC):
    """The bits a worm carries to find its destinations.

    It encodes on the host; the hardware decoder is built from the same object, and each is the other's oracle.

    Attributes
    ----------
    flit_width : int
        W, bits of data in a flit.
    relations : int
        Number of routing relations that it selects among.
    signed : tuple of int
        Dimensions in which it says which way around a ring is meant where both are as long.
    """

    flit_width: int
    relations: int
    signed: tuple[int, ...]

    @classmethod
    @abstractmethod
    def on(cls, topology: Topology, flit_width: int, relations: int = 1, signed: tuple[int, ...] = ()) -> "Header":
        """Give the format for a network.

        Raises
        ------
        WormcastError
            It has no room for what it is to hold.
        """

    @classmethod
    @abstractmethod
    def ideal_width_on(cls, topology: Topology, destinations: int, relations: int = 1,
                       signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width that makes the header of so many destinations one flit (``--header ideal``).

        Of a header in several parts that switches take off one by one, it is each part.
        """

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Number of nodes that can be destinations."""

    @abstractmethod
    def flits(self, destinations: int) -> int:
        """Count the header flits of a worm to so many destinations: the most that it may have, wherever they are."""

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

    def parts(self, destinations: Iterable[int]) -> list[str]:
        """Write what a header says of destinations, part by part: here each node, in visiting order."""
        return [str(node) for node in destinations]

    @abstractmethod
    def decode(self, flits: Iterable[int]) -> list[int]:
        """Decode header flits to destinations, in visiting order where there is one."""


class HeaderByShape(Header):
    """A header that follows from the extents of the coordinates alone.

    Attributes
    ----------
    shape : tuple of int
        Extents of the coordinates; node ids are row-major in it.
    """

    shape: tuple[int, ...]

    @abstractmethod
    def __init__(self, shape: tuple[int, ...], flit_width: int, relations: int = 1,
                 signed: tuple[int, ...] = ()) -> None: ...

    @classmethod
    @abstractmethod
    def ideal_width(cls, shape: tuple[int, ...], destinations: int, relations: int = 1,
                    signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width that makes the header of so many destinations one flit."""

    @classmethod
    def on(cls, topology: Topology, flit_width: int, relations: int = 1,
           signed: tuple[int, ...] = ()) -> "HeaderByShape":
        """Give the format for a network, of its shape."""
        return cls(topology.shape, flit_width, relations, signed)

    @classmethod
    def ideal_width_on(cls, topology: Topology, destinations: int, relations: int = 1,
                       signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width that makes the header of so many destinations one flit, on a network's shape."""
        return cls.ideal_width(topology.shape, destinations, relations, signed)

    @property
    def nodes(self) -> int:
        """Number of nodes that have an address."""
        return int(np.prod(self.shape))


def count_destinations(destination_offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count the destinations of each worm, int64 [worms]; refuses a worm without one."""
    counts = np.diff(destination_offsets)
    if counts.size and counts.min() < 1:
        raise WormcastError(f"header: worm {counts.argmin()} has no destination, a worm has from one")
    return counts


def require_nodes(destinations: npt.NDArray[np.int32], nodes: int, lacks: str) -> None:
    """Refuse destinations that are none of so many nodes: what those lack in the header."""
    if destinations.size and not 0 <= destinations.min() <= destinations.max() < nodes:
        outside = destinations[(destinations < 0) | (destinations >= nodes)][0]
        raise WormcastError(f"header: node {outside} has no {lacks}, ids go from 0 to {nodes - 1}")


@compiled_from(LINEAR)
def or_bits(parts, bit, value):
    """Or a value of at most 64 bits into a flit of 64-bit parts, from this bit upwards (compiled)."""
    part, shift = bit // 64, bit % 64
    parts[part] |= value << np.uint64(shift)
    rest = value >> np.uint64(64 - shift) if shift else np.uint64(0)  # a shift by 64 is undefined
    if rest:
        parts[part + 1] |= rest
