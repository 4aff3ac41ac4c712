"""Predicates: what they are allowed to be, and what they say of numbers that are given."""

import re
from math import inf

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.experiments.figure.predicate import NO_VALUE, Number, Predicate
from wormcast.sim.experiments.figure.quantity import Quantity

MEASURED = {
    ("latency", "a"): Quantity({0.1: (9, 10, 11), 0.2: (19, 20, 21), 0.3: (99, 100, 101)}),
    ("latency", "b"): Quantity({0.1: (29, 30, 31), 0.2: (38, 40, 42)}),
    ("throughput", "a"): Quantity.of(0.2, 0.01),
    ("throughput", "other:b"): Quantity.of(0.3, 0.01),
    ("hops", "a"): Quantity.of(2.8, 0.01),
    ("latency", "later"): Quantity({0.7: (29, 30, 31)}),
    ("latency", "endless"): Quantity.repeated({0.1: [inf] * 3, 0.2: [inf] * 3}),
    ("saturated", "a"): Quantity.repeated({0.1: [0, 0, 0], 0.2: [0, 1, 0], 0.3: [1, 1, 1]}),
}
TOLD = {("check x", "free"): True, ("plan x", "hops"): 19, ("plan x", "name"): "dual-path", ("check x", "exit"): 3,
        ("plan y", "hops"): {"mean": 3.0, "half_width": 0.1}, ("plan y", "copies"): {"mean": 3.0, "half_width": None},
        ("plan y", "shared"): {"mean": 0.0, "half_width": 0.0}, ("plan y", "links"): 2.5,
        ("load z", "latency"): {"mean": None, "half_width": None},
        ("load z", "utilisation"): {"mean": 0.5, "half_width": 0.1, "max": 0.9}}


def evaluate(text):
    return Predicate(text).evaluate(lambda word, series: MEASURED[word, series], lambda *asked: TOLD[asked])


