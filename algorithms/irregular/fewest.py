"""The least that chains could do for a multicast, by going through all of it: references for what greedy ones do."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from ..topologies.base import Topology
from ..topologies.coordinates import levels
from .chains import descent

__all__ = ["all_covers", "fewest_steps"]


def all_covers(topology: Topology, switches: Iterable[int]) -> list[list[list[int]]]:
    """List all ways to divide switches into chains, each with its chains from the top downwards.

    From each switch of a chain links down lead to the next. Their number grows as fast as that of all partitions: of
    eight switches there are up to 4140.
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
    """Count the steps that worms take at least, whichever goes first: in each step who has the message sends one.

    Parameters
    ----------
    worms : tuple of int
        How many destinations each of them has, which may send from the next step on.
    senders : int
        Who has the message.
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
