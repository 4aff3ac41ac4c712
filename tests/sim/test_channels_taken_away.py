"""Hardware options that say which channels worms may take: all of a link's, and ejection ports of their own."""

import itertools

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import E_CUBE, ConsumptionClasses, PlainScheme, Relation, WormcastError, find_scheme, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.ejection import ejection_ports
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.experiments.run import run

from .bench import send

#: Two worms from each node half way round: what they wait for is what the next one has.
AROUND = [send(node, (node + 2) % 4, length=40) for node in range(4)] * 2


def around(engine="bulk", **options):
    ring = topology("ring:4")
    return run(ring, find_scheme("individual", ring), AROUND, Configuration(**options), engine=engine)


@pytest.mark.parametrize("engine", ["bulk", slow("amaranth")])
def test_a_ring_deadlocks_where_its_classes_are_taken_away(engine):
    assert around(engine, vcs=2).outcome == "delivered"
    stuck = around(engine, vcs=1, vc_classes="none")
    assert stuck.outcome == "deadlock"
    assert {held for worm in stuck.deadlock.cycle for held in worm.holds} == {
        "link:0>1:0", "link:1>2:0", "link:2>3:0", "link:3>0:0"}
    assert stuck.network.configuration.to_dict()["vc_classes"] == "none"


def test_classes_need_their_share_of_the_channels():
    with pytest.raises(WormcastError, match="vcs: 1 is not valid: e-cube has 2 classes of virtual channels"):
        around(vcs=1)


@pytest.mark.slow  # rings above have them
def test_a_mesh_has_no_classes_to_take_away():
    """The same routers, and the same cycle for everything."""
    mesh = topology("mesh:3x3")
    scheme = find_scheme("dual-path", mesh)
    messages = [send(node, *(set(range(9)) - {node}), length=5) for node in range(9)]
    plain, free = (run(mesh, scheme, messages, Configuration(consumption=2, vc_classes=one))
                   for one in ("relation", "none"))
    assert [plain.message_to_dict(k) for k in range(9)] == [free.message_to_dict(k) for k in range(9)]


@pytest.mark.parametrize(("name", "scheme"), [
    slow("mesh:3x3", "dual-path"), slow("mesh:3x3", "column-path"), slow("torus:3x3", "individual"),
    ("min:b=2,stages=2", "individual"),
    slow("irregular:switches=3,ports=5,nodes=5,connectivity=0.8,seed=4", "individual"),
])
def test_ejection_ports_for_each_way_in_deliver_as_one_does_and_no_later(name, scheme):
    network = topology(name)
    found = find_scheme(scheme, network)
    messages = [send(node, *(set(range(network.nodes)) - {node}), length=5) for node in range(network.nodes)]
    times = {}
    for ejection in ("one", "all"):
        done = run(network, found, messages, Configuration(consumption=2, ejection=ejection))
        assert done.outcome == "delivered"
        assert not done.faults
        times[ejection] = done.cycles
    assert times["all"] < times["one"]


@pytest.mark.parametrize(("name", "vcs"), [
    ("mesh:1x4", 1), slow("mesh:1x4", 2), slow("mesh:2x2x2", 1), slow("mesh:2x2x2", 2)])
def test_worms_that_come_by_different_links_share_no_ejection_port(name, vcs):
    """Two worms stop at the same two nodes, one each way along the Hamiltonian path, as in Figure 4 of [Boppana98]."""
    network = topology(name)
    dual_path = find_scheme("dual-path", network)
    first = network.nodes // 2 - 2
    a, b, c, d = network.node_of_label[first:first + 4].tolist()
    messages = [send(a, b, c, length=64), send(d, c, b, length=64)]
    for ejection, consumption, outcome in (("one", 1, "deadlock"), ("all", 1, "delivered"), ("one", 2, "delivered")):
        options = {"vcs": vcs, "ejection": ejection, "consumption": consumption}
        assert run(network, dual_path, messages, Configuration(**options)).outcome == outcome
        assert check(network, dual_path, **options).verdict == ("deadlock" if outcome == "deadlock" else "free")


class ByTable(Relation):
    """E-cube that is not decoded by coordinates, so that worms may turn otherwise where they stop."""

    name, description = "by table", "for tests"

    def table(self, topology):
        return E_CUBE.table(topology)


class Round(PlainScheme):
    """A worm round a mesh of two by two, clockwise, as far as it is sent to each node on its way; else unicasts."""

    name, description, provenance = "round", "for tests", "tests"
    relation = ByTable()
    order = (0, 1, 3, 2)

    def classes_on(self, topology):
        return ConsumptionClasses()

    def visits(self, topology, source, destinations):
        behind = self.order.index(source) + 1
        way = [self.order[(behind + step) % 4] for step in range(3)]
        worm = list(itertools.takewhile(lambda node: node in destinations, way))
        return [*([worm] if worm else []), *([node] for node in destinations if node not in worm)]


@pytest.mark.parametrize("links", ["shared", slow("separate")])
def test_a_run_and_an_analysis_have_one_name_for_a_channel_of_an_ejection_port(links):
    mesh, scheme = topology("mesh:2x2"), Round()
    messages = [send(node, (1, 3, 0, 2)[node], (3, 2, 1, 0)[node], length=40) for node in range(4)]
    done = run(mesh, scheme, messages, Configuration(vcs=1, consumption=2, ejection="all", consumption_links=links))
    assert done.outcome == "deadlock"
    held = {resource for worm in done.deadlock.cycle for resource in worm.holds}
    found = {step.resource for step in check(mesh, scheme, vcs=1, consumption=2, ejection="all").cycle}
    assert {"cons:3:6", "cons:0:4"} <= found <= held


@pytest.mark.parametrize("name", [
    "mesh:3x3", "mesh:2x1x3", "torus:3x3", "min:b=2,stages=2",
    "irregular:switches=4,ports=5,nodes=6,connectivity=0.8,seed=2",
])
def test_ejection_ports_are_numbered_as_routers_have_them(name):
    network = topology(name)
    built = Network(network, find_scheme("individual", network), Configuration(consumption=3, ejection="all"))
    ports = ejection_ports(network, "all")
    for link, (_, _, switch, port) in enumerate(network.links.tolist()):
        home = built.home(switch)
        exits = home.router.decoder.ejection_ports(home.inputs[port])
        for node in np.flatnonzero(network.consumptions[:, 0] == switch).tolist():
            [own] = [one for one in built.consumption_links(node) if one.output in exits]
            named = ports.channel(int(ports.at(node, link)), 2, 3)
            assert str(named) == f"cons:{node}:{own.first + 2}"
