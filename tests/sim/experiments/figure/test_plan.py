"""Plans of runs, and looks: what is measured, how long, and of which networks."""

from dataclasses import replace

import numpy as np
import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.experiments.figure.cost import USUAL_SPEED, Costs
from wormcast.sim.experiments.figure.curve import Curve
from wormcast.sim.experiments.figure.definition import Figure, Series, Statement
from wormcast.sim.experiments.figure.plan import (
    CUTS,
    PlannedCurve,
    RunPlan,
    cut_plans,
    node_cycles,
    plan_of,
    read_plans,
    written_plans,
)
from wormcast.sim.experiments.figure.predicate import Predicate
from wormcast.sim.experiments.figure.rounds import FigureOutcome, Study, measure_all
from wormcast.sim.experiments.sweep import MemoryStore, build_point, run_missing

ONE, TWO = Series("one", {"scheme": "individual"}), Series("two", {"scheme": "dual-path"})
OPTIONS = {"topology": "mesh:2x2", "destinations_mean": 2.0}


def figure(*statements, **more):
    holds = tuple(Statement("x", "x", Predicate(text)) for text in statements)
    return Figure("small", "small", "nowhere", more.pop("options", OPTIONS), {"one": ONE, "two": TWO}, holds,
                  step=0.1, most=0.8, **more)


def result(latency, saturated=(), warmup=100, cycles=2100, repetitions=10):
    each = [{"latency": latency + 0.1 * k, "accepted": 0.2, "saturated": k in saturated} for k in range(repetitions)]
    return {"replications": each, "saturated": bool(saturated), "deadlock": None, "warmup_used": warmup,
            "cycles_simulated": cycles, "effective": 0.1, "precise": True}


def test_a_plan_has_all_loads_of_the_pilot_run_and_its_longest_warm_up_and_length():
    pilots = [Curve(figure(), ONE, quick=True), Curve(figure(), TWO, quick=True)]
    pilots[0].results = {4: result(10), 8: result(20, warmup=700, cycles=5100), 12: result(90, range(4), 2000, 9000)}
    pilots[1].results = {4: result(10), 6: result(20, warmup=400, cycles=5600)}
    plan = plan_of(figure(), pilots)
    assert plan == RunPlan((4, 6, 8, 12), 1000, 5500)  # steps of 500 cycles; saturated points do not count
    assert [plan.length(look) for look in (1, 2, 3)] == [6500, 12_000, 23_000]
    # two series of four points, ten repetitions on four nodes
    assert node_cycles([(figure(), plan)], looks=1) == [2 * 4 * 10 * 4 * 6500]
    assert Costs(MemoryStore()).planned([FigureOutcome(figure(), [], [], [], [], plan)]) == pytest.approx(
        2 * 4 * 10 * 4 * 6500 / USUAL_SPEED)
    assert written_plans({"small": plan}) == (
        "[small]\nplaces = [4, 6, 8, 12]\nwarmup = 1000\ncycles = 5500\n\n")


def test_a_plan_without_an_unsaturated_point_has_the_longest_of_all_points():
    pilot = Curve(figure(), ONE, quick=True)
    pilot.results = {4: result(90, range(4), 300, 2300), 8: result(90, range(4), 1200, 4700)}
    assert plan_of(figure(), [pilot]) == RunPlan((4, 8), 1500, 3500)


