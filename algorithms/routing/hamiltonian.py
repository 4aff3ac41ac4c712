"""Routing function R of Lin and Ni, along a Hamiltonian path."""

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from .base import ChangedRelation, Choices, Relation

__all__ = ["ALONG_LABELS", "HAMILTONIAN", "HAMILTONIAN_ROW_FIRST", "Hamiltonian", "HamiltonianRowFirst"]


class Hamiltonian(Relation):
    """Routing function R of Lin and Ni: the neighbour nearest to the destination's label without passing it.

    Towards a higher label, R takes the neighbour with the largest label not above the destination's. Towards a lower
    label, R takes the neighbour with the smallest label not below the destination's. Labels along a path only rise or
    only fall, so that R cannot deadlock. On two-dimensional meshes the paths of R are shortest paths, on meshes of more
    dimensions not always.
    """

    name = "hamiltonian"
    description = "R of Lin and Ni: the neighbour nearest to the destination's label without passing it"

    def turns(self, topology: Topology) -> npt.NDArray[np.bool_]:
        """Return the turns: on meshes no turn between rising and falling labels; elsewhere all turns except back to the
        previous switch."""
        found = super().turns(topology)
        if topology.kind == "mesh":
            labels = topology.hamiltonian_labels
            rises = labels[topology.links[:, 0]] < labels[topology.links[:, 2]]
            # for each link and each output port of the switch at its end: the link from this port
            onward = topology.link_of_port[topology.links[:, 2]]
            found &= (onward < 0) | (rises[onward] == rises[:, None])
        return found

    def table(self, topology: Topology) -> npt.NDArray[np.int8]:
        """Compute the table. The table is defined if each node has a Hamiltonian label and a switch of its own."""
        if topology.labels is None or not topology.direct:
            lacks = "Hamiltonian labels" if topology.labels is None else "node N at switch N for all N"
            raise WormcastError(f"relation {self.name}: topology {topology.name} is not valid: it does not have "
                                f"{lacks}. Allowed: meshes, and network files with labels and with node N at switch N.")
        labels = topology.hamiltonian_labels
        own, to = labels[:, None], labels[None, :]
        table = np.broadcast_to(topology.consumptions[:, 1].astype(np.int8), (len(labels), len(labels))).copy()
        nearest = np.broadcast_to(own, table.shape)
        for port in range(topology.neighbours.shape[1]):
            neighbour = topology.neighbours[:, port]
            label = labels[neighbour][:, None]  # a missing neighbour is masked in the next line
            there = (neighbour >= 0)[:, None]
            better = there & (((nearest < label) & (label <= to)) | ((to <= label) & (label < nearest)))
            table[better] = port
            nearest = np.where(better, label, nearest)
        return table


class HamiltonianRowFirst(ChangedRelation):
    """The relation `hamiltonian` with another first hop: from its source a worm goes along the row, if it can.

    The first hop leads to the source's neighbour in its row if two conditions are met: this neighbour is nearer to the
    destination's column, and its label lies on the destination's side of the source's label. Otherwise the first hop is
    that of `hamiltonian`, as are all further hops, also after a stop. Labels still only rise or only fall along a path,
    so the relation cannot deadlock, and paths are shortest.

    The relation routes the multipath worms of [Lin94]: each worm of a multicast goes first to a different neighbour of
    the source (see `MultipathLmn`). A worm is in phase 0 at its source, and in phase 1 after its first link.
    """

    def __init__(self) -> None:
        super().__init__(HAMILTONIAN, "-row-first", "from its source first along the row, if labels allow this")

    def choices(self, topology: Topology) -> Choices:
        """Return the hop of R in phase 1, and the first hop in phase 0. Defined on two-dimensional meshes."""
        if topology.kind != "mesh" or len(topology.shape) != 2:
            raise WormcastError(f"relation {self.name}: topology {topology.name} is not valid. Allowed: meshes of two "
                                "dimensions.")
        onward = HAMILTONIAN.on(topology).options
        first = onward.copy()
        labels, (row, column) = topology.hamiltonian_labels, topology.coordinates.T
        node = np.arange(topology.nodes)
        for port in range(topology.neighbours.shape[1]):
            neighbour = topology.neighbours[:, port]
            along_row = (neighbour >= 0) & (row[neighbour] == row)
            nearer = (column[neighbour] - column)[:, None] * (column[None, :] - column[:, None]) > 0
            same_side = (labels[neighbour] > labels)[:, None] == (labels[None, :] > labels[:, None])
            enters = along_row[:, None] & nearer & same_side & (node[:, None] != node)
            first[0, enters, 0] = port
        return Choices(np.concatenate([first, onward]), np.ones(len(topology.links), np.int8))


HAMILTONIAN = Hamiltonian()
HAMILTONIAN_ROW_FIRST = HamiltonianRowFirst()

ALONG_LABELS = (HAMILTONIAN, HAMILTONIAN_ROW_FIRST)
"""Relations under which labels only rise or only fall along each worm's path."""
