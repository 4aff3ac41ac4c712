"""Unicasts under load: each comes in the cycle in which a second simulator, written from the documents, says so."""

from functools import cache

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Traffic, load
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.experiments.load.statistics import interval

from .bench import bulk, check_receipts, send
from .flit_reference import EAST, LOCAL, simulate

#: Virtual channels x flits of buffer, 8 flits an input, with several numbers of consumption channels.
BUFFERS = {"1x8": (1, 8, 1), "2x4": (2, 4, 2), "4x2": (4, 2, 4)}
SEEDS = range(6)
LENGTH = 20


def hardware(vcs, depth, channels):
    return {"vcs": vcs, "buffer": depth, "consumption": channels}


# the reference alone -------------------------------------------------------------------------------------------


def test_one_worm_cycle_by_cycle():
    """Created in 0: the host's link in 1, the first router's in 3; then 3 a hop and 4 to the consumption link, 2 on."""
    found = simulate((1, 3), [0], [0], [2], [2], cycles=50, vcs=1, depth=4, channels=1, trace=9)
    assert found.trace[:, [0, 1, 2, 5]].tolist() == [
        [6, 0, EAST, 0], [7, 0, EAST, 1], [8, 0, EAST, 2],
        [9, 1, EAST, 0], [10, 1, EAST, 1], [11, 1, EAST, 2],
        [13, 2, LOCAL, 1], [14, 2, LOCAL, 2],
    ]
    assert (found.injected.tolist(), found.head.tolist(), found.tail.tolist()) == ([0], [15], [16])
    fast = simulate((1, 3), [0], [0], [2], [2], cycles=50, vcs=1, depth=5, channels=1, fast=True, trace=9)
    assert fast.trace[fast.trace[:, 5] == 1][:, 0].tolist() == [8, 12, 16]
    assert fast.head == 18


def on_link(found, router, output):
    """(cycle, message, place) of the flits on a link."""
    here = (found.trace[:, 1] == router) & (found.trace[:, 2] == output)
    return [tuple(row) for row in found.trace[here][:, [0, 4, 5]].tolist()]


def test_a_header_waits_for_the_tail_in_front():
    """One virtual channel: the second header is on the link 2 cycles behind the first's tail, 7 later than alone."""
    case = {"cycles": 100, "vcs": 1, "depth": 16, "channels": 1, "trace": 99}
    found = simulate((1, 4), [0, 4], [0, 1], [3, 2], [6, 3], **case)
    assert on_link(found, 1, EAST) == [*((9 + k, 0, k) for k in range(7)), *((17 + k, 1, k) for k in range(4))]
    alone = simulate((1, 4), [4], [1], [2], [3], **case)
    assert on_link(alone, 1, EAST) == [(10 + k, 0, k) for k in range(4)]
    assert found.tail[1] - alone.tail[0] == 7
    assert found.tail[0] == simulate((1, 4), [0], [0], [3], [6], **case).tail[0]


