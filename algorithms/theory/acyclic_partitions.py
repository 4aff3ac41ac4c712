"""Definition 2 and Lemma 2 of [Boppana98]: valid sets of directed acyclic networks (DANs)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..channels import link_names
from ..compiled import compiled
from ..consumption import ConsumptionClasses
from ..deadlock.channel_use import NOWHERE
from ..deadlock.knot_search import is_free
from ..deadlock.link_classes import LinkClasses
from ..routing import walk
from ..topologies import Topology
from .problem import Problem
from .ranking import certificate
from .statement import TheoremCheck

__all__ = ["DanSet", "LinkGroups", "dans", "group_links", "own_dans"]


MOST_SHOWN = 6
"""Largest number of pairs of DANs that a printed result lists. The JSON data of a valid set list all its pairs of
DANs."""


@dataclass(frozen=True, eq=False)
class LinkGroups:
    """Groups of links from which DANs are built.

    Parameters
    ----------
    topology : Topology
    names : tuple of str
    numbers : int16 array [links]
        Group of each link, or -1.
    before : int32 array [groups, groups, 4]
        ``before[g, h]`` is a worm that uses a link of group g and later a link of group h. The four numbers of this
        worm are: the index of its scheme in `Problem.schemes`, its source or a stop, and its next two stops. If no worm
        uses group g before group h, the first number is ``NOWHERE``.
    """

    topology: Topology
    names: tuple[str, ...]
    numbers: npt.NDArray[np.int16]
    before: npt.NDArray[np.int32]

    def cycle(self, block: tuple[int, ...]) -> list[int]:
        """Return the switches on a shortest cycle of links in these groups. The result is empty if the links are
        acyclic."""
        if block not in self._known:
            links = self.topology.links[np.isin(self.numbers, block)][:, [0, 2]]
            self._known[block] = _cycle(links.tolist())
        return self._known[block]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], list[int]]:
        return {}


def group_links(subject: Problem, names: Sequence[str], numbers: npt.NDArray[np.int16]) -> LinkGroups:
    """Find the orders in which worms of several destinations use groups of links, from the source on."""
    count = len(names)
    before = np.full((count, count, 4), NOWHERE, np.int32)
    for part, (ways, triples) in enumerate(zip(subject.parts, subject.visit_triples, strict=True)):
        starts = np.ascontiguousarray(subject.topology.injections[:, 0])
        found = _before(triples, ways.routes.arrays, starts, numbers, count)
        new = (found[..., 0] >= 0) & (before[..., 0] < 0)
        before[new, 0] = part
        before[new, 1:] = found[new]
    return LinkGroups(subject.topology, tuple(names), numbers, before)


@dataclass(frozen=True, eq=False)
class DanSet:
    """Set of DANs, each made of groups of links. No two DANs share a link.

    Source: [Boppana98], section 3.2, Definition 2. In a valid set a worm that has reserved a consumption channel uses
    links of the set for all further hops, as the proof of Lemma 2 requires.

    Parameters
    ----------
    subject : Problem
    groups : LinkGroups
    blocks : tuple of tuple of int
        The groups of each DAN.
    """

    subject: Problem
    groups: LinkGroups
    blocks: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.blocks)

    def __str__(self) -> str:
        return "/".join(",".join(self.groups.names[group] for group in block) for block in self.blocks)

    def name(self, dan: int) -> str:
        """Return the name of a DAN."""
        return f"{{{','.join(self.groups.names[group] for group in self.blocks[dan])}}}"

    @cached_property
    def numbers(self) -> npt.NDArray[np.int8]:
        """DAN of each link, or -1, int8 [links]."""
        of_group = np.full(len(self.groups.names) + 1, -1, np.int8)
        for dan, block in enumerate(self.blocks):
            of_group[list(block)] = dan
        return of_group[self.groups.numbers]

    @cached_property
    def uncovered(self) -> list[int]:
        """Links that are in no DAN although worms use them while they hold a consumption channel."""
        loaded = np.any([part.loaded for part in self.subject.parts], axis=0)
        return np.flatnonzero(loaded & (self.numbers < 0)).tolist()

    @cached_property
    def cycle(self) -> list[int]:
        """Switches on a cycle of links in one DAN. The list is empty if all DANs are acyclic."""
        return next(filter(None, map(self.groups.cycle, self.blocks)), [])

    @cached_property
    def steps(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Pairs (first, second) of DANs, each with a worm that uses the first DAN before the second."""
        found = []
        for first, one in enumerate(self.blocks):
            for second, other in enumerate(self.blocks):
                if first != second:
                    worms = self.groups.before[np.ix_(one, other)].reshape(-1, 4)
                    worms = worms[worms[:, 0] >= 0]
                    if len(worms):
                        found.append((first, second, tuple(worms[0].tolist())))
        return found

    @cached_property
    def clash(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Entries of `steps` whose pairs of DANs form a cycle. The list is empty if worms use the DANs in a partial
        order."""
        around = _cycle([[first, second] for first, second, _ in self.steps])
        pairs = set(zip(around, around[1:] + around[:1], strict=True))
        return [step for step in self.steps if step[:2] in pairs]

    @cached_property
    def order(self) -> list[int]:
        """DANs in an order in which worms use them. The order is defined only if `clash` is empty."""
        left, order = list(range(len(self))), []
        while left:
            order.append(next(one for one in left if not any(
                second == one and first in left for first, second, _ in self.steps)))
            left.remove(order[-1])
        return order

    @property
    def valid(self) -> bool:
        """The set is valid by Definition 2 of [Boppana98]."""
        return not (self.uncovered or self.cycle or self.clash)

    @property
    def order_text(self) -> str:
        """Order in which worms use the DANs, as a sentence."""
        pairs = [f"{self.name(first)} before {self.name(second)}" for first, second, _ in self.steps]
        more = f" and so on ({len(pairs)} pairs in total)" if len(pairs) > MOST_SHOWN else ""
        return f"Worms use {', '.join(pairs[:MOST_SHOWN])}{more}" if pairs else "No worm uses two DANs"

    @property
    def why_not(self) -> str:
        """Reason why the set of DANs is not valid by Definition 2 of [Boppana98], in words."""
        subject = self.subject
        if self.uncovered:
            names = link_names(subject.topology)
            start, _, end, _ = subject.topology.links[self.uncovered[0]].tolist()
            shown = f"{subject.named(start)} to {subject.named(end)}" if subject.topology.direct else (
                names[self.uncovered[0]])
            return f"worms that hold a consumption channel use the link from {shown}, which is in no DAN"
        if self.cycle:
            around = " > ".join(subject.topology.switch_title(switch) for switch in [*self.cycle, self.cycle[0]])
            return f"a DAN is not acyclic: {around}"
        return "worms use the DANs in no partial order: " + ", ".join(
            f"{self.name(first)} before {self.name(second)} (a worm {subject.worm_text(*worm[1:])})"
            for first, second, worm in self.clash)

    def classes(self) -> LinkClasses:
        """Return the consumption classes of Lemma 2: the DAN of the most recent hop, or else of the next hop."""
        return LinkClasses(self.numbers, len(self), "last")

    def to_dict(self) -> dict[str, Any]:
        """Return the set as data for JSON."""
        worms = [{"first": first, "then": second, "worm": self.subject.worm(*worm)}
                 for first, second, worm in self.steps]
        return {"dans": str(self), "order": [self.name(one) for one in self.order] if self.valid else None,
                "steps": worms if self.valid else None, "why_not": None if self.valid else self.why_not}


def own_dans(subject: Problem, classes: ConsumptionClasses) -> DanSet:
    """Return a set with one DAN for each consumption class of a map: all links in the directions of this class."""
    names = [",".join(network) for network in classes.networks]
    groups = group_links(subject, names, classes.of_channels(subject.topology).astype(np.int16))
    return DanSet(subject, groups, tuple((one,) for one in range(len(names))))


def dans(subject: Problem) -> list[TheoremCheck]:
    """Decide if the scheme's classes are a valid set of DANs, and if one consumption channel for each DAN suffices."""
    place = "section 3.2"
    both = ("Definition 2", "Lemma 2")
    if subject.unfit:
        return [TheoremCheck(name, place, f"does not apply: {subject.unfit}", None) for name in both]
    if not subject.has_stops:
        none = "no worm uses a link while it holds a consumption channel. So no DAN is needed, and one channel suffices"
        return [TheoremCheck(name, place, none, True, found={"channels": 1}) for name in both]
    if len(subject.maps) > 1:
        return [TheoremCheck(name, place, "does not apply: each scheme has its own map of classes", None)
                for name in both]
    classes = subject.maps[0]
    if not len(classes):
        none = "a map without classes is not a set of DANs: worms that hold a consumption channel use links in no DAN"
        return [TheoremCheck("Definition 2", place, none, False),
                TheoremCheck("Lemma 2", place, "does not apply: there is no valid set", None)]
    found = own_dans(subject, classes)
    numbers = found.to_dict()
    paper, agrees, stated = None, None, subject.stated
    if stated is not None and stated.dans and classes == subject.parts[0].stated:
        paper, agrees = f"a valid set of {stated.dans} DANs", found.valid and len(found) == stated.dans
    if not found.valid:
        return [TheoremCheck("Definition 2", place, f"{found} is not a valid set of DANs: {found.why_not}", False,
                          paper, agrees, numbers),
                TheoremCheck("Lemma 2", place, "does not apply: there is no valid set", None)]
    own = is_free(subject.parts, len(found))
    proof = certificate(subject, found.classes())
    sentence = (f"{len(found)} consumption channels per node suffice, one per DAN. A worm takes the channel of the "
                f"DAN of its most recent hop, or else of its next hop. Check: {_order_text(proof)}. With the scheme's "
                f"own rule ({classes.by} hop) the dependencies have {'no cycle' if own else 'a cycle'}")
    return [
        TheoremCheck("Definition 2", place, f"{found} is a valid set of DANs. Each DAN is acyclic. Worms that hold a "
                  f"consumption channel use only links of the DANs. {found.order_text}", True, paper, agrees, numbers),
        TheoremCheck("Lemma 2", place, sentence, proof is not None,
                  found={"channels": len(found), "rule": classes.by, "free_by_rule": own}, certificate=proof),
    ]


def _order_text(proof: dict[str, Any] | None) -> str:
    if proof is None:
        return "the dependencies have a cycle"
    return (f"in an order of all channels, each of the {proof['steps']} requests of worms is for a higher channel"
            if not proof["falls"] else
            f"in the order found, {len(proof['falls'])} of {proof['steps']} requests of worms are not for a higher "
            "channel")


def _cycle(edges: Sequence[Sequence[int]]) -> list[int]:
    """Return a shortest cycle of a graph, its lowest vertex first. The list is empty if there is no cycle."""
    after: dict[int, list[int]] = {}
    for start, end in edges:
        after.setdefault(start, []).append(end)
    best: list[int] = []
    for root in sorted(after):
        paths = {root: [root]}
        queue = [root]
        for at in queue:
            if best and len(paths[at]) >= len(best):
                break
            for to in after.get(at, ()):
                if to == root:
                    best = paths[at]
                    break
                if to not in paths and to > root:
                    paths[to] = [*paths[at], to]
                    queue.append(to)
            else:
                continue
            break
    return best


@compiled
def _before(triples, arrays, starts, numbers, count):
    """Return, for each pair of groups of links, a worm that uses the first group before the second, int32 [count,
    count, 3]. The three numbers of a worm are its source or a stop, and its next two stops."""
    _, classes, _, _, _, _ = arrays
    before = np.full((count, count, 3), NOWHERE, np.int32)
    path = np.empty(2 * arrays[0].shape[1], np.int32)
    seen = np.empty(count, np.int64)
    for row in range(len(triples)):
        u, v, w = triples[row]
        hops = walk(arrays, starts[u], 0, v, path)
        hops += walk(arrays, starts[v], 0, w, path[hops:])
        known, last = 0, -1
        for hop in range(hops):
            group = numbers[path[hop] // classes]
            if group < 0 or group == last:
                continue
            last = group
            new = True
            for one in range(known):
                if seen[one] == group:
                    new = False
                elif before[seen[one], group, 0] < 0:
                    before[seen[one], group, 0] = u
                    before[seen[one], group, 1] = v
                    before[seen[one], group, 2] = w
            if new:
                seen[known] = group
                known += 1
    return before
