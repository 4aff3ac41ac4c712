"""What a curve says, of results that are made up: which points count for what."""

import math
from dataclasses import replace

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.experiments.figure.curve import Curve
from wormcast.sim.experiments.figure.definition import Figure, Series, Variation, find_figure
from wormcast.sim.experiments.figure.rounds import curves_of

FIGURE = Figure("small", "small", "nowhere", {"topology": "mesh:3x3", "destinations_mean": 2.0}, step=0.1, most=0.8)


def result(latency, delivered, saturated=False, half=1.0, about=0.001, deadlock=None):
    each = {name: {"mean": latency * share, "half_width": half * share} for name, share in (
        ("latency", 1), ("queue_latency", 0.25), ("injection_latency", 0.5), ("transit_latency", 0.125))}
    return {**each, "delivered_per_node": delivered, "delivered_per_node_half_width": about, "accepted": delivered,
            "accepted_half_width": about, "saturated": saturated,
            "deadlock": deadlock, "percentiles": {"p99": {"mean": 3 * latency, "half_width": 2.0}}, "vc_ratio": 1.75,
            "copies": {"mean": 2.0, "half_width": 0.1}, "hops_per_destination": {"mean": None, "half_width": None}}


def curve(results):
    found = Curve(FIGURE, Series("one", {"scheme": "individual"}))
    found.results = results
    return found


PLAIN = curve({4: result(10, 0.1), 8: result(20, 0.2), 12: result(90, 0.29, True), 16: result(95, 0.31, True),
               20: result(70, 0.3095, True), 24: result(5, 0.4)})


def changed(found, **values):
    """A result with other means and intervals."""
    return found | {name: {"mean": mean, "half_width": half} for name, (mean, half) in values.items()}


def test_points_below_the_first_saturated_one_count():
    assert curve({4: result(10, 0.1), 8: result(20, 0.2)}).steady == [4, 8]
    assert PLAIN.steady == [4, 8]
    assert PLAIN.measured("latency").values == {0.1: (9, 10, 11), 0.2: (19, 20, 21)}
    assert PLAIN.measured("p99").values[0.2] == (58, 60, 62)


def test_sums_of_spans():
    assert PLAIN.measured("source").values[0.1] == (7.5 - 0.75, 7.5, 7.5 + 0.75)
    assert PLAIN.measured("queue").values[0.1] == (2.25, 2.5, 2.75)
    assert PLAIN.measured("delivered").values[0.1] == pytest.approx((0.099, 0.1, 0.101))


def test_an_unknown_error_is_no_small_one_and_a_point_without_a_mean_is_none():
    some = curve({4: changed(result(10, 0.1), latency=(10, None), injection_latency=(5, 0.0)),
                  8: changed(result(20, 0.2), latency=(None, None), queue_latency=(None, None))})
    assert some.measured("latency").values == {0.1: (-math.inf, 10, math.inf)}
    assert some.measured("source").values == {0.1: (7.5 - 0.25, 7.5, 7.5 + 0.25)}
    assert some.measured("transit").values.keys() == {0.1, 0.2}


def test_words_of_other_series_are_refused():
    with pytest.raises(WormcastError, match=r"formula is not valid: series one has load experiments\. "
                                            "Allowed: latency, "):
        PLAIN.measured("formula")


@pytest.mark.parametrize(("most", "places"), [(0.3, {4, 8}), (0.4, {4, 8, 16}), (0.8, {4, 8, 16})])
def test_places_along_the_load_end_at_the_figures_last(most, places):
    found = Curve(replace(FIGURE, most=most), Series("one", {"scheme": "individual"}))
    found.results = {}
    assert found.missing() == places


def test_saturation_lies_between_two_points():
    assert PLAIN.measured("saturation").values == {None: (0.2, 0.25, 0.3)} or \
        PLAIN.measured("saturation").values[None] == pytest.approx((0.2, 0.25, 0.3))
    assert curve({4: result(10, 0.1)}).measured("saturation").values == {}


