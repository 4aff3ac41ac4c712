"""Orders of channels in which worms request higher channels only: proofs of deadlock freedom that a reader can check.
"""

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
    """Rank of each link and each consumption channel, with one ejection port for each node.

    If worms request only channels that are higher than those they hold, and a consumption channel of a worm's last
    destination is higher than the held channels, no worm waits for ever. Proof: of the channels that worms hold for
    ever, take the highest one. The worm that holds this highest channel requests a higher channel, which another worm
    holds for ever: a contradiction.

    Parameters
    ----------
    links : int64 array [links]
    consumption : int64 array [nodes, channels]
    """

    links: Integers
    consumption: Integers

    def order(self, parts: Sequence[ChannelUse]) -> list[str]:
        """Return the names of all channels, lowest rank first. Channels of one rank are in the order of their numbers.
        """
        topology = parts[0].topology
        named = [(rank, Resource.link(name, "*")) for name, rank in
                 zip(link_names(topology), self.links.tolist(), strict=True)]
        named += [(rank, Resource.cons(node, channel)) for node, ranks in enumerate(self.consumption.tolist())
                  for channel, rank in enumerate(ranks)]
        return [str(resource) for _, resource in sorted(named, key=lambda one: one[0])]

    def check(self, parts: Sequence[ChannelUse], classes: ClassMap) -> tuple[int, list[str]]:
        """Check the ranks of all requests that worms make while they hold a resource. Return the number of requests,
        and the names of the requests for a resource that is not of higher rank than the held resource.

        The check uses only the ranks and the worms' channel use, and no other result of the function `ranking`.
        """
        steps = {name: held < asked for part in parts for name, held, asked in self._steps(part, classes)}
        return len(steps), [name for name, rises in steps.items() if not rises]

    def _steps(self, part: ChannelUse, classes: ClassMap) -> Iterator[tuple[str, int, int]]:
        """Yield for each request its name, the rank of the held resource, and the rank of the requested resource."""
        topology, names = part.topology, link_names(part.topology)
        of_link = classes.of_channels(topology)
        highest = self.consumption.max(axis=1)

        def asked(link: int, output: int) -> tuple[int, str]:
            """Return rank and name of the resource requested at an output of the switch to which a link leads."""
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
    """Rank the resources of a graph by the length of the chain of requests that can follow. The result is None if the
    graph has a cycle."""
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
    """Return a checked order of all channels, with one consumption channel for each class. The result is None if the
    dependencies have a cycle."""
    ranks = ranking(dependency_graph(subject.parts, len(classes), classes))
    if ranks is None:
        return None
    steps, falls = ranks.check(subject.parts, classes)
    return {"order": ranks.order(subject.parts), "steps": steps, "falls": falls}
