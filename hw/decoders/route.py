"""Decoder of unicast headers under any relation: a routing table for each input, written before the first cycle."""

from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.phrases import count
from wormcast.algorithms.routing import Routes

from .. import hdl
from ..logic import next_of
from ..router_kind import SwitchKind
from .table_memory import RouteRows, TableBits, look_up
from .unicast import UnicastDecoder

__all__ = ["RouteDecoder"]

MOST_ADDRESS_BITS = 12

Entries = npt.NDArray[np.int64]


class RouteDecoder(UnicastDecoder):
    """Decoder with a routing table for each input. The tables determine phases, classes of virtual channels and
    alternatives.

    ::

        address ─▶ table of this input ─▶ output and class (or a mask of them), or ejection port
                        ▲
        table ──────────┘ write: one entry per cycle

    Each input has its own table, as a worm's phase depends on its last link. The phase of worms from an injection port
    is that of their node. The tables are memories, empty after configuration: until they are written every header is an
    error on the wire (`Cause.WRONG_ORDER`; with deep buffers `Cause.NO_SUCH_DESTINATION`). A written entry is valid
    from the next cycle on, and is kept in reset.

    Without alternatives, an entry is a number: targets have the first numbers, then ejection ports, then "nowhere".
    With alternatives, an entry is a mask of targets, and the bits above the mask hold the number of an ejection port,
    counted from 1, or 0. If alternatives are taken in turn, an input has a bit for each target, which is set if the
    target is the one that was taken last from its set of alternatives. The sets of alternatives are disjoint.

    Parameters
    ----------
    header : Unicast
        Addresses have at most 12 bits.
    kind : SwitchKind
    injection, ejection : "one" or "all"
        As in `Decoder`.
    vc_classes, preferred, enters_empty
        As in `PathDecoder`.
    adaptive : bool
        Entries have alternatives: the switch takes a free alternative, by preference of classes and then by number.
    in_turn : bool
        Entries have alternatives: the input takes the next alternative with each worm, free or not.
    """

    def __init__(self, header: AddressList, *, kind: SwitchKind, injection: str = "one", ejection: str = "one",
                 vc_classes: int = 1, adaptive: bool = False, preferred: tuple[int, ...] = (),
                 enters_empty: bool = False, in_turn: bool = False):
        if header.address_bits > MOST_ADDRESS_BITS:
            raise WormcastError(f"RouteDecoder.header: addresses of {header.address_bits} bits are not valid. Allowed: "
                                f"at most {MOST_ADDRESS_BITS} bits.")
        super().__init__(header, kind=kind, injection=injection, ejection=ejection, vc_classes=vc_classes,
                         adaptive=adaptive, preferred=preferred, enters_empty=enters_empty)
        self.in_turn = in_turn
        self.straps = {}
        self.table_bits = TableBits(
            address=header.address_bits,
            entry=max((self.entry_bits(port) for port in range(len(self.inputs))), default=1),
        )

    @property
    def several(self) -> bool:
        """Entries have alternatives."""
        return self.adaptive or self.in_turn

    def entry_bits(self, port: int) -> int:
        """Return the width of an entry of an input's table."""
        targets, ejection_ports = len(self.targets(port)), len(self.ejection_ports(port))
        if self.several:
            return targets + ejection_ports.bit_length()
        return max((targets + ejection_ports).bit_length(), 1)

    def nowhere(self, port: int) -> int:
        """Return the table entry for an unreachable address, which is also the memories' initial value."""
        return 0 if self.several else len(self.targets(port)) + len(self.ejection_ports(port))

    def strap_values(self, routes, kind):
        return {}

    def way(self, m, port, straps, address):
        targets, ejection_ports, bits = self.targets(port), self.ejection_ports(port), self.entry_bits(port)
        rows = 1 << self.header.address_bits
        table: Any = straps["table"]
        entry = hdl.Signal(bits, name="entry")
        read = look_up(m, "routes", address, bits=max(bits, 1), rows=rows, init=[self.nowhere(port)] * rows,
                       write=table.write, address=table.address, entry=table.entry)
        m.d.comb += entry.eq(read)
        if not self.several:
            asked = [entry == i for i in range(len(targets) + len(ejection_ports))]
        else:
            way_out = entry[len(targets):]
            asked = [*entry[:len(targets)], *(way_out == e + 1 for e in range(len(ejection_ports)))]
        return dict(zip(targets, asked[:len(targets)], strict=True)), asked[len(targets):]

    def chosen(self, m, ways, commit):
        if not self.in_turn:
            return ways
        wanted = hdl.Signal(len(ways), name="wanted")
        last = hdl.Signal(len(ways), name="turn_last")
        m.d.comb += wanted.eq(hdl.Cat(*ways.values()))
        turn = next_of(m, "turn", wanted, last & wanted)
        with m.If(commit):
            m.d.sync += last.eq((last & ~wanted) | turn)
        return {target: turn[i] for i, target in enumerate(ways)}

    def branches(self, m, port, straps, seen, commit):
        if not self.in_turn:
            return seen
        targets = self.targets(port)
        ways = self.chosen(m, {target: seen[i] for i, target in enumerate(targets)}, commit)
        return hdl.Cat(*ways.values(), seen[len(targets):])

    def tables(self, routes: Routes, kind: SwitchKind) -> dict[str, Entries]:
        """Return the entries of all tables of a kind's members, int64 [members, addresses] by name of the input.

        A route back to the previous switch gets the entry `nowhere`, because the input has no such target.
        """
        if len(routes.classes) != self.vc_classes or not (self.several or routes.deterministic):
            others = "" if routes.deterministic else " and alternatives"
            raise WormcastError(f"relation: {routes.relation.name} is not valid: it has "
                                f"{count(len(routes.classes), 'class')} of virtual channels{others}. Allowed with this "
                                f"decoder: {count(self.vc_classes, 'class')}"
                                f"{', also with alternatives' * self.several}.")
        topology = routes.topology
        addresses = [self.header.address(node) for node in range(topology.nodes)]
        found = {}
        for port, (name, phase) in enumerate(zip(self.inputs, self.phases(routes, kind), strict=True)):
            options = routes.options[phase, kind.members].astype(np.int64)  # [members, nodes, alternatives]
            numbers = np.append(self._numbers(port), -1)[options]
            numbers[phase < 0] = -1
            none = self.nowhere(port)
            entries = np.full((len(kind.members), 1 << self.header.address_bits), none, np.int64)
            entries[:, addresses] = self._entries(port, numbers, none)
            found[name] = entries
        return found

    def memories(self, routes, kind):
        found = self.tables(routes, kind)
        return [RouteRows(self.table_path(name), port, 0, found[name], self.nowhere(port))
                for port, name in enumerate(self.inputs)]

    def _numbers(self, port: int) -> Entries:
        """Return the number of the target or ejection port for each code of the routes, -1 if the input has none.
        Ejection ports have the numbers after those of the targets."""
        kind, targets, ejection_ports = self.kind, self.targets(port), self.ejection_ports(port)
        numbers = np.full(len(kind.names) * self.vc_classes, -1, np.int64)
        for i, (o, k) in enumerate(targets):
            numbers[kind.network_outputs[o] * self.vc_classes + k] = i
        for e, o in enumerate(ejection_ports):
            node = next(n for n, outputs in enumerate(self.ejections) if o in outputs)
            numbers[kind.ejections[node] * self.vc_classes] = len(targets) + e
        return numbers

    def _entries(self, port: int, numbers: Entries, none: int) -> Entries:
        """Return the table entries for targets and ejection ports, given by numbers [members, nodes, alternatives]."""
        if not self.several:
            return np.where(numbers[..., 0] < 0, none, numbers[..., 0])
        targets = len(self.targets(port))
        masks = np.where((numbers >= 0) & (numbers < targets), np.int64(1) << np.clip(numbers, 0, targets), 0)
        ends = np.where(numbers >= targets, numbers - targets + 1, 0).max(axis=-1)
        return np.bitwise_or.reduce(masks, axis=-1) | ends << targets

    @staticmethod
    def table_path(port: str) -> tuple[str, ...]:
        """Return the path of submodules from a switch to the memory of an input's table."""
        return (f"{port}_input", "intake", "routes")
