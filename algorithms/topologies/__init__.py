"""The networks, by name: ``topology("mesh:8x8")``.

A new kind is one file with a builder, and one ``TOPOLOGIES.add`` here (or an entry point in the group
``wormcast.topologies``).
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import WormcastError
from ..registry import Registry
from .base import Topology
from .irregular import irregular
from .mesh import mesh
from .min import WIRINGS, multistage
from .torus import ring, torus

__all__ = ["TOPOLOGIES", "Topology", "TopologyKind", "topology"]


@dataclass(frozen=True)
class TopologyKind:
    """One kind of network: what a user writes, what it is, and the builder for the text after the colon."""

    syntax: str
    description: str
    build: Callable[[str], Topology]


TOPOLOGIES: Registry[TopologyKind] = Registry("topology", TopologyKind, "wormcast.topologies")
TOPOLOGIES.add(
    "mesh",
    TopologyKind(
        "mesh:ROWSxCOLUMNS",
        "mesh of one router a node; coordinates row.column, row 0 on top; more dimensions: "
        "mesh:XxYxZ, and so on",
        mesh,
    ),
)

TOPOLOGIES.add("torus", TopologyKind(
    "torus:XxY", "a mesh with links around its edges; coordinates x.y, as a mesh's row.column; more dimensions: "
    "torus:XxYxZ, and so on", torus))
TOPOLOGIES.add("ring", TopologyKind("ring:N", "nodes in a circle, links both ways", ring))
TOPOLOGIES.add("min", TopologyKind(
    "min:b=B,stages=S[,kind=KIND]", "multistage network of BxB switches for B**S nodes, each with one end on the "
    f"left and one on the right; kinds: {', '.join(WIRINGS)}", multistage))
TOPOLOGIES.add("irregular", TopologyKind(
    "irregular:switches=8,ports=8,nodes=32,connectivity=0.8,seed=1", "switches joined at random by so large a share of "
    "the ports that nodes leave free; these are the defaults, each parameter may be left out", irregular))


def topology(specification: str) -> Topology:
    """Build the topology that a specification such as ``"mesh:8x8"`` names.

    Raises
    ------
    WormcastError
        The kind is unknown, or its builder refuses the rest.
    """
    kind, colon, parameters = specification.partition(":")
    if not colon:
        raise WormcastError(
            f"topology: {specification!r} is not KIND:PARAMETERS, "
            f"allowed are {', '.join(TOPOLOGIES[name].syntax for name in TOPOLOGIES)}"
        )
    return TOPOLOGIES[kind].build(parameters)
