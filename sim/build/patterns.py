"""Traffic patterns: hot spots, permutations of the nodes, and nodes that a source's multicasts go to."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.compiled import LINEAR, compiled_from

from ..common.text import span_text

__all__ = ["MULTICAST_SETS", "PATTERNS", "PERMUTATIONS", "CandidateNodes", "candidates_of", "expected_hot_spots",
           "partners"]

Ids = npt.NDArray[np.integer]
Integers = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


def _transpose(topology: Topology) -> Ids:
    """Map each node to the node with the same coordinates in reverse order.

    The id of the node with the reversed coordinates is its index in an array whose extents are in reverse order, too.
    Nodes with one coordinate are first arranged in rows: the number of rows is the greatest divisor of the number of
    nodes that is not above the square root of the number of nodes.
    """
    shape, ids = topology.shape, np.arange(topology.nodes)
    if len(shape) == 1:
        rows = max(rows for rows in range(1, math.isqrt(len(ids)) + 1) if len(ids) % rows == 0)
        shape = (rows, len(ids) // rows)
    return np.ravel_multi_index(np.unravel_index(ids, shape)[::-1], shape[::-1])


def _tornado(topology: Topology) -> Ids:
    """Map each node to the node just less than half the extent further in each dimension, modulo the extent."""
    return _shifted(topology, [(extent + 1) // 2 - 1 for extent in topology.shape])


def _neighbour(topology: Topology) -> Ids:
    """Map each node to the node one step further in each dimension, modulo the extent."""
    return _shifted(topology, [1] * len(topology.shape))


def _shifted(topology: Topology, steps: list[int]) -> Ids:
    coordinates = np.array(np.unravel_index(np.arange(topology.nodes), topology.shape))
    return np.ravel_multi_index(tuple((coordinates.T + steps).T), topology.shape, mode="wrap")


def _bit_complement(topology: Topology) -> Ids:
    """Map each node to the node with the opposite id; with 2^b nodes, all bits of the id are inverted."""
    return topology.nodes - 1 - np.arange(topology.nodes)


def _bit_reversal(topology: Topology) -> Ids:
    """Map each node to its rank among all ids, sorted by their bits in reverse order.

    With 2^b nodes, the rank of a node is the node's id with the bits in reverse order.
    """
    bits = np.arange((topology.nodes - 1).bit_length())
    reversed_ids = (np.arange(topology.nodes)[:, None] >> bits & 1) @ (1 << bits[::-1])
    return np.argsort(np.argsort(reversed_ids))


def _shuffle(topology: Topology) -> Ids:
    """Map each node to the node with twice its id, as in a perfect shuffle: modulo the number of nodes if this number
    is odd, otherwise modulo the last id. With 2^b nodes, the bits of the id are rotated."""
    ids, last = np.arange(topology.nodes), topology.nodes - 1
    # with an even number of nodes, the last node maps to itself
    return 2 * ids % topology.nodes if last % 2 == 0 else np.where(ids == last, last, 2 * ids % last)


#: Node that each node sends its unicasts to, by pattern. Source: [Dally04], section 3.2, for grids and 2^b nodes.
PERMUTATIONS: dict[str, Callable[[Topology], Ids]] = {
    "transpose": _transpose,
    "bit-complement": _bit_complement,
    "bit-reversal": _bit_reversal,
    "shuffle": _shuffle,
    "tornado": _tornado,
    "neighbour": _neighbour,
}

PATTERNS = ("uniform", "hot-spot", *PERMUTATIONS)

MULTICAST_SETS = ("any", "cluster", "row", "column")


def partners(pattern: str, topology: Topology) -> Integers:
    """Return the node that each node sends its unicasts to, int32 [nodes]; the node itself if it sends none.

    Parameters
    ----------
    pattern : one of `PERMUTATIONS`

    Raises
    ------
    WormcastError
        The pattern maps every node of the topology to itself.
    """
    found = PERMUTATIONS[pattern](topology).astype(np.int32)
    if (found == np.arange(topology.nodes)).all():
        others = [name for name, find in PERMUTATIONS.items() if (find(topology) != np.arange(topology.nodes)).any()]
        raise WormcastError(f"pattern: {pattern} is not valid on {topology.name}, where it maps every node to itself. "
                            f"Allowed: {', '.join(['uniform', *others])}.")
    return found


def expected_hot_spots(others: int, hot: int, share: float) -> Reals:
    """Return an array whose element k is the mean number of hot spots among the first k destinations of a message.

    The index k runs from 0 to ``others``.

    Each destination in turn is drawn from the remaining hot spots with probability ``share``, else from all remaining
    nodes. If no hot spot remains, the destination is drawn from all remaining nodes.

    Parameters
    ----------
    others : int
        Number of nodes, not counting the source.
    hot : int
        Number of hot spots, not counting the source.
    """
    left = hot - np.arange(hot + 1)
    chances = np.zeros(hot + 1)  # of 0, 1, ... hot spots so far
    chances[0] = 1
    means = np.zeros(others + 1)
    for place in range(others):
        one_more = chances * np.where(left > 0, share + (1 - share) * np.minimum(left / (others - place), 1), 0)
        chances -= one_more
        chances[1:] += one_more[:-1]
        means[place + 1] = means[place] + one_more.sum()
    return means


@dataclass(frozen=True, eq=False)
class CandidateNodes:
    """Candidate nodes of each source's multicasts: nearer nodes for all multicasts, others chosen at random for each
    multicast.

    Parameters
    ----------
    size : int
        Number of candidates of a multicast.
    nodes : int32 array [nodes, most]
        Ids of the possible candidates of each source.
    sure : int32 array [nodes]
        Number of the first ids in ``nodes`` that are candidates of each multicast.
    ends : int32 array [nodes]
        Number of the first ids in ``nodes`` that can be candidates. The ids from index ``sure`` to ``ends`` - 1 are
        equally near, and ``size`` - ``sure`` of them are chosen for each multicast.
    """

    size: int
    nodes: Integers
    sure: Integers
    ends: Integers

    def reached(self) -> Reals:
        """Return the mean number of multicasts that reach each node, [nodes], if every node sends a multicast to one of
        its candidates."""
        columns = np.arange(self.nodes.shape[1])
        sure, ends = self.sure[:, None], self.ends[:, None]
        chances = np.where(columns < sure, 1.0, (self.size - sure) / np.maximum(ends - sure, 1))
        there = columns < ends
        return np.bincount(self.nodes[there], chances[there], minlength=len(self.nodes)) / self.size


@functools.lru_cache(maxsize=4)
def candidates_of(multicast_sets: str, size: int, topology: Topology) -> CandidateNodes:
    """Return the candidates of each source's multicasts.

    Parameters
    ----------
    multicast_sets : one of `MULTICAST_SETS`, but not ``any``
    size : int
        Number of nodes of a cluster, without the source: the nodes with the fewest hops from the source. Equally near
        nodes are chosen at random for each multicast. Rows and columns ignore ``size``.

    Raises
    ------
    WormcastError
        The topology has no such sets.
    """
    nodes = topology.nodes
    if multicast_sets != "cluster":
        axes = {"row": len(topology.shape) - 1, "column": 0}
        found_in = [name for name, axis in axes.items() if len(topology.shape) > 1 and topology.shape[axis] > 1]
        axis = axes[multicast_sets]
        if multicast_sets not in found_in:
            reason = "its nodes have one coordinate" if len(topology.shape) == 1 else (
                f"each {multicast_sets} has one node")
            raise WormcastError(f"multicast_sets: {multicast_sets} is not valid on {topology.name}: {reason}. Allowed: "
                                f"{', '.join(['any', *found_in])}, or cluster with cluster_size.")
        lines = np.moveaxis(np.arange(nodes).reshape(topology.shape), axis, -1).reshape(-1, topology.shape[axis])
        found = np.empty((nodes, topology.shape[axis] - 1), np.int32)
        for place, sources in enumerate(lines.T):
            found[sources] = np.delete(lines, place, axis=1)
        whole = np.full(nodes, found.shape[1], np.int32)
        return CandidateNodes(found.shape[1], found, whole, whole)
    if not 1 <= size < nodes:
        raise WormcastError(f"cluster_size: {size} is not valid on {topology.name}. Allowed: "
                            f"{span_text(1, nodes - 1)}.")
    hops = _hops(np.ascontiguousarray(topology.neighbours))[topology.injections[:, 0]][:, topology.consumptions[:, 0]]
    np.fill_diagonal(hops, -1)  # in each row, the source is sorted first
    order = np.argsort(hops, axis=1, kind="stable").astype(np.int32)[:, 1:]
    sorted_hops = np.take_along_axis(hops, order, axis=1)
    if nodes > 2 and (sorted_hops == sorted_hops[0, 0]).all():
        raise WormcastError(f"multicast_sets: cluster is not valid on {topology.name}: all nodes are equally near. "
                            "Allowed: any.")
    farthest = sorted_hops[:, size - 1:size]
    sure = (sorted_hops < farthest).sum(axis=1, dtype=np.int32)
    ends = (sorted_hops <= farthest).sum(axis=1, dtype=np.int32)
    return CandidateNodes(size, np.ascontiguousarray(order[:, :ends.max()]), sure, ends)


@compiled_from(LINEAR)
def _hops(neighbours):
    """Return the hops from each switch to each switch on shortest paths, int16 [switches, switches]."""
    switches, ports = neighbours.shape
    hops = np.full((switches, switches), np.int16(32767), np.int16)
    queue = np.empty(switches, np.int32)
    for start in range(switches):
        hops[start, start] = 0
        queue[0] = start
        done, count = 0, 1
        while done < count:
            switch = queue[done]
            done += 1
            for port in range(ports):
                after = neighbours[switch, port]
                if after >= 0 and hops[start, after] == 32767:
                    hops[start, after] = hops[start, switch] + 1
                    queue[count] = after
                    count += 1
    return hops
