"""Compiled engine: a vector kernel for each kind of component, and links as index arrays."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.source_digest import package_file, source_digest

from ..build.network import HOST, TOKEN_IN, ComponentKind, Network
from ..host import (
    NOW,
    SIZES,
    SKIPPED,
    UNDER_WAY,
    Host,
    count_cycle,
    count_events,
    count_grants,
    gather,
    link_data,
    needed,
    next_event,
    run_cycles,
    watch,
)
from ..lowering import (
    PLANE_WIDTH,
    Block,
    Kernel,
    LoweringError,
    NativeCall,
    Observer,
    aligned,
    lower_cached,
    narrowest,
    observe_cached,
    vector_bytes,
)
from .channel_grants import Grants
from .event_counters import EventCounts, events_of, make_counters, signals_of
from .meter import Meter, make_meter, no_meter
from .port_packing import credit_word, data_word, words

__all__ = ["BulkEngine", "Capture", "kernels", "observer"]

Bytes = npt.NDArray[np.uint8]

#: Largest distance, in words, of two neighbouring words that are copied as parts of one run.
#: If the distance is larger, copying two runs takes less time than copying one run with the words between.
GAP = 64

#: If a kind has at least this number of routers, in all lanes together, its kernel steps the routers bit by bit.
#: In one pass such a kernel steps `PLANE_WIDTH` routers.
#: One bit-by-bit step of `PLANE_WIDTH` routers takes as long as stepping 190 routers word by word.
MANY = 193

#: Modules that, with their imports, all decoders and a `ComponentKind.key`, determine a component's netlist.
SOURCES = ("wormcast.hw.router", "wormcast.sim.build.configuration", "wormcast.sim.engines.port_packing")


class Capture(NamedTuple):
    """State of an engine between two cycles, in the memory layout of its kernels. Callers must not change a capture."""

    blocks: dict[str, Bytes]  # state of all instances, by kind
    outputs: Bytes  # words that drive all links, including the words of hosts
    host: Host


def kernels(network: Network, vector_width: int | None = None) -> dict[str, Kernel]:
    """Return a kernel for each kind of component, compiled or loaded from the cache on disk."""
    width = vector_width or vector_bytes()

    def chosen(name: str, kind: ComponentKind) -> int:
        many = vector_width is None and name in network.routers and len(kind.instances) >= MANY
        return PLANE_WIDTH if many else width

    return {name: _kernel(kind, chosen(name, kind)) for name, kind in network.kinds.items()}


def _kernel(kind: ComponentKind, vector_width: int) -> Kernel:
    if vector_width == PLANE_WIDTH:
        # components with deep memories cannot be stepped bit by bit, but word by word
        with contextlib.suppress(LoweringError):
            return _lowered(kind, PLANE_WIDTH)
        vector_width = vector_bytes()
    return _lowered(kind, vector_width)


def _lowered(kind: ComponentKind, vector_width: int) -> Kernel:
    return lower_cached(kind.build, words=words, name=kind.name, vector_width=vector_width, cache_key=_cache_key(kind))


def observer(kind: ComponentKind, kernel: Kernel, signals: Sequence[str] | None = None) -> Observer:
    """Return an observer for one kind of component, compiled or loaded from the cache on disk.

    Parameters
    ----------
    signals : sequence of str, optional
        Names of the signals that are observed. Default: all signals.
    """
    return observe_cached(kind.build, kernel, cache_key=_cache_key(kind), signals=signals)


def _cache_key(kind: ComponentKind) -> str:
    return f"{kind.key} {_sources()}"


@cache
def _sources() -> str:
    # a router's decoder is named by a header, and headers are imported by schemes, not by `SOURCES`
    decoders = Path(package_file("wormcast.hw.decoders")).parent.glob("*.py")
    return source_digest([*map(package_file, SOURCES), *map(str, decoders)])


class BulkEngine:
    """Engine that steps a network only with compiled code.

    In each cycle the engine first copies the words on all links from the drivers' output arrays to the receivers' input
    arrays. After this copying, the hosts do one step, and one kernel call per kind steps all its instances. The order
    of the hosts and the kernels does not change the results, because every output is the output of a flip-flop.

    Parameters
    ----------
    network : Network
    host : Host
        Program of the hosts to run, which also stores the results.
    measure : bool
        Count flits on the links, waiting worms and owned channels, in ``meter``. `Capture` does not contain the meter.
    events : bool
        Count events in routers and interfaces, in ``events``. With ``events``, kernels step word by word. `Capture`
        does not contain the counts of events.
    vector_width : 16, 32, 64 or 512, optional
        Number of instances that kernels step at once, without effect on results. By default, the vector width depends
        on the processor and the network.
    jumps : bool
        Skip cycles without events, which does not change results. False is for tests.

    Attributes
    ----------
    skipped : int
        Number of skipped cycles.
    events : EventCounts or None
    """

    def __init__(self, network: Network, host: Host, *, measure: bool = False, events: bool = False,
                 vector_width: int | None = None, jumps: bool = True):
        self.network = network
        self.host = host
        self._jumps = jumps
        self._idle = watch(0)
        self.skipped = 0
        if events and vector_width is None:
            vector_width = vector_bytes()  # kernels that step bit by bit cannot be observed
        self.kernels = kernels(network, vector_width)
        self.blocks: dict[str, Block] = {}
        for name, kernel in self.kernels.items():
            kind = network.kinds[name]
            block = kernel.allocate(len(kind.instances))
            for strap, values in kind.straps.items():
                word = block.input(strap)
                parts = word.reshape(-1, word.shape[-1])
                for part in range(len(parts)):
                    parts[part, : block.n] = values >> 64 * part & (1 << 8 * word.itemsize) - 1
            for memory, rows in kind.tables.items():
                kernel.write(block, memory, rows)
            self.blocks[name] = block
        self._lay_out_states()
        self._lay_out_words()
        self._join()
        self.measured = measure
        self.meter = self._make_meter() if measure else no_meter()
        self.events = self._count_events() if events else None
        self._call: tuple[Host, NativeCall] | None = None
        self.grants: Grants | None = None

    def _make_meter(self) -> Meter:
        starts = {(kind, word): start for (kind, way, word), (start, *_) in self._places.items() if way == "out"}
        lines = {kind: start for (kind, way, word), (start, *_) in self._places.items()
                 if way == "in" and word == TOKEN_IN}
        padded = {kind: block.n_padded for kind, block in self.blocks.items()}
        return make_meter(self.network, self.kernels, starts, lines, padded, self._states_at)

    def _count_events(self) -> EventCounts:
        observers = {name: observer(kind, self.kernels[name], signals_of(events_of(self.network, name)))
                     for name, kind in self.network.kinds.items()}
        return make_counters(self.network, self.blocks, observers)

    def _lay_out_states(self) -> None:
        """Put the states of all kinds into one array, the states of routers first."""
        self._states_at, size = {}, 0
        for name in self.blocks:
            self._states_at[name] = size
            size += -(-self.blocks[name].state.size // 64) * 64
        self.states = aligned(size)
        for name, start in self._states_at.items():
            block = self.blocks[name]
            view = self.states[start:start + block.state.size]
            view[:] = block.state
            block.state = view

    def _lay_out_words(self) -> None:
        """Put all blocks' words into one array of inputs and one of outputs, the hosts' words last."""
        nodes = self.network.hosts
        interface = self.kernels["interface"]
        ports, links = len(self.network.fed), self.network.links
        # on each link with an interface, hosts drive the interface's input words and receive its output words
        mirror: dict[tuple[str, str, Callable[[str], str]], tuple[int, Any]] = {
            ("in", "rx", str): (links, interface.output("host_out_0")),
            ("in", "rx", data_word): (links, interface.output(data_word("host_out_0"))),
            ("out", "rx", credit_word): (links, interface.input(credit_word("host_out_0"))),
            ("out", "tx", str): (ports, interface.input("host_in_0")),
            ("out", "tx", data_word): (ports, interface.input(data_word("host_in_0"))),
            ("in", "tx", credit_word): (ports, interface.output(credit_word("host_in_0"))),
        }
        self._places: dict[tuple[str, str, str], tuple[int, int, np.dtype, int]] = {}
        size = {"in": 0, "out": 0}
        for name, block in self.blocks.items():
            for way, table, array in (("in", block.kernel.inputs, block.inputs),
                                      ("out", block.kernel.outputs, block.outputs)):
                for word in table.values():
                    start = size[way] + word.offset(block.n_padded)
                    self._places[name, way, word.name] = start, block.n_padded, word.dtype, word.parts
                size[way] += -(-array.size // 64) * 64
        self._host_words: dict[tuple[str, str], tuple[int, int, int, np.dtype]] = {}
        for (way, link, name_of), (count, word) in mirror.items():
            self._host_words[way, name_of(link)] = size[way], count, word.parts, word.dtype
            for index in range(count):
                start = size[way] + index * word.bytes * nodes
                self._places[HOST, way, name_of(f"{link}_{index}")] = start, nodes, word.dtype, word.parts
            size[way] += -(-count * word.bytes * nodes // 64) * 64
        self.inputs, self.outputs = aligned(size["in"]), aligned(size["out"])
        at = {"in": 0, "out": 0}
        for block in self.blocks.values():
            for way, whole in (("in", self.inputs), ("out", self.outputs)):
                array = block.inputs if way == "in" else block.outputs
                view = whole[at[way]:at[way] + array.size]
                view[:] = array
                if way == "in":
                    block.inputs = view
                else:
                    block.outputs = view
                at[way] += -(-array.size // 64) * 64

    def _host_word(self, way: str, name: str) -> np.ndarray:
        """Return the words ``name`` that hosts receive (``way`` "in") or drive ("out"), [links, parts, nodes]."""
        start, links, parts, dtype = self._host_words[way, name]
        whole, nodes = self.inputs if way == "in" else self.outputs, self.network.hosts
        return whole[start:start + links * parts * nodes * dtype.itemsize].view(dtype).reshape(links, parts, nodes)

    def _elements(self, kind: str, way: str, word: str, instances: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the index of each part of a word in all inputs or outputs, [parts, instances], and a part's bytes."""
        start, n, dtype, parts = self._places[kind, way, word]
        return start // dtype.itemsize + n * np.arange(parts)[:, None] + instances, dtype.itemsize

    def _join(self) -> None:
        """Make the index arrays by which `gather` copies words: runs, masks and single words, for each word size."""
        pairs: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {size: [] for size in SIZES}
        for join in self.network.joins:
            near = join.from_kind, join.from_port, join.from_instances
            far = join.to_kind, join.to_port, join.to_instances
            ways: list[tuple[Any, Any, Callable[[str], str]]] = [(far, near, str)]
            if not join.line:
                ways += [(far, near, data_word), (near, far, credit_word)]
            for (kind, port, instances), (source_kind, source_port, source_instances), name in ways:
                into, size = self._elements(kind, "in", name(port), instances)
                out, _ = self._elements(source_kind, "out", name(source_port), source_instances)
                pairs[size] += zip(into, out, strict=True)
        self._runs = tuple(_runs(pairs[size], size) for size in SIZES)

    def run(self, cycles: int, *, beyond: bool = False) -> None:
        """Run ``cycles`` cycles; without ``beyond``, stop earlier if everything is delivered."""
        self._idle[:] = watch(int(self.host.counters[NOW]) + cycles if self._jumps else 0)
        if self._call is None or self._call[0] is not self.host:
            self._call = self.host, self._prepare(cycles, beyond)
        if self.grants is not None:
            self._call[1].set(1, beyond)
            self.grants.run(cycles, beyond, self.host, self.outputs, self._call[1])
        else:
            self._call[1](cycles, beyond)
        self.skipped += int(self._idle[SKIPPED])

    def next_event(self) -> int:
        """Return the first cycle, from the present one on, in which a host may act; `NEVER` if there is none."""
        busy = self.host.counters[UNDER_WAY] or not self._jumps
        return int(self.host.counters[NOW]) if busy else next_event(self.host)

    def follow(self, *, turns: bool = False) -> None:
        """Record in ``grants`` the channels that each worm is granted.

        The caller must call `follow` before the engine runs its first cycle.

        Parameters
        ----------
        turns : bool
            See `Grants`.

        Raises
        ------
        RuntimeError
            The engine has run cycles.
        """
        if self.host.counters[NOW]:
            raise RuntimeError("worms are followed only from the first cycle on")
        self.grants = Grants(self.network, self.kernels, self._states_at, self.place, self.states, turns=turns)

    def _prepare(self, cycles: int, beyond: bool) -> NativeCall:
        """Prepare a call of `run_cycles` with the present host."""
        calls, inputs, outputs, taken, given, room, image = self._fixed_arguments
        self._counting = self._prepare_counting(inputs[3], outputs[3])
        counting = np.array([call.pointers if call else (0, 0) for call in self._counting])
        return run_cycles.prepared(
            cycles, beyond, calls, self._runs, inputs, outputs, self.host, *taken, *given, room, counting,
            self.meter.counters, self.states, self._idle, image, **needed(self.host))

    def _prepare_counting(self, inputs: np.ndarray, outputs: np.ndarray) -> list[NativeCall | None]:
        """Return three calls: one counts at a cycle's start, two count after links are copied; None for a call that is
        not needed."""
        flits = count_cycle.prepared(self.meter, self.host.counters, outputs, self.states) if self.measured else None
        tokens = count_grants.prepared(self.meter, inputs, self.states) if len(self.meter.stations) else None
        return [flits, tokens, count_events.prepared(*self.events) if self.events else None]

    @cached_property
    def _fixed_arguments(self) -> tuple[Any, ...]:
        """Arguments of `run_cycles` that never change, because the engine's arrays keep their addresses."""
        calls = np.array(
            [[self.kernels[name].address, block.state.ctypes.data, block.inputs.ctypes.data,
              block.outputs.ctypes.data, block.n_padded] for name, block in self.blocks.items()],
            np.int64,
        )
        taken = (self._host_word("in", "rx")[:, 0], link_data(self._host_word("in", data_word("rx"))),
                 self._host_word("in", credit_word("tx"))[:, 0])
        given = (self._host_word("out", "tx")[:, 0], link_data(self._host_word("out", data_word("tx"))),
                 self._host_word("out", credit_word("rx"))[:, 0])
        image = np.empty(self.states.size + self.outputs.size, np.uint8)
        return calls, *self._views(), taken, given, np.empty(self.network.hosts + 1, np.int64), image

    def in_words(self) -> "BulkEngine":
        """Return this engine if its kernels step word by word and can be observed, else a new engine in the same
        state."""
        if all(kernel.vector_width != PLANE_WIDTH for kernel in self.kernels.values()):
            return self
        engine = BulkEngine(self.network, self.host, vector_width=vector_bytes())
        engine.from_arrays(self.to_arrays())
        return engine

    def gather(self) -> None:
        """Copy the words on all links to the components' inputs, as at the start of the next cycle."""
        gather(self._runs, *self._views())

    def _views(self) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Return the arrays of all input words and of all output words, as numbers of 1, 2, 4 and 8 bytes."""
        return (tuple(self.inputs.view(f"u{size}") for size in SIZES),
                tuple(self.outputs.view(f"u{size}") for size in SIZES))

    def on_host_link(self, node: int, port: int) -> bool:
        """Return whether a flit is on the link from the host to this injection port of the node's interface."""
        return bool(self._host_word("out", "tx")[port, 0, node] & 1)

    def output(self, kind: str, port: str) -> np.ndarray:
        """Return the flits that a link port of every instance drives now: Python integers, [instances].

        Fields of each integer, from bit 0: valid, virtual channel, head, tail, data.
        """
        block = self.blocks[kind]
        marks = block.kernel.output(port).bits
        return whole_words(block.output(port), block.n) | whole_words(block.output(data_word(port)), block.n) << marks

    def place(self, kind: str, word: str) -> tuple[int, int]:
        """Return the byte of ``outputs`` at which a word of a kind begins, and the word's bytes per instance."""
        start, _, dtype, _ = self._places[kind, "out", word]
        return start, dtype.itemsize

    def register(self, kind: str, name: str) -> np.ndarray:
        """Return the value of a register in every instance, [instances], or of a memory, [instances, rows]."""
        return self.kernels[kind].read(self.blocks[kind], name)

    def capture(self) -> Capture:
        """Return a copy of the state, without meter and grants. Call `capture` between two calls of `run`."""
        blocks = {name: block.state.copy() for name, block in self.blocks.items()}
        return Capture(blocks, self.outputs.copy(), _copied(self.host))

    def restore(self, capture: Capture) -> None:
        """Return to a state that this engine has captured, so that the same cycles follow as after the capture."""
        if any(state.shape != self.blocks[name].state.shape for name, state in capture.blocks.items()):
            raise ValueError("the state was captured by other kernels: move it by to_arrays and from_arrays")
        for name, state in capture.blocks.items():
            self.blocks[name].state[:] = state
        self.outputs[:] = capture.outputs
        self.host = _copied(capture.host)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the state, without meter and grants, as arrays with the same meaning on every machine.

        Key ``KIND.NAME``: a register or memory of that kind of component as from `Kernel.read_parts`, in the narrowest
        type that holds it. Key ``link.WORD``: a word that hosts drive, [links, parts, nodes]. Key ``host.FIELD``: a
        field of `Host`. Words that components drive are left out, because they follow from the registers.
        """
        arrays = {}
        for kind, block in self.blocks.items():
            for name, register in block.kernel.state.items():
                arrays[f"{kind}.{name}"] = block.kernel.read_parts(block, name).astype(narrowest(register.width))
        for word in self._driven_by_hosts:
            arrays[f"link.{word}"] = self._host_word("out", word).copy()
        return arrays | {f"host.{field}": array for field, array in _copied(self.host)._asdict().items()}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Load a state that `to_arrays` of an engine of the same network returned, here or on another machine."""
        for kind, block in self.blocks.items():
            for name in block.kernel.state:
                block.kernel.write_parts(block, name, arrays[f"{kind}.{name}"].astype(np.uint64))
            block.kernel.settle(block)
        for word in self._driven_by_hosts:
            self._host_word("out", word)[:] = arrays[f"link.{word}"]
        self.host = Host._make(arrays[f"host.{field}"].copy() for field in Host._fields)

    @property
    def _driven_by_hosts(self) -> list[str]:
        return [word for way, word in self._host_words if way == "out"]


