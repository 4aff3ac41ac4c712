"""Reachability strings and trees: Figures 17 and 18, and on random networks."""

import pytest
from cases import slow

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import UP_DOWN_TREE, goes_up, reachability

from . import reference
from .example import DESTINATIONS, SOURCE, example
from .networks import drawn
from .reference import Graph


def links(multicast):
    """The links of a tree by the numbers of the example's switches."""
    [worm] = multicast.worms
    return [(start + 1, end + 1) for start, end in worm.links]


class TestExample:
    @pytest.mark.parametrize("more", ["", "4-7"])
    def test_each_destination_is_reached_once_over_ten_links(self, tmp_path, more):
        found = links(plan(example(tmp_path, more), "tree", SOURCE, DESTINATIONS))
        assert found[:2] == [(10, 5), (5, 6)]
        assert len(found) == len(set(found)) == 10
        assert {end for _, end in found[2:]} == {1, 2, 3, 4, 5, 7, 8, 9}

    @pytest.mark.parametrize(("more", "keeps", "deliveries", "twice"), [
        ("", "highest", 20, {4, 8}), ("4-7", "highest", 24, {4, 7, 8}), ("", "lowest", 16, set()),
    ])
    def test_without_modified_headers_some_come_twice(self, tmp_path, more, keeps, deliveries, twice):
        found = example(tmp_path, more)
        _, delivered = reference.copies(Graph(found), reachability(found).up.tolist(), 9, DESTINATIONS, keeps=keeps,
                                        modified=False)
        assert len(delivered) == deliveries
        assert {one // 2 + 1 for one in delivered if delivered.count(one) > 1} == twice
        _, delivered = reference.copies(Graph(found), reachability(found).up.tolist(), 9, DESTINATIONS, keeps=keeps)
        assert sorted(delivered) == sorted(DESTINATIONS)

    @pytest.mark.parametrize(("keeps", "to_1", "to_4", "to_5"), [("highest", 6, 4, 8), ("lowest", 10, 0, 8)])
    def test_strings_of_the_root(self, tmp_path, keeps, to_1, to_4, to_5):
        """The footnote of section 5.3.2 has the port to 1 keep what it shares with the port to 4."""
        strings = reachability(example(tmp_path), keeps).restricted[5]
        assert strings.sum(axis=1).tolist() == [to_1, to_4, to_5, 1, 1, 0]

    def test_links_up(self, tmp_path):
        found = example(tmp_path)
        up = reachability(found).up.tolist()
        above = [0 if port < 0 else int(found.neighbours[switch, port]) + 1 for switch, port in enumerate(up)]
        assert above == [6, 1, 5, 6, 6, 0, 1, 4, 3, 5]


@pytest.mark.parametrize("keeps", ["highest", "lowest"])
@pytest.mark.parametrize("seeds", [range(40), slow(range(40, 1000))])
def test_strings_are_those_of_figure_18(keeps, seeds):
    for seed in seeds:
        found, _, _ = drawn(seed)
        strings, (ports, total) = reachability(found, keeps), reference.strings(Graph(found), keeps)
        for switch in range(found.switches):
            assert as_bits(strings.total[switch]) == total[switch]
            assert {port: as_bits(row) for port, row in enumerate(strings.restricted[switch]) if row.any()} == {
                port: string for (at, port), string in ports.items() if at == switch and string}


def as_bits(string):
    return sum(1 << node for node, has in enumerate(string.tolist()) if has)


@pytest.mark.parametrize("seeds", [range(40), slow(range(40, 1000))])
def test_trees_of_random_networks(seeds):
    """A tree takes the links that its copies take with modified headers, each once, and never one up after one down."""
    for seed in seeds:
        found, source, destinations = drawn(seed)
        graph, up = Graph(found), reachability(found).up.tolist()
        [worm] = plan(found, "tree", source, destinations).worms
        taken, delivered = reference.copies(graph, up, graph.home[source], destinations)
        assert sorted(delivered) == sorted(destinations)
        assert sorted(worm.links) == sorted(taken)
        assert len(set(taken)) == len(taken)
        for (start, end), before in zip(worm.links, worm.before, strict=True):
            if before is not None and not graph.up(*worm.links[before]):
                assert not graph.up(start, end), seed
            assert start == (graph.home[source] if before is None else worm.links[before][1])
        arrivals = plan(found, "tree", source, destinations).arrivals(worm)
        assert [graph.home[source] if hop is None else worm.links[hop][1] for hop in arrivals] == [
            graph.home[one] for one in worm.destinations]


def test_a_tree_to_one_destination_goes_as_the_relation_does():
    found = topology("irregular:seed=3")
    routes = UP_DOWN_TREE.on(found)
    up = goes_up(found)
    for source in range(0, found.nodes, 5):
        for to in range(found.nodes):
            if to == source:
                continue
            channels = routes.channels(source, [to])
            [worm] = plan(found, "tree", source, [to]).worms
            assert list(worm.links) == [tuple(found.links[link, [0, 2]].tolist()) for link in channels]
            ways = up[channels].tolist()
            assert ways == sorted(ways, reverse=True)


def test_another_relation_is_refused():
    with pytest.raises(WormcastError, match=r"^scheme tree: relation up-down is not valid\. Allowed: up-down-tree, "
                       r"up-down-tree-any, up-down-tree-adaptive\.$"):
        find_scheme("tree", topology("irregular:seed=1"), "up-down")
