"""Trace of virtual channels: the worm that holds each channel in each cycle, and the requests of waiting worms.

The hardware carries no worm numbers. Payload flits contain a tag that identifies their worm. A worm holds a virtual
channel from its first flit to its tail. The trace identifies the worm on a channel by the tag in the worm's first
payload flits, which may pass long after its header. If no payload flit of the holder has passed on a channel by the end
of the recording, the holder is identified from the registers, as in the deadlock analysis.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.compiled import compiled
from wormcast.hw.deep.state_text import describe_fetch, describe_reader, describe_rows, reader_fields, row_fields
from wormcast.hw.deep.switch_spec import DeepSwitchSpec
from wormcast.hw.input_probe import TOKEN, TURN

from ...build.fabric import FabricLink, LinkEnd
from ...build.network import Network
from ...engines.bulk import BulkEngine
from ...engines.port_packing import data_word
from ...engines.resources import Registers, resource, wanted
from ...engines.snapshot import Snapshot
from ...host.constants import SPREAD, TAG_BITS, WIDTH
from ...host.payload import joined
from ...lowering import Block

__all__ = ["NOBODY", "LinkTrace", "trace_links", "vc_at_output", "wanted_by"]

NOBODY = -1
#: Number in place of a worm that holds a channel and is not identified yet.
UNIDENTIFIED = -2
#: Value of `TagAssembly.flits` if the packet's worm is identified, or the packet's first flit passed before the
#: recording.
UNKNOWN = -1

#: Maximum number of bytes of router states that `_States` stores at a time. If the states of one cycle have more bytes,
#: `_States` stores one cycle at a time.
STATE_BYTES = 1 << 22

Codes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int16]
Values = npt.NDArray[np.int64]


class LinkTrace(NamedTuple):
    """Recorded values, [cycles, links] or [cycles, virtual channels of all links, link by link].

    Members
    -------
    marks : uint8
        Flit on each link, from bit 0: valid, virtual channel, head, tail. 0: no flit.
    held : int32
        Worm that holds each virtual channel, or `NOBODY`.
    front : int32
        Worm at the front of the buffer at the channel's end, from the decoding of its header on, or `NOBODY`.
    waits : int64
        Requests of the worm in ``front`` that are not granted in this cycle, as a code of `InputProbe.waiting`; see
        `wanted_by`. For consumption channels and slots, ``waits`` has indices into ``asked``.
    targets : int64
        Outputs of the worm in ``front``, as a code of `InputProbe.going`.
    stored : int16
        Number of flits in the buffer at the channel's end; a complete row of a deep buffer counts as full.
    owners : int16
        Input virtual channel, in the router at the link's start, that owns each channel. Virtual channel v of input
        port p has the code 1 + p x V + v, where V is the number of virtual channels of an input port. In ``owners``,
        the code is 0 if no input owns the channel.
    rows : int32
        Rows of the deep buffer at the channel's end, as an index into ``words``.
    reads, fetches : int32
        Indices into ``words``, in deep switches: read position of the switch output that sends on the channel
        (``reads``), and row fetched for this output (``fetches``).
    tokens : bool
        The worm in ``front`` holds the token of its switch's group.
    asked : tuple of str
        Texts to which indices in ``waits`` refer: names of alternative resources as in JSON, separated by ``|``. The
        waiting worm needs one of the resources in the text.
    words : tuple of str
        Descriptions of rows and readers of deep switches.
    """

    marks: npt.NDArray[np.uint8]
    held: npt.NDArray[np.int32]
    front: npt.NDArray[np.int32]
    waits: Codes
    targets: Codes
    stored: Counts
    owners: Counts
    rows: npt.NDArray[np.int32]
    reads: npt.NDArray[np.int32]
    fetches: npt.NDArray[np.int32]
    tokens: npt.NDArray[np.bool_]
    asked: tuple[str, ...] = ("",)
    words: tuple[str, ...] = ("",)


def trace_links(engine: BulkEngine, links: Sequence[FabricLink], cycles: int, lane: int = 0) -> LinkTrace:
    """Run an engine for ``cycles`` cycles, trace the links of a lane, and restore the engine's state."""
    before = engine.capture()
    try:
        return _Tracer(engine, links, cycles, lane).trace()
    finally:
        engine.restore(before)


