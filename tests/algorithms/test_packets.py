"""Section 4.3 of [Sivaram98]: what is said of packets along trees, decided and by search; links that they share."""

import functools
from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from wormcast.algorithms import explain, find_scheme, topology
from wormcast.algorithms.k_binomial import best_k, steps
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.packet_steps import packet_steps
from wormcast.algorithms.theory.conflicts import conflicts
from wormcast.algorithms.theory.packet_trees import PacketTree, _worms, ordered_trees

from .k_binomial import reference

NETWORK = topology("mesh:8x8")


def stated(scheme, network=NETWORK):
    return {one.statement: one for one in explain(network, find_scheme(scheme, network)) if one.source == "Sivaram98"}


class TestStatements:
    def test_all_hold(self):
        found = stated("k-binomial")
        assert list(found) == ["Lemma 1", "Lemma 2", "Lemma 3", "Theorem 1", "Theorem 2", "Lemma 4", "Theorem 3",
                               "All trees"]
        assert all(one.holds for one in found.values())

    def test_the_numbers(self):
        """All trees on 2 to 64 nodes, and 2568 cases of them with 1 to 8 packets; 168 whose root does not have most
        children, where the two lemmas and theorems say nothing."""
        found = stated("k-binomial")
        assert found["Lemma 1"].found == {"trees": 321, "wrong": 0}
        assert found["Lemma 2"].found == {"trees": 153, "wrong": 0}
        assert found["Theorem 1"].found == {"trees": 153, "largest": 0, "wrong": 0}
        assert found["Theorem 2"].found == {"trees": 153, "cases": 2568, "more": 0, "fewer": 399, "wrong": 0}
        assert found["Theorem 3"].found == {"cases": 504, "wrong": 0}
        # 1 + 2 + 5 + 14 + 42 + 132 + 429 + 1430 trees
        assert found["All trees"].found == {"trees": 2055, "cases": 64, "wrong": 0}
        assert "excludes 168 other trees, in which a node has more children than the root" in found["Lemma 2"].sentence

    def test_of_a_given_k(self):
        found = stated("k-binomial:k=2", topology("mesh:4x4"))
        assert found["Lemma 1"].found == {"trees": 15, "wrong": 0}
        assert all(one.holds for one in found.values())

    def test_of_schemes_that_hosts_send_nothing_is_said(self):
        assert stated("binomial", topology("mesh:3x3")) == {}


def test_a_tree_whose_root_has_fewer_children():
    """Five nodes, three children at most: one block of four is left, whose first node has two."""
    tree = PacketTree(5, 3)
    assert tree.children.tolist() == [1, 2, 0, 1, 0]
    assert not tree.root_has_most
    assert tree.delays[:, 0].tolist() == [0, 1, 2, 2, 2]
    assert tree.completed[:2].tolist() == [3, 5]
    assert steps(5, 3, 2) == 6


@functools.cache
def forests(nodes):
    """All ordered forests of so many nodes, as tuples of trees, a tree as the tuple of its subtrees."""
    return [()] if nodes == 0 else [(first, *rest) for size in range(nodes) for first in forests(size)
                                    for rest in forests(nodes - 1 - size)]


def listed(tree):
    """The children of each node of a tree, numbered from its root, 0."""
    found, ahead = {}, [(0, tree)]
    for node, there in ahead:
        found[node] = [len(ahead) + place for place in range(len(there))]
        ahead += [(len(ahead) + place, child) for place, child in enumerate(there)]
    return found


@pytest.mark.parametrize("nodes", range(2, 10))
def test_theorem_3_among_all_trees(nodes):
    """No tree at all takes fewer steps, first packet first, than the k-binomial tree of the best k."""
    trees = forests(nodes - 1)
    assert len(trees) == {2: 1, 3: 2, 4: 5, 5: 14, 6: 42, 7: 132, 8: 429, 9: 1430}[nodes]
    for packets in (1, 2, 3, 4, 6):
        least = min(reference.sends(listed(tree), 0, packets, "fpfs")[-1][0] for tree in trees)
        assert least == steps(nodes, best_k(nodes, packets), packets)


@pytest.mark.parametrize("nodes", [2, 5, 7])
def test_all_ordered_trees_as_parents(nodes):
    """Numbered in preorder, each tree once, with the steps of the independent model."""
    trees = list(ordered_trees(nodes))
    assert len(set(trees)) == len(trees) == len(forests(nodes - 1))
    found = packet_steps(_worms(trees), 3, "fpfs").reshape(len(trees), nodes - 1, 3)
    for parents, steps_of_tree in zip(trees, found, strict=True):
        children = {node: [child for child, parent in enumerate(parents, 1) if parent == node] for node in range(nodes)}
        assert steps_of_tree.max() == reference.sends(children, 0, 3, "fpfs")[-1][0]


