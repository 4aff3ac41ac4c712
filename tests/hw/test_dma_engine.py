# amaranth: UnusedElaboratable=no
"""DMA engine of an interface: cycles in which flits cross the I/O bus, alone and in an interface."""

import random

import pytest
from cases import slow

from wormcast.algorithms import WormcastError
from wormcast.hw import PortSpec
from wormcast.hw.interface import NetworkInterface
from wormcast.hw.interface.dma_engine import DmaEngine

from . import bench
from .test_network_interface import packets

WIDTH = 16


def crossings(*, links, flits, cycles, wants, count=60):
    """Cycles in which flits of each link cross. ``wants(cycle, link)``: the link has a flit."""
    engine = bench.built(DmaEngine, links=links, flits=flits, cycles=cycles)
    seen = [[] for _ in range(links)]

    def step(cycle, context):
        may = context.get(engine.may_cross)
        crosses = sum(1 << k for k in range(links) if may >> k & 1 and wants(cycle, k))
        for k in range(links):
            if crosses >> k & 1:
                seen[k].append(cycle)
        context.set(engine.crosses, crosses)

    bench.simulate(engine, count, step)
    return seen


def alone(number, flits, cycles):
    """Cycle in which flit ``number``, from 0, of a link without competitors crosses; for rates up to 1."""
    return max(number, 1 - (-((number - 2) * cycles + 1) // flits))


@pytest.mark.parametrize(("flits", "cycles"), [(1, 2), (2, 3), (1, 9), (3, 4), (1, 1), (4, 6)])
def test_flits_cross_at_the_rate_of_the_bus(flits, cycles):
    [seen] = crossings(links=1, flits=flits, cycles=cycles, wants=lambda cycle, link: True)
    assert seen == [alone(number, flits, cycles) for number in range(len(seen))]
    assert len(seen) >= 60 * flits // cycles


@pytest.mark.parametrize(("flits", "cycles"), [(4, 3), (2, 1), (9999, 1)])
def test_link_gets_a_flit_per_cycle_of_a_faster_bus(flits, cycles):
    [seen] = crossings(links=1, flits=flits, cycles=cycles, wants=lambda cycle, link: True)
    assert seen == list(range(60))


@pytest.mark.parametrize("links", [2, 3, slow(5)])
@pytest.mark.parametrize(("flits", "cycles"), [(1, 2), (4, 3), (5, 3), slow(7, 2)])
def test_links_share_the_rate(links, flits, cycles):
    seen = crossings(links=links, flits=flits, cycles=cycles, wants=lambda cycle, link: True, count=300)
    counts = [len(one) for one in seen]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == pytest.approx(min(300 * flits / cycles, 300 * links), abs=2 * links + 2)


def test_stopped_link_leaves_the_bus_to_the_other():
    stopped, seen = crossings(links=2, flits=1, cycles=2, wants=lambda cycle, link: link == 1 or cycle >= 40)
    assert [cycle for cycle in seen if cycle < 40] == [alone(number, 1, 2) for number in range(21)]
    assert stopped[:2] == [40, 41]  # its two grants


@pytest.mark.parametrize("seed", [0, *map(slow, range(1, 10))])
def test_no_more_flits_than_the_rate_in_any_cycles(seed):
    rng = random.Random(seed)
    links, flits, cycles = rng.randint(1, 4), rng.randint(1, 9), rng.randint(1, 9)
    busy = [rng.random() for _ in range(links)]
    seen = crossings(links=links, flits=flits, cycles=cycles, count=200,
                     wants=lambda cycle, link: rng.random() < busy[link])
    every = sorted(cycle for one in seen for cycle in one)
    for first, begin in enumerate(every):
        for last, end in enumerate(every[first:], first):
            assert last + 1 - first < (end + 1 - begin) * flits / cycles + 2 * links + 1


def drive(*, send=0, receive=0, cycles=400, stall=lambda cycle: False, **options):
    """Let an interface send a worm, and receive one. Return the cycles with a flit on each link to the network, and to
    the host. ``stall``: the host returns no credits in this cycle."""
    interface = bench.built(NetworkInterface, injection=PortSpec("injection", vcs=1, depth=8), width=WIDTH, queue=8,
                            consumption=PortSpec("consumption", vcs=1, depth=8), **options)
    size = options.get("packet", 0)
    out, up, _ = bench.both_ways(interface, cycles, send=bench.worm([5], send) if send else [],
                                 receive=packets([6], receive, size or receive or 1),
                                 host=lambda cycle: not stall(cycle))
    return out, up


@pytest.mark.parametrize(("flits", "cycles"), [(1, 2), (2, 3), (1, 7), (4, 3)])
def test_flits_of_the_host_leave_its_buffer_at_the_rate(flits, cycles):
    """Without contention a flit is on the link to the network 2 cycles after it was on the host's link."""
    out, _ = drive(send=40, bus_flits=flits, bus_cycles=cycles)
    slowest = [alone(number, flits, cycles) if flits <= cycles else number for number in range(41)]
    assert [cycle for cycle, _ in out] == [2 + cycle for cycle in slowest]
    assert [data for _, data in out] == [data for *_, data in bench.worm([5], 40)]


@pytest.mark.parametrize(("flits", "cycles"), [(1, 2), (2, 3), (1, 7), (4, 3)])
def test_flits_are_sent_to_the_host_at_the_rate(flits, cycles):
    """The header uses no grant."""
    _, up = drive(receive=40, bus_flits=flits, bus_cycles=cycles)
    slowest = [alone(number, flits, cycles) if flits <= cycles else number for number in range(40)]
    assert [cycle for cycle, _ in up] == [3 + cycle for cycle in slowest]
    assert [data for _, data in up] == [data for *_, data in bench.worm([6], 40)[1:]]


QUEUES = {"packet": 8, "send_queue": 2, "receive_queue": 2}


@pytest.mark.parametrize("options", [{}, QUEUES, {**QUEUES, "processors": "one", "t_nr": 3, "t_ns": 2}])
@pytest.mark.parametrize(("buckets", "each"), [("shared", 2), ("separate", 1)])
def test_directions_share_a_bus_or_have_one_each(options, buckets, each):
    out, up = drive(send=120, receive=120, cycles=900, bus_flits=1, bus_cycles=2, bus_buckets=buckets, **options)
    expected = 120 * 2 * each
    assert len(up) == 120
    assert up[-1][0] - up[0][0] == pytest.approx(expected, abs=30)
    assert out[-1][0] - out[0][0] == pytest.approx(expected, abs=30)


@pytest.mark.parametrize("options", [{}, QUEUES])
def test_host_that_takes_nothing_does_not_stop_the_other_direction(options):
    out, up = drive(send=60, receive=60, cycles=300, bus_flits=1, bus_cycles=2, stall=lambda cycle: True, **options)
    assert len(up) == 4  # the host's buffer
    assert len(out) >= 61
    assert out[60][0] == pytest.approx(120, abs=12)


@pytest.mark.parametrize(("build", "said"), [
    (lambda: DmaEngine(links=2, flits=0, cycles=1), r"DmaEngine\.flits: 0 .* 1 to 9999"),
    (lambda: DmaEngine(links=2, flits=1, cycles=10000), r"DmaEngine\.cycles: 10000 .* 1 to 9999"),
    (lambda: NetworkInterface(injection=PortSpec("i", vcs=1, depth=4), consumption=PortSpec("c", vcs=1, depth=4),
                              width=8, bus_flits=1, bus_buckets="all"),
     r"NetworkInterface\.bus_buckets: 'all' .* Allowed: shared, separate"),
])
def test_parameters(build, said):
    with pytest.raises(WormcastError, match=said):
        build()
