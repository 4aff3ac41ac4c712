"""Mixed headers: several header formats in one network, distinguished by the lowest bits of each header."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from ..worms import select_entries
from .address_list import Unicast
from .base import Header, require_one_relation
from .bit_string import BitString
from .multi_drop import MultiDrop

__all__ = ["FormatSize", "MixedHeader", "format_sizes"]

FORMS = ("unicast", "bit string", "multi-drop")
"""Header formats that a network can mix. The lowest bits of a header have the index of its format in ``FORMS``."""

UNICAST, STRING, DROPS = range(len(FORMS))

BY_NODE = "multi-drop by node"
"""Name of multi-drop headers with node ids."""


@dataclass(frozen=True)
class MixedHeader(Header):
    """Unicasts by the id of a node, bit strings, and optionally multi-drop headers, in one network.

    The lowest bits of a header are its *form*: the number of its format. Without multi-drop headers the form has one
    bit, else two. Each pair of a multi-drop header has the form, because switches strip pairs. [Sivaram98], section
    5.2.3, distinguishes unicasts and multidestination worms by a tag bit; the paper mixes no further formats.

    ::

         unicast, form 0:           node | form
         bit string, form 1:        node N-1 | … | node 1 | node 0 | mark | form
         pair of multi-drop, 2:     port p-1 | … | port 1 | port 0 | last | id | form

    The header of a unicast, a bit string, and each pair of a multi-drop header are cut into flits, the lowest bits
    first. The number of a worm's destinations determines its form: one destination makes a unicast, 2 to ``limit`` a
    multi-drop worm, and more a worm with a bit string.

    Parameters
    ----------
    unicast : Unicast
        Ids of nodes. A flit of `unicast` is as wide as an id.
    string : BitString
    drops : MultiDrop or None
    limit : int
        Largest number of destinations of a multi-drop worm. Without multi-drop headers: 1.
    flit_width : int
        W, bits of data in a flit.
    relations : int
        One.
    signed : tuple of int
        Empty: mixed headers have no signs.

    Raises
    ------
    WormcastError
        Several relations or signs are requested, or a flit is too narrow for the form and the mark.
    """

    unicast: Unicast
    string: BitString
    drops: MultiDrop | None
    limit: int
    flit_width: int
    relations: int = 1
    signed: tuple[int, ...] = ()

    node_has = "id"
    decoder = "wormcast.hw.decoders.mixed"
    contents = "headers of several formats"
    router = "tree"

    def __post_init__(self) -> None:
        require_one_relation(self, "mixed headers")

    @classmethod
    def on(cls, topology: Topology, flit_width: int, relations: int = 1, signed: tuple[int, ...] = (),
           limit: int = 1, ids: str = "switch") -> "MixedHeader":
        """Return the format for a network; with multi-drop headers if ``limit`` is above 1, with these `ids`."""
        bits, nodes = _form_bits(limit), (topology.nodes,)
        drops = None
        if limit > 1:
            drops = MultiDrop.on(topology, flit_width, ids=ids, form=DROPS, form_bits=bits)
        return cls(Unicast(nodes, Unicast.ideal_width(nodes, 1)),
                   BitString(nodes, flit_width, form=STRING, form_bits=bits), drops, limit, flit_width, relations,
                   signed)

    @classmethod
    def ideal_width_on(cls, topology: Topology, destinations: int, relations: int = 1, signed: tuple[int, ...] = (),
                       limit: int = 1, ids: str = "switch") -> int:
        """Compute the flit width with which a unicast, a bit string and each pair are one flit."""
        bits, nodes = _form_bits(limit), (topology.nodes,)
        pair = MultiDrop.ideal_width_on(topology, destinations, ids=ids) if limit > 1 else 0
        return bits + max(Unicast.ideal_width(nodes, 1), BitString.ideal_width(nodes, destinations), pair)

    @property
    def nodes(self) -> int:
        return self.string.nodes

    @property
    def form_bits(self) -> int:
        """Bits of the form."""
        return self.string.form_bits

    @property
    def unicast_flits(self) -> int:
        """Header flits of a unicast."""
        return -(-(self.form_bits + self.unicast.address_bits) // self.flit_width)

    def form_of(self, destinations: int) -> int:
        """Return the form of a worm with this number of destinations."""
        return UNICAST if destinations == 1 else DROPS if destinations <= self.limit else STRING

    def flits(self, destinations: int) -> int:
        found = [self.unicast_flits]
        if destinations > 1 and self.drops is not None:
            found.append(self.drops.flits(min(destinations, self.limit)))
        if destinations > self.limit:
            found.append(self.string.flits())
        return max(found)

    def encode(self, destinations: Iterable[int]) -> list[int]:
        """Encode destinations as header flits.

        Raises
        ------
        WormcastError
            The destinations are not valid for the format of their form.
        """
        nodes = np.array([int(node) for node in destinations], np.int32)
        _, flits = self.encode_batch(np.array([0, len(nodes)]), nodes)
        return [sum(int(part) << 64 * place for place, part in enumerate(flit)) for flit in flits.tolist()]

    def _encode_batch(self, destination_offsets, destinations, relation, signs):
        counts = np.diff(destination_offsets)
        forms = np.where(counts == 1, UNICAST, np.where(counts <= self.limit, DROPS, STRING))
        sizes, parts = np.zeros(len(counts), np.int64), []
        for form in np.unique(forms).tolist():
            worms = np.flatnonzero(forms == form)
            visits, offsets = select_entries(worms, destination_offsets)
            found, flits = self._encode_form(form, offsets, destinations[visits])
            sizes[worms] = np.diff(found)
            parts.append((worms, flits))
        flit_offsets = np.concatenate([[0], np.cumsum(sizes)])
        flits = np.zeros((flit_offsets[-1], -(-self.flit_width // 64)), np.uint64)
        for worms, encoded in parts:
            flits[select_entries(worms, flit_offsets)[0]] = encoded
        return flit_offsets, flits

    def _encode_form(
        self, form: int, offsets: npt.NDArray[np.int64], destinations: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Encode worms of one form; see `encode_batch`."""
        if form == STRING:
            return self.string.encode_batch(offsets, destinations)
        if form == DROPS:
            assert self.drops is not None
            return self.drops.encode_batch(offsets, destinations)
        width = min(self.flit_width, 62)  # a form and an id together have fewer than 62 bits
        bits = self._addresses[destinations] << self.form_bits
        flits = np.zeros((len(destinations) * self.unicast_flits, -(-self.flit_width // 64)), np.uint64)
        flits[:, 0] = (bits[:, None] >> width * np.arange(self.unicast_flits) & (1 << width) - 1).reshape(-1)
        return offsets * self.unicast_flits, flits

    @cached_property
    def _addresses(self) -> npt.NDArray[np.int64]:
        return np.array([self.unicast.address(node) for node in range(self.nodes)])

    def parts(self, destinations: Iterable[int]) -> list[str]:
        """Return the header as text: the node of a unicast, else the parts of the worm's format."""
        nodes = list(destinations)
        form = self.form_of(len(nodes))
        if form == DROPS:
            assert self.drops is not None
            return self.drops.parts(nodes)
        return [str(node) for node in nodes] if form == UNICAST else self.string.parts(nodes)

    def fields(self, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
        """Yield the form, then the fields of the first flit in each form."""
        names = ", ".join(f"{form} {FORMS[form]}" for form in (UNICAST, STRING, *([DROPS] if self.drops else [])))
        yield 0, self.form_bits - 1, f"form of the header: {names}"
        top = self.form_bits + self.unicast.address_bits
        if self.form_bits < self.flit_width:
            yield self.form_bits, min(top, self.flit_width) - 1, "unicast: id of the destination" + (
                "; its other bits are in the following flits, from bit 0 on" if self.unicast_flits > 1 else "")
        if top < self.flit_width:
            yield top, self.flit_width - 1, "unicast: unused, 0"
        for form, header in ((STRING, self.string), (DROPS, self.drops)):
            for low, high, said in header.fields(up_and_down=up_and_down) if header else ():
                yield low, high, f"{FORMS[form]}: {said}"

    def decode(self, flits: Iterable[int]) -> list[int]:
        rest = list(flits)
        form = rest[0] & (1 << self.form_bits) - 1
        if form == STRING:
            return self.string.decode(rest)
        if form == DROPS and self.drops is not None:
            return self.drops.decode(rest)
        if form != UNICAST:
            raise WormcastError(f"header: form {form} is unknown. Allowed: 0 to {DROPS if self.drops else STRING}.")
        bits = sum(flit << self.flit_width * place for place, flit in enumerate(rest))
        return [self.unicast.node(bits >> self.form_bits)]


class FormatSize(NamedTuple):
    """Size of a header format in a network with these formats.

    Parameters
    ----------
    format : str
        One of `FORMS`, or `BY_NODE`.
    formats : str
        All formats in the network, joined by commas.
    form_bits, bits, flits : int
        Bits of the form; bits and flits of a header. For a multi-drop header, the bits and flits of one pair.
    """

    format: str
    formats: str
    form_bits: int
    bits: int
    flits: int


def format_sizes(topology: Topology, flit_width: int) -> list[FormatSize]:
    """Return the size of each header format on a network, alone and mixed.

    A unicast alone has the address of its node, a unicast in a mixture the id of its node.
    """
    shape = topology.shape
    alone = {UNICAST: Unicast(shape, flit_width).address_bits, STRING: BitString(shape, flit_width).bits,
             DROPS: MultiDrop.on(topology, flit_width).pair_bits}
    found = [FormatSize(FORMS[form], FORMS[form], 0, bits, -(-bits // flit_width)) for form, bits in alone.items()]
    by_node = MultiDrop.on(topology, flit_width, ids="node")
    found.append(FormatSize(BY_NODE, BY_NODE, 0, by_node.pair_bits, by_node.pair_flits))
    for limit in (1, 2):
        header = MixedHeader.on(topology, flit_width, limit=limit)
        mixed = {UNICAST: header.form_bits + header.unicast.address_bits, STRING: header.string.bits}
        if header.drops is not None:
            mixed[DROPS] = header.drops.pair_bits
        names = ", ".join(FORMS[form] for form in mixed)
        found += [FormatSize(FORMS[form], names, header.form_bits, bits, -(-bits // flit_width))
                  for form, bits in mixed.items()]
    by_node = MultiDrop.on(topology, flit_width, ids="node", form=DROPS, form_bits=header.form_bits)
    found.append(FormatSize(BY_NODE, names.replace(FORMS[DROPS], BY_NODE), by_node.form_bits, by_node.pair_bits,
                            by_node.pair_flits))
    return found


def _form_bits(limit: int) -> int:
    """Return the number of bits of the form: for two formats, or for three with multi-drop headers."""
    return 2 if limit > 1 else 1
