"""Too few consumption channels deadlock, and enough of them do not, however long the network is kept full."""

from dataclasses import dataclass

import numpy as np
import pytest
from cases import some

from wormcast.algorithms import SCHEMES
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.host import NOW, UNDELIVERED, lay_out

from .bench import check_receipts, left_over, network
from .deadlock_search import CASES, DEADLOCKS, THREE_CLASSES, kept

# what was found ------------------------------------------------------------------------------------------------


def test_a_deadlock_is_kept_for_each_case():
    assert {file.stem for file in DEADLOCKS.iterdir()} == set(CASES)


#: One channel for worms by columns, and two classes for e-mcast, each on its smallest mesh.
QUICK = ("column-path_6x1", "e-mcast_6x3_1+,0+_1-,0-")


@pytest.mark.parametrize("name", some(CASES, *QUICK))
def test_too_few_channels_deadlock(name):
    """All worms of a workload that a search has found and shrunk wait in a circle, in which a consumption channel
    is waited for."""
    messages = kept(name)
    result = CASES[name].run(messages)
    assert result.outcome == "deadlock"
    cycle = result.deadlock.cycle
    assert len(cycle) >= 2
    assert any(one.startswith("cons:") for hold in cycle for one in hold.waits)
    for hold, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert set(hold.waits) & set(after.holds), "the next worm does not hold what is waited for"


@pytest.mark.parametrize("name", some(CASES, *QUICK))
def test_with_enough_channels_the_same_is_delivered(name):
    case = CASES[name]
    for enough in case.enough:
        assert case.run(kept(name), **enough).outcome == "delivered"


# enough, for long ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Full:
    """A scheme on 8x8 with enough channels, and somewhat more messages than it can carry.

    ``rate`` is in messages per 10 000 cycles of the whole network. On other networks these are unicasts.
    """

    scheme: str
    rate: int
    options: dict
    network: str = "mesh:8x8"
    relation: str | None = None


FULL = {
    "dual-path": Full("dual-path", 240, {"vcs": 1, "buffer": 8, "consumption": 2}),
    "multipath": Full("multipath", 200, {"vcs": 2, "buffer": 2, "consumption": 2, "readers": "independent"}),
    "multipath-lmn": Full("multipath-lmn", 240, {"vcs": 1, "buffer": 8, "consumption": 2}),
    "column-path": Full("column-path", 178, {"vcs": 1, "buffer": 2, "consumption": 2}),
    "column-path-literal": Full("column-path-literal", 388, {"vcs": 2, "buffer": 4, "consumption": 2,
                                                             "readers": "independent"}),
    "e-mcast": Full("e-mcast", 383, {"vcs": 4, "buffer": 2, "consumption": 4}),
    "e-mcast, three classes": Full("e-mcast", 173, {"vcs": 1, "buffer": 2, "consumption": 3,
                                                    "classes": THREE_CLASSES, "readers": "independent"}),
    "column-path, adaptive": Full("column-path", 388, {"vcs": 2, "buffer": 4, "consumption": 2}, relation="adaptive"),
    "e-mcast, adaptive, three classes": Full("e-mcast", 383, {"vcs": 2, "buffer": 2, "consumption": 3,
                                                              "classes": THREE_CLASSES}, relation="adaptive"),
    "e-mcast, e-cube-adaptive": Full("e-mcast", 300, {"vcs": 2, "buffer": 4, "consumption": 4,
                                                      "readers": "independent"}, relation="e-cube-adaptive"),
    "e-mcast, adaptive, a channel for each input": Full(
        "e-mcast", 383, {"vcs": 4, "buffer": 2, "consumption": 8,
                         "classes": "1+.0/1+.1/1-.0/1-.1/0+.0/0+.1/0-.0/0-.1:last"}, relation="adaptive"),
    "dual-path, all ejection ports": Full("dual-path", 240, {"vcs": 1, "buffer": 8, "consumption": 1,
                                                             "ejection": "all"}),
    "individual": Full("individual", 277, {"vcs": 2, "buffer": 4, "consumption": 1}),
    "u-mesh": Full("u-mesh", 129, {"vcs": 1, "buffer": 2, "consumption": 1, "readers": "independent"}),
}


def multicasts(net, rate, cycles, random, most):
    """A host that creates multicasts to 1 to so many nodes, of 20 to 100 flits, all through so many cycles."""
    messages = rate * cycles // 10_000
    counts = random.integers(1, most + 1, messages)
    nodes = np.argsort(random.random((messages, net.nodes)), axis=1)
    chosen = np.arange(net.nodes - 1) < counts[:, None]
    worms = net.scheme.batch(net.topology, nodes[:, 0], np.cumsum([0, *counts]), nodes[:, 1:][chosen])
    at = np.sort(random.integers(0, cycles, messages))
    return lay_out(net, at, random.integers(20, 101, messages), worms)


CHUNK = 2048
QUIET = 8192


def keep_full(case, *, cycles, batches, seed):
    """Run one network for batches of so many cycles, each until all is delivered; cycles simulated together.

    A worm that has not moved for `QUIET` cycles, and for twice as many at each further look, is looked at.
    """
    net = network(case.network, case.scheme, tuple(sorted(case.options.items())), case.relation)
    random = np.random.default_rng(seed)
    engine, total = None, 0
    for _ in range(batches):
        host = multicasts(net, case.rate, cycles, random, 19 if case.network == "mesh:8x8" else 1)
        if engine is None:
            engine = BulkEngine(net, host)
        engine.host = host  # the network goes on as it was left: empty, but with its own turns
        patience, halfway = QUIET, False
        while host.counters[UNDELIVERED]:
            before = int(host.counters[NOW])
            engine.run(CHUNK)
            check_receipts(host)
            now = int(host.counters[NOW])
            assert host.touched.max() >= before, f"nothing has moved since cycle {before}"
            under_way = (host.injected >= 0) & (host.left > 0)
            if not halfway and now > cycles // 2:
                halfway = True
                assert find_deadlock(engine) is None
                busy = np.count_nonzero(host.streams["worm"] >= 0)
                assert busy >= net.nodes // 4, f"only {busy} nodes are sending: the network is not full"
            if (now - host.touched[under_way] > patience).any():
                assert find_deadlock(engine) is None
                patience *= 2
        assert now >= cycles
        total += now
        engine.run(200, beyond=True)
        assert not left_over(engine)
    return total


def test_every_scheme_is_kept_full():
    assert {case.scheme for case in FULL.values()} == set(SCHEMES)


# a channel for each way, in the order of labels and of columns
@pytest.mark.parametrize("name", some(FULL, "dual-path", "column-path"))
def test_enough_channels_never_deadlock(name):
    """200 000 cycles, all nodes' queues filled: everything is delivered, and nothing is left in the network."""
    assert keep_full(FULL[name], cycles=200_000, batches=1, seed=1) >= 200_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_enough_channels_never_deadlock_in_ten_million_cycles(name):
    """The same in twenty batches; what the hosts know of a batch is forgotten before the next."""
    assert keep_full(FULL[name], cycles=500_000, batches=20, seed=2) >= 10_000_000
