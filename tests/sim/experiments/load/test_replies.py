"""Replies follow the receipts of messages, and no node has more outstanding requests than its limit."""

import csv
import dataclasses
from collections import defaultdict

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Network
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.load import Experiment, MessageTable, Traffic, load, shared
from wormcast.sim.experiments.load.created import Created, with_replies
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source

MESH = topology("mesh:4x4")
TRAFFIC = Traffic(0.05, destinations_mean=3, multicast_fraction=0.5, length=12, unicast_length=8, reply=5)
#: Schemes, with delays of hosts: receipts are noted late, nodes send worms of others on.
SETTINGS = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},
    "individual": {"consumption": 1, "packet": 4},
}


def rows_of(scheme, traffic, path, *, cycles=6000, seeds=(3, 1), workers=2):
    """Rows of the table of messages, with numbers in place of texts, by seed and number; and the result."""
    one = Experiment(MESH, SCHEMES[scheme], traffic, configuration=Configuration(**SETTINGS[scheme]), cycles=cycles,
                     warmup=0, parts=shared(seeds, workers))
    table = MessageTable(one)
    one.run()
    table.write(path, parquet=False, warmup=0)
    with path.open() as file:
        rows = {(row["seed"], int(row["message"])): row for row in csv.DictReader(file)}
    return rows, one.result()


def exchanges_of(rows):
    """Requests whose replies are all received: the request's row, and the rows of its replies."""
    replies = defaultdict(list)
    for (seed, _), row in rows.items():
        if row["reply_to"]:
            replies[seed, int(row["reply_to"])].append(row)
    return [(rows[key], found) for key, found in replies.items()
            if key in rows and len(found) == len(rows[key]["destinations"].split())]


@pytest.mark.parametrize("outstanding", [0, 1, 2])
@pytest.mark.parametrize("scheme", some(SETTINGS, "dual-path", "u-mesh"))
def test_each_destination_replies_to_the_source_after_its_receipt(scheme, outstanding, tmp_path):
    traffic = dataclasses.replace(TRAFFIC, outstanding=outstanding)
    rows, found = rows_of(scheme, traffic, tmp_path / "messages.csv")
    exchanges = exchanges_of(rows)
    assert len(exchanges) > 100
    busy = defaultdict(list)
    for request, replies in exchanges:
        assert sorted(row["source"] for row in replies) == sorted(request["destinations"].split())
        created = [int(row["created"]) for row in replies]
        assert max(created) == int(request["received"])
        assert min(created) > int(request["created"])
        assert {(row["destinations"], row["length"], row["multicast"]) for row in replies} == {
            (request["source"], "5", "false")}
        last = max(int(row["received"]) for row in replies)
        busy[request["seed"], request["source"]] += [(int(request["injected"]), 1), (last, -1)]
    most = 0
    for steps in busy.values():
        most = max(most, *np.cumsum([step for _, step in sorted(steps)]))
    assert (most <= outstanding) if outstanding else most > 1
    trips = [max(int(row["received"]) for row in replies) - int(request["created"]) for request, replies in exchanges]
    assert found.totals["round_trips"].sum() == len(trips)
    assert found.totals["round_trip_latency"].sum() == sum(trips)
    assert found.round_trip_percentile(1).mean == pytest.approx(np.mean([max(
        trip for trip, (request, _) in zip(trips, exchanges, strict=True) if request["seed"] == seed)
        for seed in ("3", "1")]))


def test_a_request_waits_for_the_first_place_that_is_free(tmp_path):
    """With two places, a request may overtake none, and begins when either earlier one has its replies."""
    rows, _ = rows_of("dual-path", dataclasses.replace(TRAFFIC, rate=0.2, outstanding=2), tmp_path / "messages.csv")
    by_node, waited = defaultdict(list), 0
    for request, replies in exchanges_of(rows):
        by_node[request["seed"], request["source"]].append(
            (int(request["message"]), int(request["created"]), int(request["injected"]),
             max(int(row["received"]) for row in replies)))
    for of in by_node.values():
        of.sort()
        ends = []
        for number, created, injected, end in of:
            free = sorted(ends)[-2] if len(ends) >= 2 else 0
            assert injected >= max(created, free), number
            waited += free > created and injected < free + 3
            ends.append(end)
    assert waited > 50


def test_without_replies_nothing_is_exchanged():
    found = load(MESH, SCHEMES["dual-path"], dataclasses.replace(TRAFFIC, reply=0), cycles=2000, seeds=[1],
                 configuration=Configuration(consumption=2))
    told = found.to_dict()
    assert told["round_trips"] == 0
    assert {told[name]["mean"] for name in ("reply_latency", "request_latency", "round_trip_latency",
                                            "outstanding_wait", "outstanding_requests")} == {None}


def test_the_requests_are_those_of_traffic_without_replies(tmp_path):
    plain, _ = rows_of("dual-path", dataclasses.replace(TRAFFIC, reply=0), tmp_path / "plain.csv")
    rows, _ = rows_of("dual-path", TRAFFIC, tmp_path / "replies.csv")

    def requests(of):
        return {(row["seed"], row["created"], row["source"], *sorted(row["destinations"].split()))
                for row in of.values() if not row["reply_to"]}
    assert len(requests(rows) & requests(plain)) > 0.95 * len(requests(plain))


