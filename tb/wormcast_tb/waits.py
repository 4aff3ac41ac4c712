"""Patterns of waiting, for idle senders and for back-pressure: endless iterators of bool, one value per cycle."""

import itertools
import random
from collections.abc import Iterator

__all__ = ["always", "in_turns", "never", "sometimes"]


def never() -> Iterator[bool]:
    """Never wait."""
    return itertools.repeat(False)


def always() -> Iterator[bool]:
    """Wait in every cycle, until another pattern is set."""
    return itertools.repeat(True)


def sometimes(share: float, seed: int = 0) -> Iterator[bool]:
    """Wait in a share of the cycles, 0 to below 1, at random."""
    if not 0 <= share < 1:
        raise ValueError(f"sometimes: share {share} is not valid. Allowed: 0 to below 1.")
    rng = random.Random(seed)
    return (rng.random() < share for _ in itertools.count())


def in_turns(go: int, wait: int) -> Iterator[bool]:
    """Alternate: do not wait for `go` cycles, then wait for `wait` cycles."""
    return itertools.cycle([False] * go + [True] * wait)
