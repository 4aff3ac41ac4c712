"""Times at which packets leave and enter each network interface, read from its links and registers."""

from typing import Any, NamedTuple

import numpy as np

from wormcast.hw.interface.interface_probe import packets_served, service_ended, startup_left, tails_waited

from ..build.fabric import FabricLink
from ..host import Packet, children_at, packet_of
from ..host.constants import NONE, SPREAD
from .bulk import BulkEngine
from .port_packing import data_word

__all__ = ["InterfaceTimes", "ReceivedPacket", "SentPacket", "follow_interfaces"]


class SentPacket(NamedTuple):
    """Packet on its way from an interface to its router.

    Members
    -------
    node, port : int
        Node of the interface, and number of its injection port.
    worm : int
        Worm of the packet; if interfaces forward the packet, the worm from this node to the child; -1 if unknown.
    packet : int
        Number of the packet in the message, from 0; -1 if unknown.
    presented, started : int
        Cycles in which the first flit begins and ends its wait of t_ns; -1 if t_ns is 0 or the cycle is not recorded.
    first, last : int
        Cycles in which the packet's first and last flit are on the link; -1: not in the recorded cycles.
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
    """Packet on its way from a router to an interface.

    Members
    -------
    node, link : int
        Node of the interface, and number of its consumption link.
    worm, packet : int
        Worm that delivers the packet to this node, and number of the packet, as in `SentPacket`.
    first, last : int
        Cycles in which the packet's first and last flit are on the link; -1: not in the recorded cycles.
    held, passed : int
        The last flit waits t_nr from cycle ``held`` to ``passed`` - 1; -1 if t_nr is 0, or without a recorded wait.
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
    """All recorded packets, link by link; the packets of a link are in the order of their last flits."""

    sent: list[SentPacket]
    received: list[ReceivedPacket]


def follow_interfaces(engine: BulkEngine, cycles: int) -> InterfaceTimes:
    """Run an engine for ``cycles`` cycles, and record packets at the interfaces of its first lane.

    The engine must be in its first cycle, and runs as by ``run(cycles, beyond=True)``. Packets are identified by their
    payload. All copies of a packet that interfaces forward have the same payload. The copies that a node sends are
    assigned to its children in the children's order, which is the order of sending with fpfs and with fcfs.
    """
    return _Follower(engine).follow(cycles)


class _Stay:
    """Record of a packet on a virtual channel of a link, up to the present cycle."""

    def __init__(self, first: int, begun: int = NONE, ended: int = NONE):
        self.first, self.last = first, NONE
        self.flits: list[int] = []  # payload flits, until they identify the packet
        self.name: Packet = (NONE, NONE)
        # begin and end of a flit's wait: t_ns of a sent packet's first flit, t_nr of a received packet's last flit
        self.begun, self.ended = begun, ended