def test_results_do_not_depend_on_threads_or_pauses():
    found = []
    for workers, pause in ((1, None), (2, 1500)):
        one = Experiment(MESH, SCHEMES["u-mesh"], dataclasses.replace(TRAFFIC, outstanding=2), cycles=5000, warmup=None,
                         configuration=Configuration(**SETTINGS["u-mesh"]), parts=shared((3, 1), workers))
        while not one.finished:
            one.run(one.now + pause if pause else None)
        told = one.result().to_dict()
        del told["cycles_per_second"]
        found.append(told)
    assert found[0] == found[1]


def test_both_engines_agree():
    hosts, mesh = [], topology("mesh:2x2")
    traffic = Traffic(0.3, multicast_fraction=0.5, destinations_mean=2, length=4, unicast_length=4, reply=2)
    for engine_of in (BulkEngine, AmaranthEngine):
        network = Network(mesh, SCHEMES["individual"], Configuration(vcs=1, t_hr=3))
        window = MessageWindow(network, [Source(traffic, mesh, 1)], 40, reply=2, outstanding=1)
        engine = engine_of(network, window.host)
        engine.run(900)
        hosts.append(engine.host)
    assert (hosts[0].received >= 0).all()
    assert len(hosts[0].exchanges) > 4
    for name, mine, other in zip(hosts[0]._fields, *hosts, strict=True):
        assert np.array_equal(mine, other), name


def test_replies_are_beside_their_request():
    created = Created(np.array([3, 5]), np.array([7, 2], np.int32), np.array([9, 4]), np.array([True, False]),
                      np.array([0, 2, 3]), np.array([1, 6, 0], np.int32))
    found, requests = with_replies(created, 5)
    assert requests.tolist() == [0, 0, 0, 3, 3]
    assert found.at.tolist() == [3, 3, 3, 5, 5]
    assert found.source.tolist() == [7, 1, 6, 2, 0]
    assert found.length.tolist() == [9, 5, 5, 4, 5]
    assert found.multicast.tolist() == [True, False, False, False, False]
    assert np.split(found.destinations, found.offsets[1:-1])[0].tolist() == [1, 6]
    assert found.destinations.tolist() == [1, 6, 7, 7, 0, 2]
    assert found.waits.tolist() == [[1, 1], [2, 2], [4, 1]]


def test_nodes_consume_replies_too():
    plain = Traffic(0.1, multicast_fraction=0.5, length=10, unicast_length=10, destinations_mean=3)
    replying = dataclasses.replace(plain, reply=5)
    # a message per 100 cycles, with (1 + 3) / 2 replies of 5 flits
    assert replying.consumption(MESH) - plain.consumption(MESH) == pytest.approx(np.full(16, 0.1))
    assert replying.nominal(MESH) == pytest.approx(0.2)
    silent = Traffic(0.1, multicast_fraction=0, pattern="transpose", reply=20)
    assert silent.nominal(MESH) == pytest.approx(2 * 0.1 * 12 / 16)
    assert silent.consumption(MESH)[0] == 0


@pytest.mark.parametrize(("outstanding", "saturated"), [(0, False), (1, True), (4, False)])
def test_a_limit_that_holds_requests_back_saturates(outstanding, saturated):
    """At 0.12 flits a node, a round trip takes about 80 cycles, and a request is created every 66."""
    found = load(MESH, SCHEMES["dual-path"], Traffic(0.12, multicast_fraction=0, unicast_length=8, reply=8,
                                                     outstanding=outstanding),
                 cycles=12_000, configuration=Configuration(consumption=2))
    assert found.saturated == saturated
    assert 0 < found.outstanding.mean < (outstanding or np.inf)
    if saturated:
        assert found.outstanding.mean > 0.9
        assert found.span("outstanding_wait").mean > 0.8 * found.span("round_trip_latency").mean


@pytest.mark.parametrize(("options", "sentence"), [
    ({"outstanding": 3}, r"outstanding: 3 is not valid with reply 0 \(the default\): .* Allowed: 0; with reply 1 "),
    ({"reply": -1}, r"reply: -1 is not valid\. Allowed: 0 to 65536\."),
    ({"reply": 4, "outstanding": -1}, r"outstanding: -1 is not valid\. Allowed: 0 to 1000000\."),
])
def test_refusals(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Traffic(0.1, **options)


def consumes(cycles, *, outstanding=0, scheme="dual-path", **options):
    """Far beyond saturation, hosts take flits in every part of a run."""
    found = load(MESH, SCHEMES[scheme], Traffic(0.25, destinations_mean=3, multicast_fraction=0.2, reply=20,
                                                outstanding=outstanding),
                 cycles=cycles, warmup=0, seeds=[1], configuration=Configuration(**options))
    parts = found.slices["consumed"][20:, 0].reshape(10, -1).sum(axis=1)
    assert found.deadlock is None
    assert found.saturated
    assert parts.min() > 0.1 * parts.max()


@pytest.mark.parametrize(("outstanding", "options"), [
    (0, {"consumption": 2}),
    slow(8, {"consumption": 2}),
    slow(0, {"consumption": 2, "dma": "1/2"}),  # sending and receiving share the rate of the host's memory
])
def test_hosts_consume_however_many_replies_wait(outstanding, options):
    consumes(20_000, outstanding=outstanding, **options)


@pytest.mark.slow  # a million cycles; 20 000 of them are in the test above
@pytest.mark.parametrize("outstanding", [0, 8])
def test_hosts_consume_for_a_million_cycles(outstanding):
    consumes(10**6, outstanding=outstanding, consumption=2)
