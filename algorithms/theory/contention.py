"""Whether the unicasts of a tree can wait for each other: Definition 1 and Theorem 1 of [Hou], of any plan."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..channels import Resource, link_names
from ..compiled import QUADRATIC, compiled_from
from ..multicast_plan import Plan
from ..worms import AT_ONCE

__all__ = ["Contention", "Shared", "contention"]

#: Theorem 1's conditions that a pair with a common channel can meet; the second is that it has none.
CONDITIONS = (1, 3, 4)


@dataclass(frozen=True)
class Shared:
    """Two worms of a plan that share a link: that of the earlier step first.

    Parameters
    ----------
    first, second : int
        Ids of the worms.
    link : int
        Row of `Topology.links`: the first one on the first worm's way that both take.
    """

    first: int
    second: int
    link: int


@dataclass(frozen=True)
class Contention:
    """What [Hou] asks of a broadcast, of a plan whose worms have one destination each.

    Channels are links between switches, whatever their virtual channels: worms on two of these share the link's slots.

    Parameters
    ----------
    plan : Plan
    definition : dict of int to bool
        Definition 1: 1, the source alone sends in step 1; 2, every other node sends after the step of its receipt; 3, a
        node's worms of one step leave by different links; 4, each destination receives once, which every `Plan` does.
    stepwise : tuple of Shared
        Pairs of one step that share a link.
    conditions : dict of int to int
        Pairs that share a link, by the first of Theorem 1's conditions that holds: 1, the later sender has the message
        by way of the earlier worm; 3, both have one sender and one first link; 4, the later sender has it by way of a
        worm that the earlier one's sender sent later, by the same first link.
    violations : tuple of Shared
        Pairs of which none holds.
    """

    plan: Plan
    definition: dict[int, bool]
    stepwise: tuple[Shared, ...]
    conditions: dict[int, int]
    violations: tuple[Shared, ...]

    @property
    def shared(self) -> int:
        """Number of pairs that share a link."""
        return sum(self.conditions.values()) + len(self.violations)

    @property
    def free(self) -> bool:
        """Whether Definition 1 and Theorem 1 hold: no worm waits for one of another sender."""
        return all(self.definition.values()) and not self.violations

    def named(self, pair: Shared) -> tuple[int, int, str]:
        """Give a pair as ids and the link's name without its virtual channels: ``link:U>V``."""
        name = str(Resource.link(self._names[pair.link], "*")).removesuffix(":*")
        return pair.first, pair.second, name

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return link_names(self.plan.topology)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {
            "definition": {str(number): holds for number, holds in self.definition.items()},
            "stepwise": [list(self.named(pair)) for pair in self.stepwise],
            "conditions": {str(number): count for number, count in self.conditions.items()},
            "violations": [list(self.named(pair)) for pair in self.violations],
            "free": self.free,
        }


def contention(plan: Plan) -> Contention | None:
    """Look at all pairs of a plan's worms; None where a worm has several destinations.

    A pair is taken in the order of its steps. Source: [Hou], section 3.
    """
    worms, topology = plan.arrays, plan.topology
    if len(worms.destinations) > len(worms) or worms.steps is None:
        return None
    rows = {(start, end): row for row, (start, _, end, _) in reversed(list(enumerate(topology.links.tolist())))}
    ways = [[rows[link] for link in worm.links] for worm in plan.worms]
    offsets = np.cumsum([0, *map(len, ways)])
    taken = np.array([link for way in ways for link in way], np.int64)
    by_link = np.argsort(taken, kind="stable")
    link_offsets = np.searchsorted(taken[by_link], np.arange(len(topology.links) + 1))
    users = np.repeat(np.arange(len(worms)), np.diff(offsets))[by_link]
    pairs = _pairs(offsets, taken, link_offsets, users, worms.source, worms.after, worms.steps.astype(np.int64))
    first, second, _, condition = pairs.T
    steps = worms.steps

    def those(which: np.ndarray) -> tuple[Shared, ...]:
        return tuple(Shared(*map(int, row[:3])) for row in pairs[which])

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
    """All pairs that share a link, once each: the earlier worm, the later one, the link, and its condition or 0."""
    found = np.empty((1024, 4), np.int64)
    count = 0
    seen = np.full(len(source), -1, np.int64)  # the last worm with which each has been paired
    for one in range(len(source)):
        for place in range(offsets[one], offsets[one + 1]):
            link = taken[place]
            for user in range(link_offsets[link], link_offsets[link + 1]):
                other = users[user]
                # each pair once, found from the earlier of both
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
    """The first of Theorem 1's conditions that holds of two worms that share a link, the earlier step's first; or 0."""
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
