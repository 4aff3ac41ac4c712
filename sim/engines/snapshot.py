"""Who holds what in a network, and what its buffers hold: read from the registers of routers and interfaces."""

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from wormcast.hw.front import PathFront
from wormcast.hw.intake import Mark

from ..build.fabric import Link
from ..host import Packet, packet_at_interface, packet_of
from .bulk import BulkEngine
from .front import Channel

__all__ = ["Snapshot"]


class Snapshot:
    """One lane of a network in one cycle; packets are what it takes for worms (see `find_deadlock`)."""

    def __init__(self, engine: BulkEngine, lane: int = 0):
        self.engine, self.lane = engine, lane
        network, configuration = engine.network, engine.network.configuration
        self.network, self.host, self.fabric = network, engine.host, network.fabric
        self.vcs, self.depth, self.width = configuration.vcs, configuration.buffer, configuration.flit_width
        self._registers: dict[tuple[str, str], list[Any]] = {}
        self._links: dict[tuple[str, str], list[int]] = {}
        self._occupants: dict[Channel, list[Packet | None]] = {}

    def register(self, kind: str, name: str, instance: int) -> Any:
        """A register of one instance, counted from the lane's first."""
        values = self._registers.get((kind, name))
        if values is None:
            values = self._registers[kind, name] = self._of_lane(kind, self.engine.register(kind, name))
        return values[instance]

    def _of_lane(self, kind: str, values: np.ndarray) -> list[Any]:
        count = self.network.count(kind)
        return values[self.lane * count:(self.lane + 1) * count].tolist()

    def read(self, channel: Channel, name: str) -> int:
        """A register of the router of an input virtual channel."""
        home = self.network.home(channel[0])
        return int(self.register(home.kind, name, home.instance))

    def front(self, channel: Channel) -> PathFront:
        """How an input virtual channel's front is read."""
        switch, port, vc = channel
        return self.network.front(self.network.home(switch).kind, port, vc)

    def of(self, channel: Channel, name: str) -> int:
        """A register of the worm at a front; 0 for one that it is built without."""
        register = self.front(channel).register(name)
        return self.read(channel, register) if register else 0

    def waiting(self, channel: Channel) -> int:
        """What the packet at the front waits for, as `PathFront.waiting` says it."""
        return int(self.front(channel).waiting(partial(self.of, channel)))

    def held(self, channel: Channel) -> list[tuple[int, int]]:
        """What the packet at the front holds from there on."""
        return self.front(channel).holds(partial(self.of, channel))

    def channels(self) -> Iterator[Channel]:
        """All input virtual channels to which something leads."""
        for switch, port in sorted(self.fabric.into):
            for vc in range(self.vcs):
                yield switch, port, vc

    @cached_property
    def owners(self) -> dict[tuple[int, int, int], Channel]:
        """The input virtual channel whose front packet owns a virtual channel of an output: switch, output, number."""
        return {(channel[0], *target): channel for channel in self.channels() for target in self.held(channel)}

    def far_end(self, switch: int, output: int, vc: int) -> Channel:
        """The input virtual channel at the far end of an output's virtual channel."""
        link = self.fabric.links[self.fabric.out_of[switch, output]]
        assert link.input is not None
        return link.target, link.input, vc

    def link(self, channel: Channel) -> Link:
        """The link that leads to an input virtual channel."""
        switch, port, _ = channel
        return self.fabric.links[self.fabric.into[switch, port]]

    def _unread(self, channel: Channel) -> list[int]:
        """Flits stored that each reader of a buffer has before it."""
        return self.front(channel).unread(partial(self.read, channel))

    def full(self, channel: Channel) -> bool:
        """Whether a buffer has no room for a flit, with one that is on its link."""
        return max(self._unread(channel)) + len(self._on_link(channel)) == self.depth

    def stored(self, channel: Channel) -> list[int]:
        """Rows in a buffer, front first, and of the flit on its link: data, then marks."""
        front, home = self.front(channel), self.network.home(channel[0])
        memory = self.register(home.kind, front.memory, home.instance)
        # of several readers the last one has the most before it
        levels = self._unread(channel)
        last = int(np.argmax(levels))
        first, start = front.first_row(last, partial(self.read, channel))
        rows = [int(memory[first + (start + k) % self.depth]) for k in range(levels[last])]
        return rows + self._on_link(channel)

    def _on_link(self, channel: Channel) -> list[int]:
        """The flit that lies on the link to a buffer, as a row of it."""
        kind, instance, port = self.link(channel).near
        word = self._driven(kind, port)[instance]
        vc_bits = (self.vcs - 1).bit_length()
        if not word & 1 or word >> 1 & (1 << vc_bits) - 1 != channel[2]:
            return []
        flit = word >> 1 + vc_bits
        head, tail, data = flit & 1, flit >> 1 & 1, flit >> 2
        mark = Mark.TAIL if tail else Mark.PAYLOAD
        return [data | (1 if head else mark.value << 1) << self.width]

    def _driven(self, kind: str, port: str) -> list[int]:
        if (kind, port) not in self._links:
            self._links[kind, port] = self._of_lane(kind, self.engine.output(kind, port))
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
        active = self.front(channel).active(partial(self.of, channel))
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

    def first(self, channel: Channel | None) -> Packet | None:
        """The packet at the front of a buffer."""
        found = self.occupants(channel) if channel else []
        return found[0] if found else None

    def sender(self, channel: Channel) -> Packet | None:
        """The packet whose flits are still to come on an input virtual channel."""
        link = self.link(channel)
        if link.node is not None:
            return self._injecting(link, channel[2])
        assert link.output is not None
        return self.first(self.owners.get((link.source, link.output, channel[2])))

    def _injecting(self, link: Link, vc: int) -> Packet | None:
        """The packet that a node's interface is sending on this virtual channel of an injection link."""
        node = link.near.instance

        def register(name: str, _: int) -> Any:
            if self.vcs == 1 and name.endswith(".packet_vc"):
                return 0  # one virtual channel needs no number
            return self.register("interface", name, node)

        instance, port = self.lane * self.network.nodes + node, link.number
        return packet_at_interface(self.host, register, self.network.configuration.queue,
                                   self.engine.on_host_link(instance, port), instance, port, vc)

    def moves(self, channel: Channel) -> list[Packet | None]:
        """Packets whose flits go on here by themselves: into the buffer, as far as it has room, or to the node."""
        moving: list[Packet | None] = []
        sender = self.sender(channel)
        if sender is not None and not self.full(channel):
            moving.append(sender)
        front, unread = self.first(channel), self._unread(channel)
        consumes = self.front(channel).consumes(partial(self.of, channel))
        if len(unread) > 1 and consumes and (unread[1] or sender != front):
            # a reader of its own takes what is here, and then, where nothing more is to come, lets the channel go
            moving.append(front)
        return moving
