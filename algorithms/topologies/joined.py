"""What each port of each switch is joined to, as hardware has it built."""

import numpy as np
import numpy.typing as npt

from .base import Topology

__all__ = ["LINK", "NODE", "built_ports", "ways_back"]

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


def ways_back(topology: Topology) -> npt.NDArray[np.int64]:
    """The output port that leads back to where a worm came from, by the link that it came by, int64 [links]; -1: none.

    Routers do not have this turn. Of several outputs to that switch the one with the number of the input is meant, else
    the lowest.
    """
    found = np.full(len(topology.links), -1, np.int64)
    for link, (start, _, end, port) in enumerate(topology.links.tolist()):
        back = np.flatnonzero(topology.neighbours[end] == start)
        if len(back):
            found[link] = port if port in back else back[0]
    return found


def _uses(topology: Topology, links: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]) -> list[list[str]]:
    """What each port of each switch is joined to, one way."""
    uses = [[OPEN] * len(names) for names in topology.ports]
    for use, joined in ((LINK, links), (NODE, ends)):
        for switch, port in joined.tolist():
            uses[switch][port] = use
    return uses
