"""Individual unicasts, and separate addressing: one worm per destination."""

import numpy as np

from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .grouping import destination_key, grouped_worms
from .unicast import UnicastAnywhere

__all__ = ["Individual", "Separate"]


class Individual(UnicastAnywhere):
    """Send each destination a worm of its own, in ascending order of ids.

    The scheme is defined on every network. Worms are routed by e-cube on meshes, concentrated meshes, tori and rings.
    On multistage networks worms are routed by destination tags, on fat trees by d-mod-k, on dragonflies by
    dragonfly-minimal, and on other networks by up*/down*.

    Cost: one start-up per destination, and the sum of the path lengths in hops.
    Source: [Boppana98], section 2; the paper leaves the order of sending open.
    """

    name = "individual"
    description = "one unicast worm a destination, in ascending order of ids, on every network"
    provenance = "[Boppana98], section 2 (order of sending: ours)"

    def form(self, topology: Topology) -> str:
        """Describe the scheme's form: on a mesh as `MeshScheme` does, elsewhere by its relation."""
        if topology.kind != "mesh":
            return f"by {self.relation_on(topology).name}"
        dimensions = len(topology.shape)
        return "2-D, as printed" if dimensions == 2 else f"{dimensions}-D: e-cube, the last dimension first"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one per destination. A destination's id is the group of its worm (`grouped_worms`)."""
        ids = messages.destinations.astype(np.int64)
        keys = destination_key(ids, 0, ids, topology.nodes)
        return grouped_worms(messages, keys, topology.nodes)


class Separate(Individual):
    """Send each destination a worm of its own. The scheme is a baseline for broadcasts on tori.

    The worms are those of `Individual`, under the name that [Hou] and others use.

    Cost: one t_s per destination. With nodes that use all ports at once, the network transports one worm while the host
    prepares the next.
    Source: [Hou], section 3, figure 3(a); the paper leaves the order of sending open.
    """

    name = "separate"
    kinds: tuple[str, ...] = ("torus", "ring")
    description = "one unicast worm for each destination, all sent by the source: a baseline of broadcasts"
    provenance = "[Hou], section 3 (order of sending: ours)"
