"""Routing function R of Lin and Ni, along a Hamiltonian path."""

import numpy as np
import numpy.typing as npt

from ..topologies.base import Topology
from .base import Relation

__all__ = ["HAMILTONIAN", "Hamiltonian"]


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
        """Return the turns: on meshes no turn between rising and falling labels; elsewhere all turns but back."""
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


HAMILTONIAN = Hamiltonian()
