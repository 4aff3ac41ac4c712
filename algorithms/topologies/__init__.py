"""The networks, by name: ``topology("mesh:8x8")``.

A new kind is one file with a builder, and one ``TOPOLOGIES.add`` here (or an entry point in the group
``wormcast.topologies``).
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import WormcastError
from ..kinds import require_kind
from ..registry import Registry
from .base import Topology
from .mesh import mesh

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


def topology(specification: str) -> Topology:
    """Build the topology that a specification such as ``"mesh:8x8"`` names.

    Raises
    ------
    WormcastError
        The kind is unknown, or its builder refuses the rest.
    """
    require_kind("topology", specification, str)
    kind, colon, parameters = specification.partition(":")
    if not colon:
        raise WormcastError(
            f"topology: {specification!r} is not KIND:PARAMETERS, "
            f"allowed are {', '.join(TOPOLOGIES[name].syntax for name in TOPOLOGIES)}"
        )
    return TOPOLOGIES[kind].build(parameters)
