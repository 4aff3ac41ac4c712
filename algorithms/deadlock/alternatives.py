"""Worms that have a choice of channels: when is that no deadlock, and which worms show one?

A cycle of dependencies is no deadlock where a worm in it may take another way. What is a deadlock is a set of worms,
each with its head waiting, of which no two hold the same channel, and which hold all that any of them may take next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ClassMap
from .graph import DependencyGraph, dependency_graph
from .ways import Ways, origins

__all__ = ["Held", "Question", "choosing_parts", "is_free"]

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
        Where it comes from and where it goes, as `Ways` has it.
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
class Question:
    """Worms with choices, among others.

    Parameters
    ----------
    parts : sequence of Ways
        All worms.
    choosing : sequence of Ways
        Those among them that may take another way where the first one is held for ever.
    channels : int
        Consumption channels of each ejection port.
    classes : ClassMap, optional
        For all worms, in place of each part's own.
    ejection : "one" or "all"
        As `ejection_ports` has it.
    """

    parts: Sequence[Ways]
    choosing: Sequence[Ways]
    channels: int
    classes: ClassMap | None = None
    ejection: str = "one"

    @cached_property
    def graph(self) -> DependencyGraph:
        """The dependencies of the worms that do not choose; its resources are the question's."""
        return dependency_graph(self.parts, self.channels, self.classes, ejection=self.ejection, without=self.choosing)

    def possible(self, *, each_with_a_head: bool = False) -> Flags:
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
        """
        graph = self.graph
        lost = np.ones(graph.resources, bool)
        choice = graph.starts >= graph.first_choice
        while True:
            held = np.zeros(graph.resources, bool)
            held[graph.starts[lost[graph.ends] | choice]] = True
            held[graph.starts[choice & ~lost[graph.ends]]] = False
            for part in self.choosing:
                _add_held(self._arrays(part), lost, held, each_with_a_head)
            if not (lost & ~held).any():
                return lost
            lost &= held

    def search(self) -> tuple[list[Held], int]:
        """Look for worms of a deadlock: with a channel each if that will do, or with several. Gives the steps too."""
        single = self.possible(each_with_a_head=True)
        if single.any():
            return self._fewest(single), 0
        return _Assignment(self).run()

    def _arrays(self, part: Ways) -> tuple[Any, ...]:
        """What the compiled search takes."""
        graph = self.graph
        return (*part.routes.arrays, graph.vc_classes // part.vc_classes, graph.asked_at_the_end, graph.ports.first,
                graph.ports.place, self._origins(part))

    def _origins(self, part: Ways) -> npt.NDArray[np.int32]:
        """Lowest node from which worms come by each channel on their way to each node, int32 [nodes, channels]."""
        found = self._known.get(id(part))
        if found is None:
            topology = part.topology
            found = np.empty((topology.nodes, len(topology.links) * part.vc_classes), np.int32)
            stack = np.empty(found.shape[1], np.int32)
            for node in range(topology.nodes):
                origins(part.routes.arrays, np.ascontiguousarray(topology.injections[:, 0]), node, found[node], stack)
            self._known[id(part)] = found
        return found

    @cached_property
    def _known(self) -> dict[int, npt.NDArray[np.int32]]:
        return {}

    def came_from(self, part: Ways, node: int, resource: int) -> int:
        """Lowest node from which a worm of a part to a node comes by a resource; -1: none does."""
        share = self.graph.vc_classes // part.vc_classes
        return int(self._origins(part)[node, resource // share])

    def asked(self, part: Ways, node: int, resource: int) -> list[int]:
        """All that a worm of a part to a node may take next, when its head is at the end of a channel."""
        options, classes, link_of_port, switch_of_link, phase_of_link, homes = part.routes.arrays
        share = self.graph.vc_classes // classes
        link = resource // share // classes
        switch, phase = switch_of_link[link], phase_of_link[link]
        if switch == homes[node]:
            first = self.graph.channels + int(self.graph.ports.at(node, link)) * self.graph.groups
            return list(range(first, first + self.graph.groups))
        codes = [int(code) for code in options[phase, switch, node] if code >= 0]
        return [(int(link_of_port[switch, code // classes]) * classes + code % classes) * share + one
                for code in codes for one in range(share)]

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
            for part in self.choosing:
                for node in range(part.topology.nodes):
                    source = self.came_from(part, node, resource)
                    if source >= 0 and lost[waits := self.asked(part, node, resource)].all():
                        found.append(Held(self.parts.index(part), (source, node), (resource,), tuple(waits)))
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


def choosing_parts(parts: Sequence[Ways]) -> list[Ways]:
    """Worms that have a choice of channels."""
    return [part for part in parts if not part.routes.deterministic]


def is_free(parts: Sequence[Ways], channels: int, classes: ClassMap | None = None,
            ejection: str = "one") -> bool:
    """Whether it is proved that these worms cannot deadlock, as far as relations say that they enter empty buffers."""
    if dependency_graph(parts, channels, classes, ejection=ejection).free:
        return True
    choosing = [part for part in choosing_parts(parts) if part.routes.relation.enters_empty]
    return bool(choosing) and not Question(parts, choosing, channels, classes, ejection).possible().any()


class _Assignment:
    """The search for worms that hold several channels each: one resource after the other is given a worm."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.inside = question.possible()
        self.steps = 0
        self.worms: list[Held] = []

    def run(self) -> tuple[list[Held], int]:
        """Begin with each resource in turn."""
        for first in np.flatnonzero(self.inside[: self.question.graph.first_choice]).tolist():
            if self.steps < MOST_STEPS and self._hold({first}):
                return self.worms, self.steps
        return [], self.steps

    def _hold(self, wanted: set[int]) -> bool:
        """Give a worm to each of these resources, and to all that those worms wait for."""
        if not wanted:
            return True
        if len(self.worms) == MOST_WORMS:
            return False
        resource = min(wanted)
        for replaced, worm in self._worms_for(resource):
            before = list(self.worms)
            if replaced is not None:
                self.worms.remove(replaced)
            self.worms.append(worm)
            taken = {one for held in self.worms for one in held.resources}
            if self._hold((wanted | set(worm.waits)) - taken):
                return True
            self.worms = before
        return False

    def _worms_for(self, resource: int) -> Iterator[tuple[Held | None, Held]]:
        """Worms that could hold a resource: those there are, a channel further back, and then new ones."""
        question = self.question
        taken = {one for held in self.worms for one in held.resources}
        for worm in list(self.worms):
            part = question.parts[worm.part]
            if part.routes.deterministic or resource >= question.graph.channels:
                continue
            node = worm.witness[-1]
            source = question.came_from(part, node, resource)
            if source >= 0 and worm.resources[0] in question.asked(part, node, resource):
                yield worm, Held(worm.part, (source, node), (resource, *worm.resources), worm.waits)
        for index, witness, waits in question.fixed(resource):
            if self.inside[waits].all():
                yield None, Held(index, witness, (resource,), tuple(waits))
        if resource < question.graph.channels:
            for part in question.choosing:
                for node in range(part.topology.nodes):
                    source = question.came_from(part, node, resource)
                    if source >= 0:
                        yield from self._ways(part, node, (source, node), [resource], taken)

    def _ways(self, part: Ways, node: int, witness: tuple[int, int], way: list[int], taken: set[int],
              ) -> Iterator[tuple[None, Held]]:
        """Worms on their way to a node that hold this way, and then those that hold more of it onwards."""
        self.steps += 1
        if self.steps >= MOST_STEPS:
            return
        asked = self.question.asked(part, node, way[-1])
        if self.inside[asked].all():
            yield None, Held(self.question.parts.index(part), witness, tuple(way), tuple(asked))
        for one in asked:
            if one < self.question.graph.channels and self.inside[one] and one not in taken and one not in way:
                yield from self._ways(part, node, witness, [*way, one], taken)


