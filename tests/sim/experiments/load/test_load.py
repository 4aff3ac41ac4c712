"""Load experiments: what is measured, against what is known without simulating much."""

import dataclasses
import json

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Message, Traffic, load, run
from wormcast.sim.experiments.load import load_until_interval
from wormcast.sim.experiments.load.completed import DONE
from wormcast.sim.experiments.load.result import Totals, steady_from
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.experiments.load.statistics import interval

MESH = topology("mesh:4x4")


def results(scheme="dual-path", rate=0.01, *, cycles=20_000, warmup=None, seeds=(1, 2, 3, 4), workers=None,
            traffic=None, **options):
    traffic = traffic or Traffic(rate, length=16, destinations_mean=4)
    configuration = Configuration(**{"consumption": 2, **options})
    return load(MESH, SCHEMES[scheme], traffic, configuration=configuration, cycles=cycles, warmup=warmup, seeds=seeds,
                workers=workers)


def same(one, other):
    return {k: v for k, v in one.to_dict().items() if k != "cycles_per_second"} == {
        k: v for k, v in other.to_dict().items() if k != "cycles_per_second"}


def test_a_load_is_the_run_of_the_same_messages():
    """Two seeds' messages given to `run`, alone: same latencies, each counted once, warm-up and unfinished apart."""
    traffic, cycles, warmup = Traffic(0.02, length=16, destinations_mean=3, multicast_fraction=0.5), 4000, 1000
    found = results(traffic=traffic, cycles=cycles, warmup=warmup, seeds=(3, 4))
    means, censored, flits = [], 0, []
    for seed in (3, 4):
        made = Source(traffic, MESH, seed).until(cycles)
        messages = [Message(int(at), int(source), tuple(made.destinations[first:end].tolist()), int(length))
                    for at, source, first, end, length in
                    zip(made.at, made.source, made.offsets[:-1], made.offsets[1:], made.length, strict=True)]
        ran = run(MESH, SCHEMES["dual-path"], messages, Configuration(consumption=2))
        latencies, done = [], 0
        for index, message in enumerate(messages):
            latency = ran.message_to_dict(index)["latency"]
            received = message.at + latency
            if received < cycles and received >= warmup:
                done += message.length * len(message.destinations)
            if message.at >= warmup:
                # a receipt that is noted in the last cycle counts
                (latencies.append(latency) if received < cycles else None)
                censored += received >= cycles
        means.append(np.mean(latencies))
        flits.append(done / 3000 / 16)
    assert found.span("latency").mean == pytest.approx(np.mean(means))
    assert found.censored == censored
    assert found.per_node("completed").mean == pytest.approx(np.mean(flits))


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_results_do_not_depend_on_how_seeds_are_shared(workers):
    assert same(results(workers=1), results(workers=workers))


def test_it_goes_on_until_the_interval_is_reached():
    options = {"configuration": Configuration(consumption=2), "seeds": (1, 2, 3, 4)}
    traffic = Traffic(0.01, length=16, destinations_mean=4)
    found = load_until_interval(MESH, SCHEMES["dual-path"], traffic, cycles=64_000, **options)
    assert found.precise
    assert found.cycles in (4000, 8000, 16_000, 32_000, 64_000)
    if found.cycles > 4000:
        assert not load(MESH, SCHEMES["dual-path"], traffic, cycles=4000, **options).precise
    counted = load_until_interval(MESH, SCHEMES["dual-path"], traffic, cycles=64_000, warmup=0, **options)
    assert counted.cycles > 4000  # it went on
    assert same(counted, load(MESH, SCHEMES["dual-path"], traffic, cycles=counted.cycles, warmup=0, **options))
    rough = load_until_interval(MESH, SCHEMES["dual-path"], traffic, cycles=64_000, precision=0.5, **options)
    assert (rough.cycles, rough.precise) == (4000, True)
    full = load_until_interval(MESH, SCHEMES["dual-path"], Traffic(0.15, length=16, destinations_mean=4), cycles=64_000,
                               **options)
    assert full.saturated
    assert full.cycles == 8000  # seen twice
    warm = load_until_interval(MESH, SCHEMES["dual-path"], traffic, cycles=64_000, warmup=7000, **options)
    assert (warm.cycles >= 16_000, warm.warmup) == (True, 7000)
    short = load_until_interval(MESH, SCHEMES["dual-path"], Traffic(0.001), cycles=200, **options)
    assert (short.cycles, short.precise) == (200, False)


def test_a_light_load_is_taken_and_a_heavy_one_saturates():
    light, heavy = results(rate=0.01), results(rate=0.15)
    assert not light.saturated
    assert light.per_node("consumed").mean == pytest.approx(light.per_node("wanted").mean, rel=0.02)
    assert light.span("latency").mean == pytest.approx(
        sum(light.span(name).mean for name in ("queue_latency", "network_latency", "reception_latency")))
    assert heavy.saturated
    assert heavy.per_node("consumed").mean < 0.8 * heavy.per_node("wanted").mean
    assert heavy.censored > 100
    assert heavy.span("queue_latency").mean > 10 * light.span("latency").mean


