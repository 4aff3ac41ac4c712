"""A bit for each node."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..errors import WormcastError
from .base import HeaderByShape, count_destinations, or_bits

__all__ = ["BitString"]


@dataclass(frozen=True)
class BitString(HeaderByShape):
    """A mark, and a bit for each of N nodes, of a worm that is copied on its way ([Varavithya], [Sivaram98]).

    It is one string of N + 1 bits, cut into flits of W bits, the lowest first::

         N + 1 bits:  node N-1 ... node 1 | node 0 | mark

    A host sets the bits of the destinations. At a switch each copy keeps those of the nodes that its output reaches.
    Hosts send 0 as the mark. With tokens it says that the worm is a copy, and that the switch where it was made waits
    to hear of its arrival. In a network with up and down links it says that the worm has turned down: one that has not
    goes up as long as a switch does not lead down to all of its destinations ([Sivaram98] has the bit inverted).

    Parameters
    ----------
    shape : tuple of int
        Extents of the coordinates; node ids are row-major in it.
    flit_width : int
        W, bits of data in a flit.
    relations : int
        One.
    signed : tuple of int
        None.

    Raises
    ------
    WormcastError
        There are fewer than two nodes, or relations or signs are asked for.
    """

    shape: tuple[int, ...]
    flit_width: int
    relations: int = 1
    signed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.shape or min(self.shape) < 1 or max(self.shape) < 2:
            raise WormcastError(f"header: shape {self.shape} has fewer than two nodes, every extent must be from 1 and "
                                "one of them from 2")
        if self.relations != 1 or self.signed:
            raise WormcastError(f"header: {self.relations} relations and signs of dimensions {self.signed} are given, "
                                "a bit string has room for one relation and no sign")

    @classmethod
    def ideal_width(cls, shape: tuple[int, ...], destinations: int, relations: int = 1,
                    signed: tuple[int, ...] = ()) -> int:
        return cls(shape, 1, relations, signed).bits

    @property
    def bits(self) -> int:
        """N + 1, bits of the whole string."""
        return self.nodes + 1

    def flits(self, destinations: int = 1) -> int:
        """Count the header flits, which are as many for all worms."""
        return -(-self.bits // self.flit_width)

    def parts(self, destinations: Iterable[int]) -> list[str]:
        """Write the string without its mark: a bit for each node, node 0 first."""
        chosen = {*destinations}
        return ["".join("01"[node in chosen] for node in range(self.nodes))]

    def place(self, node: int) -> tuple[int, int]:
        """Header flit, and bit in it, of a node."""
        return divmod(node + 1, self.flit_width)

    def encode(self, destinations: Iterable[int]) -> list[int]:
        """Encode destinations as header flits.

        Raises
        ------
        WormcastError
            No destination, one twice, or one without a bit.
        """
        nodes = [int(node) for node in destinations]
        if not nodes or len(set(nodes)) < len(nodes):
            raise WormcastError(f"header: destinations {nodes} are given, a worm has from one, each once")
        self._check(min(nodes), max(nodes))
        string = sum(1 << node + 1 for node in nodes)
        return [string >> self.flit_width * flit & (1 << self.flit_width) - 1 for flit in range(self.flits())]

    def encode_batch(
        self,
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
        relation: int = 0,
        signs: npt.NDArray[np.int64] | None = None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        counts = count_destinations(destination_offsets)
        if destinations.size:
            self._check(int(destinations.min()), int(destinations.max()))
        flits = np.zeros((len(counts) * self.flits(), -(-self.flit_width // 64)), np.uint64)
        _fill(flits, destination_offsets, destinations, self.flits(), self.flit_width)
        return np.arange(len(counts) + 1) * self.flits(), flits

    def decode(self, flits: Iterable[int]) -> list[int]:
        """Decode header flits to destinations, ascending."""
        string = sum(flit << self.flit_width * place for place, flit in enumerate(flits)) >> 1
        return [node for node in range(self.nodes) if string >> node & 1]

    def _check(self, lowest: int, highest: int) -> None:
        if not 0 <= lowest <= highest < self.nodes:
            raise WormcastError(f"header: node {lowest if lowest < 0 else highest} has no bit, ids go from 0 to "
                                f"{self.nodes - 1}")


@compiled_from(LINEAR)
def _fill(flits, destination_offsets, destinations, each, flit_width):
    for worm in range(len(destination_offsets) - 1):
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            bit = np.int64(destinations[visit]) + 1
            or_bits(flits[worm * each + bit // flit_width], bit % flit_width, np.uint64(1))
