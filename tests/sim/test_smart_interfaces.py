"""Networks of smart interfaces: who gets what and when, in both engines, beside other worms, with few rows."""

import random

import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, WormcastError, find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.experiments.run import run

from .bench import bulk, finish, host_of, network, send

IRREGULAR = "irregular:switches=4,ports=8,nodes=12,connectivity=0.8,seed=3"
DEEP = {"buffer_kind": "deep", "vcs": 1, "consumption": 1, "flit_width": 8, "buffer": 64}
NETWORKS = [
    (IRREGULAR, {**DEEP, "packet": 8}),
    ("mesh:3x3", {"vcs": 2, "consumption": 2, "packet": 4}),
    ("min:b=2,stages=3", {"vcs": 1, "consumption": 2, "packet": 3}),
    ("torus:4x4", {"vcs": 2, "consumption": 1, "packet": 6, "flit_width": 16}),
]


def messages_of(name, seed, count, longest, spread=60):
    rng = random.Random(seed)
    nodes = range(topology(name).nodes)
    found = []
    for _ in range(count):
        source = rng.choice(nodes)
        others = [node for node in nodes if node != source]
        found.append(send(source, *rng.sample(others, min(rng.choice([1, 2, 5, len(others)]), len(others))),
                          length=rng.randint(1, longest) * 4, at=rng.randrange(spread)))
    return found


def times(host):
    return [host.deliveries[field].tolist() for field in ("head", "tail", "received")]


# three nodes are the fewest of which one forwards; of fpfs, test_events compares the engines
@pytest.mark.parametrize(("name", "options", "kind"), [
    ("mesh:1x3", NETWORKS[1][1], "fcfs"),
    slow("irregular:switches=2,ports=4,nodes=4,seed=3", NETWORKS[0][1], "fpfs"),
    slow("mesh:1x4", NETWORKS[1][1], "fcfs"),
    slow("irregular:switches=2,ports=8,nodes=6,seed=3", NETWORKS[0][1], "fpfs"),
    slow("mesh:2x3", NETWORKS[1][1], "fcfs"),
    *(slow(*network, kind) for network in NETWORKS[:2] for kind in ("fcfs", "fpfs")),
    *(slow(name, {**NETWORKS[0][1], "receive_queue": queue}, kind)
      for name, kind, queue in ((IRREGULAR, "fcfs", 1), (IRREGULAR, "fpfs", 2))),
    slow("mesh:2x3", {**NETWORKS[1][1], "receive_queue": 1, "places": 1}, "fpfs")])
def test_engines_agree(name, options, kind):
    options = {"places": 6, **options, "ni": kind, "rows": 2, "t_ns": 3, "t_nr": 2, "t_hs": 5, "t_hr": 4, "dma": "4/3"}
    net = network(name, "k-binomial", tuple(sorted(options.items())))
    messages = messages_of(name, 5, 5, 4)
    reference = AmaranthEngine(net, host_of(net, messages))
    reference.run(5000)
    engine = bulk(name, "k-binomial", messages, **options)
    finish(engine, 5000)
    assert times(engine.host) == times(reference.host)


@pytest.mark.parametrize(("name", "options", "kind"), [
    (*NETWORKS[1], "fpfs"), (*NETWORKS[2], "fcfs"),
    *(slow(*NETWORKS[number], kind)
      for number, kind in ((0, "fcfs"), (0, "fpfs"), (1, "fcfs"), (2, "fpfs"), (3, "fcfs"), (3, "fpfs"))),
    *(slow(name, {**options, "receive_queue": 2, "t_nr": 4}, kind)
      for kind in ("fcfs", "fpfs") for name, options in NETWORKS)])
def test_everything_is_delivered(name, options, kind):
    """Each receipt is compared with what is due: each packet comes to each destination once, in order within itself."""
    engine = bulk(name, "k-binomial", messages_of(name, 7, 120, 5), ni=kind, rows=4, places=8, stall=0.2, **options)
    finish(engine, 200_000)
    assert not engine.host.smart["rows"].any()
    assert not engine.register("interface", "forwarding.occupancy").any()
    assert engine.register("interface", "forwarding.peak").max() > 1


