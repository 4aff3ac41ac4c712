"""Too few consumption channels deadlock, and enough of them do not, however long the network is kept full."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from cases import some

from wormcast.algorithms import HAMILTONIAN, SCHEMES, PlainScheme, find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.experiments.hunt import hunt
from wormcast.sim.host import NOW, UNDELIVERED, lay_out

from .bench import check_receipts, left_over
from .deadlock_cases import CASES, DEADLOCKS, THREE_CLASSES, kept

# what was found ------------------------------------------------------------------------------------------------


def test_a_deadlock_is_kept_for_each_case():
    assert {file.stem for file in DEADLOCKS.iterdir()} == set(CASES)


#: One channel for worms by columns, and two classes for e-mcast, each on its smallest mesh.
QUICK = ("column-path_6x1", "e-mcast_6x3_1+,0+_1-,0-")


@pytest.mark.parametrize("name", some(CASES, *QUICK))
def test_too_few_channels_deadlock(name):
    """Of a workload that a hunt has found and shrunk, all worms that are not delivered wait for ever, some in a circle,
    in which a consumption channel is waited for. A worm that is delivered has held up another one."""
    messages = kept(name)
    result = CASES[name].run(messages)
    assert result.outcome == "deadlock"
    cycle = result.deadlock.cycle
    assert len(cycle) >= 2
    left = {one["id"] for one in result.to_dict()["messages"] if one["latency"] is None}
    assert {hold.worm for hold in cycle} <= result.deadlock.worms == left
    assert any(one.startswith("cons:") for hold in cycle for one in hold.waits)
    for hold, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert set(hold.waits) & set(after.holds), "the next worm does not hold what is waited for"


def smaller(messages):
    """Lists without one message, or one destination, with a payload a flit shorter, or a message a cycle earlier."""
    for place, message in enumerate(messages):
        rest = [messages[:place], messages[place + 1:]]
        if len(messages) > 1:
            yield rest[0] + rest[1]
        nodes = message.destinations
        fewer = [nodes[:k] + nodes[k + 1:] for k in range(len(nodes))] if len(nodes) > 1 else []
        changed = [replace(message, destinations=left) for left in fewer]
        changed += [replace(message, length=message.length - 1)] * (message.length > 1)
        changed += [replace(message, at=message.at - 1)] * (message.at > 0)
        yield from (rest[0] + [one] + rest[1] for one in changed)


@pytest.mark.parametrize("name", some(CASES, *QUICK))
def test_nothing_less_deadlocks(name):
    for messages in smaller(kept(name)):
        assert CASES[name].run(messages).outcome == "delivered", messages


@pytest.mark.parametrize("name", some(CASES, QUICK[0]))
def test_with_enough_channels_the_same_is_delivered(name):
    case = CASES[name]
    for enough in case.enough:
        assert case.run(kept(name), **enough).outcome == "delivered"


# enough, for long ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Full:
    """A scheme on a mesh with enough channels, and somewhat more messages than it can carry.

    ``rate`` is in messages per 10 000 cycles of the whole network, ``unicasts`` the share of them with one destination;
    the others have up to ``most``. Halfway a share of the nodes, ``busy``, must be sending.
    """

    scheme: str
    rate: int
    options: dict
    network: str = "mesh:8x8"
    relation: str | None = None
    most: int = 19
    unicasts: float = 0.0
    busy: float = 0.25

    def found(self):
        return Mixed() if self.scheme == "mixed" else find_scheme(self.scheme, topology(self.network), self.relation)


class Mixed(PlainScheme):
    """TP, SP and unicasts by the same R in one network: which one a multicast is depends on its source and its size."""

    name = "mixed"
    relation = HAMILTONIAN

    def classes_on(self, topology):
        return SCHEMES["sp"].classes_on(topology)

    def visits(self, topology, source, destinations):
        labels, x = topology.hamiltonian_labels, topology.coordinates[:, 0]
        ordered = sorted(destinations, key=lambda node: labels[node])
        kind = (source + len(destinations)) % 3
        if kind == 0:
            return [[node] for node in destinations]
        sides = [x == x] if kind == 1 else [x > x[source], x < x[source], x == x[source]]
        return [half for side in sides for half in (
            [node for node in ordered if side[node] and labels[node] > labels[source]],
            [node for node in ordered[::-1] if side[node] and labels[node] < labels[source]])]


#: The nodes of [Amnah].
ALL_PORTS = {"vcs": 1, "buffer": 4, "consumption": 1, "ports": "all", "ejection": "all"}

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
    "tp": Full("tp", 330, ALL_PORTS, "mesh:5x5x5"),
    "sp": Full("sp", 330, ALL_PORTS, "mesh:5x5x5"),
    "tp, sp and unicasts": Full("mixed", 400, ALL_PORTS, "mesh:5x5x5"),
    "gtdmpm, one port": Full("gtdmpm", 160, {"vcs": 1, "buffer": 2, "consumption": 2}, "mesh:4x4x4"),
    "individual": Full("individual", 277, {"vcs": 2, "buffer": 4, "consumption": 1}),
    "u-mesh": Full("u-mesh", 129, {"vcs": 1, "buffer": 2, "consumption": 1, "readers": "independent"}),
    "binomial": Full("binomial", 129, {"vcs": 1, "buffer": 2, "consumption": 1}),
    # hosts send the first copies alone, of ten
    "k-binomial": Full("k-binomial", 250, {"vcs": 2, "buffer": 4, "consumption": 1, "ni": "fpfs", "packet": 32,
                                           "rows": 64, "places": 8}, busy=0.03),
}


def multicasts(net, case, cycles, random):
    """A host that creates a case's messages, of 20 to 100 flits, all through so many cycles.

    In the first lane at 0.7 of the rate, in the last one at 1.3 of it: near saturation, and beyond.
    """
    lane = np.repeat(np.arange(net.lanes), (case.rate * cycles / 10_000 * np.linspace(0.7, 1.3, net.lanes)).astype(int))
    messages, nodes = len(lane), net.topology.nodes
    counts = random.integers(1, case.most + 1, messages)
    counts[random.random(messages) < case.unicasts] = 1
    order = np.argsort(random.random((messages, nodes)), axis=1)
    chosen = np.arange(nodes - 1) < counts[:, None]
    worms = net.scheme.batch(net.topology, order[:, 0], np.cumsum([0, *counts]), order[:, 1:][chosen])
    at = random.integers(0, cycles, messages)
    return lay_out(net, at, random.integers(20, 101, messages), worms, lane=lane)


CHUNK = 2048
QUIET = 8192
LANES = 16


def keep_full(case, *, cycles, batches, seed):
    """Run `LANES` networks for batches of so many cycles, each until all is delivered; cycles simulated together.

    A worm that has not moved for `QUIET` cycles, and for twice as many at each further look, is looked at.
    """
    built = topology(case.network)
    net = Network(built, case.found(), Configuration(**case.options), LANES)
    random = np.random.default_rng(seed)
    engine, total = None, 0
    for _ in range(batches):
        host = multicasts(net, case, cycles, random)
        if engine is None:
            engine = BulkEngine(net, host)
        engine.host = host  # the networks go on as they were left: empty, but with their own turns
        lane_of = host.worms["source"] // built.nodes
        patience, halfway = QUIET, False
        while host.counters[UNDELIVERED]:
            before = int(host.counters[NOW])
            engine.run(CHUNK)
            check_receipts(host)
            now = int(host.counters[NOW])
            under_way = (host.injected >= 0) & (host.left > 0)
            for lane in np.unique(lane_of[under_way]):
                assert host.touched[lane_of == lane].max() >= before, f"nothing has moved in {lane} since {before}"
            if not halfway and now > cycles // 2:
                halfway = True
                assert not any(find_deadlock(engine, lane) for lane in range(LANES))
                busy = np.count_nonzero(host.streams["worm"] >= 0)
                assert busy >= net.hosts * case.busy, f"only {busy} nodes are sending: the networks are not full"
            late = np.unique(lane_of[under_way & (now - host.touched > patience)])
            if len(late):
                assert not any(find_deadlock(engine, lane) for lane in late.tolist())
                patience *= 2
        assert now >= cycles
        total += now * LANES
        engine.run(200, beyond=True)
        assert not left_over(engine)
    return total


def test_every_scheme_is_kept_full():
    on_meshes = {name for name in SCHEMES if not SCHEMES[name].needs_whole_packet
                 and (not SCHEMES[name].kinds or "mesh" in SCHEMES[name].kinds)}
    assert {case.scheme for case in FULL.values()} == {*on_meshes, "mixed"}


# a channel for each way, in the order of labels and of columns
@pytest.mark.parametrize("name", some(FULL, "dual-path"))
def test_enough_channels_never_deadlock(name):
    """200 000 cycles, all nodes' queues filled: everything is delivered, and nothing is left in the networks."""
    assert keep_full(FULL[name], cycles=200_000 // LANES, batches=1, seed=1) >= 200_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_enough_channels_never_deadlock_in_ten_million_cycles(name):
    """The same in six batches; what the hosts know of a batch is forgotten before the next. 10^8 cycles in all."""
    assert keep_full(FULL[name], cycles=110_000, batches=6, seed=2) >= 10_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_no_hunt_finds_a_deadlock_in_ten_million_cycles(name):
    """Worms of 1 to 256 flits, few that are staged and many that fill networks; 10^8 cycles in all."""
    case = FULL[name]
    built = topology(case.network)
    found = hunt(built, case.found(), configuration=Configuration(**case.options),
                 cycles=10_000_000)
    assert found.result is None
    assert found.searched.cycles >= 10_000_000
    assert found.searched.unfinished == 0
    assert found.searched.loads[1] > 3
    assert found.searched.lengths[1] > 200