def test_a_budget_cuts_all_plans_alike_loads_first_then_looks_then_cycles(tmp_path):
    named, other = figure("latency('one', 0.15) < latency('two', 0.15)"), replace(figure(), name="other", step=0.2)
    plans = [(named, RunPlan((1, 2, 3, 4, 5, 6, 8, 9, 11), 500, 8000)), (other, RunPlan((4, 6, 7, 8), 1000, 1000))]
    whole = node_cycles(plans)
    assert whole == [2 * 9 * 10 * 4 * (3 * 500 + 7 * 8000), 2 * 4 * 10 * 4 * (3 * 1000 + 7 * 1000)]
    assert cut_plans(plans, sum(whole) / 3600, 1.0) == [plan for _, plan in plans]
    found = {}
    for cut in CUTS[1:]:
        hours = sum(node_cycles([(figure, plan.cut(figure, *cut)) for figure, plan in plans])) / 3600
        found[cut] = first, second = cut_plans(plans, hours, 1.0)
        takes = node_cycles([(named, first), (other, second)])
        assert sum(takes) / 3600 <= hours
        assert [first.missing, second.missing] == [
            pytest.approx((a - b) / 3600, abs=0.01) for a, b in zip(whole, takes, strict=True)]
    # 0.15 is a load of a statement; the lowest and the highest load remain
    assert found[2, 3, 1][0].places == (1, 2, 4, 6, 8, 11)
    assert found[4, 3, 1][0].places == (1, 4, 6, 8, 11)
    assert [(plan.looks, plan.cycles) for plan in found[4, 2, 1]] == [(2, 8000), (2, 1000)]
    assert [(plan.looks, plan.cycles) for plan in found[4, 1, 8]] == [(1, 1000), (1, 500)]
    with pytest.raises(WormcastError, match=r"^hours: 0.001 is not valid: the shortest run plans take 233.3 "
                                            r"hours. Allowed: as many or more.$"):
        cut_plans(plans, 0.001, 1.0)
    first, second = found[4, 2, 1]
    (tmp_path / "plans.toml").write_text(written_plans({"first": first, "second": second}))
    assert read_plans(tmp_path / "plans.toml") == {"first": first, "second": second}


def test_a_curve_that_two_figures_share_costs_once():
    plan = RunPlan((4, 8), 500, 1000)
    again = replace(figure(), name="other")
    assert node_cycles([(figure(), plan), (again, plan)], looks=1) == [2 * 2 * 10 * 4 * 1500, 0]


def test_a_shortened_run_takes_its_looks_and_says_how_many_hours_are_missing():
    study = Study(figure("latency('one') < latency('two')", "latency('one') < 50"), quick=False)
    study.plan, study.needs_pilot = RunPlan((4, 8), 500, 1000, looks=1, missing=2.25), False
    for curve in study.begin():
        curve.results = {place: result(10) for place in (4, 8)}
        for place in curve.results:
            curve.results[place]["replications"][0]["latency"] = 17.0 if curve.series is ONE else 8.0
    assert study.look(lambda *_: 0) == []
    [order, number] = study.outcome(lambda *_: 0).verdicts
    assert (order.verdict, order.why) == (
        "undecided", ("the difference between the two sides of the statement may be 0; "
                      "the budget shortened the run by 2.2 hours"))
    assert (number.verdict, number.why) == ("held", "")


PLAN = RunPlan((4, 8, 12, 16, 20, 24, 28), 500, 1000)


def planned(**more):
    return PlannedCurve(figure(), ONE, plan=PLAN, **more)


