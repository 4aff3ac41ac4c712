"""Ties, where both ways around a ring have the same length: the choice of the way, and its bits in the header."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from ..worms import Worms
from .base import AnyChannel, Relation, Routes, without_classes
from .e_cube import E_CUBE, E_CUBE_EITHER, E_CUBE_SIGNED, e_cube_with_signs

__all__ = ["TIES", "as_built", "default_signs", "routes_of", "signed_dimensions", "with_any_signs", "with_ties"]

TIES = ("plus", "signed")
"""Rules for ties: always upwards, or by a bit of the header."""


def as_built(relation: Relation, topology: Topology, ties: str, vc_classes: str) -> Relation:
    """Return the relation of worms under the hardware options `ties` and `vc_classes`."""
    tied = with_ties(relation, topology, ties)
    return without_classes(tied) if vc_classes == "none" else tied


def with_ties(relation: Relation, topology: Topology, ties: str) -> Relation:
    """Return the relation under the rule `ties`. The rule changes only e-cube, and only if a ring has an even extent.
    """
    if isinstance(relation, AnyChannel):
        return without_classes(with_ties(relation.relation, topology, ties))
    return E_CUBE_SIGNED if ties == "signed" and relation is E_CUBE and _tied(topology) else relation


def with_any_signs(relation: Relation) -> Relation:
    """Return the relation with both ways of each tie; the same relation if it reads no signs."""
    if isinstance(relation, AnyChannel):
        return without_classes(with_any_signs(relation.relation))
    return E_CUBE_EITHER if relation is E_CUBE_SIGNED else relation


def signed_dimensions(relation: Relation, topology: Topology) -> tuple[int, ...]:
    """Return the dimensions with a sign in each address of a header. The result is empty if the relation reads no
    signs."""
    if isinstance(relation, AnyChannel):
        return signed_dimensions(relation.relation, topology)
    return _tied(topology) if relation is E_CUBE_SIGNED else ()


def routes_of(routes: Routes, worms: Worms) -> Iterator[tuple[npt.NDArray[np.int64], Routes]]:
    """Yield groups of worms (their rows) with the routes of the group, one group for each combination of signs.

    Each worm is in exactly one group of worms with the same signs. For a worm with several destinations the first
    destination's signs count. If the worms have no signs, or if the relation reads no signs, all worms are in one
    group.
    """
    dimensions = signed_dimensions(routes.relation, routes.topology)
    if worms.signs is None or not dimensions:
        yield np.arange(len(worms)), routes
        return
    mask = sum(1 << dimension for dimension in dimensions)
    signs = worms.signs[worms.destination_offsets[:-1]] & mask
    for bits in np.unique(signs).tolist():
        relation: Relation = e_cube_with_signs(bits)
        if isinstance(routes.relation, AnyChannel):
            relation = without_classes(relation)
        yield np.flatnonzero(signs == bits), relation.on(routes.topology)


def default_signs(topology: Topology, worms: Worms) -> npt.NDArray[np.int64]:
    """Return the signs that hosts write if the worms carry none, int64 [all destinations]: bit d for dimension d.

    A bit is set, and a tie goes down, where the destination's coordinate is lower than that of the previous stop (the
    first stop is the source). So with the default signs, a worm at a tie never crosses the ring's edge.
    """
    before = np.empty_like(worms.destinations)
    before[1:] = worms.destinations[:-1]
    before[worms.destination_offsets[:-1]] = worms.source
    lower = topology.coordinates[worms.destinations] < topology.coordinates[before]
    return lower @ (np.int64(1) << np.arange(lower.shape[1]))


def _tied(topology: Topology) -> tuple[int, ...]:
    """Dimensions in which ties occur: those of even extent, in tori and rings."""
    wraps = topology.kind in ("torus", "ring")
    return tuple(d for d, extent in enumerate(topology.shape) if wraps and extent % 2 == 0)