def test_no_rate_measures_nothing():
    quiet = results(rate=0.0, cycles=100)
    assert quiet.span("latency").mean is None
    assert quiet.per_node("created").mean == 0
    assert not quiet.saturated
    assert "NaN" not in json.dumps(quiet.to_dict())


def test_a_deadlock_is_found_whoever_runs_it():
    """One consumption channel, long worms: the same cycle, the same resources, however the seeds are shared."""
    options = {"traffic": Traffic(0.02, length=64, destinations_mean=4), "cycles": 300_000, "consumption": 1, "vcs": 1,
               "buffer": 2}
    found = [results(workers=workers, **options) for workers in (1, 2, 4)]
    assert len({(one.deadlock.at, one.deadlock_seed, tuple(hold.holds for hold in one.deadlock.cycle))
                for one in found}) == 1
    assert found[0].cycles == found[0].deadlock.at
    # the seed by itself, in the first lane instead of another one: the same cycle of resources
    alone = results(**options, seeds=(found[0].deadlock_seed,))
    assert [hold.holds for hold in alone.deadlock.cycle] == [hold.holds for hold in found[0].deadlock.cycle]
    with_two = results(**{**options, "consumption": 2, "cycles": 60_000})
    assert with_two.deadlock is None


@pytest.mark.parametrize(("options", "sentence"), [
    ({"cycles": 0}, "cycles: 0 is not valid"),
    ({"cycles": 100, "warmup": 100}, "warmup: 100 is not valid with 100 cycles. Allowed: 0 to 99"),
    ({"seeds": (1, 1)}, r"seeds: .1, 1. is not valid: a seed occurs twice. Allowed: each seed once"),
    ({"seeds": ()}, "seeds: 0 seeds are not valid"),
    ({"rate": 0.3}, "rate: 0.3 is not valid: it creates 1.2 flits to consume per node and cycle, and"),
])
def test_bad_experiments_are_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        results(**options)


@pytest.mark.slow  # the bound is that of the refusals in test_load of cli
def test_separate_consumption_links_may_take_more():
    assert results(rate=0.3, cycles=2000, consumption_links="separate").saturated


def test_totals_by_hand():
    totals, done = Totals(np.array([0, 100, 200]), 2), np.zeros(3, DONE)
    done["lane"] = 0, 0, 1
    done["created"] = 90, 100, 150
    done["injected"] = 91, 103, 150
    done["handed"] = 101, 114, 160
    done["tail"] = 120, 140, 170
    done["received"] = 125, 145, 180
    done["length"], done["destinations"], done["multicast"] = 10, (2, 3, 1), (1, 1, 0)
    totals.add(done)
    (early, _), (first, second) = totals.table
    # the first message was created in the first slice, and completed in the second
    assert (early["completed"], early["messages"], early["latency"]) == (0, 1, 35)
    assert (first["completed"], first["messages"], first["multicast"], first["unicast"]) == (50, 1, 1, 0)
    assert (first["latency"], first["queue_latency"], first["network_latency"], first["reception_latency"]) == (
        45, 3, 37, 5)
    assert (first["injection_latency"], first["transit_latency"]) == (11, 26)
    assert (second["completed"], second["unicast"], second["unicast_latency"]) == (10, 1, 30)


def test_the_warm_up_is_found():
    """A transient on noise is cut off where it is through; a steady series keeps nearly all."""
    random, at = np.random.default_rng(1), np.arange(200)
    for length in (5, 20, 60):
        found = steady_from(10 - 8 * np.exp(-at / length * 4) + random.normal(0, 0.3, 200))
        assert 0.4 * length <= found <= 1.6 * length + 5
    assert steady_from(random.normal(10, 1, 200)) <= 20
    assert steady_from(np.zeros(0)) == 0
    assert steady_from(np.arange(100.0)) == 50  # it never becomes steady


def test_a_warm_up_that_is_not_given_is_short_for_a_light_load():
    light = results(rate=0.01, cycles=40_000)
    assert light.warmup <= 8000
    given = results(rate=0.01, cycles=40_000, warmup=light.warmup)
    assert same(light, given)


def test_intervals_by_hand():
    found = interval([1.0, 2.0, 3.0, float("nan")])
    assert found.mean == 2
    assert found.half_width == pytest.approx(4.3027 / 3**0.5)
    assert interval([5.0]).to_dict() == {"mean": 5.0, "half_width": None}
    assert interval([]).to_dict() == {"mean": None, "half_width": None}


def test_an_interval_covers_the_mean_in_95_of_100_cases():
    random = np.random.default_rng(1)
    samples = random.normal(7, 2, (4000, 4))
    covered = sum(abs(one.mean - 7) <= one.half_width for one in map(interval, samples)) / 4000
    assert covered == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize(("growth", "saturated"), [(0, False), (10, False), (60, True), (400, True)])
def test_queues_that_grow_are_told_from_those_that_swing(growth, saturated):
    """The number of waiting messages varies by 15 about a line."""
    found = results(cycles=2000)
    swing = 15 * np.sqrt(2) * np.sin(np.linspace(0, 31, len(found.slices)))[:, None]
    slices = found.slices.copy()
    slices["waiting"] = 50 + swing + growth * np.linspace(0, 1, len(slices))[:, None] + np.arange(len(found.seeds)) / 9
    assert dataclasses.replace(found, first=0, slices=slices).saturated == saturated


