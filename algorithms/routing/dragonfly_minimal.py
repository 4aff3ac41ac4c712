"""Minimal routing on dragonflies."""

import numpy as np

from ..errors import WormcastError
from ..topologies.base import Topology
from .base import ChoiceRelation, Choices, one_way

__all__ = ["DRAGONFLY_MINIMAL", "DragonflyMinimal"]

CLASSES = ("before", "after")
BEFORE, AFTER = range(2)


class DragonflyMinimal(ChoiceRelation):
    """Minimal routing on a dragonfly: a local link, a global link, a local link.

    A worm to another group goes to the router of its group with the global link to that group, over the global link,
    and to the destination's router. A worm skips a local link if it is already at the far end of the link. Inside a
    group one local link suffices.

    A local link has two classes of virtual channels. Worms that still have to leave the group use class ``before``, and
    worms in their destination's group use class ``after``. Global links use class ``before``. So each worm waits for
    channels in the order local before, global, local after, and no worms wait in a cycle. With ``--vc-classes none``
    worms can wait in a cycle.

    Source: [Kim08], section 4.1, and its virtual channels for minimal routing.
    """

    name = "dragonfly-minimal"
    description = "dragonflies: a local link, a global link, a local link; two classes of virtual channels"

    def choices(self, topology: Topology) -> Choices:
        """Return the one path to each node. The relation is defined on dragonflies only."""
        if topology.kind != "dragonfly":
            raise WormcastError(f"relation {self.name}: topology {topology.name} is not valid. Allowed: dragonflies.")
        groups, a, _ = topology.shape
        h = (groups - 1) // a
        group, router = np.divmod(np.arange(topology.switches)[:, None], a)
        to_group, to_router, number = topology.coordinates.T
        link = (to_group - group - 1) % groups  # number of the group's global link to the destination's group
        outside = group != to_group
        towards = np.where(outside, link // h, to_router)  # router in this group to which the worm goes
        local = towards - (towards > router)
        at_end = np.where(outside, a - 1 + link % h, a - 1 + h + number)
        table = np.where(towards == router, at_end, local)
        vc_class = np.where(outside, BEFORE, AFTER)
        vc_class[topology.consumptions[:, 0], np.arange(topology.nodes)] = 0  # ejection ports have no classes
        return one_way(topology, table, vc_class, CLASSES)


DRAGONFLY_MINIMAL = DragonflyMinimal()
