"""Cycles of smart interfaces that forward packets to each other and have too few packet buffer entries."""

from collections import deque

import numpy as np

from ..schemes import Scheme
from ..topologies import Topology

__all__ = ["MULTICASTS", "Step", "circle_of_interfaces"]

#: Number of random multicasts, and the largest number of destinations of a multicast.
MULTICASTS, MOST_DESTINATIONS = 4096, 8

Step = tuple[int, int, int, tuple[int, ...]]
"""A node of a cycle, the next node, and the source and destinations of a multicast. In this multicast, the first node's
interface sends packets to the next node, whose interface forwards them."""


def circle_of_interfaces(topology: Topology, scheme: Scheme, seed: int = 0) -> tuple[Step, ...]:
    """Find a shortest cycle of nodes in which each node sends the next one packets that the next one forwards.

    An interface may have fewer packet buffer entries than a message has packets, and stored packets keep their entries
    until their copies are sent. Each copy waits for a consumption channel of the next node, and the worm in that
    channel waits for a packet buffer entry of the next node. Around a cycle of interfaces the packets may wait for
    ever. The search draws `MULTICASTS` random multicasts of the scheme. The result is empty if the search finds no
    cycle. An empty result does not prove that no cycle exists.
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
            found.setdefault(source, {}).setdefault(node, message)  # messages are sorted, fewest destinations first
    circle = _shortest(found)
    steps = []
    for node, following in zip(circle, (*circle[1:], *circle[:1]), strict=True):
        source, *destinations = chosen[found[node][following]]
        steps.append((node, following, source, tuple(destinations)))
    return tuple(steps)


def _shortest(edges: dict[int, dict[int, int]]) -> list[int]:
    """Return a shortest cycle of nodes. The result is empty if there is no cycle."""
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
