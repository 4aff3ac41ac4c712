"""Interfaces that forward packets to each other, and have too few places for them."""

from collections import deque

import numpy as np

from ..schemes import Scheme
from ..topologies import Topology

__all__ = ["MULTICASTS", "Step", "circle_of_interfaces"]

#: Multicasts that are looked at, to so many destinations at most.
MULTICASTS, MOST_DESTINATIONS = 4096, 8

Step = tuple[int, int, int, tuple[int, ...]]
"""An interface, the next one of a circle, and a multicast, source and destinations, in which it forwards to that one,
which forwards, too."""


def circle_of_interfaces(topology: Topology, scheme: Scheme, seed: int = 0) -> tuple[Step, ...]:
    """Find a shortest circle of nodes, each of which sends packets to the next, where these are to be forwarded.

    Where an interface has fewer places than packets of a message, those that it has wait for their copies, each copy
    for a consumption channel of the next node, and that one for a place there: around a circle they may wait for ever.
    It is looked for in random multicasts of the scheme; empty: there is none in these.
    """
    if topology.nodes < 3:
        return ()
    rng = np.random.default_rng(seed)
    most = min(topology.nodes - 1, MOST_DESTINATIONS)
    counts = rng.integers(2, most + 1, MULTICASTS).tolist()
    chosen = sorted((rng.permutation(topology.nodes)[:1 + count].tolist() for count in counts), key=len)
    offsets = np.cumsum([0, *(len(nodes) - 1 for nodes in chosen)])
    worms = scheme.batch(topology, [nodes[0] for nodes in chosen], offsets,
                         [node for nodes in chosen for node in nodes[1:]])
    message_of = np.repeat(np.arange(worms.messages), np.diff(worms.message_offsets))
    worm_of = np.repeat(np.arange(len(worms)), np.diff(worms.destination_offsets))
    sends = set(zip(message_of.tolist(), worms.source.tolist(), strict=True))
    found: dict[int, dict[int, int]] = {}
    for message, source, node in zip(message_of[worm_of].tolist(), worms.source[worm_of].tolist(),
                                     worms.destinations.tolist(), strict=True):
        if (message, node) in sends:
            found.setdefault(source, {}).setdefault(node, message)  # of the fewest destinations
    circle = _shortest(found)
    steps = []
    for node, following in zip(circle, (*circle[1:], *circle[:1]), strict=True):
        source, *destinations = chosen[found[node][following]]
        steps.append((node, following, source, tuple(destinations)))
    return tuple(steps)


def _shortest(edges: dict[int, dict[int, int]]) -> list[int]:
    """A shortest circle of nodes, from one to the next; empty if there is none."""
    best: list[int] = []
    for start in sorted(edges):
        before, queue = {start: start}, deque([start])
        while queue and start not in edges.get(queue[0], ()):
            node = queue.popleft()
            for following in edges.get(node, ()):
                if following not in before:
                    before[following] = node
                    queue.append(following)
        if queue:
            circle = [queue[0]]
            while circle[-1] != start:
                circle.append(before[circle[-1]])
            if not best or len(circle) < len(best):
                best = circle[::-1]
    return best
