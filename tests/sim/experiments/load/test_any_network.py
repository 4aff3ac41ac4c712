"""Load experiments on networks of every kind: nothing gets lost, links are counted, experiments go on from files."""

from collections import Counter

import numpy as np
import pytest
import waves
from cases import slow, some

from wormcast.algorithms import find_scheme, topology
from wormcast.sim import Configuration, Network, Traffic
from wormcast.sim.build.setup import Origin
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.engines.snapshot import Snapshot
from wormcast.sim.experiments.load import Experiment, keep, resume, rewind_to_window
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.host import NOW, check_receipts, lay_out, sampled
from wormcast.sim.waves.record.instances import find_instances

from ...bench import left_over
from .windows import require_flits_conserved, through

LENGTH = 7
TRAFFIC = Traffic(0.2, multicast_fraction=0, unicast_length=LENGTH)
#: Network, relation where it is not the usual one, hardware.
CASES = {
    "min": ("min:b=2,stages=3", None, {"vcs": 1, "buffer": 2, "consumption": 1}),
    "irregular": ("irregular:switches=4,ports=5,nodes=6,connectivity=0.8,seed=1", None,
                  {"vcs": 2, "buffer": 2, "consumption": 2}),
    "adaptive": ("irregular:switches=6,ports=5,nodes=6,connectivity=0.9,seed=4", "up-down-adaptive",
                 {"vcs": 2, "buffer": 2, "consumption": 2, "ejection": "all"}),
    "torus": ("torus:3x3", None, {"vcs": 2, "buffer": 2, "consumption": 1, "readers": "independent"}),
    "signs": ("torus:4x2", None, {"vcs": 2, "buffer": 2, "consumption": 1, "ties": "signed"}),
}
# a torus with signs has all that one without has
QUICK = [case for case in CASES if case != "torus"]
EACH = pytest.mark.parametrize("case", some(CASES, *QUICK))
ONE_WAY = pytest.mark.parametrize("case", some([case for case in CASES if case != "adaptive"],
                                               *(case for case in QUICK if case != "adaptive")))


def built(case, lanes=1):
    name, relation, options = CASES[case]
    network = topology(name)
    return Network(network, find_scheme("individual", network, relation), Configuration(**options), lanes)


def way(network, source, destination):
    """Rows of the links of the topology that a worm goes over, from its routes."""
    shape, routes = network.topology, network.blueprint.routes
    rows = {(start, port): row for row, (start, port, _, _) in enumerate(shape.links.tolist())}
    at, phase, found = int(shape.injections[source, 0]), 0, []
    while True:
        port = int(routes.options[phase, at, destination, 0]) // len(routes.classes)
        if (at, port) not in rows:
            assert [at, port] == shape.consumptions[destination].tolist()
            return found
        row = rows[at, port]
        found.append(row)
        at, phase = int(shape.links[row, 2]), int(routes.phase_of_link[row])


def started(network, cycles, traffic=TRAFFIC, **options):
    """An engine with the messages of so many cycles before it, a seed for each lane; and these messages."""
    messages = [Source(traffic, network.topology, seed).until(cycles) for seed in range(network.lanes)]
    source, ends, at, length = (np.concatenate([getattr(one, name) for one in messages])
                                for name in ("source", "destinations", "at", "length"))
    lane = np.repeat(np.arange(network.lanes), [len(one.at) for one in messages])
    order = np.argsort(at, kind="stable")
    worms = network.scheme.batch(network.topology, source[order], np.arange(len(source) + 1), ends[order])
    return BulkEngine(network, lay_out(network, at[order], length[order], worms, lane=lane[order]), **options), messages