def test_two_worms_share_a_link_in_turns():
    """Two virtual channels: the same two, longer, flit by flit in turns once the second header is there."""
    found = simulate((1, 4), [0, 4], [0, 1], [3, 2], [30, 30], cycles=200, vcs=2, depth=16, channels=1, trace=999)
    assert on_link(found, 1, EAST)[:8] == [(9 + k, k % 2, k // 2) for k in range(8)]


def test_two_worms_at_one_destination():
    """From both sides at once: the east input comes first. One channel: the second reserves it 2 cycles after the tail;
    two: its reservation takes a cycle of the link, then they take turns."""
    case = {"cycles": 60, "vcs": 1, "depth": 8}
    one = simulate((1, 3), [0, 0], [0, 2], [1, 1], [4, 4], channels=1, **case)
    assert (one.head.tolist(), one.tail.tolist()) == ([18, 12], [21, 15])
    two = simulate((1, 3), [0, 0], [0, 2], [1, 1], [4, 4], channels=2, **case)
    assert (two.head.tolist(), two.tail.tolist()) == ([14, 13], [20, 19])


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("fast", [False, True], ids=["paper", "fast"])
def test_credits_limit_a_worm_alone(depth, fast):
    found = simulate((1, 4), [0], [0], [3], [601], cycles=4000, vcs=2, depth=depth, fast=fast)
    assert 600 / (found.tail - found.head)[0] == pytest.approx(min(1, depth / (5 if fast else 4)), rel=0.01)


def test_all_messages_come_in_the_end():
    random = np.random.default_rng(1)
    source, others = random.integers(0, 12, 400), random.integers(1, 12, 400)
    found = simulate((3, 4), np.sort(random.integers(0, 1000, 400)), source, (source + others) % 12,
                     random.integers(1, 30, 400), cycles=20_000, vcs=3, depth=2, channels=1)
    assert (found.tail >= found.head).all()
    assert (found.head > found.injected).all()


# the hardware against it ---------------------------------------------------------------------------------------


def agree(shape, at, source, destination, length, cycles, *, delays="paper", **options):
    """Both simulators have every message begin and end in the same cycles; how many have come."""
    messages = [send(a, b, length=flits, at=start)
                for start, a, b, flits in zip(*map(np.ndarray.tolist, (at, source, destination, length)), strict=True)]
    engine = bulk("mesh:" + "x".join(map(str, shape)), "individual", messages, delays=delays, **options)
    engine.run(cycles, beyond=True)
    check_receipts(engine.host)
    found = simulate(shape, at, source, destination, length, cycles=cycles, vcs=options["vcs"], depth=options["buffer"],
                     channels=options["consumption"], fast=delays == "fast")
    for name in ("injected", "head", "tail"):
        ours, theirs = getattr(found, name), getattr(engine.host, name)
        assert np.array_equal(ours, theirs), f"{name} of {np.flatnonzero(ours != theirs)[:5].tolist()}"
    return int((found.tail >= 0).sum())


@pytest.mark.parametrize(("shape", "options"), [
    slow((4, 4), hardware(*BUFFERS["1x8"]), id="1x8"),
    pytest.param((4, 4), hardware(*BUFFERS["2x4"]), id="2x4"), slow((4, 4), hardware(*BUFFERS["4x2"]), id="4x2"),
    slow((3, 5), {**hardware(2, 5, 2), "delays": "fast"}, id="fast"),
])
def test_no_load(shape, options):
    """One worm after the other: each pair of nodes, several lengths."""
    nodes = shape[0] * shape[1]
    cases = np.array([(a, b, length) for length in (1, 2, 7, 20, 33) for a in range(nodes) for b in range(nodes)
                      if a != b])
    at = 5 + 130 * np.arange(len(cases))
    assert agree(shape, at, *cases.T, int(at[-1]) + 200, **options) == len(cases)


def created(shape, rate, seed, cycles):
    traffic = Traffic(rate, multicast_fraction=0, unicast_length=LENGTH)
    messages = Source(traffic, topology("mesh:" + "x".join(map(str, shape))), seed).until(cycles)
    return messages.at, messages.source.astype(np.int64), messages.destinations.astype(np.int64), messages.length


# of four virtual channels, which take longest to compile, nothing is asked that two do not do
@pytest.mark.parametrize(("shape", "options"), [
    *(pytest.param((4, 4), hardware(*BUFFERS[name]), id=name) for name in ("1x8", "2x4")),
    slow((4, 4), hardware(*BUFFERS["4x2"]), id="4x2"),
    pytest.param((3, 5), {**hardware(2, 5, 2), "delays": "fast"}, id="fast"),
])
@pytest.mark.parametrize("rate", [0.1, 0.4, 0.9])
def test_every_message_under_load(shape, options, rate):
    """From a light load to twice what the network takes."""
    at, source, destination, length = created(shape, rate, 7, 4000)
    length = 1 + np.arange(len(at)) * 7 % (2 * LENGTH)  # of all lengths
    assert agree(shape, at, source, destination, length, 4000, **options) > 4000 * rate / 4


@pytest.mark.parametrize("name", BUFFERS)
@pytest.mark.parametrize("rate", [0.05, 0.15, 0.2, 0.25, 0.4])
@pytest.mark.slow
def test_every_message_on_an_8x8_mesh(name, rate):
    assert agree((8, 8), *created((8, 8), rate, 3, 20_000), 20_000, **hardware(*BUFFERS[name])) > 10_000 * rate


@pytest.mark.parametrize(("shape", "options"), [
    ((4, 4), hardware(1, 1, 2)), ((1, 9), hardware(1, 3, 1)), ((4, 4), hardware(2, 1, 1)), ((6, 3), hardware(3, 5, 2)),
    ((4, 4), {**hardware(1, 4, 3), "delays": "fast"}), ((2, 7), {**hardware(3, 2, 2), "delays": "fast"}),
])
@pytest.mark.slow
def test_every_message_with_other_hardware(shape, options):
    for rate in (0.05, 0.3, 0.9):
        assert agree(shape, *created(shape, rate, 3, 5000), 5000, **options) > 20


# load experiments against it -----------------------------------------------------------------------------------


def measured(shape, name, rate, cycles, warmup, messages):
    """Mean latency and delivered flits per node and cycle, [seeds]; ``messages`` by seed.

    As docs/experiments.md defines them: latency of the messages created from the warm-up on and received by the end,
    payload of those received from the warm-up on.
    """
    vcs, depth, channels = BUFFERS[name]
    latency, delivered = [], []
    for seed in SEEDS:
        at, source, destination, length = messages(shape, rate, seed, cycles)
        tail = simulate(shape, at, source, destination, length, cycles=cycles, vcs=vcs, depth=depth,
                        channels=channels).tail
        counts = (at >= warmup) & (tail >= 0)
        latency.append((tail - at)[counts].mean())
        delivered.append(length[tail >= warmup].sum() / (cycles - warmup) / (shape[0] * shape[1]))
    return np.array(latency), np.array(delivered)


def own_messages(shape, rate, seed, cycles):
    """The same kind of traffic, by another generator of random numbers, and cycle by cycle."""
    random, nodes = np.random.default_rng([seed, 1]), shape[0] * shape[1]
    at, source = np.nonzero(random.random((cycles, nodes)) < rate / LENGTH)
    return at, source, (source + random.integers(1, nodes, len(at))) % nodes, np.full(len(at), LENGTH)


@cache
def loaded(shape, name, rate, cycles, warmup):
    return load(topology("mesh:" + "x".join(map(str, shape))), SCHEMES["individual"],
                Traffic(rate, multicast_fraction=0, unicast_length=LENGTH),
                configuration=Configuration(**hardware(*BUFFERS[name])), cycles=cycles, warmup=warmup, seeds=SEEDS)


def compare(shape, name, rate, cycles):
    """The same messages: the same means. Other messages: means that differ by no more than the two intervals say."""
    warmup = cycles // 5
    result = loaded(shape, name, rate, cycles, warmup)
    latency, delivered = measured(shape, name, rate, cycles, warmup, created)
    assert result.span("latency").mean == pytest.approx(latency.mean(), rel=1e-12)
    assert result.per_node("completed").mean == pytest.approx(delivered.mean(), rel=1e-12)
    latency, delivered = measured(shape, name, rate, cycles, warmup, own_messages)
    for ours, theirs in ((interval(latency), result.span("latency")),
                         (interval(delivered), result.per_node("completed"))):
        assert abs(ours.mean - theirs.mean) <= np.hypot(ours.half_width, theirs.half_width)


# every message is compared above, with several buffers: here one, at a load where latencies differ from run to run
@pytest.mark.parametrize(("name", "rate"), [
    ("1x8", 0.4), *(slow(*point) for point in (
        ("2x4", 0.2), ("4x2", 0.33), ("1x8", 0.05), ("2x4", 0.4), ("4x2", 0.2))),
])
def test_latency_on_a_4x4_mesh(name, rate):
    compare((4, 4), name, rate, 8000)


@pytest.mark.parametrize(("name", "rate", "cycles"), [
    ("1x8", 0.05, 20_000), ("2x4", 0.05, 20_000), ("4x2", 0.05, 20_000), ("2x4", 0.2, 20_000), ("4x2", 0.2, 20_000),
    ("1x8", 0.2, 50_000),  # nearly saturated: longer, as queues take that long to come and go
])
@pytest.mark.slow
def test_latency_on_an_8x8_mesh(name, rate, cycles):
    compare((8, 8), name, rate, cycles)


def crossing(rates, shares):
    """The load at which the share that is delivered falls below 0.95, in between by straight lines; [seeds]."""
    assert (shares[0] > 0.95).all(), shares[0]
    assert (shares[-1] < 0.95).all(), shares[-1]
    return np.array([np.interp(-0.95, -seed, rates) for seed in np.minimum.accumulate(shares).T])


def compare_saturation(shape, name, rates, cycles):
    """Compare the load at which 0.95 of the created flits are delivered, and the throughput at twice the highest rate.

    Both are found for each seed, by each simulator from its own messages: the means differ by no more than their
    intervals say, and by no more than 3 %.
    """
    warmup = cycles // 5
    every = [*rates, min(1.0, 2 * rates[-1])]
    results = [loaded(shape, name, rate, cycles, warmup) for rate in every]
    theirs = np.array([result.totals["completed"] for result in results])
    wanted = np.array([result.totals["wanted"] for result in results])
    ours = np.array([measured(shape, name, rate, cycles, warmup, own_messages)[1] for rate in every])
    ours *= (cycles - warmup) * shape[0] * shape[1]
    created = np.array([[length[at >= warmup].sum() for at, _, _, length in (
        own_messages(shape, rate, seed, cycles) for seed in SEEDS)] for rate in every])
    for one, other in ((crossing(rates, (ours / created)[:-1]), crossing(rates, (theirs / wanted)[:-1])),
                       (ours[-1], theirs[-1])):
        one, other = interval(one), interval(other)
        assert abs(one.mean - other.mean) <= min(np.hypot(one.half_width, other.half_width), 0.03 * other.mean)
    assert [result.saturated for result in results[::len(rates)]] == [False, True]


@pytest.mark.slow  # message by message they are the same above
@pytest.mark.parametrize(("name", "rates"), [
    ("1x8", (0.36, 0.44, 0.52)), slow("2x4", (0.4, 0.48, 0.56)), slow("4x2", (0.3, 0.38, 0.46)),
])
def test_saturation_of_a_4x4_mesh(name, rates):
    compare_saturation((4, 4), name, rates, 8000)


@pytest.mark.parametrize(("name", "rates"), [
    ("1x8", (0.2, 0.24, 0.28)), ("2x4", (0.24, 0.28, 0.32)), ("4x2", (0.22, 0.26, 0.3)),
])
@pytest.mark.slow
def test_saturation_of_an_8x8_mesh(name, rates):
    compare_saturation((8, 8), name, rates, 15_000)


# the comparison itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [{"buffer": 7}, slow({"vcs": 2}), slow({"delays": "fast"})])
def test_the_comparison_notices(monkeypatch, other):
    """Another buffer, virtual channel or delay in the reference alone is found."""
    names = {"buffer": "depth", "vcs": "vcs"}
    changed = {"fast": True} if "delays" in other else {names[name]: value for name, value in other.items()}
    monkeypatch.setitem(globals(), "simulate", lambda *args, simulate=simulate, **kwargs:
                        simulate(*args, **{**kwargs, **changed}))
    with pytest.raises(AssertionError, match="of"):
        agree((4, 4), *created((4, 4), 0.3, 1, 2000), 2000, **hardware(*BUFFERS["1x8"]))
    with pytest.raises(AssertionError):
        compare((4, 4), "1x8", 0.4, 8000)
