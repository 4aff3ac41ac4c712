"""Adaptive minimal routing on meshes, with escape channels."""

import numpy as np

from ..errors import WormcastError
from ..topologies.base import Topology
from ..topologies.direct import mesh_directions
from .base import ChoiceRelation, Choices
from .e_cube import E_CUBE

__all__ = ["ADAPTIVE", "ESCAPE", "Adaptive"]

CLASSES = ("escape", "adaptive")
ESCAPE = CLASSES.index("escape")


class Adaptive(ChoiceRelation):
    """Any hop nearer to the destination on half of the virtual channels, or e-cube's hop on the other half (escape).

    The relation is free of deadlock by Duato's theorem. E-cube reaches every node without adaptive hops. Worms on
    escape channels do not wait for each other in a cycle, even if they return to adaptive channels in between. The
    theorem assumes that a head enters a virtual channel only when its buffer is empty.

    A worm with several destinations is routed by this relation from stop to stop, and keeps the order of its visits.
    [Boppana98], section 3.2.1, can be read in two ways: the last hop to a stop is on any virtual channel (this
    relation), or on an escape channel (relation e-cube-adaptive). [Boppana98] calls the escape channels base channels.
    Source: Duato 1993; general knowledge.

    Attributes
    ----------
    stops_by_escape : bool
        A worm takes only e-cube's virtual channels when one dimension is left.
    """

    name = "adaptive"
    description = "any hop that leads nearer, or e-cube's on virtual channels of its own, on meshes"
    enters_empty = True
    stops_by_escape = False

    def choices(self, topology: Topology) -> Choices:
        """Return the adaptive hops, last dimension first, and then e-cube's hop. Defined on meshes."""
        if topology.kind != "mesh":
            raise WormcastError(f"relation {self.name}: topology {topology.name} is not valid. Allowed: meshes.")
        escape = E_CUBE.on(topology).table.astype(np.int16)
        steps = mesh_directions(topology.shape)
        dimensions = len({dimension for dimension, _ in steps})
        differ = (topology.coordinates[:, None] != topology.coordinates).sum(axis=-1)
        adapts = differ > 1 if self.stops_by_escape else differ > 0
        options = np.full((1, *escape.shape, dimensions + 1), -1, np.int16)
        for port, (dimension, step) in enumerate(steps):
            at = topology.coordinates[:, None, dimension]
            to = topology.coordinates[None, :, dimension]
            nearer = (to - at) * step > 0
            options[0, nearer & adapts, port // 2] = 2 * port + 1
        own = escape == len(steps)
        options[0, ..., dimensions] = 2 * escape
        behind = np.argsort(options < 0, axis=-1, kind="stable")
        options = np.take_along_axis(options, behind, axis=-1)
        options[0, own, 0] = 2 * len(steps)
        return Choices(options, np.zeros(len(topology.links), np.int8), CLASSES)


ADAPTIVE = Adaptive()
