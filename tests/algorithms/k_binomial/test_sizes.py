"""Number of nodes of a k-binomial tree, and the best k: the paper's numbers, and a search by the definition."""

import pytest

from wormcast.algorithms import WormcastError
from wormcast.algorithms.k_binomial import best_k, covered, first_steps, steps

from . import reference

#: Best k (and steps) by nodes, for 1, 2, 3, 4, 5, 6, 8, 10, 16 and 32 packets.
PACKETS = (1, 2, 3, 4, 5, 6, 8, 10, 16, 32)
BEST = {
    4: "2(2) 1(4) 1(5) 1(6) 1(7) 1(8) 1(10) 1(12) 1(18) 1(34)",
    8: "3(3) 2(6) 2(8) 1(10) 1(11) 1(12) 1(14) 1(16) 1(22) 1(38)",
    16: "4(4) 2(7) 2(9) 2(11) 2(13) 2(15) 2(19) 2(23) 1(30) 1(46)",
    32: "5(5) 2(8) 2(10) 2(12) 2(14) 2(16) 2(20) 2(24) 2(36) 1(62)",
    64: "6(6) 2(10) 2(12) 2(14) 2(16) 2(18) 2(22) 2(26) 2(38) 2(70)",
}


@pytest.mark.parametrize(("k", "nodes"), [
    (1, "1 2 3 4 5 6 7 8 9 10 11"),
    (2, "1 2 4 7 12 20 33 54 88 143 232"),
    (3, "1 2 4 8 15 28 52 96 177 326 600"),
    (4, "1 2 4 8 16 31 60 116 224 432 833"),
])
def test_nodes_by_steps(k, nodes):
    assert " ".join(str(covered(step, k)) for step in range(11)) == nodes


def test_lemma_4():
    """Doubling up to k steps; then one more than the last k numbers add up to."""
    for k in range(1, 13):
        for step in range(20):
            assert covered(step, k) == reference.covers(step, k)
            assert covered(step, k) == (2**step if step <= k else
                                        1 + sum(covered(step - i, k) for i in range(1, k + 1)))


def test_figure_9():
    assert (first_steps(16, 3), first_steps(16, 4)) == (5, 4)


def test_first_steps_are_the_fewest_that_cover_them():
    for k in range(1, 13):
        for nodes in range(1, 200):
            assert first_steps(nodes, k) == reference.first_steps(nodes, k)


@pytest.mark.parametrize("nodes", BEST)
def test_best_k(nodes):
    found = [(best_k(nodes, packets), packets) for packets in PACKETS]
    assert " ".join(f"{k}({steps(nodes, k, packets)})" for k, packets in found) == BEST[nodes]


def test_best_k_is_the_smallest_of_the_best():
    for nodes in range(2, 130):
        for packets in range(1, 20):
            allowed = range(1, (nodes - 1).bit_length() + 1)
            assert best_k(nodes, packets) == min(allowed, key=lambda k: (steps(nodes, k, packets), k))


def test_best_k_falls_to_1():
    """Section 4.3.4: the same for a range of packets, and 1 in the end."""
    for nodes in range(2, 300):
        found = [best_k(nodes, packets) for packets in range(1, nodes + 1)]
        assert found == sorted(found, reverse=True)
        assert found[-1] == 1


def test_a_node_alone():
    assert (best_k(1, 5), first_steps(1, 3), covered(0, 1)) == (1, 0, 1)


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: covered(3, 0), "k: 0 is not valid. Allowed: whole numbers from 1"),
    (lambda: covered(-1, 2), "steps: -1 is not valid. Allowed: whole numbers from 0"),
    (lambda: first_steps(0, 2), "nodes: 0 is not valid. Allowed: whole numbers from 1"),
    (lambda: first_steps(4, -2), "k: -2 is not valid. Allowed: whole numbers from 1"),
    (lambda: steps(4, 2, 0), "packets: 0 is not valid. Allowed: whole numbers from 1"),
    (lambda: best_k(4, 0), "packets: 0 is not valid. Allowed: whole numbers from 1"),
    (lambda: best_k(4, 1.5), "packets: 1.5 is not valid. Allowed: a whole number"),
])
def test_what_is_refused(call, sentence):
    with pytest.raises(WormcastError) as refused:
        call()
    assert str(refused.value) == f"{sentence}."
