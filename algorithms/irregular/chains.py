"""Partial ordered chains: lists of switches that a worm can visit on links down ([Sivaram98], section 5.2.4)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..topologies.base import Topology
from ..topologies.coordinates import levels

__all__ = ["DownLinks", "chain_arrays", "chain_keys", "chains", "descent", "longest_chain", "weights"]


@dataclass(frozen=True, eq=False)
class DownLinks:
    """Links from each level of the breadth-first tree down to the next, as a graph of switches.

    A link between two switches of one level is in no chain: a shortest legal path may go up instead of using this link.

    Parameters
    ----------
    first : int64 array [switches + 1]
    children : int64 array [pairs of switches]
        Neighbours of switch s one level below it: children[first[s]:first[s + 1]], ascending, each once.
    below : bool array [switches, switches]
        Entry [a, b]: links down lead from switch a to switch b, or a and b are the same.
    """

    first: npt.NDArray[np.int64]
    children: npt.NDArray[np.int64]
    below: npt.NDArray[np.bool_]


@lru_cache(maxsize=16)
def descent(topology: Topology) -> DownLinks:
    """Return the links down of a network, away from its root."""
    level = levels(topology)
    start, _, end, _ = topology.links.T
    down = level[end] > level[start]
    pairs = np.unique(np.stack([start[down], end[down]], axis=1), axis=0).astype(np.int64)
    first = np.searchsorted(pairs[:, 0], np.arange(topology.switches + 1))
    below = np.eye(topology.switches, dtype=bool)
    for switch in np.argsort(-level, kind="stable").tolist():
        for child in pairs[first[switch]:first[switch + 1], 1].tolist():
            below[switch] |= below[child]
    return DownLinks(first.astype(np.int64), np.ascontiguousarray(pairs[:, 1]), below)


def longest_chain(topology: Topology, switches: npt.NDArray[np.integer]) -> int:
    """Return the largest number of these switches in one chain, a list in which links down lead from each to the next.
    """
    below = descent(topology).below[np.ix_(switches, switches)]
    length = np.ones(len(switches), np.int64)
    for place in np.argsort(below.sum(axis=1), kind="stable").tolist():  # lower switches come first
        others = below[place].copy()
        others[place] = False
        length[place] += length[others].max(initial=0)
    return int(length.max(initial=0))


def weights(topology: Topology, nodes: Iterable[int]) -> dict[int, int]:
    """Return the weight of each switch with participants: the number of participants at the switch and at all switches
    below this switch.

    Parameters
    ----------
    nodes : iterable of int
        The source and the destinations of a multicast.
    """
    counts = _participants(topology, nodes)
    sums = descent(topology).below @ counts
    return {switch: int(sums[switch]) for switch in np.flatnonzero(counts).tolist()}


def chains(topology: Topology, nodes: Iterable[int]) -> list[list[int]]:
    """Divide the switches with participants (source, destinations) into chains, by their weights (`weights`).

    A chain begins at the heaviest remaining switch. A chain continues to the heaviest remaining switch that links down
    reach, directly or through switches without participants. Of several switches with the same weight, the one with the
    highest id is taken.

    Source: [Sivaram98], Figure 13. The paper leaves ties open; taking the highest id reproduces the paper's example.

    Parameters
    ----------
    nodes : iterable of int
        The source and the destinations of a multicast.
    """
    counts, graph = _participants(topology, nodes), descent(topology)
    order, number = np.empty((2, topology.switches), np.int64)
    length = _chain_order(counts, graph.first, graph.children, graph.below, order, number)
    found: list[list[int]] = [[] for _ in range(int(number[:length].max(initial=-1)) + 1)]
    for switch, chain in zip(order[:length].tolist(), number[:length].tolist(), strict=True):
        found[chain].append(switch)
    return found


def _participants(topology: Topology, nodes: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.bincount(topology.consumptions[list(nodes), 0], minlength=topology.switches).astype(np.int64)


def chain_arrays(topology: Topology) -> tuple[npt.NDArray, ...]:
    """Arrays of a network for `chain_keys`: switches where nodes consume and inject, and the fields of `DownLinks`."""
    graph = descent(topology)
    homes, starts = (np.ascontiguousarray(ends[:, 0]) for ends in (topology.consumptions, topology.injections))
    return homes, starts, graph.first, graph.children, graph.below


@compiled_from(LINEAR)
def chain_keys(arrays, source, destinations, keys, number):
    """Write keys that sort destinations in the order of their chains, and by id within a switch (compiled).

    A key is ``place * nodes + node``. The place of a switch is its index among the participating switches in the order
    of `chains`.

    Parameters
    ----------
    arrays : tuple
        Result of `chain_arrays`.
    source, destinations
        Source and destinations of one multicast.
    keys : int64 array [destinations]
        Output.
    number : int64 array [switches]
        Output: number of each participating switch's chain, in the order of `chains`.

    Returns
    -------
    int
        Key of the source.
    """
    homes, starts, first, children, below = arrays
    nodes, switches = len(homes), len(first) - 1
    # three arrays, not three rows of one array: in a kernel, unpacked rows do not keep their array alive
    counts, order, place = np.zeros(switches, np.int64), np.empty(switches, np.int64), np.empty(switches, np.int64)
    counts[starts[source]] = 1
    for node in destinations:
        counts[homes[node]] += 1
    for at in range(_chain_order(counts, first, children, below, order, number)):
        place[order[at]] = at
    for visit in range(len(destinations)):
        keys[visit] = place[homes[destinations[visit]]] * nodes + destinations[visit]
    return place[starts[source]] * nodes + source


@compiled_from(LINEAR)
def _chain_order(counts, first, children, below, order, number):
    """Write the switches with participants, chain after chain, to ``order``, and the chain number of each of these
    switches to ``number``.

    Parameters
    ----------
    counts : int64 array [switches]
        Participants at each switch.
    first, children, below
        Fields of `DownLinks`.
    order, number : int64 arrays [switches]
        Output.

    Returns
    -------
    int
        Number of participating switches.
    """
    switches = len(counts)
    weight = np.zeros(switches, np.int64)
    left = 0
    for switch in range(switches):
        if counts[switch] > 0:
            left += 1
            for other in range(switches):
                if below[switch, other]:
                    weight[switch] += counts[other]
    seen = np.full(switches, -1, np.int64)  # for each switch: the switch of a chain from which a search reached it last
    stack = np.empty(switches, np.int64)
    done, chain, here = 0, -1, -1
    while done < left:
        following = -1
        if here >= 0:
            stack[0], size = here, 1
            while size > 0:
                size -= 1
                switch = stack[size]
                for place in range(first[switch], first[switch + 1]):
                    child = children[place]
                    if seen[child] == here:
                        continue
                    seen[child] = here
                    if counts[child] == 0:
                        stack[size] = child
                        size += 1
                    elif weight[child] > 0 and (following < 0 or (weight[child], child) > (
                            weight[following], following)):
                        following = child
        if following < 0:
            chain += 1
            for switch in range(switches):
                if weight[switch] > 0 and (following < 0 or weight[switch] >= weight[following]):
                    following = switch
        order[done], number[done] = following, chain
        weight[following] = 0  # mark as used
        done += 1
        here = following
    return done
