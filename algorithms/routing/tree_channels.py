"""Tree worms: channels of a worm that replicates wherever the paths to its destinations part."""

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..worms import Worms
from .base import Routes, walk

__all__ = ["count_tree_links", "find_tree_channels", "walk_to_replication"]


def find_tree_channels(routes: Routes, source: int, destinations: list[int]) -> list[int]:
    """List the channels of the tree from a source to destinations, sorted by hops from the source.

    Channels with the same number of hops from the source are sorted by switch and output port.

    Returns
    -------
    list of int
        ``link * classes + class``, each once.

    Raises
    ------
    WormcastError
        The relation does not reach a destination.
    """
    path = np.empty(len(routes.options) * routes.topology.switches, np.int32)
    start, nodes = int(routes.topology.injections[source, 0]), np.array(destinations, np.int32)
    trunk_hops, switch = walk_to_replication(routes.arrays, routes.together, start, nodes, path)
    trunk = path[:max(trunk_hops, 0)].tolist()  # channels up to the first switch that may replicate
    depth = {channel: hop for hop, channel in enumerate(trunk)}
    for node in destinations:
        hops = walk(routes.arrays, switch, 0, node, path) if trunk_hops >= 0 else -1
        if hops < 0:
            routes.channels(source, [node])  # raises an error
        for hop, channel in enumerate(path[:hops].tolist(), len(trunk)):
            depth.setdefault(channel, hop)
    ends = routes.topology.links[:, :2].tolist()
    return sorted(depth, key=lambda channel: (depth[channel], ends[channel // len(routes.classes)]))


def count_tree_links(routes: Routes, worms: Worms) -> npt.NDArray[np.int64]:
    """Count the links of each of many trees, int64 [worms].

    Raises
    ------
    WormcastError
        The relation does not reach a destination.
    """
    counts = _count_links(routes.arrays, routes.together, routes.topology.injections[worms.source, 0],
                          worms.destination_offsets, worms.destinations, len(routes.topology.links))
    if counts.size and counts.min() < 0:
        worm = int(counts.argmin())
        find_tree_channels(routes, int(worms.source[worm]), worms.visits(worm).tolist())  # raises: names the switch
    return counts


@compiled_from(LINEAR)
def walk_to_replication(arrays, together, switch, destinations, path):
    """Follow a worm up to the first switch where it may be replicated, and write each channel to `path` (compiled).

    Returns
    -------
    int, int
        Number of hops, -1 if there is no path; and the switch after them.
    """
    options, classes, link_of_port, switch_of_link, phase_of_link, homes = arrays
    hops, going = 0, together
    while going:
        going = False
        for node in destinations:
            code = options[0, switch, node, 0]
            if code < 0:
                return -1, switch
            if homes[node] == switch:
                continue
            link = link_of_port[switch, code // classes]
            if phase_of_link[link] == 0:
                if hops == len(path):
                    return -1, switch
                path[hops] = link * classes + code % classes
                hops += 1
                switch = switch_of_link[link]
                going = True
                break
    return hops, switch


@compiled_from(LINEAR)
def _count_links(arrays, together, starts, destination_offsets, destinations, links):
    classes = arrays[1]
    seen = np.full(links * classes, -1, np.int64)
    path = np.empty(arrays[0].shape[0] * arrays[0].shape[1], np.int32)
    counts = np.zeros(len(starts), np.int64)
    for worm in range(len(starts)):
        first, end = destination_offsets[worm], destination_offsets[worm + 1]
        counts[worm], switch = walk_to_replication(arrays, together, starts[worm], destinations[first:end], path)
        if counts[worm] < 0:
            continue
        for visit in range(first, end):
            hops = walk(arrays, switch, 0, destinations[visit], path)
            if hops < 0:
                counts[worm] = -1
                break
            for channel in path[:hops]:
                if seen[channel] != worm:
                    seen[channel] = worm
                    counts[worm] += 1
    return counts