@pytest.mark.parametrize(("text", "verdict"), [
    ("latency('a') < latency('b')", "held"),
    ("latency('a') > latency('b')", "not held"),
    ("1.5 * latency('a') < latency('b')", "held"),
    ("2.5 * latency('a') < latency('b')", "not held"),  # held at 0.1, reversed at 0.2
    ("2.5 * latency('a', 0.1) < latency('b', 0.1)", "held"),
    ("latency('a', 0.4) < latency('b', 0.4)", "undecided"),
    ("throughput('other:b') > throughput('a')", "held"),
    ("throughput('other:b') / throughput('a') > 1.6", "undecided"),
    ("latency('a') < latency('b') and throughput('a') > throughput('other:b')", "not held"),
    ("latency('a') < latency('b') or throughput('a') > throughput('other:b')", "held"),
    ("not latency('a') > latency('b')", "held"),
    ("5 < latency('a') < latency('b')", "held"),
    ("within(hops('a'), 2.81, 0.015)", "held"),
    ("within(hops('a'), 2.9, 0.015)", "not held"),
    ("within(hops('a'), 2.7, 0.05)", "held"),
    ("within(hops('a'), 2.7, 0.03)", "not held"),
    ("comparable(throughput('a'), throughput('other:b'))", "not held"),
    ("comparable(throughput('other:b'), throughput('a'))", "not held"),
    ("comparable(latency('a'), latency('a'))", "held"),
    ("max(hops('a'), 3) == 3", "held"),
    ("min(hops('a'), 3) < 3", "held"),
    ("abs(1 - hops('a')) > 1.7", "held"),
    ("precision(latency('a')) < 0.06", "not held"),  # 0.1 at 0.1
    ("comparable(throughput('a'), throughput('other:b'), 2)", "held"),
    ("saturated('a', 0.3)", "held"),
    ("saturated('a', 0.2)", "undecided"),  # in one of three repetitions
    ("saturated('a', 0.1)", "not held"),
    ("saturated('a', 0.4)", "undecided"),
    ("saturated('a', 0.3) and not saturated('a', 0.1)", "held"),
    ("precision(latency('a', 0.2)) < 0.06", "held"),
    ("precision(throughput('a')) < 0.04", "not held"),
    ("max(hops('a')) < 2.9 and min(hops('a')) < 2.9", "held"),
    ("-hops('a') < 0", "held"),
    ("0 - 3 == -3", "held"),
    ("count(hops('a') < 3, hops('a') < 2, hops('a') > 2) > 1", "held"),
    ("count(hops('a') < 3, hops('a') < 2.8) > 1", "undecided"),
    # one of these holds, and one may
    ("count(hops('a') < 3, hops('a') < 2.8, hops('a') < 2) > 0", "held"),
    ("count(hops('a') < 3, hops('a') < 2.8, hops('a') < 2) < 3", "held"),
    ("count(hops('a') < 3, hops('a') < 2.8, hops('a') < 2) == 1", "undecided"),
    ("count(hops('a') < 3, hops('a') < 2) == 1", "held"),
    ("count(hops('a') < 2) == 0", "held"),
    ("output('plan x', 'hops') == 19", "held"),
    ("output('plan x', 'hops') / 2 < 10", "held"),
    ("output('plan y', 'hops') < 3.2", "held"),
    ("output('plan y', 'hops') < 3.05", "undecided"),
    ("output('plan y', 'copies') < 3.05", "undecided"),  # its error is unknown
    ("output('plan y', 'copies') < 1000", "undecided"),
    ("output('plan y', 'copies') == 3", "undecided"),
    ("2 * output('plan y', 'copies') - output('plan y', 'copies') > 0", "undecided"),
    ("precision(output('plan y', 'copies')) < 0.05", "undecided"),
    ("precision(output('plan y', 'copies')) > 0.05", "undecided"),
    ("abs(0 * output('plan y', 'copies')) < 1", "undecided"),
    ("within(output('plan y', 'copies'), 3, 0.5)", "undecided"),
    ("max(output('plan y', 'copies'), 100) > 50", "held"),
    ("output('plan y', 'copies') < output('plan y', 'copies')", "undecided"),
    ("comparable(output('plan y', 'hops'), output('plan y', 'copies'))", "undecided"),
    ("output('plan y', 'shared') == 0", "held"),
    ("output('plan y', 'hops') == 0", "not held"),
    ("output('plan y', 'hops') == 3", "undecided"),
    ("output('plan y', 'links') < 3", "held"),
    ("output('plan x', 'hops') == 'dual-path'", "not held"),
    ("output('plan x', 'name') == 19", "not held"),
    ("output('plan x', 'name') == 'dual-path'", "held"),
    ("output('check x', 'exit') == 0", "not held"),
    ("output('check x', 'free') == True", "held"),
    ("output('check x', 'free') == False", "not held"),
])
def test_verdicts(text, verdict):
    assert evaluate(text).truth.verdict() == verdict


@pytest.mark.parametrize(("text", "reason"), [
    ("latency('a', 0.4) < latency('b', 0.4)", NO_VALUE),
    ("saturated('a', 0.4)", NO_VALUE),
    ("latency('a') < latency('later')", "both sides of the statement were measured at different loads"),
    ("1.5 * latency('endless', 0.1) < latency('endless', 0.2)",
     "both sides of the statement are saturated wherever they are compared"),
    ("latency('a') < latency('b') and not latency('endless', 0.1) < 12",
     "one side of the statement is saturated wherever both are compared, and then a latency has no upper bound"),
    ("comparable(latency('endless', 0.2), latency('endless', 0.1))",
     "both sides of the statement are saturated wherever they are compared"),
])
def test_a_comparison_without_a_load_says_why(text, reason):
    truth = evaluate(text).truth
    assert (truth.verdict(), truth.region()) == ("undecided", reason)


