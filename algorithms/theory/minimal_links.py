"""Smallest valid sets of DANs on small networks ([Boppana98], Definition 3), if each link may be in any DAN."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..channels import link_names
from ..compiled import compiled
from ..phrases import count
from .acyclic_partitions import DanSet, LinkGroups, group_links
from .problem import Problem
from .ranking import certificate
from .statement import TheoremCheck

__all__ = ["DanSearch", "minimal_by_links", "search"]

MOST = 64
"""Largest number of switches, and of links that worms use while they hold a consumption channel: a set of them is a
word of 64 bits.
"""

MOST_STEPS = 4_000_000
"""Largest number of steps in the search for valid sets with a given number of DANs. In a step the search tries one link
in one DAN."""

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class DanSearch:
    """Result of the search for valid sets of a given number of DANs ([Boppana98], Definition 2).

    Parameters
    ----------
    count : int
        Number of valid sets found.
    first : int8 array [links] or None
        Index of the DAN of each link in the first valid set. `first` is None if the search found no valid set.
    steps : int
        Steps of the search. In a step the search tries one link in one DAN.
    complete : bool
        The search covered all sets.
    """

    count: int
    first: npt.NDArray[np.int8] | None
    steps: int
    complete: bool


def minimal_by_links(subject: Problem) -> TheoremCheck:
    """Find the smallest number of DANs in a valid set.

    A valid set contains the links that worms use while they hold a consumption channel. Each link may be in any DAN.
    """
    name, place = "Definition 3, by links", "section 3.2"
    if subject.unfit:
        return TheoremCheck(name, place, f"does not apply: {subject.unfit}", None)
    if not subject.has_stops:
        return TheoremCheck(name, place, "no DAN is needed", None, found={"dans": 0})
    loaded = np.flatnonzero(np.any([part.loaded for part in subject.parts], axis=0))
    if len(loaded) > MOST or subject.topology.switches > MOST:
        return TheoremCheck(name, place, f"not searched: worms use {len(loaded)} links while they hold a consumption "
                            f"channel. The search is limited to {MOST} links and {MOST} switches", None,
                         found={"links": len(loaded)})
    numbers = np.full(len(subject.topology.links), -1, np.int16)
    numbers[loaded] = np.arange(len(loaded))
    names = link_names(subject.topology)
    groups = group_links(subject, [names[link] for link in loaded], numbers)
    refused: list[dict[str, int]] = []
    for size in range(1, len(loaded) + 1):
        found = search(subject, groups, loaded, size)
        if found.first is not None:
            return _statement(subject, groups, found, refused)
        refused.append({"dans": size, "steps": found.steps, "complete": found.complete})
        if not found.complete:
            break
    return TheoremCheck(name, place, f"not decided: the search for sets of {len(refused)} DANs stopped after "
                        f"{MOST_STEPS} steps", None, found={"links": len(loaded)}, certificate={"refused": refused})


def _statement(subject: Problem, groups: LinkGroups, found: DanSearch, refused: list[dict[str, int]]) -> TheoremCheck:
    """Return the result of the check for the valid sets of the fewest DANs."""
    assert found.first is not None
    size = len(refused) + 1
    blocks = tuple(tuple(np.flatnonzero(found.first == dan).tolist()) for dan in range(size))
    first = DanSet(subject, groups, blocks)
    number = str(found.count) if found.complete else f"more than {found.count}"
    single = found.complete and found.count == 1
    sentence = (f"worms use {len(groups.names)} links while they hold a consumption channel. Each link may be in any "
                f"DAN. Then a valid set has at least {count(size, 'DAN')}, and there "
                f"{'is 1 such set' if single else f'are {number} such sets'}")
    if refused:
        steps = sum(one["steps"] for one in refused)
        sentence += f". A complete search in {steps} steps found no smaller set"
    paper, agrees, stated = None, None, subject.stated
    if stated is not None and stated.unique:
        paper, agrees = f"{stated.dans} DANs, and the set is unique", size == stated.dans and found.count == 1
    return TheoremCheck(
        "Definition 3, by links", "section 3.2", sentence, None, paper, agrees,
        {"links": len(groups.names), "dans": size, "sets": found.count if found.complete else None,
         "sets_found": found.count},
        certificate={"set": first.to_dict(), "refused": refused, "channels": certificate(subject, first.classes())})


def search(subject: Problem, groups: LinkGroups, loaded: npt.NDArray[np.int64], count: int) -> DanSearch:
    """Count the valid sets of `count` DANs with each link of `loaded` in one DAN. Each of the `groups` has a single
    link."""
    ends = subject.topology.links[loaded][:, [0, 2]]
    before = groups.before[..., 0] >= 0
    order = _order(ends, before)
    ends, before = ends[order], before[np.ix_(order, order)]
    bits = np.uint64(1) << np.arange(len(order), dtype=np.uint64)
    after, prior = ((matrix * bits).sum(axis=1, dtype=np.uint64) for matrix in (before, before.T))
    first = np.full(len(order), -1, np.int8)
    sets, steps, complete = _search(ends, after, prior, subject.topology.switches, count, MOST_STEPS, first)
    if not sets:
        return DanSearch(0, None, int(steps), bool(complete))
    placed = np.empty(len(order), np.int8)
    placed[order] = first
    return DanSearch(int(sets), placed, int(steps), bool(complete))


def _order(ends: npt.NDArray[np.int32], before: npt.NDArray[np.bool_]) -> list[int]:
    """Order the links. The next link of the order is the opposite of a link in the order, or else the link that shares
    worms with the most links in the order."""
    related = (before | before.T).astype(int)
    related += len(ends) * ((ends[:, None, 0] == ends[None, :, 1]) & (ends[:, None, 1] == ends[None, :, 0]))
    np.fill_diagonal(related, 0)
    order = [int(related.sum(axis=1).argmax())]
    while len(order) < len(ends):
        weight = related[:, order].sum(axis=1)
        weight[order] = -1
        order.append(int(weight.argmax()))
    return order


@compiled
def _search(ends, after, prior, switches, count, most, first):
    """Try each link in each DAN with links and in one empty DAN. Return the number of valid sets, the number of steps,
    and whether the search was complete.

    The state at each depth is the reachability between switches in each DAN and the order of the DANs.
    """
    links = len(ends)
    one = np.uint64(1)
    none = np.uint64(0)
    reach = np.zeros((links + 1, count, switches), np.uint64)
    later = np.zeros((links + 1, count), np.uint64)
    members = np.zeros(count, np.uint64)
    chosen = np.full(links + 1, -1, np.int64)
    taken = np.zeros(links + 1, np.int64)
    sets, steps, depth = 0, 0, 0
    while depth >= 0:
        if depth == links:
            if sets == 0:
                for link in range(links):
                    first[link] = chosen[link]
            sets += 1
            depth -= 1
            if depth >= 0:
                members[chosen[depth]] ^= one << np.uint64(depth)
            continue
        chosen[depth] += 1
        dan = chosen[depth]
        if dan > min(taken[depth], count - 1) or links - depth < count - taken[depth]:
            chosen[depth] = -1
            depth -= 1
            if depth >= 0:
                members[chosen[depth]] ^= one << np.uint64(depth)
            continue
        steps += 1
        if steps > most:
            return sets, steps, False
        start, end = np.uint64(ends[depth, 0]), np.uint64(ends[depth, 1])
        if (reach[depth, dan, ends[depth, 1]] >> start) & one:
            continue
        fits = True
        later[depth + 1] = later[depth]
        for other in range(count):
            if other == dan:
                continue
            if after[depth] & members[other] != none:
                later[depth + 1, dan] |= one << np.uint64(other)
            if prior[depth] & members[other] != none:
                later[depth + 1, other] |= one << np.uint64(dan)
        for through in range(count):
            for dan_before in range(count):
                if (later[depth + 1, dan_before] >> np.uint64(through)) & one:
                    later[depth + 1, dan_before] |= later[depth + 1, through]
        for other in range(count):
            if (later[depth + 1, other] >> np.uint64(other)) & one:
                fits = False
        if not fits:
            continue
        reach[depth + 1] = reach[depth]
        gained = (one << end) | reach[depth, dan, ends[depth, 1]]
        for switch in range(switches):
            if switch == ends[depth, 0] or (reach[depth, dan, switch] >> start) & one:
                reach[depth + 1, dan, switch] |= gained
        members[dan] |= one << np.uint64(depth)
        taken[depth + 1] = max(taken[depth], dan + 1)
        depth += 1
        chosen[depth] = -1
    return sets, steps, True
