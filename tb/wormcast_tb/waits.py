"""Patterns of waiting, for idle senders and for back-pressure: endless iterators of bool.

An agent reads the next value each time that it could send a flit, return a credit or report an arrival. If the value is
True, the flit, credit or report waits for a cycle.
"""

import itertools
import random
from collections.abc import Iterator

__all__ = ["always", "in_turns", "never", "sometimes"]


def never() -> Iterator[bool]:
    """Never wait."""
    return itertools.repeat(False)


def always() -> Iterator[bool]:
    """Wait for ever, until the agent gets another pattern."""
    return itertools.repeat(True)


def sometimes(share: float, seed: int = 0) -> Iterator[bool]:
    """Wait at random, each time with the probability ``share``, from 0 to below 1."""
    if not 0 <= share < 1:
        raise ValueError(f"sometimes: share {share} is not valid. Allowed: 0 to below 1.")
    rng = random.Random(seed)
    return (rng.random() < share for _ in itertools.count())


def in_turns(go: int, wait: int) -> Iterator[bool]:
    """Alternate between ``go`` values that are False (do not wait) and ``wait`` values that are True (wait)."""
    return itertools.cycle([False] * go + [True] * wait)