@ONE_WAY
def test_flits_and_worms_are_those_of_the_routes(case):
    """Two lanes, all delivered: each link has carried what goes over it, a header flit before each payload."""
    network = built(case, 2)
    engine, messages = started(network, 800, measure=True)
    engine.run(50_000)
    engine.run(100, beyond=True)
    check_receipts(engine.host)
    assert not engine.host.left.any()
    assert left_over(engine) == {}
    counted = take(engine.meter)
    for lane, made in enumerate(messages):
        flits, worms = Counter(), Counter()
        for source, end, length in zip(made.source.tolist(), made.destinations.tolist(), made.length.tolist(),
                                       strict=True):
            for passed, headers in ((("injection", source), 1), *((row, 1) for row in way(network, source, end)),
                                    (("consumption", end), 0), (("host", end), 0)):
                flits[passed] += length + headers
                worms[passed] += 1
        for expected, found in ((flits, counted.flits[:, lane]), (worms, counted.worms[:, lane])):
            seen = Counter()
            for row, (link, count) in enumerate(zip(network.fabric.links, found.tolist(), strict=True)):
                seen[row if link.kind == "network" else (link.kind, link.node)] += count
            assert +seen == expected


@EACH
def test_waiting_worms_are_those_of_the_fronts(case):
    network = built(case)
    engine, _ = started(network, 1500, Traffic(0.8, multicast_fraction=0, unicast_length=LENGTH), measure=True)
    wanted = np.zeros((2, network.topology.switches), np.int64)
    while engine.host.counters[NOW] < 1500:
        if sampled(engine.host.counters[NOW]):
            snapshot = Snapshot(engine)
            for channel in snapshot.channels():
                if snapshot.waiting(channel):
                    wanted[(snapshot.waiting(channel) & 3) - 1, channel[0]] += 1
        engine.run(1, beyond=True)
    assert np.array_equal(take(engine.meter).sampled[:2, 0], wanted)
    assert wanted.sum(axis=1).all()


@EACH
def test_each_lane_is_as_it_is_alone_and_all_arrives(case):
    """Windows of three lanes, and of each alone: the same messages, in the same cycles."""
    def went(seeds):
        network = built(case, len(seeds))
        return through(network, [Source(TRAFFIC, network.topology, seed) for seed in seeds], 500, 2000)[0]

    together = went([5, 6, 7])
    assert (together["received"] >= 0).sum() > 150
    for lane, seed in enumerate([5, 6, 7]):
        mine = together[together["lane"] == lane].copy()
        mine["lane"] = 0
        assert np.array_equal(np.sort(mine), np.sort(went([seed])))


@EACH
def test_flits_are_conserved(case):
    require_flits_conserved(built(case, 2), TRAFFIC, 1500)


@EACH
def test_an_engine_goes_back_to_what_it_captured(case):
    engine, _ = started(built(case, 2), 600)
    engine.run(200, beyond=True)
    capture = engine.capture()
    engine.run(200, beyond=True)
    first = engine.to_arrays()
    engine.restore(capture)
    engine.run(200, beyond=True)
    second = engine.to_arrays()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def experiment(case, **options):
    network = built(case)
    return Experiment(network.topology, network.scheme, TRAFFIC, configuration=network.configuration, cycles=6000,
                      warmup=500, parts=[(3, 1), (2,)], **options)


def outcome(one):
    told = one.result().to_dict(links=True)
    return {name: value for name, value in told.items() if name != "cycles_per_second"}


@EACH
def test_an_experiment_goes_on_from_a_file(case, tmp_path):
    """Paused, kept and continued comes to the same; each link between switches has its line in the table."""
    unbroken, one = experiment(case), experiment(case)
    unbroken.run()
    one.run(2500)
    keep(one, Origin("individual", relation=CASES[case][1]), tmp_path / "kept")
    other, _ = resume(tmp_path / "kept")
    other.run()
    assert outcome(other) == outcome(unbroken)
    found = unbroken.result()
    assert len(found.link_table("network")) == len(built(case).topology.links)
    assert found.utilisation("network").mean > 0.02


@pytest.mark.parametrize("case", ["min", slow("irregular")])
def test_a_window_of_an_experiment_is_recorded_at_switches(case, tmp_path):
    one = experiment(case, rewind=True)
    one.run()
    path = tmp_path / "w.vcd"
    rewind_to_window(one, path, 3000, 3100, find_instances(one.groups[0].window.network, "s0,s2"))
    shown = {name.split(".")[3] for name in waves.read(path) if name.startswith("bench.top.network.")}
    assert shown == {"router_lane0_s0", "router_lane0_s2"}
