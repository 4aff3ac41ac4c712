"""E-mcast: column-path whose worms also deliver on their way to the column."""

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..consumption import ConsumptionClasses
from ..headers import AddressList
from ..routing import E_CUBE
from ..topologies.base import Topology
from ..topologies.mesh import direction_name, mesh_directions
from ..worms import MessageBatch, Worms
from .grouping import destination_key, grouped_worms
from .mesh import MeshScheme

__all__ = ["EMcast"]


class EMcast(MeshScheme):
    """Send worms along e-cube paths, each to all destinations on its path.

    Each column (line along dimension 0) has at most one worm for its destinations in rows above the source, and at most
    one for its destinations in rows below. A destination in the source's row belongs to the worm that goes farthest on
    its side of the source. Destinations in the source's row beyond the column of this farthest worm share one more
    worm.

    In more dimensions, the rule for the source's row is repeated for each dimension k, in the reverse order of routing.
    For dimension k the rule applies to lines along k whose nodes have the source's coordinates in all dimensions before
    k. On each side of the source, destinations on a line belong to the worm that goes farthest along this line.
    Destinations on a line that the farthest worm of their side does not reach share one more worm.

    Cost: no more start-ups than column-path. Source: [Boppana98], section 2.3 (after [Panda95]), which states the
    destinations that a worm may serve. The assignment of destinations to worms is ours. On 8x8, random multicasts to 1
    to 19 nodes take 3.70 hops per destination; section 4.1 of the paper states 3.72. Also ours: of two worms that go
    equally far, the worm that is sent earlier serves the destination. Worms of columns are sent first, in ascending
    order of columns and upwards before downwards, then worms of the source's row.
    """

    name = "e-mcast"
    description = "column-path; worms to columns also deliver at destinations in the source's row that they pass"
    provenance = "[Boppana98], section 2.3 (which worm serves what, order of sending: ours)"
    in_two_dimensions = "a destination in the source's row goes with the farthest-reaching worm"
    in_more_dimensions = "the same on the lines of each dimension, from dimension 0, which e-cube routes last"
    relation = E_CUBE
    header = AddressList

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return one consumption class per direction, in the order of routing; the last hop decides.

        In two dimensions, one class per direction gives the paper's four classes, but three classes suffice:
        ``1+,0+/1-/0-:last``.
        """
        directions = mesh_directions(topology.shape)
        return ConsumptionClasses(tuple((direction_name(*direction),) for direction in directions), by="last")

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms."""
        shape = np.array(topology.shape)
        keys = _keys(topology.nodes, shape, *messages)
        return grouped_worms(messages, keys, topology.nodes)


@compiled_from(LINEAR)
def _side(node, source, dimension, shape, strides, first_group):
    """Return one number that identifies the line along ``dimension`` through a node and the side of the source on which
    the node lies. Also return the node's distance from the source along this dimension."""
    rest, line = divmod(node, strides[dimension])
    along = rest % shape[dimension] - source // strides[dimension] % shape[dimension]
    return first_group[dimension] + 2 * line + (1 if along > 0 else 0), abs(along)


@compiled_from(LINEAR)
def _keys(nodes, shape, sources, destination_offsets, destinations):
    """Key each destination by the line and side of its worm, and by distance (see `grouped_worms`)."""
    dimensions = len(shape)
    strides = np.ones(dimensions, np.int64)  # strides[k]: difference of neighbours' ids along dimension k
    for k in range(dimensions - 2, -1, -1):
        strides[k] = strides[k + 1] * shape[k + 1]
    first_group = np.zeros(dimensions + 1, np.int64)
    first_group[1:] = np.cumsum(2 * strides)

    keys = np.empty(len(destinations), np.int64)
    target = np.full(first_group[-1], -1, np.int64)  # for each group: the first of its destinations, or -1
    reach = np.zeros(first_group[-1], np.int64)  # for each line and side: the farthest worm's distance
    farthest = np.zeros(first_group[-1], np.int64)  # for each line and side: the farthest worm's group
    worms = np.empty(len(target), np.int64)  # groups of this message's worms
    touched = np.empty(len(target), np.int64)  # numbers by `_side` of the lines along dimension k that worms use
    for message in range(len(sources)):
        source = np.int64(sources[message])
        first, end = destination_offsets[message], destination_offsets[message + 1]
        count = 0
        for k in range(dimensions):
            passed = 0
            for w in range(count):
                line, along = _side(target[worms[w]], source, k, shape, strides, first_group)
                if along == 0:
                    continue
                if reach[line] == 0:
                    touched[passed] = line
                    passed += 1
                if along > reach[line] or (along == reach[line] and worms[w] < farthest[line]):
                    reach[line] = along
                    farthest[line] = worms[w]
            for visit in range(first, end):
                node = np.int64(destinations[visit])
                before = strides[k] * shape[k]
                line, along = _side(node, source, k, shape, strides, first_group)
                if node // before != source // before or along == 0:
                    continue  # the node differs from the source in a dimension before k, or not in k
                if along <= reach[line]:
                    group = farthest[line]
                else:
                    group = line
                    if target[group] < 0:
                        target[group] = node
                        worms[count] = group
                        count += 1
                distance = np.int64(0)
                for dimension in range(k, dimensions):
                    distance += _side(node, source, dimension, shape, strides, first_group)[1]
                keys[visit] = destination_key(group, distance, node, nodes)
            for t in range(passed):
                reach[touched[t]] = 0
        for w in range(count):
            target[worms[w]] = -1
    return keys
