"""Search for deadlocks of worms that have a choice of channels.

A cycle of dependencies is no deadlock if a worm in it may take another channel. A deadlock (a knot) is a set of waiting
worms that together hold all candidates of each worm in the set. No two worms hold the same channel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ClassMap
from .adaptive_states import HeaderStates, find_header_states
from .channel_use import ChannelUse
from .graph import DependencyGraph, dependency_graph

__all__ = ["KnotSearch", "KnotWorm", "choosing_parts", "is_free"]

MOST_STEPS = 20_000
"""Largest number of steps in one search for worms that hold several channels each."""

MOST_WORMS = 200
"""Largest number of worms of a deadlock that the search considers."""

MOST_TRIED = 256
"""Largest number of resources from which the search for a deadlock with few worms begins, one after the other."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class KnotWorm:
    """A worm of a deadlock.

    Parameters
    ----------
    part : int
        Index of the worm's scheme in `KnotSearch.parts`.
    witness : tuple of int
        The worm's source or previous stop, and its next stops, as in `ChannelUse`.
    resources : tuple of int
        Resources that the worm holds: consecutive ones, in the order in which its head passed them.
    waits : tuple of int
        The candidates for the next resource of the worm's head. Each candidate is held by a worm of the deadlock.
    """

    part: int
    witness: tuple[int, ...]
    resources: tuple[int, ...]
    waits: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class KnotSearch:
    """Search for a deadlock among worms, if some of the worms have a choice of channels.

    Parameters
    ----------
    parts : sequence of ChannelUse
        All worms.
    choosing : sequence of ChannelUse
        The parts (schemes) whose worms may take another candidate if one candidate is held for ever.
    channels : int
        Consumption channels of each ejection port.
    classes : ClassMap, optional
        Class map for all worms, in place of each scheme's own.
    ejection : "one" or "all"
        As in `ejection_ports`.
    """

    parts: Sequence[ChannelUse]
    choosing: Sequence[ChannelUse]
    channels: int
    classes: ClassMap | None = None
    ejection: str = "one"

    @cached_property
    def graph(self) -> DependencyGraph:
        """Dependency graph of the worms that have no choice of channels.

        All resources of the search are numbered as in this graph.
        """
        return dependency_graph(self.parts, self.channels, self.classes, ejection=self.ejection, without=self.choosing)

    def possible(self, *, each_with_a_head: bool = False, consumption_alone: bool = False) -> Flags:
        """Find the largest set of resources that could be held for ever, bool [resources].

        Each resource of the set is held by a worm whose head has only candidates in the set. The worm may hold other
        resources of the set, too. In a deadlock, each held resource is held by a worm whose head has only held
        resources as candidates, so that every deadlock lies inside the largest set. A head in a buffer behind the tail
        of another worm no longer has a choice: it needs the one channel of this buffer. For a head behind the tail of
        another worm, each possible next channel is a dependency by itself, as in the dependency graph. So an empty set
        proves that there is no deadlock only if all worms with a choice (`choosing`) enter empty buffers only.

        The proof covers Duato's condition: every head has an escape channel among its candidates, and the escape
        channels have an extended dependency graph without a cycle. Suppose that the set has escape channels, and take
        the last of them in the order of their dependency graph. The head of the worm that holds this last escape
        channel has another escape channel as a candidate, which is in the set, too, and comes later in the order: a
        contradiction. So the largest set has no escape channel, and is empty, as every head has an escape channel among
        its candidates.

        Parameters
        ----------
        each_with_a_head : bool
            Consider only worms that hold one channel each: each resource of the set is the last one that some worm's
            head acquired.
        consumption_alone : bool
            Consider only sets without channels of links, in which worms wait for consumption channels only.
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

    def search(self) -> tuple[list[KnotWorm], int]:
        """Search for worms that form a deadlock, first with one channel each, then with several channels each.

        Return the worms, and the number of steps of the search. The list of worms is empty if none were found.

        If worms stop on their way, the search with several channels first tries deadlocks in which worms wait for
        consumption channels only, as these can be small.
        """
        single = self.possible(each_with_a_head=True)
        if single.any():
            return self._fewest(single), 0
        worms: list[KnotWorm] = []
        steps = 0
        if any(part.has_stops for part in self.choosing):
            worms, steps = _Shortest(self, self.possible(consumption_alone=True)).run()
        if not worms:
            worms, more = _Assignment(self, self.possible()).run()
            steps += more
        return worms, steps

    @cached_property
    def heads(self) -> list[HeaderStates]:
        """Places (states) of the heads of each scheme whose worms have a choice."""
        graph = self.graph
        return [find_header_states(part, part.classes if self.classes is None else self.classes, self.channels,
                           groups=graph.groups, ports=graph.ports, share=graph.vc_classes // part.vc_classes)
                for part in self.choosing]

    def fixed(self, resource: int) -> Iterator[tuple[int, tuple[int, ...], list[int]]]:
        """Yield worms without a choice that hold a resource: part, witness, and the resources that the worm waits for.
        """
        graph = self.graph
        for edge in np.flatnonzero(graph.starts == resource):
            end, (part, *stops) = int(graph.ends[edge]), graph.witnesses[edge].tolist()
            members = [end] if end < graph.first_choice else graph.ends[graph.starts == end].tolist()
            yield part, tuple(stop for stop in stops if stop >= 0), members

    def _waiting(self, resource: int, lost: Flags) -> KnotWorm:
        """Return a worm whose head is at a resource and has candidates in `lost` only.

        Of several worms, the function returns one with the fewest candidates.
        """
        found = [KnotWorm(part, witness, (resource,), tuple(waits))
                 for part, witness, waits in self.fixed(resource) if lost[waits].all()]
        if resource < self.graph.channels:
            for part, heads in zip(self.choosing, self.heads, strict=True):
                found += [_held(self.parts.index(part), heads, [place], to, waits)
                          for place in heads.at(resource) for to, waits in heads.waits(place) if lost[waits].all()]
        return min(found, key=lambda one: len(one.waits))

    def _fewest(self, lost: Flags) -> list[KnotWorm]:
        """Place worms at one resource and at all resources that these worms wait for, with each head at its resource.

        The function tries up to 256 first resources, and returns the set with the fewest worms.
        """
        worms: dict[int, KnotWorm] = {}
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
    """Return the channel use of each scheme whose worms have a choice of channels.

    If the inputs of switches assign candidates in turn, a worm has no choice: it waits for the one assigned candidate.
    """
    return [part for part in parts if not part.routes.deterministic and not part.routes.in_turn]


def is_free(parts: Sequence[ChannelUse], channels: int, classes: ClassMap | None = None,
            ejection: str = "one") -> bool:
    """Return whether a proof excludes deadlocks, if worms of relations with `enters_empty` enter empty buffers only."""
    if dependency_graph(parts, channels, classes, ejection=ejection).free:
        return True
    choosing = [part for part in choosing_parts(parts) if part.routes.relation.enters_empty]
    return bool(choosing) and not KnotSearch(parts, choosing, channels, classes, ejection).possible().any()


_Placed = tuple[KnotWorm, list[int], int]
"""A worm, the places (states) that its head passed, and a stop: -1, or the next stop after the one at which the worm
waits for a consumption channel."""


def _held(part: int, heads: HeaderStates, way: Sequence[int], to: int, waits: Sequence[int]) -> KnotWorm:
    """Make a worm that holds the resources of `way` (a list of places) and waits for any one of `waits`."""
    stops = [int(node) for place in way for node in heads.witnesses[place, 2:] if node >= 0]
    witness = (*heads.witnesses[way[0], :2].tolist(), *stops, *([to] if to >= 0 else []))
    return KnotWorm(part, witness, tuple(heads.resources[list(way)].tolist()), tuple(waits))


class _Assignment:
    """Backtracking search for worms that hold several channels each: it assigns a worm to one resource after the other.

    Parameters
    ----------
    search : KnotSearch
    inside : bool array [resources]
        Resources that worms may wait for.
    """

    def __init__(self, search: KnotSearch, inside: Flags) -> None:
        self.search = search
        self.inside = inside
        self.steps = 0
        self.worms: list[_Placed] = []

    def run(self) -> tuple[list[KnotWorm], int]:
        """Search for a deadlock from each resource in turn, until one is found or the allowed steps are used up."""
        for first in np.flatnonzero(self.inside[: self.search.graph.first_choice]).tolist():
            if self.steps < MOST_STEPS and self._hold({first}):
                return [worm for worm, *_ in self.worms], self.steps
        return [], self.steps

    def _hold(self, wanted: set[int]) -> bool:
        """Assign a worm to each of the resources `wanted`, and to all resources that the assigned worms wait for."""
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
        """Return all resources that the worms hold."""
        return {one for worm, *_ in self.worms for one in worm.resources}

    def _worms_for(self, resource: int) -> Iterator[tuple[_Placed | None, _Placed]]:
        """Yield worms that could hold a resource: first assigned worms, with the resource added at the tail, then new
        worms."""
        search = self.search
        taken = self._taken()
        for placed in list(self.worms):
            worm, way, to = placed
            if not way:
                continue
            heads = search.heads[search.choosing.index(search.parts[worm.part])]
            for begin in self._begins(heads, resource, taken):
                if way[0] in heads.next(begin[-1]):
                    longer = [*begin, *way]
                    yield placed, (_held(worm.part, heads, longer, to, worm.waits), longer, to)
        for index, witness, waits in search.fixed(resource):
            if self.inside[waits].all():
                yield None, (KnotWorm(index, witness, (resource,), tuple(waits)), [], -1)
        for part, heads in zip(search.choosing, search.heads, strict=True):
            yield from self._new(search.parts.index(part), heads, resource, taken)

    def _new(self, part: int, heads: HeaderStates, resource: int, taken: set[int]) -> Iterator[tuple[None, _Placed]]:
        """Yield worms of a scheme that hold a resource and any number of resources after it."""
        for begin in self._begins(heads, resource, taken):
            yield from self._ways(part, heads, begin, taken)

    def _begins(self, heads: HeaderStates, resource: int, taken: set[int]) -> Iterator[list[int]]:
        """Yield the shortest lists of successive places (states of a worm's head) whose last place is at a resource. A
        worm at a stop also holds the channel by which it came."""
        for place in heads.at(resource):
            if resource < heads.links:
                yield [place]
            else:
                yield from ([one, place] for one in heads.before(place) if heads.resources[one] not in taken)

    def _ways(self, part: int, heads: HeaderStates, way: list[int], taken: set[int],
              ) -> Iterator[tuple[None, _Placed]]:
        """Yield worms that hold the resources of `way`, then worms that hold the resources of a longer way."""
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
    """Search as in `_Assignment`, but with only one shortest way to each place (state of a head).

    Worms that wait only for resources that assigned worms already hold are tried first.
    """

    def _new(self, part: int, heads: HeaderStates, resource: int, taken: set[int]) -> Iterator[tuple[None, _Placed]]:
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
    """Mark in `held` the resources of worms whose head has only candidates in `lost`, the resources held for ever."""
    resources, cases, ask_offsets, asks, onward_offsets, onward, links = arrays
    stuck = np.zeros(len(resources), np.bool_)
    for place in range(len(resources)):
        if each_with_a_head and resources[place] >= links:
            continue  # at a stop a worm holds two resources
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
