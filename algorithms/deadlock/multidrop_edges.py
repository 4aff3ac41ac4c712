"""Dependencies between the branches of a multi-drop worm, which delivers to nodes of one switch after the other."""

import numpy as np

from ..compiled import compiled
from ..ejection import EjectionPorts
from ..routing import walk
from .branch_pairs import BranchPairs, require_one_candidate
from .channel_use import ChannelUse
from .deep_turns import turns_at_stops

__all__ = ["find_multidrop_edges"]


def find_multidrop_edges(part: ChannelUse, ports: EjectionPorts) -> BranchPairs:
    """Find the pairs of branches at each switch where worms stop.

    At a stop there is a branch to each node of the switch, and a branch to the next stop. The branch to the next stop
    may extend over any number of further stops: the worm may hold channels there, and consumption channels of nodes
    (places of `BranchPairs`).
    """
    topology, routes, pairs = part.topology, part.routes, part.pairs
    assert pairs is not None
    require_one_candidate(routes)
    _, came = turns_at_stops(routes, pairs, part.passes.copy())
    starts = np.ascontiguousarray(topology.injections[:, 0])
    found = _drops(routes.arrays, starts, pairs, came, len(ports), ports.first, ports.place)
    return BranchPairs(found, np.full((len(part.passes), 3), -1, np.int32))


@compiled
def _drops(arrays, starts, pairs, came, ports, first_port, port_of_link):
    options, classes, _, _, _, homes = arrays
    phases, switches, nodes, _ = options.shape
    channels = came.shape[1]
    places = channels + ports
    taken = np.empty(phases * switches, np.int32)
    # for each switch and each place reachable from it: a node behind the place
    beyond = np.full((switches, places), -1, np.int32)
    changed = True
    while changed:
        changed = False
        for row in range(len(pairs)):
            switch, w = homes[pairs[row, 0]], pairs[row, 1]
            for phase in range(phases):
                hops = walk(arrays, switch, phase, w, taken)
                for hop in range(hops):
                    if beyond[switch, taken[hop]] < 0:
                        beyond[switch, taken[hop]] = w
                        changed = True
                for node in range(nodes):
                    if hops > 0 and homes[node] == homes[w]:
                        beyond[switch, channels + first_port[node] + port_of_link[taken[hops - 1] // classes]] = node
            for place in range(places):
                if beyond[switch, place] < 0 <= beyond[homes[w], place]:
                    beyond[switch, place] = beyond[homes[w], place]
                    changed = True
    known = np.zeros((places, places), np.bool_)
    found = [(np.int32(0), np.int32(0), np.int32(0), np.int32(0), np.int32(0), np.int32(0))][:0]
    for node in range(nodes):
        switch = homes[node]
        for channel in range(-1, channels):
            u, place = np.int32(-1), channels + first_port[node]
            if channel >= 0:
                u, place = came[switch, channel], place + port_of_link[channel // classes]
            else:
                for other in range(nodes):
                    if starts[other] == switch and other != node:
                        u = np.int32(other)
            if u < 0:
                continue
            for other in range(nodes):
                if node != other != u and homes[other] == switch:
                    there = channels + first_port[other] + (port_of_link[channel // classes] if channel >= 0 else 0)
                    _add(found, known, place, there, switch, u, node, other)
            for row in range(len(pairs)):
                for phase in range(phases):
                    if homes[pairs[row, 0]] == switch and walk(arrays, switch, phase, pairs[row, 1], taken) > 0:
                        _add(found, known, place, taken[0], switch, u, node, pairs[row, 1])
            for there in range(places):
                if beyond[switch, there] >= 0:
                    _add(found, known, there, place, switch, u, beyond[switch, there], node)
    rows = np.empty((len(found), 6), np.int32)
    for row in range(len(found)):
        rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3], rows[row, 4], rows[row, 5] = found[row]
    return rows


@compiled
def _add(found, known, held, other, switch, u, behind, node):
    if not known[held, other]:
        known[held, other] = True
        found.append((np.int32(held), np.int32(other), np.int32(switch), np.int32(u), np.int32(behind), np.int32(node)))
