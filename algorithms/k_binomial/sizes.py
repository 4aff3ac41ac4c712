"""Number of nodes that a k-binomial tree covers in a number of steps, and the best k."""

from ..compiled import LINEAR, compiled_from
from ..errors import WormcastError
from ..topologies.parameters import MOST_NODES
from ..typecheck import require_kind

__all__ = ["MOST_CHILDREN", "best_k", "best_k_of", "covered", "first_steps", "first_steps_of", "steps"]

MOST_CHILDREN = (MOST_NODES - 1).bit_length()
"""Largest useful k: with it, the tree on the largest network is a binomial tree."""


def covered(steps: int, k: int) -> int:
    """Count the nodes that a k-binomial tree covers in a number of steps, its root included: N(s, k).

    A node sends to one other node per step, and to k nodes at most: the root from step 1, others from the step after
    their receipt. Source: [Sivaram98], Lemma 4.

    Parameters
    ----------
    steps : int
        From 0.
    k : int
        Largest number of children of a node, from 1.
    """
    _require("steps", steps, 0)
    _require("k", k, 1)
    found = [1]
    for step in range(1, steps + 1):
        found.append(1 + sum(found[-min(k, step):]))
    return found[steps]


def first_steps(nodes: int, k: int) -> int:
    """Count the steps (L1) in which the first packet covers a number of nodes, root included, along a k-binomial tree.

    Source: [Sivaram98], section 4.3.3.
    """
    _require("nodes", nodes, 1)
    _require("k", k, 1)
    return int(first_steps_of(nodes, k))


def steps(nodes: int, k: int, packets: int) -> int:
    """Count the steps for a number of packets, by the paper's formula: L1 + (packets - 1) k.

    No k-binomial tree needs more steps than the formula states. With several packets, a k-binomial tree in which no
    node has k children needs fewer steps than the formula states. Source: [Sivaram98], Theorem 3.
    """
    _require("packets", packets, 1)
    return first_steps(nodes, k) + (packets - 1) * k


def best_k(nodes: int, packets: int) -> int:
    """Find the smallest k, from 1 to ceil(log2(nodes)), with the fewest `steps`.

    Source: [Sivaram98], Theorem 3.
    """
    _require("nodes", nodes, 1)
    _require("packets", packets, 1)
    return int(best_k_of(nodes, packets))


def _require(name: str, number: int, least: int) -> None:
    require_kind(name, number, int)
    if number < least:
        raise WormcastError(f"{name}: {number} is not valid. Allowed: whole numbers from {least}.")


@compiled_from(LINEAR)
def first_steps_of(nodes, k):
    """`first_steps` for valid numbers (compiled)."""
    last = [1]  # last[s] is N(s), the number of nodes covered in s steps
    total, steps = 1, 0  # total: sum of the last k values of N; N of the next step is 1 + total
    while last[-1] < nodes:
        if len(last) > k:
            total -= last[len(last) - 1 - k]
        last.append(1 + total)
        total += last[-1]
        steps += 1
    return steps


@compiled_from(LINEAR)
def best_k_of(nodes, packets):
    """`best_k` for valid numbers (compiled)."""
    best, fewest = 1, nodes - 1 + packets - 1
    k = 2
    while 1 << (k - 1) < nodes:
        steps = first_steps_of(nodes, k) + (packets - 1) * k
        if steps < fewest:
            best, fewest = k, steps
        k += 1
    return best
