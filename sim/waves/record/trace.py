"""Which worm has each virtual channel of some links, cycle by cycle, and what waits behind it.

The hardware carries no worm's number. A payload flit names its worm; so a stay of a worm on a virtual channel, from its
first flit to its tail, is named by its first payload flit, whenever that comes. One that has shown none when the
cycles end is named by the registers, as deadlock analysis names it.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.compiled import compiled

from ...build.network import Network
from ...engines.bulk import BulkEngine
from ...engines.front import Channel, consumes, owns_link, register_of, resource, unread, wanted, wants_link
from ...engines.snapshot import Snapshot
from ...engines.words import data_word
from ...lowering import Block
from .links import Link

__all__ = ["NOBODY", "Trace", "take_trace", "wanted_by"]

NOBODY = -1
#: A worm whose number is yet to be found.
UNNAMED = -2

#: Bytes of routers' states that are kept at a time.
ROOM = 1 << 22

#: What a worm waits for, in a code of `Trace.waits`; behind it the registers ``ends_here`` and ``links``.
LINK, CONSUMPTION = 1, 2
ENDS_HERE, LINKS = 2, 3

Codes = npt.NDArray[np.int16]
Values = npt.NDArray[np.int64]


class Trace(NamedTuple):
    """What was found, [cycles, links] or [cycles, virtual channels of all links, one link after the other].

    Members
    -------
    marks : uint8
        What lies on each link, from bit 0: valid, virtual channel, head, tail; 0 for nothing.
    held : int32
        The worm that has each virtual channel, or `NOBODY`.
    front : int32
        The worm at the front of the buffer behind each, once its header is read there, or `NOBODY`.
    waits : int16
        What that worm asks for in vain in this cycle; see `wanted_by`.
    targets : int16
        Where it goes: bit 0 to a consumption channel; then the register ``links``.
    stored : int16
        Flits in the buffer behind each.
    owners : int16
        The router's input virtual channel that owns each: 1 + port x virtual channels + number; 0 for none.
    """

    marks: npt.NDArray[np.uint8]
    held: npt.NDArray[np.int32]
    front: npt.NDArray[np.int32]
    waits: npt.NDArray[np.int16]
    targets: npt.NDArray[np.int16]
    stored: npt.NDArray[np.int16]
    owners: npt.NDArray[np.int16]


def take_trace(engine: BulkEngine, links: Sequence[Link], cycles: int, lane: int = 0) -> Trace:
    """Run an engine for so many cycles, see what goes over the links of a lane, and take it back to where it stood."""
    before = engine.capture()
    try:
        return _Tracer(engine, links, cycles, lane).trace()
    finally:
        engine.restore(before)


def wanted_by(network: Network, link: Link, vc: int, code: int) -> str:
    """The resources that a code of `Trace.waits` stands for, as in JSON, joined by ``|``; any of them will do."""
    if not code:
        return ""
    assert link.input is not None
    registers = {"wants_consumption": int(code & 3 == CONSUMPTION), "ends_here": code >> ENDS_HERE & 1,
                 "links": code >> LINKS}
    found = wanted(network, (link.target, link.input, vc), lambda name: registers.get(name, 0))
    assert found is not None
    output, vcs = found
    return "|".join(resource(network, link.target, output, number) for number in vcs)


class _Tracer:
    def __init__(self, engine: BulkEngine, links: Sequence[Link], cycles: int, lane: int):
        self.engine, self.links, self.cycles, self.lane = engine, links, cycles, lane
        self.network = engine.network
        self.first_node = lane * self.network.nodes
        self.channels = [(link, vc) for link in links for vc in range(link.vcs)]
        self.link_of = np.repeat(np.arange(len(links)), [link.vcs for link in links])
        self.vc_of = np.array([vc for _, vc in self.channels], np.int64)
        self.vc_bits = np.array([(link.vcs - 1).bit_length() for link, _ in self.channels], np.int64)
        self.ending = np.array([link.kind == "consumption" for link, _ in self.channels], bool)
        self.marks_at, self.data_at = (
            np.array([self._place(link, word) for link in links], np.int64) for word in (str, data_word))
        self.data_bytes = min(2, engine.place(links[0].driver[0], data_word(links[0].driver[1]))[1])

    def _place(self, link: Link, word: Any) -> int:
        kind, port = link.driver
        start, size = self.engine.place(kind, word(port))
        return start + size * (self.first_node + link.source)

    def trace(self) -> Trace:
        """Do what `take_trace` says, apart from going back."""
        engine, cycles = self.engine, self.cycles
        # one more: what is on the links when the cycles end
        marks = np.zeros((cycles + 1, len(self.links)), np.uint8)
        named = np.full((cycles + 1, len(self.links)), NOBODY, np.int32)
        waits, targets, stored, owners = told = np.zeros((4, cycles + 1, len(self.channels)), np.int16)
        begun = self._begun()
        queued = self._queued(begun)
        ends = [node for link in self.links for kind, node in link.ends if kind == "router"]
        states = _States(engine, self.first_node, sorted(set(ends)), cycles + 1)
        for cycle in range(cycles + 1):
            look(self.marks_at, self.data_at, self.data_bytes, engine.outputs, engine.host.tagged, marks[cycle],
                 named[cycle])
            if states.add():
                self._read(states, *told)
            if cycle < cycles:
                engine.run(1, beyond=True)
        held = np.full((cycles + 1, len(self.channels)), NOBODY, np.int32)
        follow(marks, named, self.link_of, self.vc_of, self.vc_bits, self.ending, owners, begun, held)
        self._name(held)
        # asked for in this cycle, and in the next one too
        alike = (waits[:-1] & 3) == (waits[1:] & 3)
        in_vain = np.where(alike, waits[:-1], 0).astype(np.int16)
        front = np.full_like(held, NOBODY)
        find_front(held, targets, *queued, front)
        return Trace(marks[:-1], held[:-1], front[:-1], in_vain, targets[:-1], stored[:-1], owners[:-1])

    def _begun(self) -> npt.NDArray[np.bool_]:
        """Whether a worm's first flit has passed each virtual channel and its tail has not: its receiver knows."""
        found = np.zeros(len(self.channels), bool)
        for at, (link, vc) in enumerate(self.channels):
            if link.input is not None:
                name = f"{self.network.router_inputs[link.input]}_input.intake.vc{vc}_frame"
                found[at] = self.engine.register("router", name)[self.first_node + link.target] != 0
        return found

    def _queued(self, begun: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The worms in each buffer that have come there whole, front first, and how many these are."""
        room = self.network.configuration.buffer
        worms, count = np.full((len(self.channels), room + 1), NOBODY, np.int32), np.zeros(len(self.channels), np.int64)
        snapshot = Snapshot(self.engine, self.lane)
        for at, (link, vc) in enumerate(self.channels):
            if link.input is None:
                continue
            packets = snapshot.occupants((link.target, link.input, vc))
            # a flit on the link counts as one in the buffer, and its worm has not come whole
            arriving = begun[at] or self._arrives(link, vc)
            whole = packets[:-1] if arriving and packets else packets
            count[at] = len(whole)
            worms[at, :len(whole)] = [NOBODY if packet is None else packet[0] for packet in whole]
        return worms, count

    def _arrives(self, link: Link, vc: int) -> bool:
        """Whether a flit lies on a link for this virtual channel now."""
        mark = int(self.engine.outputs[self._place(link, str)])
        return bool(mark & 1) and mark >> 1 & (1 << (link.vcs - 1).bit_length()) - 1 == vc

    def _read(self, states: "_States", waits: Codes, targets: Codes, stored: Codes, owners: Codes) -> None:
        """Read from the routers' states what their worms wait for, where they go, and who owns what."""
        network, rows, read, column = self.network, states.rows, states.register, states.column
        vcs, ejection = network.configuration.vcs, len(network.router_outputs)
        inputs: dict[tuple[int, int], tuple[Values, ...]] = {}
        owned: dict[tuple[int, int], Values] = defaultdict(lambda: np.zeros((states.count, len(column)), np.int64))
        for number, (port, vc) in enumerate(product(range(len(network.router_inputs)), range(vcs))):
            of = _Registers(network, read, port, vc)
            code = np.where(of("wants_consumption") != 0, CONSUMPTION, np.where(wants_link(of), LINK, 0))
            code |= (of("ends_here") << ENDS_HERE | of("links") << LINKS) * (code != 0)
            inputs[port, vc] = (code, of("links") << 1 | of("here"), np.maximum.reduce(unread(network, port, vc, read)))
            for channel in range(network.configuration.consumption if port < ejection else 0):
                owned[ejection, channel] += (number + 1) * (consumes(of) & (of("consumption_vc") == channel))
            for bit, output in enumerate(network.reaches(port)):
                goes = owns_link(of) & (of("links") >> bit & 1 != 0)
                for channel in range(vcs):
                    owned[output, channel] += (number + 1) * (goes & (of("link_vc") == channel))
        for at, (link, vc) in enumerate(self.channels):
            if link.output is not None:
                owners[rows, at] = owned[link.output, link.first + vc][:, column[link.source]]
            if link.input is not None:
                for array, found in zip((waits, targets, stored), inputs[link.input, vc], strict=True):
                    array[rows, at] = found[:, column[link.target]]

    def _name(self, held: npt.NDArray[np.int32]) -> None:
        """Name the worms that have shown no payload on some virtual channel up to the end, where they still are."""
        left = np.flatnonzero(held[-2] == UNNAMED)
        if not len(left):
            return
        snapshot = Snapshot(self.engine, self.lane)
        names = [self._holder(snapshot, *self.channels[at]) for at in left]
        # a tail may be on its way to the link where no register tells whose it is
        self.engine.run(1, beyond=True)
        marks, named = np.zeros((1, len(self.links)), np.uint8), np.full((1, len(self.links)), NOBODY, np.int32)
        look(self.marks_at, self.data_at, self.data_bytes, self.engine.outputs, self.engine.host.tagged, marks[0],
             named[0])
        for at, name in zip(left, names, strict=True):
            if name == NOBODY:
                link = self.link_of[at]
                name = named[0, link] if marks[0, link] >> 1 & (1 << self.vc_bits[at]) - 1 == self.vc_of[at] else NOBODY
            held[held[:, at] == UNNAMED, at] = name

    def _holder(self, snapshot: Snapshot, link: Link, vc: int) -> int:
        """The worm that has a virtual channel, as far as registers tell."""
        if link.input is None:
            packet = snapshot.front(snapshot.owners.get((link.source, snapshot.ejection, link.first + vc)))
        else:
            channel: Channel = (link.target, link.input, vc)
            packets = snapshot.occupants(channel)
            packet = packets[-1] if packets else snapshot.sender(channel)
        return NOBODY if packet is None else packet[0]


class _States:
    """The states of some routers in the last ``count`` cycles, read all at a time.

    Parameters
    ----------
    first_node : int
        The lane's first router.
    nodes : list of int
        Those of the routers that are asked for; ``column`` says where they stand in what is read.
    cycles : int
        So many there will be.
    """

    def __init__(self, engine: BulkEngine, first_node: int, nodes: list[int], cycles: int):
        self.engine, self.cycles = engine, cycles
        self._kernel = engine.kernels["router"]
        tiles, lanes = np.divmod(first_node + np.array(nodes), self._kernel.vector_width)
        self._tiles, at = np.unique(tiles, return_inverse=True)
        self._lanes = at * self._kernel.vector_width + lanes
        self.column = {node: k for k, node in enumerate(nodes)}
        self.room = min(cycles, max(1, ROOM // (len(self._tiles) * self._kernel.tile_bytes)))
        self._kept = np.zeros((self.room, len(self._tiles), self._kernel.tile_bytes), np.uint8)
        self._end = self.count = 0

    def add(self) -> bool:
        """Keep the present state; whether there is no room for more, or none to come."""
        self.count = self.count % self.room
        self._kept[self.count] = self.engine.blocks["router"].state.reshape(-1, self._kernel.tile_bytes)[self._tiles]
        self.count += 1
        self._end += 1
        return self.count == self.room or self._end == self.cycles

    @property
    def rows(self) -> slice:
        """The cycles whose states are kept, counted from the first one."""
        return slice(self._end - self.count, self._end)

    def register(self, name: str) -> Values:
        """A register in these cycles, [cycles, nodes]."""
        nothing, instances = np.zeros(0, np.uint8), len(self._tiles) * self._kernel.vector_width
        count = self.count * instances
        block = Block(self._kernel, count, count, self._kept[:self.count].reshape(-1), nothing, nothing)
        return self._kernel.read(block, name).reshape(self.count, instances)[:, self._lanes].astype(np.int64)


class _Registers:
    """The registers of an input virtual channel, by name, as they are read: each once."""

    def __init__(self, network: Network, read: Callable[[str], Values], port: int, vc: int):
        self._network, self._read, self._port, self._vc = network, read, port, vc
        self._known: dict[str, Values] = {}

    def __call__(self, name: str) -> Values:
        if name not in self._known:
            register = register_of(self._network, self._port, self._vc, name)
            self._known[name] = np.zeros_like(self("links")) if register is None else self._read(register)
        return self._known[name]


@compiled
def look(marks_at, data_at, data_bytes, outputs, tagged, marks, named):
    """Note what lies on each link, and which worm the data name if it is payload; all [links].

    Parameters
    ----------
    marks_at, data_at : places in ``outputs``
    data_bytes : 1 or 2
        So many bytes of the data tell worms apart.
    tagged : worms by tag
    """
    for link in range(len(marks_at)):
        mark = outputs[marks_at[link]]
        if mark & 1:
            tag = np.int64(outputs[data_at[link]])
            if data_bytes == 2:
                tag |= np.int64(outputs[data_at[link] + 1]) << 8
            marks[link] = mark
            named[link] = tagged[tag & (len(tagged) - 1)]


@compiled
def follow(marks, named, link_of, vc_of, vc_bits, ending, owners, begun, held):
    """Follow worms over each virtual channel, and write to ``held`` who has it: -2 where that has not shown by the end.

    Parameters
    ----------
    marks, named : [cycles, links]
        As `look` has noted them.
    link_of, vc_of, vc_bits, ending : [virtual channels]
        Its link, its number there, the bits of that number, and whether it is a consumption channel.
    owners : [cycles, virtual channels]
        As in `Trace`.
    begun : [virtual channels]
        A worm's flits have passed in earlier cycles, and its tail has not.
    held : [cycles, virtual channels]
    """
    cycles = len(marks)
    for at in range(len(link_of)):
        link, bits = link_of[at], vc_bits[at]
        begin, name, seen = 0 if begun[at] else -1, -1, begun[at]
        for cycle in range(cycles):
            mark = np.int64(marks[cycle, link])
            here = mark & 1 != 0 and mark >> 1 & ((1 << bits) - 1) == vc_of[at]
            head, tail = mark >> 1 + bits & 1 != 0, mark >> 2 + bits & 1 != 0
            reserved = ending[at] and owners[cycle, at] > 0
            if begin < 0 and (here or reserved):
                # a worm begins with a reservation or a header flit: any other has begun before the first cycle
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
    """Find the worm at the front of the buffer behind each virtual channel: they leave it in the order of their coming.

    Parameters
    ----------
    held, targets, front : [cycles, virtual channels]
        As in `Trace`.
    queued, count : [virtual channels, worms], [virtual channels]
        Worms that are there before the first cycle, front first, without one that is still coming; how many.
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
            elif cycle == 0 or targets[cycle - 1, at] == 0:
                now = -1
                if first < end:
                    now = queue[first]
                    first += 1
            front[cycle, at] = now
