"""Counts of the meter: flits and worms on links against the plans' routes, waiting worms against the registers."""

from collections import Counter

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.engines.snapshot import Snapshot
from wormcast.sim.host import NOW, UNDELIVERED, check_receipts, count_sample, lay_out, sampled

from .bench import bulk, host_of, network, send

LENGTH = 7
SETTINGS = [
    ("mesh:4x5", "dual-path", {"consumption": 2, "flit_width": 18}),  # two addresses a flit
    slow("mesh:4x5", "column-path", {"consumption": 3, "consumption_links": "separate", "ports": "all"}),
    slow("mesh:2x3x3", "u-mesh", {"readers": "independent", "vcs": 3, "delays": "fast"}),
    slow("mesh:3x3", "multipath", {"vcs": 1, "consumption": 2, "buffer": 1}),
]


def multicasts(nodes, count, seed):
    random = np.random.default_rng(seed)
    picked = [random.permutation(nodes)[: random.integers(2, 7)] for _ in range(count)]
    return (np.arange(count) * 3, np.array([one[0] for one in picked]),
            np.cumsum([0, *(len(one) - 1 for one in picked)]), np.concatenate([one[1:] for one in picked]))


def expected(net, worms):
    """Flits and worms on each link, walked worm by worm along the relation's table.

    Keys are ("network", u, v), ("injection", node), ("consumption", node) and ("host", node). Behind a destination that
    used a header flit up, and on the link to that destination, it is gone.
    """
    table, capacity = net.scheme.relation.on(net.topology).table, net.header.capacity
    flits, count = Counter(), Counter()
    for worm in range(len(worms)):
        at = int(worms.source[worm])
        stops = worms.destinations[worms.destination_offsets[worm]:worms.destination_offsets[worm + 1]].tolist()
        headers = -(-len(stops) // capacity)
        passed = [("injection", at, headers)]
        for number, stop in enumerate(stops, 1):
            while at != stop:
                following = int(net.topology.neighbours[at, table[at, stop]])
                passed.append(("network", at, following, headers))
                at = following
            headers = -(-len(stops) // capacity) - number // capacity if number < len(stops) else 0
            passed += [("consumption", at, headers), ("host", at, 0)]
        for *link, header in passed:
            flits[tuple(link)] += header + LENGTH
            count[tuple(link)] += 1
    return flits, count


def by_link(net, counts, lane):
    """The counts of a lane by the same keys; of several links of a node the sum."""
    found = Counter()
    for link, value in zip(net.fabric.links, counts[:, lane].tolist(), strict=True):
        key = (link.kind, link.source, link.target) if link.kind == "network" else (link.kind, link.node)
        found[key] += value
    return +found


@pytest.mark.parametrize(("mesh", "scheme", "options"), SETTINGS)
def test_flits_and_worms_are_those_of_the_routes(mesh, scheme, options):
    """Two lanes run until all is delivered: each link has carried what the plans' routes put there, header and all."""
    shape, plan = topology(mesh), SCHEMES[scheme]
    configuration = Configuration(**options).for_headers(shape, plan, 6)
    net = Network(shape, plan, configuration, 2)
    at, source, offsets, destinations = multicasts(net.nodes, 60, 1)
    worms = plan.batch(shape, source, offsets, destinations)
    lane = np.arange(len(at)) % 2
    engine = BulkEngine(net, lay_out(net, at, np.full(len(at), LENGTH), worms, lane=lane), measure=True)
    engine.run(100_000)
    engine.run(50, beyond=True)
    check_receipts(engine.host)
    assert not engine.host.counters[UNDELIVERED]
    counted = take(engine.meter)
    for one in range(2):
        rows = np.flatnonzero(lane == one)
        mine = plan.batch(shape, source[rows], np.cumsum([0, *np.diff(offsets)[rows]]),
                          np.concatenate([destinations[offsets[k]:offsets[k + 1]] for k in rows]))
        flits, count = expected(net, mine)
        assert by_link(net, counted.flits, one) == flits
        assert by_link(net, counted.worms, one) == count
    assert not take(engine.meter).flits.any()


def test_counts_do_not_depend_on_how_time_is_cut():
    def counted(chunks):
        engine = bulk("mesh:4x4", "dual-path", [send(k % 16, (k + 5) % 16, length=40, at=9 * k) for k in range(90)])
        engine = BulkEngine(engine.network, engine.host, measure=True)
        for cycles in chunks:
            engine.run(cycles, beyond=True)
        found = take(engine.meter)
        return found.flits.tolist(), found.worms.tolist(), found.sampled.tolist(), found.samples

    whole = counted([1000])
    assert whole == counted([1] * 10 + [254, 255, 256, 225])
    assert whole[3] == sum(map(sampled, range(1000)))


def test_a_link_may_be_busy_for_longer_than_a_byte_counts():
    """A worm of 1000 flits at full rate: no flit is lost where the narrow counters are added to the wide ones."""
    net = network("mesh:1x3", "individual", (("buffer", 4), ("consumption", 1), ("vcs", 1)))
    engine = BulkEngine(net, host_of(net, [send(0, 2, length=1000)]), measure=True)
    engine.run(1200, beyond=True)
    counted = by_link(net, take(engine.meter).flits, 0)
    assert counted == {**dict.fromkeys([("network", 0, 1), ("network", 1, 2), ("injection", 0)], 1001),
                       ("consumption", 2): 1000, ("host", 2): 1000}


def test_one_cycle_of_each_64_is_sampled_and_any_of_them():
    chosen = np.array([[cycle for cycle in range(64 * k, 64 * k + 64) if sampled(cycle)] for k in range(4000)])
    assert chosen.shape == (4000, 1)
    places = np.bincount(chosen[:, 0] % 64, minlength=64)
    assert places.min() > 30  # 62.5 expected, 8 the deviation
    assert places.max() < 95


def waiting_by_registers(engine):
    """Worms that wait for links, and for consumption channels, [2, nodes]: as `InputVC.state` has it."""
    net, found = engine.network, np.zeros((2, engine.network.nodes), np.int64)
    state = engine.kernels["router"].state
    for name in net.routers["router"].decoder.inputs:
        for vc in range(net.configuration.vcs):
            value = {register: engine.register("router", key) != 0 if (key := f"{name}_input.channel_{vc}.{register}")
                     in state else np.zeros(net.nodes, bool)
                     for register in ("links", "owns_link", "wants_consumption", "done_0")}
            found[1] += value["wants_consumption"]
            found[0] += (value["links"] & ~value["wants_consumption"] & ~value["owns_link"] & ~value["done_0"])
    return found


@pytest.mark.parametrize(("mesh", "scheme", "options"), SETTINGS)
def test_waiting_worms_are_those_of_the_registers(mesh, scheme, options):
    shape, plan = topology(mesh), SCHEMES[scheme]
    net = Network(shape, plan, Configuration(**options).for_headers(shape, plan, 6))
    at, source, offsets, destinations = multicasts(net.nodes, 100, 2)
    worms = plan.batch(shape, source, offsets, destinations)
    engine = BulkEngine(net, lay_out(net, at, np.full(len(at), LENGTH), worms), measure=True)
    wanted, samples = np.zeros((2, net.nodes), np.int64), 0
    for cycle in range(600):
        if sampled(cycle):
            wanted += waiting_by_registers(engine)
            samples += 1
        engine.run(1, beyond=True)
    found = take(engine.meter)
    assert found.samples == samples
    assert np.array_equal(found.sampled[:2, 0], wanted)
    assert wanted[0].sum() > 10
    assert wanted[1].any()


@pytest.mark.parametrize(("mesh", "scheme", "options"), SETTINGS)
def test_owned_channels_are_those_that_the_inputs_hold(mesh, scheme, options):
    """Owned channels by the registers of outputs, against the registers of inputs.

    An output is taken a cycle before the input knows, and free two cycles after the tail was sent: over a long worm's
    life that is little, and never less.
    """
    shape, plan = topology(mesh), SCHEMES[scheme]
    net = Network(shape, plan, Configuration(**options).for_headers(shape, plan, 6))
    at, source, offsets, destinations = multicasts(net.nodes, 60, 3)
    worms = plan.batch(shape, source, offsets, destinations)
    engine = BulkEngine(net, lay_out(net, at, np.full(len(at), 200), worms), measure=True)
    held, samples = np.zeros((2, net.nodes), np.int64), 0
    for cycle in range(6000):
        if sampled(cycle):
            snapshot = Snapshot(engine)
            for channel in snapshot.channels():
                for output, _ in snapshot.held(channel):
                    held[int(output >= net.home(channel[0]).router.ejection), channel[0]] += 1
            samples += 1
        engine.run(1, beyond=True)
    found = take(engine.meter)
    assert found.samples == samples
    for row, mine in enumerate(held):
        assert mine.sum() > 100
        assert mine.sum() <= found.sampled[2 + row].sum() <= 1.1 * mine.sum() + 20


def waits(*messages, mesh="mesh:1x5", **options):
    """All cycles that worms waited for links and for consumption channels, each cycle counted; and the receipts."""
    net = network(mesh, "dual-path", tuple(sorted({"vcs": 1, "consumption": 2, **options}.items())))
    engine = BulkEngine(net, host_of(net, messages), measure=True)
    while engine.host.counters[UNDELIVERED]:
        engine.run(1)
        if not sampled(engine.host.counters[NOW]):  # those are counted already
            count_sample(engine.meter, engine.states)
    return take(engine.meter).sampled[:2].sum(axis=(1, 2)).tolist(), engine.host


@pytest.mark.parametrize("readers", ["coupled", slow("independent")])
def test_a_worm_alone_waits_a_cycle_each_time(readers):
    """Four hops and two stops on the way, one at the end: nothing is in the way, and the grant takes its cycle."""
    assert waits(send(0, 1, 3, 4, length=5), readers=readers)[0] == [4, 3]


def test_what_a_worm_waits_for_a_link_is_what_it_is_late():
    (alone, _), host = waits(send(1, 4, length=10, at=4))
    (both, _), crowded = waits(send(0, 4, length=30), send(1, 4, length=10, at=4))
    late = int(crowded.head[1] - host.head[0])
    assert late > 20
    assert both - alone - 4 == late  # the first worm's own four hops


def test_what_a_worm_waits_for_a_consumption_channel_is_what_it_is_late():
    """Two worms from two sides to the node between them, with one channel there."""
    options = {"consumption": 1, "vcs": 2}
    (_, alone), host = waits(send(4, 2, length=10, at=6), **options)
    (_, both), crowded = waits(send(0, 2, length=30), send(4, 2, length=10, at=6), **options)
    late = int(crowded.head[1] - host.head[0])
    assert late > 20
    assert both - alone - 1 == late
