"""Events of load experiments: counted in the window, over all seeds, and their energy by a table of costs."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import wormcast as wc
from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.algorithms.errors import located
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.engines.event_counters import COUNTED
from wormcast.sim.experiments.energy_table import read_energy
from wormcast.sim.experiments.events import EventSums
from wormcast.sim.experiments.load import Experiment

EXAMPLE = Path(__file__).parents[4] / "examples" / "energy" / "noxim_32bit.toml"
MESH, DUAL_PATH = topology("mesh:4x4"), SCHEMES["dual-path"]
TRAFFIC = Traffic(0.02, destinations_mean=3)


def experiment(*, parts=((1, 2, 3),), cycles=3000, warmup=500, **more):
    return Experiment(MESH, DUAL_PATH, TRAFFIC, configuration=Configuration(vcs=2), cycles=cycles, warmup=warmup,
                      parts=parts, events=True, **more)


@pytest.fixture(scope="module")
def whole():
    one = experiment()
    one.run()
    return one.result()


def test_events_are_those_of_the_counted_cycles(whole):
    """Links are counted by another counter, the meter, in the same window."""
    events = whole.events
    for event, kind in (("link", "network"), ("ejection", "consumption"), ("injection", "injection")):
        row = COUNTED.index(event)
        flits = int(whole.links[kind].sum())
        assert flits > 0
        assert events.routers[row].sum() + events.interfaces[row].sum() == events.seeds[row].sum() == flits
    assert events.cycles == 2500
    assert events.flits.tolist() == whole.totals["consumed"].tolist()


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name))
               for name in ("seeds", "routers", "interfaces", "flits", "messages"))


def test_threads_pauses_and_extensions_change_nothing(whole):
    apart = experiment(parts=((1,), (2, 3)))
    apart.run(700)
    apart.run()
    assert same(apart.result().events, whole.events)
    longer = experiment(cycles=1500, warmup=500)
    longer.run()
    longer.extend(3000)
    longer.run()
    assert same(longer.result().events, whole.events)


def test_going_back_counts_nothing_twice(whole):
    one = experiment(rewind=True)
    one.run(2048)
    [group] = one.groups
    state, seen = group.capture(), []
    group.replay(state, 2500, 3000, seen.append)
    assert seen
    group.restore(state)
    one.run()
    assert same(one.result().events, whole.events)


def test_without_the_option_nothing_is_counted():
    one = Experiment(MESH, DUAL_PATH, TRAFFIC, configuration=Configuration(vcs=2), cycles=1000, warmup=0, parts=((1,),))
    assert one.groups[0].engine.events is None
    one.run()
    assert one.result().events is None


def test_energy_is_the_sum_of_events_times_costs(whole):
    table = read_energy(EXAMPLE)
    found = dataclasses.replace(whole.events, table=table).to_dict()
    events, energy = found["events"], found["energy"]
    costs = {"buffer_write": 0.762, "buffer_read": 0.534, "crossbar": 0.221, "link": 32 * 0.0488}
    assert table.picojoules == pytest.approx(costs)
    total = sum(cost * events["totals"][event] for event, cost in costs.items())
    assert energy["total"] == pytest.approx(total)
    assert sum(energy["by_event"].values()) == pytest.approx(total)
    assert sum(energy["routers"]) == pytest.approx(total)
    assert sum(energy["interfaces"]) == 0
    assert energy["per_flit"]["mean"] == pytest.approx(total / whole.events.flits.sum(), rel=0.02)
    for row, pj in zip(events["routers"], energy["routers"], strict=True):
        assert pj == pytest.approx(sum(cost * row[event] for event, cost in costs.items()))
    assert [row["switch"] for row in events["routers"]] == [*range(16)]
    assert events["cycles"] == 3 * 2500


def test_from_python():
    found = wc.load("mesh:4x4", "dual-path", 0.02, destinations_mean=3, cycles=1500, seeds=2, energy=EXAMPLE)
    data = found.to_dict()
    assert found.energy == data["energy"]["per_flit"]["mean"] > 0
    assert data["configuration"]["energy"] == str(EXAMPLE)
    counted = wc.load("mesh:4x4", "dual-path", 0.02, destinations_mean=3, cycles=1500, seeds=2, events=True)
    assert counted.energy is None
    assert counted.to_dict()["events"] == data["events"]
    assert "energy" not in counted.to_dict()
    plain = wc.load("mesh:4x4", "dual-path", 0.02, destinations_mean=3, cycles=1500, seeds=2)
    assert plain.events is None
    assert not {"events", "energy"} & {*plain.to_dict(), *plain.configuration}
    run = wc.run("mesh:4x4", "dual-path", 0, [1, 5], 8, energy=EXAMPLE)
    assert json.loads(run.to_json())["energy"]["total"] > 0


def test_a_curve_has_the_energy_of_its_points():
    options = {"destinations_mean": 3, "cycles": 1500, "warmup": 500, "seeds": 2}
    one, curve = (wc.load("mesh:4x4", "dual-path", rate, **options, energy=EXAMPLE) for rate in (0.02, [0.02]))
    [row] = curve.rows()
    data = one.to_dict()
    assert row["energy"] == str(EXAMPLE)
    assert row["energy_per_flit_mean"] == one.energy
    assert row["energy_total"] == data["energy"]["total"] > 0
    assert row["events_totals_link"] == data["events"]["totals"]["link"] > 0
    assert row["events_per_message_replication_mean"] == data["events"]["per_message"]["replication"]["mean"]
    plain = wc.load("mesh:4x4", "dual-path", [0.02], **options)
    assert not [name for name in plain.rows()[0] if name.startswith(("energy", "events"))]


def test_sums_without_events_have_the_same_keys(whole):
    """A point of a sweep that ends in a deadlock has the columns of the others."""
    def keys(of):
        return {name: keys(one) for name, one in of.items()} if isinstance(of, dict) else None

    table = read_energy(EXAMPLE)
    found = dataclasses.replace(whole.events, table=table).summary()
    assert keys(EventSums.zero(whole.topology, table).summary()) == keys(found)
    assert [*found] == ["events", "energy"]


@pytest.mark.parametrize(("text", "sentence"), [
    ("flit_width = 32\n[picojoules]\nlink = 1", "source is missing. Needed: source, flit_width, picojoules."),
    ("source = ''\nflit_width = 32\n[picojoules]\nlink = 1",
     "source: '' is not valid. Allowed: text that says where the costs come from."),
    ("source = 'x'\nflit_width = 32\n[picojoules]\nlink = -1",
     "picojoules.link: -1 is not valid. Allowed: a number from 0 to 1000000000."),
    ("source = 'x'\nflit_width = 32\n[picojoules]\nlinks = 1",
     ("picojoules: 'links' is not a key of the costs. Allowed: buffer_write, buffer_read, crossbar, link, ejection, "
      "injection, interface_write, interface_read.")),
    ("source = 'x'\nflit_width = 32\n[picojoules]",
     "picojoules: {} is not valid. Allowed: a table with the costs of one or more events."),
])
def test_a_table_that_is_not_valid_is_refused(text, sentence, tmp_path):
    file = tmp_path / "costs.toml"
    file.write_text(text)
    with pytest.raises(WormcastError) as error:
        read_energy(file)
    assert str(error.value) == located(sentence, str(file))


def test_a_table_for_other_flits_is_refused():
    with pytest.raises(WormcastError) as error:
        wc.load("mesh:4x4", "dual-path", 0.02, flit_width=64, energy=EXAMPLE)
    assert str(error.value) == ("flit_width in the energy table: 32 is not valid: the network has flits of 64 bits. "
                                "Needed: costs for flits of 64 bits.")
