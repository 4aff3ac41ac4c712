"""Ejection ports: at which of its node's ports a worm ends, by the link that it came by."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .channels import Resource
from .errors import WormcastError
from .topologies.base import Topology
from .topologies.joined import LINK, built_ports

__all__ = ["EJECTION", "EjectionPorts", "ejection_ports"]

EJECTION = ("one", "all")
"""One ejection port for each node, or one for each node and way in from which worms can end there."""

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class EjectionPorts:
    """The ejection ports of all nodes at which worms end that come by a link, numbered through, node after node.

    Parameters
    ----------
    first : int32 array [nodes + 1]
        The first port of each node; last, how many there are.
    place : int32 array [links]
        Which of its node's ports a worm ends at that comes by a link, from 0.
    """

    first: Integers
    place: Integers

    def __len__(self) -> int:
        return int(self.first[-1])

    def at(self, node: npt.NDArray | int, link: npt.NDArray | int) -> npt.NDArray:
        """The ports at which worms to these nodes end that come by these links, whose switches are the nodes'."""
        return self.first[node] + self.place[link]

    def channel(self, port: int, channel: int, channels: int) -> Resource:
        """Name a port's consumption channel, of so many at each port, as a run does."""
        node = int(np.searchsorted(self.first, port, side="right")) - 1
        return Resource.cons(node, (port - int(self.first[node])) * channels + channel)


@lru_cache(maxsize=16)
def ejection_ports(topology: Topology, ejection: str) -> EjectionPorts:
    """Number the ejection ports of a network.

    Parameters
    ----------
    ejection : "one" or "all"
        One port for each node, or one for each of its switch's inputs from other switches, in the order of the
        topology's ports; those are also there that are left open in this switch, but not in others like it.

    Raises
    ------
    WormcastError
        There is no such choice.
    """
    if ejection not in EJECTION:
        raise WormcastError(f"ejection: {ejection!r} is given, allowed are {', '.join(EJECTION)}")
    if ejection == "one":
        return EjectionPorts(np.arange(topology.nodes + 1, dtype=np.int32), np.zeros(len(topology.links), np.int32))
    into, _ = built_ports(topology)
    places = [np.cumsum([use == LINK for use in uses]).tolist() for uses in into]
    counts = [places[switch][-1] for switch in topology.consumptions[:, 0].tolist()]
    place = [places[switch][port] - 1 for switch, port in topology.links[:, 2:].tolist()]
    return EjectionPorts(np.array([0, *np.cumsum(counts)], np.int32), np.array(place, np.int32))
