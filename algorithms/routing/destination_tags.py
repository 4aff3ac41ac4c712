"""Destination-tag routing in multistage networks."""

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from .base import Relation

__all__ = ["DESTINATION_TAGS", "DestinationTags"]


class DestinationTags(Relation):
    """Destination-tag routing: in each stage a digit of the destination's id selects the output port.

    A network of b x b switches with b^S nodes has S stages. In each stage a switch selects the output port by one
    base-b digit of the destination, for all sources. The wiring determines the digit of each stage (`stage_digits`).
    The table is computed from the wiring: all paths to a node form a tree.
    Source: [Varavithya], section 2.
    """

    name = "destination-tags"
    description = "one way through a multistage network, each stage by a digit of the destination"

    def table(self, topology: Topology) -> npt.NDArray[np.int8]:
        """Compute the table of output ports. The relation is defined on multistage networks only."""
        if topology.kind != "min":
            raise WormcastError(f"relation destination-tags: topology {topology.name} is not valid. Allowed: "
                                "multistage networks.")
        table = np.full((topology.switches, topology.nodes), -1, np.int8)
        everyone = np.arange(topology.nodes)
        table[topology.consumptions[:, 0], everyone] = topology.consumptions[:, 1]
        start, out, end, _ = topology.links.T
        while True:
            reached = np.flatnonzero(((table[end] >= 0) & (table[start] < 0)).any(axis=1))
            if not len(reached):
                break
            for link in reached.tolist():
                leads = (table[end[link]] >= 0) & (table[start[link]] < 0)
                table[start[link], leads] = out[link]
        for link in range(len(topology.links)):
            twice = (table[end[link]] >= 0) & (table[start[link]] != out[link])
            if twice.any():
                raise WormcastError(f"relation destination-tags: topology {topology.name} is not valid: two paths lead "
                                    f"from switch {start[link]} to node {int(twice.argmax())}. Allowed: one path.")
        return table


DESTINATION_TAGS = DestinationTags()
