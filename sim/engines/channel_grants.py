"""Channels that each worm gets on its way, with the wait for each and the message behind which it waited."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.hw.front import PathFront

from ..build.fabric import FabricLink
from ..build.network import Network
from ..host import NOW, Host
from ..lowering import Kernel
from .packet_tracker import (
    ASKS,
    CLAIMS,
    COUNT,
    DONE,
    ELIGIBLE,
    FIRST,
    HERE,
    MESSAGE,
    NOBODY,
    OWNS,
    TAIL,
    THROUGH,
    WORM,
    run_followed,
)

__all__ = ["GRANT", "Grants"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: Grant of a channel to a packet of a worm. ``worm``: its number from the first worm on. ``packet``: from 0.
#: ``switch``. ``kind``: the `INJECTION` channel, a `LINK`, a `CONSUMPTION` channel, the front of a `BUFFER`, or a
#: `TURN`: one flit's use of a link, if turns are recorded. ``wait``: cycles. ``behind``: number, in its lane, of the
#: message whose worm held the channel during the wait. ``sender``: the source of that message. Both are `NOBODY` if
#: no worm did.
FIELDS = "worm", "packet", "switch", "kind", "wait", "behind", "sender"
GRANT = np.dtype([(field, np.int64) for field in FIELDS])

#: Cycles from the one in which a worm is handed over until its first flit is on the router's link, without waits.
INTERFACE = 3

#: Cycles from a header flit on a router's link until the input unit's registers hold its route.
HEADER = 2

#: Entries of the log; more if two cycles can add more.
ROOM = 1 << 16


def _record(*fields: str) -> np.dtype:
    return np.dtype([(field, np.int64) for field in fields])


#: Kind of routers. ``start``: first byte of its state. ``tile_bytes``, ``lanes``: of a tile. ``unit``: fronts in a
#: word of `Following.before`. ``instances``. ``first``: its first router in `Fronts.switch`. ``out``, ``outs``: the
#: first out of the first router, and the number of outs of each router.
KIND = _record("start", "tile_bytes", "lanes", "unit", "instances", "first", "out", "outs")

#: Input virtual channel of a kind. ``first``: its front at the first router. ``input``. ``word``: its first word in
#: `Following.before`. ``links``, ``links_end``, ``exits``: rows of `Fronts`. The others: first pieces of registers,
#: each up to the next.
CHANNEL = _record("kind", "first", "input", "word", "links", "links_end", "exits", "link_vc", "exit", "consumption_vc",
                  "position", "pieces_end")


class Fronts(NamedTuple):
    """Places of the registers of the worm at the front of each input virtual channel, and the links between fronts.

    An *out* is a virtual channel of a router's output, a consumption channel, or a virtual channel of an injection
    link; a *front* is an input virtual channel of a router.
    """

    ports: Integers  # [injection links]: byte of its marks, the host's stream, bits of a virtual channel, switch
    injected: Integers  # [injection links, virtual channels], its out
    least: int  # cycles that a worm spends in the interface without waits
    lag: int  # cycles from a router's grant until the flit is on the link
    header: int  # cycles from a header flit on a link until the router has decoded it
    packet: int  # payload flits, or 0
    kinds: npt.NDArray[np.void]  # KIND
    channels: npt.NDArray[np.void]  # CHANNEL
    flags: Integers  # [flags], first byte in a tile
    flag_ends: Integers  # [channels, 8], end of the flags of each meaning, one after the other
    links: Integers  # [targets], byte of its flag in a tile, output
    exits: Integers  # [exits], output
    pieces: Integers  # [pieces of registers], low bit, width, shift, byte in a tile, bits of the number there
    vcs: int  # outs of an output
    switch: Integers  # [routers], number of the switch in the lane
    into: Integers  # [outs], the front that the out leads to; -1: a node
    nodes: int  # of a lane
    turns: int  # 1: count waits of flits for their turn


class Following(NamedTuple):
    """State of the followed worms, packet by packet."""

    before: Words  # [words of fronts, 6], flags in the cycle before
    current: Integers  # [fronts], the worm there
    queue: Integers  # [fronts, places, 3], from ``first`` to ``end``: next worms, their cycles, and behind which worms
    first: Integers  # [fronts]
    end: Integers  # [fronts]
    asked: Integers  # [fronts, 2], cycle of the request for a link, and for a consumption channel
    held: Integers  # [fronts, 2], outs that the worm has
    came: Integers  # [fronts], cycle in which the worm came
    left: Integers  # [fronts], cycle in which the last worm left
    owner: Integers  # [outs], name of the worm that has it, or had it last
    released: Integers  # [outs], cycle of the release
    ports: Integers  # [injection links, 6]
    could: Words  # [words of fronts], a flit could go in the cycle before
    position: Integers  # [fronts], position of its reader in the cycle before
    uses: Integers  # [fronts], bit 0: the flit goes on; bit 1: to the node
    holds: Integers  # [fronts], the worm had channels for the flit
    went: Integers  # [fronts], the flit has gone
    log: Integers  # [entries, fields of `GRANT`]
    counters: Integers


class Grants:
    """Follows the worms of a network from its first cycle on.

    A packet's identity is passed on from the host's injection port with its first flit, channel by channel, because
    buffers are queues. A wait is a cycle with a request and without a grant. Waits for a link and a consumption channel
    are those of `LinkTrace.waits`. Waits for the injection channel and for the front of a buffer are the cycles of the
    first flit in the interface and in the buffer beyond the minimum. A wait is *behind* the message that had the
    channel last, if that message was still there when the wait began.

    Parameters
    ----------
    network : Network
        Network without retransmission slots, which would give worms other flits.
    kernels : mapping of str to Kernel
    states : mapping of kind of routers to int
        First byte of the state of each kind.
    place : callable
        (kind, word) -> byte of the outputs of the word's first instance, and the step to the next instance.
    state : uint8 array [bytes]
        State of all routers. The array must not move.
    turns : bool
        Count flits that could go and did not, because the link or the input served another worm. Only with coupled
        readers: the second reader of others is not observed.
    """

    def __init__(self, network: Network, kernels: Mapping[str, Kernel], states: Mapping[str, int],
                 place: Callable[[str, str], tuple[int, int]], state: npt.NDArray[np.uint8], *, turns: bool):
        self._states = tuple(state.view(f"u{size}") for size in (1, 2, 4, 8))
        self.fronts, fronts, words = _Layout(network, kernels, states, place, turns).fronts()
        outs, most = len(self.fronts.into), (3 + turns) * fronts + len(self.fronts.ports)
        ports = np.zeros((len(self.fronts.ports), 6), np.int64)
        ports[:, [WORM, MESSAGE]], ports[:, TAIL] = NOBODY, -INTERFACE - 1
        self.following = Following(
            before=np.zeros((words, 6), np.uint64), current=np.full(fronts, NOBODY),
            # a packet has at least two flits, and may have its channel before its first flit is in the buffer
            queue=np.full((fronts, network.configuration.buffer + 2, 3), NOBODY),
            first=np.zeros(fronts, np.int64), end=np.zeros(fronts, np.int64), asked=np.zeros((fronts, 2), np.int64),
            held=np.zeros((fronts, 2), np.int64), came=np.full(fronts, NOBODY),
            left=np.full(fronts, -INTERFACE - 1), owner=np.full(outs, NOBODY),
            released=np.full(outs, -INTERFACE - 1), ports=ports,
            could=np.zeros(words, np.uint64), position=np.zeros(fronts, np.int64), uses=np.zeros(fronts, np.int64),
            holds=np.zeros(fronts, np.int64), went=np.zeros(fronts, np.int64),
            log=np.zeros((max(ROOM, 2 * most), len(FIELDS)), np.int64), counters=np.array([0, 0, most]))
        self._taken: list[npt.NDArray[np.void]] = []

    def run(self, cycles: int, beyond: bool, host: Host, arguments: tuple[Any, ...],
            switches: Mapping[str, bool]) -> None:
        """Run as `run_cycles` with these arguments, including the host, and these switches."""
        before = int(host.counters[NOW])
        end = before + cycles
        call = run_followed.prepared(cycles, beyond, self.fronts, self.following, self._states, *arguments, **switches)
        while before < end:
            call(end - before)
            self._take()
            now = int(host.counters[NOW])
            if now == before:
                break  # everything is delivered
            before = now

    def _take(self) -> None:
        """Move the entries of the log to a list."""
        count = int(self.following.counters[COUNT])
        self._taken.append(self.following.log[:count].copy().view(GRANT).reshape(-1))
        self.following.counters[COUNT] = 0

    def number_from(self, first: int) -> None:
        """Set the number of the host's first worm, counted from the first worm of all."""
        self.following.counters[FIRST] = first

    def take(self) -> npt.NDArray[np.void]:
        """Return the grants since the last call, `GRANT` records in the order of cycles."""
        taken, self._taken = self._taken, []
        return np.concatenate([np.zeros(0, GRANT), *taken])


