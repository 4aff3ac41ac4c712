"""Branches of replicated worms: channels held in one branch while another branch waits."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..ejection import EjectionPorts
from ..errors import WormcastError
from ..routing import Routes, walk, walk_to_replication

__all__ = ["BranchPairs", "find_branch_pairs"]

MOST_NODES = 1024
"""Largest number of nodes of a network in which the tree from each node to all others is analysed."""

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class BranchPairs:
    """Pairs of channels in different branches of replicated worms, and channels that end at replicating switches.

    A *place* is a channel, ``link * classes + class``, or the end at a node, ``channels + ejection port``. All places
    of a worm are in the tree from its source to all nodes, so that these trees contain all pairs of places of worms. If
    worms go up without replication, each tree has the channels from a source up to one switch where worms turn down,
    and the paths to all nodes below this switch.

    Parameters
    ----------
    pairs : int32 array [pairs, 6]
        Each pair of places where a worm may hold the first while it waits for the second, which is the first place of
        another branch. The columns of `pairs` are the two places, the switch where the branches part, and a worm: its
        source, a node behind the first place, and a node behind the second.
    enters : int32 array [channels, 3]
        For each channel, a worm that is replicated at the switch where the channel ends: its source, and two nodes in
        different branches. The entries of a channel are -1 if no worm is replicated at the switch where the channel
        ends.
    """

    pairs: Integers
    enters: Integers


def find_branch_pairs(routes: Routes, ports: EjectionPorts) -> BranchPairs:
    """Find the pairs of places in the worm trees from each node to all other nodes."""
    topology = routes.topology
    if topology.nodes > MOST_NODES:
        raise WormcastError(f"check: {topology.name} is not valid: it has {topology.nodes} nodes, and the tree from "
                            f"each node to all others is analysed. Allowed: at most {MOST_NODES} nodes.")
    require_one_candidate(routes)
    starts = np.ascontiguousarray(topology.injections[:, 0])
    return BranchPairs(*_pairs(routes.arrays, routes.together, starts, len(ports), ports.first, ports.place))


def require_one_candidate(routes: Routes) -> None:
    """Refuse relations with a choice, for worms whose branches wait for each other."""
    if not routes.deterministic:
        raise WormcastError(f"check: relation {routes.relation.name} is not valid: it leaves a choice, and worms are "
                            "replicated in switches whose buffers hold no whole worm. Allowed: relations with one "
                            "candidate for each node, or buffers that hold a whole worm.")


@compiled
def _pairs(arrays, together, starts, ports, first_port, port_of_link):
    """Return `pairs` and `enters` of `BranchPairs`."""
    options, classes, _, switch_of_link, _, _ = arrays
    nodes, channels = len(starts), len(switch_of_link) * classes
    places = channels + ports
    known = np.zeros((places, places), np.bool_)
    found = np.empty((1024, 6), np.int32)
    enters = np.full((channels, 3), -1, np.int32)
    count = 0
    taken = np.empty(options.shape[0] * options.shape[1], np.int32)
    # for each place: ``parent``, its parent in the tree; ``behind``, a node that the tree reaches through it
    parent, behind = np.empty(places, np.int32), np.empty(places, np.int32)
    listed = np.empty(places, np.int32)
    first, following = np.empty(places + 1, np.int32), np.empty(places, np.int32)  # first child; next sibling
    u, climbed = 0, np.empty(0, np.int32)  # channels up that a worm has taken before its branches part
    while u < nodes:
        behind[:], first[:] = -1, -1
        size = 0
        turn = switch_of_link[climbed[-1] // classes] if len(climbed) else starts[u]
        higher = np.empty(0, np.int32)  # channels up to the next higher switch where worms turn down
        for v in range(nodes):
            if v == u:
                continue
            hops, _ = walk_to_replication(arrays, together, turn, np.full(1, v), taken)
            if hops > 0:
                if len(higher) == 0:
                    higher = np.append(climbed, taken[:1])
                continue
            hops = len(climbed) + walk(arrays, turn, 0, v, taken[len(climbed):])
            taken[:len(climbed)] = climbed
            before = places  # the root
            for hop in range(hops + 1):
                if hop < hops:
                    place = taken[hop]
                else:
                    place = channels + first_port[v] + (port_of_link[taken[hop - 1] // classes] if hops else 0)
                if behind[place] < 0:
                    behind[place], parent[place], listed[size] = v, before, place
                    following[place], first[before] = first[before], place
                    size += 1
                before = place
        for at in range(size):
            held = listed[at]
            branch = held
            while branch != places:  # in the tree, each sibling of `branch` begins another branch
                before = parent[branch]
                other = first[before]
                while other >= 0:
                    if other != branch and not known[held, other]:
                        known[held, other] = True
                        if count == len(found):
                            grown = np.empty((2 * count, 6), np.int32)
                            grown[:count] = found
                            found = grown
                        row = found[count]
                        row[0], row[1], row[3], row[4], row[5] = held, other, u, behind[held], behind[other]
                        row[2] = starts[u] if before == places else switch_of_link[before // classes]
                        count += 1
                    if other != branch and before != places and enters[before, 0] < 0:
                        enters[before, 0], enters[before, 1], enters[before, 2] = u, behind[branch], behind[other]
                    other = following[other]
                branch = before
        climbed = higher
        u += len(climbed) == 0
    return found[:count].copy(), enters
