"""Quantities of a curve, from results that are made up: the points that each quantity counts."""

from dataclasses import replace

import numpy as np
import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.experiments.figure.curve import Curve
from wormcast.sim.experiments.figure.definition import Figure, Series, Variation, find_figure
from wormcast.sim.experiments.figure.rounds import curves_of

FIGURE = Figure("small", "small", "nowhere", {"topology": "mesh:3x3", "destinations_mean": 2.0}, step=0.1, most=0.8)


def result(latency, delivered, saturated=False, half=1.0, about=0.001, deadlock=None):
    each = {name: {"mean": latency * share, "half_width": half * share} for name, share in (
        ("latency", 1), ("queue_latency", 0.25), ("injection_latency", 0.5), ("transit_latency", 0.125))}
    spread = np.array([-1, 1, 0])  # of each repetition about the mean
    repetitions = [{name: None if one["mean"] is None else one["mean"] + off * one["half_width"]
                     for name, one in each.items()} | {
        "delivered_per_node": delivered + off * about, "accepted": delivered + off * about, "saturated": saturated,
        "p99": 3 * latency + 2 * off, "vc_ratio": 1.75, "copies": 2.0 + 0.1 * off, "hops_per_destination": None}
        for off in spread]
    return {**each, "replications": repetitions,
            "delivered_per_node": delivered, "delivered_per_node_half_width": about, "accepted": delivered,
            "accepted_half_width": about, "saturated": saturated,
            "deadlock": deadlock, "percentiles": {"p99": {"mean": 3 * latency, "half_width": 2.0}}, "vc_ratio": 1.75,
            "copies": {"mean": 2.0, "half_width": 0.1}, "hops_per_destination": {"mean": None, "half_width": None}}


def of_three(figure):
    """A curve of three repetitions."""
    found = Curve(figure, Series("one", {"scheme": "individual"}))
    found.options["seeds"] = 3
    return found


def curve(results):
    found = of_three(FIGURE)
    found.results = results
    return found


PLAIN = curve({4: result(10, 0.1), 8: result(20, 0.2), 12: result(90, 0.29, True), 16: result(95, 0.31, True),
               20: result(70, 0.3095, True), 24: result(5, 0.4)})


def changed(found, **values):
    """A result with other values of its repetitions: a mean and a spread."""
    each = [one | {name: None if mean is None else mean + off * half for name, (mean, half) in values.items()}
            for one, off in zip(found["replications"], (-1, 1, 0), strict=True)]
    return found | {"replications": each}


def saturated(found, *which):
    """A result that is saturated in some repetitions."""
    each = [one | {"saturated": number in which} for number, one in enumerate(found["replications"])]
    return found | {"replications": each, "saturated": bool(which)}


def values(quantity):
    """The values of the repetitions, by the load."""
    return {load: value[1].tolist() if np.ndim(value[1]) else value[1] for load, value in quantity.values.items()}


def bounds(quantity):
    """Lower and upper ends of the repetitions of a number that is the same for all loads."""
    low, _, high = quantity.values[None]
    return low.tolist(), high.tolist()


def test_points_below_saturation_count_and_saturated_ones_are_endless():
    assert curve({4: result(10, 0.1), 8: result(20, 0.2)}).steady == [4, 8]
    assert PLAIN.steady == [4, 8]
    some = curve({4: result(10, 0.1), 8: saturated(result(20, 0.2), 1), 12: result(90, 0.29, True)})
    found = values(some.measured("latency"))
    assert found[0.1] == [9, 11, 10]
    assert np.isnan(found[0.2]).all()
    assert found[0.3] == [np.inf] * 3
    assert values(some.measured("p99"))[0.1] == [28, 32, 30]
    # other words have no number where a repetition is saturated
    assert values(some.measured("delivered")).keys() == {0.1}
    assert values(some.measured("saturated")) == {0.1: [0, 0, 0], 0.2: [0, 1, 0], 0.3: [1, 1, 1]}


