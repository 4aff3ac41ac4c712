"""Rows of child tables that are requested by control packets: networks, sources and results."""

import random

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.experiments.load import Experiment
from wormcast.sim.host import ADMISSION
from wormcast.sim.host.constants import ROW_MASK
from wormcast.sim.host.row_requests import ASKING, HELD_ROW

from .bench import bulk, finish, host_of, left_over, network, send

IRREGULAR = "irregular:switches=4,ports=8,nodes=12,connectivity=0.8,seed=3"
DEEP = {"buffer_kind": "deep", "vcs": 1, "consumption": 1, "flit_width": 8, "buffer": 64, "packet": 40}
# one row: all messages that share a node compete; a message has as many packets as places
FEW = {"rows": 1, "places": 2, "ni": "fpfs", "admission": "messages"}
NETWORKS = {
    "two": ("mesh:1x3", "k-binomial", {"packet": 16, **FEW}),
    "mesh": ("mesh:3x3", "k-binomial", {"packet": 16, **FEW, "rows": 2}),
    "irregular": (IRREGULAR, "k-binomial", {**DEEP, **FEW, "ni": "fcfs", "t_nr": 4, "t_ns": 3}),
    "queues": (IRREGULAR, "k-binomial", {**DEEP, **FEW, "receive_queue": 2, "send_queue": 2, "t_nr": 3}),
    "paths": (IRREGULAR, "path-lg:by=ni", {**DEEP, **FEW, "rows": 2}),
    "min": ("min:b=2,stages=3", "k-binomial", {"vcs": 1, "consumption": 2, "packet": 16, **FEW}),
    "torus": ("torus:4x4", "k-binomial:k=1", {"vcs": 2, "consumption": 1, "packet": 24, "flit_width": 16, **FEW,
                                              "dma": "4/3"}),
    "wide": ("mesh:3x3", "k-binomial", {"packet": 16, "flit_width": 64, **FEW, "rows": 4, "dma": "1/1",
                                        "dma_engine": "interface", "receive_queue": 1, "consumption": 3}),
}


