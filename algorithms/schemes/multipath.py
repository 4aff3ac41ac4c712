"""Multipath multicast: up to two worms up the Hamiltonian path and two down, in two dimensions."""

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .dual_path import LabelOrder, label_key, side_keys
from .grouping import grouped_worms

__all__ = ["Multipath", "MultipathLmn"]


class Multipath(LabelOrder):
    """Send one worm to each quadrant around the source.

    The destinations of higher labels (as in dual-path) are divided into those in the source's column or to the right of
    it, and those to the left. The destinations of lower labels are divided in the same way. Each worm goes by R
    directly from the source. A worm without destinations is not sent.

    Cost: at most four start-ups. Source: [Boppana98], section 2.1. Ours: destinations in the source's own column belong
    to the worms to the right. Sending alternates between higher and lower labels: right up, right down, left up, left
    down. Sending alternates because two worms to higher labels, or two to lower labels, may leave by the same channel
    and then follow each other. The paper states no form in more dimensions: it counts 2n worms there, and n dimensions
    have 2**n quadrants.
    """

    name = "multipath"
    description = "a worm to each quadrant around the source, by Hamiltonian R"
    provenance = "Boppana et al. 1998, 2.1 (order of sending: ours)"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one to four per message."""
        keys = side_keys(topology.hamiltonian_labels, topology.coordinates[:, 1].copy(), 0, *messages)
        return grouped_worms(messages, keys, topology.nodes)


class MultipathLmn(LabelOrder):
    """Divide the destinations by the source's neighbours, following Lin, McKinley and Ni.

    Of the source's neighbours of higher label, one lies in its row and one in its column. Destinations of higher labels
    get two worms: one for the columns on the side of the row neighbour of higher label, one for all other columns. The
    destinations of lower labels are divided likewise. So destinations in the source's own column always belong to the
    worm of the column neighbour.

    Cost: at most four start-ups. Source: [Lin94], as [Boppana98] quotes it in section 2.1; the split is from general
    knowledge. In [Lin94] each worm leaves the source to its own neighbour. By `MultipathLmn` all worms go by R directly
    from the source, so that the worm for the columns on the row neighbour's side may leave by the link to the column
    neighbour. The paths of [Lin94] and of `MultipathLmn` are shortest, with the same number of hops. But by
    `MultipathLmn` two worms to higher labels, or two to lower labels, may share their first link, which never happens
    in [Lin94]. Worms with the same first link follow each other even with an injection port per link. On mesh:6x6, for
    example, the worm from 3.2 to 1.5 and the worm from 3.2 to 2.1 and 2.0 share their first link. On 8x8, 24.5 % of
    random multicasts to 10 destinations have two worms that share their first link (tests/algorithms/test_schemes.py).
    Ours: the order of sending, alternating as in `Multipath`.
    """

    name = "multipath-lmn"
    description = "multipath divided by the source's neighbours, by Hamiltonian R"
    provenance = "reconstructed (the split of Lin, McKinley and Ni, from general knowledge)"
    in_two_dimensions = "every worm by R straight from the source"

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
