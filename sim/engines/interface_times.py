"""When each packet leaves and enters each network interface, smart or conventional, by its links and its registers."""

from typing import Any, NamedTuple

import numpy as np

from wormcast.hw.interface.told import startup_left, through

from ..build.fabric import FabricLink
from ..host import Packet, children_at, packet_of
from ..host.constants import NONE, SPREAD
from .bulk import BulkEngine
from .port_packing import data_word

__all__ = ["InterfaceTimes", "ReceivedPacket", "SentPacket", "follow_interfaces"]


class SentPacket(NamedTuple):
    """A packet on its way from an interface to its router.

    Members
    -------
    node, port : int
        Whose interface, and which of its injection ports.
    worm : int
        The worm that the packet is of; where interfaces forward it that from this node to the child. -1 where the flits
        seen do not tell.
    packet : int
        Which one of the message, from 0; -1 likewise.
    presented, started : int
        Cycles in which its first flit is there, and in which that has waited t_ns; -1 where t_ns is 0.
    first, last : int
        Cycles in which its first and its last flit are on the link; -1 for one that does not come.
    """

    node: int
    port: int
    worm: int
    packet: int
    presented: int
    started: int
    first: int
    last: int


class ReceivedPacket(NamedTuple):
    """A packet on its way from a router to an interface.

    Members
    -------
    node, link : int
        Whose interface, and which of its consumption links.
    worm, packet : int
        As of `SentPacket`; the worm is that which brings it here.
    first, last : int
        Cycles in which its first and its last flit are on the link; -1 for one that does not come.
    held, passed : int
        From ``held`` to ``passed`` - 1 its last flit waits t_nr; -1 where t_nr is 0, and for what does not end.
    """

    node: int
    link: int
    worm: int
    packet: int
    first: int
    last: int
    held: int
    passed: int


class InterfaceTimes(NamedTuple):
    """All packets that were seen, by node and in the order in which they came."""

    sent: list[SentPacket]
    received: list[ReceivedPacket]


def follow_interfaces(engine: BulkEngine, cycles: int) -> InterfaceTimes:
    """Run an engine for so many cycles, and see when packets leave and enter the interfaces of its first lane.

    The engine stands in its first cycle, and goes on as by ``run(cycles, beyond=True)``. Packets are named by their
    payload. A message that interfaces forward has one name for all copies of a packet; these go to a node's children in
    their order, whichever packet goes first.

    Parameters
    ----------
    cycles : int
    """
    return _Follower(engine).follow(cycles)


class _Stay:
    """A packet on a virtual channel of a link, so far."""

    def __init__(self, first: int):
        self.first, self.last = first, NONE
        self.flits: list[int] = []  # of its payload, as long as they do not tell whose it is
        self.name: Packet = (NONE, NONE)
        # cycles of an interface's registers: from when to when its first or its last flit waits
        self.begun = self.ended = NONE


