"""Points with the same traffic are compared over the same cycles, where their warm-up is found."""

import functools

import pytest

from wormcast.sim import load
from wormcast.sim.experiments.sweep import over_same_cycles, points, read

GIVEN = """\
topology = "mesh:4x4"
scheme = ["individual", "dual-path", "multipath"]
rate = [0.01, 0.05]
cycles = 4000
seeds = 2
length = 16
destinations_mean = 6
consumption = 4
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Makes the points of a sweep's file, and what each of them stores, once for all tests that read them."""
    @functools.cache
    def build(text):
        file = tmp_path_factory.mktemp("sweep") / "small.toml"
        file.write_text(text)
        found = points(read(file))
        return found, [point.run() for point in found]

    return build


def alone(point, warmup):
    """Return the result of `load` for a point with this warm-up."""
    seed, seeds = point.resolved["seed"], point.resolved["seeds"]
    return load(point.network, point.scheme, point.traffic, configuration=point.configuration,
                cycles=point.resolved["cycles"], warmup=warmup, seeds=range(seed, seed + seeds)).to_dict()


def test_one_rate_has_one_warm_up_and_one_load(built):
    found, stored = built(GIVEN)
    assert len({one["warmup_used"] for one in stored[1::2]}) > 1  # found apart
    results = over_same_cycles(found, stored)
    for of_rate in (results[0::2], results[1::2]):
        assert len({one["warmup_used"] for one in of_rate}) == 1
        assert len({(one["offered"], one["effective"], one["effective_half_width"]) for one in of_rate}) == 1


def test_the_warm_up_is_no_shorter_than_any_and_a_tenth_longer_at_most(built):
    found, stored = built(GIVEN)
    results = over_same_cycles(found, stored)
    for first in range(2):
        longest = max(one["warmup_used"] for one in stored[first::2])
        assert longest <= results[first]["warmup_used"] <= min(longest + 400, 2000)


def test_results_are_those_of_load_with_this_warm_up(built):
    found, stored = built(GIVEN)
    for point, result in zip(found, over_same_cycles(found, stored), strict=True):
        expected = alone(point, result["warmup_used"])
        assert {name: value for name, value in result.items() if name in expected and name != "cycles"} == {
            name: expected[name] for name in result if name in expected and name != "cycles"}


def test_a_point_alone_keeps_its_warm_up(built):
    found, stored = built(GIVEN.replace('["individual", "dual-path", "multipath"]', '"multipath"'))
    for point, result in zip(found, over_same_cycles(found, stored), strict=True):
        assert result["warmup_used"] == alone(point, None)["warmup"]
        assert "later" not in result


def test_other_traffic_is_apart(built):
    """Points that differ in what is sent need no common warm-up."""
    text = GIVEN.replace("length = 16", "length = [16, 17]").replace('["individual", "dual-path", "multipath"]',
                                                                     '"multipath"')
    found, stored = built(text)
    assert [one["warmup_used"] for one in over_same_cycles(found, stored)] == [one["warmup_used"] for one in stored]


@pytest.mark.parametrize("more", ["warmup = 200\n", "until_interval = true\nprecision = 0.3\n"])
def test_a_warm_up_that_is_given_or_cycles_of_ones_own_stay(built, more):
    found, stored = built(GIVEN.replace("[0.01, 0.05]", "0.05").replace('"individual", ', "") + more)
    assert over_same_cycles(found, stored) == stored


def test_a_deadlock_is_left_out(built):
    text = GIVEN.replace("cycles = 4000", "cycles = 20000").replace("consumption = 4", "consumption = [1, 4]\nvcs = 1")
    found, stored = built(text.replace("[0.01, 0.05]", "0.05").replace('"individual", ', ""))
    assert {one["deadlock"] is None for one in stored} == {True, False}
    results = over_same_cycles(found, stored)
    assert all("later" not in one for one in results)
    assert len({one["warmup_used"] for one in results if one["deadlock"] is None}) == 1
    assert all(one["warmup_used"] is None for one in results if one["deadlock"] is not None)


@pytest.mark.parametrize("cycles", [1, 2, 3, 7, 150])
def test_short_experiments_have_a_warm_up_in_common(built, cycles):
    found, stored = built(GIVEN.replace("4000", str(cycles)))
    results = over_same_cycles(found, stored)
    for of_rate in (results[0::2], results[1::2]):
        assert len({one["warmup_used"] for one in of_rate}) == 1
        assert of_rate[0]["warmup_used"] <= cycles / 2


def test_traces_have_none(built, tmp_path):
    trace = tmp_path / "some.jsonl"
    trace.write_text('{"cycle": 0, "source": 0, "destinations": [1, 2], "length": 4}\n')
    found, stored = built(f'topology = "mesh:4x4"\nscheme = ["individual", "dual-path"]\ntrace = "{trace}"\n')
    assert over_same_cycles(found, stored) == stored
    assert [one["warmup_used"] for one in stored] == [0, 0]