def test_sums_of_spans():
    assert values(PLAIN.measured("source"))[0.1] == [7.5 - 0.75, 7.5 + 0.75, 7.5]
    assert values(PLAIN.measured("queue"))[0.1] == [2.25, 2.75, 2.5]
    assert values(PLAIN.measured("delivered"))[0.1] == pytest.approx([0.099, 0.101, 0.1])


def test_a_point_without_a_mean_in_a_repetition_has_none():
    some = curve({4: result(10, 0.1), 8: changed(result(20, 0.2), latency=(None, None))})
    assert values(some.measured("latency")).keys() == {0.1}
    assert values(some.measured("transit")).keys() == {0.1, 0.2}


def test_words_of_other_series_are_refused():
    with pytest.raises(WormcastError, match=r"formula is not valid with series one of small, which has "
                                            r"load experiments\. Allowed: latency, "):
        PLAIN.measured("formula")


@pytest.mark.parametrize(("most", "places"), [(0.3, {4, 8}), (0.4, {4, 8, 16}), (0.8, {4, 8, 16})])
def test_places_along_the_load_end_at_the_figures_last(most, places):
    found = Curve(replace(FIGURE, most=most), Series("one", {"scheme": "individual"}))
    found.results = {}
    assert found.missing() == places


def test_saturation_lies_between_two_points_of_each_repetition():
    assert bounds(PLAIN.measured("saturation")) == ([0.2] * 3, [0.3] * 3)
    some = curve({4: result(10, 0.1), 8: saturated(result(20, 0.2), 1), 12: result(90, 0.29, True)})
    assert bounds(some.measured("saturation")) == ([0.2, 0.1, 0.2], [0.3, 0.2, 0.3])
    # never saturated: above the last load
    assert bounds(curve({4: result(10, 0.1)}).measured("saturation")) == ([0.1] * 3, [np.inf] * 3)


def test_throughput_is_the_mean_of_those_points_that_cannot_be_told_from_the_highest():
    some = curve({4: result(10, 0.1), 8: result(50, 0.25, True), 12: result(90, 0.31, True),
                  16: result(95, 0.3095, True, about=0.003), 20: result(70, 0.309, True)})
    mean, half = (0.31 + 0.3095 + 0.309) / 3, (0.001 + 0.003 + 0.001) / 3
    assert values(some.measured("throughput"))[None] == pytest.approx([mean - half, mean + half, mean])
    nothing = curve({4: changed(result(50, 0.3, True), accepted=(None, None))})
    assert nothing.measured("throughput").values == {}
    assert curve({4: result(10, 0.1)}).measured("throughput").values == {}  # nothing is known of its end
    assert curve({4: saturated(result(10, 0.1), 0, 1)}).measured("throughput").values == {}


OVER = Figure("over", "over", "nowhere", {"topology": "mesh:3x3", "rate": 0.3}, over="destinations_mean",
              values=(2.0, 3.0, 4.0, 8.0))


def test_a_curve_over_an_option_has_a_point_at_each_of_its_values_that_nodes_can_take():
    """At 0.3 flits created to 4 nodes a node consumes 1.2 a cycle, and it has one link."""
    curve = of_three(OVER)
    assert [curve.at(place) for place in (1, 2, 3, 4)] == [2.0, 3.0, 4.0, 8.0]
    assert curve.point(2).given["destinations_mean"] == 3.0
    assert (curve.rate(1), curve.point(1).resolved["rate"]) == (0.3, 0.3)
    assert (curve.missing(), curve.too_many) == ({1, 2}, {3, 4})
    curve.results = {1: result(10, 0.6), 2: result(20, 0.9)}
    assert (curve.missing(), curve.steady, curve.over) == (set(), [1, 2], [3, 4])
    assert bounds(curve.measured("saturation")) == ([3.0] * 3, [4.0] * 3)
    assert values(curve.measured("latency")) == {2.0: [9, 11, 10], 3.0: [19, 21, 20], 4.0: [np.inf] * 3,
                                                 8.0: [np.inf] * 3}
    assert values(curve.measured("copies"))[3.0] == pytest.approx([1.9, 2.1, 2])
    curve.results[2] = result(20, 0.9, True)
    assert (curve.steady, bounds(curve.measured("saturation"))) == ([1], ([2.0] * 3, [3.0] * 3))
    curve.results[1] = result(20, 0.9, True)
    curve.results[2] = result(20, 0.9)
    assert (curve.steady, bounds(curve.measured("saturation"))) == ([2], ([0.0] * 3, [2.0] * 3))


