"""Decoder of unicast and address-list headers on tori and rings, under e-cube."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wormcast.algorithms.consumption import ConsumptionClasses
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from .address import coordinates, signs
from .base import ANY_CHANNEL
from .grid import GridDecoder

if TYPE_CHECKING:
    from amaranth.hdl import Value

__all__ = ["TorusDecoder"]

CROSSES = 0
"""Class (``p``) of the virtual channels for worms whose remaining way crosses the ring's edge. Other worms have class 1
(``l`` and ``h``)."""


class TorusDecoder(GridDecoder):
    """Decoder for tori and rings: it compares the coordinates in an address with those of the switch.

    `AddressListDecoder` describes the slots of a flit.

    A worm goes along the last dimension first, and in each dimension the shorter way around the ring. A tie goes up. If
    the header has a sign for the dimension and the address has it set, a tie goes down. With classes of virtual
    channels a worm takes class 0 (``p``) while its remaining way in this dimension crosses the ring's edge, between the
    last node and the first. Otherwise it takes class 1 (``l`` down, ``h`` up)::

        0 --- 1 --- 2 --- 3 --- 0       own 1, to 3: up, class 1      own 2, to 0: up, class 0
           h     h    h p    p          own 3, to 1: up, class 0, and from 0 on class 1

    One subtraction for each dimension decides: the way up has ``d = address - own`` hops, or ``d + extent`` if d is
    negative. Without a set sign, a worm goes up if 0 < d <= k/2 or d <= -k/2, with d = address - own and k nodes in the
    ring. Without a set sign, the worm's way crosses the ring's edge if d > k/2 or d <= -k/2, with d = address - own and
    k nodes. A set sign moves the bounds k/2 and -k/2 of the distance d by one, so that ties go down.

    Worms do not turn into a dimension that e-cube routes earlier. A header that requests a turn into an earlier
    dimension is an error on the wire.

    Parameters
    ----------
    header : AddressList
        The header format, of one relation.
    classes : bool
        True: classes of virtual channels are distinguished; False: a worm takes any virtual channel.
    consumption, multicast, injection, ejection, kind, absorbs
        As in `GridDecoder`.

    Straps
    ------
    coordinate_{d}
        The own coordinate in dimension {d}.
    """

    def __init__(self, header: AddressList, *, classes: bool = True, consumption: ConsumptionClasses = ANY_CHANNEL,
                 multicast: bool = True, injection: str = "one", ejection: str = "one",
                 kind: SwitchKind | None = None, absorbs: bool = False):
        if header.relations != 1:
            raise WormcastError(f"TorusDecoder.header: a selector of {header.relations} relations is not valid. "
                                "Allowed: 1 relation.")
        super().__init__(header, consumption=consumption, multicast=multicast, injection=injection, ejection=ejection,
                         kind=kind, vc_classes=2 if classes else 1, absorbs=absorbs)

    def turns(self, port, output):
        """Return whether the turn follows e-cube's order of dimensions."""
        return port >= self.links_in or self.steps[output][0] <= self.steps[port][0]

    def examine(self, m, name, straps, address, selector):
        """Compute the dimension and direction of the next hop to ``address``, and whether the way crosses the ring's
        edge."""
        fields, down = coordinates(self.header, address), signs(self.header, address)
        equal: dict[int, Value] = {}
        up: dict[int, Value] = {}
        crosses: dict[int, Value] = {}
        for dim, field in fields.items():
            extent, own = self.header.shape[dim], straps[f"coordinate_{dim}"]
            away = hdl.Signal(range(-extent, extent), name=f"{name}_away_{dim}")
            equal[dim] = hdl.Signal(name=f"{name}_equal_{dim}")
            m.d.comb += [away.eq(field - own), equal[dim].eq(field == own)]
            far_below = away <= -((extent + 1) // 2)
            far_above = away > extent // 2
            if dim in down:
                far_below &= ~(down[dim] & (away == -(extent // 2)))
                far_above |= down[dim] & (away == extent // 2)
            up[dim] = far_below | (~away[-1] & ~far_above)
            crosses[dim] = far_below | far_above
        along = self._last_first(equal)
        way = {("along", dim): bit for dim, bit in along.items()}
        for what, of in (("up", up), ("crosses", crosses)):
            way[what, 0] = any_of([along[dim] & of[dim] for dim in fields])
        return self._known(m, name, fields, equal, way)

    def route(self, m, port, straps, examined, selector):
        ways: dict[tuple[int, int], Value] = {}
        for o, k in self.targets(port):
            dim, sign = self.steps[o]
            way = examined["along", dim] & (examined["up", 0] if sign > 0 else ~examined["up", 0])
            if self.vc_classes > 1:
                way &= examined["crosses", 0] if k == CROSSES else ~examined["crosses", 0]
            ways[o, k] = way
        return ways, examined.get(("outside", 0), hdl.C(0))
