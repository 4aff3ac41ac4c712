"""Multipath multicast: up to two worms up the Hamiltonian path and two down, in two dimensions."""

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..routing import HAMILTONIAN_ROW_FIRST
from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .dual_path import LabelOrder, label_key, side_keys
from .grouping import grouped_worms

__all__ = ["Multipath", "MultipathLmn"]


class Multipath(LabelOrder):
    """Send one worm to each quadrant around the source.

    The destinations of higher labels (as in dual-path) are divided into those in the source's column or to the right of
    it, and those to the left. The destinations of lower labels are divided in the same way. Each worm goes by the
    relation `hamiltonian`, from its first hop on. A worm without destinations is not sent.

    Cost: at most four start-ups. Source: [Boppana98], section 2.1. Ours: destinations in the source's own column belong
    to the worms to the right. Sending alternates between higher and lower labels: right up, right down, left up, left
    down. Sending alternates because two worms to higher labels, or two to lower labels, may leave by the same channel
    and then follow each other. The paper states no form in more dimensions: it counts 2n worms there, and n dimensions
    have 2**n quadrants.
    """

    name = "multipath"
    description = "a worm to each quadrant around the source, along Hamiltonian labels"
    provenance = "[Boppana98], section 2.1 (order of sending: ours)"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one to four per message."""
        keys = side_keys(topology.hamiltonian_labels, topology.coordinates[:, 1].copy(), 0, *messages)
        return grouped_worms(messages, keys, topology.nodes)


class MultipathLmn(LabelOrder):
    """Divide the destinations by the source's neighbours, and send a worm by each, as Lin, McKinley and Ni do.

    Of the source's neighbours of higher label, one lies in its row and one in its column. Destinations of higher labels
    get two worms: one for the columns on the side of the row neighbour of higher label, one for all other columns. The
    destinations of lower labels are divided in the same way. So destinations in the source's own column always belong
    to the worm of the column neighbour. Each worm goes first to its own neighbour, and then by the relation
    `hamiltonian` (together: `HamiltonianRowFirst`).

    By the relation `HamiltonianRowFirst`, the worms of a multicast share no link. Both worms to higher labels leave the
    source by different links, and then stay in different columns; worms to lower labels use links in the other
    direction. Every label along a path is nearer to the worm's last destination than the label before it.

    With ``--relation hamiltonian``, paths have the same number of hops, but the worm for the columns on the row
    neighbour's side may leave by the link to the column neighbour. On 8x8 with ``--relation hamiltonian``, two worms
    share their first link in 24.5 % of random multicasts to 10 destinations (tests/algorithms/test_schemes.py). Worms
    with the same first link follow each other even with an injection port per link.

    Cost: at most four start-ups. Source: [Lin94], as [Boppana98] quotes it in section 2.1; the split and the first hops
    are from general knowledge. Ours: worms to higher labels and worms to lower labels are sent alternately, as in
    `Multipath`.
    """

    name = "multipath-lmn"
    description = "a worm by each of the source's neighbours, then along Hamiltonian labels; the worms share no link"
    provenance = "reconstructed (the multipath of [Lin94], from general knowledge)"
    relation = HAMILTONIAN_ROW_FIRST
    in_two_dimensions = "divided by the source's neighbours"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one to four per message."""
        keys = _neighbour_keys(topology.hamiltonian_labels, topology.shape[1], *messages)
        return grouped_worms(messages, keys, topology.nodes)


@compiled_from(LINEAR)
def _neighbour_keys(labels, columns, sources, destination_offsets, destinations):
    keys = np.empty(len(destinations), np.int64)
    for message in range(len(sources)):
        source = sources[message]
        row, column = divmod(source, columns)
        for visit in range(destination_offsets[message], destination_offsets[message + 1]):
            node = destinations[visit]
            # labels rise to the right in even rows, where the row neighbour of higher label is on the right
            to_the_right = (row % 2 == 0) == (labels[node] > labels[source])
            beside = node % columns > column if to_the_right else node % columns < column
            keys[visit] = label_key(labels, labels[source], not beside, node)
    return keys
