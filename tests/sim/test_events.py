"""Events that cost energy: both engines count the same, per router, and the counts add up."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cases import slow

import wormcast as wc
from wormcast.algorithms import WormcastError
from wormcast.hw.events import EVENTS, REPLICATION
from wormcast.sim.build.network import Network
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.engines.bulk import BulkEngine, observer
from wormcast.sim.engines.event_counters import COUNTED, Events, events_of
from wormcast.sim.engines.meter import take
from wormcast.sim.experiments.run import run
from wormcast.sim.lowering import LoweringError

from .bench import host_of, network, send

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Case:
    """A network, its messages, and what follows from its buffers: how often a flit that leaves is read."""

    name: str
    scheme: str
    options: dict[str, object]
    messages: list
    reads: str  # "once", "twice if replicated", "once a branch", or "by the row"


LONG = {"length": 9}
DEEP = {"vcs": 1, "consumption": 1, "buffer_kind": "deep", "buffer": 64, "chunk": 8, "flit_width": 16}
TREE = {"vcs": 1, "consumption": 1, "buffer": 4, "flit_width": 16}
ROW = [send(0, 1, 2, **LONG), send(2, 0, 1, **LONG, at=3), send(1, 2, length=4, at=8)]
COPIES = [*ROW, send(2, 1, length=12, at=9)]  # of several packets, two of which leave one node together
FOUR = [send(0, 1, 2, 3, **LONG), send(3, 1, length=12, at=4), send(2, 0, 1, length=5, at=9)]
SMART = {"vcs": 2, "consumption": 2, "packet": 4, "ni": "fpfs", "rows": 2, "places": 6, "t_ns": 3, "t_nr": 2}

CASES = {
    "coupled": Case("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "consumption": 1, "delays": "fast"}, ROW, "once"),
    "independent": Case("mesh:3x1", "dual-path", {"vcs": 1, "buffer": 3, "readers": "independent", "flit_width": 67},
                        ROW, "twice if replicated"),
    "separate links": Case("mesh:2x2", "multipath", {
        "vcs": 1, "buffer": 3, "ports": "all", "consumption_links": "separate", "flit_width": 8,
        "readers": "independent"}, FOUR, "twice if replicated"),
    "asynchronous": Case("min:b=2,stages=2", "atbm", TREE, FOUR, "once a branch"),
    "synchronous": Case("min:b=2,stages=2", "tree-synchronous", TREE, FOUR, "once"),
    "serial": Case("min:b=2,stages=2", "tree-serial", TREE, FOUR, "once a branch"),
    "deep": Case("irregular:switches=2,ports=4,nodes=4,seed=3", "tree", DEEP, FOUR, "by the row"),
    "multi-drop": Case("irregular:switches=2,ports=4,nodes=4,seed=3", "path-lg", DEEP, FOUR, "by the row"),
    "slots": Case("mesh:1x3", "dual-path", {"vcs": 1, "absorb": "1"}, ROW, "once"),
    "smart": Case("mesh:1x3", "k-binomial", SMART, COPIES, "once"),
}
# one case for each kind of buffer and of interface; the others differ in the number of readers and links
QUICK = ("coupled", "independent", "asynchronous", "deep", "slots", "smart")
cases = pytest.mark.parametrize("case", [one if name in QUICK else slow(one) for name, one in CASES.items()],
                                ids=list(CASES))


def built(case: Case) -> Network:
    return network(case.name, case.scheme, tuple(sorted(case.options.items())))


def counted(case: Case) -> tuple[BulkEngine, Events]:
    """Run to the end; return the engine and its events."""
    net = built(case)
    engine = BulkEngine(net, host_of(net, case.messages), measure=True, events=True)
    engine.run(20_000)
    assert not engine.host.left.any()
    assert engine.events is not None
    return engine, engine.events.take(net)


@cases
def test_both_engines_count_the_same(case):
    engine, found = counted(case)
    judge = AmaranthEngine(built(case), host_of(built(case), case.messages), events=True)
    judge.run(20_000)
    assert judge.events == found
    assert (judge.host.deliveries == engine.host.deliveries).all()
    assert all(found.routers[COUNTED.index(event)].any() for event in EVENTS[:5])
    assert all(found.interfaces[COUNTED.index(event)].any() for event in EVENTS[5:])


@cases
def test_the_counts_add_up(case):
    """Flits on links are those of the meter; a flit is written once, and read as often as its buffer needs."""
    engine, events = counted(case)
    net, measured = engine.network, take(engine.meter)
    routers = dict(zip(COUNTED, events.routers[:, 0], strict=True))
    interfaces = dict(zip(COUNTED, events.interfaces[:, 0], strict=True))
    for event, kind, found in (("link", "network", routers), ("ejection", "consumption", routers),
                               ("injection", "injection", interfaces)):
        links = net.fabric.of_kind(kind)
        expected = np.bincount([link.source for link in links], measured.flits[net.fabric.rows(kind), 0],
                               len(found[event]))
        assert found[event].tolist() == expected.tolist()
    assert (routers["crossbar"] == routers["link"] + routers["ejection"]).all()
    arriving = np.zeros(len(routers["link"]), np.int64)
    for row, link in enumerate(net.fabric.links):
        if link.kind in ("network", "injection"):
            arriving[link.target] += measured.flits[row, 0]
    assert routers["buffer_write"].tolist() == arriving.tolist()
    writes, reads = routers["buffer_write"], routers["buffer_read"]
    if case.reads == "once":
        assert (reads == writes).all()
    elif case.reads == "twice if replicated":
        # a flit is read for the link and for the consumption channel; header flits that are used up leave by neither
        used_up = reads - routers["crossbar"]
        assert (used_up >= 0).all()
        assert used_up.any()
        assert (reads >= writes + routers[REPLICATION]).all()
        assert routers[REPLICATION].any()
    elif case.reads == "once a branch":
        assert (reads == routers["crossbar"]).all()
        assert (reads >= writes).all()
        assert (reads > writes).any()
    else:
        assert not (reads % engine.network.configuration.chunk).any()
    assert (interfaces["interface_read"] >= interfaces["interface_write"]).all()
    payload = sum(message.length * len(message.destinations) for message in case.messages)
    arrived = measured.flits[net.fabric.rows("host"), 0].sum()
    assert payload == arrived  # the flits per which results count


@pytest.mark.parametrize("name", ["coupled", "asynchronous", "deep"])
def test_payload_is_replicated_once_for_each_further_branch(name):
    """Path and tree worms: what is received in all, less what the sources send."""
    case = CASES[name]
    engine, events = counted(case)
    worms = engine.host.worms
    sent = int(worms["length"].sum())
    received = sum(message.length * len(message.destinations) for message in case.messages)
    assert int(events.routers[COUNTED.index(REPLICATION)].sum()) == received - sent


def test_skipped_cycles_have_no_events():
    case = CASES["coupled"]
    net, late = built(case), [*case.messages, send(0, 2, length=3, at=5000)]
    found = []
    for jumps in (True, False):
        engine = BulkEngine(net, host_of(net, late), events=True, jumps=jumps)
        engine.run(20_000)
        assert engine.events is not None
        assert bool(engine.skipped) == jumps
        found.append(engine.events.take(net))
    assert found[0] == found[1]


def test_each_event_has_one_or_two_signals():
    for case in CASES.values():
        net = built(case)
        for kind in net.kinds:
            events = events_of(net, kind)
            assert {event.name for event in events} <= set(COUNTED)
            assert {len(event.signals) for event in events} <= {1, 2}


def test_a_signal_that_is_missing_is_named():
    net = built(CASES["coupled"])
    engine = BulkEngine(net, host_of(net, ROW), vector_width=32)
    kind = net.kinds["interface"]
    with pytest.raises(LoweringError, match=r"^'injection_0.nothing' is not a signal of interface"):
        observer(kind, engine.kernels["interface"], ["injection_0.nothing"])


@pytest.mark.parametrize("engine", ["bulk", slow("amaranth")])
def test_a_run_counts_its_events(engine):
    """Engine amaranth takes long, and is compared with bulk above."""
    case = CASES["coupled"]
    net = built(case)
    result = run(net.topology, net.scheme, case.messages, net.configuration, engine=engine, events=True)
    assert result.events is not None
    assert result.events.seeds[COUNTED.index("crossbar"), 0] > 0
    assert result.events.flits.tolist() == [9 * 2 + 9 * 2 + 4]
    assert result.events.messages.tolist() == [3]
    assert run(net.topology, net.scheme, case.messages, net.configuration).events is None


def test_messages_that_nobody_received_are_not_counted():
    """In the deadlock of Figure 4 no message is received, and there is no number of events per message."""
    result = wc.run("mesh:1x4", "dual-path", messages=EXAMPLES / "figure4.jsonl", vcs=1, consumption=1, events=True)
    assert result.outcome == "deadlock"
    assert result.to_dict()["events"]["per_message"]["link"]["mean"] is None


def test_costs_are_for_the_width_of_an_ideal_header(monkeypatch):
    """They are refused before the hardware is compiled and simulated."""
    monkeypatch.setattr("wormcast.sim.experiments.run.Network", None)
    with pytest.raises(WormcastError, match="flit_width in the energy table: 32 is not valid: the network has "
                                            "flits of 37 bits"):
        wc.run("mesh:8x8", "dual-path", 0, [3, 9, 20, 33, 50, 62], length=10, header="ideal",
               energy=EXAMPLES / "energy" / "noxim_32bit.toml")
