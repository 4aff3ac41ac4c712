"""Dual-path multicast: one worm up the Hamiltonian path and one down."""

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..consumption import ConsumptionClasses
from ..headers import AddressList
from ..routing import HAMILTONIAN, Relation
from ..topologies.base import Topology
from ..visit_triples import visit_triples_of_pairs
from ..worms import MessageBatch, Worms
from .grouping import destination_key, grouped_worms
from .mesh import MeshScheme

__all__ = ["DualPath", "LabelOrder", "label_key", "side_keys"]


class LabelOrder(MeshScheme):
    """A scheme whose worms go up or down the labels of one Hamiltonian path.

    Source: [Boppana98], Corollary 4 for the two consumption classes, H_u and H_l.
    """

    relation: Relation = HAMILTONIAN
    header = AddressList

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return two classes: H_u, the links to higher labels, and H_l, those to lower ones."""
        return ConsumptionClasses((("up",), ("down",)))

    def visit_triples(self, topology: Topology) -> npt.NDArray[np.int32]:
        """List dual-path's triples. The visit triples of dual-path include all visit triples of multipath and of all
        other subclasses of `LabelOrder`: worms of these schemes go on from a stop as dual-path's worms do.

        By R, multipath's multicasts to two destinations have the same paths through stops as dual-path's, while
        multicasts of sp and gtdmpm have fewer. By another relation that a user chooses, multipath's multicasts to two
        destinations may also have fewer paths through stops than dual-path's.
        """
        return visit_triples_of_pairs(DualPath().batch, topology)


class DualPath(LabelOrder):
    """Visit the destinations above the source's label with one worm, and those below with another.

    The first worm visits labels in ascending order (in H_u, the network of links to higher labels), the second worm in
    descending order (in H_l). A worm without destinations is not sent.

    Cost: at most two start-ups; a worm may be as long as the Hamiltonian path. Source: [Boppana98], section 2.1 (after
    [Lin94]). In three dimensions dual-path is TP of [Amnah], `TwoPhase`. Ours: the worm of the higher labels is sent
    first.
    """

    name = "dual-path"
    description = "one worm to the destinations of higher labels and one to those of lower"
    provenance = "[Boppana98], section 2.1 (order of sending: ours)"
    in_more_dimensions = "the same by the labels of the reflected path; hops by R need not be shortest"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one or two per message."""
        keys = _keys(topology.hamiltonian_labels, *messages)
        return grouped_worms(messages, keys, topology.nodes)


@compiled_from(LINEAR)
def label_key(labels, own, second, node):
    """Return a destination's key (`destination_key`) from the number of its part (``second``). In each part, H_u comes
    before H_l (compiled)."""
    nodes = np.int64(len(labels))
    label = np.int64(labels[node])
    group = 2 * np.int64(second) + np.int64(label < own)
    place = label if label > own else nodes - 1 - label
    return destination_key(group, place, node, nodes)


@compiled_from(LINEAR)
def side_keys(labels, along, same, sources, destination_offsets, destinations):
    """Return keys that divide each of dual-path's two sets of destinations into parts by a coordinate. Part 0 has the
    destinations with a greater coordinate than the source, part 1 those with a smaller one.

    Parameters
    ----------
    along : int [nodes]
        The coordinate of each node.
    same : int
        Number of the part that has the destinations with the source's coordinate.
    """
    keys = np.empty(len(destinations), np.int64)
    for message in range(len(sources)):
        source = sources[message]
        for visit in range(destination_offsets[message], destination_offsets[message + 1]):
            node = destinations[visit]
            part = 0 if along[node] > along[source] else 1 if along[node] < along[source] else same
            keys[visit] = label_key(labels, labels[source], part, node)
    return keys


@compiled_from(LINEAR)
def _keys(labels, sources, destination_offsets, destinations):
    keys = np.empty(len(destinations), np.int64)
    for message in range(len(sources)):
        own = labels[sources[message]]
        for visit in range(destination_offsets[message], destination_offsets[message + 1]):
            keys[visit] = label_key(labels, own, False, destinations[visit])
    return keys
