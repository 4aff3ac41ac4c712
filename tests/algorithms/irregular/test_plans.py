"""Plans on networks at random: whatever a user's network looks like, each destination gets the message once."""

from itertools import pairwise

import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.algorithms.multicast_plan import plan

from ..networks import network
from .networks import drawn
from .reference import Graph

SWITCH_BASED = ["ssr-g", "ssr-lg", "path-g", "path-lg", "tree"]


def check_path(graph, worm):
    """A path over links, no one up after one down, on which the destinations lie in their order."""
    path = [graph.home[worm.source], *(end for _, end in worm.links)]
    assert list(worm.links) == list(pairwise(path))
    joined = {(start, end) for start, _, end, _ in graph.links}
    assert set(worm.links) <= joined
    ups = [graph.up(*link) for link in worm.links]
    assert ups == sorted(ups, reverse=True)
    at = 0
    for node in worm.destinations:
        at = path.index(graph.home[node], at)
    assert at == len(path) - 1
    homes = [graph.home[node] for node in worm.destinations]
    assert list(worm.destinations) == sorted(worm.destinations, key=lambda node: (homes.index(graph.home[node]), node))


@pytest.mark.parametrize("scheme", SWITCH_BASED)
@pytest.mark.parametrize("seeds", [range(40), slow(range(40, 1000))])
def test_each_destination_is_reached_once_over_legal_hops(scheme, seeds):
    for seed in seeds:
        found, source, destinations = drawn(seed)
        graph, multicast = Graph(found), plan(found, scheme, source, destinations)
        visited = [node for worm in multicast.worms for node in worm.destinations]
        assert sorted(visited) == sorted(destinations), seed
        received = {source: 0}
        for worm in multicast.worms:
            assert received[worm.source] < worm.step
            received |= dict.fromkeys(worm.destinations, worm.step)
            if scheme != "tree":  # of trees tests are in test_reachability
                check_path(graph, worm)


@pytest.mark.parametrize("scheme", SWITCH_BASED)
@pytest.mark.parametrize("name", ["mesh:4x3", "ring:5", "torus:3x3"])
def test_other_networks_with_links_both_ways(scheme, name):
    found = topology(name)
    multicast = plan(found, scheme, 4, "all")
    assert sorted(node for worm in multicast.worms for node in worm.destinations) == [
        node for node in range(found.nodes) if node != 4]


@pytest.mark.parametrize("scheme", SWITCH_BASED)
def test_parallel_links(scheme):
    found = network(2, [(0, 1), (0, 1), (1, 0), (1, 0)], [(0, 0), (0, 0), (1, 1), (1, 1)])
    assert plan(found, scheme, 0, [1, 2, 3]).hops in (1, 2)


@pytest.mark.parametrize("scheme", SWITCH_BASED)
def test_one_way_links_are_refused(scheme):
    ring = network(3, [(0, 1), (1, 2), (2, 0)])
    with pytest.raises(WormcastError, match=f"^scheme {scheme}: hand-made is not valid: the numbers of links from"):
        SCHEMES[scheme].check(ring)
    with pytest.raises(WormcastError, match=f"^scheme {scheme}: min:b=2,stages=2 is not valid: the numbers "):
        plan(topology("min:b=2,stages=2"), scheme, 0, [1])
