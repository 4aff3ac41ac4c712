"""Deadlock, proved: the wait-for graph of the worms in a network, read from its registers and reduced."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .engines.bulk import BulkEngine
from .host import NOW, worm_at_interface
from .host.layout import tag_bits

__all__ = ["Deadlock", "Hold", "find_deadlock"]

#: Registers that a component may lack: one virtual channel needs no number, the local input no consumption channel,
#: a single reader no mark of being through.
ABSENT = {"link_vc", "consumption_vc", "packet_vc", "here", "wants_consumption", "done_0"}

Channel = tuple[int, int, int]
"""An input virtual channel: router, port, virtual channel."""


@dataclass(frozen=True)
class Hold:
    """One worm of a cyclic wait: it holds what its predecessor waits for. Resources are written as in JSON."""

    worm: int
    holds: tuple[str, ...]
    waits: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {"worm": self.worm, "holds": list(self.holds), "waits": list(self.waits)}


@dataclass(frozen=True)
class Deadlock:
    """Worms that no future event can release.

    Parameters
    ----------
    at : int
        Cycle in which it was proved.
    cycle : tuple of Hold
        One cycle inside: each worm waits for the next one, the last for the first.
    worms : frozenset of int
        All worms in the routers that cannot be released; those wholly at their source, waiting behind one, apart.
    """

    at: int
    cycle: tuple[Hold, ...]
    worms: frozenset[int]

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
        self._occupants: dict[Channel, list[int | None]] = {}
        self.upstream = {(int(v), int(i)): (int(u), int(o)) for u, o, v, i in network.topology.links}

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
        """The network output that the worm at the front goes to."""
        links = self.of(channel, "links")
        return next((o for i, o in enumerate(self.network.reaches(channel[1])) if links >> i & 1), None)

    def consumes(self, channel: Channel) -> bool:
        """Whether the worm at the front holds a consumption channel."""
        return bool(self.of(channel, "here") and not self.of(channel, "wants_consumption"))

    def owner(self, router: int, output: int, vc: int) -> Channel | None:
        """The input virtual channel whose worm owns a virtual channel of an output."""
        for port in range(len(self.inputs)):
            for source in range(self.vcs):
                channel = router, port, source
                if output == self.ejection:
                    owns = bool(self.consumes(channel) and self.of(channel, "consumption_vc") == vc)
                else:
                    # of two readers the first one may be through with its link before the worm is gone
                    owns = bool(self.of(channel, "owns_link") and not self.of(channel, "done_0")
                                and self.output(channel) == output and self.of(channel, "link_vc") == vc)
                if owns:
                    return channel
        return None

    def behind(self, router: int, output: int, vc: int) -> Channel | None:
        """The input virtual channel at the far end of an output's virtual channel."""
        for (far, port), near in self.upstream.items():
            if near == (router, output):
                return far, port, vc
        return None

    def stored(self, channel: Channel) -> list[int]:
        """Rows in a buffer, front first: data, then head, then code or tail."""
        router, port, vc = channel
        prefix = f"{self.inputs[port]}_input.buffer."
        memory = self.register("router", prefix + "memory", router)
        readers = 2 if f"{prefix}vc{vc}_level1" in self.engine.kernels["router"].state else 1
        # of several readers the last one has the most before it
        # the level counts a flit that left in the cycle before
        levels = [int(self.register("router", f"{prefix}vc{vc}_level{r}", router)).bit_count()
                  - int(self.register("router", f"{prefix}vc{vc}_left{r}", router)) for r in range(readers)]
        last = int(np.argmax(levels))
        start = 0 if self.depth == 1 else int(self.register("router", f"{prefix}vc{vc}_read{last}_at", router))
        first_row = vc << (self.depth - 1).bit_length()
        rows = [int(memory[first_row + (start + k) % self.depth]) for k in range(levels[last])]
        return rows + self._on_link(channel)

    def _on_link(self, channel: Channel) -> list[int]:
        """The flit that lies on the link to a buffer, as a row of it."""
        router, port, vc = channel
        if port >= self.ejection:
            word = self.engine.output("interface", f"network_out_{port - self.ejection}")[router]
        elif (router, port) in self.upstream:
            near, output = self.upstream[router, port]
            word = self.engine.output("router", f"{self.outputs[output]}_out")[near]
        else:
            return []
        vc_bits = (self.vcs - 1).bit_length()
        if not word & 1 or word >> 1 & (1 << vc_bits) - 1 != vc:
            return []
        flit = word >> 1 + vc_bits
        head, tail, data = flit & 1, flit >> 1 & 1, flit >> 2
        return [data | head << self.width | (tail and not head) << self.width + 1]

    def occupants(self, channel: Channel) -> list[int | None]:
        """Worms in a buffer, front first; None for one that is on the move where no register tells."""
        if channel not in self._occupants:
            self._occupants[channel] = []  # ends a search that runs in a circle
            self._occupants[channel] = self._find_occupants(channel)
        return self._occupants[channel]

    def _find_occupants(self, channel: Channel) -> list[int | None]:
        pieces: list[list[int]] = [[]]
        for row in self.stored(channel):
            pieces[-1].append(row)
            if row >> self.width & 3 == 2:
                pieces.append([])
        active = self.of(channel, "here") or self.of(channel, "links")
        if not pieces[-1] and (len(pieces) > 1 or not active):
            pieces.pop()
        return [self._name(piece, channel) for piece in pieces]

    def _name(self, rows: list[int], channel: Channel) -> int | None:
        """The worm that flits belong to: by its tag in a payload flit, or by who is sending it."""
        for row in rows:
            if not row >> self.width & 5:  # neither head mark nor the mark of a header flit that ends here
                tag = row & (1 << tag_bits(self.width)) - 1
                worm = int(self.host.tagged[tag])
                return worm if worm >= 0 else None
        return self._sender(channel)

    def _sender(self, channel: Channel) -> int | None:
        router, port, vc = channel
        if port >= self.ejection:
            return self._injecting(router, port - self.ejection, vc)
        if (router, port) not in self.upstream:
            return None
        owner = self.owner(*self.upstream[router, port], vc)
        found = self.occupants(owner) if owner else []
        return found[0] if found else None

    def _injecting(self, node: int, port: int, vc: int) -> int | None:
        """The worm that a node's interface is sending on this virtual channel."""
        def register(name: str, instance: int) -> Any:
            return self.register("interface", name, instance)

        return worm_at_interface(self.host, register, self.engine.on_host_link(node, port), node, port, vc)


