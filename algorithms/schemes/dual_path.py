"""Dual-path multicast: one worm up the Hamiltonian path and one down."""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ConsumptionClasses
from ..headers import AddressList
from ..routing import HAMILTONIAN
from ..topologies.base import Topology
from ..worms import AT_ONCE, Worms
from .base import Scheme

__all__ = ["DualPath"]


class DualPath(Scheme):
    """Visit the destinations above the source's label in one worm, and those below in another.

    The first takes labels in ascending order (in H_u, the network of links to higher labels: class 0), the
    second in descending order (H_l, class 1); an empty one is not sent. The first is sent first, which the paper
    leaves open.

    Cost: at most two start-ups. Source: paper 002, section 2.1 (Lin, McKinley and Ni), and Corollary 4 for
    the two consumption classes.
    """

    name = "dual-path"
    description = "one worm to the destinations of higher labels and one to those of lower, by Hamiltonian R"
    provenance = "paper 002 2.1"
    kinds = ("mesh",)
    relation = HAMILTONIAN
    header = AddressList
    consumption = ConsumptionClasses((("up",), ("down",)))

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms, one or two a message."""
        labels, node_of_label = topology.hamiltonian_labels, topology.node_of_label
        return Worms(*_dual_path(labels, node_of_label, sources, destination_offsets, destinations))


@compiled
def _dual_path(labels, node_of_label, sources, destination_offsets, destinations):
    messages = len(sources)
    message_offsets = np.zeros(messages + 1, np.int64)
    source = np.empty(2 * messages, np.int32)
    rank = np.empty(2 * messages, np.int32)
    visit_offsets = np.zeros(2 * messages + 1, np.int64)
    visits = np.empty(len(destinations), np.int32)
    worm = 0
    for message in range(messages):
        first, end = destination_offsets[message], destination_offsets[message + 1]
        ascending = np.sort(labels[destinations[first:end]])
        below = np.searchsorted(ascending, labels[sources[message]])
        above = end - first - below
        visits[first : first + above] = node_of_label[ascending[below:]]
        visits[first + above : end] = node_of_label[ascending[:below][::-1]]
        for count in (above, below):
            if count > 0:
                source[worm] = sources[message]
                rank[worm] = worm - message_offsets[message]
                visit_offsets[worm + 1] = visit_offsets[worm] + count
                worm += 1
        message_offsets[message + 1] = worm
    return message_offsets, source[:worm], rank[:worm], np.full(worm, AT_ONCE), visit_offsets[: worm + 1], visits
