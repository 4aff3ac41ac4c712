"""The network interface, cycle by cycle."""

import itertools

import pytest

from wormcast.hw import PortSpec
from wormcast.hw.network_interface import HOST_DEPTH, Consumption, Injection

from . import bench

WIDTH = 16


def inject(flits, *, vcs=2, depth=4, credit_after=2, cycles=120):
    """Post flits as fast as the interface takes them; return what is on the network link, by cycle."""
    interface = Injection(PortSpec("network", vcs=vcs, depth=depth), width=WIDTH)
    queue, seen, owed, room = list(flits), [], {}, [HOST_DEPTH]

    def step(cycle, context):
        room[0] += context.get(interface.host.credit)
        if context.get(interface.network.valid):
            vc, flit = context.get(interface.network.vc), context.get(interface.network.flit)
            seen.append((cycle, vc, flit.head, flit.tail, flit.data))
            owed.setdefault(cycle + credit_after, []).append(vc)
        context.set(interface.network.credit, sum(1 << vc for vc in owed.get(cycle, ())))
        sends = bool(queue) and room[0] > 0
        context.set(interface.host.valid, sends)
        if sends:
            head, tail, data = queue.pop(0)
            room[0] -= 1
            context.set(interface.host.flit, {"head": head, "tail": tail, "data": data})

    bench.simulate(interface, cycles, step)
    return seen


def test_injection_takes_two_cycles_and_sends_a_flit_a_cycle():
    seen = inject(bench.worm([9], 6))
    assert [cycle for cycle, *_ in seen] == [2, 3, 4, 5, 6, 7, 8]
    assert [entry[2:] for entry in seen] == bench.worm([9], 6)


def test_each_worm_takes_a_free_virtual_channel_and_keeps_it():
    seen = inject(bench.worm([9], 3) + bench.worm([8], 3))
    vcs = [vc for _, vc, *_ in seen]
    assert len(set(vcs[:4])) == 1
    assert len(set(vcs[4:])) == 1
    assert vcs[0] != vcs[-1]


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6])
def test_injection_gets_depth_over_the_credit_loop(depth):
    cycles = [cycle for cycle, *_ in inject(bench.worm([9], 24), vcs=1, depth=depth, credit_after=2)]
    assert len(cycles) == 25
    assert all(cycles[k] - cycles[k - depth] == max(4, depth) for k in range(2 * depth, 25))


def consume(arrivals, *, channels=2, depth=4, hold=0, cycles=160):
    """Put (channel, flit) on the network link as credits allow; return what the host gets, by cycle.

    The host takes nothing of channel c before cycle ``hold[c]``.
    """
    interface = Consumption(PortSpec("network", vcs=channels, depth=depth), width=WIDTH)
    queue, seen, room = list(arrivals), [], [depth] * channels
    owed = []

    def step(cycle, context):
        credits = context.get(interface.network.credit)
        for channel in range(channels):
            room[channel] += credits >> channel & 1
        if context.get(interface.host.valid):
            channel, flit = context.get(interface.host.vc), context.get(interface.host.flit)
            seen.append((cycle, channel, flit.tail, flit.data))
            owed.append(channel)
        given = {channel for channel in owed if cycle >= (hold and hold[channel])}
        for channel in given:
            owed.remove(channel)
        context.set(interface.host.credit, sum(1 << channel for channel in given))
        sends = bool(queue) and room[queue[0][0]] > 0
        context.set(interface.network.valid, sends)
        if sends:
            channel, (head, tail, data) = queue.pop(0)
            room[channel] -= 1
            context.set(interface.network.vc, channel)
            context.set(interface.network.flit, {"head": head, "tail": tail, "data": data})

    bench.simulate(interface, cycles, step)
    return seen


def test_consumption_takes_two_cycles_and_drops_what_is_left_of_headers():
    seen = consume([(1, flit) for flit in bench.worm([7, 8], 6)])
    assert seen == [(4 + k, 1, k == 5, 100 + k) for k in range(6)]


def test_channels_share_the_host_link_flit_by_flit():
    pairs = zip(bench.worm([7], 10), bench.worm([7], 10), strict=True)
    seen = consume([(channel, flit) for pair in pairs for channel, flit in enumerate(pair)])
    assert len(seen) == 20
    assert [channel for _, channel, *_ in seen] == [0, 1] * 10


def test_channel_that_the_host_holds_back_does_not_hold_back_the_other():
    seen = consume([(0, flit) for flit in bench.worm([7], 8)[:8]] + [(1, flit) for flit in bench.worm([7], 8)],
                   depth=8, hold=[100, 0])
    assert [data for cycle, channel, _, data in seen if channel == 1 and cycle < 60] == [100 + k for k in range(8)]
    assert len([1 for cycle, channel, *_ in seen if channel == 0 and cycle < 100]) == HOST_DEPTH


def test_channels_that_are_all_full_take_turns():
    """All three channels have flits waiting when the host begins to take: nobody is served twice in a row."""
    worms = [[(channel, flit) for flit in bench.worm([], 8)] for channel in range(3)]
    seen = consume([entry for worm in worms for entry in worm], channels=3, depth=8, hold=[60, 60, 60], cycles=200)
    late = [channel for cycle, channel, *_ in seen if cycle > 62]
    assert len(late) > 9
    assert all(a != b for a, b in itertools.pairwise(late))
