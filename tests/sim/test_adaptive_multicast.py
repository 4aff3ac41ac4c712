"""Worms of several destinations by adaptive relations: the engines agree, and what can deadlock does.

That enough consumption channels never do is tried for long in `test_deadlock_free`.
"""

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import ConsumptionClasses, find_scheme, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.sim import Configuration, run

from .bench import bulk, send
from .test_engines_agree import Draw, compare

INPUTS = "1+.0/1+.1/1-.0/1-.1/0+.0/0+.1/0-.0/0-.1:last"
SMALL = {"vcs": 2, "buffer": 2, "flit_width": 16}

#: Network, scheme, relation, hardware.
QUICK = {
    "columns": ("mesh:2x2", "column-path", "adaptive", {**SMALL, "consumption": 2}),
}
LARGE = {
    "longer columns": ("mesh:3x2", "column-path", "adaptive", {**SMALL, "consumption": 2}),
    "rows and columns": ("mesh:3x3", "e-mcast", "e-cube-adaptive", {**SMALL, "consumption": 4}),
    "a channel for each input": ("mesh:3x3", "e-mcast", "adaptive",
                                 {**SMALL, "consumption": 8, "classes": INPUTS, "vcs": 4}),
    "copies apart": ("mesh:3x2", "column-path", "e-cube-adaptive",
                     {**SMALL, "consumption": 2, "readers": "independent", "delays": "fast", "buffer": 3}),
    "three dimensions": ("mesh:2x2x2", "e-mcast", "adaptive", {**SMALL, "consumption": 6, "ports": "all"}),
}


def multicasts(nodes, count, random):
    """Draw multicasts of random sizes at random times."""
    drawn = []
    for _ in range(count):
        source, *others = random.permutation(nodes).tolist()
        drawn.append(send(source, *others[:random.integers(1, nodes)], length=int(random.integers(1, 9)),
                          at=int(random.integers(0, 20))))
    return drawn


def agree(mesh, scheme, relation, hardware, count=12, cycles=60, seed=1):
    messages = multicasts(topology(mesh).nodes, count, np.random.default_rng(seed))
    seen = compare(Draw(mesh, scheme, hardware, messages, 0.2, seed, relation), cycles)
    return sum(word & 1 for cycle in seen for words in cycle.values() for word in words)


def everybody(mesh, seed, each=6):
    """Multicasts of 30 flits, ``each`` of every node, all created at once."""
    random, nodes = np.random.default_rng(seed), topology(mesh).nodes
    return [send(source, *random.permutation(np.delete(np.arange(nodes), source))[:random.integers(2, nodes)].tolist(),
                 length=30) for source in range(nodes) for _ in range(each)]


def outcome(mesh, scheme, relation, classes, consumption, seed):
    """Return the outcome of the messages, and the verdict of the analysis."""
    network = topology(mesh)
    found = find_scheme(scheme, network, relation)
    given = None if classes is None else ConsumptionClasses.parse(classes)
    hardware = Configuration(vcs=2, buffer=2, consumption=consumption, classes=classes)
    result = run(network, found, everybody(mesh, seed), hardware, timeout=200_000)
    for hold in result.deadlock.cycle if result.deadlock else ():
        assert set(hold.waits).isdisjoint(hold.holds)
    return result.outcome, check(network, found, classes=given, consumption=consumption).verdict


#: Mesh, scheme, relation, classes, consumption channels, and seed.
DEADLOCKS = {
    "columns": ("mesh:3x2", "column-path", "adaptive", None, 1, 0),
    "columns, by escape": ("mesh:3x2", "column-path", "e-cube-adaptive", None, 1, 0),
    "rows and columns": ("mesh:4x4", "e-mcast", "adaptive", None, 2, 0),
    "rows and columns, by escape": ("mesh:4x4", "e-mcast", "e-cube-adaptive", None, 2, 1),
}
FREE = {
    "columns": ("mesh:3x2", "column-path", "adaptive", None, 2, 0),
    "columns, by escape": ("mesh:3x2", "column-path", "e-cube-adaptive", None, 2, 0),
    "rows and columns": ("mesh:4x4", "e-mcast", "adaptive", "1+,0+/1-/0-:last", 3, 0),
    "rows and columns, by escape": ("mesh:4x4", "e-mcast", "e-cube-adaptive", None, 4, 1),
    "a channel for each input": ("mesh:4x4", "e-mcast", "adaptive", INPUTS, 8, 0),
}


@pytest.mark.parametrize("case", some(DEADLOCKS, "columns"))
def test_too_few_channels_deadlock(case):
    assert outcome(*DEADLOCKS[case]) == ("deadlock", "deadlock")


@pytest.mark.slow  # what is delivered agrees with Amaranth below
@pytest.mark.parametrize("case", some(FREE, "columns"))
def test_with_enough_channels_the_same_is_delivered(case):
    assert outcome(*FREE[case]) == ("delivered", "free")


#: Input ports of worms that move in the directions of `INPUTS`, in that order.
CAME_BY = ("west", "east", "north", "south")


@pytest.mark.parametrize("vcs", [2, slow(4)])
def test_each_virtual_channel_into_a_router_has_a_consumption_channel(vcs):
    """A worm on its way holds that of the link and the class of virtual channels by which it came, and no other."""
    hardware = {"vcs": vcs, "buffer": 2, "consumption": 8, "classes": INPUTS}
    engine = bulk("mesh:3x3", "e-mcast", everybody("mesh:3x3", 3, each=2), relation="adaptive", **hardware)
    decoder, seen = engine.network.routers["router"].decoder, set()
    while engine.host.left.any():
        engine.run(7)
        for name in decoder.inputs[:decoder.links_in]:
            for vc in range(vcs):
                of = {register: engine.register("router", f"{name}_input.channel_{vc}.{register}")
                      for register in ("here", "links", "wants_consumption", "consumption_vc")}
                # it goes on, and has its channel
                stays = (of["here"] != 0) & (of["links"] != 0) & (of["wants_consumption"] == 0)
                held = set(of["consumption_vc"][stays].tolist())
                assert held <= {2 * CAME_BY.index(name) + vc * 2 // vcs}
                assert {engine.network.consumption_mask(4, decoder.inputs.index(name), vc, 0, False)} == {
                    1 << 2 * CAME_BY.index(name) + vc * 2 // vcs}
                seen |= held
    assert seen == set(range(8))


@pytest.mark.slow  # the engines agree on adaptive unicasts and on multicasts, and the decoders are tried alone
@pytest.mark.parametrize("case", QUICK)
def test_engines_agree(case):
    assert agree(*QUICK[case]) > 200


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_engines_agree_on_larger_networks(case):
    assert agree(*LARGE[case], count=25, cycles=100) > 500
