"""Visit triples of a scheme: consecutive stops of worms."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .compiled import LINEAR, compiled, compiled_from
from .errors import WormcastError
from .topologies.base import Topology
from .worms import Worms

__all__ = ["visit_triples_of_pairs", "visit_triples_of_worms"]

Batch = Callable[[Topology, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], Worms]
"""`Scheme.batch` of some scheme."""

MOST_ENUMERATED = 256
"""Largest number of nodes for which all multicasts to two destinations are enumerated: 8.3 million multicasts."""


def visit_triples_of_pairs(batch: Batch, topology: Topology) -> npt.NDArray[np.int32]:
    """List the triples of all multicasts to two destinations, int32 [triples, 3]. ``batch`` computes their worms.

    Raises
    ------
    WormcastError
        The topology has more than 256 nodes.
    """
    nodes = topology.nodes
    if nodes > MOST_ENUMERATED:
        raise WormcastError(
            f"check: {topology.name} has {nodes} nodes, too many to enumerate all multicasts to two destinations. "
            f"Allowed: up to {MOST_ENUMERATED}."
        )
    found = [np.empty((0, 3), np.int32)]
    for source in range(nodes):
        pairs = _pairs(nodes, source)
        messages = len(pairs)
        if messages:
            worms = batch(
                topology, np.full(messages, source), np.arange(messages + 1) * 2, pairs.reshape(-1)
            )
            found.append(visit_triples_of_worms(worms))
    return np.concatenate(found)


def visit_triples_of_worms(worms: Worms) -> npt.NDArray[np.int32]:
    """List the triples of some worms, int32 [triples, 3], one row per destination that is not its worm's last."""
    return _visit_triples(worms.source, worms.destination_offsets, worms.destinations)


@compiled
def _pairs(nodes, source):
    """List all sets of two nodes without the source, int32 [pairs, 2]."""
    pairs = np.empty(((nodes - 1) * (nodes - 2) // 2, 2), np.int32)
    row = 0
    for first in range(nodes):
        for second in range(first + 1, nodes):
            if source not in (first, second):
                pairs[row, 0] = first
                pairs[row, 1] = second
                row += 1
    return pairs


@compiled_from(LINEAR)
def _visit_triples(source, destination_offsets, destinations):
    triples = np.empty((len(destinations), 3), np.int32)
    row = 0
    for worm in range(len(source)):
        came_from = source[worm]
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1] - 1):
            triples[row, 0] = came_from
            triples[row, 1] = destinations[visit]
            triples[row, 2] = destinations[visit + 1]
            came_from = destinations[visit]
            row += 1
    return triples[:row].copy()
