"""Exhaustive search for the best chains and sending orders: references for the greedy algorithms."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from ..topologies.base import Topology
from ..topologies.coordinates import levels
from .chains import descent

__all__ = ["all_covers", "fewest_steps"]


def all_covers(topology: Topology, switches: Iterable[int]) -> list[list[list[int]]]:
    """List all partitions of switches into chains, each chain from the top downwards.

    Links down lead from each switch of a chain to the next. The number of partitions grows as the Bell numbers: eight
    switches have up to 4140.
    """
    below, level = descent(topology).below, levels(topology)
    covers: list[list[list[int]]] = [[]]
    for switch in sorted(switches, key=lambda one: int(level[one])):
        covers = [[*cover[:place], [*chain, switch], *cover[place + 1:]]
                  for cover in covers for place, chain in enumerate([*cover, []])
                  if not chain or below[chain[-1], switch]]
    return covers


@lru_cache(maxsize=1 << 16)
def fewest_steps(worms: Sequence[int], senders: int = 1) -> int:
    """Return the fewest steps to send some worms, over all orders. In each step every node with the message sends one
    worm.

    Parameters
    ----------
    worms : tuple of int
        Number of destinations of each worm; from the next step on, these destinations may send worms too.
    senders : int
        Number of nodes that have the message at first.
    """
    if len(worms) <= senders:
        return int(bool(worms))
    firsts = set(combinations(sorted(worms), senders))
    return 1 + min(fewest_steps(_without(worms, first), senders + sum(first)) for first in firsts)


def _without(worms: Sequence[int], some: Iterable[int]) -> tuple[int, ...]:
    left = sorted(worms)
    for one in some:
        left.remove(one)
    return tuple(left)
