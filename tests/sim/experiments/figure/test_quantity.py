"""Arithmetic of intervals against samples from them, and what can be said of two."""

import random

import numpy as np
import pytest

from wormcast.sim.experiments.figure.quantity import Quantity

OPERATORS = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y}


@pytest.mark.parametrize("sign", OPERATORS)
def test_what_lies_in_two_intervals_lies_in_what_comes_of_them(sign):
    chance = random.Random(sign)
    of = OPERATORS[sign]
    for _ in range(300):
        mean, half = chance.uniform(-5, 5), chance.uniform(0, 3)
        other, about = chance.uniform(4, 9), chance.uniform(0, 3)
        low, middle, high = of(Quantity.of(mean, half), Quantity.of(other, about)).values[None]
        assert middle == pytest.approx(of(mean, other))
        found = [of(chance.uniform(mean - half, mean + half), chance.uniform(other - about, other + about))
                 for _ in range(50)]
        assert low - 1e-9 <= min(found) <= max(found) <= high + 1e-9
        corners = [of(mean + p * half, other + q * about) for p in (-1, 1) for q in (-1, 1)]
        assert (low, high) == pytest.approx((min(corners), max(corners)))


def test_nothing_is_divided_by_what_may_be_zero():
    assert (Quantity.of(1.0) / Quantity.of(0.5, 0.6)).values == {}
    assert (Quantity.of(1.0) / Quantity.of(0.5, 0.5)).values == {}
    assert Quantity({0.1: (-1, 0, 1), 0.2: (1, 2, 3)}).precision.values == {0.2: (0.5, 0.5, 0.5)}


def test_values_at_loads_meet_those_at_the_same_loads_alone():
    first = Quantity({0.1: (1, 2, 3), 0.2: (4, 5, 6)})
    second = Quantity({0.2: (1, 1, 1), 0.3: (9, 9, 9)})
    assert (first + second).values == {0.2: (5, 6, 7)}
    assert (first + Quantity.of(1)).values == {0.1: (2, 3, 4), 0.2: (5, 6, 7)}
    assert first.at(0.1 + 1e-12).values == {None: (1, 2, 3)}
    assert first.at(0.1 + 1e-8).values == {}
    assert Quantity.of(1).at(0.1).values == {}
    assert abs(Quantity.of(-1, 2)).values == {None: (0.0, 1, 3)}


@pytest.mark.parametrize(("first", "second", "verdict"), [
    ((1, 0.5), (2, 0.4), "held"), ((1, 0.5), (2, 0.6), "undecided"), ((3, 0.5), (2, 0.4), "not held"),
    ((2, 0), (2, 0), "not held"),  # equal exact numbers: neither is less
])
def test_intervals_must_lie_apart(first, second, verdict):
    assert Quantity.of(*first).below(Quantity.of(*second)).verdict() == verdict


@pytest.mark.parametrize(("value", "verdict"), [
    ((1.0, 0.0), "held"), ((1.0, 0.125), "held"), ((1.0, 0.25), "held"), ((1.0, 0.375), "undecided"),
    ((1.5, 0.125), "not held"), ((1.5, 0.25), "undecided"), ((1.375, 0.25), "undecided"), ((1.125, 0.25), "undecided"),
    ((0.5, 0.125), "not held"), ((0.5, 0.25), "undecided"), ((0.625, 0.25), "undecided"), ((0.875, 0.25), "undecided"),
])
def test_between(value, verdict):
    """The ends count."""
    assert Quantity.of(*value).between(0.75, 1.25).verdict() == verdict