class _Follower:
    def __init__(self, engine: BulkEngine):
        self.engine, self.network = engine, engine.network
        fabric = self.network.fabric
        self.links: list[FabricLink] = [*fabric.of_kind("injection"), *fabric.of_kind("consumption")]
        self.at = {(link.kind, link.number, link.node): row for row, link in enumerate(self.links)}
        self.marks_at = np.array([self._word(link, link.near.port)[0] for link in self.links])
        bits = np.array([(link.vcs - 1).bit_length() for link in self.links])
        self.vcs, self.heads, self.tails = (1 << bits) - 1, 2 << bits, 4 << bits
        # [links, virtual channels]: true from the end of a packet's identification until the packet's last flit
        self.quiet = np.zeros((len(self.links), max(link.vcs for link in self.links)), bool)
        self.open: dict[tuple[int, int], _Stay] = {}
        self.closed: dict[int, list[_Stay]] = {row: [] for row in range(len(self.links))}
        # by link and virtual channel: received packets whose last flit may still wait for t_nr
        self.whole: dict[tuple[int, int], list[_Stay]] = {}
        # by consumption link: what `tails_waited`, or as the first value `packets_served`, returned in the cycle before
        self.waited: dict[int, Any] = {}
        # by injection link: the packet whose first flit waits for t_ns
        self.presented: dict[int, _Stay] = {}
        self.spread = int(engine.host.options[SPREAD])

    def _word(self, link: FabricLink, word: str) -> tuple[int, int]:
        """Return the byte of the engine's outputs at which a word of a link begins, and the word's size in bytes."""
        start, size = self.engine.place(link.near.kind, word)
        return start + size * link.near.instance, size

    def _read(self, name: str) -> Any:
        """Return a register of the interfaces of the first lane."""
        return self.engine.register("interface", name)[:self.network.nodes].astype(np.int64)

    def _waited(self, link: int) -> Any:
        """Return masks of the channels of a consumption link where a wait for t_nr ends in this cycle, node by node."""
        consumption, before = self.network.interface.consumptions[link], self.waited.get(link, 0)
        if consumption.queue is None:
            self.waited[link] = tails_waited(link, self._read)
            return self.waited[link] & ~before
        channels, places = consumption.port.vcs, consumption.queue.places
        self.waited[link], channel = packets_served(link, self._read, channels, places)
        changed = self.waited[link] != before if channels * places > 1 else self.waited[link] > before
        return changed.astype(np.int64) << channel

    def follow(self, cycles: int) -> InterfaceTimes:
        t_ns, t_nr = self.network.configuration.t_ns, self.network.configuration.t_nr
        ports, links = (1 + max(link.number for link in self.links if link.kind == kind)
                        for kind in ("injection", "consumption"))
        left = np.full((ports, self.network.nodes), t_ns)
        granted = np.zeros((ports, self.network.nodes), np.int64)
        one = self.network.configuration.ni_processors == "one"
        rows = np.arange(len(self.links))
        for cycle in range(cycles):
            if t_ns and one:
                before, granted = granted, np.array([service_ended(port, self._read) for port in range(ports)])
                for port, node in np.argwhere(granted & ~before).tolist():
                    self.presented[self.at["injection", port, node]] = _Stay(NONE, cycle - t_ns, cycle)
            elif t_ns:
                before, left = left, np.array([startup_left(port, self._read) for port in range(ports)])
                for port, node in np.argwhere((before != left) & ((left == 0) | (before == t_ns))).tolist():
                    self._present(self.at["injection", port, node], int(left[port, node]), cycle)
            if t_nr:
                waited = np.array([self._waited(link) for link in range(links)])
                for link, node in np.argwhere(waited).tolist():
                    self._pass(self.at["consumption", link, node], int(waited[link, node]), cycle)
            marks = self.engine.outputs[self.marks_at].astype(np.int64)
            vcs = marks >> 1 & self.vcs
            here = (marks & 1).astype(bool) & (((marks & self.tails) != 0) | ~self.quiet[rows, vcs])
            for row in np.flatnonzero(here).tolist():
                mark = int(marks[row])
                self._look(row, int(vcs[row]), bool(mark & self.heads[row]), bool(mark & self.tails[row]), cycle)
            self.engine.run(1, beyond=True)
        return self._times()

    def _present(self, row: int, left: int, cycle: int) -> None:
        """Record that a first flit has begun to wait for t_ns, or, if ``left`` is 0, that the wait has ended."""
        if row not in self.presented:
            self.presented[row] = _Stay(NONE)
            self.presented[row].begun = cycle - 1
        if left == 0:
            self.presented[row].ended = cycle

    def _pass(self, row: int, bits: int, cycle: int) -> None:
        """Record that packets' last flits have waited t_nr on the virtual channels in the mask ``bits``."""
        for vc in range(self.links[row].vcs):
            if bits >> vc & 1 and (waiting := self.whole.get((row, vc))):
                stay = waiting.pop(0)
                stay.begun, stay.ended = cycle - self.network.configuration.t_nr, cycle

    def _look(self, row: int, vc: int, head: bool, tail: bool, cycle: int) -> None:
        """Record a flit on a link: one of a packet's first flits, which identify the packet, or its last flit."""
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
        """Return the worm that delivers packets to a node; ``worm``: that worm, or a forwarded message's first worm."""
        host = self.engine.host
        if worm == NONE or host.worms["posting"][worm] == NONE:
            return worm
        last = int(host.worms["posting"][worm])
        rows = slice(int(host.worms["delivery"][worm]), int(host.worms["delivery_end"][last]))
        brings = host.deliveries["worm"][rows][host.deliveries["node"][rows] == node]
        return int(brings[0]) if len(brings) else NONE
