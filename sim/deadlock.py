"""Deadlock, proved: the wait-for graph of the packets in a network, read from its registers and reduced.

A packet is what the network takes for a worm: a host's worm, or a piece of it with a header of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.hw.intake import Mark

from .engines.bulk import BulkEngine
from .host import NOW, Packet, packet_at_interface, packet_of
from .network import Network

__all__ = ["Deadlock", "Hold", "find_deadlock"]

#: Registers that a component may lack: one virtual channel needs no number, the local input no consumption channel,
#: a single reader no mark of being through.
ABSENT = {"link_vc", "consumption_vc", "packet_vc", "here", "wants_consumption", "done_0", "done_1"}

Integers = npt.NDArray[np.int64]

Channel = tuple[int, int, int]
"""An input virtual channel: router, port, virtual channel."""

Wait = tuple[list[str], list[Packet | None]]
"""Resources of which any one will do, and who holds each; None for one that is not held for ever."""


@dataclass(frozen=True)
class Hold:
    """One packet of a cyclic wait: it holds what its predecessor waits for. Resources are written as in JSON.

    Parameters
    ----------
    worm : int
    packet : int or None
        Which packet of the worm, from 0; None where the worm is of one packet.
    holds, waits : tuple of str
    """

    worm: int
    packet: int | None
    holds: tuple[str, ...]
    waits: tuple[str, ...]

    @property
    def name(self) -> str:
        """Who it is, in words: ``worm 3``, or ``worm 3, packet 0``."""
        return f"worm {self.worm}" if self.packet is None else f"worm {self.worm}, packet {self.packet}"

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON; with a packet where the worm has several."""
        packet = {} if self.packet is None else {"packet": self.packet}
        return {"worm": self.worm, **packet, "holds": list(self.holds), "waits": list(self.waits)}


@dataclass(frozen=True)
class Deadlock:
    """Packets that no future event can release.

    Parameters
    ----------
    at : int
        Cycle in which it was proved.
    cycle : tuple of Hold
        One cycle inside: each waits for the next one, the last for the first.
    packets : frozenset of (int, int)
        All in the routers that cannot be released, worm and number; those wholly at their source, waiting behind
        one, apart: they hold nothing.
    """

    at: int
    cycle: tuple[Hold, ...]
    packets: frozenset[Packet]

    @property
    def worms(self) -> frozenset[int]:
        """The worms that these packets belong to."""
        return frozenset(worm for worm, _ in self.packets)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {"at": self.at, "cycle": [hold.to_dict() for hold in self.cycle]}


