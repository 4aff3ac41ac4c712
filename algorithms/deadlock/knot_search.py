"""Worms that have a choice of channels: when is that no deadlock, and which worms show one?

A cycle of dependencies is no deadlock where a worm in it may take another way. What is a deadlock is a set of worms,
each with its head waiting, of which no two hold the same channel, and which hold all that any of them may take next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ClassMap
from .adaptive_states import Heads, find_heads
from .channel_use import ChannelUse
from .graph import DependencyGraph, dependency_graph

__all__ = ["Held", "KnotSearch", "choosing_parts", "is_free"]

MOST_STEPS = 20_000
"""Steps of the search for worms that hold several channels each, before it is given up."""

MOST_WORMS = 200
"""Of a deadlock that is searched for."""

MOST_TRIED = 256
"""Resources of which each is asked for how many worms a deadlock with it takes."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Held:
    """A worm of a deadlock.

    Parameters
    ----------
    part : int
        Whose it is.
    witness : tuple of int
        Where it comes from and where it goes, as `ChannelUse` has it.
    resources : tuple of int
        What it holds: neighbours in the order in which its head passed them.
    waits : tuple of int
        All that its head may take next: each is held by one of these worms.
    """

    part: int
    witness: tuple[int, ...]
    resources: tuple[int, ...]
    waits: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class KnotSearch:
    """Worms with choices, among others.

    Parameters
    ----------
    parts : sequence of ChannelUse
        All worms.
    choosing : sequence of ChannelUse
        Those among them that may take another way where the first one is held for ever.
    channels : int
        Consumption channels of each ejection port.
    classes : ClassMap, optional
        For all worms, in place of each part's own.
    ejection : "one" or "all"
        As `ejection_ports` has it.
    """

    parts: Sequence[ChannelUse]
    choosing: Sequence[ChannelUse]
    channels: int
    classes: ClassMap | None = None
    ejection: str = "one"

    @cached_property
    def graph(self) -> DependencyGraph:
        """The dependencies of the worms that do not choose; its resources are the question's."""
        return dependency_graph(self.parts, self.channels, self.classes, ejection=self.ejection, without=self.choosing)

    def possible(self, *, each_with_a_head: bool = False, consumption_alone: bool = False) -> Flags:
        """Find the greatest set of resources that could be held for ever, bool [resources]; none: no deadlock.

        Each of its resources lies on a way inside the set of a worm whose head is there where all that it may take
        next is in the set. What the worms of a deadlock hold is such a set, so that every deadlock lies inside the
        greatest one. A head that is in a buffer behind the end of another worm does not choose any more: there every
        next channel counts alone, as in the dependency graph. So only worms that enter no buffer but empty ones may
        be among those that choose, where the answer is to be a proof.

        It covers Duato's: let some channels, to escape by, be among what every head may take, and have an extended
        dependency graph without a cycle. Of those in the set, one would come last in the order of that graph; but the
        head of its worm may take another, which is in the set and comes later. So the set is empty.

        Parameters
        ----------
        each_with_a_head : bool
            Only ways of one channel: each resource of the set is where a worm's head may be.
        consumption_alone : bool
            Only what is held for ever on account of worms that wait for consumption channels.
        """
        graph = self.graph
        lost = np.ones(graph.resources, bool)
        lost[:graph.channels] = not consumption_alone
        choice = graph.starts >= graph.first_choice
        while True:
            held = np.zeros(graph.resources, bool)
            held[graph.starts[lost[graph.ends] | choice]] = True
            held[graph.starts[choice & ~lost[graph.ends]]] = False
            for heads in self.heads:
                _add_held(heads.arrays, lost, held, each_with_a_head)
            if not (lost & ~held).any():
                return lost
            lost &= held

    def search(self) -> tuple[list[Held], int]:
        """Look for worms of a deadlock: with a channel each if that will do, or with several. Gives the steps too.

        Where worms stop they are first looked for among those that wait for nothing but consumption channels: of such
        deadlocks there are small ones.
        """
        single = self.possible(each_with_a_head=True)
        if single.any():
            return self._fewest(single), 0
        worms: list[Held] = []
        steps = 0
        if any(part.has_stops for part in self.choosing):
            worms, steps = _Shortest(self, self.possible(consumption_alone=True)).run()
        if not worms:
            worms, more = _Assignment(self, self.possible()).run()
            steps += more
        return worms, steps

    @cached_property
    def heads(self) -> list[Heads]:
        """Places of the heads of each of the parts that choose."""
        graph = self.graph
        return [find_heads(part, part.classes if self.classes is None else self.classes, self.channels,
                           groups=graph.groups, ports=graph.ports, share=graph.vc_classes // part.vc_classes)
                for part in self.choosing]

    def fixed(self, resource: int) -> Iterator[tuple[int, tuple[int, ...], list[int]]]:
        """Worms without a choice that hold a resource: part, witness, and all that they wait for."""
        graph = self.graph
        for edge in np.flatnonzero(graph.starts == resource):
            end, (part, *stops) = int(graph.ends[edge]), graph.witnesses[edge].tolist()
            members = [end] if end < graph.first_choice else graph.ends[graph.starts == end].tolist()
            yield part, tuple(stop for stop in stops if stop >= 0), members

    def _waiting(self, resource: int, lost: Flags) -> Held:
        """A worm whose head is at a resource of a set: of several the one that waits for the fewest."""
        found = [Held(part, witness, (resource,), tuple(waits))
                 for part, witness, waits in self.fixed(resource) if lost[waits].all()]
        if resource < self.graph.channels:
            for part, heads in zip(self.choosing, self.heads, strict=True):
                found += [_held(self.parts.index(part), heads, [place], to, waits)
                          for place in heads.at(resource) for to, waits in heads.waits(place) if lost[waits].all()]
        return min(found, key=lambda one: len(one.waits))

    def _fewest(self, lost: Flags) -> list[Held]:
        """Give resources of a set a worm each, whose head is there: one, and all that are waited for on its account.

        Of those that are tried as the first one, that which takes the fewest worms.
        """
        worms: dict[int, Held] = {}
        best: list[int] = []
        for first in np.flatnonzero(lost[: self.graph.first_choice]).tolist()[:MOST_TRIED]:
            needed, waiting = {first}, [first]
            while waiting and (not best or len(needed) < len(best)):
                at = waiting.pop()
                if at not in worms:
                    worms[at] = self._waiting(at, lost)
                waiting += (more := sorted({*worms[at].waits} - needed))
                needed.update(more)
            if not waiting and (not best or len(needed) < len(best)):
                best = sorted(needed)
        return [worms[resource] for resource in best]


def choosing_parts(parts: Sequence[ChannelUse]) -> list[ChannelUse]:
    """Worms that have a choice of channels: where switches choose in turn, they wait for that one alone."""
    return [part for part in parts if not part.routes.deterministic and not part.routes.in_turn]


def is_free(parts: Sequence[ChannelUse], channels: int, classes: ClassMap | None = None,
            ejection: str = "one") -> bool:
    """Whether it is proved that these worms cannot deadlock, as far as relations say that they enter empty buffers."""
    if dependency_graph(parts, channels, classes, ejection=ejection).free:
        return True
    choosing = [part for part in choosing_parts(parts) if part.routes.relation.enters_empty]
    return bool(choosing) and not KnotSearch(parts, choosing, channels, classes, ejection).possible().any()


_Placed = tuple[Held, list[int], int]
"""A worm, the way of its head from place to place, and the node to which it goes on if it waits at a stop, else -1."""


def _held(part: int, heads: Heads, way: Sequence[int], to: int, waits: Sequence[int]) -> Held:
    """A worm that holds the resources of a way, and waits for any of these."""
    stops = [int(node) for place in way for node in heads.witnesses[place, 2:] if node >= 0]
    witness = (*heads.witnesses[way[0], :2].tolist(), *stops, *([to] if to >= 0 else []))
    return Held(part, witness, tuple(heads.resources[list(way)].tolist()), tuple(waits))


class _Assignment:
    """The search for worms that hold several channels each: one resource after the other is given a worm.

    Parameters
    ----------
    question : KnotSearch
    inside : bool array [resources]
        What worms may wait for.
    """

    def __init__(self, question: KnotSearch, inside: Flags) -> None:
        self.question = question
        self.inside = inside
        self.steps = 0
        self.worms: list[_Placed] = []

    def run(self) -> tuple[list[Held], int]:
        """Begin with each resource in turn."""
        for first in np.flatnonzero(self.inside[: self.question.graph.first_choice]).tolist():
            if self.steps < MOST_STEPS and self._hold({first}):
                return [worm for worm, *_ in self.worms], self.steps
        return [], self.steps

    def _hold(self, wanted: set[int]) -> bool:
        """Give a worm to each of these resources, and to all that those worms wait for."""
        if not wanted:
            return True
        if len(self.worms) == MOST_WORMS:
            return False
        resource = min(wanted)
        for replaced, placed in self._worms_for(resource):
            before = list(self.worms)
            if replaced is not None:
                self.worms.remove(replaced)
            self.worms.append(placed)
            if self._hold((wanted | set(placed[0].waits)) - self._taken()):
                return True
            self.worms = before
        return False

    def _taken(self) -> set[int]:
        """All that is held."""
        return {one for worm, *_ in self.worms for one in worm.resources}

    def _worms_for(self, resource: int) -> Iterator[tuple[_Placed | None, _Placed]]:
        """Worms that could hold a resource: those there are, a channel further back, and then new ones."""
        question = self.question
        taken = self._taken()
        for placed in list(self.worms):
            worm, way, to = placed
            if not way:
                continue
            heads = question.heads[question.choosing.index(question.parts[worm.part])]
            for begin in self._begins(heads, resource, taken):
                if way[0] in heads.next(begin[-1]):
                    longer = [*begin, *way]
                    yield placed, (_held(worm.part, heads, longer, to, worm.waits), longer, to)
        for index, witness, waits in question.fixed(resource):
            if self.inside[waits].all():
                yield None, (Held(index, witness, (resource,), tuple(waits)), [], -1)
        for part, heads in zip(question.choosing, question.heads, strict=True):
            yield from self._new(question.parts.index(part), heads, resource, taken)

    def _new(self, part: int, heads: Heads, resource: int, taken: set[int]) -> Iterator[tuple[None, _Placed]]:
        """Worms of a part that hold a resource, and any number of those onwards."""
        for begin in self._begins(heads, resource, taken):
            yield from self._ways(part, heads, begin, taken)

    def _begins(self, heads: Heads, resource: int, taken: set[int]) -> Iterator[list[int]]:
        """The shortest ways that hold a resource: a worm at a stop holds the channel by which it came, too."""
        for place in heads.at(resource):
            if resource < heads.links:
                yield [place]
            else:
                yield from ([one, place] for one in heads.before(place) if heads.resources[one] not in taken)

    def _ways(self, part: int, heads: Heads, way: list[int], taken: set[int],
              ) -> Iterator[tuple[None, _Placed]]:
        """Worms that hold this way, and then those that hold more of it onwards."""
        self.steps += 1
        if self.steps >= MOST_STEPS:
            return
        for to, waits in heads.waits(way[-1]):
            if self.inside[waits].all():
                yield None, (_held(part, heads, way, to, waits), way, to)
        held = taken | {*heads.resources[way].tolist()}
        for place in heads.next(way[-1]):
            if int(heads.resources[place]) not in held:
                yield from self._ways(part, heads, [*way, place], taken)


class _Shortest(_Assignment):
    """The same, with one shortest way to each place only: those first that wait for what is held already."""

    def _new(self, part: int, heads: Heads, resource: int, taken: set[int]) -> Iterator[tuple[None, _Placed]]:
        found = []
        for begin in self._begins(heads, resource, taken):
            self.steps += 1
            if self.steps >= MOST_STEPS:
                return
            ways, seen = [begin], {*begin}
            for way in ways:
                held = {*heads.resources[way].tolist()}
                found += [(not taken.issuperset(waits), len(way), way, to, waits)
                          for to, waits in heads.waits(way[-1]) if self.inside[waits].all() and held.isdisjoint(waits)]
                for place in heads.next(way[-1]):
                    if place not in seen and int(heads.resources[place]) not in taken | held:
                        seen.add(place)
                        ways.append([*way, place])
        for _, _, way, to, waits in sorted(found):
            yield None, (_held(part, heads, way, to, waits), way, to)


@compiled
def _add_held(arrays, lost, held, each_with_a_head):
    """Add the resources that a worm may hold whose head finds all lost that it may take."""
    resources, cases, ask_offsets, asks, onward_offsets, onward, links = arrays
    stuck = np.zeros(len(resources), np.bool_)
    for place in range(len(resources)):
        if each_with_a_head and resources[place] >= links:
            continue  # there a worm holds two
        for case in range(cases[place], cases[place + 1]):
            all_lost = True
            for at in range(ask_offsets[case], ask_offsets[case + 1]):
                all_lost &= lost[asks[at]]
            stuck[place] |= all_lost
    changed, backwards = not each_with_a_head, True
    while changed:
        changed = False
        for step in range(len(resources)):
            place = len(resources) - 1 - step if backwards else step
            if stuck[place]:
                continue
            for at in range(onward_offsets[place], onward_offsets[place + 1]):
                if stuck[onward[at]]:
                    stuck[place] = True
                    changed = True
                    break
        backwards = not backwards
    for place in range(len(resources)):
        if stuck[place]:
            held[resources[place]] = True
