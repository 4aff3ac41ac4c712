"""GTDMPM, reconstructed: worms along the source's column, rows and diagonals of a three-dimensional mesh."""

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .dual_path import LabelOrder, label_key
from .grouping import destination_key, grouped_worms

__all__ = ["Gtdmpm"]


class Gtdmpm(LabelOrder):
    """Divide each of dual-path's two sets by the differences in x and z between the source and its destinations.

    The differences dx and dz from the source to a destination decide its submulticast. Submulticasts are the column (dx
    = dz = 0), the row along x (dz = 0), the row along z (dx = 0), and diagonals. Destinations whose dx and dz have the
    same sign are on one diagonal if they have the same dx + dz. Destinations whose dx and dz have different signs are
    on one diagonal if they have the same dx - dz. Each submulticast is one worm, routed by R from the source, in the
    order of labels. Worms are sent in batches with at most one worm for each link of the source: the k-th worm by a
    link is in batch k. Batches determine only the order of sending: no worm waits for another, and each worm has its
    own start-up.

    The scheme is reconstructed, as no description of it was available. [Amnah] says that "the destinations in a
    multicast message are placed into submulticast according to the column, rows and messages diagonals". [Amnah] also
    says that more destinations need more start-ups, and that congestion at the source causes most of the latency.
    Everything that [Amnah] leaves open is ours, so that absolute measurements do not transfer to the
    original scheme.

    Cost: one start-up per submulticast; the paper's example of 21 destinations has 18 submulticasts, in 7 batches.
    """

    name = "gtdmpm"
    description = "dual-path's two sets each divided by the source's column, rows and diagonals"
    provenance = "reconstructed (from one sentence of [Amnah]; the division and the batches: ours)"
    in_two_dimensions = ""
    in_three_dimensions = "reconstructed"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms. The worms of a message are in the order of their batches."""
        ports = self.own_relation.on(topology).table
        keys = _keys(topology.hamiltonian_labels, topology.coordinates[:, [0, 2]], ports, *messages)
        return grouped_worms(messages, keys, topology.nodes)


COLUMN, ROW_X, ROW_Z, DIAGONALS = range(4)


@compiled_from(LINEAR)
def _keys(labels, places, ports, sources, destination_offsets, destinations):
    """Key each destination by its worm's batch and by its submulticast, the destinations of one worm (see
    `grouped_worms`). A worm's batch is the number of the message's earlier worms that begin with the same link."""
    nodes = np.int64(len(labels))
    most = np.int64(places.max())
    groups = 2 * (DIAGONALS + 2 * (4 * most + 1))
    keys = np.empty(len(destinations), np.int64)
    sent = np.zeros(ports.max() + 1, np.int64)  # number of this message's worms so far, by their first link
    for message in range(len(sources)):
        source = sources[message]
        first, end = destination_offsets[message], destination_offsets[message + 1]
        for visit in range(first, end):
            node = destinations[visit]
            dx, dz = np.int64(places[node, 0] - places[source, 0]), np.int64(places[node, 1] - places[source, 1])
            if dx == 0 or dz == 0:
                part = np.int64(COLUMN if dx == dz else ROW_X if dz == 0 else ROW_Z)
            else:
                diagonal = dx + dz if dx * dz > 0 else dx - dz
                part = DIAGONALS + 2 * (diagonal + 2 * most) + (dx * dz < 0)
            keys[visit] = label_key(labels, labels[source], part, node)
        keys[first:end].sort()
        sent[:] = 0
        group, batch = np.int64(-1), np.int64(-1)
        for visit in range(first, end):
            rest, node = divmod(keys[visit], nodes)
            if rest // nodes != group:
                group = rest // nodes
                batch = sent[ports[source, node]]
                sent[ports[source, node]] += 1
            keys[visit] = destination_key(group + batch * groups, rest % nodes, node, nodes)
    return keys
