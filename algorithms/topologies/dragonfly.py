"""Dragonflies: groups of routers, all routers of a group joined, and one link between any two groups."""

import dataclasses

import numpy as np
import numpy.typing as npt

from .base import Places, Topology
from .parameters import MOST_NODES, MOST_PORTS, MOST_SWITCHES, read_parameters, whole_number

__all__ = ["dragonfly", "read_dragonfly"]

Floats = npt.NDArray[np.float64]

# in cells, see `Places`
NEAR, FAR = 1.5, 2.2  # least distance between routers: with one node each, with several
BEND = 0.35  # distance of a router from the line between its two neighbours, as a share of the neighbours' distance
OUT = 2.0  # distance of the circle of nodes from the outermost routers
BESIDE = 1.6  # distance of nodes from each other
GROUPS = 0.1  # added to the distance of neighbouring nodes if their groups differ, as a share of BESIDE


def dragonfly(parameters: str) -> Topology:
    """Build the dragonfly with these parameters: ``"p=2,a=4,h=2"``, of the largest size.

    A group has ``a`` routers, and each two of them are joined by a local link. A router has p nodes and h global links
    to routers of other groups. There are g = a*h + 1 groups, so that one global link joins each two groups. A node's
    coordinates are ``group.router.number``, and router r of group q is switch q*a+r. With p=1, a=2, h=1::

             0.0 --- 0.1
            /           \\
        1.1              2.0
         |                |
        1.0 ------------ 2.1

    The first ports of a router, ``l0`` to ``l{a-2}``, lead to the other routers of its group, ascending. Then come the
    ports ``g0`` to ``g{h-1}`` of its global links, and last the ports ``n0`` to ``n{p-1}`` of its nodes. Global port i
    of router r is number j = r*h + i of its group q. The link of number j of group q leads to group (q + j + 1) mod g,
    in which the link has the number a*h - 1 - j.

    Source: [Kim08], section 3.1. The paper leaves open which router has the link to which group; the choice is ours.

    Raises
    ------
    WormcastError
        A parameter is unknown, missing or out of its range. A dragonfly has at most 4096 nodes, 1024 routers and 32
        ports at a router.
    """
    p, a, h = read_dragonfly(parameters)
    groups = a * h + 1
    rows = []
    for group in range(groups):
        for router in range(a):
            here = group * a + router
            for other in range(a):
                if other != router:
                    rows.append([here, other - (other > router), group * a + other, router - (router > other)])
            for port in range(h):
                number = router * h + port
                there, back = (group + number + 1) % groups, a * h - 1 - number
                rows.append([here, a - 1 + port, there * a + back // h, a - 1 + back % h])
    nodes = groups * a * p
    node = np.arange(nodes)
    ends = np.stack([node // p, a - 1 + h + node % p], axis=1).astype(np.int32)
    names = (*(f"l{port}" for port in range(a - 1)), *(f"g{port}" for port in range(h)),
             *(f"n{port}" for port in range(p)))
    network = Topology(
        name=f"dragonfly:p={p},a={a},h={h}",
        kind="dragonfly",
        shape=(groups, a, p),
        ports=(names,) * (groups * a),
        links=np.array(rows, np.int32),
        injections=ends,
        consumptions=ends.copy(),
        coordinates=np.stack(np.unravel_index(node, (groups, a, p)), axis=1).astype(np.int32),
    )
    return dataclasses.replace(network, places=_places(network))


def _places(topology: Topology) -> Places:
    """Place the groups on a circle, clockwise from the top, and the routers of a group on an arc that bends outwards.

    The nodes are on a circle around the routers. All links run inside the circle of nodes, and local links pass inside
    the routers between their ends.
    """
    groups, a, p = topology.shape
    group, router = np.divmod(np.arange(groups * a), a)
    place = router[:, None] - (a - 1) / 2
    if topology.direct:
        out, along = _directions(2 * np.pi * group / groups)
        radius = (a + 0.5) * NEAR / 2 / np.sin(np.pi / groups)
        switches = (radius - BEND * NEAR * place**2) * out + NEAR * place * along
        return Places(*[np.round(switches, 4)] * 2)
    step = 2 * np.pi / groups / (a * p + GROUPS)  # angle between two nodes
    home, number = np.divmod(np.arange(topology.nodes), p)
    out, _ = _directions(2 * np.pi * group / groups + step * p * place[:, 0])
    outwards, _ = _directions(2 * np.pi * group[home] / groups + step * (p * place[home, 0] + number - (p - 1) / 2))
    radius = max(BESIDE / 2 / np.sin(step / 2), FAR / 2 / np.sin(step * p / 2) + OUT)
    apart = 2 * (radius - OUT) * np.sin(step * p / 2)
    switches = (radius - OUT - BEND * apart * (place**2 - (place**2).min())) * out
    return Places(np.round(switches, 4), np.round(radius * outwards, 4))


def _directions(angle: Floats) -> tuple[Floats, Floats]:
    """Return the directions away from the middle and clockwise around it at these angles from the top, float [angles,
    2] both."""
    return np.stack([np.sin(angle), -np.cos(angle)], axis=1), np.stack([np.cos(angle), np.sin(angle)], axis=1)


def read_dragonfly(parameters: str) -> tuple[int, int, int]:
    """Read p, a and h from the text after ``dragonfly:``, or refuse it."""
    specification = f"dragonfly:{parameters}"
    given = read_parameters("dragonfly", parameters, {"p": None, "a": None, "h": None})
    p = whole_number(specification, "p", given["p"], 1, MOST_PORTS - 2)
    limits = f"up to {MOST_PORTS} ports at a router, {MOST_SWITCHES} routers and {MOST_NODES} nodes"

    def fits(a: int, h: int) -> bool:
        return (a * h + 1) * a <= min(MOST_SWITCHES, MOST_NODES // p)

    a = whole_number(specification, "a", given["a"], 2, max(a for a in range(2, MOST_PORTS - p + 1) if fits(a, 1)),
                     reason=f"with p={p}: {limits}")
    h = whole_number(specification, "h", given["h"], 1, max(h for h in range(1, MOST_PORTS - p - a + 2) if fits(a, h)),
                     reason=f"with p={p} and a={a}: {limits}")
    return p, a, h
