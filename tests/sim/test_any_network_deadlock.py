"""Unicasts on networks of every kind: those that can deadlock do, and are explained; others do not, kept full."""

import re

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import SCHEMES, find_scheme, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.routing import DRAGONFLY_MINIMAL, E_CUBE, SHORTEST, ChoiceRelation, without_classes
from wormcast.sim import Configuration, run
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.host import NOW

from .bench import bulk, check_receipts, send
from .test_deadlock_free import Full, keep_full

HARDWARE = {"vcs": 1, "buffer": 2, "consumption": 1}
IRREGULAR = "irregular:switches=8,ports=5,nodes=16,connectivity=1.0,seed=1"


RING = """
switches = 5
nodes = [0, 1, 2, 3, 4]
links = [[0, 0, 1, 1], [1, 0, 2, 1], [2, 0, 3, 1], [3, 0, 4, 1], [4, 0, 0, 1]]
"""


class Careful(ChoiceRelation):
    """Shortest ways, by channels that a head enters only while they are empty."""

    name, description, enters_empty = "careful", "for tests", True

    def choices(self, topology):
        return SHORTEST.choices(topology)


def unicasts(nodes, each=6, length=40, seed=1):
    """Draw long worms from every node to others, all created at once."""
    random = np.random.default_rng(seed)
    return [send(node, int((node + 1 + random.integers(nodes - 1)) % nodes), length=length)
            for node in range(nodes) for _ in range(each)]


def half_way_round(shape):
    """Everybody sends half the way around its ring of the last dimension."""
    nodes = np.arange(np.prod(shape)).reshape(shape)
    return [send(int(source), int(to), length=40)
            for source, to in zip(nodes.ravel(), np.roll(nodes, -(shape[-1] // 2), -1).ravel(), strict=True)]


#: Network, scheme, hardware, messages.
DEADLOCKS = {
    "torus": ("torus:4x4", SCHEMES["individual"].routed_by(without_classes(E_CUBE)), {}, half_way_round((4, 4))),
    "ring": ("ring:6", SCHEMES["individual"].routed_by(without_classes(E_CUBE)), {"vcs": 2}, half_way_round((6,))),
    "shortest": (IRREGULAR, SCHEMES["individual"].routed_by(SHORTEST), {}, unicasts(16)),
    "dragonfly": ("dragonfly:p=1,a=2,h=1", SCHEMES["individual"].routed_by(without_classes(DRAGONFLY_MINIMAL)), {},
                  [send(0, 5, length=40), send(4, 3, length=40), send(2, 1, length=40)]),
}


@pytest.mark.parametrize("case", some(DEADLOCKS, "ring", "shortest", "dragonfly"))
def test_what_can_deadlock_does_and_is_explained(case):
    """Each worm of the circle waits for a virtual channel of a link that the next one holds, under the link's name."""
    name, scheme, options, messages = DEADLOCKS[case]
    network = topology(name)
    assert check(network, scheme, vcs=options.get("vcs", 1)).verdict == "deadlock"
    result = run(network, scheme, messages, Configuration(**{**HARDWARE, **options}))
    assert result.outcome == "deadlock"
    cycle = result.deadlock.cycle
    assert len({hold.worm for hold in cycle}) == len(cycle) >= 3
    switch = r"\d+" if network.direct else r"s\d+"
    for hold, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert set(hold.waits) & set(after.holds)
        assert all(re.fullmatch(rf"link:{switch}>{switch}(#\d)?:\d", one) for one in hold.waits + hold.holds)
    named = {link.name for link in result.network.fabric.of_kind("network")}
    assert {one.rpartition(":")[0] for hold in cycle for one in hold.holds} <= named


@pytest.mark.parametrize(("name", "relation", "options", "messages"), [
    slow("torus:4x4", None, {"vcs": 2}, half_way_round((4, 4))),
    slow("torus:4x4", None, {"vcs": 2, "ties": "signed"}, half_way_round((4, 4))),
    ("ring:6", None, {"vcs": 2}, half_way_round((6,))),
    slow(IRREGULAR, "up-down", {}, unicasts(16)),
    (IRREGULAR, "up-down-adaptive", {}, unicasts(16)),
])
def test_the_same_is_delivered_by_a_relation_that_is_free(name, relation, options, messages):
    """And never taken for a deadlock, though nodes seldom take a flit."""
    network = topology(name)
    assert check(network, find_scheme("individual", network, relation)).verdict == "free"
    engine = bulk(name, "individual", messages, relation=relation, stall=0.9, **{**HARDWARE, **options})
    while engine.host.left.any():
        engine.run(97)
        check_receipts(engine.host)
        assert find_deadlock(engine) is None
        assert engine.host.counters[NOW] < 100_000


FULL = {
    "torus": Full("individual", 1000, {"vcs": 2, "buffer": 2, "consumption": 1}, "torus:4x4", most=1),
    "ring": Full("individual", 400, {"vcs": 2, "buffer": 2, "consumption": 1}, "ring:6", most=1),
    "ring, signs": Full("individual", 400, {"vcs": 2, "buffer": 2, "consumption": 1, "ties": "signed"}, "ring:6",
                        most=1),
    "up-down": Full("individual", 500, HARDWARE, IRREGULAR, most=1),
    "up-down-adaptive": Full("individual", 500, HARDWARE, IRREGULAR, "up-down-adaptive", most=1),
    "min": Full("individual", 500, HARDWARE, "min:b=2,stages=3", most=1),
    "cmesh": Full("individual", 500, HARDWARE, "cmesh:2x2x2", most=1),
    "fat tree": Full("individual", 500, HARDWARE, "fat-tree:k=2,levels=3", most=1),
    "dragonfly": Full("individual", 400, {**HARDWARE, "vcs": 2}, "dragonfly:p=1,a=2,h=1", most=1),
}


# one dimension stands for two, and up*/down* is the escape of the adaptive relation
@pytest.mark.parametrize("name", some(FULL, "ring", "up-down-adaptive"))
def test_networks_that_are_kept_full_never_deadlock(name):
    """200 000 cycles: everything is delivered, and nothing is left in the network."""
    assert keep_full(FULL[name], cycles=200_000, batches=1, seed=1) >= 200_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_networks_that_are_kept_full_never_deadlock_in_ten_million_cycles(name):
    assert keep_full(FULL[name], cycles=500_000, batches=20, seed=2) >= 10_000_000


@pytest.mark.parametrize("buffer", [2, 4])
def test_a_deadlock_of_short_worms_that_wait_for_empty_buffers_is_proved(buffer, tmp_path):
    """Around a one-way ring; no buffer is full, but each has a worm in it, and that waits for the next to be empty."""
    file = tmp_path / "ring.toml"
    file.write_text(RING)
    ring = topology(str(file))
    messages = [send(node, (node + 3) % 5, length=1) for node in range(5) for _ in range(8)]
    result = run(ring, SCHEMES["individual"].routed_by(Careful()), messages,
                 Configuration(**{**HARDWARE, "buffer": buffer}), timeout=100_000)
    assert result.outcome == "deadlock"
    assert len(result.deadlock.cycle) >= 3
