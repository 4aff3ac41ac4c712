"""Definition 1 and Theorem 1 of [Hou] over plans: against sets and loops, and the numbers of the known broadcasts."""

from itertools import combinations

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import with_ties
from wormcast.algorithms.theory.contention import contention

from . import tree_reference
from .trees import Given, random_tree


def found(name, n, ties):
    network = topology(f"torus:{n}x{n}")
    scheme = SCHEMES[name]
    return contention(plan(network, scheme.routed_by(with_ties(scheme.relation, network, ties)), 0, "all"))


def brute(multicast):
    unicasts = [(worm.source, worm.destinations[0], worm.step) for worm in multicast.worms]
    return tree_reference.contention(multicast.source, unicasts, [worm.links for worm in multicast.worms])


def agree(multicast):
    seen, (same_step, conditions) = contention(multicast), brute(multicast)
    assert {(pair.first, pair.second) for pair in seen.stepwise} == same_step
    assert {(pair.first, pair.second) for pair in seen.violations} == {
        pair for pair, condition in conditions.items() if condition is None}
    assert seen.conditions == {k: list(conditions.values()).count(k) for k in (1, 3, 4)}
    links = multicast.topology.links
    assert all(links[list(worm.link_rows)][:, [0, 2]].tolist() == list(map(list, worm.links))
               for worm in multicast.worms if worm.links)
    for pair in (*seen.stepwise, *seen.violations):
        hop = (int(links[pair.link, 0]), int(links[pair.link, 2]))
        assert hop in multicast.worms[pair.first].links
        assert hop in multicast.worms[pair.second].links
    return seen


@pytest.mark.parametrize("name", ["mesh:4x4", "torus:4x4", "torus:5x5"])
def test_random_trees_against_sets_and_loops(name):
    network, random = topology(name), np.random.default_rng(1)
    conditions, free = dict.fromkeys((1, 3, 4), 0), 0
    for _ in range(100):
        root, tree = random_tree(random, network.nodes, int(random.integers(1, network.nodes)))
        seen = agree(plan(network, Given(tree), root, [node for _, node, _ in tree]))
        free += seen.free
        for number, count in seen.conditions.items():
            conditions[number] += count
    assert min(conditions.values()) > 10
    assert 5 < free < 95


@pytest.mark.parametrize(("name", "n"), [("dcf", 8), ("edn", 8), ("z", 8), ("u-torus", 8), ("tseng", 5)])
def test_broadcasts_against_sets_and_loops(name, n):
    agree(plan(topology(f"torus:{n}x{n}"), name, 0, "all"))


def test_parallel_links_are_different_links():
    seen = found("z", 2, "signed")  # both nodes of a ring of two are joined by two links, one for each sign
    both = [one for one, other in combinations(seen.plan.worms, 2) if {*one.links} & {*other.links}]
    assert both
    assert seen.free


@pytest.mark.parametrize("ties", ["plus", "signed"])
@pytest.mark.parametrize("name", ["dcf", "dcf-2"])
@pytest.mark.parametrize("n", [4, 8, 16, 32, slow(64)])
def test_dcf_is_depth_contention_free(name, n, ties):
    seen = found(name, n, ties)
    assert seen.free
    assert seen.stepwise == seen.violations == ()
    if (name, n) == ("dcf", 16):
        assert seen.conditions == {1: 8, 3: 37, 4: 2}
    if n == 4:
        assert seen.shared == 1  # S's worms to A and to (1, 0)


@pytest.mark.parametrize(("name", "n", "violations"), [
    ("edn", 4, 0), ("edn", 8, 1), ("edn", 16, 3), ("edn", 32, 25), ("z", 4, 1), ("z", 8, 8), ("tseng", 5, 0),
    ("tseng", 25, 48)])
def test_others_are_free_within_steps_alone(name, n, violations):
    seen = found(name, n, "signed")
    assert all(seen.definition.values())
    assert not seen.stepwise
    assert len(seen.violations) == violations
    assert seen.free == (violations == 0)


@pytest.mark.parametrize("n", [4, 8, 16])
def test_with_ties_upwards_edn_sends_two_worms_by_one_link_in_a_step(n):
    seen = found("edn", n, "plus")
    assert seen.definition == {1: True, 2: True, 3: False, 4: True}
    assert not seen.free
    assert [(pair.first, pair.second) for pair in seen.stepwise] == [(1, 2)]


def test_definition_1():
    """A node that sends in the step of its receipt; another one than the source in step 1; two by a link in a step."""
    network = topology("mesh:1x5")

    def broken(root, *tree):
        seen = contention(plan(network, Given(list(tree)), root, [node for _, node, _ in tree]))
        return [number for number, holds in seen.definition.items() if not holds]

    assert broken(0, (0, 1, 1), (1, 2, 2), (2, 3, 3)) == []
    assert broken(0, (0, 1, 1), (1, 2, 1)) == [1, 2]
    assert broken(0, (0, 1, 2), (1, 2, 2)) == [2]
    assert broken(0, (0, 1, 1), (0, 2, 1)) == [3]
    assert broken(2, (2, 1, 1), (2, 3, 1)) == []


def test_worms_of_several_destinations_are_none_of_its_business():
    assert contention(plan(topology("mesh:4x4"), "dual-path", 0, [5, 6])) is None


def test_resources_are_named_as_everywhere():
    pair = found("edn", 8, "signed").violations[0]
    seen = found("edn", 8, "signed").to_dict()
    assert seen["violations"] == [[pair.first, pair.second, seen["violations"][0][2]]]
    assert seen["violations"][0][2].startswith("link:")
