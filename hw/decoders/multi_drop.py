"""Decoder of multi-drop headers: lists of switches and ports where a worm drops copies on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import MultiDrop

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from .base import Decoder
from .branching import CopyingDecoder
from .table_memory import RouteRows, TableBits, look_up

if TYPE_CHECKING:
    from amaranth.hdl import Value

    from .choice import DecoderPlace

__all__ = ["MultiDropDecoder", "decoder_of"]


class MultiDropDecoder(CopyingDecoder):
    """Decoder that routes a worm to the switch in the worm's first pair. There it decodes the ports of nodes and the
    next switch.

    ::

        id of the first pair ─▶ compare ─┬─ another switch: a branch by the output to it
                                         └─ the own id: a branch to each port of the mask; not the last pair:
        id of the second pair ────────────────────────▶ a branch by the output to it, without the first pair

    A table in each input maps ids of switches to outputs, as in `RouteDecoder`. At a switch without a destination of
    the worm, the decoder needs only the first pair's id. At a switch with a destination, the decoder waits
    for the whole first pair and, unless this is the last pair, for the id in the second pair.

    With node ids (`MultiDrop.ids`) the tables map ids of nodes to outputs, and the switch compares the id with the ids
    of its nodes.

    With ``adaptive`` the tables have alternatives: an entry is a mask of outputs, and a worm takes a free one of them
    to its next switch.

    Source: [Sivaram98], section 5.2.3.

    Parameters
    ----------
    header : MultiDrop
    kind : SwitchKind
    injection : "one" or "all"
    adaptive : bool
        Table entries have alternatives.
    memory : str
        Name of the tables' memories. Default: ``routes``.

    Straps
    ------
    switch
        The own id of the switch; with switch ids only.
    node_{k}
        The id of the node at the k-th ejection port, or -1 without a node; with node ids only.
    """

    variable_length = True

    def __init__(self, header: MultiDrop, *, kind: SwitchKind, injection: str = "one", adaptive: bool = False,
                 memory: str = "routes"):
        super().__init__(kind, injection=injection)
        self.memory = memory
        self.header: MultiDrop = header
        self.adaptive = adaptive
        self.strips = header.pair_flits
        self.id_flits = -(-header.last_bit // header.flit_width)
        self.flits = self.strips + self.id_flits
        self.straps = {"switch": header.id_bits} if header.ids == "switch" else {
            f"node_{k}": header.id_bits + 1 for k in range(len(kind.ejections))}
        self.table_bits = TableBits(
            address=header.id_bits,
            entry=max((self._entry_bits(port) for port in range(len(self.inputs))), default=1),
        )

    def nowhere(self, port: int) -> int:
        """Return the table entry for an unreachable switch, which is also the memories' initial value."""
        return 0 if self.adaptive else max(1, len(self.reaches(port)))

    def _entry_bits(self, port: int) -> int:
        """Return the width of an entry of an input's table: a mask with alternatives, else a number."""
        return max(1, len(self.reaches(port))) if self.adaptive else self.nowhere(port).bit_length()

    def strap_values(self, routes, kind):
        if self.header.ids == "switch":
            return {"switch": kind.members.tolist()}
        none = (1 << self.header.id_bits + 1) - 1
        nodes = routes.topology.node_of_output[kind.members]
        return {f"node_{k}": [none if node < 0 else node for node in nodes[:, port].tolist()]
                for k, port in enumerate(kind.ejections)}

    def seen(self, m, port, straps, flit, place):
        return hdl.Cat(hdl.Mux(place == k, flit, 0) for k in range(self.flits))

    def _pair(self, seen: Value) -> tuple[Value, Value, Value]:
        """Return the fields of the first pair: the switch's id, the mark ``last``, and the mask of ports."""
        mark = self.header.last_bit
        return seen[self.header.form_bits:mark], seen[mark], seen[mark + 1:self.header.pair_bits]

    def _mine(self, straps: dict[str, Value], seen: Value) -> Value:
        number = self._pair(seen)[0]
        if self.header.ids == "switch":
            return number == straps["switch"]
        return any_of([number == straps[name] for name in self.straps])

    def known(self, port, straps, seen, place):
        _, last, _ = self._pair(seen)
        stops = hdl.Mux(last, place == self.strips - 1, place == self.flits - 1)
        if self.strips == 1:
            return hdl.Mux(self._mine(straps, seen), stops, 1)
        taken = self._mine(straps, seen) | (place >= self.id_flits)
        known = hdl.Mux(taken, stops, 1)
        return hdl.Mux(place < self.id_flits - 1, 0, known) if self.id_flits > 1 else known

    def drops(self, port, straps, seen):
        return self._mine(straps, seen)

    def branches(self, m, port, straps, seen, commit):
        reaches, ejection_ports = self.reaches(port), self.ejection_ports(port)
        first, last, ports = self._pair(seen)
        mine = hdl.Signal(name="stops_here")
        behind = seen[self.strips * self.header.flit_width:][self.header.form_bits:self.header.last_bit]
        entry = self._look_up(m, port, straps, hdl.Mux(mine, behind, first))
        ways = entry if self.adaptive else hdl.Cat(entry == i for i in range(len(reaches)))
        onward = hdl.Mux(mine & last, 0, ways)
        m.d.comb += mine.eq(self._mine(straps, seen))
        # the bits of a pair's port mask are numbered like the topology's ports
        near = {o: self.kind.ejections[n] for n, outputs in enumerate(self.ejections) for o in outputs}
        return hdl.Cat(onward[:len(reaches)], *(mine & ports[near[o]] for o in ejection_ports))

    def alternatives(self, port, straps, seen):
        return hdl.C(1)

    def _look_up(self, m, port, straps, switch) -> Value:
        rows, none = 1 << self.header.id_bits, self.nowhere(port)
        table: Any = straps["table"]
        return look_up(m, self.memory, switch, bits=self._entry_bits(port), rows=rows, init=[none] * rows,
                       write=table.write, address=table.address, entry=table.entry)

    def unreachable(self, port, straps, seen):
        _, _, ports = self._pair(seen)
        ejection_ports = set(self.ejection_ports(port))
        near = [self.kind.ejections[n] for n, outputs in enumerate(self.ejections) if ejection_ports & set(outputs)]
        others = [ports[bit] for bit in range(self.header.ports) if bit not in near]
        return self._mine(straps, seen) & (any_of(others) if others else hdl.C(0))

    def memories(self, routes, kind):
        if len(routes.classes) != 1:
            raise WormcastError(f"relation: {routes.relation.name} is not valid with multi-drop headers: it has "
                                f"{len(routes.classes)} classes of virtual channels. Allowed: relations with one "
                                "class, as up-down.")
        topology = routes.topology
        # addresses of the tables, and for each a node to which the routes lead
        numbers_of, first = (np.unique(topology.consumptions[:, 0], return_index=True) if self.header.ids == "switch"
                             else (np.arange(topology.nodes),) * 2)
        found = []
        for port, (name, phase) in enumerate(zip(self.inputs, self.phases(routes, kind), strict=True)):
            numbers = np.full(len(kind.names) + 1, self.nowhere(port), np.int64)
            for i, o in enumerate(self.reaches(port)):
                numbers[kind.network_outputs[o]] = 1 << i if self.adaptive else i
            rows = np.full((len(kind.members), 1 << self.header.id_bits), self.nowhere(port), np.int64)
            found_ways = numbers[routes.options[phase[:, None], kind.members[:, None], first[None, :]]]
            rows[:, numbers_of] = np.bitwise_or.reduce(found_ways, axis=-1) if self.adaptive else found_ways[..., 0]
            rows[phase < 0] = self.nowhere(port)
            found.append(RouteRows((f"{name}_input", "intake", self.memory), port, 0, rows, self.nowhere(port)))
        return found


def decoder_of(place: DecoderPlace) -> Decoder:
    """Build the decoder of multi-drop headers."""
    assert isinstance(place.header, MultiDrop)
    return MultiDropDecoder(place.header, kind=place.kind, injection=place.options.ports,
                            adaptive=not place.routes.deterministic)
