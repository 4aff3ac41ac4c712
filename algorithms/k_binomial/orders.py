"""Orders of source and destinations in a chain, the source first."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from, inlined
from ..errors import WormcastError
from ..irregular.chains import chain_arrays, chain_keys
from ..topologies.base import Topology
from ..topologies.direct import GRIDS
from ..topologies.parameters import MOST_NODES
from ..topologies.port_uses import links_go_both_ways, require_both_ways
from ..worms import MessageBatch

__all__ = ["ORDERS", "chains_of", "require_order", "usual_order"]

Keys = npt.NDArray[np.int64]

DIMENSIONED = (*GRIDS, "cmesh", "fat-tree", "dragonfly")
"""Kinds of topology with the order ``dimension``."""

NODE_BITS = (MOST_NODES - 1).bit_length()

NOT_TURNED = -1
"""Key of a source whose chain is not rotated: the destination with the lowest key follows the source."""


def chains_of(order: str, topology: Topology, messages: MessageBatch, *, seed: int = 0) -> npt.NDArray[np.int32]:
    """Sort source and destinations of each multicast into a chain.

    Parameters
    ----------
    order : str
        One of `ORDERS`: ``id``, ascending; ``dimension``, in the order in which routing corrects coordinates
        (`_in_dimension_order`); ``cco``, chain after chain of switches (`chains`), and by id at each
        switch; ``random``. With ``dimension`` and ``cco`` the chain is rotated until the source is first. With ``id``
        and ``random`` the source is moved to the beginning of the chain.
    messages : MessageBatch
    seed : int
        Seed of the order ``random``. A random chain depends on the seed, the source and the set of destinations only.

    Returns
    -------
    int32 array [all destinations + messages]
        Entries destination_offsets[m] + m to destination_offsets[m + 1] + m belong to message m.
    """
    keys, own = ORDERS[order](topology, messages, seed)
    return _laid(messages.sources, own, messages.destination_offsets, messages.destinations, keys)


def usual_order(topology: Topology) -> str:
    """Return the default order: dimension on networks of `DIMENSIONED`; else cco if all links go both ways; else id."""
    if topology.kind in DIMENSIONED:
        return "dimension"
    return "cco" if links_go_both_ways(topology) else "id"


def require_order(order: str, topology: Topology, whose: str) -> None:
    """Refuse an order that a network does not have. The error message begins with ``whose``, as ``"scheme
    binomial"``."""
    if order == "dimension" and topology.kind not in DIMENSIONED:
        raise WormcastError(f"{whose}: order dimension is not valid: {topology.name} has no dimensions. Allowed: "
                            f"{', '.join(sorted(set(ORDERS) - {'dimension'}))}.")
    if order == "cco":
        require_both_ways(topology, f"{whose}, order cco")


def _by_id(topology: Topology, messages: MessageBatch, seed: int) -> tuple[Keys, Keys]:
    return messages.destinations.astype(np.int64), np.full(len(messages.sources), NOT_TURNED, np.int64)


def _by_dimension(topology: Topology, messages: MessageBatch, seed: int) -> tuple[Keys, Keys]:
    place = np.argsort(_in_dimension_order(topology))
    return place[messages.destinations], place[messages.sources]


def _by_chains(topology: Topology, messages: MessageBatch, seed: int) -> tuple[Keys, Keys]:
    return _concatenated(chain_arrays(topology), topology.switches, *messages)


def _in_dimension_order(topology: Topology) -> npt.NDArray[np.int64]:
    """Sort the nodes by the coordinate that routing corrects first, then by the one that it corrects next, and so on.

    On meshes, tori and rings the last coordinate is first, as in `halving_worms`. On a concentrated mesh the router's
    coordinates are first, in the same order. On a dragonfly the group is first, then the router. On a fat tree the
    nodes are sorted by id: the nodes of each subtree follow each other.
    """
    coordinates = topology.coordinates.T
    if topology.kind in GRIDS:
        return np.lexsort(coordinates)
    return np.lexsort(np.roll(coordinates, 1, axis=0)) if topology.kind == "cmesh" else np.arange(topology.nodes)


def _at_random(topology: Topology, messages: MessageBatch, seed: int) -> tuple[Keys, Keys]:
    keys = _random_keys(np.uint64(seed), *messages)
    return keys, np.full(len(messages.sources), NOT_TURNED, np.int64)


ORDERS: dict[str, Callable[[Topology, MessageBatch, int], tuple[Keys, Keys]]] = {
    "cco": _by_chains, "dimension": _by_dimension, "id": _by_id, "random": _at_random,
}
"""Functions by the name of the order. Each function returns the sort keys, from 0, of all destinations, and the sort
keys of all sources (or ``NOT_TURNED``).
"""


@compiled_from(LINEAR)
def _laid(sources, own, destination_offsets, destinations, keys):
    """Append to each source the destinations with keys above the source's, ascending; then the other destinations,
    ascending."""
    chain = np.empty(len(destinations) + len(sources), np.int32)
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        order = np.argsort(keys[begin:end])
        below = 0
        while below < end - begin and keys[begin + order[below]] < own[message]:
            below += 1
        chain[begin + message] = sources[message]
        for place in range(end - begin):
            chain[begin + message + 1 + place] = destinations[begin + order[(below + place) % (end - begin)]]
    return chain


@compiled_from(LINEAR)
def _concatenated(arrays, switches, sources, destination_offsets, destinations):
    keys, own = np.empty(len(destinations), np.int64), np.empty(len(sources), np.int64)
    number = np.empty(switches, np.int64)
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        own[message] = chain_keys(arrays, sources[message], destinations[begin:end], keys[begin:end], number)
    return keys, own


@compiled_from(LINEAR)
def _random_keys(seed, sources, destination_offsets, destinations):
    keys = np.empty(len(destinations), np.int64)
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        drawn = _mixed(seed ^ _mixed(np.uint64(sources[message])))
        members = np.uint64(0)
        for visit in range(begin, end):
            members += _mixed(np.uint64(destinations[visit]))  # independent of their order
        drawn ^= members
        for visit in range(begin, end):
            # the node's id in the low bits makes keys distinct, so that their order is the same on all machines
            random = _mixed(drawn ^ np.uint64(destinations[visit])) >> np.uint64(NODE_BITS + 1)
            keys[visit] = np.int64(random) << NODE_BITS | np.int64(destinations[visit])
    return keys


@inlined
def _mixed(number):
    """Return the output of a step of SplitMix64 from this number as the state."""
    mixed = number + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
