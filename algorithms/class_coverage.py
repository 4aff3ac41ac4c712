"""Refusal of class maps that have no consumption class for a stop of a worm before the worm's last destination."""

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
    """Refuse a class map that has no class for a stop of one of these worms before the worm's last destination.

    A class map without any classes is allowed.
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
    stop = topology.node_name(at)
    start, middle, end = map(topology.node_title, (came, at, to))
    arrival, departure = f"its hop to {stop}", f"its hop from {stop}"
    needed = f"the direction of {arrival}" + (f", or of {departure}" if classes.by == "next" else "")
    if isinstance(classes, ConsumptionClasses):
        missing = missing_directions(classes, topology)
        wider = {one: replace(classes, networks=(*classes.networks, (one,))) for one in missing}
        found = [one for one in missing if suffices(wider[one])]
        arriving = [one for one in found if suffices(replace(wider[one], by="last"))]
        if found:
            leaving = [one for one in found if one not in arriving]
            every = replace(classes, networks=(*classes.networks, tuple(missing)), by="last")  # routers know this hop
            needed = " or ".join([*(f"{one} ({arrival})" for one in arriving),
                                  *(f"{one} ({departure})" for one in leaving)])
            needed += f", for example classes {every}"
    return WormcastError(
        f"classes: {without_default(classes)} is not valid: it has no class for a worm of {scheme} from {start} "
        f"that stops at {middle} on its way to {end}. Needed: a class with {needed}."
    )
