"""Saturation points of networks: found by bisection, and confirmed by runs that do not use the result."""

import functools
import json

import pytest

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Traffic, load
from wormcast.sim.experiments.load import Trace, find_saturation
from wormcast.sim.experiments.load.saturation import highest_rate

MESH = topology("mesh:3x3")
UNICASTS = Traffic(0.0, multicast_fraction=0, unicast_length=16)
OPTIONS = {"configuration": Configuration(consumption=1), "cycles": 20_000, "seeds": (1, 2, 3)}


@functools.cache
def found(scheme="individual", traffic=UNICASTS, mesh=MESH, **options):
    *_, last = find_saturation(mesh, SCHEMES[scheme], traffic, **OPTIONS | options)
    return last


def test_it_lies_between_a_load_that_is_taken_and_one_that_is_not():
    result = found(cycles=8000, precision=0.1)
    low, high = result.rates()
    assert high - low <= 0.1 * (high + low)
    for rate, saturated in ((0.95 * low, False), (1.1 * high, True)):
        seen = load(MESH, SCHEMES["individual"], Traffic(rate, multicast_fraction=0, unicast_length=16),
                    configuration=Configuration(consumption=1), cycles=20_000, seeds=(7, 8, 9))
        assert seen.saturated is saturated
    assert result.to_dict()["saturation"]["rate"] == {"low": low, "high": high}
    assert result.to_dict() == found.__wrapped__(cycles=8000, precision=0.1).to_dict()  # the same search


@pytest.mark.slow  # the search above goes through the same
def test_a_finer_search_goes_on_from_the_same_rates():
    rough, fine = found(precision=0.1), found(precision=0.05)
    rates = [[one["rate"] for one in each.to_dict()["probes"]] for each in (rough, fine)]
    assert len(rates[0]) < len(rates[1])
    assert rough.rates()[0] <= fine.rates()[1]


@pytest.mark.slow  # the highest rate is what consumption takes, as the next one shows
def test_a_network_that_takes_all_that_nodes_consume():
    """Two nodes with long messages: the links take nearly all; with two flits a message they cannot."""
    alone = found(mesh=topology("mesh:1x2"), traffic=Traffic(0.0, multicast_fraction=0, unicast_length=4000),
                  cycles=200_000)
    assert alone.above is None or alone.rates()[1] > 0.9
    short = found(mesh=topology("mesh:1x2"), traffic=Traffic(0.0, multicast_fraction=0, unicast_length=2))
    assert short.rates()[1] < 0.75  # a header flit each


def test_the_highest_rate_is_what_consumption_links_take():
    ten = Traffic(0.0, destinations_mean=4)
    assert highest_rate(MESH, Configuration(), ten) == pytest.approx(0.25)
    apart = Configuration(consumption=2, consumption_links="separate")
    assert highest_rate(MESH, apart, ten) == pytest.approx(0.5)


def test_saturation_by_a_multiple_of_the_latency_at_zero_load():
    result = found(cycles=8000, precision=0.1, multiple=2)
    assert result.limit == 2 * result.zero_load.span("latency").mean
    (low, high), by_flits = result.slow_rates(), result.rates()
    assert high - low <= 0.1 * (high + low)
    assert (low, high) < by_flits
    latency = {one.rate: one.span("latency").mean for one in result.probes}
    assert latency[low] <= result.limit < latency[high]
    told = result.to_dict()["zero_load"]
    assert told["saturation"]["rate"] == {"low": low, "high": high}
    assert (told["multiple"], told["limit"]) == (2, result.limit)
    # the rates of the search without a multiple are those of the first part
    alone = [one.rate for one in found(cycles=8000, precision=0.1).probes]
    assert [one.rate for one in result.probes][:len(alone)] == alone
    assert result.rates() == found(cycles=8000, precision=0.1).rates()


def test_the_latency_at_zero_load_is_that_of_lone_messages(tmp_path):
    """All pairs of nodes, one message at a time."""
    pairs = [(source, to) for source in range(9) for to in range(9) if source != to]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps({"cycle": 500 * at, "source": source, "destinations": [to], "length": 16}) + "\n"
                            for at, (source, to) in enumerate(pairs)))
    lone = load(MESH, SCHEMES["individual"], Trace(str(file)), configuration=Configuration(consumption=1), cycles=None)
    measured = found(cycles=2000, precision=0.3, multiple=3).zero_load.span("latency")
    assert measured.half_width < 0.05 * measured.mean
    assert abs(lone.span("latency").mean - measured.mean) < 2 * measured.half_width


@pytest.mark.parametrize("multiple", [1, 0.5, float("nan"), float("inf")])
def test_a_multiple_is_above_one(multiple):
    with pytest.raises(WormcastError, match=r"zero_load_multiple: .* is not valid. Allowed: above 1, up to 1e"):
        found(multiple=multiple)


def test_bursts_that_are_rare_limit_the_highest_rate():
    rare = Traffic(0.0, destinations_mean=4, injection_process="on-off", burst_on=1, burst_off=10**6)
    assert highest_rate(MESH, Configuration(), rare) == pytest.approx(20 / (10**6 + 1))


def test_a_deadlock_ends_the_search():
    stuck = found("dual-path", Traffic(0.0, length=64, destinations_mean=4), cycles=100_000,
                  configuration=Configuration(consumption=1, vcs=1, buffer=2))
    assert stuck.deadlock is stuck.probes[-1]
    assert stuck.to_dict()["probes"][-1]["deadlock"] is not None


def test_far_beyond_is_more_than_to_be_saturated():
    """Near the knee worms pile up at first: a short run says saturated, and not that it is so for certain."""
    def seen(rate, cycles):
        return load(topology("mesh:4x4"), SCHEMES["individual"], Traffic(rate, multicast_fraction=0),
                    configuration=Configuration(consumption=1), cycles=cycles, seeds=(0, 1, 2, 3))

    knee, beyond, light = seen(0.34375, 5000), seen(0.6, 5000), seen(0.1, 5000)
    assert (knee.saturated, knee.far_beyond) == (True, False)
    assert not seen(0.34375, 60_000).saturated
    assert (beyond.saturated, beyond.far_beyond) == (True, True)
    assert (light.saturated, light.far_beyond) == (False, False)
