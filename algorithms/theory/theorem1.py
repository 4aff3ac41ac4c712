"""Theorem 1 of [Boppana98]: schemes that can deadlock with one consumption channel per node, and two worms that do."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..consumption import ConsumptionClasses
from ..deadlock.channel_use import ChannelUse
from ..phrases import count
from .problem import Problem
from .statement import TheoremCheck

__all__ = ["Crossing", "crossing", "theorem1"]

MOST_PAIRS = 64
"""Largest number of pairs of nodes whose worms are searched, the nearest pairs first."""

FLITS_A_HOP = 64
"""Flits of a witness worm for each hop between the two nodes: four times 16 flits, the largest input buffer of routers
without deep buffers."""


@dataclass(frozen=True)
class Crossing:
    """Two worms that visit two nodes in opposite orders.

    Parameters
    ----------
    there, back : tuple of int
        (index of the scheme in `Problem.schemes`, source, first node, second node). The nodes of `back` are those of
        `there` in the other order.
    meets : bool
        If the two worms are sent at the same time through an empty network, each worm reserves its first consumption
        channel before the other worm requests it. The value of `meets` is True if the two worms share no link, and have
        the same number of hops to their first destinations.
    hops : int
        Hops of the longer way between the two nodes.
    """

    there: tuple[int, int, int, int]
    back: tuple[int, int, int, int]
    meets: bool
    hops: int


def theorem1(subject: Problem) -> TheoremCheck:
    """Decide both hypotheses of Theorem 1.

    Hypothesis 1: worms wait for links while they hold a consumption channel. Hypothesis 2: two worms visit the same two
    nodes in opposite orders. Two nodes that are visited in both orders need not be neighbours. Hypothesis 2 is
    undecided if no multicasts to two destinations were found that meet Hypothesis 2, but larger multicasts may meet it.
    """
    pairs, found = crossing(subject)
    unseen = False if subject.complete else None  # None: not known for worms that were not analysed
    waits, orders = subject.has_stops or unseen, bool(found) or (None if pairs else unseen)
    met = waits and orders
    stated = subject.stated
    paper = None if stated is None else f"{'both hypotheses are' if stated.meets else 'the hypotheses are not'} met"
    agrees = None if stated is None or met is None else met == stated.meets
    values: dict[str, int | None] = {"hypothesis_1": waits, "hypothesis_2": orders}
    if found is None:
        if not subject.complete:
            why = "not decided. Multicasts to two destinations do not meet both hypotheses, but larger multicasts may"
        elif pairs:
            why = (f"hypothesis 1 is met. Hypothesis 2 is not decided. The scheme visits {count(pairs, 'pair')} of "
                   f"nodes in both orders. Of the {min(pairs, MOST_PAIRS)} nearest pairs, multicasts to exactly the "
                   "two nodes visit none in both orders")
        elif not waits:
            why = ("neither hypothesis is met. Every worm has one destination, and requests nothing after it has "
                   "reserved a consumption channel")
        else:
            why = "hypothesis 1 is met. Hypothesis 2 is not met: no two nodes are visited in both orders"
        return TheoremCheck("Theorem 1", "section 3.1", why, met, paper, agrees, values)
    worms = [found.there, found.back]
    _, _, first, second = found.there
    shown = " and ".join(subject.worm_text(*worm[1:]) for worm in worms)
    sentence = ("both hypotheses are met. 1: a worm waits for links after it has reserved a consumption channel. 2: "
                f"{subject.named(first)} and {subject.named(second)} are visited in both orders, by worms {shown}")
    if pairs > 1:
        sentence += f". Worms visit {count(pairs - 1, 'other pair')} of nodes in both orders"
    messages = [{"at": 0, "source": source, "destinations": visits, "length": FLITS_A_HOP * found.hops}
                for _, source, *visits in worms]
    values |= {"pairs": pairs, "meet": found.meets}
    if subject.ejection == "all":
        sentence += (". But no node has a single consumption channel: with --ejection all, each link into a node has "
                     "an ejection port of its own")
        return TheoremCheck("Theorem 1", "section 3.1", sentence, None, paper, agrees, values, messages)
    cycle = subject.cycle(1, ConsumptionClasses())
    sentence += (f". With one consumption channel per node such worms can deadlock (a cycle of {len(cycle)} resources)"
                 if cycle else ". But with one consumption channel per node the dependencies have no cycle")
    return TheoremCheck("Theorem 1", "section 3.1", sentence, bool(cycle), paper, agrees, values, messages,
                     {"cycle": cycle})


def crossing(subject: Problem) -> tuple[int, Crossing | None]:
    """Find two worms that visit the same two nodes in opposite orders, if possible two with `Crossing.meets`.

    Each of the two worms is sent for a multicast to exactly these two nodes. Pairs of nodes with the fewest hops
    between them are tried first, and for each pair the nearest sources.

    Returns
    -------
    int
        Number of pairs of nodes that the visit triples have in both orders.
    Crossing or None
    """
    nodes = subject.topology.nodes
    visited = np.zeros((nodes, nodes), bool)
    for triples in subject.visit_triples:
        visited[triples[:, 1], triples[:, 2]] = True
    pairs = np.argwhere(np.triu(visited & visited.T)).tolist()
    pairs.sort(key=lambda pair: (_distance(subject, *pair), pair))
    best = None
    for pair in pairs[:MOST_PAIRS]:
        for found in _crossings(subject, *pair):
            if found.meets:
                return len(pairs), found
            best = best or found
    return len(pairs), best


def _crossings(subject: Problem, first: int, second: int) -> Iterator[Crossing]:
    """Yield pairs of the schemes' worms that visit two nodes in opposite orders, those from the nearest sources first.
    """
    back = list(_worms(subject, second, first))
    for there in _worms(subject, first, second):
        for other in back:
            one, two = (_links(subject.parts[worm[0]], *worm[1:]) for worm in (there, other))
            apart = not {*one[0], *one[1]} & {*two[0], *two[1]}
            yield Crossing(there, other, apart and len(one[0]) == len(two[0]), max(len(one[1]), len(two[1])))


def _worms(subject: Problem, first: int, second: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield worms of multicasts to two nodes that visit `first` before `second`: (index of the scheme, source, first,
    second)."""
    for part, (scheme, triples) in enumerate(zip(subject.schemes, subject.visit_triples, strict=True)):
        sources = np.unique(triples[(triples[:, 1] == first) & (triples[:, 2] == second), 0])
        if not len(sources):
            continue
        worms = scheme.batch(subject.topology, sources, np.arange(len(sources) + 1) * 2,
                             np.tile([first, second], len(sources)))
        made = {int(worms.source[row]) for row in range(len(worms)) if worms.visits(row).tolist() == [first, second]}
        near = sorted((len(subject.parts[part].routes.channels(source, [first])), source) for source in made)
        yield from ((part, source, first, second) for _, source in near)


def _distance(subject: Problem, first: int, second: int) -> int:
    return len(next(part for part in subject.parts if part.has_stops).routes.channels(first, [second]))


def _links(part: ChannelUse, source: int, first: int, second: int) -> tuple[list[int], list[int]]:
    """Return the links of a worm to its first destination, and from there to its second."""
    whole = [channel // part.vc_classes for channel in part.routes.channels(source, [first, second])]
    to_first = len(part.routes.channels(source, [first]))
    return whole[:to_first], whole[to_first:]
