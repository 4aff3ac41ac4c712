"""Statistics of many multicasts: average cost, shared links, and planning time."""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .compiled import LINEAR, compiled_from
from .routing import Routes, walk, walk_to_replication
from .schemes import Scheme
from .topologies import Topology
from .worms import AT_ONCE, Worms

__all__ = ["PlanStatistics", "survey"]

#: Number of timed runs that plan all multicasts. The fastest run counts: other load on the machine only adds time.
TIMED = 7


@dataclass(frozen=True)
class PlanStatistics:
    """Means over many multicasts, with the terms of `Plan`.

    Parameters
    ----------
    destinations, copies, hops, channels, start_ups, phases : float
        Means per multicast.
    longest : float
        Mean number of hops of a multicast's longest worm.
    first_links : float
        Mean number of distinct links by which the worms of a multicast's source leave.
    sharing : float
        Fraction of multicasts in which two worms of one node (of the source, or of a destination that sends worms)
        share their first link.
    hops_per_destination : float
        Hops of all multicasts, divided by the number of destinations of all multicasts.
    shared : float
        Fraction of multicasts in which two worms take the same link.
    as_unicasts : float
        Fraction of worms with the path of a unicast, by the same relation, from their source to their last
        destination.
    planning_ns : float
        Fastest measured time per multicast, in nanoseconds, when all are planned in one batch: check and sort the
        destinations, and divide them among worms. `planning_ns` is the only field that differs from run to run.
    """

    destinations: float
    copies: float
    hops: float
    hops_per_destination: float
    channels: float
    start_ups: float
    phases: float
    longest: float
    first_links: float
    sharing: float
    shared: float
    as_unicasts: float
    planning_ns: float


def survey(
    topology: Topology,
    scheme: Scheme,
    sources: npt.ArrayLike,
    destination_offsets: npt.ArrayLike,
    destinations: npt.ArrayLike,
) -> PlanStatistics:
    """Plan one or more multicasts, and return their statistics.

    ``sources``, ``destination_offsets``, ``destinations`` and the errors are as in `Scheme.batch`.
    """
    scheme = scheme.on(topology)
    # this call compiles and loads the code, so that the timed runs do not
    worms = scheme.batch(topology, sources, destination_offsets, destinations)
    seconds = []
    for _ in range(TIMED):
        began = time.perf_counter()
        scheme.batch(topology, sources, destination_offsets, destinations)
        seconds.append(time.perf_counter() - began)
    routes = scheme.relation.on(topology)
    hops = scheme.hops(routes, worms)
    is_tree = np.array([scheme.is_tree_to(count) for count in range(topology.nodes + 1)])
    trees = is_tree[np.diff(worms.destination_offsets)]
    channels, shared, phases, as_unicast = _ways(routes, worms, trees)
    count = worms.messages
    first_links, sharing = _leaving(topology, routes, worms, trees)
    return PlanStatistics(
        destinations=len(worms.destinations) / count,
        copies=len(worms) / count,
        hops=float(hops.sum()) / count,
        hops_per_destination=float(hops.sum()) / len(worms.destinations),
        channels=float(channels.mean()),
        start_ups=float(np.maximum.reduceat(worms.rank, worms.message_offsets[:-1]).mean()) + 1,
        phases=float(phases.mean()),
        longest=float(np.maximum.reduceat(hops, worms.message_offsets[:-1]).mean()),
        first_links=float(first_links.mean()),
        sharing=float(sharing.mean()),
        shared=float(shared.mean()),
        as_unicasts=float(as_unicast.mean()),
        planning_ns=min(seconds) / count * 1e9,
    )


