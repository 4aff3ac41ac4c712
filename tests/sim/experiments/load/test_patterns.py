"""Hot spots and permutations: held against their definitions, enumerated."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import WormcastError, topology
from wormcast.sim.build.patterns import PERMUTATIONS, candidates_of, expected_hot_spots, partners
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.experiments.load.source import Source


def chi_square_fits(found, expected):
    """Return whether counts fit a distribution: chi square deviates by less than five of its standard deviations."""
    found, expected = np.asarray(found, float).ravel(), np.asarray(expected, float).ravel()
    assert (found[expected == 0] == 0).all()
    found, expected = found[expected > 0], expected[expected > 0]
    assert expected.min() > 20
    freedom = len(found) - 1
    return ((found - expected) ** 2 / expected).sum() < freedom + 5 * np.sqrt(2 * freedom)


def reversed_bits(node):
    return int(f"{node:04b}"[::-1], 2)


#: Destination of node ``row.column`` in a square of 9, 16 or 25 nodes, by hand.
BY_HAND = {
    ("transpose", 4): lambda r, c: (c, r),
    ("bit-complement", 4): lambda r, c: (3 - r, 3 - c),
    ("bit-reversal", 4): lambda r, c: divmod(reversed_bits(4 * r + c), 4),
    ("shuffle", 4): lambda r, c: divmod(int(f"{4 * r + c:04b}"[1:] + f"{4 * r + c:04b}"[0], 2), 4),
    ("tornado", 4): lambda r, c: ((r + 1) % 4, (c + 1) % 4),
    ("tornado", 5): lambda r, c: ((r + 2) % 5, (c + 2) % 5),
    ("neighbour", 5): lambda r, c: ((r + 1) % 5, (c + 1) % 5),
    ("bit-complement", 3): lambda r, c: (2 - r, 2 - c),
    ("shuffle", 3): lambda r, c: divmod(2 * (3 * r + c) % 9, 3),
    ("bit-reversal", 3): lambda r, c: divmod([0, 8, 4, 2, 6, 1, 5, 3, 7].index(3 * r + c), 3),
}


@pytest.mark.parametrize(("pattern", "side"), BY_HAND)
def test_permutations_by_hand(pattern, side):
    found = partners(pattern, topology(f"mesh:{side}x{side}"))
    assert [divmod(int(to), side) for to in found] == [
        BY_HAND[pattern, side](r, c) for r in range(side) for c in range(side)]


@pytest.mark.parametrize("pattern", PERMUTATIONS)
@pytest.mark.parametrize("mesh", ["mesh:4x4x4", "mesh:4x2x4", "mesh:8x8", "torus:4x4", "mesh:3x5", "mesh:2x3x4",
                                  "min:b=2,stages=3", "irregular:switches=4,ports=8,nodes=15"])
def test_permutations_reach_every_node_once(pattern, mesh):
    network = topology(mesh)
    assert sorted(partners(pattern, network)) == list(range(network.nodes))


def test_a_permutation_that_moves_no_node_is_refused():
    traffic = Traffic(0.1, multicast_fraction=0.5, destinations_mean=2, pattern="tornado")
    sentence = "tornado is not valid on mesh:2x2, where it maps every node to itself"
    for ask in (lambda: traffic.check(topology("mesh:2x2"), 1), lambda: Source(traffic, topology("mesh:2x2"), 1)):
        with pytest.raises(WormcastError, match=sentence):
            ask()


#: Nodes that the nodes 0, 1, ... send to, in networks whose nodes have numbers only.
BY_NUMBER = {
    ("transpose", 8): [0, 2, 4, 6, 1, 3, 5, 7],  # two rows of four
    ("transpose", 6): [0, 2, 4, 1, 3, 5],
    ("bit-complement", 6): [5, 4, 3, 2, 1, 0],
    ("shuffle", 8): [0, 2, 4, 6, 1, 3, 5, 7],
    ("shuffle", 6): [0, 2, 4, 1, 3, 5],
    ("tornado", 8): [3, 4, 5, 6, 7, 0, 1, 2],
    ("neighbour", 6): [1, 2, 3, 4, 5, 0],
    ("bit-reversal", 6): [0, 3, 2, 5, 1, 4],
}


@pytest.mark.parametrize(("pattern", "nodes"), BY_NUMBER)
def test_permutations_by_the_numbers_of_nodes(pattern, nodes):
    network = topology(f"irregular:switches=4,ports=6,nodes={nodes}")
    assert partners(pattern, network).tolist() == BY_NUMBER[pattern, nodes]


def test_around_a_ring():
    assert partners("tornado", topology("ring:6")).tolist() == [2, 3, 4, 5, 0, 1]
    assert partners("neighbour", topology("ring:6")).tolist() == [1, 2, 3, 4, 5, 0]


def test_unicasts_go_by_the_permutation_and_multicasts_to_any():
    mesh = topology("mesh:4x4")
    traffic = Traffic(1.0, length=5, unicast_length=5, multicast_fraction=0.5, destinations_mean=3, pattern="transpose")
    created = Source(traffic, mesh, 1).until(5000)
    to = partners("transpose", mesh)
    unicast = ~created.multicast
    assert np.array_equal(created.destinations[created.offsets[:-1][unicast]], to[created.source[unicast]])
    own = np.flatnonzero(to == np.arange(16))
    assert len(own) == 4
    assert not np.isin(created.source[unicast], own).any()
    assert np.isin(created.source[created.multicast], own).any()
    counts = np.diff(created.offsets)
    pairs = np.zeros((16, 16))
    np.add.at(pairs, (np.repeat(created.source, counts), created.destinations), np.repeat(created.multicast, counts))
    expected = np.full((16, 16), pairs.sum() / 240)
    np.fill_diagonal(expected, 0)
    assert chi_square_fits(pairs, expected)
    # each node that is no fixed point gets a unicast for each one sent, all get as many multicasts
    assert traffic.consumption(mesh)[own] == pytest.approx(0.1 * 5 * 3)
    assert np.delete(traffic.consumption(mesh), own) == pytest.approx(0.1 * 5 * 3 + 0.1 * 5)


def sets(others, hot, count, share):
    """Chance of each set of destinations, straight from the definition; the hot spots are the first of the others."""
    chances = {frozenset(): Fraction(1)}
    for _ in range(count):
        more = Counter()
        for chosen, chance in chances.items():
            left = [node for node in range(others) if node not in chosen]
            hot_left = [node for node in left if node < hot]
            for node in left:
                if hot_left:
                    more[chosen | {node}] += chance * (1 - share) / len(left)
                    if node in hot_left:
                        more[chosen | {node}] += chance * share / len(hot_left)
                else:
                    more[chosen | {node}] += chance / len(left)
        chances = more
    return chances


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("hot", [0, 1, 2, 5, 6])
def test_means_of_hot_spots_are_those_of_all_sets(hot, share):
    found = expected_hot_spots(6, hot, float(share))
    for count in range(7):
        mean = sum(chance * len([node for node in chosen if node < hot])
                   for chosen, chance in sets(6, hot, count, share).items())
        assert found[count] == pytest.approx(float(mean))


@pytest.mark.parametrize("count", [1, 3])
def test_hot_spots_are_chosen_as_defined(count):
    """Sets of destinations of sources that are hot spots, and that are none, against all sets of the definition."""
    mesh, hot, share = topology("mesh:1x7"), [2, 5], Fraction(3, 10)
    traffic = Traffic(1.0, length=4, destinations_mean=count, pattern="hot-spot", hot_spots="2,0.5",
                      hot_spot_share=float(share))
    created = Source(traffic, mesh, 3).until(60_000)
    destinations = created.destinations.reshape(-1, count)
    for source in (0, 5):
        mine = Counter(map(frozenset, destinations[created.source == source].tolist()))
        others = [node for node in hot if node != source] + [
            node for node in range(7) if node not in hot and node != source]
        expected = {frozenset(others[node] for node in chosen): chance for chosen, chance in
                    sets(6, 2 - (source in hot), count, share).items()}
        assert set(mine) <= set(expected)
        assert chi_square_fits([mine[chosen] for chosen in expected],
                               [float(chance) * mine.total() for chance in expected.values()])
    flits = 4 * np.bincount(created.destinations, minlength=7) / 60_000
    assert flits == pytest.approx(traffic.consumption(mesh), rel=0.02)
    assert flits.mean() == pytest.approx(traffic.effective(mesh), rel=0.01)


def test_unicasts_to_hot_spots_by_the_formula():
    """F / hot spots + (1 - F) / (N - 1) for a hot spot, (1 - F) / (N - 1) for another node."""
    mesh = topology("mesh:4x4")
    traffic = Traffic(1.0, unicast_length=4, multicast_fraction=0, pattern="hot-spot", hot_spots="5,10",
                      hot_spot_share=0.2)
    created = Source(traffic, mesh, 1).until(20_000)
    pairs, sent = np.zeros((16, 16)), np.bincount(created.source, minlength=16)
    np.add.at(pairs, (created.source, created.destinations), 1)
    chances = np.full((16, 16), 0.8 / 15)
    for source in range(16):
        there = [node for node in (5, 10) if node != source]
        chances[source, there] += 0.2 / len(there)
    np.fill_diagonal(chances, 0)
    assert chi_square_fits(pairs, chances * sent[:, None])
    assert traffic.consumption(mesh) == pytest.approx(0.25 * 4 * chances.sum(axis=0))


def test_a_lone_hot_spot_sends_to_any_node():
    mesh = topology("mesh:1x5")
    traffic = Traffic(1.0, unicast_length=4, multicast_fraction=0, pattern="hot-spot", hot_spots="4", hot_spot_share=1)
    created = Source(traffic, mesh, 1).until(20_000)
    assert (created.destinations[created.source != 4] == 4).all()
    own = np.bincount(created.destinations[created.source == 4], minlength=5)
    assert chi_square_fits(own, [own.sum() / 4] * 4 + [0])
    everywhere = Traffic(1.0, unicast_length=4, multicast_fraction=0, pattern="hot-spot", hot_spots="0,1,2,3,4",
                         hot_spot_share=0.5)
    assert everywhere.consumption(mesh) == pytest.approx(1)
    assert len(Source(everywhere, mesh, 1).until(100).at)


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=6), st.sampled_from(["hot-spot", "shuffle"]),
       st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_the_messages_do_not_depend_on_how_time_is_cut(cuts, pattern, seed):
    hot = {"hot_spots": "3,9,12", "hot_spot_share": 0.4} if pattern == "hot-spot" else {}
    traffic, mesh = Traffic(0.5, length=10, multicast_fraction=0.5, destinations_mean=6, pattern=pattern,
                            destinations_distribution="uniform", **hot), topology("mesh:4x4")
    whole = Source(traffic, mesh, seed).until(2000)
    source, parts = Source(traffic, mesh, seed), []
    for cut in [*sorted(cuts), 2000]:
        later, state = Source(traffic, mesh, seed + 1), source.state
        later.state = state
        parts.append(source.until(cut))
        assert np.array_equal(later.until(cut).destinations, parts[-1].destinations)
    for name in ("at", "source", "destinations"):
        assert np.array_equal(getattr(whole, name), np.concatenate([getattr(part, name) for part in parts]))


def test_more_than_a_hot_spot_can_take_is_refused():
    mesh = topology("mesh:4x4")
    hot = {"unicast_length": 10, "multicast_fraction": 0, "pattern": "hot-spot", "hot_spots": "1.2",
           "hot_spot_share": 0.5}
    # 15 nodes send it half of theirs, and 1 in 15 of the other half: 8 times a node's rate
    Traffic(0.12, **hot).check(mesh, np.full(16, 1))
    with pytest.raises(WormcastError, match=r"rate: 0.13 is not valid: it creates 1.04 flits to consume per cycle at "
                                            "node 1.2, and the node can consume 1. Allowed: rates up to 0.125."):
        Traffic(0.13, **hot).check(mesh, np.full(16, 1))
    Traffic(0.13, **hot).check(mesh, np.full(16, 2))


def hops(network, source):
    """Hops from a node to each node, by breadth-first search."""
    found, front = {network.injections[source, 0]: 0}, [network.injections[source, 0]]
    for switch in front:
        for start, _, end, *_ in network.links.tolist():
            if start == switch and end not in found:
                found[end] = found[switch] + 1
                front.append(end)
    return [found[switch] for switch in network.consumptions[:, 0]]


@pytest.mark.parametrize(("name", "size"), [
    ("mesh:4x4", 3), ("mesh:4x4", 4), ("torus:4x4", 9), ("irregular:switches=4,ports=6,nodes=8", 3)])
def test_a_cluster_has_the_nearest_nodes(name, size):
    """All sets of two of the nearest nodes are equally likely; those at the edge of the cluster in equal shares."""
    network = topology(name)
    traffic = Traffic(1.0, length=4, destinations_mean=2, multicast_sets="cluster", cluster_size=size)
    created = Source(traffic, network, 3).until(30_000)
    pairs = np.zeros((network.nodes, network.nodes))
    sets = created.destinations.reshape(-1, 2)
    assert (sets[:, 0] != sets[:, 1]).all()
    np.add.at(pairs, (np.repeat(created.source, 2), created.destinations), 1)
    for source in range(network.nodes):
        others = [(far, node) for node, far in enumerate(hops(network, source)) if node != source]
        edge = sorted(others)[size - 1][0]
        inner, outer = ([node for far, node in others if sign(far - edge)] for sign in (
            lambda over: over < 0, lambda over: over == 0))
        chances = np.zeros(network.nodes)
        chances[inner] = 1 / size
        chances[outer] = (size - len(inner)) / size / len(outer)
        assert chi_square_fits(pairs[source], chances * pairs[source].sum())
    flits = 4 * pairs.sum(axis=0) / 30_000
    assert flits == pytest.approx(traffic.consumption(network), rel=0.03)


@pytest.mark.parametrize(("name", "sets", "members"), [
    ("mesh:3x4", "row", lambda a, b: a[0] == b[0]),
    ("mesh:3x4", "column", lambda a, b: a[1] == b[1]),
    ("torus:2x3x4", "row", lambda a, b: a[:2] == b[:2]),
    ("torus:2x3x4", "column", lambda a, b: a[1:] == b[1:]),
])
def test_rows_and_columns(name, sets, members):
    network = topology(name)
    places = list(map(tuple, network.coordinates.tolist()))
    traffic = Traffic(0.5, length=4, multicast_sets=sets, destinations_distribution="all")
    created = Source(traffic, network, 1).until(400)
    assert len(set(created.source.tolist())) == network.nodes
    for source, first, end in zip(created.source, created.offsets, created.offsets[1:], strict=False):
        expected = {node for node in range(network.nodes) if node != source and members(places[node], places[source])}
        assert sorted(created.destinations[first:end]) == sorted(expected)
    assert traffic.most_destinations(network) == len(expected)
    assert traffic.consumption(network) == pytest.approx(0.5 * len(expected))


@pytest.mark.parametrize(("name", "options", "sentence"), [
    ("ring:8", {"multicast_sets": "row"}, "multicast_sets: row is not valid on ring:8: its nodes have one coordinate"),
    ("mesh:8x1", {"multicast_sets": "row"},
     "row is not valid on mesh:8x1: each row has one node. Allowed: any, column"),
    ("min:b=2,stages=3", {"multicast_sets": "cluster", "cluster_size": 3}, "all nodes are equally near. Allowed: any."),
    ("mesh:2x2", {"multicast_sets": "cluster", "cluster_size": 4}, "cluster_size: 4 is not valid .* Allowed: 1 to 3"),
    ("mesh:4x4", {"multicast_sets": "row"},
     r"mean: 10 \(the default\) is not valid .* in a row of 4 nodes. Needed: destinations_mean 1 to 3\."),
    ("mesh:4x4", {"multicast_sets": "cluster", "cluster_size": 5},
     r"in a cluster of 5 nodes beside the source. Needed: destinations_mean 1 to 5\."),
])
def test_sets_that_a_network_does_not_have_are_refused(name, options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Source(Traffic(0.1, **options), topology(name), 1)


def test_clusters_are_found_once():
    network = topology("mesh:4x4")
    assert candidates_of("cluster", 4, network) is candidates_of("cluster", 4, network)
