"""Packets that smart interfaces store and copies that they send, cycle by cycle."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.hw.interface.smart.smart_probe import ForwardingProbe

from ..host import packet_of
from .bulk import BulkEngine
from .copies import child_of

__all__ = ["CopiedPacket", "Forwarded", "StoredPacket", "follow_forwarding"]

#: Value for a cycle that is not among the recorded ones, and for a worm that cannot be identified.
NONE = -1


class StoredPacket(NamedTuple):
    """Packet in an interface's buffer.

    Members
    -------
    node, row, place : int
        Node of the interface, and row and place of the packet buffer entry.
    worm : int
        First worm of the message; -1 if the whole packet was not stored in the recorded cycles, or is not identified.
    packet : int
        Number of the packet in the message, from 0.
    begun, whole, freed : int
        Cycles from which on the packet buffer entry has flits (``begun``), has all flits (``whole``), and is free
        (``freed``); -1: not in the recorded cycles.
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
    """Copy of a packet to a child.

    Members
    -------
    node, worm, packet : int
        Node and packet as in `StoredPacket`. ``worm`` is the worm from the node to the child.
    row, place : int
        Row and place of the packet buffer entry that holds the packet.
    begun : int
        Cycle from which on the copy is offered to injection.
    first, last : int
        Cycles in which the copy's first and last flit are on the link.
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
    """Recorded packets and copies in the smart interfaces of some nodes.

    ``delays``: (node, first cycle, cycle after the last) of each interval in which t_nr held back a packet's last flit;
    -1: the interval did not end in the recorded cycles.
    """

    stored: list[StoredPacket]
    copied: list[CopiedPacket]
    delays: list[tuple[int, int, int]]


def follow_forwarding(engine: BulkEngine, nodes: Sequence[int], cycles: int, first: int = 0) -> Forwarded:
    """Run an engine for ``cycles`` cycles, record the smart interfaces, and restore the engine's state.

    Packets of one flit are not in ``stored``; only their copies are recorded.

    Parameters
    ----------
    nodes : sequence of int
        Instances of the interfaces to record.
    first : int
        Number of the cycle that the engine simulates next.
    """
    before = engine.capture()
    try:
        return _Follower(engine, nodes).follow(first, cycles)
    finally:
        engine.restore(before)


class _Follower:
    def __init__(self, engine: BulkEngine, nodes: Sequence[int]):
        self.engine, self.nodes = engine, np.array(nodes, np.int64)
        self.probe = ForwardingProbe(engine.network.interface, self._read)
        self.places: dict[tuple[int, int, int], StoredPacket] = {}
        self.under_way: dict[int, CopiedPacket] = {}
        self.delayed: dict[int, int] = {}
        self.found = Forwarded([], [], [])

    def _read(self, name: str) -> npt.NDArray[Any]:
        """Return a register of the recorded interfaces; zeros if the interface has no such register."""
        if name not in self.engine.kernels["interface"].state:
            return np.zeros(len(self.nodes), np.int64)
        return self.engine.register("interface", name)[self.nodes]

    def follow(self, first: int, cycles: int) -> Forwarded:
        probe = self.probe
        keeps, since = np.zeros((2, len(self.nodes)), np.int64)
        active = payload = delayed = np.zeros(len(self.nodes), bool)
        for cycle in range(first, first + cycles):
            kept, was_active, was_payload, was_delayed = keeps, active, payload, delayed
            keeps, active, payload, delayed, at = (
                probe.keeps, probe.active, probe.payload, probe.delayed, probe.header_at)
            begins = active & (~payload & (~was_active | was_payload) | (cycle == first))
            ends = was_active & was_payload & ~(active & payload)
            waits = np.array([node in self.under_way and self.under_way[node].first == NONE
                              for node in self.nodes.tolist()])
            for k in np.flatnonzero((keeps != kept) | begins | ends | waits | (delayed != was_delayed)).tolist():
                node = int(self.nodes[k])
                if ends[k]:
                    self._end(node, cycle)
                for writer in range(probe.writers):
                    if int(keeps[k] ^ kept[k]) >> writer & 1:
                        self._store(k, writer, cycle, begins=bool(int(keeps[k]) >> writer & 1))
                if begins[k]:
                    self._begin(k, int(at[k]), bool(payload[k]), cycle)
                    since[k] = at[k]
                elif waits[k] and node in self.under_way and (at[k] > since[k] or payload[k]):
                    self.under_way[node] = self.under_way[node]._replace(first=cycle)
                if delayed[k] and not was_delayed[k]:
                    self.delayed[node] = cycle
                elif was_delayed[k] and not delayed[k]:
                    self.found.delays.append((node, self.delayed.pop(node), cycle))
            self.engine.run(1, beyond=True)
        self.found.stored.extend(self.places.values())
        self.found.copied.extend(self.under_way.values())
        self.found.delays.extend((node, begun, NONE) for node, begun in self.delayed.items())
        return Forwarded(sorted(self.found.stored), sorted(self.found.copied), sorted(self.found.delays))

    def _store(self, k: int, writer: int, cycle: int, *, begins: bool) -> None:
        row, place = (int(numbers[k]) for numbers in self.probe.kept(writer))
        kept = int(self.nodes[k]), row, place
        if begins:
            self.places[kept] = StoredPacket(*kept, NONE, NONE, cycle)
        elif kept in self.places:
            worm, packet = self._name(k, row, place)
            self.places[kept] = self.places[kept]._replace(worm=worm, packet=packet, whole=cycle)

    def _name(self, k: int, row: int, place: int) -> tuple[int, int]:
        """Decode a packet's flits; return the first worm of its message, and the packet's number in the message."""
        return packet_of(self.engine.host, self.probe.flits(k, row, place), begins=True) or (NONE, NONE)

    def _begin(self, k: int, at: int, payload: bool, cycle: int) -> None:
        node = int(self.nodes[k])
        row, place = (int(numbers[k]) for numbers in self.probe.copied)
        kept = self.places.get((node, row, place))
        worm, packet = (NONE, NONE) if kept is None else (kept.worm, kept.packet)
        if worm == NONE:
            worm, packet = self._name(k, row, place)
        if worm == NONE:
            return
        child = child_of(self.engine.host, node, worm, at, payload)
        if child is not None:
            self.under_way[node] = CopiedPacket(node, child, packet, row, place, cycle)

    def _end(self, node: int, cycle: int) -> None:
        copy = self.under_way.pop(node, None)
        if copy is None:
            return
        self.found.copied.append(copy._replace(last=cycle))
        kept = self.places.get((node, copy.row, copy.place))
        if kept is not None and int(self.engine.host.worms["sibling"][copy.worm]) == NONE:
            self.found.stored.append(self.places.pop((node, copy.row, copy.place))._replace(freed=cycle))
