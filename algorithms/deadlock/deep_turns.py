"""Turns of worms that are replicated from whole-worm buffers, beyond the turns of unicasts."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..routing import Routes
from ..routing.base import follow

__all__ = ["turns_at_stops", "turns_down"]

NOWHERE = -1

Integers = npt.NDArray[np.int32]


def turns_at_stops(routes: Routes, pairs: Integers, passes: Integers) -> tuple[Integers, Integers]:
    """Find the turns of worms at their stops; such worms stop at nodes of one switch after the other.

    Parameters
    ----------
    routes : Routes
    pairs : int32 array [pairs, 2]
        A stop, and a next stop to which worms may go on from the first stop. One pair of nodes for each pair of
        switches suffices.
    passes : int32 array [channels, outputs, 2]
        The array `passes` of `ChannelUse` for unicasts. To `passes` the function adds the worms that go from one stop
        to the next.

    Returns
    -------
    stops : int32 array [channels, outputs, 3]
        As in `ChannelUse`.
    came : int32 array [switches, channels]
        For each switch and channel: a source or stop from which worms arrive by the channel at destinations of the
        switch; -1 if there is none.
    """
    starts = np.ascontiguousarray(routes.topology.injections[:, 0])
    stops = np.full((*passes.shape[:2], 3), NOWHERE, np.int32)
    came = np.full((routes.topology.switches, len(passes)), NOWHERE, np.int32)
    _find_turns_at_stops(routes.arrays, starts, pairs, passes, stops, came)
    return stops, came


def turns_down(routes: Routes, passes: Integers) -> Integers:
    """Find the turns of trees that go up without replication: all branches turn down at the same switch.

    Returns
    -------
    int32 array [channels, outputs, 3]
        Stops as in `ChannelUse`: a source, the node that the worm reaches by the channel, and the node behind the
        output.
    """
    stops = np.full((*passes.shape[:2], 3), NOWHERE, np.int32)
    _find_turns_down(routes.arrays, np.ascontiguousarray(routes.topology.injections[:, 0]), stops)
    return stops


@compiled
def _find_turns_at_stops(arrays, starts, pairs, passes, stops, came):
    options, classes, _, switch_of_link, phase_of_link, homes = arrays
    found, origin = np.empty(len(passes), np.int32), np.empty(len(passes), np.int32)
    nodes, most = len(homes), options.shape[3]
    known_start, known_home = np.full(options.shape[1], -1), np.full(options.shape[1], -1)
    for node in range(nodes - 1, -1, -1):  # one node represents all nodes of its switch
        known_start[starts[node]], known_home[homes[node]] = node, node
    for u in known_start:
        for v in known_home:
            if u >= 0 and v >= 0:
                origin[:] = NOWHERE
                for channel in found[:follow(arrays, starts[u], 0, v, origin, u, found)]:
                    if switch_of_link[channel // classes] == homes[v]:
                        came[homes[v], channel] = u
    changed = True
    while changed:
        changed = False
        for row in range(len(pairs)):
            v, w = pairs[row]
            for phase in range(len(options)):
                reached = phase == 0  # worms of the switch's own nodes have phase 0
                for channel in range(len(passes)):
                    reached |= came[homes[v], channel] >= 0 and phase_of_link[channel // classes] == phase
                if not reached:
                    continue
                origin[:] = NOWHERE
                count = follow(arrays, homes[v], phase, w, origin, v, found)
                for channel in range(len(passes)):
                    if count > 0 and came[homes[v], channel] >= 0 and phase_of_link[channel // classes] == phase:
                        for place in range(most):
                            code = options[phase, homes[v], w, place]
                            if code >= 0 and stops[channel, code, 0] < 0:
                                way = stops[channel, code]
                                way[0], way[1], way[2] = came[homes[v], channel], v, w
                for channel in found[:count]:
                    link = channel // classes
                    switch, behind = switch_of_link[link], phase_of_link[link]
                    if switch != homes[w]:
                        for place in range(most):
                            code = options[behind, switch, w, place]
                            if code >= 0 and passes[channel, code, 0] < 0:
                                passes[channel, code, 0], passes[channel, code, 1] = v, w
                    elif came[homes[w], channel] < 0:
                        came[homes[w], channel] = v
                        changed = True
                        for node in range(nodes):
                            if homes[node] == homes[w]:
                                way = passes[channel, options[behind, homes[w], node, 0]]
                                if way[0] < 0:
                                    way[0], way[1] = v, node


@compiled
def _find_turns_down(arrays, starts, stops):
    options, classes, link_of_port, switch_of_link, phase_of_link, homes = arrays
    nodes = len(homes)
    below = np.empty((options.shape[1], nodes), np.bool_)  # by switch and node: links down lead from switch to node
    for switch in range(len(below)):
        for node in range(nodes):
            code = options[0, switch, node, 0]
            below[switch, node] = code >= 0 and (
                homes[node] == switch or phase_of_link[link_of_port[switch, code // classes]] != 0)
    stack, came = np.empty(len(stops), np.int32), np.empty(len(stops), np.bool_)
    for u in range(nodes):
        switch, count, at = starts[u], 0, 0
        came[:] = False
        while True:
            for node in range(nodes):
                if below[switch, node] or node == u:
                    continue
                for place in range(options.shape[3]):
                    code = options[0, switch, node, place]
                    if code < 0:
                        break
                    channel = link_of_port[switch, code // classes] * classes + code % classes
                    if not came[channel]:
                        came[channel] = True
                        stack[count] = channel
                        count += 1
                        behind = switch_of_link[channel // classes]
                        _add_turns_down(options, stops[channel], u, below[switch], below[behind], behind)
            if at == count:
                break
            switch = switch_of_link[stack[at] // classes]
            at += 1


@compiled
def _add_turns_down(options, ways, u, before, here, switch):
    """Add to `ways` the outputs that worms from node `u` request at a switch where they turn down."""
    newly = -1  # a node below this switch that is not below the worm's previous switch
    for node in range(len(here)):
        if here[node] and not before[node] and node != u:
            newly = node
    for node in range(len(here)):
        if newly >= 0 and here[node] and node not in (u, newly):
            way = ways[options[0, switch, node, 0]]
            if way[0] < 0:
                way[0], way[1], way[2] = u, newly, node