def find_deadlock(engine: BulkEngine) -> Deadlock | None:
    """Prove that worms wait for each other for ever, or return None.

    The graph's vertices are worms. A worm waits for a consumption channel or a virtual channel of a link (any
    one of those it may take: OR), and for the worms before it in each buffer that it stands in (all: AND).
    Worms that wait for nothing, or for something that a releasable worm holds, are released; the rest is the
    deadlock. Consumption itself always goes on, and a worm that no register names counts as releasable.
    """
    snapshot = _Snapshot(engine)
    mask_of = engine.network.consumption_mask
    waits: dict[int, list[tuple[list[str], list[int | None]]]] = {}
    holds: dict[int, list[str]] = {}

    for channel in snapshot.channels():
        worms = snapshot.occupants(channel)
        if not worms:
            continue
        router, port, vc = channel
        arrived = f"link:{snapshot.upstream[router, port][0]}>{router}:{vc}" if port < snapshot.ejection else None
        for place, worm in enumerate(worms):
            if worm is None:
                continue
            waits.setdefault(worm, [])
            if arrived:
                _add(holds, worm, arrived)
            if place:
                waits[worm].append(([arrived or f"injection:{router}:{vc}"], [worms[0]]))
        front = worms[0]
        if front is None:
            continue
        output = snapshot.output(channel)
        if snapshot.consumes(channel):
            _add(holds, front, f"cons:{router}:{snapshot.of(channel, 'consumption_vc')}")
        if snapshot.of(channel, "wants_consumption"):
            mask = mask_of(router, port, output, bool(snapshot.of(channel, "final")))
            wanted = [c for c in range(engine.network.configuration.consumption) if mask >> c & 1]
            owners = [snapshot.owner(router, snapshot.ejection, c) for c in wanted]
            waits[front].append(([f"cons:{router}:{c}" for c in wanted],
                                 [_front(snapshot, owner) for owner in owners]))
        elif output is not None and not snapshot.of(channel, "owns_link"):
            far = int(snapshot.neighbours[router, output])
            waits[front].append(([f"link:{router}>{far}:{w}" for w in range(snapshot.vcs)],
                                 [_link_holder(snapshot, router, output, w) for w in range(snapshot.vcs)]))
        elif output is not None:
            far = int(snapshot.neighbours[router, output])
            _add(holds, front, f"link:{router}>{far}:{snapshot.of(channel, 'link_vc')}")

    stuck = set(waits)
    while True:
        released = {
            worm for worm in stuck
            if all(any(holder not in stuck for holder in holders) for _, holders in waits[worm])
        }
        if not released:
            break
        stuck -= released
    if not stuck:
        return None
    return Deadlock(int(engine.host.counters[NOW]), _cycle(stuck, waits, holds), frozenset(stuck))


def _front(snapshot: _Snapshot, channel: Channel | None) -> int | None:
    found = snapshot.occupants(channel) if channel else []
    return found[0] if found else None


def _link_holder(snapshot: _Snapshot, router: int, output: int, vc: int) -> int | None:
    """The worm because of which a virtual channel of a link cannot be taken."""
    owner = snapshot.owner(router, output, vc)
    if owner is not None:
        return _front(snapshot, owner)
    # nobody owns it: it can be taken as soon as the buffer behind it has room
    behind = snapshot.behind(router, output, vc)
    if behind is not None and len(snapshot.stored(behind)) == snapshot.depth:
        return _front(snapshot, behind)
    return None


def _add(holds: dict[int, list[str]], worm: int, resource: str) -> None:
    if resource not in holds.setdefault(worm, []):
        holds[worm].append(resource)


def _cycle(stuck: set[int], waits: dict, holds: dict[int, list[str]]) -> tuple[Hold, ...]:
    """Follow the waits among worms that cannot be released until one comes round."""
    path: list[int] = []
    why: list[tuple[str, ...]] = []
    worm = min(stuck)
    while worm not in path:
        path.append(worm)
        resources, holders = next(
            wait for wait in waits[worm] if all(holder in stuck for holder in wait[1])
        )
        why.append(tuple(resources))
        worm = holders[0]
    start = path.index(worm)
    return tuple(
        Hold(one, tuple(holds.get(one, ())), reasons)
        for one, reasons in zip(path[start:], why[start:], strict=True)
    )