def _copied(host: Host) -> Host:
    return Host._make(array.copy() for array in host)


def _runs(pairs: Sequence[tuple[np.ndarray, np.ndarray]], size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group pairs of words (target, source) into runs that are contiguous in both arrays. Single words are separate.

    Between its words, a run may have targets that are in no pair. Targets in no pair are unconnected inputs: they are
    set to zero.

    Parameters
    ----------
    pairs : sequence of (int array [words], int array [words])
        Targets and sources, each pair within one array of words.
    size : int
        Bytes of a word.

    Returns
    -------
    uint64 [4, runs], unsigned [masks], uint32 [2, single words]
        Runs: first target, first source, length, and first mask (0 for a run without gaps). The masks. Words that are
        copied one by one: their targets and sources, in the order of the targets.
    """
    driven = np.zeros(max((int(to.max()) for to, _ in pairs if len(to)), default=0) + 1, bool)
    for to, _ in pairs:
        driven[to] = True
    before = np.cumsum(driven)
    table: list[tuple[int, int, int, int]] = []
    masks = [np.zeros(1, np.uint8)]
    known: dict[bytes, int] = {}
    for to, source in pairs:
        step = np.diff(to)
        free = before[to[1:]] - before[to[:-1]] == 1
        breaks = (step != np.diff(source)) | (step < 1) | (step > GAP) | ~free
        for run in np.split(np.arange(len(to)), np.flatnonzero(breaks) + 1):
            if not len(run):
                continue
            first, length = int(to[run[0]]), int(to[run[-1]] - to[run[0]]) + 1
            place = 0
            if length > len(run):
                mask = np.zeros(length, np.uint8)
                mask[to[run] - first] = 0xFF
                place = known.setdefault(mask.tobytes(), sum(map(len, masks)))
                if place == sum(map(len, masks)):
                    masks.append(mask)
            table.append((first, int(source[run[0]]), length, place))
    mask = np.repeat(np.concatenate(masks), size).view(f"u{size}")
    runs = np.array(table, np.uint64).reshape(-1, 4)
    single = runs[runs[:, 2] == 1, :2].astype(np.uint32)
    return runs[runs[:, 2] > 1].T.copy(), mask, single[single[:, 0].argsort()].T.copy()


def whole_words(word: np.ndarray, n: int) -> np.ndarray:
    """Join the parts of words, [n] or [parts, n], to Python integers."""
    parts = word.reshape(-1, word.shape[-1])[:, :n].astype(object)
    return sum(part << 64 * index for index, part in enumerate(parts))


