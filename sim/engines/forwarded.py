"""What smart interfaces do, from cycle to cycle: the packets that they store, and the copies that they send."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..host import children_at, packet_of
from ..host.program import SPREAD
from .bulk import BulkEngine

__all__ = ["CopiedPacket", "Forwarded", "StoredPacket", "follow_forwarding"]

#: A cycle that does not come, a worm that nothing tells.
NONE = -1


class StoredPacket(NamedTuple):
    """A packet in an interface's buffer.

    Members
    -------
    node, row, place : int
    worm : int
        The first one of the message's worms, or -1 where too few flits are there to tell.
    packet : int
        Which one of the message, from 0.
    begun, whole, freed : int
        Cycles from which it has flits there, has all of them, and the place is free; -1 for one that does not come.
    """

    node: int
    row: int
    place: int
    worm: int
    packet: int
    begun: int
    whole: int = NONE
    freed: int = NONE


class CopiedPacket(NamedTuple):
    """A copy of a packet to a child.

    Members
    -------
    node, worm, packet : int
        As of `StoredPacket`; the worm is that from this node to the child.
    row, place : int
    begun, first, last : int
        Cycles from which it is presented to injection, and in which its first and last flit are on the link.
    """

    node: int
    worm: int
    packet: int
    row: int
    place: int
    begun: int
    first: int = NONE
    last: int = NONE


class Forwarded(NamedTuple):
    """What was found of some nodes; ``delays`` are (node, first cycle, end) in which a packet's last flit was held back
    for t_nr, with -1 for an end that does not come."""

    stored: list[StoredPacket]
    copied: list[CopiedPacket]
    delays: list[tuple[int, int, int]]


def follow_forwarding(engine: BulkEngine, nodes: Sequence[int], cycles: int, first: int = 0) -> Forwarded:
    """Run an engine for so many cycles, see what smart interfaces do, and take it back to where it stood.

    A packet of one flit is seen only by its copies.

    Parameters
    ----------
    nodes : sequence of int
        Instances of the interfaces that are looked at.
    first : int
        The number of the cycle that comes next.
    """
    before = engine.capture()
    try:
        return _Follower(engine, nodes).follow(first, cycles)
    finally:
        engine.restore(before)


class _Follower:
    def __init__(self, engine: BulkEngine, nodes: Sequence[int]):
        self.engine, self.nodes = engine, np.array(nodes, np.int64)
        hardware = engine.network.configuration
        self.width = hardware.flit_width
        self.row_bits, self.place_bits, self.flit_bits = ((count - 1).bit_length() for count in (
            hardware.rows, hardware.places, hardware.packet))
        self.writers = hardware.consumption + 1
        self.places: dict[tuple[int, int, int], StoredPacket] = {}
        self.under_way: dict[int, CopiedPacket] = {}
        self.found = Forwarded([], [], [])

    def _read(self, name: str) -> npt.NDArray[Any]:
        """A register of the interfaces that are looked at; 0 where it has no bits."""
        if name not in self.engine.kernels["interface"].state:
            return np.zeros(len(self.nodes), np.int64)
        return self.engine.register("interface", name)[self.nodes].astype(np.int64)

    def follow(self, first: int, cycles: int) -> Forwarded:
        nothing = np.zeros(len(self.nodes), np.int64)
        keeps, active, payload, delayed = nothing, nothing, nothing, nothing
        since = np.zeros(len(self.nodes), np.int64)
        for cycle in range(first, first + cycles):
            was = keeps, active, payload, delayed
            keeps = self._read("forwarding.within") & self._read("forwarding.stores")
            active, payload = self._read("forwarding.active"), self._read("forwarding.payload")
            delayed, at = self._read("consumption_0.busy"), self._read("forwarding.pos")
            begins = active & ((1 - payload) & ((1 - was[1]) | was[2]) | int(cycle == first))
            ends = was[1] & was[2] & (1 - (active & payload))
            waits = np.array([node in self.under_way and self.under_way[node].first == NONE
                              for node in self.nodes.tolist()])
            for k in np.flatnonzero((keeps != was[0]) | (begins | ends).astype(bool) | waits | (delayed != was[3])):
                node = int(self.nodes[k])
                if ends[k]:
                    self._end(node, cycle)
                for writer in range(self.writers):
                    if (keeps[k] ^ was[0][k]) >> writer & 1:
                        self._store(node, int(k), writer, cycle, begins=bool(keeps[k] >> writer & 1))
                if begins[k]:
                    self._begin(node, int(k), int(at[k]), bool(payload[k]), cycle)
                    since[k] = at[k]
                elif waits[k] and node in self.under_way and (at[k] > since[k] or payload[k]):
                    self.under_way[node] = self.under_way[node]._replace(first=cycle)
                if delayed[k] and not was[3][k]:
                    self.found.delays.append((node, cycle, NONE))
                elif was[3][k] and not delayed[k]:
                    number = max(j for j, one in enumerate(self.found.delays) if one[0] == node)
                    self.found.delays[number] = (*self.found.delays[number][:2], cycle)
            self.engine.run(1, beyond=True)
        self.found.stored.extend(self.places.values())
        self.found.copied.extend(self.under_way.values())
        return Forwarded(sorted(self.found.stored), sorted(self.found.copied), sorted(self.found.delays))

    def _place(self, name: int) -> tuple[int, int]:
        """Row and place of a packet's name; see `packet_name`."""
        return name & (1 << self.row_bits) - 1, name >> self.row_bits

    def _store(self, node: int, k: int, writer: int, cycle: int, *, begins: bool) -> None:
        row, place = self._place(int(self._read(f"forwarding.writer{writer}_packet")[k]))
        if begins:
            self.places[node, row, place] = StoredPacket(node, row, place, NONE, NONE, cycle)
        elif (node, row, place) in self.places:
            worm, packet = self._name(node, row, place)
            self.places[node, row, place] = self.places[node, row, place]._replace(
                worm=worm, packet=packet, whole=cycle)

    def _name(self, node: int, row: int, place: int) -> tuple[int, int]:
        """The message's first worm, and which packet it is, as its first flits say."""
        memory = self.engine.register("interface", "forwarding.memory")[node]
        start = (row << self.place_bits | place) << self.flit_bits
        flits: list[int] = []
        for word in memory[start:start + max(1, int(self.engine.host.options[SPREAD]))].tolist():
            flits.append(word & (1 << self.width) - 1)
            if word >> self.width:
                break
        return packet_of(self.engine.host, flits, begins=True) or (NONE, NONE)

    def _begin(self, node: int, k: int, at: int, payload: bool, cycle: int) -> None:
        row, place = self._place(int(self._read("forwarding.current")[k]))
        kept = self.places.get((node, row, place))
        if kept is None or kept.worm == NONE:
            kept = StoredPacket(node, row, place, *self._name(node, row, place), NONE, NONE)
        if kept.worm == NONE:
            return
        headers = self.engine.host.worms["own_headers"]
        end = 0
        for worm in children_at(self.engine.host, node, kept.worm):
            start, end = end, end + int(headers[worm])
            if start <= at < end or (payload and at == end):
                self.under_way[node] = CopiedPacket(node, worm, kept.packet, row, place, cycle)
                return

    def _end(self, node: int, cycle: int) -> None:
        copy = self.under_way.pop(node, None)
        if copy is None:
            return
        self.found.copied.append(copy._replace(last=cycle))
        kept = self.places.get((node, copy.row, copy.place))
        if kept is not None and int(self.engine.host.worms["sibling"][copy.worm]) == NONE:
            self.found.stored.append(self.places.pop((node, copy.row, copy.place))._replace(freed=cycle))
