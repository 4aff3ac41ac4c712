"""Log of the channels that each worm is granted, with each wait for a grant and the message that caused the wait."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.hw.input_probe import PathProbe

from ..build.fabric import FabricLink
from ..build.network import Network
from ..host import NOW, SIZES, Host
from ..lowering import Kernel, NativeCall
from .packet_tracker import (
    CONSUMPTION_DONE,
    COUNT,
    ELIGIBLE,
    FIRST,
    HERE,
    LINK_DONE,
    MESSAGE,
    NEEDS_LINK,
    NOBODY,
    OWNS_LINK,
    REQUESTS_CONSUMPTION,
    TAIL,
    WORM,
    run_tracked,
)

__all__ = ["GRANT", "Grants"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: Fields of the record of a grant: at a switch, a packet is granted a channel, or reaches the front of a buffer.
#: ``worm``: number of the worm, counted from the first worm of the run.
#: ``packet``: number of the packet in its worm, from 0.
#: ``kind``: what is granted: an `INJECTION` channel, a `LINK`, a `CONSUMPTION` channel, or the front of a `BUFFER`.
#: ``kind`` `TURN`, if turns are recorded: a cycle in which a flit could move and another worm was served.
#: ``wait``: cycles that the packet waited for the channel, or for the front of the buffer.
#: ``behind``: number, in its lane, of the message whose worm occupied the channel or its buffer when the wait began.
#: ``behind`` of a `TURN`: number of the message whose worm was served.
#: ``behind`` is `NOBODY` if no worm occupied the channel or its buffer, or without a wait.
#: ``sender``: source node of the message ``behind``; `NOBODY` if ``behind`` is `NOBODY`.
FIELDS = "worm", "packet", "switch", "kind", "wait", "behind", "sender"
GRANT = np.dtype([(field, np.int64) for field in FIELDS])

#: Cycles from the host's sending of a worm's first flit until the flit is on the link to the router, without waits or
#: t_ns.
INTERFACE = 3

#: Cycles from a header flit on the link to a router until the registers of the router's input unit hold its route.
HEADER = 2

#: Smallest size of the log, in entries. The log is larger if two cycles can add more than `ROOM` entries.
ROOM = 1 << 16


def _record(*fields: str) -> np.dtype:
    return np.dtype([(field, np.int64) for field in fields])


#: Record that describes a kind of routers (`FrontTable.kinds`). ``start``: first byte of the kind's state.
#: ``instances``: number of the kind's routers in all lanes.
#: ``tile_bytes``, ``lanes``: number of bytes, and of routers, of a tile of the kind's state.
#: ``unit``: number of routers, one bit each, in a word of `GrantTracking.before`.
#: ``first``: index of the kind's first router in `FrontTable.switch`.
#: ``out``: number of the first output channel of the kind's first router.
#: ``outs``: number of output channels of each router.
KIND = _record("start", "tile_bytes", "lanes", "unit", "instances", "first", "out", "outs")

#: Record that describes an input virtual channel in all routers of a kind (`FrontTable.channels`).
#: ``kind``: row in `FrontTable.kinds`. ``input``: number of the router's input.
#: ``first``: number of the channel's front in the kind's first router.
#: ``word``: first word of the channel's fronts in `GrantTracking.before`.
#: ``links``, ``links_end``: range of the channel's rows in `FrontTable.links`.
#: ``ejection_ports``: first of the channel's rows in `FrontTable.ejection_ports`.
#: ``link_vc``, ``ejection_port``, ``consumption_vc``, ``position``: first row in `FrontTable.pieces` of the register of
#: this name.
#: ``pieces_end``: index after the last row of ``position`` in `FrontTable.pieces`.
#: The rows of ``link_vc``, ``ejection_port`` and ``consumption_vc`` in `FrontTable.pieces` end where the rows of the
#: next register begin.
CHANNEL = _record("kind", "first", "input", "word", "links", "links_end", "ejection_ports",
                  "link_vc", "ejection_port", "consumption_vc", "position", "pieces_end")


class FrontTable(NamedTuple):
    """Registers of all fronts, by their memory addresses, and the network links that join fronts.

    Each input virtual channel of a router has one *front*, registers that describe the first worm in the buffer.
    An *output channel* is a virtual channel of a router's output (also of an ejection port), or of an injection link.
    """

    # columns 0 and 1 of ``ports``: byte of the link's marks in the outputs, and index of the link in `Host.streams`
    # columns 2 and 3 of ``ports``: number of bits of a virtual channel's number, and switch to which the link leads
    ports: Integers  # [injection links, 4]
    injected: Integers  # [injection links, virtual channels]: number of each virtual channel among the output channels
    least: int  # least number of cycles that a worm's first flit spends in the interface
    lag: int  # cycles from a grant's entry in the registers until the worm's first flit can be on the granted link
    header: int  # cycles from a header flit on a link until the router has decoded it
    packet: int  # payload flits of a packet; 0: worms are sent whole
    kinds: npt.NDArray[np.void]  # KIND
    channels: npt.NDArray[np.void]  # CHANNEL
    flags: Integers  # [flags]: byte in a tile at which the bits of a flag register begin
    flag_ends: Integers  # [channels, 8]: bounds in ``flags`` of the flags with each meaning, from `NEEDS_LINK` on
    links: Integers  # [targets, 2]: byte of the target's flag in a tile, number of the target's output
    ejection_ports: Integers  # [ejection_ports]: number of the ejection port among the router's outputs
    # columns of ``pieces``: lowest bit in the register, width, lowest bit in the number that holds the piece
    # columns 3 and 4 of ``pieces``: byte of this number in a tile, and its size in bits
    pieces: Integers  # [pieces of registers, 5]
    vcs: int  # number of output channels for each output of a router
    switch: Integers  # [routers]: number of the router's switch in its lane
    into: Integers  # [output channels]: number of the front at the channel's far end; -1 if the channel leads to a node
    nodes: int  # number of nodes of a lane
    turns: int  # 1: log the flits that could move and did not (`TURN`)


class GrantTracking(NamedTuple):
    """State of the tracking: the packet at each front, and the worm that holds, or last held, each output channel."""

    before: Words  # [words, 6]: bits `WAITS` to `ABLE` of the fronts in the cycle before, a bit for each front
    current: Integers  # [fronts]: packet at the front: its number, plus its worm's number times 2**`PACKET_BITS`
    # columns 0 and 1 of ``queue``: packet that will reach the front, and cycle of its first flit on the front's link
    # column 2 of ``queue``: message and sender (`_name`) of the worm that owned the channel before the packet's worm
    queue: Integers  # [fronts, queue places, 3]
    first: Integers  # [fronts]: number of packets taken from ``queue``
    end: Integers  # [fronts]: number of packets put into ``queue``
    asked: Integers  # [fronts, 2]: cycles in which the worm at the front requested a link, and a consumption channel
    held: Integers  # [fronts, 2]: output channels that the worm at the front holds: of a link, of an ejection port
    came: Integers  # [fronts]: cycle in which the present worm reached the front
    left: Integers  # [fronts]: cycle in which the previous worm left the front
    owner: Integers  # [output channels]: message and sender (`_name`) of the worm that holds, or last held, the channel
    released: Integers  # [output channels]: cycle in which a worm last released the channel
    ports: Integers  # [injection links, 6]: latest packet on the link, in the columns `OPEN` to `TAIL`
    could: Words  # [words]: a bit for each front, set if it had a flit that could move in the cycle before
    position: Integers  # [fronts]: read position of the first reader in the cycle before
    uses: Integers  # [fronts]: outputs of the flit that could move; bit 0: a link, bit 1: an ejection port
    holds: Integers  # [fronts]: 1 if the worm held a channel for the flit that could move
    went: Integers  # [fronts]: 1 if the flit that could move has moved
    log: Integers  # [entries, fields of `GRANT`]
    counters: Integers


class Grants:
    """Record of the grants to all worms of a network, from its first cycle on.

    A packet is identified on its injection link, from the order in which the host has sent worms. Buffers are queues,
    so the identity of a packet follows its first flit from channel to channel. A packet waits in each cycle in which it
    requests a channel and is not granted one. Waits for links and consumption channels equal the waits in
    `LinkTrace.waits`. A wait is *behind* the message that held the channel last, if that message's worm still occupied
    the channel or its buffer when the wait began.

    A packet's wait for an injection channel begins `FrontTable.least` cycles after the host sends the worm's first flit
    to the interface. The wait for an injection channel ends when the packet's first flit is on the injection link. A
    packet's wait for the front of a buffer begins `FrontTable.header` cycles after the packet's first flit is on the
    link to the buffer. The wait for the front ends when the packet reaches the front.

    Parameters
    ----------
    network : Network
        Network without retransmission slots, which would give worms other flits.
    kernels : mapping of str to Kernel
    states : mapping of kind of routers to int
        First byte of each kind's state in ``state``.
    place : callable
        `BulkEngine.place`: (kind, word) -> first byte of the word in the outputs, bytes from instance to instance.
    state : uint8 array [bytes]
        State of all components, the state of routers first. The address of ``state`` must not change.
    turns : bool
        Log flits that could move and did not, because the link or the input served another worm. Buffers with
        independent readers are not supported, because only the first reader of a buffer is observed.
    """

    def __init__(self, network: Network, kernels: Mapping[str, Kernel], states: Mapping[str, int],
                 place: Callable[[str, str], tuple[int, int]], state: npt.NDArray[np.uint8], *, turns: bool):
        self._states = tuple(state.view(f"u{size}") for size in SIZES)
        self.fronts, fronts, words = _Layout(network, kernels, states, place, turns).fronts()
        outs, most = len(self.fronts.into), (3 + turns) * fronts + len(self.fronts.ports)
        ports = np.zeros((len(self.fronts.ports), 6), np.int64)
        ports[:, [WORM, MESSAGE]], ports[:, TAIL] = NOBODY, -INTERFACE - 1
        self.tracking = GrantTracking(
            before=np.zeros((words, 6), np.uint64), current=np.full(fronts, NOBODY),
            # a packet is queued when it is granted the channel, before its first flit arrives in the buffer
            queue=np.full((fronts, network.configuration.buffer + 2, 3), NOBODY),
            first=np.zeros(fronts, np.int64), end=np.zeros(fronts, np.int64), asked=np.zeros((fronts, 2), np.int64),
            held=np.zeros((fronts, 2), np.int64), came=np.full(fronts, NOBODY),
            left=np.full(fronts, -INTERFACE - 1), owner=np.full(outs, NOBODY),
            released=np.full(outs, -INTERFACE - 1), ports=ports,
            could=np.zeros(words, np.uint64), position=np.zeros(fronts, np.int64), uses=np.zeros(fronts, np.int64),
            holds=np.zeros(fronts, np.int64), went=np.zeros(fronts, np.int64),
            log=np.zeros((max(ROOM, 2 * most), len(FIELDS)), np.int64), counters=np.array([0, 0, most]))
        self._taken: list[npt.NDArray[np.void]] = []

    def run(self, cycles: int, beyond: bool, host: Host, outputs: npt.NDArray[np.uint8], cycle: NativeCall) -> None:
        """Run the network as `run_cycles` does, and log the grants.

        Parameters
        ----------
        cycles, beyond
            Arguments of `run_cycles`.
        outputs : uint8 [bytes]
            Words that the components and the hosts drive.
        cycle : NativeCall
            A call of `run_cycles` for one cycle.
        """
        before = int(host.counters[NOW])
        end = before + cycles
        call = run_tracked.prepared(cycles, beyond, self.fronts, self.tracking, self._states, outputs, host,
                                     *cycle.pointers)
        while before < end:
            call(end - before)
            self._take()
            now = int(host.counters[NOW])
            if now == before:
                break  # everything is delivered
            before = now

    def _take(self) -> None:
        """Move the entries of the log to the list of grants."""
        count = int(self.tracking.counters[COUNT])
        self._taken.append(self.tracking.log[:count].copy().view(GRANT).reshape(-1))
        self.tracking.counters[COUNT] = 0

    def number_from(self, first: int) -> None:
        """Set the number that the first worm in the hosts' program has, counted from the first worm of the run."""
        self.tracking.counters[FIRST] = first

    def take(self) -> npt.NDArray[np.void]:
        """Return the grants since the last call of `take`, as `GRANT` records in the order of cycles."""
        taken, self._taken = self._taken, []
        return np.concatenate([np.zeros(0, GRANT), *taken])


