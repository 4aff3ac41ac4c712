"""Chains of switches: Figures 13 and 14, Theorem 4, and how far from the fewest they are."""

import random

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.irregular import chains, longest_chain, weights
from wormcast.algorithms.routing import UP_DOWN_ADAPTIVE
from wormcast.algorithms.topologies.coordinates import levels
from wormcast.algorithms.topologies.port_uses import require_both_ways

from ..networks import network
from . import reference
from .example import DESTINATIONS, SOURCE, example
from .networks import drawn
from .reference import Graph


class TestExample:
    """Figure 14, on our network."""

    def test_weights(self, tmp_path):
        found = weights(example(tmp_path), [SOURCE, *DESTINATIONS])
        assert {switch + 1: weight for switch, weight in found.items()} == {
            5: 7, 1: 6, 4: 4, 3: 4, 9: 2, 7: 2, 2: 2, 8: 2, 10: 1}

    def test_chains(self, tmp_path):
        found = chains(example(tmp_path), [SOURCE, *DESTINATIONS])
        assert [[switch + 1 for switch in chain] for chain in found] == [[5, 3, 9], [1, 7], [4, 8], [2], [10]]

    def test_switches_without_participants_are_passed(self, tmp_path):
        found = chains(example(tmp_path), [SOURCE, *(one for one in DESTINATIONS if one // 2 + 1 not in (3, 4))])
        assert [[switch + 1 for switch in chain] for chain in found] == [[1, 7], [5, 9], [8], [2], [10]]


@pytest.mark.parametrize("seeds", [range(60), slow(range(60, 1000))])
def test_weights_and_chains_are_those_of_figure_13(seeds):
    for seed in seeds:
        found, source, destinations = drawn(seed)
        graph, nodes = Graph(found), [source, *destinations]
        assert weights(found, nodes) == reference.weights(graph, nodes), seed
        assert chains(found, nodes) == reference.chains(graph, nodes), seed


@pytest.mark.parametrize("seeds", [range(30), slow(range(30, 1000))])
def test_theorem_4(seeds):
    """Links between levels join neighbouring ones; from a switch of a chain all shortest legal ways to those behind it
    lead down all along, whatever a worm did before."""
    for seed in seeds:
        found, source, destinations = drawn(seed)
        graph, level = Graph(found), levels(found)
        assert abs(level[found.links[:, 0]] - level[found.links[:, 2]]).max() <= 1
        options = UP_DOWN_ADAPTIVE.on(found).options
        node_at = {switch: node for node, switch in graph.home.items()}
        for chain in chains(found, [source, *destinations]):
            for place, switch in enumerate(chain):
                for other in chain[place + 1:]:
                    front, hops = {switch}, 0
                    while front != {other}:
                        ways = [(at, int(port)) for at in front for port in options[0, at, node_at[other]] if port >= 0]
                        front = {int(found.neighbours[way]) for way in ways}
                        hops += 1
                        assert all(level[found.neighbours[way]] == level[way[0]] + 1 for way in ways), seed
                        assert {tuple(options[0, at, node_at[other]]) for at in front} == {
                            tuple(options[1, at, node_at[other]]) for at in front}
                    assert hops == level[other] - level[switch]


@pytest.mark.parametrize("seeds", [range(100), slow(range(100, 1000))])
def test_the_search_for_the_fewest_finds_the_largest_antichain(seeds):
    for seed in seeds:
        found, _, destinations = drawn(seed)
        graph, some = Graph(found), destinations[:9]
        assert reference.fewest(graph, some) == reference.antichain(graph, some), seed


def test_how_far_chains_are_from_the_fewest():
    """Claim of section 5.2.4: a nearly least number of worms. Each network of the paper's size, 20 multicasts to 12."""
    counts = []
    for seed in range(25):
        found = topology(f"irregular:switches=8,ports=8,nodes=32,connectivity=0.8,seed={seed}")
        graph, draw = Graph(found), random.Random(seed)
        for _ in range(20):
            source, *destinations = draw.sample(range(32), 13)
            homes = {graph.home[one] for one in destinations}
            used = sum(bool(homes & set(chain)) for chain in chains(found, [source, *destinations]))
            counts.append((used, reference.fewest(graph, destinations)))
    used, least = np.array(counts).T
    assert (used >= least).all()
    assert (round((used == least).mean(), 3), (used - least).max()) == (0.818, 1)
    assert (round(used.mean(), 2), round(least.mean(), 2)) == (3.18, 3.0)


def test_links_must_go_both_ways():
    ring = network(3, [(0, 1), (1, 2), (2, 0)])
    with pytest.raises(WormcastError, match=r"^mine: hand-made is not valid: the numbers of links from switch 0 to "
                       r"switch 1 and back differ: 1 link and 0\. Allowed: networks whose links go both ways\.$"):
        require_both_ways(ring, "mine")


@pytest.mark.parametrize("seeds", [range(40), slow(range(40, 400))])
def test_the_longest_chain_is_the_longest_that_any_destinations_make(seeds):
    for seed in seeds:
        found, _, _ = drawn(seed)
        children, homes = Graph(found).children(), set(found.consumptions[:, 0].tolist())

        def most(switch, children=children, homes=homes):
            return (switch in homes) + max(map(most, children[switch]), default=0)

        assert longest_chain(found, np.array(sorted(homes))) == max(map(most, range(found.switches))), seed
