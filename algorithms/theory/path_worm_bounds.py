"""Statements of [Sivaram98], section 5.2: worms along chains of switches, compared with all other chains and orders."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from ..irregular import all_covers, descent, fewest_steps
from ..phrases import count
from ..routing import UP_DOWN_ADAPTIVE
from ..schemes.multi_drop import MultiDropScheme
from ..topologies import Topology
from ..worms import Worms, steps_of
from .statement import TheoremCheck

__all__ = ["Multicast", "chained", "drawn_multicasts", "piecewise"]

SOURCE = "Sivaram98"

MULTICASTS = 200
"""Number of random multicasts in the sample on which each statement is decided."""

MOST_SWITCHES = 8
"""Largest number of switches with destinations of a random multicast. All partitions of a multicast's switches into
chains are tried."""

NEARLY = 1.1
"""Largest ratio of a scheme's worms to the fewest possible worms, in total over all multicasts, that counts as the
paper's "near-optimal"."""

MOST_ENDS = 24
"""Largest number of switches for which Lemma 5 is decided. In larger networks, this number of switches is drawn at
random."""


@dataclass(frozen=True)
class Multicast:
    """A source and its destinations."""

    source: int
    destinations: tuple[int, ...]


def chained(topology: Topology, scheme: MultiDropScheme, seed: int = 0) -> list[TheoremCheck]:
    """Decide the statements of [Sivaram98] on worms along chains of switches.

    Lemma 5 is decided for all worms to two switches of a chain, in large networks for a sample of switches. Two
    statements are decided for random multicasts: that nearly the fewest worms are sent, and that they take the fewest
    steps. ``seed`` draws both samples.
    """
    multicasts = drawn_multicasts(topology, seed)
    found = [_lemma_5(topology, seed), _few(topology, scheme, multicasts)] if scheme.whole_chains else []
    return [*found, *([_early(topology, scheme, multicasts)] if scheme.all_send else [])]


def drawn_multicasts(topology: Topology, seed: int) -> list[Multicast]:
    """Draw multicasts to nodes at a few switches. The numbers and the choice of switches and nodes are uniformly
    distributed."""
    draw = np.random.default_rng(seed)
    homes = topology.consumptions[:, 0]
    places = np.unique(homes)
    found: list[Multicast] = []
    while len(found) < MULTICASTS:
        some = draw.choice(places, draw.integers(1, min(len(places), MOST_SWITCHES) + 1), replace=False)
        nodes = draw.permutation(np.flatnonzero(np.isin(homes, some)))
        source = int(draw.integers(topology.nodes))
        chosen = [one for one in nodes[:draw.integers(1, len(nodes) + 1)].tolist() if one != source]
        if chosen:
            found.append(Multicast(source, tuple(sorted(chosen))))
    return found


def piecewise(topology: Topology, switches: Sequence[int]) -> Counter[tuple[bool, bool]]:
    """Compare the paths of worms to two switches in turn with shortest legal paths to the first and on to the second.

    At the first of the two switches, a worm's outputs depend on the link by which it came: after a down link the worm
    must not go up again. So a worm that arrives at the first switch may have fewer or longer paths to the second than a
    worm that begins at the first.

    Parameters
    ----------
    switches : sequence of int
        Switches with nodes: sources and destinations of the worms.

    Returns
    -------
    Counter of (bool, bool)
        Number of worms, from each switch to any two others in turn, by two facts: down links lead from the first to the
        second, and the paths are the same.
    """
    options, phases = UP_DOWN_ADAPTIVE.on(topology).options, UP_DOWN_ADAPTIVE.on(topology).phase_of_link
    node_at = {switch: node for node, switch in enumerate(topology.consumptions[:, 0].tolist())}
    below = descent(topology).below

    @cache
    def ways(switch: int, phase: int, end: int) -> Counter[tuple[int, int]]:
        """Return the number of paths, by their phase at the end and their hops."""
        if switch == end:
            return Counter({(phase, 0): 1})
        found: Counter[tuple[int, int]] = Counter()
        for port in options[phase, switch, node_at[end]].tolist():
            if port >= 0:
                link = int(topology.link_of_port[switch, port])
                behind = ways(int(topology.links[link, 2]), int(phases[link]), end)
                found.update({(last, hops + 1): number for (last, hops), number in behind.items()})
        return found

    counts: Counter[tuple[bool, bool]] = Counter()
    for one, two in permutations(switches, 2):
        afresh = _by_hops(ways(one, 0, two))
        for start in switches:
            whole, joined = Counter[int](), Counter[int]()
            for (phase, hops), number in ways(start, 0, one).items():
                for more, others in _by_hops(ways(one, phase, two)).items():
                    whole[hops + more] += number * others
                for more, others in afresh.items():
                    joined[hops + more] += number * others
            counts[bool(below[one, two]), whole == joined] += 1
    return counts


