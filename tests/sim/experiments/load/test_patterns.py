"""Hot spots and permutations: held against their definitions, enumerated."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import WormcastError, topology
from wormcast.sim.build.patterns import PERMUTATIONS, expected_hot_spots, partners
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.experiments.load.source import Source


def chi_square_fits(found, expected):
    """Whether counts are those of a distribution, but for what chance does (five standard deviations of chi square)."""
    found, expected = np.asarray(found, float).ravel(), np.asarray(expected, float).ravel()
    assert (found[expected == 0] == 0).all()
    found, expected = found[expected > 0], expected[expected > 0]
    assert expected.min() > 20
    freedom = len(found) - 1
    return ((found - expected) ** 2 / expected).sum() < freedom + 5 * np.sqrt(2 * freedom)


def reversed_bits(node):
    return int(f"{node:04b}"[::-1], 2)


#: Where node ``row.column`` of a square of 16 or 25 nodes sends, by hand.
BY_HAND = {
    ("transpose", 4): lambda r, c: (c, r),
    ("bit-complement", 4): lambda r, c: (3 - r, 3 - c),
    ("bit-reversal", 4): lambda r, c: divmod(reversed_bits(4 * r + c), 4),
    ("shuffle", 4): lambda r, c: divmod(int(f"{4 * r + c:04b}"[1:] + f"{4 * r + c:04b}"[0], 2), 4),
    ("tornado", 4): lambda r, c: ((r + 1) % 4, (c + 1) % 4),
    ("tornado", 5): lambda r, c: ((r + 2) % 5, (c + 2) % 5),
    ("neighbour", 5): lambda r, c: ((r + 1) % 5, (c + 1) % 5),
}


@pytest.mark.parametrize(("pattern", "side"), BY_HAND)
def test_permutations_by_hand(pattern, side):
    found = partners(pattern, topology(f"mesh:{side}x{side}"))
    assert [divmod(int(to), side) for to in found] == [
        BY_HAND[pattern, side](r, c) for r in range(side) for c in range(side)]


@pytest.mark.parametrize("pattern", PERMUTATIONS)
@pytest.mark.parametrize("mesh", ["mesh:4x4x4", "mesh:4x2x4", "mesh:8x8", "torus:4x4"])
def test_permutations_reach_every_node_once(pattern, mesh):
    network = topology(mesh)
    assert sorted(partners(pattern, network)) == list(range(network.nodes))


@pytest.mark.parametrize(("pattern", "mesh", "sentence"), [
    ("transpose", "mesh:2x4", "transpose is not valid on mesh:2x4. Allowed: networks whose extents are the"),
    ("shuffle", "mesh:3x4", "shuffle is not valid on mesh:3x4, which has 12 nodes. Allowed: networks whose number"),
    ("tornado", "mesh:2x2", "tornado is not valid on mesh:2x2, where it maps every node to itself"),
])
def test_a_permutation_that_does_not_exist_is_refused(pattern, mesh, sentence):
    traffic = Traffic(0.1, multicast_fraction=0.5, destinations_mean=2, pattern=pattern)
    for ask in (lambda: traffic.check(topology(mesh), 1), lambda: Source(traffic, topology(mesh), 1)):
        with pytest.raises(WormcastError, match=sentence):
            ask()


@pytest.mark.parametrize("pattern", PERMUTATIONS)
@pytest.mark.parametrize("name", ["min:b=2,stages=3", "irregular:switches=4,ports=6,nodes=8"])
def test_what_moves_coordinates_needs_nodes_that_have_some(pattern, name):
    """Those of bits are as on a mesh of as many nodes."""
    network = topology(name)
    if pattern in ("transpose", "tornado", "neighbour"):
        with pytest.raises(WormcastError, match=f"pattern: {pattern} is not valid on .*: its nodes have no coord"):
            partners(pattern, network)
    else:
        assert partners(pattern, network).tolist() == partners(pattern, topology("mesh:2x4")).tolist()


def test_around_a_ring():
    assert partners("tornado", topology("ring:6")).tolist() == [2, 3, 4, 5, 0, 1]
    assert partners("neighbour", topology("ring:6")).tolist() == [1, 2, 3, 4, 5, 0]


def test_unicasts_go_by_the_permutation_and_multicasts_to_any():
    mesh = topology("mesh:4x4")
    traffic = Traffic(1.0, length=5, unicast_length=5, multicast_fraction=0.5, destinations_mean=3, pattern="transpose")
    created = Source(traffic, mesh, 1).until(20_000)
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
