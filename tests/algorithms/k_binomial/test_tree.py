"""The tree on a chain: the paper's examples, the recursion by its definition, and what every such tree is."""

import numpy as np
import pytest

from wormcast.algorithms.k_binomial import BEST, BINOMIAL, best_k, first_steps, tree_worms
from wormcast.algorithms.worms import AT_ONCE, HOST, INTERFACE, steps_of

from . import reference


def built(nodes, k, **options):
    return tree_worms(np.arange(nodes, dtype=np.int32), np.array([0, nodes - 1]), k=k, forwarded=True, **options)


def children(worms):
    found = {}
    for sender, rank, to in zip(worms.source.tolist(), worms.rank.tolist(), worms.destinations.tolist(), strict=True):
        found.setdefault(sender, []).append(to)
        assert len(found[sender]) == rank + 1
    return found


def test_eight_nodes_of_three_children():
    assert children(built(8, 3)) == {0: [4, 2, 1], 4: [6, 5], 6: [7], 2: [3]}


def test_figure_9():
    assert [max(steps_of(built(16, k))) for k in (3, 4)] == [5, 4]
    # as Figure 10 counts from the right end, the first block is all that is left: in 4 steps 15 nodes can be covered
    assert [children(built(16, k))[0] for k in (3, 4)] == [[1], [8, 4, 2, 1]]


def test_figure_7():
    """Both trees on four nodes: binomial, and linear."""
    assert children(built(4, 2)) == {0: [2, 1], 2: [3]}
    assert children(built(4, 1)) == {0: [1], 1: [2], 2: [3]}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 12])
def test_by_definition(k):
    for nodes in range(2, 100):
        worms = built(nodes, k)
        wanted = reference.tree(list(range(nodes)), k)
        assert children(worms) == {node: there for node, there in wanted.items() if there}
        # each worm comes after the one to its sender, and the first packet is everywhere after L1 steps
        receipt = {to: row for row, to in enumerate(worms.destinations.tolist())}
        assert worms.after.tolist() == [receipt.get(sender, AT_ONCE) for sender in worms.source.tolist()]
        assert max(steps_of(worms)) == first_steps(nodes, k)


def test_with_many_children_it_is_binomial():
    for nodes in range(2, 200):
        assert max(steps_of(built(nodes, BINOMIAL))) == (nodes - 1).bit_length()


def test_those_of_a_sender_are_neighbours_and_its_first_child_goes_on_first():
    assert built(8, 3).source.tolist() == [0, 0, 0, 4, 4, 6, 2]


def test_who_sends():
    """The source's host; then network interfaces, or hosts."""
    assert built(8, 3).tier.tolist() == [HOST] * 3 + [INTERFACE] * 4
    hosts = tree_worms(np.arange(8, dtype=np.int32), np.array([0, 7]), k=3, forwarded=False)
    assert hosts.tier.tolist() == [HOST] * 7


def test_many_at_once_are_as_one_by_one():
    random = np.random.default_rng(3)
    sizes = random.integers(2, 70, 50)
    chains = [random.permutation(99)[:size].astype(np.int32) for size in sizes]
    offsets = np.concatenate([[0], np.cumsum(sizes - 1)])
    for k, packets in ((2, 1), (BEST, 3), (BINOMIAL, 1)):
        together = tree_worms(np.concatenate(chains), offsets, k=k, packets=packets, forwarded=True)
        alone = [tree_worms(chain, np.array([0, len(chain) - 1]), k=k, packets=packets, forwarded=True)
                 for chain in chains]
        for field in ("source", "rank", "destinations", "tier"):
            assert getattr(together, field).tolist() == [
                one for worms in alone for one in getattr(worms, field).tolist()]
        assert together.message_offsets.tolist() == offsets.tolist()
        first = np.repeat(offsets[:-1], sizes - 1)
        assert np.where(together.after < 0, AT_ONCE, together.after - first).tolist() == [
            one for worms in alone for one in worms.after.tolist()]


def test_the_best_k_is_taken_for_each():
    for nodes in (2, 3, 9, 16, 33):
        for packets in (1, 2, 5, 40):
            assert children(built(nodes, BEST, packets=packets)) == children(built(nodes, best_k(nodes, packets)))


def test_no_message_at_all():
    assert len(tree_worms(np.empty(0, np.int32), np.zeros(1, np.int64), k=2, forwarded=True)) == 0
