"""Rejection of class maps that have no consumption class for a stop of a worm before its last one."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .consumption import NO_CLASS, ClassMap, ConsumptionClasses, missing_directions, without_default
from .errors import WormcastError
from .routing import Routes
from .topologies.base import Topology
from .worms import Worms

__all__ = ["require_classes", "without_class"]


def require_classes(classes: ConsumptionClasses, scheme: str, routes: Routes, worms: Worms) -> None:
    """Refuse a class map that has no class for a stop of one of these worms before its last one.

    A class map that has no classes is allowed.
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
        raise without_class(classes, scheme, routes.topology, came, *map(int, worms.destinations[visit : visit + 2]),
                            suffices=lambda wider: wider.of_visits(routes, worms)[visit] != NO_CLASS)


def without_class(
    classes: ClassMap, scheme: str, topology: Topology, came: int, at: int, to: int, *,
    suffices: Callable[[ConsumptionClasses], bool],
) -> WormcastError:
    """Return the refusal for a worm that arrives from one node, stops at a second and continues to a third.

    Parameters
    ----------
    suffices : callable
        Returns whether another class map has a class for this stop.
    """
    start, stop, end = map(topology.node_name, (came, at, to))
    hops = f"its hop to {stop}" + (f", or of its hop from {stop}" if classes.by == "next" else "")
    needed = ""
    if isinstance(classes, ConsumptionClasses):
        needed = " or ".join(direction for direction in missing_directions(classes, topology) if suffices(
            replace(classes, networks=(*classes.networks, (direction,)))))
    return WormcastError(
        f"classes: {without_default(classes)} is not valid: it has no class for a worm of {scheme} from {start} that "
        f"stops at {stop} on its way to {end}. Needed: a class with {f'{needed}, ' * bool(needed)}the direction of "
        f"{hops}."
    )