class _Snapshot:
    """The registers of all routers and interfaces that say who holds what, and what the buffers hold."""

    def __init__(self, engine: BulkEngine):
        self.engine = engine
        network, configuration = engine.network, engine.network.configuration
        self.network, self.host = network, engine.host
        self.inputs, self.outputs = network.router_inputs, network.router_outputs
        self.ejection = len(self.outputs)
        self.vcs, self.depth, self.width = configuration.vcs, configuration.buffer, configuration.flit_width
        self.neighbours = network.topology.neighbours
        self._cache: dict[tuple[str, str], np.ndarray] = {}
        self._links: dict[tuple[str, str], np.ndarray] = {}
        self._occupants: dict[Channel, list[Packet | None]] = {}
        self.upstream = {(int(v), int(i)): (int(u), int(o)) for u, o, v, i in network.topology.links}
        self.downstream = {near: far for far, near in self.upstream.items()}

    def register(self, kind: str, name: str, instance: int) -> Any:
        """A register of one instance; 0 for those of `ABSENT` that the component was built without."""
        if (kind, name) not in self._cache:
            if name in self.engine.kernels[kind].state or name.rsplit(".", 1)[-1] not in ABSENT:
                self._cache[kind, name] = self.engine.register(kind, name)
            else:
                self._cache[kind, name] = np.zeros(len(self.network.kinds[kind].instances), np.int64)
        return self._cache[kind, name][instance]

    def of(self, channel: Channel, name: str) -> int:
        """A register of an input virtual channel."""
        router, port, vc = channel
        return int(self.register("router", f"{self.inputs[port]}_input.channel_{vc}.{name}", router))

    def channels(self) -> Iterator[Channel]:
        """All input virtual channels."""
        for router in range(self.network.nodes):
            for port in range(len(self.inputs)):
                for vc in range(self.vcs):
                    yield router, port, vc

    def output(self, channel: Channel) -> int | None:
        """The network output that the packet at the front goes to."""
        links = self.of(channel, "links")
        return next((o for i, o in enumerate(self.network.reaches(channel[1])) if links >> i & 1), None)

    def consumes(self, channel: Channel) -> bool:
        """Whether the packet at the front holds a consumption channel."""
        # of two readers the second one may be through with it before the packet is gone
        return bool(self.of(channel, "here") and not self.of(channel, "wants_consumption")
                    and not self.of(channel, "done_1"))

    def owns_link(self, channel: Channel) -> bool:
        """Whether the packet at the front owns a virtual channel of its link."""
        # and so may the first one with the link
        return bool(self.of(channel, "owns_link") and not self.of(channel, "done_0"))

    @cached_property
    def owners(self) -> dict[tuple[int, int, int], Channel]:
        """The input virtual channel whose front packet owns a virtual channel of an output: router, output, number."""
        found = {}
        for channel in self.channels():
            router = channel[0]
            if self.consumes(channel):
                found[router, self.ejection, self.of(channel, "consumption_vc")] = channel
            output = self.output(channel)
            if output is not None and self.owns_link(channel):
                found[router, output, self.of(channel, "link_vc")] = channel
        return found

    def far_end(self, router: int, output: int, vc: int) -> Channel:
        """The input virtual channel at the far end of an output's virtual channel."""
        return *self.downstream[router, output], vc

    def _unread(self, channel: Channel) -> list[int]:
        """Flits stored that each reader of a buffer has before it."""
        router, port, vc = channel
        prefix = f"{self.inputs[port]}_input.buffer.vc{vc}_"
        readers = 2 if f"{prefix}level1" in self.engine.kernels["router"].state else 1
        # the level counts a flit that left in the cycle before
        return [int(self.register("router", f"{prefix}level{r}", router)).bit_count()
                - int(self.register("router", f"{prefix}left{r}", router)) for r in range(readers)]

    def full(self, channel: Channel) -> bool:
        """Whether a buffer has no room for a flit, with one that is on its link."""
        return max(self._unread(channel)) + len(self._on_link(channel)) == self.depth

    def stored(self, channel: Channel) -> list[int]:
        """Rows in a buffer, front first, and of the flit on its link: data, then marks."""
        router, port, vc = channel
        prefix = f"{self.inputs[port]}_input.buffer."
        memory = self.register("router", prefix + "memory", router)
        # of several readers the last one has the most before it
        levels = self._unread(channel)
        last = int(np.argmax(levels))
        start = 0 if self.depth == 1 else int(self.register("router", f"{prefix}vc{vc}_read{last}_at", router))
        first_row = vc << (self.depth - 1).bit_length()
        rows = [int(memory[first_row + (start + k) % self.depth]) for k in range(levels[last])]
        return rows + self._on_link(channel)

    def _on_link(self, channel: Channel) -> list[int]:
        """The flit that lies on the link to a buffer, as a row of it."""
        router, port, vc = channel
        if port >= self.ejection:
            word = self._driven("interface", f"network_out_{port - self.ejection}")[router]
        elif (router, port) in self.upstream:
            near, output = self.upstream[router, port]
            word = self._driven("router", f"{self.outputs[output]}_out")[near]
        else:
            return []
        vc_bits = (self.vcs - 1).bit_length()
        if not word & 1 or word >> 1 & (1 << vc_bits) - 1 != vc:
            return []
        flit = word >> 1 + vc_bits
        head, tail, data = flit & 1, flit >> 1 & 1, flit >> 2
        mark = Mark.TAIL if tail else Mark.PAYLOAD
        return [data | (1 if head else mark.value << 1) << self.width]

    def _driven(self, kind: str, port: str) -> np.ndarray:
        if (kind, port) not in self._links:
            self._links[kind, port] = self.engine.output(kind, port)
        return self._links[kind, port]

    def occupants(self, channel: Channel) -> list[Packet | None]:
        """Packets in a buffer, front first; None for one that is on the move where no register tells."""
        if channel not in self._occupants:
            self._occupants[channel] = []  # ends a search that runs in a circle
            self._occupants[channel] = self._find_occupants(channel)
        return self._occupants[channel]

    def _find_occupants(self, channel: Channel) -> list[Packet | None]:
        pieces: list[list[int]] = [[]]
        for row in self.stored(channel):
            pieces[-1].append(row)
            if self._mark(row) is Mark.TAIL:
                pieces.append([])
        active = self.of(channel, "here") or self.of(channel, "links")
        if not pieces[-1] and (len(pieces) > 1 or not active):
            pieces.pop()
        return [self._name(piece, channel) for piece in pieces]

    def _mark(self, row: int) -> Mark | None:
        """Mark of a row that is no header flit; see `row_layout`."""
        head, code = row >> self.width & 1, row >> self.width + 1
        return None if head else Mark(code & 3)

    def _name(self, rows: list[int], channel: Channel) -> Packet | None:
        """The packet that flits belong to: by what a payload flit says, or by who is sending it.

        Header flits say nothing of it, and those without payload behind them are still being sent: no packet ends in
        a header flit.
        """
        for row in rows:
            if self._mark(row) in (Mark.PAYLOAD, Mark.TAIL):
                return packet_of(self.host, row & (1 << self.width) - 1)
        return self.sender(channel)

    def front(self, channel: Channel | None) -> Packet | None:
        """The packet at the front of a buffer."""
        found = self.occupants(channel) if channel else []
        return found[0] if found else None

    def sender(self, channel: Channel) -> Packet | None:
        """The packet whose flits are still to come on an input virtual channel."""
        router, port, vc = channel
        if port >= self.ejection:
            return self._injecting(router, port - self.ejection, vc)
        if (router, port) not in self.upstream:
            return None
        return self.front(self.owners.get((*self.upstream[router, port], vc)))

    def _injecting(self, node: int, port: int, vc: int) -> Packet | None:
        """The packet that a node's interface is sending on this virtual channel."""
        def register(name: str, instance: int) -> Any:
            return self.register("interface", name, instance)

        return packet_at_interface(self.host, register, self.engine.on_host_link(node, port), node, port, vc)

    def moves(self, channel: Channel) -> list[Packet | None]:
        """Packets whose flits go on here by themselves: into the buffer, as far as it has room, or to the node."""
        moving: list[Packet | None] = []
        sender = self.sender(channel)
        if sender is not None and not self.full(channel):
            moving.append(sender)
        front, unread = self.front(channel), self._unread(channel)
        if len(unread) > 1 and self.consumes(channel) and (unread[1] or sender != front):
            # a reader of its own takes what is here, and then, where nothing more is to come, lets the channel go
            moving.append(front)
        return moving


