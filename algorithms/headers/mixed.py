"""Mixed headers: several header formats in one network, told apart by the lowest bits of each header."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from ..worms import select_entries
from .address_list import Unicast
from .base import Header
from .bit_string import BitString

__all__ = ["MixedHeader"]

FORMS = {"unicast": "unicast", "string": "bit string"}
"""Header formats that a network can mix, in the order of their numbers, with their names in texts."""


@dataclass(frozen=True)
class MixedHeader(Header):
    """Unicasts by the id of a node, and bit strings, in one network.

    The lowest bits of a header are the number of its *form*, a header format of the network. The number has the fewest
    bits that distinguish the forms. Sources: [Sivaram98], section 5.2.3, has a tag bit for unicasts and multicasts; the
    paper does not mix bit strings with other formats.

    ::

         unicast:     address | form
         bit string:  node N-1 | … | node 1 | node 0 | mark | form

    A header is cut into flits, the lowest bits first. A worm with one destination is a unicast.

    Parameters
    ----------
    unicast : Unicast
        Addresses of nodes. Its flit is as wide as an address.
    string : BitString
        The bit string, with its form.
    flit_width : int
        W, bits of data in a flit.
    relations : int
        One.
    signed : tuple of int
        Empty: mixed headers have no signs.

    Raises
    ------
    WormcastError
        Several relations or signs are requested, or a flit is too narrow for the form.
    """

    unicast: Unicast
    string: BitString
    flit_width: int
    relations: int = 1
    signed: tuple[int, ...] = ()

    node_has = "address"
    decoder = "wormcast.hw.decoders.mixed"
    contents = "headers of several formats"
    buffers = ("deep",)

    def __post_init__(self) -> None:
        if self.relations != 1 or self.signed:
            raise WormcastError(f"header: {self.relations} relations and signs of dimensions {self.signed} are not "
                                "valid for mixed headers. Allowed: one relation and no sign.")

    @classmethod
    def on(cls, topology: Topology, flit_width: int, relations: int = 1,
           signed: tuple[int, ...] = ()) -> "MixedHeader":
        shape = topology.shape
        address = Unicast.ideal_width(shape, 1)
        bits = _form_bits()
        return cls(Unicast(shape, address), BitString(shape, flit_width, form=1, form_bits=bits), flit_width,
                   relations, signed)

    @classmethod
    def ideal_width_on(cls, topology: Topology, destinations: int, relations: int = 1,
                       signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width with which headers of all forms are one flit."""
        shape, bits = topology.shape, _form_bits()
        return bits + max(Unicast.ideal_width(shape, 1), BitString.ideal_width(shape, destinations))

    @property
    def nodes(self) -> int:
        return self.string.nodes

    @property
    def form_bits(self) -> int:
        """Bits of the form's number."""
        return self.string.form_bits

    @property
    def unicast_flits(self) -> int:
        """Header flits of a unicast."""
        return -(-(self.form_bits + self.unicast.address_bits) // self.flit_width)

    def flits(self, destinations: int) -> int:
        return self.unicast_flits if destinations == 1 else max(self.unicast_flits, self.string.flits())

    def form_of(self, destinations: int) -> str:
        """Return the form of a worm with this number of destinations, a key of `FORMS`."""
        return "unicast" if destinations == 1 else "string"

    def encode(self, destinations: Iterable[int]) -> list[int]:
        """Encode destinations as header flits.

        Raises
        ------
        WormcastError
            There is no destination, a destination occurs twice, or a node has no address.
        """
        nodes = [int(node) for node in destinations]
        if self.form_of(len(nodes)) == "string":
            return self.string.encode(nodes)
        self.require_nodes(np.array(nodes))
        bits = self.unicast.address(nodes[0]) << self.form_bits
        return [bits >> self.flit_width * flit & (1 << self.flit_width) - 1 for flit in range(self.unicast_flits)]

    def _encode_batch(self, destination_offsets, destinations, relation, signs):
        counts = np.diff(destination_offsets)
        one = counts == 1
        flit_offsets = np.concatenate([[0], np.cumsum(np.where(one, self.unicast_flits, self.string.flits()))])
        flits = np.zeros((flit_offsets[-1], -(-self.flit_width // 64)), np.uint64)
        for alone in (True, False):
            worms = np.flatnonzero(one == alone)
            visits, offsets = select_entries(worms, destination_offsets)
            places, _ = select_entries(worms, flit_offsets)
            if alone:
                flits[places] = self._unicasts(destinations[visits])
            else:
                flits[places] = self.string.encode_batch(offsets, destinations[visits])[1]
        return flit_offsets, flits

    def _unicasts(self, destinations: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
        """Return the header flits of unicasts, uint64 [all flits, ceil(W / 64)]."""
        bits = self._addresses[destinations] << self.form_bits
        width = min(self.flit_width, 62)  # an address has fewer bits
        flits = bits[:, None] >> width * np.arange(self.unicast_flits) & (1 << width) - 1
        found = np.zeros((flits.size, -(-self.flit_width // 64)), np.uint64)
        found[:, 0] = flits.reshape(-1)
        return found

    @cached_property
    def _addresses(self) -> npt.NDArray[np.int64]:
        return np.array([self.unicast.address(node) for node in range(self.nodes)])

    def parts(self, destinations: Iterable[int]) -> list[str]:
        """Return the header as text: the node of a unicast, or a bit for each node."""
        nodes = list(destinations)
        return [str(node) for node in nodes] if len(nodes) == 1 else self.string.parts(nodes)

    def fields(self, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
        """Yield the form, then the fields of the first flit in each form."""
        names = ", ".join(f"{number} {name}" for number, name in enumerate(FORMS.values()))
        yield 0, self.form_bits - 1, f"form of the header: {names}"
        top = min(self.form_bits + self.unicast.address_bits, self.flit_width) - 1
        yield self.form_bits, top, "unicast: address of the destination" + (
            "; its other bits are in the following flits, from bit 0 on" if self.unicast_flits > 1 else "")
        for low, high, said in self.string.fields(up_and_down=up_and_down):
            yield low, high, f"bit string: {said}"

    def decode(self, flits: Iterable[int]) -> list[int]:
        rest = list(flits)
        if rest[0] & (1 << self.form_bits) - 1 == self.string.form:
            return self.string.decode(rest)
        bits = sum(flit << self.flit_width * place for place, flit in enumerate(rest))
        return [self.unicast.node(bits >> self.form_bits)]


def _form_bits() -> int:
    return (len(FORMS) - 1).bit_length()
