"""Random traffic: what it promises of rates, mixtures, destinations, and of how time is cut."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import WormcastError, topology
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.experiments.load.specification import Specification


def row(nodes):
    return topology(f"mesh:1x{nodes}")


def joined(parts):
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.offsets) for part in parts]))])
    return [np.concatenate([getattr(part, field) for part in parts])
            for field in ("at", "source", "length", "multicast", "destinations")] + [offsets]


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=8), st.integers(3, 40), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_the_messages_do_not_depend_on_how_time_is_cut(cuts, nodes, seed):
    traffic = Traffic(0.5, length=10, multicast_fraction=0.5, destinations_mean=1 + nodes / 8,
                      destinations_distribution="normal", destinations_deviation=2)
    whole = Source(traffic, row(nodes), seed).until(3000)
    source = Source(traffic, row(nodes), seed)
    parts = [source.until(cut) for cut in [*sorted(cuts), 3000]]
    assert all(map(np.array_equal, joined([whole]), joined(parts)))


@pytest.mark.parametrize("distribution", ["fixed", "uniform", "normal"])
@pytest.mark.parametrize("fraction", [0.0, 0.3, 1.0])
def test_rates_and_mixture_are_as_asked(distribution, fraction):
    traffic = Traffic(0.4, length=20, unicast_length=8, multicast_fraction=fraction, destinations_mean=5.5,
                      destinations_distribution=distribution,
                      destinations_deviation=3 if distribution == "normal" else 0)
    nodes, cycles = 64, 200_000
    created = Source(traffic, row(nodes), 7).until(cycles)
    counts = np.diff(created.offsets)
    assert created.length.sum() / (nodes * cycles) == pytest.approx(0.4, rel=0.01)
    assert (counts * created.length).sum() / (nodes * cycles) == pytest.approx(traffic.effective(row(nodes)), rel=0.01)
    assert created.multicast.mean() == pytest.approx(fraction, abs=0.01)
    assert (counts[~created.multicast] == 1).all()
    assert set(created.length[created.multicast]) <= {20}
    assert set(created.length[~created.multicast]) <= {8}
    if fraction:
        share = np.bincount(counts[created.multicast], minlength=nodes)[1:] / created.multicast.sum()
        assert np.abs(share - traffic.counts(nodes)).max() < 0.01
        assert distribution == "normal" or counts[created.multicast].mean() == pytest.approx(5.5, rel=0.01)


def test_numbers_of_destinations_are_those_that_are_given():
    traffic = Traffic(0.5, length=4, destinations_distribution="given", destinations_counts="1:5,8:3, 15 :2.0")
    created = Source(traffic, row(16), 1).until(20_000)
    found = np.bincount(np.diff(created.offsets), minlength=16)
    expected = np.array([5, 3, 2]) / 10 * len(created.at)
    assert found.sum() == found[[1, 8, 15]].sum()
    assert ((found[[1, 8, 15]] - expected) ** 2 / expected).sum() < 12  # chi square of two degrees: 0.25 %
    assert traffic.effective(row(16)) == pytest.approx(0.5 * (0.5 + 2.4 + 3))
    assert traffic.most_destinations(row(16)) == 15


@pytest.mark.parametrize(("options", "digest"), [
    ({"rate": 0.5, "length": 10, "multicast_fraction": 0.5, "destinations_mean": 5,
      "destinations_distribution": "normal", "destinations_deviation": 2}, "9a987f483fc5554a"),
    ({"rate": 0.4, "destinations_mean": 5.5}, "3c209d7df3dda5ae"),
    ({"rate": 0.3, "multicast_fraction": 0.0, "unicast_length": 7}, "bb90911d532d1613"),
])
def test_a_seed_stands_for_the_same_messages_for_ever(options, digest):
    created = Source(Traffic(**options), row(12), 3).until(5000)
    values = (created.at, created.source, created.length, created.multicast, created.offsets, created.destinations)
    found = hashlib.sha256(b"".join(value.astype(np.int64).tobytes() for value in values)).hexdigest()
    assert found[:16] == digest


def test_gaps_are_geometric():
    """Chance p of a message in each cycle: the gap's mean is 1/p, its variance (1 - p)/p^2."""
    created = Source(Traffic(2.0, length=10, destinations_mean=1), row(16), 3).until(100_000)
    gaps = np.concatenate([np.diff(created.at[created.source == node]) for node in range(16)])
    assert gaps.min() == 1
    assert gaps.mean() == pytest.approx(5, rel=0.01)
    assert gaps.var() == pytest.approx(0.8 / 0.04, rel=0.03)


