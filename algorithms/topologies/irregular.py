"""Irregular networks: switches with several nodes each, joined at random."""

import math
import re
from fractions import Fraction

import numpy as np

from ..errors import WormcastError
from .base import Topology
from .parameters import MOST_NODES, MOST_PORTS, MOST_SWITCHES, read_parameters, whole_number
from .splitmix import SplitMix64

__all__ = ["irregular"]

DEFAULTS = {"switches": "8", "ports": "8", "nodes": "32", "connectivity": "0.8", "seed": "1"}


def irregular(parameters: str) -> Topology:
    """Build the irregular network with these parameters: ``"switches=8,ports=8,nodes=32,connectivity=0.8,seed=1"``.

    Defaults: switches=8, ports=8, nodes=32, connectivity=0.8, seed=1. Nodes are spread evenly over the switches, with
    consecutive ids at a switch. The fraction ``connectivity`` of the ports without a node is joined in pairs, each by a
    link both ways; the rest stay open. No switch is joined to itself, two switches may be joined by several links, and
    all switches are connected. A switch has first its ports for links (``p0``, ``p1`` and so on), joined from the first
    on, and then the ports of its nodes (``n0``, ``n1`` and so on). The same parameters build the same network in every
    version.

    Source: [Sivaram98], section 6, which leaves open how networks are made connected. wormcast grows a random tree
    first. The switches are put in random order, but switches with only one free port come last. Each switch is joined
    to a random free port of the switches before it in the random order. After the tree, random free ports of different
    switches are joined. If only one switch has free ports left, a random link between two other switches is cut, and
    both of its ends are joined to that switch.

    Raises
    ------
    WormcastError
        A parameter is unknown or out of its range; nodes take so many ports that a switch has none for a link; or too
        few ports are joined to connect all switches.
    """
    specification = f"irregular:{parameters}"
    given = read_parameters("irregular", parameters, DEFAULTS)
    switches = whole_number(specification, "switches", given["switches"], 2, MOST_SWITCHES)
    ports = whole_number(specification, "ports", given["ports"], 2, MOST_PORTS)
    nodes = whole_number(specification, "nodes", given["nodes"], 2, MOST_NODES)
    seed = whole_number(specification, "seed", given["seed"], 0, 10**18 - 1)
    connectivity = _connectivity(specification, given["connectivity"])
    free = max(switches * ports - nodes, 0)
    joined = int(free * connectivity)
    if joined // 2 < switches - 1:
        most = switches * ports - math.ceil(2 * (switches - 1) / connectivity)
        fewest = math.ceil((nodes + math.ceil(2 * (switches - 1) / connectivity)) / switches)
        allowed = ", or ".join([f"nodes={most} or fewer"] * (most >= 2)
                               + [f"ports={fewest} or more"] * (fewest <= MOST_PORTS)
                               + ["a greater connectivity"] * (free // 2 >= switches - 1)
                               ) or "more ports, with fewer nodes or a greater connectivity"
        raise WormcastError(
            f"topology: '{specification}' is not valid: with switches={switches}, ports={ports}, nodes={nodes} and "
            f"connectivity={_plain(connectivity)}, links join {joined} ports, and {switches} switches need "
            f"{2 * (switches - 1)}. Allowed: {allowed}.")

    homes = np.arange(nodes) * switches // nodes if nodes >= switches else np.arange(nodes)
    counts = np.bincount(homes, minlength=switches)
    links: list[list[int]] = []
    used = [0] * switches
    for one, other in _pairs(SplitMix64(seed), [ports - int(count) for count in counts], joined // 2):
        links += [[one, used[one], other, used[other]], [other, used[other], one, used[one]]]
        used[one] += 1
        used[other] += 1
    firsts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ends = np.stack([homes, ports - counts[homes] + np.arange(nodes) - firsts[homes]], axis=1).astype(np.int32)
    return Topology(
        name=f"irregular:switches={switches},ports={ports},nodes={nodes},connectivity={_plain(connectivity)},seed={seed}",
        kind="irregular",
        shape=(nodes,),
        ports=tuple((*(f"p{port}" for port in range(ports - count)), *(f"n{port}" for port in range(count)))
                    for count in counts.tolist()),
        links=np.array(sorted(links), np.int32),
        injections=ends,
        consumptions=ends.copy(),
        coordinates=np.arange(nodes, dtype=np.int32).reshape(-1, 1),
        switch_names=tuple(f"s{switch}" for switch in range(switches)),
    )


def _pairs(random: SplitMix64, free: list[int], links: int) -> list[tuple[int, int]]:
    """Choose the pairs of switches to join, at random.

    Parameters
    ----------
    free : list of int, [switches]
        Free ports of each switch, one or more; they differ by one at most. After the call, `free` has the number of
        open ports of each switch.
    """
    order = list(range(len(free)))
    random.shuffle(order)
    order.sort(key=lambda switch: free[switch] == 1)  # switches with one free port become leaves of the tree
    pairs: list[tuple[int, int]] = []

    def draw(switches: list[int]) -> int:
        """Draw a free port of these switches, mark it as used, and return its switch."""
        number = random.below(sum(free[switch] for switch in switches))
        for switch in switches:
            if number < free[switch]:
                break
            number -= free[switch]
        free[switch] -= 1
        return switch

    for count in range(1, len(order)):
        parent = draw(order[:count])
        pairs.append((parent, order[count]))
        free[order[count]] -= 1
    every = list(range(len(free)))
    while len(pairs) < links:
        one = draw(every)
        others = [switch for switch in every if switch != one and free[switch]]
        if others:
            pairs.append((one, draw(others)))
            continue
        free[one] -= 1
        apart = [number for number, pair in enumerate(pairs) if one not in pair]
        number = apart[random.below(len(apart))]
        end, other_end = pairs[number]
        pairs[number] = (end, one)
        pairs.append((one, other_end))
    return pairs


def _connectivity(specification: str, text: str) -> Fraction:
    share = Fraction(text) if re.fullmatch(r"[0-9]{0,3}\.?[0-9]{1,6}", text) else Fraction(-1)
    if not 0 < share <= 1:
        raise WormcastError(f"topology: connectivity {text!r} of '{specification}' is not valid. Allowed: numbers "
                            "above 0 up to 1 with at most six decimal places.")
    return share


def _plain(share: Fraction) -> str:
    """Write a fraction in its shortest form: 0.8, or 1."""
    return f"{float(share):.6f}".rstrip("0").rstrip(".")
