"""Utilisation, waits and the parts of latency of a load experiment, each against a count of another kind."""

import dataclasses
import json
from itertools import pairwise

import numpy as np
import pytest
from cases import some

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network, Traffic, load
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.experiments.load.utilisation import LINKS
from wormcast.sim.host import NOW, UNDELIVERED, count_sample, sampled

MESH = topology("mesh:4x4")
TRAFFIC = Traffic(0.03, length=16, destinations_mean=4)


def measured(scheme="dual-path", *, traffic=TRAFFIC, cycles=12_000, warmup=2000, seeds=(1, 2, 3), workers=None,
             **options):
    return load(MESH, SCHEMES[scheme], traffic, configuration=Configuration(**{"consumption": 2, **options}),
                cycles=cycles, warmup=warmup, seeds=seeds, workers=workers)


# worms that stop on their way are the hard case: of the others each link has whole worms
@pytest.mark.parametrize("scheme", some(["dual-path", "u-mesh", "individual"], "dual-path"))
def test_utilisation_is_flits_times_hops(scheme):
    """At a load that is taken, a network link carries the created flits times their planned hops; others by count."""
    found = measured(scheme, cycles=30_000)  # four destinations: every header in one flit
    created = [Source(TRAFFIC, MESH, seed).until(30_000) for seed in found.seeds]
    hops, worms, stops = 0, 0, 0
    for made in created:
        batch = SCHEMES[scheme].batch(MESH, made.source, made.offsets, made.destinations)
        counts = made.at[np.repeat(np.arange(batch.messages), np.diff(batch.message_offsets))] >= 2000
        hops += SCHEMES[scheme].relation.on(MESH).hops(batch)[counts].sum()
        worms += counts.sum()
        stops += np.diff(batch.destination_offsets)[counts].sum()
    cycles = 28_000 * len(found.seeds)
    assert found.utilisation("network").mean == pytest.approx(17 * hops / (cycles * len(MESH.links)), rel=0.01)
    assert found.utilisation("injection").mean == pytest.approx(17 * worms / (cycles * 16), rel=0.01)
    # a worm's last destination gets no header flit
    assert found.utilisation("consumption").mean == pytest.approx(
        (17 * stops - worms) / (cycles * 16), rel=0.01)


def test_the_tables_have_each_link_once_and_the_same_mean():
    found = measured(consumption_links="separate", ports="all")
    ends = [link[:2] for link in found.link_table("network")]
    assert sorted(ends) == sorted(map(tuple, MESH.links[:, [0, 2]].tolist()))
    assert sorted(link[:2] for link in found.link_table("consumption")) == [
        (node, number) for node in range(16) for number in range(2)]
    assert len(found.link_table("injection")) == 16 * 4
    for kind in LINKS:
        flits = [link[2] for link in found.link_table(kind)]
        assert np.mean(flits) == pytest.approx(found.utilisation(kind).mean)
        assert found.busiest(kind)[2] == max(flits) <= 1
        assert found.to_dict()[f"{kind}_utilisation"]["max"] == max(flits)


def test_each_link_is_in_its_place():
    """A row: each link carries the messages from one side of it to the other, a node's links its own."""
    row, traffic, cycles = topology("mesh:1x5"), Traffic(0.05, length=10, destinations_mean=1), 20_000
    found = load(row, SCHEMES["individual"], traffic, configuration=Configuration(), cycles=cycles, warmup=0,
                 seeds=(1, 2))
    made = [Source(traffic, row, seed).until(cycles) for seed in found.seeds]
    sources, ends = (np.concatenate([getattr(one, field) for one in made]) for field in ("source", "destinations"))
    network = {(first, second): value * 2 * cycles for first, second, value in found.link_table("network")}
    for cut in range(4):
        upwards, downwards = (sources <= cut) & (ends > cut), (sources > cut) & (ends <= cut)
        # with a header flit; the last messages are on their way
        assert network[cut, cut + 1] == pytest.approx(11 * upwards.sum(), abs=33)
        assert network[cut + 1, cut] == pytest.approx(11 * downwards.sum(), abs=33)
    for kind, nodes, flits in (("injection", sources, 11), ("consumption", ends, 10)):
        counted = [value * 2 * cycles for _, _, value in found.link_table(kind)]
        assert counted == pytest.approx(flits * np.bincount(nodes), abs=33)


def test_results_do_not_depend_on_how_seeds_are_shared():
    one, other = measured(workers=1), measured(workers=3)
    for kind in LINKS:
        assert one.link_table(kind) == other.link_table(kind)
    assert (one.wait("link"), one.wait("consumption")) == (other.wait("link"), other.wait("consumption"))


