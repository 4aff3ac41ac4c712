"""Bit-string header: one bit per node."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..errors import WormcastError
from ..phrases import count
from .base import HeaderByShape, or_bits, require_one_relation

__all__ = ["BitString"]


@dataclass(frozen=True)
class BitString(HeaderByShape):
    """Header with one bit for each of N nodes and a mark for worms that switches replicate ([Varavithya], [Sivaram98]).

    The string of N + 1 bits is cut into flits of W bits, the lowest bits first::

         N + 1 bits:  node N-1 | … | node 1 | node 0 | mark

    A host sets the bits of the destinations. At a switch the header of each branch keeps the bits of the nodes that its
    output reaches. Hosts send the mark bit as 0. With tokens, mark 1 means that the worm is a branch whose arrival is
    reported to the switch that replicated it. In a network with up and down links, mark 1 means that the worm has
    turned down. A worm with mark 0 goes up until links down lead from its switch to all of its destinations
    ([Sivaram98] has the bit inverted).

    In a network with several header formats, `MixedHeader`, the form is in the lowest bits, below the mark.

    Parameters
    ----------
    shape : tuple of int
        Extents of the coordinates. Node ids are row-major in `shape`.
    flit_width : int
        W, bits of data in a flit.
    relations : int
        One.
    signed : tuple of int
        Empty: bit strings have no signs.
    form, form_bits : int
        Form (number of this format among several in a network), and number of bits of the form. Default: no bits.

    Raises
    ------
    WormcastError
        There are fewer than two nodes, several relations or signs are requested, or form and mark do not fit into a
        flit.
    """

    shape: tuple[int, ...]
    flit_width: int
    relations: int = 1
    signed: tuple[int, ...] = ()
    form: int = 0
    form_bits: int = 0

    node_has = "bit"
    decoder = "wormcast.hw.decoders.bit_string"
    contents = "bit strings"
    router = "tree"

    def __post_init__(self) -> None:
        if not self.shape or min(self.shape) < 1 or max(self.shape) < 2:
            raise WormcastError(f"header: shape {self.shape} is not valid: it has fewer than two nodes. Allowed: "
                                "extents from 1, at least one of them from 2.")
        require_one_relation(self, "a bit string")
        if self.form_bits and self.flit_width <= self.form_bits:
            raise WormcastError(f"flit_width: {self.flit_width} is not valid: it cannot hold a header's form "
                                f"({count(self.form_bits, 'bit')}) and mark. Allowed: {self.form_bits + 1} or more.")

    @classmethod
    def ideal_width(cls, shape: tuple[int, ...], destinations: int, relations: int = 1,
                    signed: tuple[int, ...] = ()) -> int:
        return cls(shape, 1, relations, signed).bits

    @property
    def bits(self) -> int:
        """Bits of the whole header: a bit for each node, the mark bit, and the form."""
        return self.nodes + 1 + self.form_bits

    def flits(self, destinations: int = 1) -> int:
        """Count the header flits, the same number for all worms."""
        return -(-self.bits // self.flit_width)

    def parts(self, destinations: Iterable[int]) -> list[str]:
        """Return the header as text: 0 or 1 for each node, node 0 first. The mark (the lowest bit) is left out."""
        chosen = {*destinations}
        return ["".join("01"[node in chosen] for node in range(self.nodes))]

    def place(self, node: int) -> tuple[int, int]:
        """Return the number of the header flit with a node's bit, and the number of the bit in the flit."""
        return divmod(self.form_bits + 1 + node, self.flit_width)

    def encode(self, destinations: Iterable[int]) -> list[int]:
        """Encode destinations as header flits.

        Raises
        ------
        WormcastError
            There is no destination, a destination occurs twice, or a node has no bit.
        """
        nodes = [int(node) for node in destinations]
        if not nodes or len(set(nodes)) < len(nodes):
            raise WormcastError(f"header: destinations {nodes} are not valid. Allowed: one or more destinations, each "
                                "once.")
        self.require_nodes(np.array(nodes))
        string = self.form | sum(1 << self.form_bits + 1 + node for node in nodes)
        return [string >> self.flit_width * flit & (1 << self.flit_width) - 1 for flit in range(self.flits())]

    def _encode_batch(self, destination_offsets, destinations, relation, signs):
        worms = len(destination_offsets) - 1
        flits = np.zeros((worms * self.flits(), -(-self.flit_width // 64)), np.uint64)
        _fill(flits, destination_offsets, destinations, self.flits(), self.flit_width, self.form, self.form_bits)
        return np.arange(worms + 1) * self.flits(), flits

    def fields(self, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
        """Yield the fields of the first flit: lowest bit, highest bit, meaning."""
        first = ("the worm is on its way down, and never goes up again" if up_and_down else
                 "the worm is a copy, and its arrival must be reported")
        top = min(self.bits, self.flit_width) - 1
        mark = self.form_bits
        yield mark, mark, f"1: {first}; hosts send 0"
        behind = "" if self.flits() == 1 else (
            f"; the other bits are in {count(self.flits() - 1, 'more header flit')}, from bit 0 on")
        if top > mark:
            yield mark + 1, top, f"a bit for each node from 0 on, 1 if it is a destination{behind}"
        if top < self.flit_width - 1:
            yield top + 1, self.flit_width - 1, "unused, 0"

    def decode(self, flits: Iterable[int]) -> list[int]:
        """Decode header flits to destinations, ascending."""
        string = sum(flit << self.flit_width * place for place, flit in enumerate(flits)) >> self.form_bits + 1
        return [node for node in range(self.nodes) if string >> node & 1]


@compiled_from(LINEAR)
def _fill(flits, destination_offsets, destinations, each, flit_width, form, form_bits):
    for worm in range(len(destination_offsets) - 1):
        flits[worm * each, 0] |= np.uint64(form)
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            bit = form_bits + 1 + np.int64(destinations[visit])
            or_bits(flits[worm * each + bit // flit_width], bit % flit_width, np.uint64(1))
