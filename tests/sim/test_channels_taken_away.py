"""Hardware options that say which channels worms may take: all of a link's, and ejection ports of their own."""

import pytest

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.run import run

from .bench import send

#: Two worms from each node half way round: what they wait for is what the next one has.
AROUND = [send(node, (node + 2) % 4, length=40) for node in range(4)] * 2


def around(engine="bulk", **options):
    ring = topology("ring:4")
    return run(ring, find_scheme("individual", ring), AROUND, Configuration(**options), engine=engine)


@pytest.mark.parametrize("engine", ["bulk", "amaranth"])
def test_a_ring_deadlocks_where_its_classes_are_taken_away(engine):
    assert around(engine, vcs=2).outcome == "delivered"
    stuck = around(engine, vcs=1, vc_classes="none")
    assert stuck.outcome == "deadlock"
    assert {held for worm in stuck.deadlock.cycle for held in worm.holds} == {
        "link:0>1:0", "link:1>2:0", "link:2>3:0", "link:3>0:0"}
    assert stuck.network.configuration.to_dict()["vc_classes"] == "none"


def test_classes_need_their_share_of_the_channels():
    with pytest.raises(WormcastError, match="vcs: 1 is given, e-cube tells 2 classes of virtual channels apart on rin"):
        around(vcs=1)


def test_a_mesh_has_no_classes_to_take_away():
    """The same routers, and the same cycle for everything."""
    mesh = topology("mesh:3x3")
    scheme = find_scheme("dual-path", mesh)
    messages = [send(node, *(set(range(9)) - {node}), length=5) for node in range(9)]
    plain, free = (run(mesh, scheme, messages, Configuration(consumption=2, vc_classes=one))
                   for one in ("relation", "none"))
    assert [plain.message_to_dict(k) for k in range(9)] == [free.message_to_dict(k) for k in range(9)]


@pytest.mark.parametrize(("name", "scheme"), [
    ("mesh:3x3", "dual-path"), ("mesh:3x3", "column-path"), ("torus:3x3", "individual"),
    ("min:b=2,stages=2", "individual"),
    ("irregular:switches=3,ports=5,nodes=5,connectivity=0.8,seed=4", "individual"),
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
