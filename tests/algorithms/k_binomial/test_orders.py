"""Orders of a source and its destinations: each by its definition, the source first."""

import math

import numpy as np
import pytest

from wormcast.algorithms import MessageBatch, WormcastError, topology
from wormcast.algorithms.irregular import chains
from wormcast.algorithms.k_binomial.orders import ORDERS, chains_of, require_order, usual_order

from ..irregular.networks import drawn


def chain(order, network, source, destinations, **options):
    found = chains_of(order, network, MessageBatch(np.array([source], np.int32), np.array([0, len(destinations)]),
                                                   np.array(destinations, np.int32)), **options)
    return found.tolist()


def turned(nodes, source):
    at = nodes.index(source)
    return nodes[at:] + nodes[:at]


def test_by_id():
    assert chain("id", topology("mesh:4x4"), 7, [9, 2, 15, 0]) == [7, 0, 2, 9, 15]


@pytest.mark.parametrize("name", ["mesh:4x5", "torus:3x4", "mesh:2x3x4", "ring:9"])
def test_by_dimension(name):
    """Sorted by the last coordinate, then the one before, and turned."""
    network = topology(name)
    random = np.random.default_rng(1)
    for _ in range(20):
        source, *destinations = random.permutation(network.nodes)[:random.integers(2, network.nodes)].tolist()
        ordered = sorted([source, *destinations], key=lambda one: tuple(network.coordinates[one][::-1]))
        assert chain("dimension", network, source, destinations) == turned(ordered, source)


def test_by_chains_of_switches():
    for seed in range(40):
        network, source, destinations = drawn(seed)
        homes = network.consumptions[:, 0]
        ordered = [node for one in chains(network, [source, *destinations]) for switch in one
                   for node in sorted([source, *destinations]) if homes[node] == switch]
        assert chain("cco", network, source, destinations) == turned(ordered, source)


def test_at_random():
    """Each seed another order; the same for a set in whatever order it is given, and beside whatever others."""
    network, nodes = topology("mesh:8x8"), list(range(1, 21))
    found = [chain("random", network, 0, nodes, seed=seed) for seed in range(6)]
    assert all(sorted(one) == list(range(21)) and one[0] == 0 for one in found)
    assert len({tuple(one) for one in found}) == 6
    assert chain("random", network, 0, nodes[::-1], seed=3) == found[3]
    assert chain("random", network, 0, nodes[:-1], seed=3) != [one for one in found[3] if one != 20]
    both = chains_of("random", network, MessageBatch(np.array([40, 0], np.int32), np.array([0, 2, 22]),
                                                     np.array([3, 5, *nodes], np.int32)), seed=3)
    assert both.tolist()[3:] == found[3]


def test_random_orders_are_alike_often():
    """Each of the orders of three destinations."""
    network = topology("mesh:8x8")
    counts = {}
    for seed in range(3000):
        order = tuple(chain("random", network, 0, [9, 4, 30], seed=seed))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(abs(count - 500) < 5 * math.sqrt(500) for count in counts.values())


@pytest.mark.parametrize("order", ORDERS)
def test_many_at_once_are_as_one_by_one(order):
    random = np.random.default_rng(5)
    network = topology("mesh:4x4")
    messages = [random.permutation(16)[:random.integers(2, 16)].tolist() for _ in range(30)]
    offsets = np.cumsum([0, *(len(one) - 1 for one in messages)])
    together = chains_of(order, network, MessageBatch(
        np.array([one[0] for one in messages], np.int32), offsets,
        np.array([node for one in messages for node in one[1:]], np.int32)), seed=2)
    assert together.tolist() == [node for one in messages for node in chain(order, network, one[0], one[1:], seed=2)]


@pytest.mark.parametrize(("name", "order"), [
    ("mesh:3x3", "dimension"), ("torus:3x3", "dimension"), ("ring:5", "dimension"), ("min:b=2,stages=2", "id"),
    ("irregular:seed=1", "cco"),
])
def test_usual_orders(name, order):
    assert usual_order(topology(name)) == order
    require_order(order, topology(name), "test")


@pytest.mark.parametrize(("name", "order", "sentence"), [
    ("irregular:seed=1", "dimension", "order dimension is not valid: .* has no dimensions. Allowed: cco, id, random"),
    ("min:b=2,stages=2", "cco",
     "min:b=2,stages=2 is not valid: the numbers of links from switch s0 to switch s2 and back differ: 1 link and 0"),
])
def test_orders_that_a_network_does_not_have(name, order, sentence):
    with pytest.raises(WormcastError, match=f"^test(, order cco)?: {sentence}\\."):
        require_order(order, topology(name), "test")
