"""Expected time of figures, from earlier measurements."""

from types import SimpleNamespace

import pytest

from wormcast.sim.experiments.figure.cost import USUAL_PART, USUAL_SPEED, Costs, Minutes
from wormcast.sim.experiments.figure.curve import SEEDS
from wormcast.sim.experiments.figure.definition import find_figure
from wormcast.sim.experiments.figure.rounds import curves_of, each_once
from wormcast.sim.experiments.sweep import ResultStore

NODES = 64
FIG7, FIG9, FIG1 = (find_figure(f"002-fig{number}") for number in (7, 9, 1))


def a_point(cycles):
    return {"cycles_simulated": cycles}


def measured(figure, cycles, quick=True):
    """Return the figure's curves, each with one point of ``cycles`` cycles."""
    curves = curves_of(figure, quick=quick)
    for curve in curves.values():
        curve.results[4] = a_point(cycles)
    return each_once(curves)


@pytest.fixture
def store(tmp_path):
    with ResultStore(tmp_path / "figures.sqlite") as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_plans(monkeypatch):
    """Leave out the committed run plans."""
    monkeypatch.setattr("wormcast.sim.experiments.figure.cost.committed_plan", lambda figure: None)


@pytest.mark.parametrize("quick", [True, False])
def test_a_machine_that_has_measured_nothing_expects_what_is_usual(store, quick):
    costs = Costs(store)
    seconds = costs.expected([FIG7], quick)
    cycles = sum(FIG7.cycles // (8 if quick or variation else 1) for _, variation in curves_of(FIG7, quick=quick))
    assert costs.minutes([FIG7, FIG1], quick) == [Minutes(pytest.approx(seconds / 60), False), None]
    assert seconds == pytest.approx(USUAL_PART * cycles * SEEDS * NODES / USUAL_SPEED)
    assert costs.expected([FIG7, FIG7, FIG1], quick) == pytest.approx(2 * seconds)
    assert costs.expected([FIG1], quick) is None
    costs.measured(FIG1, quick, [], 3.0)
    assert costs.expected([FIG7, FIG1], quick) == pytest.approx(seconds + 3)


def test_a_figure_takes_its_node_cycles_at_the_speed_of_all_points_and_its_commands(store):
    costs, point = Costs(store), SimpleNamespace(network=SimpleNamespace(nodes=NODES), resolved={"seeds": SEEDS})
    store.put("one", a_point(1000))
    store.put("two", a_point(3000))
    costs.ran({"one": point}, 6.0)
    costs.ran({"two": point}, 18.0)  # 4000 cycles in 24 seconds
    curves = measured(FIG7, 2000)
    costs.measured(FIG7, True, curves, 30.0)
    costs.measured(FIG1, True, [], 3.0)
    expected = (len(curves) * 2000 * 24 / 4000 + 30) / 60
    assert costs.minutes([FIG7, FIG1], True) == [Minutes(pytest.approx(expected), True), Minutes(0.05, True)]


@pytest.mark.parametrize("quick", [True, False])
def test_another_one_is_reckoned_by_its_curves_and_their_cycles(store, quick):
    costs, point = Costs(store), SimpleNamespace(network=SimpleNamespace(nodes=NODES), resolved={"seeds": SEEDS})
    store.put("one", a_point(1000))
    costs.ran({"one": point}, 1.0)
    most = FIG7.cycles // 8
    costs.measured(FIG7, True, measured(FIG7, most // 2), 30.0)
    [_, other, none] = costs.minutes([FIG7, FIG9, FIG1], quick)
    cycles = sum(FIG9.cycles // (8 if quick or variation else 1) for _, variation in curves_of(FIG9, quick=quick))
    assert other == Minutes(pytest.approx(cycles / 2 / 1000 / 60), False)
    assert none is None


def test_a_figure_over_networks_takes_the_nodes_of_each(store, tmp_path):
    file = tmp_path / "sizes.toml"
    file.write_text('title = "x"\nsource = "y"\nover = "topology"\nvalues = ["mesh:2x2", "mesh:4x4"]\ncycles = 800\n'
                    'options = {rate = 0.05, destinations_mean = 2.0}\nseries = {a = {scheme = "dual-path"}}\n')
    figure = find_figure(str(file))
    assert Costs(store).expected([figure], False) == pytest.approx(USUAL_PART * 800 * SEEDS * 16 / USUAL_SPEED)
    curves = curves_of(figure, quick=False)
    for curve in curves.values():
        curve.results.update({1: a_point(800), 2: a_point(400)})
    Costs(store).measured(figure, False, [*curves.values()], 0.0)
    point = SimpleNamespace(network=SimpleNamespace(nodes=1), resolved={"seeds": SEEDS})
    store.put("one", {"cycles_simulated": 1000})
    Costs(store).ran({"one": point}, 1.0)
    minutes = (800 * 4 + 400 * 16) / 1000 / 60
    assert Costs(store).minutes([figure], False) == [Minutes(pytest.approx(minutes), True)]
