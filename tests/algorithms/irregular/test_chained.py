"""Worms along chains against all other chains, orders and ways, found by other means."""

from collections import Counter
from itertools import permutations

import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, explain, topology
from wormcast.algorithms.irregular import all_covers, fewest_steps
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.theory.path_worm_bounds import drawn_multicasts, piecewise

from . import reference
from .networks import drawn
from .reference import Graph
from .test_check import small


@pytest.mark.parametrize("seeds", [range(60), slow(range(60, 600))])
def test_the_fewest_chains_of_all_covers_are_those_of_the_search(seeds):
    for seed in seeds:
        found, _, destinations = drawn(seed)
        graph, some = Graph(found), destinations[:7]
        covers = all_covers(found, {graph.home[one] for one in some})
        assert min(map(len, covers)) == reference.fewest(graph, some), seed
        assert len({frozenset(map(tuple, cover)) for cover in covers}) == len(covers)
        for cover in covers:
            assert sorted(one for chain in cover for one in chain) == sorted({graph.home[one] for one in some})
            for chain in cover:
                for place, switch in enumerate(chain[1:]):
                    assert switch in reference.descendants(graph.children(), chain[place])


@pytest.mark.parametrize("worms", [(), (3,), (1, 1), (2, 1, 1), (1,) * 6, (5, 1, 1, 1), (2, 2, 1, 1, 1), (1, 1, 1, 4)])
def test_the_fewest_steps_are_those_of_the_best_order(worms):
    def steps(order):
        senders, step, left = 1, 0, list(order)
        while left:
            now, left = left[:senders], left[senders:]
            senders, step = senders + sum(now), step + 1
        return step

    assert fewest_steps(worms) == min(map(steps, permutations(worms)))


def ways(graph, start, ends, *, together):
    """All ways of a worm from a switch to others one after the other, each piece a shortest legal one; ``together``: it
    never goes up after down, on its whole way, or on each piece alone."""
    front = [(start, False, ())]
    for end in ends:
        following = []
        for switch, fell, links in front:
            here = [(switch, fell and together, ())]
            while here and not any(at == end for at, *_ in here):
                here = [(link[2], down or not graph.up(link[0], link[2]), (*way, link)) for at, down, way in here
                        for link in graph.links if link[0] == at and not (down and graph.up(at, link[2]))]
            following += [(at, down, links + way) for at, down, way in here if at == end]
        front = following
    return Counter(links for *_, links in front)


@pytest.mark.parametrize("seeds", [range(12), slow(range(12, 150))])
def test_ways_piece_by_piece_are_those_that_a_walk_finds(seeds):
    """Lemma 5: the same ways wherever links down lead from the first switch to the second."""
    for seed in seeds:
        found = small(seed)
        graph = Graph(found)
        homes = sorted(set(graph.home.values()))
        counts = Counter()
        for one, two in permutations(homes, 2):
            chained = two in reference.descendants(graph.children(), one)
            for start in homes:
                same = ways(graph, start, [one, two], together=True) == ways(graph, start, [one, two], together=False)
                assert same or not chained
                counts[chained, same] += 1
        assert piecewise(found, homes) == counts, seed


@pytest.mark.parametrize("scheme", [slow("path-g"), "path-lg", "ssr-g", "ssr-lg"])
def test_statements_count_what_the_references_do(scheme):
    found = topology("irregular:switches=8,ports=8,nodes=32,connectivity=0.8,seed=3")
    graph, told = Graph(found), {one.statement: one for one in explain(found, SCHEMES[scheme], seed=5)}
    multicasts = drawn_multicasts(found, 5)
    plans = [plan(found, scheme, one.source, one.destinations) for one in multicasts]
    if scheme.startswith("path"):
        least = [reference.fewest(graph, one.destinations) for one in multicasts]
        few = told["Figure 13"].found
        assert (few["worms"], few["least"]) == (sum(one.copies for one in plans), sum(least))
        assert few["fewest"] == sum(one.copies == other for one, other in zip(plans, least, strict=True)) < 200
        assert told["Figure 13"].holds
    assert ("Lemma 5" in told) == ("Figure 13" in told) == scheme.startswith("path")
    assert ("Greedy" in told) == scheme.endswith("-g")
    if "Greedy" in told:
        assert told["Greedy"].holds
        assert told["Greedy"].found["later"] == 0


def test_multicasts_are_drawn_at_few_switches():
    found = topology("irregular:switches=32,ports=8,nodes=128,connectivity=0.8,seed=1")
    homes = found.consumptions[:, 0]
    many = drawn_multicasts(found, 0)
    assert len(many) == 200
    assert {len(set(homes[list(one.destinations)])) for one in many} == set(range(1, 9))
    assert all(one.source not in one.destinations for one in many)