def gaps_of_bursts(chance, on, off, most):
    """Chances of the gaps 1 to ``most`` of a node's messages, from the chain of two states: in a burst, in a pause."""
    steps = np.array([[1 - 1 / on, 1 / on], [1 / off, 1 - 1 / off]])
    state, found = np.array([1.0, 0.0]), []
    for _ in range(most):
        state = state @ steps
        found.append(state[0] * chance)
        state[0] *= 1 - chance
    return np.array(found)


@pytest.mark.parametrize(("on", "off"), [(1, 1), (4, 12), (1, 5), (20, 2.5), (50, 200)])
def test_bursts_are_those_of_two_states(on, off):
    share = on / (on + off)
    traffic = Traffic(10 * 0.6 * share, length=10, destinations_mean=1, injection_process="on-off", burst_on=on,
                      burst_off=off)
    created = Source(traffic, row(32), 5).until(100_000)
    assert created.length.sum() / (32 * 100_000) == pytest.approx(traffic.rate, rel=0.03)
    gaps = np.concatenate([np.diff(created.at[created.source == node]) for node in range(32)])
    expected = gaps_of_bursts(0.6, on, off, 400)
    known = np.bincount(gaps, minlength=401)[1:401]
    there = expected * len(gaps) > 30
    assert there.sum() > 5
    error = (known - expected * len(gaps))[there] ** 2 / (expected * len(gaps))[there]
    assert error.sum() < there.sum() + 5 * np.sqrt(2 * there.sum())


def test_a_burst_begins_in_any_cycle():
    """In the first cycles nodes are in bursts as often as later."""
    traffic = Traffic(2.5, length=10, destinations_mean=1, injection_process="on-off", burst_on=30, burst_off=90)
    first = np.concatenate([Source(traffic, row(1024), seed).until(20).at for seed in range(20)])
    assert np.bincount(first, minlength=20) == pytest.approx(20 * 1024 * 0.25, rel=0.06)


def test_no_rate_in_bursts_creates_nothing():
    traffic = Traffic(0.0, injection_process="on-off", burst_on=5, burst_off=1000)
    assert len(Source(traffic, row(16), 1).until(10**6).at) == 0


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=8), st.sampled_from([(1, 3), (40, 100)]), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_bursts_do_not_depend_on_how_time_is_cut(cuts, bursts, seed):
    traffic = Traffic(0.5, length=10, destinations_mean=3, injection_process="on-off", burst_on=bursts[0],
                      burst_off=bursts[1], multicast_sets="cluster", cluster_size=5)
    whole = Source(traffic, row(12), seed).until(3000)
    source, parts = Source(traffic, row(12), seed), []
    for cut in [*sorted(cuts), 3000]:
        later = Source(traffic, row(12), seed + 1)
        later.state = source.state
        parts.append(source.until(cut))
        assert np.array_equal(later.until(cut).destinations, parts[-1].destinations)
    assert all(map(np.array_equal, joined([whole]), joined(parts)))


def test_destinations_are_distinct_uniform_and_never_the_source():
    nodes = 12
    created = Source(Traffic(1.0, length=5, destinations_mean=4), row(nodes), 1).until(40_000)
    sets = created.destinations.reshape(-1, 4)
    assert (np.sort(sets)[:, 1:] != np.sort(sets)[:, :-1]).all()
    assert (sets != created.source[:, None]).all()
    pairs = np.zeros((nodes, nodes))
    np.add.at(pairs, (np.repeat(created.source, 4), created.destinations), 1)
    others = pairs[~np.eye(nodes, dtype=bool)]
    expected = others.mean()
    assert np.abs(others - expected).max() < 6 * np.sqrt(expected)


def test_messages_come_in_order():
    created = Source(Traffic(5.0, length=10, destinations_mean=2), row(20), 1).until(2000)
    keys = created.at * 20 + created.source
    assert (np.diff(keys) > 0).all()