def _by_hops(ways: Counter[tuple[int, int]]) -> Counter[int]:
    found = Counter[int]()
    for (_, hops), number in ways.items():
        found[hops] += number
    return found


def _lemma_5(topology: Topology, seed: int) -> TheoremCheck:
    """Decide if the paths of a worm are all combinations of shortest legal paths between its stops."""
    places = np.unique(topology.consumptions[:, 0])
    if len(places) > MOST_ENDS:
        places = np.sort(np.random.default_rng(seed).choice(places, MOST_ENDS, replace=False))
    counts = piecewise(topology, places.tolist())
    wrong, worms = counts[True, False], counts[True, False] + counts[True, True]
    other_wrong, others = counts[False, False], counts[False, False] + counts[False, True]
    return TheoremCheck(
        "Lemma 5", "section 5.2.4",
        "the lemma joins each shortest legal path to a worm's first switch with each shortest legal path from there to "
        f"its second. {worms - wrong} of {worms} worms to two switches of a chain have exactly these paths. Of "
        f"{others} worms to two switches in other orders, {others - other_wrong} have exactly these paths", wrong == 0,
        found={"worms": worms, "wrong": wrong, "others": others, "others_wrong": other_wrong}, source=SOURCE)


def _few(topology: Topology, scheme: MultiDropScheme, multicasts: list[Multicast]) -> TheoremCheck:
    """Compare the scheme's number of worms with the fewest that chains of switches allow."""
    used = [len(_sizes(topology, scheme, one)) for one in multicasts]
    least = [min(map(len, all_covers(topology, _switches(topology, one)))) for one in multicasts]
    as_few = sum(one == other for one, other in zip(used, least, strict=True))
    more = max(one - other for one, other in zip(used, least, strict=True))
    return TheoremCheck(
        "Figure 13", "section 5.2.4",
        f"for {as_few} of {len(multicasts)} multicasts to up to {MOST_SWITCHES} switches the scheme needs the "
        f"fewest worms that chains allow. It never needs more than {count(more, 'worm')} more. In total it needs "
        f"{sum(used)} worms, and the minimum is {sum(least)}",
        sum(used) <= NEARLY * sum(least),
        found={"multicasts": len(used), "fewest": as_few, "most": more, "worms": sum(used), "least": sum(least)},
        source=SOURCE)


def _early(topology: Topology, scheme: MultiDropScheme, multicasts: list[Multicast]) -> TheoremCheck:
    """Decide if other orders of the worms, or other worms, take fewer steps."""
    later = by_others = 0
    for one in multicasts:
        sizes = _sizes(topology, scheme, one)
        took = _steps(topology, scheme, one)
        later += took > fewest_steps(sizes)
        if scheme.whole_chains:
            by_others += took > min(map(fewest_steps, _all_sizes(topology, one)))
    others = f". With other chains, {_fewer(by_others)}" if scheme.whole_chains else ""
    return TheoremCheck(
        "Greedy", "section 5.2.5",
        f"{len(multicasts)} multicasts to up to {MOST_SWITCHES} switches were analysed. With the same worms in another "
        f"order, {_fewer(later)}{others}", later == 0,
        found={"multicasts": len(multicasts), "later": later, "by_others": by_others}, source=SOURCE)


def _fewer(multicasts: int) -> str:
    return f"{multicasts or 'none'} of them {'needs' if multicasts == 1 else 'need'} fewer steps"


def _batch(topology: Topology, scheme: MultiDropScheme, one: Multicast) -> Worms:
    return scheme.batch(topology, [one.source], [0, len(one.destinations)], one.destinations)


def _sizes(topology: Topology, scheme: MultiDropScheme, one: Multicast) -> tuple[int, ...]:
    """Return the number of destinations of each worm, in rising order."""
    return tuple(sorted(np.diff(_batch(topology, scheme, one).destination_offsets).tolist()))


def _steps(topology: Topology, scheme: MultiDropScheme, one: Multicast) -> int:
    return max(steps_of(_batch(topology, scheme, one)))


def _switches(topology: Topology, one: Multicast) -> list[int]:
    return np.unique(topology.consumptions[list(one.destinations), 0]).tolist()


def _all_sizes(topology: Topology, one: Multicast) -> set[tuple[int, ...]]:
    """Return the distinct tuples of worm sizes, one for each cover (partition of the switches into chains).

    The size of a worm is its number of destinations.
    """
    at = Counter(topology.consumptions[list(one.destinations), 0].tolist())
    return {tuple(sorted(sum(at[switch] for switch in chain) for chain in cover)) for cover in all_covers(topology, at)}