def test_path_worms_are_forwarded():
    """Each worm of a chain of switches, packet by packet, by one of the nodes that have it."""
    options = {**DEEP, "packet": 8, "ni": "fpfs", "rows": 4, "places": 8, "t_ns": 3}
    engine = bulk(IRREGULAR, "path-lg:by=ni", messages_of(IRREGULAR, 9, 80, 5), **options)
    finish(engine, 200_000)
    worms, forwarded = engine.host.worms, engine.register("interface", "forwarding.forwarded")
    senders = {(int(worm["root"]), int(worm["source"])): -(-int(worm["length"]) // 8)
               for worm in worms if worm["root"] >= 0}
    assert [sum(packets for (_, sender), packets in senders.items() if sender == node) for node in range(12)] == \
        forwarded.tolist()
    assert not engine.register("interface", "forwarding.occupancy").any()


def test_who_sends_path_worms_on_is_named():
    with pytest.raises(WormcastError, match=r"by 'host' of 'path-lg:by=host' is not valid. Allowed: hosts, ni"):
        find_scheme("path-lg:by=host", topology(IRREGULAR))


def test_one_row_serves_messages_one_after_the_other():
    options = {"packet": 4, "vcs": 2, "consumption": 2, "ni": "fpfs", "rows": 1}
    both = [send(0, 1, 2, 3, length=16), send(4, 5, 6, 7, length=16), send(8, 0, 4, length=16)]
    engine = bulk("mesh:3x3", "k-binomial", both, **options)
    finish(engine, 5000)
    first, second, third = engine.host.worms["injected"][engine.host.worms["posting"] >= 0]
    assert abs(first - second) <= 4, "messages without a common node need not wait for each other"
    assert third > max(engine.host.deliveries["tail"][:6]) - 1


def test_conventional_interfaces_are_refused():
    mesh = topology("mesh:3x3")
    with pytest.raises(WormcastError, match=r"is not valid with ni conventional \(the default\): network"):
        run(mesh, SCHEMES["k-binomial"], [send(0, 1, 2)], Configuration(packet=4))


@pytest.mark.parametrize(("options", "message"), [
    ({"ni": "fcfs", "places": 2}, "places: 2 is not valid: ni fcfs .* a message of 12 flits has 3"),
    ({"ni": "fpfs", "row": 1}, "row: 1 is not valid: the headers of all children of node 0 have"),
])
def test_what_the_table_has_no_room_for_is_refused(options, message):
    with pytest.raises(WormcastError, match=message):
        run(topology("mesh:3x3"), SCHEMES["k-binomial"], [send(0, *range(1, 9), length=12)],
            Configuration(packet=4, **options))


@pytest.mark.parametrize(("options", "message"), [
    ({"ni": "fpfs"}, "ni: fpfs is not valid with packet 0 .the default.: a smart interface forwards packets"),
    ({"ni": "fpfs", "packet": 4, "rows": 3}, "rows: 3 is not valid with ni fpfs. Allowed: powers of two up to 64."),
    ({"ni": "fpfs", "packet": 4, "flit_width": 7}, "flit_width: 7 is not valid with ni fpfs. Allowed: 8 bits or more."),
    ({"ni": "fpfs", "packet": 4, "ports": "all"}, "ports: all is not valid with ni fpfs. Allowed: one."),
    ({"ni": "fpfs", "packet": 4, "absorb": "2"}, "absorb: 2 is not valid with ni fpfs. Allowed: off."),
    ({"dma": "0/3"}, "dma: '0/3' is not valid. Allowed: FLITS or FLITS/CYCLES"),
    ({"ratio": "0"}, "ratio: '0' is not valid. Allowed: numbers above 1e-6 and below 1e6."),
    ({"ratio": "2", "t_hs": 10, "t_ns": 4}, "t_ns: 4 is not valid: ratio 2 sets it to 5"),
])
def test_bad_options(options, message):
    with pytest.raises(WormcastError, match=message):
        Configuration(**options)


def test_ratio_sets_the_overheads_of_interfaces():
    configuration = Configuration(t_hs=1000, t_hr=500, ratio="0.5")
    assert (configuration.t_ns, configuration.t_nr) == (2000, 1000)


@pytest.mark.parametrize(("dma", "cycles"), [(None, 1), ("1/2", 2), ("2/3", 1.5), ("4/3", 1)])
def test_a_host_sends_as_fast_as_its_memory(dma, cycles):
    length = 300
    options = {"vcs": 1, "buffer": 8, "queue": 8, **({"dma": dma} if dma else {})}
    engine = bulk("mesh:1x2", "individual", [send(0, 1, length=length)], **options)
    finish(engine, 5000)
    assert engine.host.handed[0] - engine.host.injected[0] == pytest.approx(cycles * length, abs=4)


@pytest.mark.parametrize(("buckets", "each"), [("shared", 2 / 3), ("separate", 1)])
def test_both_ways_share_the_memory(buckets, each):
    length = 600
    engine = bulk("mesh:1x2", "individual", [send(0, 1, length=length), send(1, 0, length=length)], vcs=1, buffer=8,
                  queue=8, dma="4/3", dma_buckets=buckets)
    finish(engine, 5000)
    assert engine.host.tail.max() - engine.host.head.min() == pytest.approx(length / each, rel=0.05)
