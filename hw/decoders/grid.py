"""Base class of the decoders of meshes and tori: coordinates in an address, steps along dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from wormcast.algorithms.consumption import NO_CLASS, ConsumptionClasses
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.topologies.mesh import direction_name, label_axes, mesh_directions, port_name

from .. import hdl
from ..router_kind import SwitchKind
from .address import beyond
from .address_list import AddressListDecoder, Examined

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

__all__ = ["GridDecoder", "grid_kind"]


class GridDecoder(AddressListDecoder):
    """Decoder that compares the coordinates in an address with those of the switch.

    `AddressListDecoder` describes the slots of a flit. A dimension of extent 1 has no strap.

    Parameters
    ----------
    header : AddressList
    consumption : ConsumptionClasses
        As in `Decoder`.
    multicast : bool
        False builds the decoder for unicast headers: the own address is always the last one.
    injection, ejection : "one" or "all"
        As in `Decoder`.
    kind : SwitchKind, optional
        Kind of all switches; by default derived from the header's shape.
    vc_classes, absorbs, adaptive, preferred, enters_empty
        As in `Decoder` and `PathDecoder`.

    Straps
    ------
    coordinate_{d}
        The own coordinate in dimension {d}.
    """

    def __init__(self, header: AddressList, *, consumption: ConsumptionClasses, multicast: bool, injection: str,
                 ejection: str, kind: SwitchKind | None, vc_classes: int = 1, absorbs: bool = False,
                 adaptive: bool = False, preferred: tuple[int, ...] = (), enters_empty: bool = False):
        self.header = header
        self.multicast = multicast
        self.absorbs = absorbs
        self.steps = mesh_directions(header.shape)
        super().__init__(kind or grid_kind(header.shape), injection=injection, ejection=ejection,
                         consumption=consumption, vc_classes=vc_classes, adaptive=adaptive, preferred=preferred,
                         enters_empty=enters_empty)
        self.straps = {f"coordinate_{d}": bits for d, bits in enumerate(header.field_bits) if bits}

    def strap_values(self, routes, kind):
        own = routes.topology.coordinates[kind.nodes_at(routes.topology)[:, 0]]
        return {name: own[:, int(name.rsplit("_", 1)[1])].tolist() for name in self.straps}

    def _odd(self, dim: int, straps) -> Value:
        """Return whether steps up a dimension lead to lower Hamiltonian labels here.

        Steps up lead to lower labels if the sum of the own coordinates in the label axes before this dimension is odd.
        """
        axes = label_axes(len(self.header.shape))
        before = [straps[f"coordinate_{d}"][0] for d in axes[:axes.index(dim)] if f"coordinate_{d}" in straps]
        odd: Value = before[0] if before else hdl.C(0)
        for bit in before[1:]:
            odd = odd ^ bit
        return odd

    def _turns_labels(self, dim: int) -> bool:
        """Return whether the parity of other coordinates decides if steps up a dimension lead to higher or to lower
        labels."""
        return dim != label_axes(len(self.header.shape))[0]

    def _rises(self, step: tuple[int, int], *, odd: bool) -> bool:
        """Return whether a hop leads to a higher Hamiltonian label.

        In two dimensions labels rise by hops to the next row, to the right in even rows, and to the left in odd rows.
        """
        dim, sign = step
        return (sign > 0) != odd if self._turns_labels(dim) else sign > 0

    def hop_class(self, output, straps, *, into, vc_class=None):
        dim, side = self.steps[output]
        step = dim, -side if into else side  # a worm that came in on the west side moved east
        by_row = []
        for odd in (False, True):
            k = self.consumption.of_direction(direction_name(*step), vc_class)
            if k == NO_CLASS:
                k = self.consumption.of_direction("up" if self._rises(step, odd=odd) else "down", vc_class)
            by_row.append(k)
        if by_row[0] == by_row[1]:
            return [(hdl.C(1), by_row[0])]
        odd_row = self._odd(dim, straps)
        return [(~odd_row, by_row[0]), (odd_row, by_row[1])]

    @staticmethod
    def _last_first(equal: Mapping[int, Value]) -> dict[int, Value]:
        """Return the dimension of e-cube's hop, one-hot: the last one whose coordinate differs from the switch's own.

        ``equal`` has a bit for each dimension, set if the address has the switch's own coordinate.
        """
        return {dim: hdl.Cat(~bit, *(equal[d] for d in equal if d > dim)).all() for dim, bit in equal.items()}

    def _known(self, m: Module, name: str, fields: Mapping[int, Value], equal: Mapping[int, Value],
               way: Mapping[tuple[str, int], Value]) -> Examined:
        """Return a signal for each property of an address: its next hop, ``own`` and ``outside``.

        The signal ``outside`` means that no node has the address; if each address has a node, the result has no
        ``outside``.
        """
        found = {**way, ("own", 0): hdl.Cat(equal.values()).all()}
        nowhere = beyond(self.header, fields)
        if nowhere is not None:
            found["outside", 0] = nowhere
        signals: Examined = {}
        for (what, dim), value in found.items():
            signals[what, dim] = signal = hdl.Signal(name=f"{name}_{what}_{dim}")
            m.d.comb += signal.eq(value)
        return signals

    def own_address(self, straps):
        return hdl.Cat(straps[name] for name in reversed(self.straps))

    def is_own(self, straps, examined):
        return examined["own", 0]


def grid_kind(shape: tuple[int, ...]) -> SwitchKind:
    """Return the `SwitchKind` of all switches of a mesh or torus of this shape, without its list of members."""
    directions = [port_name(len(shape), *direction) for direction in mesh_directions(shape)]
    links, node = tuple(range(len(directions))), (len(directions),)
    return SwitchKind(np.arange(0), (*directions, "local"), links, links, node, node, back=links, own=(0,))
