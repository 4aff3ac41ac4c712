"""Random number generator of our own, so that a seed always means the same network."""

from collections.abc import MutableSequence
from typing import Any

__all__ = ["SplitMix64"]

BITS = (1 << 64) - 1


class SplitMix64:
    """The generator SplitMix64.

    Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1.
    """

    def __init__(self, seed: int) -> None:
        self._state = seed

    def next(self) -> int:
        """Draw a whole number from 0 to 2**64 - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & BITS
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & BITS
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & BITS
        return mixed ^ (mixed >> 31)

    def below(self, limit: int) -> int:
        """Draw a whole number from 0 to limit - 1."""
        return self.next() * limit >> 64

    def shuffle(self, things: MutableSequence[Any]) -> None:
        """Shuffle a sequence in place."""
        for last in range(len(things) - 1, 0, -1):
            other = self.below(last + 1)
            things[last], things[other] = things[other], things[last]