def test_a_curve_over_topologies_lies_at_their_nodes():
    figure = Figure("sizes", "sizes", "nowhere", {"rate": 0.01}, over="topology", values=("mesh:2x2", "mesh:3x3"))
    curve = Curve(figure, Series("one", {"scheme": "individual", "destinations_mean": 2.0}))
    assert [curve.at(place) for place in (1, 2)] == [4.0, 9.0]
    assert curve.point(2).resolved["topology"] == "mesh:3x3"
    curve.results = {}
    assert (curve.missing(), curve.too_many) == ({1, 2}, set())


def test_the_first_value_may_be_too_much():
    curve = Curve(replace(OVER, values=(8.0, 2.0)), Series("one", {"scheme": "individual"}))
    curve.results = {}
    assert (curve.missing(), curve.too_many) == ({2}, {1})


def test_what_a_curve_has_once():
    assert values(PLAIN.measured("copies"))[None] == pytest.approx([1.9, 2.1, 2])
    assert PLAIN.measured("vc_ratio").values[None] == (1.75, 1.75, 1.75)  # exact
    assert PLAIN.measured("hops").values == {}
    means = [(2.0, 0.25), (3.0, 0.0), (None, None)]
    some = curve({4 + 4 * k: changed(result(10, 0.1), copies=one) for k, one in enumerate(means)})
    assert values(some.measured("copies"))[None] == [2.5 - 0.125, 2.5 + 0.125, 2.5]


def test_a_deadlock_ends_a_curve():
    dead = curve({4: result(10, 0.1), 8: {**result(0, 0), "deadlock": {"seed": 1}, "saturated": None}})
    assert (dead.steady, dead.deadlocked) == ([4], [8])


def test_loads_and_rates():
    """Two destinations each: half the load is created."""
    point = PLAIN.point(4)
    assert (PLAIN.at(4), point.given["rate"]) == (0.1, 0.05)
    assert point.resolved["until_interval"] is True
    series = Series("one", {"scheme": "individual"})
    for short in (Curve(FIGURE, series, quick=True), Curve(FIGURE, series, Variation("as it is", "", {}, {}))):
        short_point = short.point(4)
        assert (point.resolved["cycles"], short_point.resolved["cycles"]) == (200_000, 25_000)
        assert short_point.resolved["precision"] == 2 * point.resolved["precision"]


@pytest.mark.parametrize(("length", "cycles"), [(16, 25_000), (160, 71_112), (1600, 200_000)])
def test_a_pilot_run_has_enough_messages(length, cycles):
    """The network creates 200 messages, but runs for no more than the figure's cycles."""
    figure = replace(FIGURE, options={**FIGURE.options, "length": length})
    point = Curve(figure, Series("one", {"scheme": "individual"}), quick=True).point(4)
    assert point.resolved["cycles"] == cycles
    assert (cycles * 9 * 0.05 / length >= 200) == (length < 1600)


@pytest.mark.parametrize(("figure", "series", "variation", "same"), [
    ("002-fig15", "column-path", "covered", True),  # 4 flits on each of two virtual channels, as they are
    ("002-fig15", "e-mcast", "split", True),
    ("002-fig15", "multipath", "split", False),
    ("002-fig15", "multipath", "all-ports", False),
    ("002-fig10", "multipath", "covered", False),
    ("003-fig7a", "tp", "u1", False),  # there all places are too many
])
def test_a_variation_that_leaves_a_series_as_it_is_has_its_curve(figure, series, variation, same):
    curves = curves_of(find_figure(figure))
    assert (curves[series, variation] is curves[series, None]) == same