def test_the_cycles_before_the_warm_up_do_not_count():
    """Two runs that differ in their warm-up: the flits of the one are those of the other and of what is between."""
    def flits(found):
        return found.links["network"]

    whole, late, early = (measured(cycles=cycles, warmup=warmup)
                          for cycles, warmup in ((8000, 0), (8000, 4000), (4000, 0)))
    assert np.array_equal(flits(whole), flits(late) + flits(early))
    assert flits(early).sum() > 1000


def test_waits_are_those_of_every_cycle_counted():
    """The sampled means against a run in which waiting worms are counted in each cycle, as near as samples get."""
    traffic, cycles = dataclasses.replace(TRAFFIC, rate=0.05), 12_000
    found = measured(traffic=traffic, cycles=cycles, warmup=0, seeds=(5,))
    scheme = SCHEMES["dual-path"]
    network = Network(MESH, scheme, Configuration(consumption=2).for_headers(MESH, scheme, 4))
    window = MessageWindow(network, [Source(traffic, MESH, 5)], cycles)
    engine = BulkEngine(network, window.host, measure=True)
    while engine.host.counters[NOW] < cycles:
        engine.run(1, beyond=True)
        if not sampled(engine.host.counters[NOW]):
            count_sample(engine.meter, engine.states)
    counted = take(engine.meter)
    for row, what, links in ((0, "link", "network"), (1, "consumption", "consumption")):
        every = counted.sampled[row].sum() / counted.worms[network.fabric.rows(links)].sum()
        assert every > 1.3
        assert found.wait(what).mean == pytest.approx(every, rel=0.1)


def test_a_deadlock_measures_nothing_and_no_rate_no_waits():
    stuck = measured(traffic=Traffic(0.02, length=64, destinations_mean=4), cycles=200_000, seeds=(0, 1),
                     consumption=1, vcs=1, buffer=2)
    quiet = measured(traffic=Traffic(0.0, destinations_mean=4), cycles=2000, warmup=0)
    assert stuck.deadlock
    for kind in LINKS:
        assert stuck.utilisation(kind).mean is stuck.busiest(kind) is None
        assert stuck.link_table(kind) == []
        assert (quiet.utilisation(kind).mean, quiet.busiest(kind)[2]) == (0, 0)
    for found in (stuck, quiet):
        assert found.wait("link").mean is found.wait("consumption").mean is None
        json.dumps(found.to_dict(links=True))


SPANS = {
    "dual-path": {},
    "multipath": {"ports": "all", "consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},
    "column-path": {"consumption": 2, "packet": 4, "readers": "independent", "t_ns": 5, "t_nr": 3},
    "individual": {"injection_delay": 30},
}


@pytest.mark.parametrize("scheme", some(SPANS, "dual-path", "u-mesh", "individual"))
def test_the_parts_of_latency_are_in_order_and_make_it_up(scheme):
    found = measured(scheme, cycles=6000, warmup=500, **SPANS[scheme])
    totals = found.totals
    assert totals["messages"].min() > 30
    parts = ("queue_latency", "injection_latency", "transit_latency", "reception_latency")
    assert np.array_equal(sum(totals[part] for part in parts), totals["latency"])
    assert np.array_equal(totals["injection_latency"] + totals["transit_latency"], totals["network_latency"])
    configuration = Configuration(**{"consumption": 2, **SPANS[scheme]})
    network = Network(MESH, SCHEMES[scheme], configuration.for_headers(MESH, SCHEMES[scheme], 4))
    window = MessageWindow(network, [Source(TRAFFIC, MESH, 1)], 3000)
    BulkEngine(network, window.host).run(6000)
    assert not window.host.counters[UNDELIVERED]
    done = window.take_done()
    order = ("created", "injected", "handed", "tail", "received")
    for before, after in pairwise(order):
        assert (done[before] <= done[after]).all()


def test_injection_is_until_the_source_has_sent_its_last_flit():
    """Of several worms the last one's; what others send on does not count.

    A worm alone: 13 flits in a row, and the header takes a cycle longer than they do.
    """
    light = Traffic(0.0002, length=12, destinations_mean=1)
    alone = measured("individual", traffic=light, cycles=60_000, warmup=0)
    assert (alone.totals["injection_latency"] == alone.totals["messages"] * (13 - 1 + 1)).all()
    network = Network(MESH, SCHEMES["u-mesh"], Configuration().for_headers(MESH, SCHEMES["u-mesh"], 4))
    window = MessageWindow(network, [Source(TRAFFIC, MESH, 1)], 3000)
    BulkEngine(network, window.host).run(20_000)
    host, found = window.host, window.take_done()
    made, worms = Source(TRAFFIC, MESH, 1).until(3000), iter(zip(host.worms["source"].tolist(), host.handed.tolist(),
                                                                strict=True))
    for source, handed in zip(made.source.tolist(), found["handed"].tolist(), strict=True):
        sent = [next(worms) for _ in range(4)]  # to four destinations
        assert 1 < sum(worm[0] == source for worm in sent) < 4
        assert handed == max(at for node, at in sent if node == source)
