"""Decoder of bit-string headers in networks with up and down links: reachability strings determine the branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import BitString
from wormcast.algorithms.phrases import count
from wormcast.algorithms.routing import Routes
from wormcast.algorithms.routing.reachability import reachability

from .. import hdl
from ..logic import any_of, bits_for, next_of
from ..router_kind import SwitchKind
from .branching import CopyingDecoder
from .table_memory import RouteRows, TableBits, look_up

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

__all__ = ["ReachDecoder"]

Strings = npt.NDArray[np.bool_]


class ReachDecoder(CopyingDecoder):
    """Decoder that sends a worm up until links down lead to all its destinations, and then branches down these links.

    ::

        header flit ─▶ AND with the reachability string of output o ─▶ any set: a branch with these bits leaves by o
                    ─▶ bits in no string ─▶ any set: not all are below: the worm goes up, unchanged

    Each output has a reachability string: the nodes whose way down from the switch begins with this output. Without
    ``whole``, no node is in the strings of two outputs. Strings of outputs to up links are empty. A strap selects the
    up links of the switch; a root has none. With several up links, a worm that goes up takes a free one (``adaptive``),
    or each input takes the next one for each of its worms, the lowest output first (``in_turn``). A branch that goes
    down has the mark of its header set, and is never sent up again. In a branch that goes down, the bit of a node that
    is not below the switch is dropped, and is an error on the wire (`Cause.NO_SUCH_DESTINATION`). A branch may return
    to the switch that the worm came from.

    The strings are in memories with one row for each header flit. Each input has one memory for each output of the
    switch, with that output's string. Each output, too, has one memory, with its own string. The memories are written
    before the first cycle, and are empty until then.

    With ``whole``, the strings are not restricted: a node is in the strings of all outputs that lead down to it. With
    ``whole``, the share of an output is the header AND the output's string AND NOT the OR of the strings of all outputs
    to other switches with higher numbers. Each output to another switch also has a memory for the string of each output
    to another switch with a higher number. The shares are the same as with restricted strings.

    *Latency*: combinational.

    Source: [Sivaram98], sections 5.3.2 and 5.3.3.

    Parameters
    ----------
    header : BitString
    kind : SwitchKind
    injection : "one" or "all"
    in_turn : bool
        A switch may have several up links, which each input uses in turn, one for each worm that goes up.
    adaptive : bool
        A switch may have several up links. A worm that goes up takes a free up link.
    whole : bool
        The strings are whole, not restricted.

    Straps
    ------
    up
        A bit for each output to another switch; set if the output leads to an up link. Several bits of the strap ``up``
        may be set only with the parameter ``in_turn`` or ``adaptive``: the switch then has several up links.
    """

    def __init__(self, header: BitString, *, kind: SwitchKind, injection: str = "one", in_turn: bool = False,
                 adaptive: bool = False, whole: bool = False):
        super().__init__(kind, injection=injection)
        self.header: BitString = header
        self.in_turn = in_turn
        self.adaptive = adaptive
        self.whole = whole
        self.flits = header.flits()
        self.row_bits = max(1, bits_for(self.flits))
        self.straps = {"up": self.ejection}
        self.table_bits = TableBits(address=self.row_bits + bits_for(len(self.outputs)), entry=header.flit_width)

    @property
    def table_count(self) -> int:
        return len(self.inputs) + len(self.outputs)

    def strap_values(self, routes, kind):
        up, _ = self._ways(routes, kind)
        return {"up": [sum(1 << o for o in range(self.ejection) if ports[kind.network_outputs[o]])
                       for ports in up.tolist()]}

    def _string(self, m: Module, name: str, table: Any, output: int | None, place: Value) -> Value:
        """Build a memory with a reachability string, and return the row that is read."""
        own = hdl.C(1) if output is None else table.address[self.row_bits:] == output
        return look_up(m, name, place, bits=self.header.flit_width, rows=1 << self.row_bits, write=table.write & own,
                       address=table.address[:self.row_bits], entry=table.entry)

    def seen(self, m, port, straps, flit, place):
        first, bits = place == 0, self.header.flit_width
        nodes, total = hdl.Signal(bits, name="node_bits"), hdl.Signal(bits, name="below")
        strings = [self._string(m, f"string_{o}", straps["table"], o, place) for o in range(len(self.outputs))]
        mark = self.header.form_bits
        m.d.comb += [
            nodes.eq(hdl.Cat(*(bit & ~first for bit in flit[:mark + 1]), flit[mark + 1:])),
            total.eq(any_of(strings)),
        ]
        hits = [(nodes & self._share(o, strings)).any() for o in self.leads(port)]
        return hdl.Cat(*hits, (nodes & ~total).any(), flit[mark] & first)

    def _share(self, output: int, strings: Sequence[Value] | dict[int, Value]) -> Value:
        """Return the reachability string of ``output``, without the nodes in the strings of the outputs of
        `_higher`."""
        higher = self._higher(output)
        return strings[output] & ~any_of([strings[o] for o in higher]) if higher else strings[output]

    def _higher(self, output: int) -> list[int]:
        """Return the outputs whose nodes `_share` removes from the string of ``output``. Strings of outputs to nodes
        have no node in common with other strings."""
        return list(range(output + 1, self.ejection)) if self.whole else []

    def branches(self, m, port, straps, seen, commit):
        leads = self.leads(port)
        down = hdl.Signal(name="goes_down")
        m.d.comb += down.eq(self._down(straps, seen))
        up = self._in_turn(m, straps["up"], commit & ~down) if self.in_turn else straps["up"]
        return hdl.Cat(hdl.Mux(down, seen[i], up[o] if o < self.ejection else hdl.C(0)) for i, o in enumerate(leads))

    def alternatives(self, port, straps, seen):
        return ~self._down(straps, seen)

    def _down(self, straps: dict[str, Value], seen: Value) -> Value:
        """Return whether the worm's branches go down."""
        return self._turned(seen) | ~self._above(seen) | ~straps["up"].any()

    @staticmethod
    def _in_turn(m: Module, up: Value, commit: Value) -> Value:
        """Return the next worm's up link: the first one after the previous worm's up link, or else the lowest."""
        last = hdl.Signal(len(up), name="up_last")
        chosen = next_of(m, "up", up, last)
        with m.If(commit):
            m.d.sync += last.eq(chosen)
        return chosen

    def unreachable(self, port, straps, seen):
        return self._above(seen) & (self._turned(seen) | ~straps["up"].any())

    @staticmethod
    def _above(seen: Value) -> Value:
        """Return whether some destination is not below the switch."""
        return seen[-2]

    @staticmethod
    def _turned(seen: Value) -> Value:
        return seen[-1]

    def branch_flit(self, m, output, straps, table, flit, place, *, sent, ends):
        name = f"{self.outputs[output]}_string"
        strings = {output: self._string(m, name, table, output if self.whole else None, place)}
        strings |= {o: self._string(m, f"{name}_{o}", table, o, place) for o in self._higher(output)}
        goes_up = straps["up"][output] if output < self.ejection else hdl.C(0)
        kept = hdl.Signal(len(flit), name=f"{self.outputs[output]}_kept")
        marked = place == 0
        if self.header.form_bits:
            marked = hdl.Cat(*(bit & marked for bit in flit[:self.header.form_bits]), marked)
        m.d.comb += kept.eq(hdl.Mux(goes_up, flit, (flit & self._share(output, strings)) | marked))
        return kept

    def memories(self, routes, kind):
        _, strings = self._ways(routes, kind)
        rows = self._rows(strings)
        found = []
        for i, name in enumerate(self.inputs):
            found += [RouteRows((f"{name}_input", "intake", f"string_{o}"), i, o << self.row_bits, rows[:, o])
                      for o in range(len(self.outputs))]
        for o, name in enumerate(self.outputs):
            table = len(self.inputs) + o
            found.append(RouteRows((f"{name}_string",), table, o << self.row_bits if self.whole else 0, rows[:, o]))
            found += [RouteRows((f"{name}_string_{h}",), table, h << self.row_bits, rows[:, h])
                      for h in self._higher(o)]
        return found

    def _rows(self, strings: Strings) -> npt.NDArray[Any]:
        """Return the rows [switches, outputs, rows] of the memories with the strings [switches, outputs, nodes].

        The bits of a row are in the order of the header's bits.
        """
        width = self.header.flit_width
        rows = np.zeros((*strings.shape[:2], 1 << self.row_bits), np.int64 if width < 64 else object)
        for node in range(self.header.nodes):
            at, bit = self.header.place(node)
            rows[:, :, at] += strings[:, :, node].astype(rows.dtype) * (1 << bit)
        return rows

    def _ways(self, routes: Routes, kind: SwitchKind) -> tuple[npt.NDArray[np.bool_], Strings]:
        """Return the up ports of each switch of the kind [members, ports], and the string of each output."""
        refused = f"relation: {routes.relation.name} is not valid"
        choice = not (self.in_turn or self.adaptive or routes.deterministic)
        if len(routes.options) != 2 or choice or (routes.options[1, ..., 1:] >= 0).any() or len(routes.classes) != 1:
            raise WormcastError(f"{refused}: it has {count(len(routes.options), 'phase')} and "
                                f"{count(len(routes.classes), 'class')}"
                                f"{'' if routes.deterministic else ', with alternatives'}. Allowed: relations with two "
                                "phases (up and down), one class of virtual channels, and in phase down one output "
                                "towards each node.")
        down = routes.options[1, :, :, 0].astype(np.int64)
        above = (routes.options[0][..., None] == np.arange(routes.topology.link_of_port.shape[1])).any(axis=2)
        above &= (down < 0)[..., None]  # [switches, nodes, ports]
        ports = above.any(axis=1)
        odd = ((above != ports[:, None]).any(axis=2) & (down < 0)).any(axis=1)
        lost = ~above.any(axis=2) & (down < 0)
        if odd.any() or lost.any():
            switch = int((odd | lost.any(axis=1)).argmax())
            left = np.flatnonzero(lost[switch]).tolist()
            raise WormcastError(
                f"{refused}: from switch {routes.topology.switch_names[switch]} it leads neither down nor up to node "
                f"{left[0]}. Allowed: relations that lead from each switch to each node, down or up." if left else
                f"{refused}: the up ports of switch {routes.topology.switch_names[switch]} depend on the destination. "
                "Allowed: relations with the same up ports for all destinations.")
        own = [*kind.network_outputs, *(kind.ejections[n] for n, outputs in enumerate(self.ejections) for _ in outputs)]
        strings = down[kind.members][:, None, :] == np.array(own)[None, :, None]
        if self.whole:
            known = reachability(routes.topology)
            if (known.down != down).any():
                raise WormcastError(f"{refused} with strings whole: worms do not always use the highest of several "
                                    "outputs down to a node. Allowed: strings restricted, or relation up-down-tree, "
                                    "up-down-tree-any or up-down-tree-adaptive.")
            strings = known.whole[kind.members][:, own]
        return ports[kind.members], strings
