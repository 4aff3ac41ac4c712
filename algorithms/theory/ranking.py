"""Orders of channels in which worms ask for ever higher ones: proofs of freedom from deadlock to be read by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..channels import Resource, link_names
from ..consumption import ClassMap
from ..deadlock.channel_use import ChannelUse
from ..deadlock.graph import DependencyGraph, dependency_graph
from .problem import Problem

__all__ = ["Ranking", "certificate", "ranking"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """A rank of each link and each consumption channel, with one ejection port a node.

    If whoever holds one asks for nothing but higher ones, and at the end of its way finds some higher channel of its
    node, then nobody waits for ever: of the worms that did, look at the holder of what is highest.

    Parameters
    ----------
    links : int64 array [links]
    consumption : int64 array [nodes, channels]
    """

    links: Integers
    consumption: Integers

    def order(self, parts: Sequence[ChannelUse]) -> list[str]:
        """Name all channels that are asked for, lowest first; those of one rank by their numbers."""
        topology = parts[0].topology
        named = [(rank, Resource.link(name, "*")) for name, rank in
                 zip(link_names(topology), self.links.tolist(), strict=True)]
        named += [(rank, Resource.cons(node, channel)) for node, ranks in enumerate(self.consumption.tolist())
                  for channel, rank in enumerate(ranks)]
        return [str(resource) for _, resource in sorted(named, key=lambda one: one[0])]

    def check(self, parts: Sequence[ChannelUse], classes: ClassMap) -> tuple[int, list[str]]:
        """Go through all that worms ask for while they hold something: how many steps, and those that do not rise.

        It looks at what the worms do, and at nothing that the search for this order has made.
        """
        steps = {name: held < asked for part in parts for name, held, asked in self._steps(part, classes)}
        return len(steps), [name for name, rises in steps.items() if not rises]

    def _steps(self, part: ChannelUse, classes: ClassMap) -> Iterator[tuple[str, int, int]]:
        """Name each step, the rank that is held, and the one that is asked for."""
        topology, names = part.topology, link_names(part.topology)
        of_link = classes.of_channels(topology)
        highest = self.consumption.max(axis=1)

        def asked(link: int, output: int) -> tuple[int, str]:
            """Rank of what is asked for by an output of the switch to which a link leads."""
            at = topology.links[link, 2]
            node = int(topology.node_of_output[at, output])
            if node >= 0:
                return int(highest[node]), f"some channel of {node}"
            following = int(topology.link_of_port[at, output])
            return int(self.links[following]), names[following]

        for link, output in np.argwhere(part.passes[..., 0] >= 0).tolist():
            rank, name = asked(link, output)
            yield f"{names[link]} before {name}", int(self.links[link]), rank
        for link, output in np.argwhere(part.stops[..., 0] >= 0).tolist():
            at = int(part.stops[link, output, 1])
            following = int(topology.link_of_port[topology.links[link, 2], output])
            channel = int(classes.at_stop(of_link[link], of_link[following]))
            rank, name = asked(link, output)
            held = int(self.consumption[at, channel])
            yield f"{names[link]} before channel {channel} of {at}", int(self.links[link]), held
            yield f"channel {channel} of {at} before {name}", held, rank


def ranking(graph: DependencyGraph) -> Ranking | None:
    """Rank the resources of a graph without a cycle by how long a chain of requests can follow; None: it has one."""
    levels = np.full(graph.resources, -1)
    after: list[list[int]] = [[] for _ in range(graph.resources)]
    before: list[list[int]] = [[] for _ in range(graph.resources)]
    for start, end in zip(graph.starts.tolist(), graph.ends.tolist(), strict=True):
        after[start].append(end)
        before[end].append(start)
    waiting = [len(ends) if one < graph.first_choice else min(1, len(ends)) for one, ends in enumerate(after)]
    ready = [one for one, count in enumerate(waiting) if not count]
    for one in ready:
        known = [levels[end] for end in after[one] if levels[end] >= 0]
        levels[one] = 1 + (max(known) if one < graph.first_choice else min(known)) if known else 0
        for start in before[one]:
            waiting[start] -= 1
            if not waiting[start]:
                ready.append(start)
    if len(ready) < graph.resources:
        return None
    ranks = levels.max() - levels
    nodes = graph.topology.nodes
    return Ranking(ranks[: graph.channels], ranks[graph.channels : graph.first_choice].reshape(nodes, graph.groups))


def certificate(subject: Problem, classes: ClassMap) -> dict[str, Any] | None:
    """An order of all channels, a channel for each class, gone through step by step; None: there is a cycle."""
    ranks = ranking(dependency_graph(subject.parts, len(classes), classes))
    if ranks is None:
        return None
    steps, falls = ranks.check(subject.parts, classes)
    return {"order": ranks.order(subject.parts), "steps": steps, "falls": falls}
