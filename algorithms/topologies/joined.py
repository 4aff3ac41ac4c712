"""What each port of each switch is joined to, as hardware has it built."""

import numpy as np
import numpy.typing as npt

from .base import Topology

__all__ = ["LINK", "NODE", "built_ports"]

OPEN, LINK, NODE = "open", "link", "node"
ORDER = (LINK, NODE, OPEN)


def built_ports(topology: Topology) -> tuple[list[list[str]], list[list[str]]]:
    """What the inputs and the outputs of each switch are built for, [switches][ports]: a link, a node, or not at all.

    A port that is left open is built as its namesakes of switches with the same names of ports are, so that a mesh has
    one kind of switch, edges included: for a link if one of them has one there, else for a node. One that is open in
    all of them is not built.
    """
    into = _uses(topology, topology.links[:, 2:], topology.injections)
    out = _uses(topology, topology.links[:, :2], topology.consumptions)
    for uses in (into, out):
        named: dict[tuple[str, ...], list[str]] = {}
        for names, used in zip(topology.ports, uses, strict=True):
            known = named.setdefault(names, [OPEN] * len(names))
            known[:] = [min(a, b, key=ORDER.index) for a, b in zip(known, used, strict=True)]
        for names, used in zip(topology.ports, uses, strict=True):
            used[:] = [b if a == OPEN else a for a, b in zip(used, named[names], strict=True)]
    return into, out


def _uses(topology: Topology, links: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]) -> list[list[str]]:
    """What each port of each switch is joined to, one way."""
    uses = [[OPEN] * len(names) for names in topology.ports]
    for use, joined in ((LINK, links), (NODE, ends)):
        for switch, port in joined.tolist():
            uses[switch][port] = use
    return uses
