"""Traffic patterns: hot spots, and permutations of the nodes."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.topologies.direct import GRIDS

__all__ = ["PATTERNS", "PERMUTATIONS", "expected_hot_spots", "partners"]

Integers = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


def _require_coordinates(name: str, topology: Topology) -> None:
    """Refuse a network whose nodes have no coordinates."""
    if len(topology.shape) == 1 and topology.kind not in GRIDS:
        raise WormcastError(f"pattern: {name} is not valid on {topology.name}: its nodes have no coordinates. Allowed: "
                            "networks with coordinates, such as meshes, tori and rings.")


def _transpose(topology: Topology) -> Integers:
    """Map each node to the node with the same coordinates in reverse order."""
    _require_coordinates("transpose", topology)
    if topology.shape != topology.shape[::-1]:
        raise WormcastError(f"pattern: transpose is not valid on {topology.name}. Allowed: networks whose extents "
                            "are the same in reverse order, for example 4x4.")
    return np.ravel_multi_index(tuple(topology.coordinates.T[::-1]), topology.shape)


def _tornado(topology: Topology) -> Integers:
    """Map each node to the node just less than half the extent further in each dimension, modulo the extent."""
    return _shifted("tornado", topology, [(extent + 1) // 2 - 1 for extent in topology.shape])


def _neighbour(topology: Topology) -> Integers:
    """Map each node to the node one step further in each dimension, modulo the extent."""
    return _shifted("neighbour", topology, [1] * len(topology.shape))


def _shifted(name: str, topology: Topology, steps: list[int]) -> Integers:
    _require_coordinates(name, topology)
    return np.ravel_multi_index(tuple((topology.coordinates + steps).T), topology.shape, mode="wrap")


def _on_bits(name: str, change: Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.bool_]]) -> Callable[[Topology],
                                                                                                     Integers]:
    """Return a function that maps a topology to a permutation of its node ids.

    ``change`` receives the bits of all ids, and returns those of their images: [nodes, bits], least significant first.
    """
    def permutation(topology: Topology) -> Integers:
        bits = topology.nodes.bit_length() - 1
        if topology.nodes != 1 << bits:
            raise WormcastError(f"pattern: {name} is not valid on {topology.name}, which has {topology.nodes} nodes. "
                                "Allowed: networks whose number of nodes is a power of two.")
        places = np.arange(bits)
        return change(np.arange(topology.nodes)[:, None] >> places & 1 != 0) @ (1 << places)
    return permutation


#: Node that each node sends its unicasts to, by pattern. Source: [Dally04], section 3.2.
PERMUTATIONS: dict[str, Callable[[Topology], Integers]] = {
    "transpose": _transpose,
    "bit-complement": _on_bits("bit-complement", np.logical_not),
    "bit-reversal": _on_bits("bit-reversal", lambda bits: bits[:, ::-1]),
    "shuffle": _on_bits("shuffle", lambda bits: np.roll(bits, 1, axis=1)),
    "tornado": _tornado,
    "neighbour": _neighbour,
}

PATTERNS = ("uniform", "hot-spot", *PERMUTATIONS)


def partners(pattern: str, topology: Topology) -> Integers:
    """Return the node that each node sends its unicasts to, int32 [nodes]; the node itself if it sends none.

    Parameters
    ----------
    pattern : one of `PERMUTATIONS`

    Raises
    ------
    WormcastError
        The pattern does not exist on this topology, or maps every node to itself.
    """
    found = PERMUTATIONS[pattern](topology).astype(np.int32)
    if (found == np.arange(topology.nodes)).all():
        raise WormcastError(f"pattern: {pattern} is not valid on {topology.name}, where it maps every node to itself. "
                            "Allowed: another pattern.")
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