class _Layout:
    """Builder of the `Fronts` of a network; see `Grants`."""

    def __init__(self, network: Network, kernels: Mapping[str, Kernel], states: Mapping[str, int],
                 place: Callable[[str, str], tuple[int, int]], turns: bool):
        self.network, self.kernels, self.states, self.place, self.turns = network, kernels, states, place, turns
        self.flags: list[int] = []
        self.flag_ends: list[list[int]] = []
        self.links: list[tuple[int, int]] = []
        self.exits: list[int] = []
        self.pieces: list[tuple[int, ...]] = []
        # first front of each input virtual channel, and first out of each kind of routers
        self.front: dict[tuple[str, int, int], int] = {}
        self.out: dict[str, int] = {}
        self.vcs = max(spec.vcs for router in network.routers.values() for spec in router.outputs)

    def fronts(self) -> tuple[Fronts, int, int]:
        """Return the tables, the number of fronts, and the number of words of fronts."""
        network, configuration = self.network, self.network.configuration
        kinds: list[tuple[int, ...]] = []
        channels: list[tuple[int, ...]] = []
        fronts, words, outs, routers = 0, 0, 0, 0
        for number, (name, router) in enumerate(network.routers.items()):
            kernel, instances = self.kernels[name], network.count(name) * network.lanes
            unit = min(64, kernel.vector_width)
            self.out[name] = outs
            kinds.append((self.states[name], kernel.tile_bytes, kernel.vector_width, unit, instances, routers, outs,
                          self._outputs(name)))
            for port in range(len(router.inputs)):
                for vc in range(configuration.vcs):
                    self.front[name, port, vc] = fronts
                    front = network.front(name, port, vc)
                    assert isinstance(front, PathFront)
                    channels.append((number, fronts, port, words, *self._channel(kernel, front)))
                    fronts += instances
                    words += -(-instances // unit)
            outs += instances * self._outputs(name)
            routers += instances
        links = [(lane, link) for lane in range(network.lanes) for link in network.fabric.of_kind("injection")]
        injected = outs + np.arange(len(links) * self.vcs).reshape(-1, self.vcs)
        members = [np.tile(network.switch_kinds[name].members, network.lanes) for name in network.routers]
        return Fronts(
            ports=np.array([self._port(lane, link) for lane, link in links], np.int64), injected=injected,
            least=INTERFACE + configuration.t_ns, lag=int(configuration.delays == "fast"), header=HEADER,
            packet=configuration.packet, kinds=np.array(kinds, KIND), channels=np.array(channels, CHANNEL),
            flags=np.array(self.flags, np.int64), flag_ends=np.array(self.flag_ends, np.int64),
            links=np.array(self.links, np.int64).reshape(-1, 2), exits=np.array(self.exits, np.int64),
            pieces=np.array(self.pieces, np.int64).reshape(-1, 5), vcs=self.vcs,
            switch=np.concatenate(members).astype(np.int64), into=self._into(outs, injected, links),
            nodes=network.nodes, turns=int(self.turns),
        ), fronts, words

    def _outputs(self, kind: str) -> int:
        """Return the number of outs of a router of a kind."""
        return len(self.network.routers[kind].outputs) * self.vcs

    def _port(self, lane: int, link: FabricLink) -> tuple[int, ...]:
        """Return an injection link's row: byte of its marks, the host's stream, bits of a virtual channel, switch."""
        assert link.node is not None
        (start, step), node = self.place(link.near.kind, link.near.port), lane * self.network.nodes + link.node
        return (start + step * node, link.number * self.network.hosts + node, (link.vcs - 1).bit_length(), link.target)

    def _into(self, outs: int, injected: Integers, links: Sequence[tuple[int, FabricLink]]) -> Integers:
        """Return the front that each out leads to, for ``outs`` of routers and for injection links."""
        into = np.full(outs + injected.size, NOBODY)
        for lane in range(self.network.lanes):
            for link in self.network.fabric.of_kind("network"):
                kind, instance, _ = link.near
                router = lane * self.network.count(kind) + instance
                assert link.output is not None
                first = self.out[kind] + router * self._outputs(kind) + link.output * self.vcs
                into[first:first + link.vcs] = self._fronts(lane, link)
        for row, (lane, link) in enumerate(links):
            into[injected[row, :link.vcs]] = self._fronts(lane, link)
        return into

    def _fronts(self, lane: int, link: FabricLink) -> list[int]:
        """Return the fronts that a link leads to, by virtual channel."""
        kind, instance, _ = link.far
        assert link.input is not None
        return [self.front[kind, link.input, vc] + lane * self.network.count(kind) + instance
                for vc in range(link.vcs)]

    def _channel(self, kernel: Kernel, front: PathFront) -> tuple[int, ...]:
        """Return the rows of an input virtual channel in the other tables, as in `CHANNEL` from ``links`` on."""
        links, exits = len(self.links), len(self.exits)
        named = {ASKS: "links", OWNS: "owns_link", THROUGH: "done_0", CLAIMS: "wants_consumption", HERE: "here",
                 DONE: "done_1", ELIGIBLE: "eligible_0" if self.turns else None}
        ends = [len(self.flags)]
        for what in range(len(named)):
            name = named[what]
            if name and (register := front.register(name)):
                self.flags += kernel.flags(register)
            ends.append(len(self.flags))
        self.flag_ends.append(ends)
        if register := front.register("links"):
            self.links += zip(kernel.flags(register), (output for output, _ in front.targets), strict=True)
        self.exits += front.exits
        pieces = [len(self.pieces)]
        for register in (*map(front.register, ("link_vc", "exit", "consumption_vc")), front.position):
            if register:
                self.pieces += [(piece.low, piece.width, piece.shift, piece.places[0].offset, piece.places[0].bits)
                                for piece in kernel.state[register].pieces]
            pieces.append(len(self.pieces))
        return links, len(self.links), exits, *pieces