def _leaving(topology: Topology, routes: Routes, worms: Worms,
             trees: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.generic], ...]:
    """Count the first links of each multicast's source, and find multicasts in which two worms of a node share a first
    link.

    For a worm without links, the switch's port to a destination counts as first link. ``trees``: the worms that are
    trees, bool [worms].
    """
    count = worms.messages
    worm = np.repeat(np.arange(len(worms)), np.diff(worms.destination_offsets))
    start, to = topology.injections[worms.source[worm], 0], worms.destinations
    ports = routes.options[routes.phase_of_node[worms.source[worm]], start, to, 0] // len(routes.classes)
    away = topology.consumptions[to, 0] != start
    leaves = np.bincount(worm[away], minlength=len(worms)) > 0
    away |= ~leaves[worm]
    tells = np.flatnonzero(away)
    # the first destination at another switch decides the first link of a worm that is no tree
    begins = np.zeros(len(away), bool)
    begins[tells[np.unique(worm[away], return_index=True)[1]]] = True
    tells = tells[begins[tells] | trees[worm[tells]]]
    if routes.together:  # if a tree's way to a destination begins with a link up, all branches leave by this link
        up = trees[worm] & leaves[worm] & away & (routes.phase_of_link[topology.link_of_port[start, ports]] == 0)
        only = np.full(len(worms), -1, ports.dtype)
        only[worm[up]] = ports[up]
        ports = np.where(only[worm] >= 0, only[worm], ports)
    worm, ports = worm[tells], ports[tells]
    message = np.repeat(np.arange(count), np.diff(worms.message_offsets))[worm]
    # each combination of message, sender and port once
    ways = np.unique(np.stack([message, worms.source[worm], ports]), axis=1)
    own = ways[1] == worms.source[worms.message_offsets[:-1]][ways[0]]
    left = np.bincount(ways[0], minlength=count)
    by_worm = np.unique(np.stack([message, worm, ports]), axis=1)
    return np.bincount(ways[0][own], minlength=count), left < np.bincount(by_worm[0], minlength=count)


def _ways(routes: Routes, worms: Worms, trees: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.generic], ...]:
    """Return three arrays with an entry for each multicast, and one array with an entry for each worm.

    The arrays of multicasts are the number of distinct links, whether two worms share a link, and the number of worms
    in the longest chain of receipts. The array of worms states for each worm whether it takes a unicast's path.

    All worms must have a path, as checked by `Routes.hops`.
    """
    return _followed(routes.arrays, len(routes.options) * routes.topology.switches, len(routes.topology.links),
                     worms.message_offsets, np.ascontiguousarray(routes.topology.injections[worms.source, 0]),
                     routes.phase_of_node[worms.source], worms.after, worms.destination_offsets, worms.destinations,
                     trees, routes.together)


@compiled_from(LINEAR)
def _followed(arrays, longest, links, message_offsets, starts, sent, after, destination_offsets, destinations,
              trees, together):
    messages, classes, switch_of_link, phase_of_link = len(message_offsets) - 1, arrays[1], arrays[3], arrays[4]
    channels, shared = np.zeros(messages, np.int64), np.zeros(messages, np.bool_)
    phases, as_unicast = np.zeros(messages, np.int64), np.ones(len(starts), np.bool_)
    taken, direct = np.empty(longest, np.int32), np.empty(longest, np.int32)
    chain = np.ones(len(starts), np.int64)
    user = np.full(links, -1, np.int64)  # the last worm so far that takes each link
    for message in range(messages):
        for worm in range(message_offsets[message], message_offsets[message + 1]):
            if after[worm] != AT_ONCE:
                chain[worm] = chain[after[worm]] + 1
            phases[message] = max(phases[message], chain[worm])
            first, end = destination_offsets[worm], destination_offsets[worm + 1]
            whole = walk(arrays, starts[worm], sent[worm], destinations[end - 1], direct)
            is_tree = trees[worm]
            climbed, turn = walk_to_replication(arrays, is_tree and together, starts[worm], destinations[first:end],
                                                taken)
            switch, phase, passed = turn, sent[worm], climbed
            for visit in range(first, end):
                if is_tree:  # each branch begins at the source, or where the way up ends
                    switch, phase, passed = turn, sent[worm], climbed
                hops = walk(arrays, switch, phase, destinations[visit], taken[climbed:])
                for hop in range(0 if visit == first else climbed, climbed + hops):
                    link = taken[hop] // classes
                    if user[link] < message_offsets[message]:
                        channels[message] += 1
                    elif user[link] != worm:
                        shared[message] = True
                    user[link] = worm
                    at = hop if hop < climbed else passed
                    if at >= whole or direct[at] != taken[hop]:
                        as_unicast[worm] = False
                    if hop >= climbed:
                        passed += 1
                        switch, phase = switch_of_link[link], phase_of_link[link]
    return channels, shared, phases, as_unicast
