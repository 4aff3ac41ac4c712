"""Choice of the decoder of unicasts and address lists, by routing relation and network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.routing import E_CUBE, E_CUBE_SIGNED, AnyChannel, Routes

from ..router_kind import switch_kinds
from .adaptive import AdaptiveDecoder
from .base import Decoder
from .mesh import MeshDecoder
from .route import MOST_ADDRESS_BITS as MOST_ROUTE_BITS
from .route import RouteDecoder
from .table import MOST_ADDRESS_BITS, TableDecoder
from .tag import TagDecoder, tag_digits
from .torus import TorusDecoder

if TYPE_CHECKING:
    from .choice import DecoderPlace

__all__ = ["decoder_of"]


def decoder_of(place: DecoderPlace) -> Decoder:
    """Build the decoder of unicasts or of address lists.

    - With shallow buffers, the decoder compares coordinates for e-cube on meshes, tori and rings, and for hamiltonian
      and hamiltonian-row-first on meshes. On tori and rings the decoder reads the signs of ties, if the header has
      them. In address lists the decoder compares coordinates also for adaptive and e-cube-adaptive on meshes.
    - Address lists under relations without a comparison of coordinates use a table in straps.
    - On meshes, unicasts under relations that compare no coordinates use tables in straps, if the table can hold
      the routes. A table in straps can hold the routes if addresses have at most 8 bits, and if the relation has one
      phase, one class of virtual channels and no alternatives. Unicasts without coordinates and without a table in
      straps use digits of the destination as output numbers, if this is possible at all switches of the network, else
      tables in memories. With deep buffers unicasts always use tables in memories.
    """
    header, kind, topology, routes, options = place.header, place.kind, place.topology, place.routes, place.options
    assert isinstance(header, AddressList)
    relation, relations, ports = routes.relation, place.relations, place.ports
    classes = options.consumption_classes(topology, place.scheme)
    multicast, absorbs = header.multicast, options.slots > 0
    plain = relation.relation if isinstance(relation, AnyChannel) else relation
    if options.deep:
        _require_addresses(place, MOST_ROUTE_BITS)
        return RouteDecoder(header, kind=kind, in_turn=routes.in_turn,
                            adaptive=not (routes.in_turn or routes.deterministic))
    if relations or plain in place.compared:
        return MeshDecoder(header, relations=relations or (plain.name,), consumption=classes, multicast=multicast,
                           kind=kind, absorbs=absorbs and multicast, **ports)
    if plain in (E_CUBE, E_CUBE_SIGNED) and place.is_grid:
        return TorusDecoder(header, classes=plain is relation, consumption=classes, multicast=multicast, kind=kind,
                            absorbs=absorbs and multicast, **ports)
    if multicast and place.is_grid and AdaptiveDecoder.knows(relation):
        if absorbs:
            raise WormcastError(f"absorb: {options.slots} is not valid: relation {relation.name} is adaptive. "
                                "Allowed: off, host.")
        return AdaptiveDecoder(header, relation=relation, consumption=classes, kind=kind, **ports)
    if header.signed:
        raise WormcastError(f"ties: signed is not valid: routers of {topology.name} have routing tables, which ignore "
                            "signs. Allowed: plus.")
    simple = routes.deterministic and len(routes.options) == 1 == len(routes.classes)
    if multicast or (topology.kind == "mesh" and simple and header.address_bits <= MOST_ADDRESS_BITS):
        if not simple:
            found = ("alternatives" if not routes.deterministic else f"{len(routes.options)} phases"
                     if len(routes.options) > 1 else f"{len(routes.classes)} classes of virtual channels")
            usual = place.scheme.own_relation.name
            others = [usual] if usual != relation.name else [*["e-cube"] * place.is_grid, "shortest"]
            raise WormcastError(f"relation: {relation.name} is not valid for worms with several destinations: on "
                                f"{topology.name} it has {found}, and routing tables hold one path, one phase and one "
                                f"class. Allowed, for example: {', '.join(others)}.")
        _require_addresses(place, MOST_ADDRESS_BITS)
        if len(kind.ejections) != 1:
            raise WormcastError(f"scheme: {place.scheme.name} is not valid: its worms have several destinations, and a "
                                f"switch of {topology.name} has {len(kind.ejections)} nodes. Allowed: networks with "
                                "one node at each switch, or schemes of unicasts or of trees.")
        return TableDecoder(header, consumption=classes, multicast=multicast, kind=kind,
                            absorbs=absorbs and multicast, **ports)
    digits = {one: tag_digits(routes, one) for one in switch_kinds(topology)}
    own = next(found for one, found in digits.items() if one.members[0] == kind.members[0])
    if own is not None and None not in digits.values() and not relation.enters_empty:
        return TagDecoder(header, kind=kind, digit=own[0] if len(set(own)) == 1 else None, **ports)
    if routes.in_turn and options.ports != "one":
        raise WormcastError(f"ports: {options.ports} is not valid: relation {relation.name} takes its outputs in "
                            "turn, and each of several injection ports leads to one output. Allowed: one.")
    _require_addresses(place, MOST_ROUTE_BITS)
    return RouteDecoder(header, kind=kind, vc_classes=len(routes.classes), in_turn=routes.in_turn,
                        adaptive=not (routes.in_turn or routes.deterministic), preferred=_preferred(routes),
                        enters_empty=relation.enters_empty, **ports)


def _require_addresses(place: DecoderPlace, most: int) -> None:
    """Refuse a network with addresses of more than ``most`` bits, for which routing tables have no room."""
    assert isinstance(place.header, AddressList)
    if place.header.address_bits > most:
        compared = [] if place.options.deep else place.compared or [E_CUBE] * place.is_grid
        allowed = (f"{', '.join(one.name for one in compared)}, which need no tables" if compared else
                   f"networks with addresses of up to {most} bits")
        raise WormcastError(f"relation: {place.routes.relation.name} is not valid: addresses of {place.topology.name} "
                            f"have {place.header.address_bits} bits, and routing tables have room for {most}. "
                            f"Allowed: {allowed}.")


def _preferred(routes: Routes) -> tuple[int, ...]:
    """Return the classes of virtual channels in the routes' order of preference, by their mean position among the
    alternatives."""
    place = np.broadcast_to(np.arange(routes.options.shape[-1]), routes.options.shape)[routes.options >= 0]
    k = routes.options[routes.options >= 0] % len(routes.classes)
    means = [place[k == one].mean() if (k == one).any() else np.inf for one in range(len(routes.classes))]
    return tuple(np.argsort(means, kind="stable").tolist())