def test_the_numbers_of_both_sides_are_told():
    found = evaluate("1.5 * latency('a') < latency('b') and throughput('a') < 1")
    left = "1.5 * latency('a'): 15 +- 1.5 at 0.1; 30 +- 1.5 at 0.2; 150 +- 1.5 at 0.3"
    right = "latency('b'): 30 +- 1 at 0.1; 40 +- 2 at 0.2"
    assert found.numbers == [f"{left}, {right}", "throughput('a'): 0.2 +- 0.01"]
    assert evaluate("within(hops('a'), 3, 0.1)").numbers == ["hops('a'): 2.8 +- 0.01"]
    assert evaluate("output('plan x', 'hops') < hops('a')").numbers == ["hops: 19, hops('a'): 2.8 +- 0.01"]


def test_the_series_that_it_names():
    text = "latency('a') < latency('x:b', 0.1) and copies('c') < output('plan x', 'hops')"
    assert sorted(Predicate(text).series) == ["a", "c", "x:b"]


@pytest.mark.parametrize(("text", "sentence"), [
    ("within(latency('a'), 3)", re.escape("Allowed: within(A, B, SHARE) with a number SHARE: A is")),
    ("within(latency('a'), 3, 0.1, 4)", re.escape("Allowed: within(A, B, SHARE)")),
    ("within(latency('a'), 3, latency('a'))", re.escape("(1 + SHARE). Argument 3 is a number without a sign")),
    ("latency('a', latency('a')) < 3", re.escape("latency('SERIES', LOAD). Argument 2 is a number without a sign")),
    ("latency('a', 1, 2) < 3", re.escape("Allowed: latency('SERIES'), or latency('SERIES', LOAD)")),
    ("comparable(1, 2, 3, 4)", re.escape("Allowed: comparable(A, B), or comparable(A, B, RATIO)")),
    ("comparable(1, 2, hops('a'))", "Argument 3 is a number without a sign"),
    ("saturated('a')", re.escape("Allowed: saturated('SERIES', LOAD)")),
    ("within(latency('a'), 3, None)", "Argument 3 is a number without a sign"),
    ("comparable(1)", re.escape("Allowed: comparable(A, B), or")),
    ("output('plan x', 'hops', 1) < 3", re.escape("Allowed: output('COMMAND', 'PATH')")),
    *((f"{name}({given}) < 3", "Allowed: 1 argument") for name in ("abs", "precision") for given in ("", "1, 2")),
    *((f"{name}() < 3", "Allowed: 1 to 100 arguments") for name in ("max", "min", "count")),
    ("latency('a') <", "Allowed: a comparison"),
    ("latency('a')", "Allowed: a comparison"),
    ("__import__('os').system('true') < 1", r"is not valid: formulas have no __import__\('os'\).system"),
    ("open('x') < 1", r"open\('x'\) is not valid. Allowed: latency"),
    ("latency('a')() < 1", "Allowed: latency"),
    ("latency(a) < 1", re.escape("Allowed: latency('SERIES'), or latency('SERIES', LOAD).")),
    ("latency(0.1, 'a') < 1", re.escape("Allowed: latency('SERIES'), or latency('SERIES', LOAD).")),
    ("output('plan x') < 1", re.escape("Allowed: output('COMMAND', 'PATH').")),
    ("abs('a') < 1", "Allowed: numbers, without texts"),
    ("[latency('a')] < 1", r"is not valid: formulas have no \[latency\('a'\)\]. Allowed"),
    ("latency('a', at=0.1) < 1", "is not valid: formulas have no at=0.1"),
    ("latency('a') <= 1", "is not valid: formulas have no <=. Allowed"),
    ("latency('a') ** 2 < 1", r"is not valid: formulas have no \*\*. Allowed"),
    ("(x := 1) < 1", r"is not valid: formulas have no \(x := 1\). Allowed"),
    ("latency('a') < nan", "is not valid: nan is neither a number nor a text in quotes"),
    ("'a' < 'b'", "is not valid: 'a' is not a number. Allowed: numbers beside < and"),
    ("latency('a') < True", "is not valid: True is not a number"),
    ("(" * 300 + "1" + ")" * 300 + " < 2", "is not valid: it has too many brackets inside one another"),
    ("latency('a') < " + "1" * 5000, "is not valid: a number has too many digits"),
    ("latency('a') < < 1", "is not valid: it cannot be read from character 16 of line 1 on"),
    ("hops('a') + None < 3", "None is not valid. Allowed: a number"),
    ("hops('a') + (not 1) < 3", "not 1 is not valid. Allowed: a number"),
    ("hops('a') + (1 < 2) < 3", "1 < 2 is not valid. Allowed: a number"),
    ("-(hops('a') < 3)", "Allowed: a comparison"),
    ("1 and hops('a') < 3", "1 is not valid. Allowed: a comparison"),
    ("hops('a') and hops('a') < 3", r"hops\('a'\) is not valid. Allowed: a comparison"),
    ("within(1, 2, 0.5) < 3", r"within\(1, 2, 0.5\) is not valid. Allowed: a number"),
    ("count(hops('a')) > 1", r"hops\('a'\) is not valid. Allowed: a comparison"),
    ("max(hops('a') < 1) > 1", r"hops\('a'\) < 1 is not valid. Allowed: a number"),
    ("within(hops('a') < 1, 2, 3)", r"hops\('a'\) < 1 is not valid. Allowed: a number"),
])
def test_refusals(text, sentence):
    with pytest.raises(WormcastError, match=rf"{sentence}(?!\w)"):
        Predicate(text)