@pytest.mark.parametrize(("first", "second", "verdict"), [
    ((3, 3, 3), (3, 3, 3), "held"), ((3, 3, 3), (4, 4, 4), "not held"), ((4, 4, 4), (3, 3, 3), "not held"),
    ((2, 3, 4), (5, 6, 7), "not held"), ((2, 3, 4), (4, 5, 6), "undecided"), ((2, 3, 5), (4, 6, 7), "undecided"),
    ((2, 3, 4), (3, 3, 3), "undecided"), ((3, 3, 3), (2, 3, 4), "undecided"), ((3, 3, 3), (2, 4, 5), "undecided"),
    # intervals of two numbers, not one number
    ((2, 3, 4), (2, 3, 4), "undecided"), ((2, 3, 3), (2, 3, 3), "undecided"), ((3, 3, 4), (3, 3, 4), "undecided"),
])
def test_the_same_number(first, second, verdict):
    one, other = Quantity({None: first}), Quantity({None: second})
    assert one.same(other).verdict() == other.same(one).verdict() == verdict


def test_numbers_are_written_at_three_loads():
    many = Quantity({k / 10: (k - 0.25, k, k + 0.25) for k in range(1, 8)})
    assert str(many) == "1 +- 0.25 at 0.1; 4 +- 0.25 at 0.4; 7 +- 0.25 at 0.7"
    assert str(Quantity({load: many.values[load] for load in (0.3, 0.1, 0.2)})) == (
        "1 +- 0.25 at 0.1; 2 +- 0.25 at 0.2; 3 +- 0.25 at 0.3")
    assert str(Quantity({load: many.values[load] for load in (0.4, 0.1, 0.3, 0.2)})) == (
        "1 +- 0.25 at 0.1; 3 +- 0.25 at 0.3; 4 +- 0.25 at 0.4")
    assert (str(Quantity.range(1, 3, 4)), str(Quantity.range(2, 3, 5))) == ("3 (1 to 4)", "3 (2 to 5)")
    assert str(Quantity.of(3.5)) == "3.5"
    assert str(Quantity({})) == "-"
    each = np.array([1.0, 2.0, 3.0])
    assert str(Quantity.repeated({0.1: each, 0.2: [np.inf] * 3, 0.3: [np.nan] * 3})) == (
        "2 +- 2.5 at 0.1; saturated at 0.2; saturated in some repetitions at 0.3")
    assert str(Quantity.of(1138.2, 690.0)) == "1138 +- 690"


@pytest.mark.parametrize(("low", "high", "text"), [
    ([20, 20, 40], [40, 40, 60], "20 to 60"), ([20, 20, 100], [40, 40, np.inf], "above 20"),
    ([100] * 3, [np.inf] * 3, "above 100")])
def test_numbers_between_points_of_a_grid(low, high, text):
    low, high = np.array(low, float), np.array(high, float)
    one = Quantity({None: (low, np.where(np.isinf(high), low, (low + high) / 2), high)}, by_each=True)
    assert str(one) == text
    same = one.below(one)
    assert (same.verdict(), same.region()) == (
        "undecided", "not all repetitions show the same order of the two sides of the statement")
    assert one.below(Quantity.of(101.0)).region() == ("" if text == "20 to 60" else same.region())


@pytest.mark.parametrize("sign", OPERATORS)
def test_arithmetic_works_on_each_repetition(sign):
    first, second = np.array([3.0, 5.0, 9.0]), np.array([2.0, 4.0, 1.0])
    for one, other in ((first, second), (first, 2.0), (3.0, second)):
        numbers = [Quantity.repeated({0.1: value}) if isinstance(value, np.ndarray) else Quantity.of(value)
                   for value in (one, other)]
        low, mean, high = OPERATORS[sign](*numbers).values[0.1]
        assert low.tolist() == mean.tolist() == high.tolist() == OPERATORS[sign](one, other).tolist()


def test_repetitions_with_ranges_need_lower_ends_apart():
    """Latency in cycles over the clock, which is a range: the difference must exceed the range and the noise."""
    latency = Quantity.repeated({0.1: 100 + np.random.default_rng(1).normal(0, 1, 10)})
    for half, verdict in ((1.0, "held"), (5.0, "undecided")):
        assert (latency / Quantity.of(110, half)).below(latency / Quantity.of(100, half)).verdict() == verdict