def wanted_by(network: Network, link: FabricLink, vc: int, code: int) -> str:
    """Decode `LinkTrace.waits`: names of alternative resources as in JSON, separated by ``|``."""
    if not code:
        return ""
    assert link.input is not None
    return "|".join(resource(network, link.target, *target)
                    for targets in wanted(network, (link.target, link.input, vc), code) for target in targets)


def vc_at_output(network: Network, link: FabricLink, vc: int) -> int:
    """Return the number that virtual channel ``vc`` of a link has at the output that drives the link.

    The consumption channels of a router's output to a node may be on several links.
    """
    if link.kind != "consumption" or link.node is None:
        return vc
    return vc + link.first - next(other.first for other in network.consumption_links(link.node)
                                  if other.output == link.output)


class _Tracer:
    def __init__(self, engine: BulkEngine, links: Sequence[FabricLink], cycles: int, lane: int):
        self.engine, self.links, self.cycles, self.lane = engine, links, cycles, lane
        self.network = engine.network
        self.channels = [(link, vc) for link in links for vc in range(link.vcs)]
        self.link_of = np.repeat(np.arange(len(links)), [link.vcs for link in links])
        self.vc_of = np.array([vc for _, vc in self.channels], np.int64)
        self.vc_bits = np.array([(link.vcs - 1).bit_length() for link, _ in self.channels], np.int64)
        self.ending = np.array([link.kind == "consumption" for link, _ in self.channels], bool)
        self.marks_at, self.data_at = (
            np.array([self._place(link, word) for link in links], np.int64) for word in (str, data_word))
        self.data_bytes = min(2, engine.place(links[0].near.kind, data_word(links[0].near.port))[1])
        self.tags = TagAssembly(
            np.cumsum([0, *(link.vcs for link in links[:-1])]),
            np.array([(link.vcs - 1).bit_length() for link in links]),
            np.full(len(self.channels), UNKNOWN), np.zeros(len(self.channels), np.int64),
            engine.host.options)

    def _place(self, link: FabricLink, word: Any) -> int:
        start, size = self.engine.place(link.near.kind, word(link.near.port))
        return start + size * self._instance(link.near)

    def _instance(self, end: LinkEnd) -> int:
        """Return the number of the router or interface at an end of a link, in the lane that is traced."""
        return self.lane * self.network.count(end.kind) + end.instance

    def trace(self) -> LinkTrace:
        """Run the engine and record its links. The engine's state is not restored."""
        engine, cycles = self.engine, self.cycles
        # the arrays have one more row than there are cycles to trace: the last row shows the cycle after the last one
        marks = np.zeros((cycles + 1, len(self.links)), np.uint8)
        named = np.full((cycles + 1, len(self.links)), NOBODY, np.int32)
        waits, targets = np.zeros((2, cycles + 1, len(self.channels)), np.int64)
        stored, owners = np.zeros((2, cycles + 1, len(self.channels)), np.int16)
        tokens = np.zeros((cycles + 1, len(self.channels)), np.bool_)
        deep = _DeepWords(self)
        begun = self._begun()
        self.tags.flits[~begun] = 0
        queued = self._queued(begun)
        holders = self._holders(begun)
        ends = {end for link in self.links for end in (link.near, link.far) if end.kind in self.network.routers}
        states = _States(engine, self.lane, sorted({(end.kind, end.instance) for end in ends}), cycles + 1)
        for cycle in range(cycles + 1):
            read_flits(self.marks_at, self.data_at, self.data_bytes, engine.outputs, engine.host.tagged, self.tags,
                       marks[cycle], named[cycle])
            if states.add():
                self._read(states, waits, targets, stored, owners, tokens)
                deep.read(states)
            if cycle < cycles:
                engine.run(1, beyond=True)
        held = np.full((cycles + 1, len(self.channels)), NOBODY, np.int32)
        follow(marks, named, self.link_of, self.vc_of, self.vc_bits, self.ending, owners, begun, holders, held)
        self._identify(held)
        # a worm waits in a cycle if it makes the same request in this cycle and in the next one
        ungranted = np.zeros_like(waits[:-1])
        for at, (link, vc) in enumerate(self.channels):
            if link.input is not None:
                probe = self.network.probe(link.far.kind, link.input, vc)
                ungranted[:, at] = probe.in_vain(waits[:-1, at], waits[1:, at])
        at_front = np.full_like(held, NOBODY)
        find_front(held, targets, *queued, at_front)
        return LinkTrace(marks[:-1], held[:-1], at_front[:-1], ungranted, targets[:-1], stored[:-1], owners[:-1],
                         deep.rows[:-1], deep.reads[:-1], deep.fetches[:-1], tokens[:-1], words=tuple(deep.known))

    def _begun(self) -> npt.NDArray[np.bool_]:
        """Return, by virtual channel, whether the receiver has got the first flit of a worm, but not its tail."""
        found = np.zeros(len(self.channels), bool)
        for at, (link, vc) in enumerate(self.channels):
            if link.input is not None:
                name = self.network.probe(link.far.kind, link.input, vc).frame
                found[at] = self.engine.register(link.far.kind, name)[self._instance(link.far)] != 0
        return found

    def _holders(self, begun: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Return the worm that holds each virtual channel in ``begun``, as far as the registers identify it.

        The registers must identify such a worm at the start of the trace: if flits are narrow, the flits of the worm
        that pass later may have too few bits to identify the worm.
        """
        snapshot = Snapshot(self.engine, self.lane)
        return np.array([self._holder(snapshot, *channel) if begun[at] else NOBODY
                         for at, channel in enumerate(self.channels)], np.int32)

    def _queued(self, begun: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return, for each buffer, the worms whose tail flit has arrived in the buffer, oldest first, and their number.

        The first flits of the worm at the front may have left the buffer.
        """
        room = self.network.configuration.buffer
        worms, count = np.full((len(self.channels), room + 1), NOBODY, np.int32), np.zeros(len(self.channels), np.int64)
        snapshot = Snapshot(self.engine, self.lane)
        for at, (link, vc) in enumerate(self.channels):
            if link.input is None:
                continue
            packets = snapshot.occupants((link.target, link.input, vc))
            # the snapshot counts a flit on the link as stored, although its worm's tail flit is not in the buffer yet
            arriving = begun[at] or self._arrives(link, vc)
            whole = packets[:-1] if arriving and packets else packets
            count[at] = len(whole)
            worms[at, :len(whole)] = [NOBODY if packet is None else packet[0] for packet in whole]
        return worms, count

    def _arrives(self, link: FabricLink, vc: int) -> bool:
        """Return whether a flit of virtual channel ``vc`` is on the link."""
        mark = int(self.engine.outputs[self._place(link, str)])
        return bool(mark & 1) and mark >> 1 & (1 << (link.vcs - 1).bit_length()) - 1 == vc

    def _read(self, states: "_States", waits: Codes, targets: Codes, stored: Counts, owners: Counts,
              tokens: npt.NDArray[np.bool_]) -> None:
        """Read requests, targets, buffer fill levels, owners of virtual channels and holders of tokens from the
        routers' states."""
        vcs = self.network.configuration.vcs
        inputs: dict[tuple[str, int, int], tuple[Values, ...]] = {}
        owned: dict[tuple[str, int, int], Values] = {}
        taken: dict[tuple[str, int, int], Values] = {}
        for kind in states.kinds:
            read = partial(states.register, kind)
            for number, (port, vc) in enumerate(product(range(len(self.network.routers[kind].inputs)), range(vcs))):
                probe = self.network.probe(kind, port, vc)
                of = Registers(probe, read)
                inputs[kind, port, vc] = (probe.waiting(of), probe.going(of), np.maximum.reduce(probe.unread(read)))
                for output, whether, channel in probe.owns(of):
                    if output == TOKEN[0]:
                        taken[kind, port, vc] = whether
                        continue
                    for one in range(self.network.routers[kind].outputs[output].vcs):
                        sums = owned.setdefault((kind, output, one), np.zeros_like(channel))
                        sums += (number + 1) * (whether & (channel == one))
        rows = states.rows
        for at, (link, vc) in enumerate(self.channels):
            if link.output is not None:
                place = link.near.kind, link.output, vc_at_output(self.network, link, vc)
                if place in owned:
                    owners[rows, at] = owned[place][:, states.column[link.near.kind, link.near.instance]]
            if link.input is not None:
                column = states.column[link.far.kind, link.far.instance]
                waits[rows, at], targets[rows, at], stored[rows, at] = (
                    values[:, column] for values in inputs[link.far.kind, link.input, vc])
                if (link.far.kind, link.input, vc) in taken:
                    tokens[rows, at] = taken[link.far.kind, link.input, vc][:, column]

    def _identify(self, held: npt.NDArray[np.int32]) -> None:
        """Identify, from registers, each worm that holds a channel in the last cycle without a payload flit on it."""
        left = np.flatnonzero(held[-2] == UNIDENTIFIED)
        if not len(left):
            return
        snapshot = Snapshot(self.engine, self.lane)
        names = [self._holder(snapshot, *self.channels[at]) for at in left]
        # a tail that reaches the link in the next cycle may be in a register that does not identify its worm
        self.engine.run(1, beyond=True)
        marks, named = np.zeros((1, len(self.links)), np.uint8), np.full((1, len(self.links)), NOBODY, np.int32)
        read_flits(self.marks_at, self.data_at, self.data_bytes, self.engine.outputs, self.engine.host.tagged,
                   self.tags, marks[0], named[0])
        for at, name in zip(left, names, strict=True):
            if name == NOBODY:
                link = self.link_of[at]
                name = named[0, link] if marks[0, link] >> 1 & (1 << self.vc_bits[at]) - 1 == self.vc_of[at] else NOBODY
            held[held[:, at] == UNIDENTIFIED, at] = name

    def _holder(self, snapshot: Snapshot, link: FabricLink, vc: int) -> int:
        """Return the worm that holds a virtual channel, or `NOBODY` if the registers do not identify it."""
        if link.input is None:
            assert link.output is not None
            owner = link.source, link.output, vc_at_output(self.network, link, vc)
            packet = snapshot.first(snapshot.owners.get(owner))
        else:
            channel = link.target, link.input, vc
            packets = snapshot.occupants(channel)
            packet = packets[-1] if packets else snapshot.sender(channel)
        return NOBODY if packet is None else packet[0]


class _DeepWords:
    """Texts that describe rows and readers of deep switches in each cycle: `LinkTrace.rows`, ``reads``, ``fetches``."""

    def __init__(self, tracer: _Tracer):
        self.tracer = tracer
        self.known = {"": 0}
        deep = [kind for kind, router in tracer.network.routers.items() if isinstance(router, DeepSwitchSpec)]
        self.rows, self.reads, self.fetches = np.zeros((3, tracer.cycles + 1, len(tracer.channels)), np.int32)
        self.inputs = [(at, link.far, link.input) for at, (link, _) in enumerate(tracer.channels)
                       if link.input is not None and link.far.kind in deep]
        self.outputs = [(at, link.near, link.output) for at, (link, _) in enumerate(tracer.channels)
                       if link.output is not None and link.near.kind in deep]

    def read(self, states: "_States") -> None:
        """Describe rows and readers in the cycles whose router states are stored."""
        now = np.arange(states.rows.start, states.rows.stop)
        for found, ends, fields, describe, ago in ((self.rows, self.inputs, row_fields, describe_rows, 0),
                                                   (self.reads, self.outputs, reader_fields, describe_reader, 0),
                                                   (self.fetches, self.outputs, reader_fields, describe_fetch, 1)):
            fields_of: dict[tuple[str, int], Values] = {}
            for at, end, port in ends:
                switch = self.tracer.network.routers[end.kind]
                assert isinstance(switch, DeepSwitchSpec)
                if (end.kind, port) not in fields_of:
                    fields_of[end.kind, port] = fields(switch, port, partial(states.register, end.kind))
                values = fields_of[end.kind, port][:, states.column[end.kind, end.instance]]
                different, which = np.unique(values, axis=0, return_inverse=True)
                codes = [self.known.setdefault(describe(switch, one), len(self.known)) for one in different]
                found[(now - ago)[now >= ago], at] = np.array(codes)[which.reshape(-1)][now >= ago]


class _States:
    """States of some routers in the last ``count`` cycles; `register` returns a register's values in all these cycles.

    Parameters
    ----------
    lane : int
    routers : list of (str, int)
        Kind and number in the lane. ``column`` maps each router to its column in the arrays that `register` returns.
    cycles : int
        Number of cycles to record.
    """

    def __init__(self, engine: BulkEngine, lane: int, routers: list[tuple[str, int]], cycles: int):
        self.engine, self.cycles = engine, cycles
        self.kinds = list(dict.fromkeys(kind for kind, _ in routers))
        self.column: dict[tuple[str, int], int] = {}
        self._tiles: dict[str, Values] = {}
        self._instances: dict[str, Values] = {}
        for kind in self.kinds:
            width = engine.kernels[kind].vector_width
            members = [number for one, number in routers if one == kind]
            self.column |= {(kind, number): k for k, number in enumerate(members)}
            tiles, in_tile = np.divmod(lane * engine.network.count(kind) + np.array(members), width)
            self._tiles[kind], at = np.unique(tiles, return_inverse=True)
            self._instances[kind] = at * width + in_tile
        size = sum(len(self._tiles[kind]) * engine.kernels[kind].tile_bytes for kind in self.kinds)
        self.capacity = min(cycles, max(1, STATE_BYTES // max(1, size)))
        self._kept = {kind: np.zeros((self.capacity, len(self._tiles[kind]), engine.kernels[kind].tile_bytes), np.uint8)
                      for kind in self.kinds}
        self._end = self.count = 0

    def add(self) -> bool:
        """Store the present state. Return whether the storage is full or this is the last cycle."""
        self.count = self.count % self.capacity
        for kind, kept in self._kept.items():
            kept[self.count] = self.engine.blocks[kind].state.reshape(-1, kept.shape[2])[self._tiles[kind]]
        self.count += 1
        self._end += 1
        return self.count == self.capacity or self._end == self.cycles

    @property
    def rows(self) -> slice:
        """Cycles of the stored states, counted from the first recorded cycle."""
        return slice(self._end - self.count, self._end)

    def register(self, kind: str, name: str) -> Values:
        """Return a register's values in the stored cycles, [cycles, routers of the kind].

        The values of a memory have a further axis, the rows of the memory.
        """
        kernel, tiles = self.engine.kernels[kind], len(self._tiles[kind])
        nothing, instances = np.zeros(0, np.uint8), tiles * kernel.vector_width
        count = self.count * instances
        block = Block(kernel, count, count, self._kept[kind][:self.count].reshape(-1), nothing, nothing)
        found = kernel.read(block, name)
        return found.reshape(self.count, instances, *found.shape[1:])[:, self._instances[kind]].astype(np.int64)


class TagAssembly(NamedTuple):
    """Tags assembled from the payload flits of each virtual channel. A narrow flit carries a part of a tag."""

    first: npt.NDArray[np.int64]  # [links], number of the link's first virtual channel among all virtual channels
    vc_bits: npt.NDArray[np.int64]  # [links]
    flits: npt.NDArray[np.int64]  # [virtual channels], number of the packet's payload flits so far, or UNKNOWN
    word: npt.NDArray[np.int64]  # [virtual channels], bits of the packet's tag so far
    options: npt.NDArray[np.int64]  # options of the hosts


@compiled
def read_flits(marks_at, data_at, data_bytes, outputs, tagged, tags, marks, named):
    """Record in ``marks`` the flit on each link, and in ``named`` the flit's worm once payload flits identify it.

    Parameters
    ----------
    marks_at, data_at : int array
        Positions in ``outputs``.
    data_bytes : 1 or 2
        Number of bytes of a flit's data to read for the tag.
    tagged : int array
        Worm of each tag.
    tags : TagAssembly
        Tags received so far, by virtual channel.
    """
    width, spread = tags.options[WIDTH], tags.options[SPREAD]
    for link in range(len(marks_at)):
        mark = np.int64(outputs[marks_at[link]])
        if not mark & 1:
            continue
        marks[link] = mark
        data, bits = np.int64(outputs[data_at[link]]), tags.vc_bits[link]
        if data_bytes == 2:
            data |= np.int64(outputs[data_at[link] + 1]) << 8
        if spread == 1:
            named[link] = tagged[data & (len(tagged) - 1)]
            continue
        at = tags.first[link] + (mark >> 1 & ((1 << bits) - 1))
        head, tail, flits = mark >> 1 + bits & 1, mark >> 2 + bits & 1, tags.flits[at]
        if head:
            tags.flits[at] = 0
        elif flits >= 0:
            tags.word[at] = joined(tags.word[at], data, flits, width)
            tags.flits[at] = flits + 1
            if tail or (flits + 1) * width >= TAG_BITS:
                named[link] = tagged[tags.word[at] & (len(tagged) - 1)]
                tags.flits[at] = UNKNOWN
        if tail:
            tags.flits[at] = 0


@compiled
def follow(marks, named, link_of, vc_of, vc_bits, ending, owners, begun, holders, held):
    """Write to ``held`` the worm that holds each virtual channel in each cycle; -1 if the channel is free.

    A holder that no flit has identified by the end of the recording is written as -2 if the holder's tail has not
    passed, else as -1.

    Parameters
    ----------
    marks, named : [cycles, links]
        Recorded by `read_flits`.
    link_of, vc_of, vc_bits, ending : [virtual channels]
        Link, number of the channel on the link, bits of this number, and whether it is a consumption channel.
    owners : [cycles, virtual channels]
        As in `LinkTrace`.
    begun : [virtual channels]
        True if a worm's first flit has passed before the recording, and its tail has not.
    holders : [virtual channels]
        Worm whose first flit has passed before the recording, or -1 if this worm is unknown.
    held : [cycles, virtual channels]
        Array that this function fills with numbers of worms.
    """
    cycles = len(marks)
    for at in range(len(link_of)):
        link, bits = link_of[at], vc_bits[at]
        begin, name, seen = 0 if begun[at] else -1, holders[at], begun[at]
        for cycle in range(cycles):
            mark = np.int64(marks[cycle, link])
            here = mark & 1 != 0 and mark >> 1 & ((1 << bits) - 1) == vc_of[at]
            head, tail = mark >> 1 + bits & 1 != 0, mark >> 2 + bits & 1 != 0
            reserved = ending[at] and owners[cycle, at] > 0
            if begin < 0 and (here or reserved):
                # if neither the header flit nor a reservation is recorded, the worm began before the recording
                new = reserved if ending[at] else head
                begin = cycle if new or seen else 0
                seen = True
            if here and not head and name < 0:
                name = named[cycle, link]
            if here and tail:
                for k in range(begin, cycle + 1):
                    held[k, at] = name
                begin, name = -1, -1
        if begin >= 0:
            for k in range(begin, cycles):
                held[k, at] = name if name >= 0 else -2


@compiled
def find_front(held, targets, queued, count, front):
    """Find the worm at the front of the buffer at each virtual channel's end. Buffers are first in, first out.

    Parameters
    ----------
    held, targets, front : [cycles, virtual channels]
        As in `LinkTrace`.
    queued, count : [virtual channels, worms], [virtual channels]
        Worms whose tail flit has arrived in the buffer before the recording, oldest first, and their number.
    """
    cycles = len(held)
    queue = np.empty(cycles + queued.shape[1], np.int32)
    for at in range(held.shape[1]):
        end = count[at]
        queue[:end] = queued[at, :end]
        first, now = 0, -1
        for cycle in range(cycles):
            if held[cycle, at] != -1 and (cycle == 0 or held[cycle - 1, at] == -1):
                queue[end] = held[cycle, at]
                end += 1
            if targets[cycle, at] == 0:
                now = -1
            elif cycle == 0 or targets[cycle - 1, at] == 0 or (targets[cycle, at] ^ targets[cycle - 1, at]) >> TURN:
                now = -1
                if first < end:
                    now = queue[first]
                    first += 1
            front[cycle, at] = now
