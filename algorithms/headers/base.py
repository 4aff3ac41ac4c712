"""Base classes of header formats."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..errors import WormcastError
from ..topologies.base import Topology

__all__ = ["Header", "HeaderByShape", "or_bits", "require_one_relation"]


class Header(ABC):
    """Format of the header that leads a worm to its destinations.

    Hosts encode the headers of worms with a `Header` object. The hardware decoder is built from the same `Header`
    object. Tests compare the encoder with the decoder.

    Attributes
    ----------
    flit_width : int
        W, bits of data in a flit.
    relations : int
        Number of routing relations among which the header selects.
    signed : tuple of int
        Dimensions with a sign, which selects the way around a ring where both ways have the same length.
    """

    flit_width: int
    relations: int
    signed: tuple[int, ...]

    node_has = "address"
    """Noun for a node's part of the header, as in the refusal ``node 70 has no address``: address, bit, port or id."""

    decoder: str
    """Module with the hardware decoder: its function ``decoder_of`` builds the decoder of a router.

    See ``wormcast.hw.decoders.choice``.
    """

    contents: str
    """Plural noun for headers of this format in refusals: ``lists of addresses``."""

    buffers: ClassVar[tuple[str, ...]] = ("deep", "shallow")
    """Kinds of buffers of the routers that decode the header."""

    router = "path"
    """Kind of routers with shallow buffers that decode the header: ``path``, ``tree``, or a name that the condition of
    a variant in ``ROUTERS`` (``wormcast.hw.variants``) compares with `router`. For routers with deep buffers, `router`
    has no effect."""

    multicast = True
    """A worm can have several destinations."""

    @classmethod
    @abstractmethod
    def on(cls, topology: Topology, flit_width: int, relations: int = 1, signed: tuple[int, ...] = ()) -> "Header":
        """Return the format for a network.

        Raises
        ------
        WormcastError
            A flit is too narrow for the parts of the header that it must hold.
        """

    @classmethod
    @abstractmethod
    def ideal_width_on(cls, topology: Topology, destinations: int, relations: int = 1,
                       signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width with which the header of this number of destinations is one flit (``--header ideal``).

        For a multi-drop header, compute the width with which each pair of a switch id and port bits is one flit.
        """

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Number of nodes that can be destinations."""

    @abstractmethod
    def flits(self, destinations: int) -> int:
        """Return the largest number of header flits that a worm to this number of destinations can have."""

    def encode_batch(
        self,
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
        relation: int = 0,
        signs: npt.NDArray[np.int64] | None = None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Encode the headers of many worms. Offsets and destinations are as in `Worms`; a worm has each node at most
        once.

        Parameters
        ----------
        relation : int
            Routing relation of all worms.
        signs : int64 array [all destinations], optional
            Signs of each destination: bit d for dimension d, set for downwards. Default: none set.

        Returns
        -------
        flit_offsets : int64 array [worms + 1]
            Header of worm w is flits[flit_offsets[w]:flit_offsets[w + 1]].
        flits : uint64 array [all header flits, ceil(W / 64)]
            Data of each flit, bits 0 to 63 in column 0.

        Raises
        ------
        WormcastError
            A worm has no destination, a destination has no address, or the relation is unknown.
        """
        self.require_relation(relation)
        counts = np.diff(destination_offsets)
        if counts.size and counts.min() < 1:
            raise WormcastError(f"header: worm {counts.argmin()} has no destination. Needed: 1 or more.")
        self.require_nodes(destinations)
        return self._encode_batch(destination_offsets, destinations, relation, signs)

    @abstractmethod
    def _encode_batch(
        self,
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
        relation: int,
        signs: npt.NDArray[np.int64] | None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Encode worms that `encode_batch` has checked."""

    def require_relation(self, relation: int) -> None:
        """Refuse an unknown routing relation."""
        if not 0 <= relation < self.relations:
            raise WormcastError(f"header: relation {relation} is unknown. Allowed: 0 to {self.relations - 1}.")

    def require_nodes(self, destinations: npt.NDArray[np.int32]) -> None:
        """Refuse destinations outside the network."""
        if destinations.size and not 0 <= destinations.min() <= destinations.max() < self.nodes:
            outside = destinations[(destinations < 0) | (destinations >= self.nodes)][0]
            raise WormcastError(f"header: node {outside} has no {self.node_has}. Allowed: 0 to {self.nodes - 1}.")

    def parts(self, destinations: Iterable[int]) -> list[str]:
        """Return the header for destinations as text, part by part. By default, the parts of the text are the nodes in
        visiting order."""
        return [str(node) for node in destinations]

    @abstractmethod
    def fields(self, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
        """Yield the fields of the first header flit: lowest bit, highest bit, meaning.

        ``up_and_down``: the network has up and down links.
        """

    @abstractmethod
    def decode(self, flits: Iterable[int]) -> list[int]:
        """Decode header flits to destinations, in visiting order if the format has one."""


def require_one_relation(header: Header, what: str) -> None:
    """Refuse several relations, and signs, for a format that has bits for neither. ``what``: name of a header."""
    if header.relations != 1 or header.signed:
        if header.signed:
            raise WormcastError(f"ties: signed is not valid: {what} cannot hold signs. Allowed: plus.")
        raise WormcastError(f"relations: {header.relations} relations are not valid: {what} cannot select a relation. "
                            "Allowed: one relation (option relation).")


class HeaderByShape(Header):
    """A header format that depends on the network only by the extents of the coordinates.

    Attributes
    ----------
    shape : tuple of int
        Extents of the coordinates. Node ids are row-major in `shape`.
    """

    shape: tuple[int, ...]

    @abstractmethod
    def __init__(self, shape: tuple[int, ...], flit_width: int, relations: int = 1,
                 signed: tuple[int, ...] = ()) -> None: ...

    @classmethod
    @abstractmethod
    def ideal_width(cls, shape: tuple[int, ...], destinations: int, relations: int = 1,
                    signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width with which the header of this number of destinations is one flit."""

    @classmethod
    def on(cls, topology: Topology, flit_width: int, relations: int = 1,
           signed: tuple[int, ...] = ()) -> "HeaderByShape":
        """Return the format for a network, from the network's shape."""
        return cls(topology.shape, flit_width, relations, signed)

    @classmethod
    def ideal_width_on(cls, topology: Topology, destinations: int, relations: int = 1,
                       signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width with which the header of this number of destinations is one flit, from a network's
        shape."""
        return cls.ideal_width(topology.shape, destinations, relations, signed)

    @property
    def nodes(self) -> int:
        """Number of nodes that have an address."""
        return int(np.prod(self.shape))


@compiled_from(LINEAR)
def or_bits(parts, bit, value):
    """Combine a value of at most 64 bits by OR with a flit's bits from ``bit`` on; a flit is an array of 64-bit parts.
    """
    part, shift = bit // 64, bit % 64
    parts[part] |= value << np.uint64(shift)
    rest = value >> np.uint64(64 - shift) if shift else np.uint64(0)  # a shift by 64 is undefined
    if rest:
        parts[part + 1] |= rest
