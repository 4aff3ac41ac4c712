"""Reject class maps that leave an intermediate destination without a class."""

import numpy as np

from .consumption import NO_CLASS, ClassMap, ConsumptionClasses
from .errors import WormcastError
from .routing import Routes
from .topologies.base import Topology
from .worms import Worms

__all__ = ["require_classes", "without_class"]


def require_classes(classes: ConsumptionClasses, scheme: str, routes: Routes, worms: Worms) -> None:
    """Refuse a map that gives one of these worms no class at a destination on its way. No classes at all are allowed.

    Raises
    ------
    WormcastError
        As `without_class`; or the routes do not lead there, or the topology has no such directions.
    """
    if not len(classes):
        return
    last = np.zeros(len(worms.destinations), bool)
    last[worms.destination_offsets[1:] - 1] = True
    missing = np.flatnonzero((classes.of_visits(routes, worms) == NO_CLASS) & ~last)
    if len(missing):
        visit = int(missing[0])
        worm = int(np.searchsorted(worms.destination_offsets, visit, "right")) - 1
        first = visit == worms.destination_offsets[worm]
        came = int(worms.source[worm] if first else worms.destinations[visit - 1])
        raise without_class(classes, scheme, routes.topology, came, *map(int, worms.destinations[visit : visit + 2]))


def without_class(
    classes: ClassMap, scheme: str, topology: Topology, came: int, at: int, to: int
) -> WormcastError:
    """Say that a map gives no class to a worm that comes from one node to another and goes on to a third."""
    start, stop, end = map(topology.node_name, (came, at, to))
    return WormcastError(
        f"classes: {classes} gives no class to a worm of {scheme} from {start} that stops at {stop} on its way "
        f"to {end}, the direction of its {'next or ' if classes.by == 'next' else ''}last hop must be in a class"
    )
