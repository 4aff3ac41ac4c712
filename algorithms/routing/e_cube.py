"""Dimension-order routing on meshes, concentrated meshes, tori and rings."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from ..topologies.cmesh import routers_of
from ..topologies.direct import GRIDS, mesh_directions
from .base import ChoiceRelation, Choices, one_way

__all__ = ["E_CUBE", "E_CUBE_EITHER", "E_CUBE_SIGNED", "ECube", "e_cube_with_signs"]

CLASSES = ("p", "l/h")
CROSSES, STAYS = range(2)

#: Signs by which ties in all dimensions go up, and signs by which ties in all dimensions go down.
UP, DOWN = 0, -1


class ECube(ChoiceRelation):
    """Dimension order, last dimension first: along the row to the destination's column, then along that column.

    On a torus a worm takes the shorter way around each ring. Where both ways have the same length (a tie), the default
    is upwards (+). On a torus each link has two classes of virtual channels, so that worms do not wait for each other
    around a ring. The edge of a ring is the link between its last node and its first. A worm that crosses the edge uses
    class ``p`` up to and including the hop across the edge, and then class ``h`` (upwards) or ``l`` (downwards). A worm
    that does not cross the edge uses class ``h`` or ``l`` on all hops::

        0 ---- 1 ---- 2 ---- 3 ---- 0       1 to 3: h h      2 to 0: p p      3 to 1: p h
            h      h     h p     p          (ties: upwards)

    A link up has the classes ``p`` and ``h``, a link down has the classes ``p`` and ``l``.
    Source: [Boppana98], section 2 ("row first"); [Hou] for the classes.

    Parameters
    ----------
    name, description : str
    ties : "plus", "signed" or "either", or int
        Rule for ties. With ``plus``, a worm goes upwards at a tie. With ``signed``, a worm at a tie takes the way that
        does not cross the edge between the ring's last and first node, by the default signs (`default_signs`). A switch
        derives the default signs from its own coordinates: at a tie, a worm has not moved in the dimension yet. With
        ``either``, both ways are candidates at a tie, upwards preferred. Worms that go up a ring and worms that go down
        it use different links. If `ties` is a number, its bits are the signs. Bit d is the sign of dimension d; 1 means
        downwards.
    """

    def __init__(self, name: str, description: str, *, ties: str | int = "plus") -> None:
        self.name = name
        self.description = description
        self.ties = ties

    def turns(self, topology: Topology) -> npt.NDArray[np.bool_]:
        """Return the turns of the relation's routers: no worm turns back, or into a dimension that is routed earlier.

        If `ties` is ``either``, routers have all turns except those back to the previous switch.
        """
        found = super().turns(topology)
        if self.ties != "either":
            at = _routers(topology).coordinates
            along = (at[topology.links[:, 0]] != at[topology.links[:, 2]]).argmax(axis=1)
            # for each link and each output port of the switch at its end: the link from this port
            onward = topology.link_of_port[topology.links[:, 2]]
            found &= (onward < 0) | (along[onward] <= along[:, None])
        return found

    def choices(self, topology: Topology) -> Choices:
        """Return the candidates to each node. The relation is defined on meshes, concentrated meshes, tori and
        rings."""
        if topology.kind == "cmesh":
            return one_way(topology, _concentrated_table(topology))
        if topology.kind not in GRIDS:
            raise WormcastError(f"relation {self.name}: topology {topology.name} is not valid. Allowed: meshes, "
                                "concentrated meshes, tori, rings.")
        if topology.kind == "mesh":
            return one_way(topology, _table(topology, UP)[0])
        if self.ties != "either":
            signs = self.ties if isinstance(self.ties, int) else UP if self.ties == "plus" else None
            return one_way(topology, *_table(topology, signs), CLASSES)
        upwards, downwards = (one_way(topology, *_table(topology, signs), CLASSES) for signs in (UP, DOWN))
        other = np.where(downwards.options == upwards.options, -1, downwards.options)
        options = np.concatenate([upwards.options, other], axis=-1)
        return Choices(options.astype(np.int16), upwards.phase_of_link, CLASSES)


def _routers(topology: Topology) -> Topology:
    """Return the network of the routers: for a concentrated mesh the mesh that they form, else the network itself."""
    return routers_of(topology) if topology.kind == "cmesh" else topology


def _concentrated_table(topology: Topology) -> npt.NDArray[np.int8]:
    """Output port of each hop on a concentrated mesh, int8 [switches, nodes]: e-cube's port towards the node's router,
    and at this router the node's own port."""
    homes, own = topology.consumptions.T
    table = _table(routers_of(topology), UP)[0][:, homes]
    table[homes, np.arange(topology.nodes)] = own
    return table


def _table(topology: Topology, signs: int | None) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Output port and class of each hop, int8 [switches, nodes] both. ``signs`` decide ties; None: default signs."""
    wraps = topology.kind != "mesh"
    own = topology.ports[0].index("local")
    table = np.full((topology.nodes, topology.nodes), own, np.int8)
    vc_class = np.zeros(table.shape, np.int8)
    # in reverse order: the ports of the last dimension are written last, and replace those of other dimensions
    for port, (dimension, step) in reversed(list(enumerate(mesh_directions(topology.shape)))):
        at = topology.coordinates[:, None, dimension]
        to = topology.coordinates[None, :, dimension]
        straight = to > at if step > 0 else to < at
        if not wraps:
            table[straight] = port
            continue
        extent = topology.shape[dimension]
        away = (to - at) * step % extent
        wins = straight if signs is None else (step > 0) == (signs >> dimension & 1 == 0)
        taken = (away > 0) & ((2 * away < extent) | ((2 * away == extent) & wins))
        table[taken] = port
        vc_class[taken] = np.where(straight[taken], STAYS, CROSSES)
    return table, vc_class


E_CUBE = ECube("e-cube", "dimension order, last dimension first: along the row, then along the column")
E_CUBE_EITHER = ECube("e-cube-either", "e-cube; if both ways around a ring are equally long, by either", ties="either")
#: e-cube with the hardware option ``ties`` set to ``signed``. Commands do not accept the name of this relation.
E_CUBE_SIGNED = ECube("e-cube with signed ties", "e-cube; if both ways around a ring are equally long, by the sign "
                      "that the header carries, by default away from the ring's edge", ties="signed")


@lru_cache
def e_cube_with_signs(signs: int) -> ECube:
    """Return e-cube for worms with these signs, bit d for dimension d; for equal arguments the same object."""
    return ECube(f"e-cube with signs {signs:b}", "e-cube; if both ways around a ring are equally long, by these signs",
                 ties=signs)
