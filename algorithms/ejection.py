"""Ejection ports: the port at which a worm ends, by the link of its last hop."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .channels import Resource
from .errors import WormcastError
from .topologies.base import Topology
from .topologies.port_uses import LINK, built_ports

__all__ = ["EJECTION", "EjectionPorts", "ejection_ports"]

EJECTION = ("one", "all")
"""``one``: one ejection port per node. ``all``: for each node, an ejection port for each input of its switch from
another switch, and one for each other node of its switch.
"""

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class EjectionPorts:
    """Ejection ports of all nodes for worms from other switches; the ports are numbered from 0, node after node.

    Parameters
    ----------
    first : int32 array [nodes + 1]
        First port of each node; the last entry is the number of ports.
    place : int32 array [links]
        Port, from 0 at each node, at which a worm ends that arrives by this link.
    """

    first: Integers
    place: Integers

    def __len__(self) -> int:
        return int(self.first[-1])

    def at(self, node: npt.NDArray | int, link: npt.NDArray | int) -> npt.NDArray:
        """Return the ports at which worms to these nodes end if they arrive by these links, which lead to the nodes'
        switches."""
        return self.first[node] + self.place[link]

    def channel(self, port: int, channel: int, channels: int) -> Resource:
        """Return a consumption channel of a port as a `Resource`. A node's channels are numbered port after port, with
        ``channels`` consumption channels for each port."""
        node = int(np.searchsorted(self.first, port, side="right")) - 1
        return Resource.cons(node, (port - int(self.first[node])) * channels + channel)


@lru_cache(maxsize=16)
def ejection_ports(topology: Topology, ejection: str) -> EjectionPorts:
    """Number the ejection ports of a network for worms that arrive by links between switches.

    Parameters
    ----------
    ejection : "one" or "all"
        One port for each node, or one for each of its switch's inputs from other switches, in the order of the
        topology's ports. An input without a link counts if another switch with the same port names has a link there.
    """
    if ejection not in EJECTION:
        raise WormcastError(f"ejection: {ejection!r} is not valid. Allowed: {', '.join(EJECTION)}.")
    if ejection == "one":
        return EjectionPorts(np.arange(topology.nodes + 1, dtype=np.int32), np.zeros(len(topology.links), np.int32))
    into, _ = built_ports(topology)
    places = [np.cumsum([use == LINK for use in uses]).tolist() for uses in into]
    counts = [places[switch][-1] for switch in topology.consumptions[:, 0].tolist()]
    place = [places[switch][port] - 1 for switch, port in topology.links[:, 2:].tolist()]
    return EjectionPorts(np.array([0, *np.cumsum(counts)], np.int32), np.array(place, np.int32))