@pytest.mark.parametrize(("text", "sentence"), [
    ("output('plan x', 'name') < 1", "Allowed: numbers"),
    ("output('load z', 'latency') < 1", "Allowed: numbers"),
    ("output('load z', 'utilisation') < 1", "Allowed: numbers"),
    ("output('plan x', 'name') + 1 < 3", "Allowed: a number"),
])
def test_what_is_refused_when_it_is_evaluated(text, sentence):
    with pytest.raises(WormcastError, match=sentence):
        evaluate(text)


def test_numbers_of_what_commands_tell():
    told = {("plan a", "hops"): 7, ("plan b", "hops"): 5}
    number = Number("2 * output('plan a', 'hops') + min(output('plan b', 'hops'), 9)")
    assert number.commands == ["plan a", "plan b"]
    assert number.ends(lambda command, where: told[command, where]) == (19, 19, 19)


@pytest.mark.parametrize(("text", "sentence"), [
    ("output('plan a', 'hops') < 3", "number: .* < 3\" is not valid: it is a comparison. Allowed: a formula"),
    ("output('plan a', 'hops') +", "number: .* is not valid: .* Allowed: a formula whose value is a number"),
    ("not output('plan a', 'hops')", "number: .* is not valid. Allowed: a number"),
    ("other('plan a')", "number: other\\('plan a'\\) is not valid. Allowed: latency, "),
])
def test_what_is_no_number(text, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Number(text)


def test_numbers_name_no_series():
    with pytest.raises(WormcastError, match=r"number: latency\('s'\) is not valid\. Allowed: results of commands"):
        Number("latency('s')")


@pytest.mark.parametrize(("text", "limit", "other"), [
    ("1.5 * latency('a') < latency('b')", 1.5, "3 * latency('a') < latency('b')"),
    ("latency('b') > latency('a') * 1.5", 1.5, "latency('b') > latency('a') * 3"),
    ("comparable(hops('a'), 2)", 1.25, "comparable(hops('a'), 2, 3)"),
    ("within(hops('a'), 2.81, 0.015)", 0.015, "within(hops('a'), 2.81, 3)"),
    ("latency('a') < latency('b')", None, None),
    ("1.5 * latency('a') < latency('b') and 1.1 * hops('a') < 3", None, None),
])
def test_limits(text, limit, other):
    found = Predicate(text)
    assert found.limit == limit
    assert other is None or found.with_limit(3).text == other