class _Follower:
    def __init__(self, engine: BulkEngine):
        self.engine, self.network = engine, engine.network
        fabric = self.network.fabric
        self.links: list[FabricLink] = [*fabric.of_kind("injection"), *fabric.of_kind("consumption")]
        self.at = {(link.kind, link.number, link.node): row for row, link in enumerate(self.links)}
        self.marks_at = np.array([self._word(link, link.near.port)[0] for link in self.links])
        bits = np.array([(link.vcs - 1).bit_length() for link in self.links])
        self.vcs, self.heads, self.tails = (1 << bits) - 1, 2 << bits, 4 << bits
        # channels whose packet is named: nothing is looked for there but its end
        self.quiet = np.zeros((len(self.links), max(link.vcs for link in self.links)), bool)
        self.open: dict[tuple[int, int], _Stay] = {}
        self.closed: dict[int, list[_Stay]] = {row: [] for row in range(len(self.links))}
        # by channel the packets that are whole, and whose last flit is to wait
        self.whole: dict[tuple[int, int], list[_Stay]] = {}
        # by link the packet whose first flit waits
        self.presented: dict[int, _Stay] = {}
        self.spread = int(engine.host.options[SPREAD])

    def _word(self, link: FabricLink, word: str) -> tuple[int, int]:
        """Byte of the engine's outputs where a word of a link begins, and its bytes."""
        start, size = self.engine.place(link.near.kind, word)
        return start + size * link.near.instance, size

    def _read(self, name: str) -> Any:
        """A register of the interfaces of the first lane."""
        return self.engine.register("interface", name)[:self.network.nodes].astype(np.int64)

    def follow(self, cycles: int) -> InterfaceTimes:
        t_ns, t_nr = self.network.configuration.t_ns, self.network.configuration.t_nr
        ports, links = (1 + max(link.number for link in self.links if link.kind == kind)
                        for kind in ("injection", "consumption"))
        left = np.full((ports, self.network.nodes), t_ns)
        waited = np.zeros((links, self.network.nodes), np.int64)
        rows = np.arange(len(self.links))
        for cycle in range(cycles):
            if t_ns:
                before, left = left, np.array([startup_left(port, self._read) for port in range(ports)])
                for port, node in np.argwhere((before != left) & ((left == 0) | (before == t_ns))).tolist():
                    self._present(self.at["injection", port, node], int(left[port, node]), cycle)
            if t_nr:
                before, waited = waited, np.array([through(link, self._read) for link in range(links)])
                for link, node in np.argwhere(waited & ~before).tolist():
                    self._pass(self.at["consumption", link, node], int((waited & ~before)[link, node]), cycle)
            marks = self.engine.outputs[self.marks_at].astype(np.int64)
            vcs = marks >> 1 & self.vcs
            here = (marks & 1).astype(bool) & (((marks & self.tails) != 0) | ~self.quiet[rows, vcs])
            for row in np.flatnonzero(here).tolist():
                mark = int(marks[row])
                self._look(row, int(vcs[row]), bool(mark & self.heads[row]), bool(mark & self.tails[row]), cycle)
            self.engine.run(1, beyond=True)
        return self._times()

    def _present(self, row: int, left: int, cycle: int) -> None:
        """A first flit has waited a cycle, or, with nothing ``left``, all of t_ns."""
        if row not in self.presented:
            self.presented[row] = _Stay(NONE)
            self.presented[row].begun = cycle - 1
        if left == 0:
            self.presented[row].ended = cycle

    def _pass(self, row: int, bits: int, cycle: int) -> None:
        """The last flits of these channels have waited t_nr."""
        for vc in range(self.links[row].vcs):
            if bits >> vc & 1 and (waiting := self.whole.get((row, vc))):
                stay = waiting.pop(0)
                stay.begun, stay.ended = cycle - self.network.configuration.t_nr, cycle

    def _look(self, row: int, vc: int, head: bool, tail: bool, cycle: int) -> None:
        """A flit of a packet that is not named, or a last one."""
        stay = self.open.get((row, vc))
        if stay is None:
            stay = self.presented.pop(row, None) or _Stay(NONE)
            stay.first = cycle
            self.open[row, vc] = stay
        if not head and not self.quiet[row, vc]:
            start, size = self._word(self.links[row], data_word(self.links[row].near.port))
            stay.flits.append(int.from_bytes(self.engine.outputs[start:start + size].tobytes(), "little"))
            if tail or len(stay.flits) == self.spread:
                stay.name = packet_of(self.engine.host, stay.flits, begins=True) or stay.name
                self.quiet[row, vc] = True
        if tail:
            stay.last = cycle
            self.quiet[row, vc] = False
            self.closed[row].append(self.open.pop((row, vc)))
            if self.links[row].kind == "consumption":
                self.whole.setdefault((row, vc), []).append(stay)

    def _times(self) -> InterfaceTimes:
        found = InterfaceTimes([], [])
        copies: dict[tuple[int, Packet], int] = {}
        for (row, _), stay in self.open.items():
            self.closed[row].append(stay)
        for row, stay in self.presented.items():
            self.closed[row].append(stay)
        for row, link in enumerate(self.links):
            node = link.node
            assert node is not None
            for stay in self.closed[row]:
                worm, packet = stay.name
                if link.kind == "injection":
                    if worm != NONE and self.engine.host.worms["posting"][worm] != NONE:
                        nth = copies[node, stay.name] = copies.get((node, stay.name), -1) + 1
                        children = children_at(self.engine.host, node, worm)
                        worm = children[nth] if nth < len(children) else NONE
                    found.sent.append(SentPacket(node, link.number, worm, packet, stay.begun, stay.ended, stay.first,
                                                 stay.last))
                else:
                    found.received.append(ReceivedPacket(node, link.number, self._bringing(node, worm), packet,
                                                         stay.first, stay.last, stay.begun, stay.ended))
        return found

    def _bringing(self, node: int, worm: int) -> int:
        """The worm that brings a node the packets of this name."""
        host = self.engine.host
        if worm == NONE or host.worms["posting"][worm] == NONE:
            return worm
        last = int(host.worms["posting"][worm])
        rows = slice(int(host.worms["delivery"][worm]), int(host.worms["delivery_end"][last]))
        brings = host.deliveries["worm"][rows][host.deliveries["node"][rows] == node]
        return int(brings[0]) if len(brings) else NONE
