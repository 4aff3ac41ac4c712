"""Unicast and address-list headers on tori and rings, under e-cube."""

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

CROSSES, STAYS = 0, 1
"""Classes of virtual channels: p, and l or h."""


class TorusDecoder(GridDecoder):
    """Decodes addresses of a torus or ring by comparing their coordinates with the own ones; how a flit is taken apart,
    see `AddressListDecoder`.

    Last dimension first, in each the shorter way round. Where both are as long (a tie) upwards, or, in dimensions of
    which the header has a sign, downwards where the address has it set. With classes of virtual channels a worm takes
    one of class 0 (``p``) as long as its way in this dimension goes over the ring's edge, between the last node and the
    first, and one of class 1 (``l`` down, ``h`` up) where it does not, or no more::

        0 --- 1 --- 2 --- 3 --- 0       own 1, to 3: up, class 1      own 2, to 0: up, class 0
           h     h    h p    p          own 3, to 1: up, class 0, and from 0 on class 1

    What decides is one subtraction a dimension: the way up is ``d = address - own``, or ``d + extent`` if that is
    negative. Of an extent k, up is shorter where 0 < d <= k/2 or d <= -k/2, and that over the edge where d > k/2 or
    d <= -k/2. A sign moves the two bounds by one, so that ties fall on their other side.

    Worms do not turn into a dimension that comes earlier; one that asks for that is an error on the wire.

    Parameters
    ----------
    header : AddressList
        The header format, of one relation.
    classes : bool
        Whether classes of virtual channels are told apart; else any will do.
    consumption, multicast, injection, ejection, kind, absorbs
        As of `GridDecoder`.

    Straps
    ------
    coordinate_{d}
        The own coordinate in dimension {d}.
    """

    def __init__(self, header: AddressList, *, classes: bool = True, consumption: ConsumptionClasses = ANY_CHANNEL,
                 multicast: bool = True, injection: str = "one", ejection: str = "one",
                 kind: SwitchKind | None = None, absorbs: bool = False):
        if header.relations != 1:
            raise WormcastError(f"TorusDecoder.header: it selects among {header.relations} relations, one is allowed")
        super().__init__(header, consumption=consumption, multicast=multicast, injection=injection, ejection=ejection,
                         kind=kind, vc_classes=2 if classes else 1, absorbs=absorbs)

    def turns(self, port, output):
        """No turn into a dimension that comes earlier."""
        return port >= self.links_in or self.steps[output][0] <= self.steps[port][0]

    def examine(self, m, name, straps, address, selector):
        """The next hop to ``address``: along which dimension, if any, whether upwards, and whether over an edge."""
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