def find_deadlock(engine: BulkEngine) -> Deadlock | None:
    """Prove that packets wait for each other for ever, or return None.

    The graph's vertices are packets. One waits for a consumption channel or a virtual channel of a link (any one of
    those it may take: OR), and for the packets before it in each buffer that it stands in (all: AND). Packets that
    wait for nothing, or for something that a releasable packet holds, are released; the rest is the deadlock.
    Consumption itself always goes on, and a packet that no register names counts as releasable.

    So does one whose flits can still close up behind its header: its tail may yet pass what it holds. The others of a
    deadlock have come to rest, so that the first of them to move would need what another one must give free before.
    Every deadlock comes to rest within the time that its buffers take to fill.
    """
    snapshot = _Snapshot(engine)
    waits: dict[Packet, list[Wait]] = {}
    holds: dict[Packet, list[str]] = {}
    moving: set[Packet | None] = set()

    for channel in snapshot.channels():
        moving.update(snapshot.moves(channel))
        packets = snapshot.occupants(channel)
        if not packets:
            continue
        router, port, vc = channel
        arrived = f"link:{snapshot.upstream[router, port][0]}>{router}:{vc}" if port < snapshot.ejection else None
        for place, packet in enumerate(packets):
            if packet is None:
                continue
            waits.setdefault(packet, [])
            if arrived:
                _add(holds, packet, arrived)
            if place:
                waits[packet].append(([arrived or f"injection:{router}:{vc}"], [packets[0]]))
        front = packets[0]
        if front is not None:
            held, wait = _at_front(snapshot, channel, engine.network)
            for resource in held:
                _add(holds, front, resource)
            waits[front] += wait

    stuck = set(waits) - moving
    while True:
        released = {
            packet for packet in stuck
            if all(any(holder not in stuck for holder in holders) for _, holders in waits[packet])
        }
        if not released:
            break
        stuck -= released
    if not stuck:
        return None
    return Deadlock(int(engine.host.counters[NOW]), _cycle(stuck, waits, holds, engine.host.packets),
                    frozenset(stuck))