def test_precision_needs_messages_and_says_what_is_missing():
    found = results(cycles=4000, warmup=0)
    slices = np.zeros_like(found.slices)
    slices["messages"][0] = slices["begun"][0] = 30
    slices["latency"][0], slices["created"] = 30 * (100 + np.arange(4)), 1
    exact = dataclasses.replace(found, first=0, slices=slices)
    assert exact.precise
    slices = slices.copy()
    slices["messages"][0, 2], slices["latency"][0, 2] = 29, 29 * 102
    few = dataclasses.replace(exact, slices=slices)
    assert not few.precise
    assert few.imprecise == "a seed has 29 messages, fewer than 30"
    alone = dataclasses.replace(exact, slices=slices[:, :1], seeds=(1,))
    assert alone.imprecise == "one seed: no confidence interval"
    slices = slices.copy()
    slices["messages"][:, 1:] = 0
    assert dataclasses.replace(exact, slices=slices).imprecise == "only one seed has messages: no confidence interval"
    slices["messages"] = 0
    assert dataclasses.replace(exact, slices=slices).imprecise == "no message received: no latency"


@pytest.mark.parametrize(("completed", "latency", "saturated"), [
    (960, 50, False), (940, 50, False), (940, 30, True), (400, 370, True), (0, 0, False)])
def test_what_is_on_its_way_is_not_missing(completed, latency, saturated):
    """Of 1000 flits wanted of each seed in 1000 cycles; on their way are as many as the latency has cycles."""
    found = results(cycles=1000, warmup=0)
    slices = np.zeros_like(found.slices)
    slices["begun"][0] = slices["wanted"][0] = 1000
    slices["messages"][0] = slices["completed"][0] = completed
    slices["latency"][0] = completed * latency
    assert dataclasses.replace(found, first=0, slices=slices).saturated == saturated


@pytest.mark.parametrize(("begun", "received", "waiting", "state"), [
    (3, 2, 0, "too short"),  # the third is on its way by chance
    (40, 36, 0, "too short"),  # so are four: 40 x 20 / 1000 are, on average
    (40, 28, 0, "saturated"),
    (8, 8, 12, "too short"),  # the worms of a multicast or two wait at the end
    (40, 40, 12, "saturated"),
    (3, 3, 0, "")])
def test_a_few_messages_do_not_saturate(begun, received, waiting, state):
    """Messages of 10 flits, in 1000 cycles, with a latency of 20 cycles."""
    found = results(cycles=1000, warmup=0, seeds=(1,))
    slices = np.zeros_like(found.slices)
    slices["begun"][0], slices["wanted"][0] = begun, 10 * begun
    slices["messages"][0], slices["completed"][0], slices["latency"][0] = received, 10 * received, 20 * received
    slices["waiting"] = waiting * np.linspace(0, 1, len(slices))[:, None]
    one = dataclasses.replace(found, first=0, slices=slices)
    assert (one.saturated, one.too_short) == (state == "saturated", state == "too short")
    assert one.state.partition(";")[0].partition(":")[0] == (
        "saturated" if one.saturated else "saturation undecided" if one.too_short else "not saturated")


def test_a_run_that_is_too_short_to_decide_is_not_precise_and_goes_on():
    """Beyond saturation the first messages have narrow latencies, and the others are still on their way."""
    traffic, options = Traffic(0.06, length=2, destinations_mean=4), {"warmup": 0, "seeds": (1, 2, 3, 4)}
    short = dataclasses.replace(results(traffic=traffic, cycles=250, **options), precision=0.5)
    assert (short.imprecise, short.saturated, short.too_short, short.precise) == (None, False, True, False)
    further = load_until_interval(MESH, SCHEMES["dual-path"], traffic, cycles=4000, precision=0.5,
                                  configuration=Configuration(consumption=2), **options)
    assert further.cycles == 500  # a check after 250 cycles would have ended the run


def test_a_light_load_for_a_short_time_is_not_saturated():
    """Not one of 20 runs of a few messages each."""
    runs = [results(rate=0.01, cycles=400, seeds=(seed,)) for seed in range(20)]
    assert sum(one.censored > 0 for one in runs) > 2
    assert not any(one.saturated for one in runs)


@pytest.mark.parametrize("rate", [0.00002, 0.0004])
def test_a_warm_up_that_is_found_is_at_most_a_half(rate):
    for seed in range(3):
        found = results(rate=rate, cycles=20_000, seeds=(seed,))
        assert found.warmup <= 10_000


def test_a_deadlock_is_found_at_the_end_too():
    """Sooner than a worm has waited for 8192 cycles."""
    options = {"traffic": Traffic(0.04, length=20, destinations_mean=10), "consumption": 1, "vcs": 1, "cycles": 6250}
    assert results(**options).deadlock.at == 6250
    assert results(**{**options, "cycles": 100_000}).deadlock.at > 8192