class _Layout:
    """Builder of the `FrontTable` of a network; see `Grants`."""

    def __init__(self, network: Network, kernels: Mapping[str, Kernel], states: Mapping[str, int],
                 place: Callable[[str, str], tuple[int, int]], turns: bool):
        self.network, self.kernels, self.states, self.place, self.turns = network, kernels, states, place, turns
        self.flags: list[int] = []
        self.flag_ends: list[list[int]] = []
        self.links: list[tuple[int, int]] = []
        self.ejection_ports: list[int] = []
        self.pieces: list[tuple[int, ...]] = []
        # `front`: number of the front in the kind's first router, by (kind, input, virtual channel)
        # `out`: number of the first output channel in the kind's first router, by kind
        self.front: dict[tuple[str, int, int], int] = {}
        self.out: dict[str, int] = {}
        self.vcs = max(spec.vcs for router in network.routers.values() for spec in router.outputs)

    def fronts(self) -> tuple[FrontTable, int, int]:
        """Return the `FrontTable`, the number of fronts, and the number of words that hold one bit for each front."""
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
                    probe = network.probe(name, port, vc)
                    assert isinstance(probe, PathProbe)
                    channels.append((number, fronts, port, words, *self._channel(kernel, probe)))
                    fronts += instances
                    words += -(-instances // unit)
            outs += instances * self._outputs(name)
            routers += instances
        links = [(lane, link) for lane in range(network.lanes) for link in network.fabric.of_kind("injection")]
        injected = outs + np.arange(len(links) * self.vcs).reshape(-1, self.vcs)
        members = [np.tile(network.switch_kinds[name].members, network.lanes) for name in network.routers]
        return FrontTable(
            ports=np.array([self._port(lane, link) for lane, link in links], np.int64), injected=injected,
            least=INTERFACE + configuration.t_ns, lag=int(configuration.delays == "fast"), header=HEADER,
            packet=configuration.packet, kinds=np.array(kinds, KIND), channels=np.array(channels, CHANNEL),
            flags=np.array(self.flags, np.int64), flag_ends=np.array(self.flag_ends, np.int64),
            links=np.array(self.links, np.int64).reshape(-1, 2), ejection_ports=np.array(self.ejection_ports, np.int64),
            pieces=np.array(self.pieces, np.int64).reshape(-1, 5), vcs=self.vcs,
            switch=np.concatenate(members).astype(np.int64), into=self._into(outs, injected, links),
            nodes=network.nodes, turns=int(self.turns),
        ), fronts, words

    def _outputs(self, kind: str) -> int:
        """Return the number of output channels that each router of a kind has."""
        return len(self.network.routers[kind].outputs) * self.vcs

    def _port(self, lane: int, link: FabricLink) -> tuple[int, ...]:
        """Return an injection link's row in `FrontTable.ports`."""
        assert link.node is not None
        (start, step), node = self.place(link.near.kind, link.near.port), lane * self.network.nodes + link.node
        return (start + step * node, link.number * self.network.hosts + node, (link.vcs - 1).bit_length(), link.target)

    def _into(self, outs: int, injected: Integers, links: Sequence[tuple[int, FabricLink]]) -> Integers:
        """Return the front at each output channel's far end, for ``outs`` channels of routers, then injection links."""
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
        """Return the numbers of the fronts to which a link leads, one for each virtual channel of the link."""
        kind, instance, _ = link.far
        assert link.input is not None
        return [self.front[kind, link.input, vc] + lane * self.network.count(kind) + instance
                for vc in range(link.vcs)]

    def _channel(self, kernel: Kernel, probe: PathProbe) -> tuple[int, ...]:
        """Add an input virtual channel to the tables, and return its fields of `CHANNEL` from ``links`` on."""
        links, ejection_ports = len(self.links), len(self.ejection_ports)
        named = {NEEDS_LINK: "links", OWNS_LINK: "owns_link", LINK_DONE: "done_0",
                 REQUESTS_CONSUMPTION: "wants_consumption", HERE: "here", CONSUMPTION_DONE: "done_1",
                 ELIGIBLE: "readers__0__eligible" if self.turns else None}
        ends = [len(self.flags)]
        for what in range(len(named)):
            name = named[what]
            if name and (register := probe.register(name)):
                self.flags += kernel.flags(register)
            ends.append(len(self.flags))
        self.flag_ends.append(ends)
        if register := probe.register("links"):
            self.links += zip(kernel.flags(register), (output for output, _ in probe.targets), strict=True)
        self.ejection_ports += probe.ejection_ports
        pieces = [len(self.pieces)]
        for register in (*map(probe.register, ("link_vc", "ejection_port", "consumption_vc")), probe.position):
            if register:
                self.pieces += [(piece.low, piece.width, piece.shift, piece.places[0].offset, piece.places[0].bits)
                                for piece in kernel.state[register].pieces]
            pieces.append(len(self.pieces))
        return links, len(self.links), ejection_ports, *pieces