def _at_front(snapshot: _Snapshot, channel: Channel, network: Network) -> tuple[list[str], list[Wait]]:
    """What the packet at the front of a buffer holds from there on, and what it waits for."""
    router, port, _ = channel
    output = snapshot.output(channel)
    held = [f"cons:{router}:{snapshot.of(channel, 'consumption_vc')}"] if snapshot.consumes(channel) else []
    if snapshot.of(channel, "wants_consumption"):
        mask = network.consumption_mask(router, port, output, bool(snapshot.of(channel, "final")))
        wanted = [c for c in range(network.configuration.consumption) if mask >> c & 1]
        owners = [snapshot.owners.get((router, snapshot.ejection, c)) for c in wanted]
        return held, [([f"cons:{router}:{c}" for c in wanted], [snapshot.front(owner) for owner in owners])]
    if output is None:
        return held, []
    far = int(snapshot.neighbours[router, output])
    if snapshot.of(channel, "owns_link"):
        owned = [f"link:{router}>{far}:{snapshot.of(channel, 'link_vc')}"] if snapshot.owns_link(channel) else []
        return held + owned, []
    return held, [([f"link:{router}>{far}:{w}" for w in range(snapshot.vcs)],
                   [_link_holder(snapshot, router, output, w) for w in range(snapshot.vcs)])]


def _link_holder(snapshot: _Snapshot, router: int, output: int, vc: int) -> Packet | None:
    """The packet because of which a virtual channel of a link cannot be taken."""
    owner = snapshot.owners.get((router, output, vc))
    if owner is not None:
        return snapshot.front(owner)
    # nobody owns it: it can be taken as soon as the buffer behind it has room
    behind = snapshot.far_end(router, output, vc)
    return snapshot.front(behind) if snapshot.full(behind) else None


def _add(holds: dict[Packet, list[str]], packet: Packet, resource: str) -> None:
    if resource not in holds.setdefault(packet, []):
        holds[packet].append(resource)


def _cycle(stuck: set[Packet], waits: dict[Packet, list[Wait]], holds: dict[Packet, list[str]],
           packets: Integers) -> tuple[Hold, ...]:
    """Follow the waits among packets that cannot be released until one comes round; worms have so many packets."""
    path: list[Packet] = []
    why: list[tuple[str, ...]] = []
    packet = min(stuck)
    while packet not in path:
        path.append(packet)
        resources, first = next(
            (resources, holders[0]) for resources, holders in waits[packet]
            if all(holder in stuck for holder in holders)
        )
        why.append(tuple(resources))
        assert first is not None
        packet = first
    start = path.index(packet)
    return tuple(
        Hold(worm, number if packets[worm] > 1 else None, tuple(holds.get((worm, number), ())), reasons)
        for (worm, number), reasons in zip(path[start:], why[start:], strict=True)
    )
