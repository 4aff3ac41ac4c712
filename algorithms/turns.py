"""Refusal of worms that routers do not pass on: a turn is missing, or a stop has no consumption class."""

import numpy as np

from .class_coverage import require_classes
from .compiled import LINEAR, compiled_from
from .consumption import ConsumptionClasses
from .errors import WormcastError
from .headers import Unicast
from .routing import Routes
from .routing.base import turns_of
from .schemes import Scheme
from .worms import Worms

__all__ = ["require_passage", "require_turns", "require_unicasts", "wrong_turn"]


def require_unicasts(scheme: Scheme, routes: Routes) -> None:
    """Refuse worms with several destinations under a relation for unicasts only."""
    if routes.for_unicasts and not issubclass(scheme.header, Unicast):
        raise WormcastError(f"relation: {routes.relation.name} is not valid for {scheme.name}: worms of {scheme.name} "
                            "have several destinations. Allowed: schemes of unicasts, such as individual.")


def require_passage(scheme: Scheme, routes: Routes, classes: ConsumptionClasses, worms: Worms, *, whole: bool,
                    apart: bool = False) -> None:
    """Refuse worms of a scheme that routers do not pass on to all their destinations.

    Parameters
    ----------
    whole : bool
        Switches hold whole worms, and have all turns.
    apart : bool
        True: worms end at each destination and are sent anew, so that they need no turn there.

    Raises
    ------
    WormcastError
        The relation does not lead to a destination; the class map has no class for a worm at a stop; or a worm requests
        a turn that routers do not have.
    """
    scheme.hops(routes, worms)
    require_classes(classes, scheme.name, routes, worms)
    if not scheme.is_tree and not whole:
        require_turns(scheme.name, routes, worms, apart=apart)


def require_turns(scheme: str, routes: Routes, worms: Worms, *, apart: bool = False) -> None:
    """Refuse the first worm that requests a turn which the routers lack.

    Each worm is followed along all paths that the relation allows. Routes must reach all destinations, as checked by
    `Routes.hops`.

    Parameters
    ----------
    scheme : str
        Name of the scheme in the refusal.
    apart : bool
        True: worms end at each destination and are sent anew, so that they need no turn there.

    Raises
    ------
    WormcastError
        A worm requests a turn that the routers lack.
    """
    topology = routes.topology
    turns = turns_of(routes.relation, topology)
    starts = np.ascontiguousarray(topology.injections[:, 0])
    ports = np.ascontiguousarray(topology.links[:, 1])
    before, behind, stopped = _first_wrong(routes.arrays, turns, ports, starts, routes.phase_of_node, worms.source,
                                           worms.destination_offsets, worms.destinations, apart)
    if before >= 0:
        raise wrong_turn(scheme, routes, int(before), int(topology.links[behind, 2]), bool(stopped))


def wrong_turn(scheme: str, routes: Routes, link: int, to: int, stopped: bool) -> WormcastError:
    """Return the refusal of a worm that arrives by a link and continues to a switch to which routers lack a turn."""
    topology = routes.topology
    start, _, end, _ = topology.links[link].tolist()
    came, at, on = (topology.node_title(switch) if topology.direct else topology.switch_names[switch]
                    for switch in (start, end, to))
    return WormcastError(
        f"scheme {scheme}: a worm comes from {came} to {at}, {'stops there, and ' if stopped else ''}continues to "
        f"{on}; routers for relation {routes.relation.name} do not have this turn in {topology.name}. Needed: another "
        "relation, for example that of the scheme, or another order of visits."
    )


@compiled_from(LINEAR)
def _first_wrong(arrays, turns, ports, starts, phases, sources, destination_offsets, destinations, apart):
    """Return the links before and after the first missing turn, and whether the worm stops between them; -1 if no turn
    is missing."""
    options, classes, link_of_port, switch_of_link, phase_of_link, homes = arrays
    reached = np.full(len(ports), -1, np.int64)  # for each link: the latest visit whose paths contain the link
    came = np.empty(len(ports) + 1, np.int32)  # links by which the worm may arrive; -1 for its first switch
    for worm in range(len(sources)):
        start, phase, tail = starts[sources[worm]], phases[sources[worm]], 1
        came[0] = -1
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            node, first, head = destinations[visit], tail, 0
            for place in range(first):
                if came[place] >= 0:
                    reached[came[place]] = visit
            while head < tail:
                before = came[head]
                switch, at = start, phase
                if before >= 0:
                    switch, at = switch_of_link[before], phase_of_link[before]
                for place in range(options.shape[3] if switch != homes[node] else 0):
                    code = options[at, switch, node, place]
                    if code < 0:
                        break
                    link = link_of_port[switch, code // classes]
                    if before >= 0 and not turns[before, ports[link]]:
                        return before, link, head < first
                    if reached[link] != visit:
                        reached[link] = visit
                        came[tail] = link
                        tail += 1
                head += 1
            if apart:
                start, phase, tail = homes[node], phases[node], 1
                came[0] = -1
                continue
            tail = 0
            for place in range(head):
                link = came[place]
                if (start if link < 0 else switch_of_link[link]) == homes[node]:
                    came[tail] = link
                    tail += 1
    return -1, -1, False