def test_throughput_is_the_mean_of_those_points_that_cannot_be_told_from_the_highest():
    some = curve({4: result(10, 0.1), 8: result(50, 0.2995, True), 12: result(90, 0.31, True),
                  16: result(95, 0.3095, True, about=0.003), 20: result(70, 0.309, True)})
    low, mean, high = some.measured("throughput").values[None]
    assert mean == pytest.approx((0.31 + 0.3095 + 0.309) / 3)
    half = (0.001 + 0.003 + 0.001) / 3
    assert (low, high) == pytest.approx((mean - half, mean + half))
    # with the errors that these have they meet just so, or just not
    for about, count in [(0.015625, 2), (0.015, 1)]:
        two = curve({4: result(10, 0.5, True, about=0.015625), 8: result(50, 0.53125, True, about=about)})
        low, mean, high = two.measured("throughput").values[None]
        assert mean == (0.515625 if count == 2 else 0.53125)
        assert (high - low) / 2 == pytest.approx(about)
    exact = curve({4: changed(result(10, 0.1), accepted=(0.25, 0.0)),
                   8: changed(result(50, 0.3, True), accepted=(None, None))})
    assert exact.measured("throughput").values == {None: (0.25, 0.25, 0.25)}
    nothing = curve({4: changed(result(50, 0.3, True), accepted=(None, None))})
    assert nothing.measured("throughput").values == {}
    assert curve({4: result(10, 0.1)}).measured("throughput").values == {}  # nothing is known of its end


OVER = Figure("over", "over", "nowhere", {"topology": "mesh:3x3", "rate": 0.3}, over="destinations_mean",
              values=(2.0, 3.0, 4.0, 8.0))


def test_a_curve_over_an_option_has_a_point_at_each_of_its_values_that_nodes_can_take():
    """At 0.3 flits created to 4 nodes a node consumes 1.2 a cycle, and it has one link."""
    curve = Curve(OVER, Series("one", {"scheme": "individual"}))
    assert [curve.at(place) for place in (1, 2, 3, 4)] == [2.0, 3.0, 4.0, 8.0]
    assert curve.point(2).given["destinations_mean"] == 3.0
    assert (curve.rate(1), curve.point(1).resolved["rate"]) == (0.3, 0.3)
    assert (curve.missing(), curve.too_many) == ({1, 2}, {3, 4})
    curve.results = {1: result(10, 0.6), 2: result(20, 0.9)}
    assert (curve.missing(), curve.steady, curve.over) == (set(), [1, 2], [3, 4])
    assert curve.measured("saturation").values[None] == (3.0, 3.5, 4.0)
    assert curve.measured("latency").values == {2.0: (9, 10, 11), 3.0: (19, 20, 21)}
    assert curve.measured("copies").values[3.0] == pytest.approx((1.9, 2, 2.1))
    curve.results[2] = result(20, 0.9, True)
    assert (curve.steady, curve.measured("saturation").values[None]) == ([1], (2.0, 2.5, 3.0))
    curve.results[1] = result(20, 0.9, True)
    curve.results[2] = result(20, 0.9)
    assert (curve.steady, curve.measured("saturation").values[None]) == ([2], (0.0, 1.0, 2.0))


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
    assert PLAIN.measured("copies").values[None] == pytest.approx((1.9, 2, 2.1))
    assert PLAIN.measured("vc_ratio").values[None] == (1.75, 1.75, 1.75)
    assert PLAIN.measured("hops").values == {}
    means = [(2.0, 0.25), (3.0, 0.0), (None, None)]
    some = curve({4 + 4 * k: changed(result(10, 0.1), copies=one) for k, one in enumerate(means)})
    assert some.measured("copies").values[None] == (2.5 - 0.125, 2.5, 2.5 + 0.125)


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