def test_points_are_measured_in_rising_order_until_all_repetitions_are_saturated():
    curve = planned()
    assert curve.missing() == {4, 8, 12, 16}
    curve.results = {place: result(10) for place in (4, 8, 12)} | {16: result(20, (1, 2))}
    assert curve.missing() == {20, 24, 28}
    curve.results |= {20: result(30, range(10)), 24: result(30, range(10)), 28: result(30, range(10))}
    assert curve.missing() == set()
    low = planned()
    low.results = {4: result(10), 8: result(20, range(10)), 12: result(20, range(10)), 16: result(20, range(10))}
    assert low.missing() == set()
    # loads above are saturated, too
    assert [load for load, value in low.measured("saturated").values.items() if value[1].all()] == [
        0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert np.isinf(low.measured("latency").values[0.7][1]).all()


def test_all_repetitions_of_a_look_run_for_the_same_cycles():
    first = planned()
    first.results = {4: result(10), 8: result(20, (0, 1, 2))}
    later = planned(look=2, first=first)
    for curve, cycles in (first, 1500), (later, 2500):
        found = curve.point(4).resolved
        wanted = {"cycles": cycles, "warmup": 500, "seed": 0, "seeds": 10, "until_interval": False}
        assert {name: found[name] for name in wanted} == wanted
    assert later.missing() == {4, 8}
    # the first look decides what is saturated
    later.results = {4: result(11), 8: result(22)}
    assert later.saturated_at(8).tolist() == [True] * 3 + [False] * 7
    assert later.measured("latency").values[0.1][1][0] == 11


def test_each_repetition_has_a_network_of_its_own():
    topology = "irregular:switches=4,ports=4,nodes=8,connectivity=0.8,seed={network}"
    options = {"topology": topology, "destinations_mean": 2.0, "scheme": "tree", "flit_width": 64}
    curve = PlannedCurve(figure(options=options), Series("one", {}), plan=PLAN)
    points = curve.points(4)
    assert [point.resolved["topology"].rpartition("seed=")[2] for point in points] == [str(k) for k in range(1, 11)]
    assert [(point.resolved["seed"], point.resolved["seeds"]) for point in points] == [(k, 1) for k in range(10)]
    one = {"latency": {"mean": 10.0, "half_width": None}, "accepted": 0.25, "accepted_half_width": None,
           "percentiles": {"p99": {"mean": 30.0, "half_width": None}}, "deadlock": None, "cycles_simulated": 1500}
    curve.put(4, [one | {"latency": {"mean": 10.0 + k, "half_width": None},
                         "replications": [{"latency": 10.0 + k, "saturated": k == 3}]} for k in range(10)])
    found = curve.results[4]
    assert found["latency"] == {"mean": 14.5, "half_width": pytest.approx(2.2622 * 3.02765 / 10**0.5, rel=1e-4)}
    assert (found["percentiles"]["p99"]["mean"], found["cycles_simulated"], found["saturated"]) == (30.0, 1500, True)
    assert [one["latency"] for one in found["replications"]] == [10.0 + k for k in range(10)]
    assert "{network}" not in curve.options["topology"]


def test_looks_extend_the_runs_of_undecided_statements():
    """A made-up simulator: the schemes differ by 1 %, and the noise of a run of the first look is 3 %."""
    asked = []

    def run(points):
        for point in points:
            cycles, two = point.resolved["cycles"], point.resolved["scheme"] == "dual-path"
            asked.append((point.resolved["scheme"], cycles, point.resolved["seed"]))
            size = point.resolved["seeds"]
            chance = np.random.default_rng([cycles, two])
            each = 100 + two * 4 + chance.normal(0, 3 / (cycles / 3000), size)
            found = result(100, repetitions=size)
            for one, latency in zip(found["replications"], each, strict=True):
                one["latency"] = latency
            store.put(point.key, found)
            yield point

    store = MemoryStore()
    study = Study(figure("latency('one') < latency('two')", "latency('one') < 50"))
    assert all(type(curve) is Curve for curve in study.every)
    points = list(measure_all([study], store, run, lambda *_: 0))
    assert len(points) == len(asked)
    outcome = study.outcome(lambda *_: 0)
    [order, number] = outcome.verdicts
    assert (order.verdict, order.statistical) == ("held", True)
    assert order.look > 1
    assert (number.verdict, number.look) == ("not held", 1)
    seeds = {seed for *_, seed in asked}
    assert seeds == {1000, 0}  # the pilot run has seeds of its own
    lengths = sorted({cycles for _, cycles, seed in asked if seed == 0})
    assert lengths == [outcome.plan.length(look) for look in range(1, order.look + 1)]
    assert {row["load"] for row in outcome.rows} == {0.1, 0.2, 0.4, 0.6, 0.8}


def test_a_quick_study_judges_its_pilot_run():
    study = Study(figure("latency('one') < latency('two')"), quick=True)
    assert study.begin() == study.every
    for curve in study.every:
        curve.results = {4: result(10, repetitions=4)}
    assert study.look(lambda *_: 0) == []
    [verdict] = study.outcome(lambda *_: 0).verdicts
    assert (verdict.verdict, verdict.look) == ("no difference", 1)


def test_repetitions_are_the_results_of_each_seed():
    given = {"topology": "mesh:2x2", "scheme": "individual", "destinations_mean": 2.0, "rate": 0.05, "seed": 0,
             "seeds": 3, "warmup": 200, "replications": True}
    store = MemoryStore()
    every, third = build_point({**given, "cycles": 1200}, "x"), build_point(
        {**given, "cycles": 1200, "seed": 2, "seeds": 1}, "x")
    assert len(list(run_missing([every, third], store))) == 2
    found = store[every.key]
    each = [repetition["latency"] for repetition in found["replications"]]
    assert (len(each), found["latency"]["mean"]) == (3, pytest.approx(np.mean(each)))
    assert {"p99", "accepted", "saturated", "hops_per_destination", "copies"} <= {*found["replications"][0]}
    assert store[third.key]["replications"] == [found["replications"][2]]
