"""Address-list and unicast headers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..errors import WormcastError
from ..phrases import count
from .base import HeaderByShape, or_bits

__all__ = ["AddressList", "Unicast", "axis"]


def axis(dimensions: int, d: int) -> str:
    """Return the number of dimension ``d`` as text; with two ``dimensions``, its name is added: ``0 (row)``."""
    return f"{d} ({('row', 'column')[d]})" if dimensions == 2 else str(d)


@dataclass(frozen=True)
class AddressList(HeaderByShape):
    """Addresses of destinations in visiting order, several per flit ([Boppana98]: dual-path and similar schemes).

    A flit of W bits, with S selector bits, A address bits and C = floor((W - S - 1) / A) slots::

        W-1      W-S                        C*A          2*A       A         0
        | selector | last | zero …           | slot C-1 …   | slot 1 | slot 0 |

    An address is the concatenated coordinates, the first in the most significant place, each in ceil(log2(extent)) bits
    (none for an extent of 1). Above the coordinates, in the same order, an address has one bit for each dimension with
    a sign. The sign decides between the two ways around a ring where both have the same length: 1 is down (-), 0 is up
    (+). Destinations fill the slots from 0 upwards, flit after flit. Free slots of the last flit repeat the flit's last
    address. A router that strips its own address from slot 0 shifts the slots down by one and keeps the top slot. So
    the next destination is always in slot 0. A flit is used up when slot 1 equals slot 0, or when there is only one
    slot; then the router drops the flit. ``last`` marks the last flit of the list: the destination whose router drops
    this flit is the worm's last destination.

    Parameters
    ----------
    shape : tuple of int
        Extents of the coordinates. Node ids are row-major in `shape`.
    flit_width : int
        W, bits of data in a flit.
    relations : int
        Number of routing relations that the routers implement. With two or more relations, the top S =
        ceil(log2(relations)) bits of each header flit select the relation.
    signed : tuple of int
        Dimensions with a sign, ascending. Signed dimensions have even extents: only rings of even length have two ways
        of the same length.

    Raises
    ------
    WormcastError
        The shape has fewer than two nodes, `relations` is below 1, a dimension in `signed` cannot have a sign, or a
        flit cannot hold one address.
    """

    shape: tuple[int, ...]
    flit_width: int
    relations: int = 1
    signed: tuple[int, ...] = ()

    decoder = "wormcast.hw.decoders.addresses"
    contents = "lists of addresses"
    buffers: ClassVar[tuple[str, ...]] = ("shallow",)

    def __post_init__(self) -> None:
        if not self.shape or min(self.shape) < 1 or max(self.shape) < 2:
            raise WormcastError(
                f"header: shape {self.shape} is not valid: it has fewer than two nodes. Allowed: extents from 1, at "
                "least one of them from 2."
            )
        if self.relations < 1:
            raise WormcastError(f"header: relations: {self.relations} is not valid. Allowed: 1 or more.")
        even = tuple(d for d, extent in enumerate(self.shape) if extent % 2 == 0)
        if tuple(d for d in even if d in self.signed) != self.signed:
            raise WormcastError(f"header: signs of dimensions {self.signed} are not valid. Allowed: () or some of "
                                f"{even}, the dimensions with an even extent, ascending.")
        least = self.selector_bits + self.last_bits + self.address_bits
        if self.flit_width < least:
            parts = [(self.coordinate_bits, "an address"), (len(self.signed), "its signs"),
                     (self.last_bits, "the mark of the last flit"), (self.selector_bits, "the relation")]
            needed = ", ".join(f"{bits} for {what}" for bits, what in parts if bits)
            raise WormcastError(
                f"flit_width: {self.flit_width} is not valid: it cannot hold all bits of a header ({needed}). Allowed: "
                f"{least} or more."
            )

    @property
    def field_bits(self) -> tuple[int, ...]:
        """Bits of each coordinate."""
        return tuple((extent - 1).bit_length() for extent in self.shape)

    @property
    def coordinate_bits(self) -> int:
        """Bits of an address without its signs."""
        return sum(self.field_bits)

    @property
    def address_bits(self) -> int:
        """A, the number of bits of an address."""
        return self.coordinate_bits + len(self.signed)

    @property
    def selector_bits(self) -> int:
        """S, bits of the relation selector at the top of each flit."""
        return (self.relations - 1).bit_length()

    @property
    def last_bits(self) -> int:
        """Number of bits below the selector that mark the last flit of a list: 1."""
        return 1

    @property
    def capacity(self) -> int:
        """C, addresses in a flit."""
        return (self.flit_width - self.selector_bits - self.last_bits) // self.address_bits

    @classmethod
    def ideal_width(cls, shape: tuple[int, ...], destinations: int, relations: int = 1,
                    signed: tuple[int, ...] = ()) -> int:
        if destinations < 1:
            raise WormcastError(f"header: {destinations} destinations are not valid. Allowed: 1 or more.")
        address = len(signed) + sum((extent - 1).bit_length() for extent in shape)
        width = (relations - 1).bit_length() + 1 + destinations * address
        return AddressList(shape, width, relations, signed).flit_width  # refuses a bad shape

    def flits(self, destinations: int) -> int:
        """Count the header flits for this number of destinations."""
        return -(-destinations // self.capacity)

    def address(self, node: int, signs: int = 0) -> int:
        """Pack the coordinates and signs of a node. In ``signs`` bit d is the sign of dimension d; other bits are
        ignored."""
        if not 0 <= node < self.nodes:
            raise WormcastError(f"header: node {node} has no address. Allowed: 0 to {self.nodes - 1}.")
        address = shift = 0
        for extent, bits in zip(reversed(self.shape), reversed(self.field_bits), strict=True):
            node, coordinate = divmod(node, extent)
            address |= coordinate << shift
            shift += bits
        for dimension in reversed(self.signed):
            address |= (signs >> dimension & 1) << shift
            shift += 1
        return address

    def signs(self, address: int) -> int:
        """Unpack the signs of an address: bit d for dimension d."""
        packed = address >> self.coordinate_bits
        return sum((packed >> k & 1) << dimension for k, dimension in enumerate(reversed(self.signed)))

    def node(self, address: int) -> int:
        """Unpack the node of an address. A coordinate outside the shape is refused."""
        node, shift = 0, self.coordinate_bits
        for extent, bits in zip(self.shape, self.field_bits, strict=True):
            shift -= bits
            coordinate = address >> shift & ((1 << bits) - 1)
            if coordinate >= extent:
                raise WormcastError(
                    f"header: address {address:#x} has coordinate {coordinate}. Allowed: 0 to {extent - 1}."
                )
            node = node * extent + coordinate
        return node

    def encode(self, destinations: Iterable[int], relation: int = 0, signs: Iterable[int] | None = None) -> list[int]:
        """Encode destinations in visiting order as header flits.

        Parameters
        ----------
        signs : iterable of int, optional
            Signs of each destination, as for `address`. Default: none set.
        """
        self.require_relation(relation)
        nodes = [int(node) for node in destinations]
        if not nodes:
            raise WormcastError("header: destinations are missing. Needed: 1 or more.")
        if len(set(nodes)) < len(nodes):
            raise WormcastError(f"header: {nodes} is not valid: a destination occurs twice. Allowed: once.")
        said = [0] * len(nodes) if signs is None else map(int, signs)
        addresses = [self.address(node, one) for node, one in zip(nodes, said, strict=True)]
        last_bit = self.flit_width - self.selector_bits - 1
        flits = []
        for first in range(0, len(addresses), self.capacity):
            slots = addresses[first : first + self.capacity]
            slots += slots[-1:] * (self.capacity - len(slots))
            flit = relation << (self.flit_width - self.selector_bits)
            for slot, address in enumerate(slots):
                flit |= address << (slot * self.address_bits)
            if self.last_bits and first + self.capacity >= len(addresses):
                flit |= 1 << last_bit
            flits.append(flit)
        return flits

    def _encode_batch(self, destination_offsets, destinations, relation, signs):
        counts = np.diff(destination_offsets)
        flit_offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(-(-counts // self.capacity), out=flit_offsets[1:])
        flits = np.zeros((flit_offsets[-1], -(-self.flit_width // 64)), np.uint64)
        said = np.zeros(len(destinations), np.int64) if signs is None else signs
        _fill(
            flits,
            flit_offsets,
            destination_offsets,
            destinations,
            np.array(self.shape),
            np.array(self.field_bits),
            said,
            np.array(self.signed[::-1], np.int64),
            self.capacity,
            self.flit_width - self.selector_bits,
            self.last_bits,
            relation,
        )
        return flit_offsets, flits

    def strip(self, flit: int) -> int | None:
        """Strip slot 0, as a router does at a destination. Return the flit to forward, or None if the flit is used up.
        """
        if self.capacity == 1:
            return None
        mask = (1 << self.address_bits) - 1
        if flit & mask == flit >> self.address_bits & mask:
            return None
        slots = self.capacity * self.address_bits
        top = slots - self.address_bits
        above = flit >> slots << slots
        last = flit & (mask << top)
        below = (flit & ((1 << slots) - 1)) >> self.address_bits
        return above | last | below

    def decode(self, flits: Iterable[int]) -> list[int]:
        destinations = []
        for flit in flits:
            rest: int | None = flit
            while rest is not None:
                destinations.append(self.node(rest & ((1 << self.address_bits) - 1)))
                rest = self.strip(rest)
        return destinations

    def relation(self, flit: int) -> int:
        """Read the relation selector of a flit."""
        return flit >> (self.flit_width - self.selector_bits)

    def fields(self, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
        """Yield the fields of any flit of the list: lowest bit, highest bit, meaning."""
        bits, top = self.address_bits, self.flit_width - self.selector_bits
        fields = [f"{count(width, 'bit')} of coordinate {axis(len(self.shape), d)}" if len(self.shape) > 1 else
                  "the node's id" for d, width in enumerate(self.field_bits) if width]
        fields = [*(f"1 bit for ties in dimension {axis(len(self.shape), d)} (1 down)" for d in self.signed), *fields]
        order = ", from its highest bit down" if len(fields) > 1 else ""
        yield 0, bits - 1, f"address of the next destination{order}: {', '.join(fields)}"
        used, marks = self.capacity * bits, top - self.last_bits
        if self.capacity > 1:
            yield bits, used - 1, (
                "the same address, repeated to fill the flit" if not self.multicast else
                f"addresses of the destinations after it, in visiting order, in {count(self.capacity - 1, 'field')}; "
                "unused fields repeat the last address")
        if used < marks:
            yield used, marks - 1, "unused, 0"
        if self.last_bits:
            yield top - 1, top - 1, "1 in the worm's last header flit"
        if self.selector_bits:
            yield top, self.flit_width - 1, "routing relation of the worm"


@dataclass(frozen=True)
class Unicast(AddressList):
    """One destination in one flit: an address list of one address, repeated in all slots.

    Raises
    ------
    WormcastError
        As for `AddressList`; or more than one destination is encoded.
    """

    contents = "addresses"
    buffers = ("deep", "shallow")
    multicast = False

    @property
    def last_bits(self) -> int:
        """Number of bits that mark the last flit of a list: 0, as a unicast header is one flit."""
        return 0

    @classmethod
    def ideal_width(cls, shape: tuple[int, ...], destinations: int, relations: int = 1,
                    signed: tuple[int, ...] = ()) -> int:
        # each worm of a message has one destination
        return AddressList.ideal_width(shape, 1, relations, signed) - 1

    def flits(self, destinations: int = 1) -> int:
        """Count the header flits, always one."""
        self._check_one(destinations)
        return 1

    def encode(self, destinations: Iterable[int], relation: int = 0, signs: Iterable[int] | None = None) -> list[int]:
        """Encode the destination as one flit."""
        nodes = list(destinations)
        self._check_one(len(nodes))
        return super().encode(nodes, relation, signs)

    def _encode_batch(self, destination_offsets, destinations, relation, signs):
        if len(destinations) > len(destination_offsets) - 1:
            self._check_one(int(np.diff(destination_offsets).max()))
        return super()._encode_batch(destination_offsets, destinations, relation, signs)

    def _check_one(self, destinations: int) -> None:
        if destinations > 1:
            raise WormcastError(f"header: Unicast is not valid for a worm with {destinations} destinations. Allowed: "
                                "worms with one destination, or another header, such as AddressList.")


@compiled_from(LINEAR)
def _fill(
    flits,
    flit_offsets,
    destination_offsets,
    destinations,
    shape,
    field_bits,
    signs,
    signed,
    capacity,
    selector_bit,
    last_bits,
    relation,
):
    address_bits = field_bits.sum() + len(signed)
    for worm in range(len(flit_offsets) - 1):
        first = destination_offsets[worm]
        last = destination_offsets[worm + 1] - 1
        for flit in range(flit_offsets[worm], flit_offsets[worm + 1]):
            if relation > 0:
                or_bits(flits[flit], selector_bit, np.uint64(relation))
            if last_bits and flit == flit_offsets[worm + 1] - 1:
                or_bits(flits[flit], selector_bit - 1, np.uint64(1))
            for slot in range(capacity):
                visit = min(first + (flit - flit_offsets[worm]) * capacity + slot, last)
                node = destinations[visit]
                bit = slot * address_bits
                for dimension in range(len(shape) - 1, -1, -1):
                    or_bits(flits[flit], bit, np.uint64(node % shape[dimension]))
                    node //= shape[dimension]
                    bit += field_bits[dimension]
                for dimension in signed:
                    or_bits(flits[flit], bit, np.uint64(signs[visit] >> dimension & 1))
                    bit += 1
