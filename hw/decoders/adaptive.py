"""Decoder of address-list headers in meshes: adaptive between destinations, with e-cube as escape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wormcast.algorithms.consumption import ConsumptionClasses
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.routing import ADAPTIVE, E_CUBE_ADAPTIVE, Relation
from wormcast.algorithms.routing.adaptive import ESCAPE

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from .address import coordinates
from .base import ANY_CHANNEL
from .grid import GridDecoder

if TYPE_CHECKING:
    from amaranth.hdl import Value

__all__ = ["AdaptiveDecoder"]

ADAPTS = 1 - ESCAPE


class AdaptiveDecoder(GridDecoder):
    """Adaptive decoder for meshes: it compares coordinates.

    A worm requests any hop that leads nearer to its next destination on virtual channels of class ``adaptive``, or the
    hop of e-cube on virtual channels of class ``escape``. `AddressListDecoder` describes the slots of a flit.

    ::

        address ─▶ compare each dimension ─┬─ differs, above or below ─────▶ adaptive: any of these
                                           └─ the last one that differs ───▶ escape: e-cube

    Under e-cube-adaptive no adaptive hop is requested if the address differs from the switch's own one in one dimension
    only. A header whose escape hop leads back to the previous switch is an error on the wire, even if adaptive hops
    exist.

    The worm's delays are those that `Switch` states. At a destination, consumption classes by the next hop take the
    escape hop as the worm's next hop.

    Parameters
    ----------
    header : AddressList
        The header format, of one relation.
    relation : Relation
        ``adaptive`` or ``e-cube-adaptive``.
    consumption : ConsumptionClasses
        As in `Decoder`.
    injection, ejection : "one" or "all"
        As in `Decoder`.
    kind : SwitchKind, optional
        Kind of the mesh's switches; by default derived from the header's shape.

    Straps
    ------
    coordinate_{d}
        The own coordinate in dimension {d}.
    """

    def __init__(self, header: AddressList, *, relation: Relation, consumption: ConsumptionClasses = ANY_CHANNEL,
                 injection: str = "one", ejection: str = "one", kind: SwitchKind | None = None):
        if not self.knows(relation):
            raise WormcastError(f"AdaptiveDecoder.relation: {relation.name} is not valid. Allowed: {ADAPTIVE.name}, "
                                f"{E_CUBE_ADAPTIVE.name}.")
        if header.relations != 1:
            raise WormcastError(f"AdaptiveDecoder.header: a selector of {header.relations} relations is not valid. "
                                "Allowed: 1 relation.")
        super().__init__(header, consumption=consumption, multicast=True, injection=injection, ejection=ejection,
                         kind=kind, vc_classes=2, adaptive=True, preferred=(ADAPTS, ESCAPE), enters_empty=True)
        self.stops_by_escape = relation is E_CUBE_ADAPTIVE

    @staticmethod
    def knows(relation: Relation) -> bool:
        """Return whether the decoder supports the relation."""
        return relation is ADAPTIVE or relation is E_CUBE_ADAPTIVE

    def examine(self, m, name, straps, address, selector):
        """Compute the dimensions along which a hop leads nearer to the address, the dimension of e-cube, and the
        directions."""
        fields = coordinates(self.header, address)
        equal = {dim: field == straps[f"coordinate_{dim}"] for dim, field in fields.items()}
        way: dict[tuple[str, int], Value] = {}
        for dim, field in fields.items():
            others = [~equal[d] for d in fields if d != dim] if self.stops_by_escape else [hdl.C(1)]
            way["above", dim] = field > straps[f"coordinate_{dim}"]
            way["nearer", dim] = ~equal[dim] & any_of(others)
        way |= {("along", dim): bit for dim, bit in self._last_first(equal).items()}
        return self._known(m, name, fields, equal, way)

    def route(self, m, port, straps, examined, selector):
        ways: dict[tuple[int, int], Value] = {}
        for what, k in (("along", ESCAPE), ("nearer", ADAPTS)):
            for o in self.reaches(port):
                dim, sign = self.steps[o]
                above = examined["above", dim]
                ways[o, k] = examined[what, dim] & (above if sign > 0 else ~above)
        escapes = any_of([ways[o, ESCAPE] for o in self.reaches(port)])
        return ({(o, k): way & escapes if k == ADAPTS else way for (o, k), way in ways.items()},
                examined.get(("outside", 0), hdl.C(0)))
