"""Uses of the ports of each switch, and groups of switches with the same hardware."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..phrases import count
from .base import Topology

__all__ = ["LINK", "NODE", "built_alike", "built_ports", "links_go_both_ways", "require_both_ways", "same_end",
           "way_back", "ways_back"]

Ids = npt.NDArray[np.int64]

OPEN, LINK, NODE = "open", "link", "node"
ORDER = (LINK, NODE, OPEN)


def built_ports(topology: Topology) -> tuple[list[list[str]], list[list[str]]]:
    """Return the uses for which inputs and outputs are built, [switches][ports]: a link, a node, or open (not built).

    An open port is built as in other switches with the same port names: for a link if one of these has a link at this
    port, else for a node. So a mesh has one kind of switch, edges included. If a port has no link and no node in any of
    the switches with the same port names, the port is not built.
    """
    into = _uses(topology, topology.links[:, 2:], topology.injections)
    out = _uses(topology, topology.links[:, :2], topology.consumptions)
    for uses in (into, out):
        namesakes: dict[tuple[str, ...], list[list[str]]] = {}
        for names, used in zip(topology.ports, uses, strict=True):
            namesakes.setdefault(names, []).append(used)
        for alike in namesakes.values():
            known = [min(set(used), key=ORDER.index) for used in zip(*alike, strict=True)]
            for used in alike:
                if OPEN in used:
                    used[:] = [b if a == OPEN else a for a, b in zip(used, known, strict=True)]
    return into, out


def built_alike(topology: Topology) -> Iterator[tuple[Ids, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """Group switches with the same hardware: members, names of their ports, and uses of inputs and outputs."""
    into, out = built_ports(topology)
    groups: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for switch, names in enumerate(topology.ports):
        groups.setdefault((names, tuple(into[switch]), tuple(out[switch])), []).append(switch)
    for (names, inputs, outputs), members in groups.items():
        yield np.array(members, np.int64), names, inputs, outputs


def way_back(topology: Topology, members: Ids, inputs: list[int], outputs: list[int]) -> tuple[int | None, ...]:
    """Return for each input the output back to the worm's previous switch, in switches with the same hardware.

    `inputs` and `outputs` are port numbers; the result has indices of `outputs`. The entry of an input is None if no
    output leads back to the previous switch in all `members` that have both links. Routers do not have the turn back to
    the previous switch, except for worms of a `CopyingDecoder` (several destinations, deep buffers).
    """
    came = topology.at_ports(topology.links[:, 2:], topology.links[:, 0])[members[:, None], inputs]
    return same_end(came, topology.neighbours[members[:, None], outputs], inputs, outputs)


@lru_cache(maxsize=16)
def ways_back(topology: Topology) -> Ids:
    """Return for each link the output port that leads back to its beginning, int64 [links]; -1: there is none."""
    ports = np.full(topology.link_of_port.shape, -1, np.int64)
    for members, _, into, out in built_alike(topology):
        inputs, outputs = ([p for p, use in enumerate(uses) if use == LINK] for uses in (into, out))
        for port, back in zip(inputs, way_back(topology, members, inputs, outputs), strict=True):
            ports[members, port] = -1 if back is None else outputs[back]
    found = ports[topology.links[:, 2], topology.links[:, 3]]
    found.setflags(write=False)
    return found


def same_end(first: npt.NDArray, second: npt.NDArray, ports: list[int], others: list[int]) -> tuple[int | None, ...]:
    """For each column of `first`, find the column of `second` that equals it in all rows where both have entries.

    If several columns of `second` equal a column of `first`, the result is the column with the same port number, else
    the first of them.
    """
    found: list[int | None] = []
    for i, port in enumerate(ports):
        both = (first[:, i, None] >= 0) & (second >= 0)
        fits = both.any(axis=0) & ~(both & (first[:, i, None] != second)).any(axis=0)
        options = [o for o, fit in enumerate(fits.tolist()) if fit]
        found.append(next((o for o in options if others[o] == port), options[0] if options else None))
    return tuple(found)


def links_go_both_ways(topology: Topology) -> bool:
    """Return whether every link has a counterpart in the other direction."""
    return not any(_without_counterpart(topology))


def require_both_ways(topology: Topology, whose: str) -> None:
    """Refuse a network in which a link has no counterpart in the other direction. ``whose`` begins the message:
    ``"scheme tree"``."""
    for start, end, there, back in _without_counterpart(topology):
        one, other = topology.switch_names[start], topology.switch_names[end]
        raise WormcastError(f"{whose}: {topology.name} is not valid: the numbers of links from switch {one} to "
                            f"switch {other} and back differ: {count(there, 'link')} and {back}. "
                            "Allowed: networks whose links go both ways.")


def _without_counterpart(topology: Topology) -> Iterator[tuple[int, int, int, int]]:
    """Yield pairs of switches with unequal numbers of links in the two directions, and both numbers."""
    pairs = Counter((start, end) for start, _, end, _ in topology.links.tolist())
    for (start, end), number in pairs.items():
        if pairs[end, start] != number:
            yield start, end, number, pairs[end, start]


def _uses(topology: Topology, links: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]) -> list[list[str]]:
    """Uses of the ports of each switch, for inputs or for outputs."""
    uses = [[OPEN] * len(names) for names in topology.ports]
    for use, joined in ((LINK, links), (NODE, ends)):
        for switch, port in joined.tolist():
            uses[switch][port] = use
    return uses
