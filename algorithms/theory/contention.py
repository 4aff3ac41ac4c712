"""Definition 1 and Theorem 1 of [Hou] for any plan: unicasts of a tree that can wait for each other."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..channels import Resource, link_names
from ..compiled import QUADRATIC, compiled_from
from ..multicast_plan import Plan
from ..worms import AT_ONCE

__all__ = ["Contention", "LinkSharing", "contention"]

#: Conditions of Theorem 1 that a pair with a common channel can meet.
#: Condition 2 of Theorem 1 is that the pair has no common channel.
CONDITIONS = (1, 3, 4)


@dataclass(frozen=True)
class LinkSharing:
    """Two worms of a plan that share a link; the worm of the earlier step is the first.

    Parameters
    ----------
    first, second : int
        Ids of the worms.
    link : int
        Row of `Topology.links`: the first shared link on the first worm's way.
    """

    first: int
    second: int
    link: int


@dataclass(frozen=True)
class Contention:
    """Conditions of [Hou] for a broadcast, checked for a plan whose worms have one destination each.

    A channel is a link between switches with all its virtual channels, as these share the link flit by flit.

    Parameters
    ----------
    plan : Plan
    definition : dict of int to bool
        Conditions of Definition 1. Condition 1 of Definition 1: only the source sends in step 1. Condition 2 of
        Definition 1: each node other than the source sends only after the step in which it receives the message.
        Condition 3 of Definition 1: a node's worms of one step leave by different links. Condition 4 of Definition 1:
        each destination receives once, which is true of every `Plan`.
    stepwise : tuple of LinkSharing
        Pairs of worms that are sent in one step and share a link.
    conditions : dict of int to int
        Number of pairs that share a link, by the first of Theorem 1's conditions that they meet. Condition 1 of Theorem
        1: the later worm's sender has received the message by way of the earlier worm. Condition 3 of Theorem 1: both
        worms have the same sender and first link. Condition 4 of Theorem 1: the later worm's sender has received the
        message by way of a third worm. The third worm has the same sender and the same first link as the earlier worm,
        and is sent in a later step than the earlier worm.
    violations : tuple of LinkSharing
        Pairs of worms that share a link and meet none of Theorem 1's conditions.
    """

    plan: Plan
    definition: dict[int, bool]
    stepwise: tuple[LinkSharing, ...]
    conditions: dict[int, int]
    violations: tuple[LinkSharing, ...]

    @property
    def shared(self) -> int:
        """Number of pairs of worms that share a link."""
        return sum(self.conditions.values()) + len(self.violations)

    @property
    def free(self) -> bool:
        """Definition 1 and Theorem 1 hold: no worm waits for a worm of another sender."""
        return all(self.definition.values()) and not self.violations

    def named(self, pair: LinkSharing) -> tuple[int, int, str]:
        """Return the ids of a pair and the name of its link without virtual channels: ``link:U>V``."""
        name = str(Resource.link(self._names[pair.link], "*")).removesuffix(":*")
        return pair.first, pair.second, name

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return link_names(self.plan.topology)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as data for JSON."""
        return {
            "definition": {str(number): holds for number, holds in self.definition.items()},
            "stepwise": [list(self.named(pair)) for pair in self.stepwise],
            "conditions": {str(number): count for number, count in self.conditions.items()},
            "violations": [list(self.named(pair)) for pair in self.violations],
            "free": self.free,
        }


def contention(plan: Plan) -> Contention | None:
    """Check all pairs of a plan's worms. The result is None if a worm has several destinations.

    The worms of a pair are in the order of their steps. Source: [Hou], section 3.
    """
    worms, topology = plan.arrays, plan.topology
    if len(worms.destinations) > len(worms) or worms.steps is None:
        return None
    ways = [worm.link_rows for worm in plan.worms]
    offsets = np.cumsum([0, *map(len, ways)])
    taken = np.array([link for way in ways for link in way], np.int64)
    by_link = np.argsort(taken, kind="stable")
    link_offsets = np.searchsorted(taken[by_link], np.arange(len(topology.links) + 1))
    users = np.repeat(np.arange(len(worms)), np.diff(offsets))[by_link]
    pairs = _pairs(offsets, taken, link_offsets, users, worms.source, worms.after, worms.steps.astype(np.int64))
    first, second, _, condition = pairs.T
    steps = worms.steps

    def those(which: np.ndarray) -> tuple[LinkSharing, ...]:
        return tuple(LinkSharing(*map(int, row[:3])) for row in pairs[which])

    sent = [(worm.source, worm.step, way[0]) for worm, way in zip(plan.worms, ways, strict=True) if way]
    released = worms.after != AT_ONCE
    definition = {
        1: bool((worms.source[steps == 1] == plan.source).all()),
        2: bool((steps[released] > steps[worms.after[released]]).all()),
        3: len(set(sent)) == len(sent),
        4: True,
    }
    return Contention(plan, definition, those(steps[first] == steps[second]),
                      {number: int((condition == number).sum()) for number in CONDITIONS}, those(condition == 0))


@compiled_from(QUADRATIC)
def _pairs(offsets, taken, link_offsets, users, source, after, steps):
    """Return each pair of worms that share a link: the earlier worm, the later one, the link, and `_condition` of the
    pair.
    """
    found = np.empty((1024, 4), np.int64)
    count = 0
    seen = np.full(len(source), -1, np.int64)  # for each worm: the last worm with which it was listed as a pair
    for one in range(len(source)):
        for place in range(offsets[one], offsets[one + 1]):
            link = taken[place]
            for user in range(link_offsets[link], link_offsets[link + 1]):
                other = users[user]
                # each pair is found once, from its earlier worm
                if other == one or seen[other] == one or (steps[other], other) < (steps[one], one):
                    continue
                seen[other] = one
                if count == len(found):
                    grown = np.empty((2 * count, 4), np.int64)
                    grown[:count] = found
                    found = grown
                found[count, 0], found[count, 1], found[count, 2] = one, other, link
                found[count, 3] = _condition(offsets, taken, source, after, steps, one, other)
                count += 1
    return found[:count].copy()


@compiled_from(QUADRATIC)
def _condition(offsets, taken, source, after, steps, one, other):
    """Return the first of Theorem 1's conditions that two worms with a shared link meet, or 0. `one` is the earlier
    worm."""
    ancestor = after[other]
    while ancestor >= 0:
        if ancestor == one:
            return 1
        ancestor = after[ancestor]
    first = taken[offsets[one]]
    if source[one] == source[other] and first == taken[offsets[other]]:
        return 3
    ancestor = after[other]
    while ancestor >= 0:
        if source[ancestor] == source[one] and steps[ancestor] > steps[one] and taken[offsets[ancestor]] == first:
            return 4
        ancestor = after[ancestor]
    return 0
