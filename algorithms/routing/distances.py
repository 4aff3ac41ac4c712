"""Hops on shortest paths, by breadth-first search."""

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..topologies.base import Topology
from .base import ANY_CLASS, Choices

__all__ = ["shortest_choices"]


def shortest_choices(
    topology: Topology,
    may: npt.NDArray[np.bool_],
    phase_of_link: npt.NDArray[np.int8],
    *,
    alternatives: bool,
    classes: tuple[str, ...] = ANY_CLASS,
) -> Choices:
    """Return the hops that bring a worm nearer to its destination, in the order of output ports.

    Parameters
    ----------
    may : bool array [phases, links]
        Links that a worm may take in each phase.
    phase_of_link : int8 array [links]
        Phase of a worm that has taken the link.
    alternatives : bool
        Return all hops that bring a worm nearer. If `alternatives` is False, return only the first hop.
    """
    phases, most = len(may), topology.neighbours.shape[1] if alternatives else 1
    links = np.ascontiguousarray(topology.links)
    homes, home_of = np.unique(topology.consumptions[:, 0], return_inverse=True)
    ways = _nearer(topology.switches, most, links, may, phase_of_link, homes)
    used = max(1, int((ways >= 0).sum(axis=-1).max()))
    options = np.full((phases, topology.switches, topology.nodes, used), -1, np.int16)
    options[:] = ways[:, :, home_of, :used]
    node = np.arange(topology.nodes)
    options[:, topology.consumptions[:, 0], node] = -1
    options[:, topology.consumptions[:, 0], node, 0] = topology.consumptions[:, 1]
    return Choices(options, phase_of_link, classes)


@compiled_from(LINEAR)
def _nearer(switches, most, links, may, phase_of_link, homes):
    """Output ports on shortest paths to each home (switch where nodes consume), int16 [phases, switches, homes, most].
    """
    phases = len(may)
    ways = np.full((phases, switches, len(homes), most), -1, np.int16)
    incoming = np.argsort(links[:, 2], kind="mergesort")
    first = np.zeros(switches + 1, np.int64)
    for end in links[:, 2]:
        first[end + 1] += 1
    first = np.cumsum(first)
    by_port = np.argsort(links[:, 1], kind="mergesort")
    distance = np.empty((phases, switches), np.int64)
    queue = np.empty((phases * switches, 2), np.int64)
    for home in range(len(homes)):
        distance[:] = -1
        count, done = 0, 0
        for phase in range(phases):
            distance[phase, homes[home]] = 0
            queue[count, 0], queue[count, 1] = phase, homes[home]
            count += 1
        while done < count:
            phase, switch = queue[done, 0], queue[done, 1]
            done += 1
            for place in range(first[switch], first[switch + 1]):
                link = incoming[place]
                if phase_of_link[link] != phase:
                    continue
                start = links[link, 0]
                for before in range(phases):
                    if may[before, link] and distance[before, start] < 0:
                        distance[before, start] = distance[phase, switch] + 1
                        queue[count, 0], queue[count, 1] = before, start
                        count += 1
        for link in by_port:
            start, end = links[link, 0], links[link, 2]
            after = distance[phase_of_link[link], end]
            for phase in range(phases):
                if may[phase, link] and after >= 0 and distance[phase, start] == after + 1:
                    place = 0
                    while place < most and ways[phase, start, home, place] >= 0:
                        place += 1
                    if place < most:
                        ways[phase, start, home, place] = links[link, 1]
    return ways
