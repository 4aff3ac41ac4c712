"""Packets that an interface sends in each step: the paper's figures, a slow schedule beside it, and invariants."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, WormcastError, Worms, find_scheme, topology
from wormcast.algorithms.k_binomial import best_k, steps, tree_worms
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.packet_steps import DISCIPLINES, forwarded_alone, packet_steps

from .k_binomial import reference


def tree(nodes, k):
    return tree_worms(np.arange(nodes, dtype=np.int32), np.array([0, nodes - 1]), k=k, forwarded=True)


def took(nodes, k, packets, discipline="fpfs"):
    return int(packet_steps(tree(nodes, k), packets, discipline).max())


@pytest.mark.parametrize(("nodes", "k", "packets", "expected"), [
    (4, 2, 3, 6), (4, 1, 3, 5),  # Figure 7
    (8, 3, 3, 9), (8, 2, 3, 8),  # Figure 8, and the best tree there
    (4, 2, 1, 2),  # Figure 5
    (8, 3, 1, 3),  # Figure 3
    (5, 3, 2, 5),  # the formula says 6: the root has fewer than 3 children
])
def test_steps_of_the_figures(nodes, k, packets, expected):
    assert took(nodes, k, packets) == expected


def test_figure_7_send_by_send():
    """[step] of each packet to 2, 1 and 3 by the binomial tree; and to 1, 2 and 3 by the linear one."""
    assert packet_steps(tree(4, 2), 3, "fpfs").tolist() == [[1, 3, 5], [2, 4, 6], [2, 4, 6]]
    assert packet_steps(tree(4, 1), 3, "fpfs").tolist() == [[1, 2, 3], [2, 3, 4], [3, 4, 5]]


def test_figure_8():
    """Each packet arrives 3 steps after the one before it, everywhere."""
    assert (np.diff(packet_steps(tree(8, 3), 3, "fpfs"), axis=1) == 3).all()


def test_as_in_the_slow_schedule():
    for nodes in range(2, 65):
        for k in range(1, (nodes - 1).bit_length() + 1):
            worms = tree(nodes, k)
            for packets in (1, 2, 5, 8):
                for discipline in DISCIPLINES:
                    found = packet_steps(worms, packets, discipline)
                    sends = reference.sends(reference.tree(list(range(nodes)), k), 0, packets, discipline)
                    assert sorted((step, sender, to, packet)
                                  for sender, to, row in zip(worms.source, worms.destinations, found, strict=True)
                                  for packet, step in enumerate(row)) == sorted(sends)


def test_the_formula_is_an_upper_bound():
    """Of 2 to 64 nodes, 1 to 8 packets: less in 399 of 2568 cases; equal for 2^k nodes, and at the best k of powers."""
    cases = [(nodes, k, packets) for nodes in range(2, 65) for k in range(1, (nodes - 1).bit_length() + 1)
             for packets in range(1, 9)]
    left = [steps(*case) - took(*case) for case in cases]
    assert (len(cases), min(left), sum(one > 0 for one in left)) == (2568, 0, 399)
    assert all(one == 0 for (nodes, k, _), one in zip(cases, left, strict=True) if nodes == 2**k)
    for nodes in (4, 8, 16, 32, 64):
        for packets in (1, 2, 3, 4, 5, 6, 8, 10, 16, 32):
            k = best_k(nodes, packets)
            assert took(nodes, k, packets) == steps(nodes, k, packets)


def test_no_other_k_takes_fewer_steps_than_the_best():
    for nodes in range(2, 65):
        for packets in range(1, 11):
            k = best_k(nodes, packets)
            assert steps(nodes, k, packets) <= min(took(nodes, other, packets)
                                                   for other in range(1, (nodes - 1).bit_length() + 1))


def residences(k, packets, discipline):
    """Steps from each packet's arrival at a node until its last copy has left it, and from its first copy on, where
    packets come one a step: the node behind the source, which sends to it alone."""
    source, to = np.array([0] + [1] * k, np.int32), np.arange(1, k + 2, dtype=np.int32)
    worms = Worms(np.array([0, k + 1]), source, np.array([0, *range(k)], np.int32), np.array([-1] + [0] * k),
                  np.arange(k + 2), to, tier=np.array([0] + [1] * k, np.int8))
    arrived, *copies = packet_steps(worms, packets, discipline)
    assert arrived.tolist() == list(range(1, packets + 1))
    return (np.max(copies, axis=0) - arrived).tolist(), (np.max(copies, axis=0) - np.min(copies, axis=0) + 1).tolist()


@pytest.mark.parametrize("k", range(1, 7))
@pytest.mark.parametrize("packets", [1, 2, 3, 8])
def test_residence(k, packets):
    """Section 4.2.3: (k - 1) p + 1 steps of each packet by FCFS; by FPFS k from its first copy on, which waits."""
    by_child, _ = residences(k, packets, "fcfs")
    assert by_child == [(packets - i + 1) + (k - 2) * packets + i for i in range(1, packets + 1)]
    by_packet, from_copy = residences(k, packets, "fpfs")
    assert from_copy == [k] * packets
    assert by_packet == [i * (k - 1) + 1 for i in range(1, packets + 1)]
    # less only where there is more than one child and more than one packet; from the first copy on
    assert all((one < other) == (k > 1 and packets > 1) for one, other in zip(from_copy, by_child, strict=True))


def occupied(k, packets, discipline):
    """Most packets that the node has at the end of a step, in `residences`."""
    stays, _ = residences(k, packets, discipline)
    return max(sum(arrived <= step < arrived + stay for arrived, stay in enumerate(stays, start=1))
               for step in range(1, packets * k + 2))


def test_buffers():
    """First child first keeps a whole message; first packet first one packet, and what comes while it sends."""
    for k in range(2, 7):
        for packets in range(2, 9):
            assert occupied(k, packets, "fcfs") == packets
            assert occupied(k, packets, "fpfs") <= packets
    assert [occupied(3, packets, "fpfs") for packets in (2, 3, 6)] == [2, 3, 5]


@pytest.mark.parametrize("name", ["irregular:seed=3", "mesh:4x4", "torus:4x4", "min:b=2,stages=4"])
@pytest.mark.parametrize("packets", [1, 2, 7])
def test_each_packet_once_and_never_before_its_sender_has_it(name, packets):
    network, random = topology(name), np.random.default_rng(packets)
    for order in ("", ":order=random,seed=4", ":order=id,k=3"):
        for _ in range(8):
            source, *destinations = random.permutation(network.nodes)[:random.integers(2, network.nodes)].tolist()
            found = plan(network, find_scheme(f"k-binomial{order}", network), source, destinations, packets=packets)
            for sends in found.slots.values():
                has = {(source, packet): 0 for packet in range(1, packets + 1)}
                for one in sends:
                    assert has[one["node"], one["packet"]] < one["step"]
                    assert (one["to"], one["packet"]) not in has
                    has[one["to"], one["packet"]] = one["step"]
                assert len(has) == packets * (len(destinations) + 1)
                assert len({(one["step"], one["node"]) for one in sends}) == len(sends)  # one send a step


def test_rows_in_another_order_and_many_at_once():
    """A sender's worms are told from the others by their ranks, wherever they are."""
    first, second = tree(8, 3), tree(5, 2)
    order = [2, 0, 3, 5, 1, 4, 6]  # each behind the one that releases it
    place = {row: at for at, row in enumerate(order)}
    worms = Worms(
        np.array([0, 7, 11]), np.concatenate([first.source[order], second.source]),
        np.concatenate([first.rank[order], second.rank]),
        np.concatenate([[place.get(row, -1) for row in first.after[order].tolist()],
                        np.where(second.after < 0, -1, second.after + 7)]),
        np.arange(12), np.concatenate([first.destinations[order], second.destinations]))
    for discipline in DISCIPLINES:
        found = packet_steps(worms, 3, discipline)
        assert found[:7].tolist() == packet_steps(first, 3, discipline)[order].tolist()
        assert found[7:].tolist() == packet_steps(second, 3, discipline).tolist()


def test_who_has_packet_steps():
    network = topology("mesh:4x4")
    assert plan(network, "u-mesh", 0, "all").slots is None
    assert plan(network, "individual", 0, "all").slots is None
    assert plan(network, "binomial", 0, "all").slots is None
    assert plan(network, "k-binomial", 0, "all").slots is not None
    assert plan(network, "k-binomial", 0, [1]).slots is not None
    assert not forwarded_alone(SCHEMES["dual-path"].batch(network, [0], [0, 2], [3, 9]))
    assert not forwarded_alone(SCHEMES["binomial"].batch(network, [0], [0, 2], [3, 9]))


@pytest.mark.parametrize(("packets", "discipline", "sentence"), [
    (0, "fpfs", "packets: 0 is not valid. Allowed: whole numbers from 1"),
    (True, "fpfs", "packets: True is not valid. Allowed: a whole number"),
    (2, "lifo", "discipline: 'lifo' is not valid. Allowed: fpfs, fcfs"),
])
def test_what_is_refused(packets, discipline, sentence):
    with pytest.raises(WormcastError, match=f"^{sentence}.$"):
        packet_steps(tree(4, 2), packets, discipline)
