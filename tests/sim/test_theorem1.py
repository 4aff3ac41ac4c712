"""Theorem 1 of [Hou] on the routers: in a tree that meets its conditions no message comes late on another's account."""

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.theory.contention import contention

from ..algorithms.trees import Given
from .waiting_trees import Arena, grow, late, ways_on

TIMES = [{}, {"t_hr": 20}, {"t_hs": 7}, {"t_hs": 60, "t_hr": 60}]


def draw(name, count, seed, *, keep=True):
    random, ways, nodes = np.random.default_rng(seed), ways_on(name), topology(name).nodes
    trees = []
    while len(trees) < count:
        tree = grow(random, ways, nodes, keep=keep)
        if len(tree[1]) > 1:
            trees.append(tree)
    return trees, random.choice([1, 2, 3, 5, 8, 20, 60], count).tolist()


@pytest.mark.parametrize(("name", "count", "seed"), [
    ("torus:4x4", 100, 0), slow("torus:4x4", 700, 1), slow("torus:5x5", 800, 2), slow("torus:8x8", 900, 3),
    slow("mesh:5x5", 100, 4)])
def test_a_tree_that_meets_the_conditions_has_no_wait_for_another_sender(name, count, seed):
    """So many under each of four pairs of t_s and t_r: 10 400 trees in all."""
    network = topology(name)
    for number, options in enumerate(TIMES):
        trees, lengths = draw(name, count, (seed, number))
        for root, unicasts in trees[:25]:
            assert contention(plan(network, Given(unicasts), root, [node for _, node, _ in unicasts])).free
        for tree, length, waits in zip(trees, lengths, late(Arena(name, **options), trees, lengths), strict=True):
            assert max(waits) <= 0, (name, options, length, tree, waits)


def test_trees_that_violate_them_wait_and_the_pair_is_told():
    trees, lengths = draw("torus:4x4", 200, 5, keep=False)
    network = topology("torus:4x4")
    waited = 0
    for (root, unicasts), waits in zip(trees, late(Arena("torus:4x4"), trees, lengths), strict=True):
        seen = contention(plan(network, Given(unicasts), root, [node for _, node, _ in unicasts]))
        if max(waits) > 0:
            waited += 1
            assert seen.violations
    assert waited > 10