@compiled
def _add_held(arrays, lost, held, each_with_a_head):
    """Add the resources that a worm may hold whose head finds all lost that it may take."""
    (options, classes, link_of_port, switch_of_link, phase_of_link, homes, share, first_any, first_port, place_of_link,
     origin) = arrays
    nodes, channels = origin.shape
    waits = np.zeros(channels, np.bool_)
    for node in range(nodes):
        for channel in range(channels):
            waits[channel] = False
            if origin[node, channel] < 0:
                continue
            link = channel // classes
            switch, phase = switch_of_link[link], phase_of_link[link]
            waits[channel] = True
            if switch == homes[node]:
                waits[channel] = lost[first_any + first_port[node] + place_of_link[link]]
                continue
            for place in range(options.shape[3]):
                code = options[phase, switch, node, place]
                if code < 0:
                    break
                asked = (link_of_port[switch, code // classes] * classes + code % classes) * share
                for one in range(share):
                    waits[channel] &= lost[asked + one]
        changed = not each_with_a_head
        while changed:
            changed = False
            for channel in range(channels):
                if waits[channel] or origin[node, channel] < 0:
                    continue
                link = channel // classes
                switch, phase = switch_of_link[link], phase_of_link[link]
                if switch == homes[node]:
                    continue
                for place in range(options.shape[3]):
                    code = options[phase, switch, node, place]
                    if code < 0:
                        break
                    asked = link_of_port[switch, code // classes] * classes + code % classes
                    inside = False
                    for one in range(share):
                        inside |= lost[asked * share + one]
                    if inside and waits[asked]:
                        waits[channel] = True
                        changed = True
                        break
        for channel in range(channels):
            if waits[channel]:
                for one in range(share):
                    held[channel * share + one] = True