def test_seeds_and_nodes_are_independent():
    one, two = (Source(Traffic(0.5, destinations_mean=2), row(8), seed).until(20_000) for seed in (1, 2))
    assert len(set(zip(one.at, one.source, strict=True)) & set(zip(two.at, two.source, strict=True))) < len(one.at) / 10


def test_no_rate_creates_nothing_and_the_largest_one_a_message_a_cycle():
    assert len(Source(Traffic(0.0), row(64), 1).until(10**9).at) == 0
    created = Source(Traffic(20.0, destinations_mean=1), row(4), 1).until(100)
    assert np.array_equal(created.at, np.repeat(np.arange(100), 4))


GIVEN = {"rate": 0.1, "destinations_distribution": "given"}
HOT = {"pattern": "hot-spot", "hot_spot_share": 0.5, "destinations_mean": 2}


@pytest.mark.parametrize(("options", "sentence"), [
    ({"rate": -0.1}, "rate: -0.1"),
    ({"rate": float("nan")}, "rate: nan"),
    ({"rate": 21}, "rate: 21.* is not valid. Allowed: up to 20"),
    ({"rate": 0.1, "length": 0}, "length: 0 is not valid. Allowed: 1 to 65536"),
    ({"rate": 0.1, "multicast_fraction": 1.5}, "multicast_fraction: 1.5"),
    ({"rate": 0.1, "destinations_distribution": "zipf"}, "'zipf' is not valid. Allowed: fixed, uniform, normal, given"),
    ({"rate": 0.1, "injection_process": "poisson"}, "'poisson' is not valid. Allowed: bernoulli, on-off"),
    ({"rate": 0.1, "injection_process": "on-off", "burst_on": 4},
     "injection_process: on-off is not valid without burst_off. Needed: burst_on and"),
    ({"rate": 0.1, "injection_process": "on-off"},
     "injection_process: on-off is not valid without burst_on. Needed: burst_on and"),
    ({"rate": 0.1, "injection_process": "on-off", "burst_on": 0.5, "burst_off": 2}, "burst_on: 0.5 .* Allowed: 1 to"),
    ({"rate": 0.1, "burst_on": 4},
     r"burst_on: 4 is not valid with injection_process bernoulli \(the default\). Allowed: with"),
    ({"rate": 5.1, "injection_process": "on-off", "burst_on": 10, "burst_off": 30},
     "rate: 5.1 is not valid. Allowed: up to 5 flits per node and cycle, a message in every cycle of a burst"),
    ({"rate": 0.1, "multicast_sets": "cluster"},
     "multicast_sets: cluster is not valid without cluster_size. Needed: cluster_size 1 or"),
    ({"rate": 0.1, "cluster_size": 3},
     r"cluster_size: 3 is not valid with multicast_sets any \(the default\). Allowed: 0, or"),
    ({"rate": 0.1, "multicast_sets": "row", "multicast_fraction": 0}, "multicast_sets: row .* and there are none"),
    ({"rate": 0.1, "multicast_sets": "row", "pattern": "hot-spot", "hot_spots": "1", "hot_spot_share": 0.1},
     "multicast_sets: row is not valid with pattern hot-spot"),
    ({"rate": 0.1, "destinations_deviation": -1}, "destinations_deviation: -1"),
    ({"rate": 0.1, "destinations_deviation": 3}, "destinations_deviation: 3 is not valid with .* Allowed: 0, or with"),
    ({"rate": 0.1, "destinations_distribution": "normal", "destinations_deviation": float("inf")}, "deviation: inf"),
    ({"rate": 0.1, "destinations_distribution": "given", "destinations_counts": "1:1e308,2:1e308"}, "'1:1e308' is"),
    ({"rate": 0.1, "destinations_distribution": "given"}, "destinations_counts is missing. Needed with"),
    ({"rate": 0.1, "destinations_counts": "1:1"}, "'1:1' is not valid with destinations_distribution fixed"),
    (GIVEN | {"destinations_counts": "1:1,3"}, "destinations_counts: '3' is not valid. Allowed: COUNT:WEIGHT"),
    (GIVEN | {"destinations_counts": "0:1"}, "destinations_counts: '0:1' is not valid"),
    (GIVEN | {"destinations_counts": "2:-1"}, "destinations_counts: '2:-1' is not valid"),
    (GIVEN | {"destinations_counts": "2:nan"}, "destinations_counts: '2:nan' is not valid"),
    (GIVEN | {"destinations_counts": "2:1,2:2"},
     "destinations_counts: '2:1,2:2' is not valid: the count 2 occurs twice"),
    (GIVEN | {"destinations_counts": ""}, "destinations_counts: '' is not valid"),
    ({"rate": 0.1, "pattern": "spiral"}, "pattern: 'spiral' is not valid. Allowed: uniform, hot-spot, transpose"),
    ({"rate": 0.1, "pattern": "hot-spot", "hot_spot_share": 0.1},
     "hot_spots is missing. Needed with pattern hot-spot: hot_spots and hot_spot_share"),
    ({"rate": 0.1, "hot_spots": "1"}, "hot_spots: '1' is not valid with pattern uniform"),
    ({"rate": 0.1, "pattern": "hot-spot", "hot_spots": "1"},
     r"pattern: hot-spot is not valid without hot_spot_share. Needed: hot_spot_share above 0, up to 1\."),
    ({"rate": 0.1, "hot_spot_share": 0.5}, "hot_spot_share: 0.5 is not valid with pattern uniform"),
    ({"rate": 0.1, "pattern": "shuffle"},
     r"shuffle is not valid with multicast_fraction 1 \(the default\): it is for unicasts"),
])
def test_bad_traffic_is_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Traffic(**options)


