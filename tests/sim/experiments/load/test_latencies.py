"""Latencies in bins against the latencies themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network, Traffic, load
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.load.completed import DONE
from wormcast.sim.experiments.load.latencies import KEPT, Latencies, bin_of, middle_of, percentile
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source

MESH = topology("mesh:4x4")
TRAFFIC = Traffic(0.02, length=16, destinations_mean=4, destinations_distribution="uniform")


def messages(latencies, lanes=1):
    done = np.zeros(len(latencies), DONE)
    done["created"] = 1000
    done["received"] = 1000 + np.array(latencies)
    done["message"] = np.arange(len(latencies))
    done["lane"] = np.arange(len(latencies)) % lanes
    return done


@given(st.integers(0, 2**52))
def test_the_middle_of_a_bin_is_near_to_what_lies_in_it(latency):
    place = bin_of(np.array([latency]))
    assert abs(middle_of(place)[0] - latency) <= (0 if latency < 128 else 0.008 * latency)


def test_bins_follow_each_other_and_leave_nothing_out():
    places = bin_of(np.arange(100_000))
    assert places[0] == 0
    assert set(np.diff(places).tolist()) == {0, 1}


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=300), st.sampled_from([0.5, 0.95, 0.99]))
def test_percentiles_are_those_of_the_latencies(values, share):
    found = Latencies(1)
    for part in (values[:len(values) // 2], values[len(values) // 2:]):
        found.add(np.zeros(len(part), np.int64), messages(part))
    exact = sorted(values)[int(np.ceil(share * len(values) - 1e-9)) - 1]
    told = percentile(*found.of_lane(0, 0), share, max(values))
    assert isinstance(told, int)
    assert told <= max(values)
    assert told == (exact if exact < 128 else pytest.approx(exact, rel=0.008))


@pytest.mark.parametrize(("values", "share", "told"), [
    ([146] * 200, 0.99, 146), ([147], 0.99, 147), ([1024] * 500 + [1025], 0.99, 1025), ([1000, 5000], 0.5, 1003),
    ([127], 0.5, 127), ([128], 0.5, 128)])
def test_no_percentile_exceeds_the_largest_latency(values, share, told):
    found = Latencies(1)
    found.add(np.zeros(len(values), np.int64), messages(values))
    assert percentile(*found.of_lane(0, 0), share, max(values)) == told


def test_lanes_and_slices_are_kept_apart():
    found = Latencies(2)
    found.add(np.array([0, 0, 3, 3]), messages([10, 20, 30, 40], lanes=2))
    found.settle()
    found.add(np.array([3, 5]), messages([30, 50], lanes=2))
    counted = {(lane, first): {int(place): int(count) for place, count in zip(*found.of_lane(lane, first), strict=True)}
               for lane in (0, 1) for first in (0, 1, 4)}
    assert counted == {(0, 0): {10: 1, 30: 2}, (0, 1): {30: 2}, (0, 4): {},
                       (1, 0): {20: 1, 40: 1, 50: 1}, (1, 1): {40: 1, 50: 1}, (1, 4): {50: 1}}


def test_the_worst_of_each_slice_and_lane_are_kept_in_any_order_of_coming():
    values, at = np.random.default_rng(1).integers(1, 50, 400), np.arange(400) % 3
    done = messages(values, lanes=2)
    whole, parts = Latencies(2), Latencies(2)
    whole.add(at, done)
    for some in np.array_split(np.random.default_rng(2).permutation(400), 7):
        parts.add(at[some], done[some])
    assert np.array_equal(whole.worst, parts.worst)
    for k, lane in np.ndindex(3, 2):
        mine = (at == k) & (done["lane"] == lane)
        kept = whole.worst[(whole.worst["at"] == k) & (whole.worst["lane"] == lane)]
        assert kept["latency"].tolist() == sorted(values[mine].tolist(), reverse=True)[:KEPT]


def exact(cycles, seeds, warmup, scheme="dual-path"):
    """All messages of a load experiment: run once more, seed by seed, and read from the hosts at the end."""
    rows = []
    for seed in seeds:
        plan = SCHEMES[scheme]
        network = Network(MESH, plan, Configuration(consumption=2).for_headers(MESH, plan, 7))
        window = MessageWindow(network, [Source(TRAFFIC, MESH, seed)], cycles)
        engine = BulkEngine(network, window.host)
        engine.run(cycles, beyond=True)
        found = window.take_rest()
        rows.append(found[found["created"] >= warmup])
    return rows


def test_a_load_tells_percentiles_the_worst_and_copies():
    seeds = (3, 4, 5)
    found = load(MESH, SCHEMES["dual-path"], TRAFFIC, configuration=Configuration(consumption=2), cycles=6000,
                 warmup=1000, seeds=seeds, workers=2)
    rows = exact(6000, seeds, 1000)
    latencies = [np.sort(one["received"] - one["created"]) for one in rows]
    for share in (0.5, 0.95, 0.99):
        each = [one[int(np.ceil(share * len(one))) - 1] for one in latencies]
        assert found.percentile(share).mean == pytest.approx(np.mean(each), rel=0.008)
        assert found.percentile(share).mean <= found.longest.mean
    assert found.longest.mean == np.mean([one[-1] for one in latencies])
    assert found.copies.mean == pytest.approx(np.mean([one["worms"].mean() for one in rows]))
    told = [(seed, int(one["message"]), int(one["source"]), int(one["created"]), int(one["received"] - one["created"]),
             int(one["length"]), int(one["destinations"])) for seed, some in zip(seeds, rows, strict=True)
            for one in some]
    told.sort(key=lambda one: (-one[4], one[0], one[1]))
    assert [tuple(one.values()) for one in found.worst()] == told[:KEPT]
    # numbers are those of the order of creation, with the messages that do not count
    first = Source(TRAFFIC, MESH, seeds[0]).until(6000)
    for one in found.worst():
        if one["seed"] == seeds[0]:
            assert (first.at[one["message"]], first.source[one["message"]]) == (one["created"], one["source"])


def test_hops_and_the_v_c_ratio():
    """A row of 5, each node to any other: 2 hops on average; 8 links of 2 virtual channels, 5 nodes of 4 channels."""
    found = load(topology("mesh:1x5"), SCHEMES["individual"], Traffic(0.05, length=10, destinations_mean=2),
                 configuration=Configuration(consumption=4), cycles=20_000, seeds=(1, 2))
    assert found.hops_per_destination.mean == pytest.approx(2, rel=0.05)
    assert found.copies.mean == 2
    assert found.vc_ratio == 16 / 20
