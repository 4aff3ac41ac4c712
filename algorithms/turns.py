"""Rejects worms that ask routers for what they do not have."""

import numpy as np

from .compiled import LINEAR, compiled_from
from .errors import WormcastError
from .headers import Unicast
from .routing import Routes
from .routing.base import walk
from .schemes import Scheme
from .worms import Worms

__all__ = ["require_turns", "require_unicasts", "wrong_turn"]


def require_unicasts(scheme: Scheme, routes: Routes) -> None:
    """Refuse worms of several destinations by a relation that switches know for unicasts alone."""
    if routes.for_unicasts and not issubclass(scheme.header, Unicast):
        raise WormcastError(f"relation: {routes.relation.name} is given for worms of several destinations, those of "
                            f"{scheme.name}; allowed with it are schemes of unicasts, as individual")


def require_turns(scheme: str, routes: Routes, worms: Worms, *, apart: bool = False) -> None:
    """Refuse the first worm that asks for a turn that routers do not have.

    Each worm is followed along the way that is preferred. Routes must lead to all destinations, as `Routes.hops` says.

    Parameters
    ----------
    scheme : str
        Name of the scheme, for the refusal.
    apart : bool
        Worms end at each destination and are sent anew, so that no turn is needed there.

    Raises
    ------
    WormcastError
        There is such a worm.
    """
    topology = routes.topology
    turns = routes.relation.turns(topology)
    starts = np.ascontiguousarray(topology.injections[:, 0])
    ports = np.ascontiguousarray(topology.links[:, 1])
    before, behind, stopped = _first_wrong(routes.arrays, turns, ports, starts, routes.phase_of_node, worms.source,
                                           worms.destination_offsets, worms.destinations, apart)
    if before >= 0:
        raise wrong_turn(scheme, routes, int(before), int(topology.links[behind, 2]), bool(stopped))


def wrong_turn(scheme: str, routes: Routes, link: int, to: int, stopped: bool) -> WormcastError:
    """Say that a worm comes by a link and goes on to a switch to which routers have no turn."""
    topology = routes.topology
    start, _, end, _ = topology.links[link].tolist()
    came, at, on = (topology.switch_title(switch) for switch in (start, end, to))
    return WormcastError(
        f"scheme {scheme}: a worm comes from {came} to {at}, {'stops there, and ' if stopped else ''}goes on to {on}; "
        f"routers by {routes.relation.name} do not have this turn in {topology.name}, it would be an error on the wire"
    )


@compiled_from(LINEAR)
def _first_wrong(arrays, turns, ports, starts, phases, sources, destination_offsets, destinations, apart):
    """The links before and behind the first turn that there is not, and whether the worm stops between them; or -1."""
    options, classes, _, switch_of_link, phase_of_link, _ = arrays
    taken = np.empty(options.shape[0] * options.shape[1], np.int32)
    for worm in range(len(sources)):
        switch, phase, before = starts[sources[worm]], phases[sources[worm]], -1
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            if apart:
                before = -1
            hops = walk(arrays, switch, phase, destinations[visit], taken)
            for hop in range(hops):
                link = taken[hop] // classes
                if before >= 0 and not turns[before, ports[link]]:
                    return before, link, hop == 0
                before = link
            if hops > 0:
                switch, phase = switch_of_link[before], phase_of_link[before]
    return -1, -1, False