@pytest.mark.parametrize(("options", "sentence"), [
    ({"destinations_mean": 0.5},
     "destinations_mean: 0.5 is not valid with destinations_distribution fixed .* in a network"),
    ({"destinations_mean": 8}, "Allowed: 1 to 7."),
    ({"destinations_mean": 5, "destinations_distribution": "uniform"}, "Allowed: multiples of 0.5 from 1 to 4."),
    ({"destinations_mean": 2.2, "destinations_distribution": "uniform"}, "multiples of 0.5"),
    ({"destinations_distribution": "given", "destinations_counts": "1:1,8:1"},
     "destinations_counts: the count 8 is not valid in a network of 8 nodes. Allowed: 1 to 7."),
    (HOT | {"hot_spots": "0.8"}, "hot_spots: '0.8' is not in mesh:1x8"),
    (HOT | {"hot_spots": "1,0.1"}, "hot_spots: '1,0.1' is not valid: a node occurs twice. Allowed: "),
    (HOT | {"hot_spots": ""}, "hot_spots: '' is not valid"),
])
def test_what_the_network_cannot_have_is_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Source(Traffic(0.1, **options), row(8), 1)


#: Mixtures of which default seeds must create as much as is asked for.
MIXTURES = (
    *({"rate": rate} for rate in (0.004, 0.01, 0.02)),
    {"rate": 0.01, "length": 100},
    {"rate": 0.05, "multicast_fraction": 0.0},
    {"rate": 0.1, "multicast_fraction": 0.0},
    {"rate": 0.01, "multicast_fraction": 0.2},
    {"rate": 0.02, "multicast_fraction": 0.1},
    {"rate": 0.01, "destinations_distribution": "uniform", "destinations_mean": 4.0},
)


@pytest.mark.parametrize("cycles", [5_000, 10_000, 100_000])
def test_default_seeds_create_what_is_asked_for(cycles):
    """By how many standard errors they miss it: no more than independent seeds would, and not to one side.

    Experiments share random numbers, so seeds that miss it in one do so in many.
    """
    missed = []
    for name in ("mesh:4x4", "mesh:6x6", "mesh:8x8", "ring:16", "mesh:4x4x4", "mesh:16x16"):
        network = topology(name)
        for mixture in MIXTURES:
            spec = Specification.of(mixture)
            draws, chance = len(spec.seed_numbers) * network.nodes * cycles, spec.traffic.chance
            created = sum(len(Source(spec.traffic, network, seed).until(cycles).at) for seed in spec.seed_numbers)
            missed.append((created - draws * chance) / np.sqrt(draws * chance * (1 - chance)))
    assert np.sqrt(np.mean(np.square(missed))) < 1
    assert abs(np.mean(missed)) < 0.1
