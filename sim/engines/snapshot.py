"""Who holds what in a network, and what its buffers hold: read from the registers of routers and interfaces."""

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from wormcast.hw.intake import Mark

from ..host import Packet, packet_at_interface, packet_of
from .bulk import BulkEngine
from .front import Channel, consumes, output_of, owns_link, register_of, unread

__all__ = ["Snapshot"]


class Snapshot:
    """One lane of a network in one cycle; packets are what it takes for worms (see `find_deadlock`)."""

    def __init__(self, engine: BulkEngine, lane: int = 0):
        self.engine = engine
        network, configuration = engine.network, engine.network.configuration
        self.network, self.host = network, engine.host
        self._instances = slice(lane * network.nodes, (lane + 1) * network.nodes)
        self.inputs, self.outputs = network.router_inputs, network.router_outputs
        self.ejection = len(self.outputs)
        self.vcs, self.depth, self.width = configuration.vcs, configuration.buffer, configuration.flit_width
        self.neighbours = network.topology.neighbours
        self._registers: dict[tuple[str, str], list[Any]] = {}
        self._links: dict[tuple[str, str], list[int]] = {}
        self._occupants: dict[Channel, list[Packet | None]] = {}
        self.upstream = {(int(v), int(i)): (int(u), int(o)) for u, o, v, i in network.topology.links}
        self.downstream = {near: far for far, near in self.upstream.items()}

    def register(self, kind: str, name: str, instance: int) -> Any:
        """A register of one instance."""
        values = self._registers.get((kind, name))
        if values is None:
            values = self._registers[kind, name] = self.engine.register(kind, name)[self._instances].tolist()
        return values[instance]

    def of(self, channel: Channel, name: str) -> int:
        """A register of an input virtual channel; 0 for one that it is built without."""
        router, port, vc = channel
        register = register_of(self.network, port, vc, name)
        return int(self.register("router", register, router)) if register else 0

    def channels(self) -> Iterator[Channel]:
        """All input virtual channels."""
        for router in range(self.network.nodes):
            for port in range(len(self.inputs)):
                for vc in range(self.vcs):
                    yield router, port, vc

    def output(self, channel: Channel) -> int | None:
        """The network output that the packet at the front goes to."""
        return output_of(self.network, channel[1], self.of(channel, "links"))

    def consumes(self, channel: Channel) -> bool:
        """Whether the packet at the front holds a consumption channel."""
        return bool(consumes(partial(self.of, channel)))

    def owns_link(self, channel: Channel) -> bool:
        """Whether the packet at the front owns a virtual channel of its link."""
        return bool(owns_link(partial(self.of, channel)))

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
        return unread(self.network, port, vc, lambda name: int(self.register("router", name, router)))

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
        start = self.register("router", f"{prefix}vc{vc}_read{last}_at", router) if self.depth > 1 else 0
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

    def _driven(self, kind: str, port: str) -> list[int]:
        if (kind, port) not in self._links:
            self._links[kind, port] = self.engine.output(kind, port)[self._instances].tolist()
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
        def register(name: str, _: int) -> Any:
            if self.vcs == 1 and name.endswith(".packet_vc"):
                return 0  # one virtual channel needs no number
            return self.register("interface", name, node)

        instance = self._instances.start + node
        return packet_at_interface(self.host, register, self.network.configuration.queue,
                                   self.engine.on_host_link(instance, port), instance, port, vc)

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