def test_as_many_children_as_it_takes_to_double_and_no_more():
    """Section 4.3.3: L1 falls up to ceil(log2(n)) children of the root, and rises with more: here a root with d
    children, below each the best tree."""
    def least(nodes, children):
        """Fewest steps of a single packet, by a search of the sizes of what is below the root's children."""
        @functools.cache
        def ways(left, child):
            if child == children:
                return 0 if left == 0 else 10**9
            return min((max(child + 1 + (size - 1).bit_length(), ways(left - size, child + 1))
                        for size in range(1, left + 1)), default=10**9)
        return ways(nodes - 1, 0)

    for nodes in range(2, 33):
        enough = (nodes - 1).bit_length()
        found = [least(nodes, children) for children in range(1, nodes)]
        assert min(found) == found[enough - 1] == enough
        assert found[:enough] == sorted(found[:enough], reverse=True)
        assert found[enough - 1:] == sorted(found[enough - 1:])


def drawn(name, k, packets):
    return plan(topology(name), f"k-binomial:k={k}", 0, "all", packets=packets)


@pytest.mark.parametrize(("name", "k", "packets", "pairs"), [
    ("mesh:1x7", 2, 2, 1), ("mesh:1x64", 3, 8, 146), ("mesh:8x8", 3, 8, 27),
    ("mesh:1x64", 3, 1, 0), ("mesh:8x8", 3, 1, 0), ("mesh:1x64", 1, 8, 0), ("mesh:8x8", 1, 8, 0),
])
def test_packets_of_one_step_share_links(name, k, packets, pairs):
    """On contention-free orders: none of a single packet, nor along a line of nodes; some where several overlap."""
    assert len(conflicts(drawn(name, k, packets))) == pairs


def test_the_smallest_case():
    """On a line of 7 the source sends its second packet to 3 while 1 sends the first to 2."""
    multicast = drawn("mesh:1x7", 2, 2)
    [found] = conflicts(multicast)
    assert found.to_dict(multicast) == {"step": 3, "worms": [0, 5], "packets": [2, 1], "link": "1>2"}
    assert [(multicast.worms[one].source, *multicast.worms[one].destinations) for one in found.worms] == [
        (0, 3), (1, 2)]


def test_first_child_first_none_do():
    """The paper does not say so: all packets to the far child are on their way before those to the nearer."""
    for name in (*(f"mesh:1x{nodes}" for nodes in range(3, 40, 4)), "mesh:8x8", "mesh:5x7", "mesh:3x4x5"):
        for k in (2, 3, 4):
            for packets in (2, 5, 8):
                assert conflicts(drawn(name, k, packets), "fcfs") == []


@pytest.mark.parametrize("discipline", ["fpfs", "fcfs"])
def test_conflicts_are_all_pairs_that_share_a_link_in_a_step(discipline):
    random = np.random.default_rng(4)
    for name in ("irregular:seed=2", "mesh:5x5", "torus:4x4", "min:b=2,stages=4"):
        network = topology(name)
        for packets in (1, 3):
            source, *destinations = random.permutation(network.nodes)[:14].tolist()
            found = plan(network, "k-binomial:order=random,k=3", source, destinations, packets=packets)
            sends = {worm.destinations[0]: worm for worm in found.worms}
            wanted = Counter()
            for one, other in combinations(found.slots[discipline], 2):
                first, second = sends[one["to"]], sends[other["to"]]
                if one["step"] == other["step"] and set(first.links) & set(second.links):
                    wanted[one["step"], frozenset([(first.id, one["packet"]), (second.id, other["packet"])])] += 1
            told = conflicts(found, discipline)
            assert Counter((one.step, frozenset(zip(one.worms, one.packets, strict=True))) for one in told) == wanted
            ends = network.links[:, [0, 2]].tolist()
            assert all(tuple(ends[one.link]) in found.worms[worm].links for one in told for worm in one.worms)
            assert all(one.step <= other.step for one, other in pairwise(told))


def test_the_order_of_chains_has_the_fewest_on_irregular_networks():
    """Section 4.3.4: no order is free of contention; that by chains of switches has least, of one packet and four."""
    random = np.random.default_rng(0)
    pairs = Counter()
    for seed in (1, 2, 3, 5, 8):
        network = topology(f"irregular:seed={seed}")
        for _ in range(40):
            source, *destinations = random.permutation(32)[:13].tolist()
            for order in ("cco", "id", "random"):
                for packets in (1, 4):
                    found = plan(network, f"k-binomial:order={order}", source, destinations, packets=packets)
                    pairs[order, packets] += len(conflicts(found))
    for packets in (1, 4):
        assert 0 < pairs["cco", packets] < pairs["id", packets] < pairs["random", packets] / 2


def test_of_what_hosts_send_there_are_no_packet_steps():
    assert conflicts(plan(NETWORK, "binomial", 0, "all")) is None


def test_not_even_one_packet_keeps_all_edges_apart():
    """The printed definition, that all edges of the tree are disjoint, fails on a line of four: 0 to 2, and 0 to 1."""
    first, second, _ = drawn("mesh:1x4", 2, 1).worms
    assert set(first.links) & set(second.links) == {(0, 1)}
