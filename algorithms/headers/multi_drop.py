"""Multi-drop header: switches in visiting order, with the output ports to destinations at each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..errors import WormcastError
from ..topologies.base import Topology
from .base import Header, or_bits, require_one_relation

__all__ = ["IDS", "MultiDrop"]

IDS = ("switch", "node")
"""Ids by which a pair names its switch: the id of the switch, or the id of a node at the switch."""


@dataclass(frozen=True)
class MultiDrop(Header):
    """Pairs of a switch id and one bit per output port, one pair per switch with destinations, in visiting order.

    Source: [Sivaram98], section 5.2.3. A pair of B + 1 + p bits is cut into flits of W bits, the lowest bits first.
    Each pair begins a flit::

         pair:  port p-1 | … | port 1 | port 0 | last | id

    The id has B = ceil(log2(switches)) bits, at least one. With node ids, the id is that of the worm's first
    destination at the switch, in ceil(log2(nodes)) bits: routers then need only routes to nodes, as for unicasts. p is
    the largest number of ports of a switch. Port bit i is set if the node at output port i of the switch is a
    destination. ``last`` is 1 in the last pair of a worm's header. Switches without destinations have no pair. A switch
    finds its id in the first pair and strips the pair; the rest is the header of the branch that continues.

    In a network with several header formats, `MixedHeader`, each pair begins with the form, below the id.

    Parameters
    ----------
    places : tuple of (int, int)
        Switch and output port where each node consumes.
    switches : int
        Number of switches.
    ports : int
        p, largest number of ports of a switch.
    flit_width : int
        W, bits of data in a flit.
    relations : int
        One.
    signed : tuple of int
        Empty: multi-drop headers have no signs.
    form, form_bits : int
        Form (number of this format among several in a network), and number of bits of the form. Default: no bits.
    ids : str
        One of `IDS`.

    Raises
    ------
    WormcastError
        A place is outside these switches and ports, a flit has no bit, or several relations or signs are requested.
    """

    places: tuple[tuple[int, int], ...]
    switches: int
    ports: int
    flit_width: int
    relations: int = 1
    signed: tuple[int, ...] = ()
    form: int = 0
    form_bits: int = 0
    ids: str = "switch"

    node_has = "port"
    decoder = "wormcast.hw.decoders.multi_drop"
    contents = "lists of switches"
    buffers = ("deep",)

    def __post_init__(self) -> None:
        for switch, port in self.places:
            if not (0 <= switch < self.switches and 0 <= port < self.ports):
                raise WormcastError(f"header: port {port} of switch {switch} is not valid. Allowed: ports 0 to "
                                    f"{self.ports - 1} of switches 0 to {self.switches - 1}.")
        if self.ids not in IDS:
            raise WormcastError(f"header: ids {self.ids!r} is not valid. Allowed: {', '.join(IDS)}.")
        if self.flit_width < 1:
            raise WormcastError(f"flit_width: {self.flit_width} is not valid. Allowed: 1 or more.")
        require_one_relation(self, "a multi-drop header")

    @classmethod
    def on(cls, topology: Topology, flit_width: int, relations: int = 1, signed: tuple[int, ...] = (), *,
           ids: str = "switch", form: int = 0, form_bits: int = 0) -> "MultiDrop":
        """Return the format for the switches and node ports of a network."""
        places = tuple((switch, port) for switch, port in topology.consumptions.tolist())
        return cls(places, topology.switches, max(map(len, topology.ports)), flit_width, relations, signed,
                   form, form_bits, ids)

    @classmethod
    def ideal_width_on(cls, topology: Topology, destinations: int, relations: int = 1,
                       signed: tuple[int, ...] = (), *, ids: str = "switch") -> int:
        """Compute the flit width with which a pair is one flit."""
        return cls.on(topology, 1, relations, signed, ids=ids).pair_bits

    @property
    def nodes(self) -> int:
        return len(self.places)

    @property
    def switch_bits(self) -> int:
        """Bits of a switch's id."""
        return max(1, (self.switches - 1).bit_length())

    @property
    def id_bits(self) -> int:
        """B, bits of a pair's id."""
        return self.switch_bits if self.ids == "switch" else max(1, (self.nodes - 1).bit_length())

    @property
    def pair_bits(self) -> int:
        """Bits of a pair: the form, the id, the mark, and the ports."""
        return self.last_bit + 1 + self.ports

    @property
    def last_bit(self) -> int:
        """Number of the bit of a pair that marks the last pair."""
        return self.form_bits + self.id_bits

    @property
    def pair_flits(self) -> int:
        """Flits of a pair."""
        return -(-self.pair_bits // self.flit_width)

    def flits(self, destinations: int) -> int:
        """Return the largest number of header flits for this number of destinations: each at a switch of its own, if
        possible.
        """
        return self.pair_flits * min(destinations, len({switch for switch, _ in self.places}))

    def pair(self, number: int, ports: Iterable[int], *, last: bool) -> list[int]:
        """Pack a pair with the id ``number`` into flits."""
        bits = (self.form | number << self.form_bits | last << self.last_bit
                | sum(1 << self.last_bit + 1 + port for port in set(ports)))
        return [bits >> self.flit_width * flit & (1 << self.flit_width) - 1 for flit in range(self.pair_flits)]

    def encode(self, destinations: Iterable[int]) -> list[int]:
        """Encode destinations as header flits. Destinations at one switch must be consecutive.

        Raises
        ------
        WormcastError
            There is no destination, one occurs twice or has no port, or the worm would come to a switch twice.
        """
        nodes = np.array([int(node) for node in destinations], np.int32)
        _, flits = self.encode_batch(np.array([0, len(nodes)]), nodes)
        return [sum(int(part) << 64 * place for place, part in enumerate(flit)) for flit in flits.tolist()]

    def _encode_batch(self, destination_offsets, destinations, relation, signs):
        pairs, worm = _pairs(destination_offsets, destinations, self._places, self.switches)
        if worm >= 0:
            visits = destinations[destination_offsets[worm]:destination_offsets[worm + 1]].tolist()
            raise WormcastError(f"header: destinations {visits} are not valid. Allowed: each destination once, and "
                                "destinations at one switch consecutive.")
        flit_offsets = np.zeros(len(pairs) + 1, np.int64)
        np.cumsum(pairs * self.pair_flits, out=flit_offsets[1:])
        flits = np.zeros((flit_offsets[-1], -(-self.flit_width // 64)), np.uint64)
        _fill(flits, flit_offsets, destination_offsets, destinations, self._places, self._ids, self.form,
              self.form_bits, self.id_bits, self.pair_flits, self.flit_width)
        return flit_offsets, flits

    def parts(self, destinations: Iterable[int]) -> list[str]:
        """Write the pairs as ``4:0011``: the id, and one bit per output port, port 0 first."""
        found: dict[int, tuple[int, list[str]]] = {}
        for node in destinations:
            switch, port = self.places[node]
            found.setdefault(switch, (int(self._ids[node]), ["0"] * self.ports))[1][port] = "1"
        return [f"{number}:{''.join(bits)}" for number, bits in found.values()]

    def strip(self, flits: Sequence[int]) -> list[int] | None:
        """Strip the first pair, as its switch does. Return the remaining header, or None after the last pair."""
        last = flits[self.last_bit // self.flit_width] >> self.last_bit % self.flit_width & 1
        return None if last else list(flits[self.pair_flits:])

    def fields(self, *, up_and_down: bool = False) -> Iterator[tuple[int, int, str]]:
        """Yield the fields of the first flit of a pair: lowest bit, highest bit, meaning."""
        width, first, mark = self.flit_width, self.form_bits, self.last_bit
        ports = "a bit for each output port of that switch from 0 on, 1 if the node there is a destination"
        for low, high, said in (
            (first, mark - 1, "id of the next switch with destinations" if self.ids == "switch" else
             "id of a destination at the next switch with destinations"),
            (mark, mark, "1 in the worm's last pair"),
            (mark + 1, self.pair_bits - 1, ports),
        ):
            if low < width:
                behind = "; the pair's other bits are in the following flits, from bit 0 on"
                yield low, min(high, width - 1), said + (behind if high >= width else "")
        if self.pair_bits < width:
            yield self.pair_bits, width - 1, "unused, 0"

    def decode(self, flits: Iterable[int]) -> list[int]:
        """Decode header flits to destinations in visiting order. Destinations at one switch are in the order of its
        ports.

        Raises
        ------
        WormcastError
            A set bit belongs to a port without a node.
        """
        rest: list[int] | None = list(flits)
        found = []
        while rest:
            bits = sum(flit << self.flit_width * place for place, flit in enumerate(rest[:self.pair_flits]))
            number = bits >> self.form_bits & (1 << self.id_bits) - 1
            if self.ids == "node" and number >= self.nodes:
                raise WormcastError(f"header: node {number} is not valid. Allowed: 0 to {self.nodes - 1}.")
            switch = number if self.ids == "switch" else self.places[number][0]
            ports = bits >> self.last_bit + 1
            for port in range(self.ports):
                if ports >> port & 1:
                    if (switch, port) not in self._node_at:
                        raise WormcastError(f"header: port {port} of switch {switch} is not valid: it has no "
                                            "node. Allowed: ports with a node.")
                    found.append(self._node_at[switch, port])
            rest = self.strip(rest)
        return found

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        return np.array(self.places, np.int64).reshape(-1, 2)

    @cached_property
    def _ids(self) -> npt.NDArray[np.int64]:
        """For each node: the id of a pair whose first destination is this node."""
        return np.arange(self.nodes) if self.ids == "node" else np.ascontiguousarray(self._places[:, 0])

    @cached_property
    def _node_at(self) -> dict[tuple[int, int], int]:
        return {place: node for node, place in enumerate(self.places)}


@compiled_from(LINEAR)
def _pairs(destination_offsets, destinations, places, switches):
    """Count the pairs of each worm, int64 [worms], and find the first worm that is not valid, or -1.

    A worm is not valid if it visits a node twice or comes back to a switch.
    """
    pairs = np.zeros(len(destination_offsets) - 1, np.int64)
    seen = np.full(switches, -1, np.int64)  # the last worm so far that visits each switch
    last_seen = np.full(len(places), -1, np.int64)
    for worm in range(len(pairs)):
        before = np.int64(-1)
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            switch = places[destinations[visit], 0]
            if last_seen[destinations[visit]] == worm or (switch != before and seen[switch] == worm):
                return pairs, worm
            last_seen[destinations[visit]] = worm
            pairs[worm] += switch != before
            seen[switch] = worm
            before = switch
    return pairs, -1


@compiled_from(LINEAR)
def _fill(flits, flit_offsets, destination_offsets, destinations, places, ids, form, form_bits, id_bits, pair_flits,
          flit_width):
    for worm in range(len(flit_offsets) - 1):
        first, before = flit_offsets[worm] - pair_flits, np.int64(-1)
        last_bit = form_bits + id_bits
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            switch, port = places[destinations[visit]]
            if switch != before:
                first += pair_flits
                for bit in range(last_bit):
                    value = form >> bit & 1 if bit < form_bits else ids[destinations[visit]] >> (bit - form_bits) & 1
                    or_bits(flits[first + bit // flit_width], bit % flit_width, np.uint64(value))
                before = switch
            bit = last_bit + 1 + port
            or_bits(flits[first + bit // flit_width], bit % flit_width, np.uint64(1))
        or_bits(flits[first + last_bit // flit_width], last_bit % flit_width, np.uint64(1))