def mixed(name, seed, count, window, packet, unicasts=0.3):
    """Messages of up to two packets, to any number of nodes, all within a window."""
    rng = random.Random(seed)
    nodes = topology(name).nodes
    found = []
    for _ in range(count):
        source, *others = rng.sample(range(nodes), nodes)
        to = 1 if rng.random() < unicasts else rng.randint(2, nodes - 1)
        found.append(send(source, *others[:to], length=4 * rng.randint(1, packet // 2), at=rng.randrange(window)))
    return found


def in_use(engine):
    return engine.register("interface", "admission.used")


@pytest.mark.parametrize("case", ["mesh", slow("irregular"), slow("queues"), slow("paths"), slow("min"), slow("torus"),
                                  slow("wide")])
def test_everything_is_delivered_and_all_rows_are_free_at_the_end(case):
    """Each receipt is compared with what is due, so a row granted twice is found; then nothing is left anywhere."""
    name, scheme, options = NETWORKS[case]
    engine = bulk(name, scheme, mixed(name, 1, 40, 400, options["packet"]), **options)
    finish(engine, 200_000)
    assert not in_use(engine).any()
    assert not left_over(engine)
    found = dict(zip(ADMISSION, engine.host.admission.sum(axis=0).tolist(), strict=True))
    assert found["refusals"] > 0
    assert found["releases"] > 0
    worms = engine.host.worms
    forwarded = worms[worms["posting"] >= 0]
    assert found["admitted"] == len(forwarded)
    # a granted request belongs to an admitted message, or is released
    ends = worms["delivery_end"][forwarded["posting"]]
    assert found["requests"] - found["refusals"] == found["releases"] + int((ends - forwarded["delivery"]).sum())


@pytest.mark.parametrize("case", ["two", *(slow(case) for case in NETWORKS if case != "two")])
def test_engines_agree(case):
    name, scheme, options = NETWORKS[case]
    sent = mixed(name, 2, 5, 60, options["packet"], unicasts=0.2)
    engine = bulk(name, scheme, sent, **options)
    finish(engine, 50_000)
    net = network(name, scheme, tuple(sorted(options.items())))
    judge = AmaranthEngine(net, host_of(net, sent))
    judge.run(int(engine.host.deliveries["received"].max()) + 1)
    assert np.array_equal(judge.host.deliveries, engine.host.deliveries)
    assert np.array_equal(judge.host.admission, engine.host.admission)


def owners(host):
    """Node and row of each granted request, and of each message with payload that has not arrived at the node."""
    for record in host.smart:
        if record["state"] == ASKING:
            first = host.worms["delivery"][record["first_waiting"]]
            for delivery in range(first, record["following"]):
                if host.asks["state"][delivery] == HELD_ROW:
                    yield int(host.deliveries["node"][delivery]), int(record["row"]), True
    for root in host.tagged[host.tagged >= 0]:
        if (last := host.worms["posting"][root]) >= 0:
            for delivery in range(host.worms["delivery"][root], host.worms["delivery_end"][last]):
                if host.deliveries["due"][delivery]:
                    yield int(host.deliveries["node"][delivery]), int(host.worms["tag"][root] & ROW_MASK), False


def test_no_row_has_two_owners():
    name, scheme, options = NETWORKS["mesh"]
    engine = bulk(name, scheme, mixed(name, 4, 30, 200, options["packet"]), **options)
    seen = 0
    for _ in range(3000):
        engine.run(1, beyond=True)
        found = list(owners(engine.host))
        assert len({(node, row) for node, row, _ in found}) == len(found)
        used = in_use(engine)
        assert all(int(used[node]) >> row & 1 for node, row, granted in found if granted)
        seen = max(seen, len(found))
    assert seen > 8


# more than four times the lowest rates that saturate these networks, 0.0107 and 0.0117 (``load --find-saturation``)
OVERLOAD = 0.05
LOADS = {
    "mesh": ("mesh:3x3", "k-binomial", {"packet": 16, **FEW}, 4),
    "irregular": (IRREGULAR, "k-binomial", {**DEEP, **FEW, "t_ns": 5, "t_nr": 5}, 5),
}


def overloaded(case, cycles):
    """A load beyond saturation, and each source's admitted messages."""
    name, scheme, options, mean = LOADS[case]
    net = topology(name)
    traffic = Traffic(OVERLOAD, destinations_mean=mean, multicast_fraction=1.0, length=2 * options["packet"])
    experiment = Experiment(net, find_scheme(scheme, net, None), traffic, configuration=Configuration(**options),
                            cycles=cycles, warmup=cycles // 10, parts=[[1]])
    experiment.run()
    return experiment.result(), experiment.groups[0].window.host.admission[:, ADMISSION.index("admitted")]


@pytest.mark.parametrize(("case", "cycles"), [("mesh", 100_000), slow("irregular", 100_000), slow("mesh", 10_000_000),
                                              slow("irregular", 10_000_000)])
def test_the_fewest_rows_beyond_saturation_lead_to_no_deadlock(case, cycles):
    found, admitted = overloaded(case, cycles)
    assert found.deadlock is None
    assert found.saturated
    assert found.per_node("completed").mean > 0.01
    assert admitted.min() > 0.1 * admitted.mean()
    assert 0 < found.to_dict()["admission"]["control_share"]["mean"] < 1


def test_results_have_the_admission_only_with_requests():
    name, scheme, options, mean = LOADS["mesh"]
    net = topology(name)
    traffic = Traffic(0.005, destinations_mean=mean, multicast_fraction=1.0, length=32)
    for admission in ("oracle", "messages"):
        experiment = Experiment(net, find_scheme(scheme, net, None), traffic, cycles=4000, warmup=400, parts=[[1]],
                                configuration=Configuration(**{**options, "admission": admission}))
        experiment.run()
        assert ("admission" in experiment.result().to_dict()) == (admission == "messages")


CONVENTIONAL = (r"admission: messages is not valid with ni conventional \(the default\): only smart interfaces have "
                r"rows\. Allowed: oracle, or with ni fcfs or fpfs\.")
WIDTH = r"flit_width: 24 is not valid with admission messages\. Allowed: 8 to 16 bits, or 32 or more\."


@pytest.mark.parametrize(("options", "message"), [({"ni": "conventional"}, CONVENTIONAL), ({"flit_width": 24}, WIDTH)])
def test_refused_options(options, message):
    with pytest.raises(WormcastError, match=message):
        Configuration(**{"ni": "fpfs", "packet": 16, "admission": "messages", **options})


@pytest.mark.parametrize(("name", "packet", "length", "message"), [
    ("mesh:1x3", 4, 4, r"packet: 4 .* a request for a row has up to 8 payload flits\. Allowed: 8 or more\."),
    ("mesh:1x3", 16, 4800, r"packet: 16 .* 300 packets, and a request states up to 256\. Allowed: 19 or more\."),
    ("mesh:18x18", 16, 4, r"admission: messages .* 324 nodes: .* each other node, at most 256\. Allowed: oracle\."),
])
def test_refused_messages(name, packet, length, message):
    with pytest.raises(WormcastError, match=message):
        bulk(name, "k-binomial", [send(0, 1, 2, length=length)], **{**FEW, "packet": packet})
