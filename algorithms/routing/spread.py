"""Trees: what a worm goes through that is copied wherever the ways to its destinations part."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..worms import Worms
from .base import Routes, walk

__all__ = ["spread", "spread_hops"]


def spread(routes: Routes, source: int, destinations: list[int]) -> list[int]:
    """List the channels of the tree from a source to destinations, in the order in which its copies reach them.

    All copies of a switch come before those of the next one, and these in the order of its outputs.

    Returns
    -------
    list of int
        ``link * classes + class``, each once.

    Raises
    ------
    WormcastError
        The relation does not lead there.
    """
    depth: dict[int, int] = {}
    for node in destinations:
        for hop, channel in enumerate(routes.channels(source, [node])):
            depth.setdefault(channel, hop)
    ends = routes.topology.links[:, :2].tolist()
    return sorted(depth, key=lambda channel: (depth[channel], ends[channel // len(routes.classes)]))


def spread_hops(routes: Routes, worms: Worms) -> npt.NDArray[np.int64]:
    """Count the links that each of many trees has, int64 [worms].

    Raises
    ------
    WormcastError
        The relation does not lead there.
    """
    counts = _hops(routes.arrays, routes.topology.injections[worms.source, 0], worms.destination_offsets,
                   worms.destinations, len(routes.topology.links))
    if counts.size and counts.min() < 0:
        worm = int(counts.argmin())
        spread(routes, int(worms.source[worm]), worms.visits(worm).tolist())  # says which hop
    return counts


@compiled
def _hops(arrays, starts, destination_offsets, destinations, links):
    classes = arrays[1]
    seen = np.full(links * classes, -1, np.int64)
    taken = np.empty(arrays[0].shape[0] * arrays[0].shape[1], np.int32)
    counts = np.zeros(len(starts), np.int64)
    for worm in range(len(starts)):
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            hops = walk(arrays, starts[worm], 0, destinations[visit], taken)
            if hops < 0:
                counts[worm] = -1
                break
            for channel in taken[:hops]:
                if seen[channel] != worm:
                    seen[channel] = worm
                    counts[worm] += 1
    return counts
