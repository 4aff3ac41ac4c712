# amaranth: UnusedElaboratable=no
"""A ring with one token: its cycles, its grants, and that there is exactly one."""

import random

import pytest

from wormcast.algorithms import topology
from wormcast.algorithms.token_groups import token_groups
from wormcast.hw.token_station import TokenStation

from . import bench
from .rings import Ring


def drive(ring, cycles, asks, hold):
    """Run a ring of `Ring`; (cycle, requester) of the grants, and in which cycle the token left each station.

    ``asks(cycle, waits)`` gives requesters that begin to ask in a cycle, beside those who wait, and ask until they are
    granted. Who is granted holds the token for ``hold()`` cycles. In every cycle it is held by one, or is on one of the
    lines.
    """
    waits, grants, left, until = set(), [], [], {}

    def step(cycle, context):
        held, lines = context.get(ring.holder), context.get(ring.lines)
        tokens = held.bit_count() + lines.bit_count() + (cycle == 0)
        assert tokens == 1, f"{tokens} tokens in cycle {cycle}"
        for place, station in enumerate(ring.stations):
            mine = held >> place * station.requesters & (1 << station.requesters) - 1
            assert context.get(ring.in_use) >> place & 1 == (mine != 0)
            if lines >> place & 1:
                left.append((cycle, place))
        waits.update(asks(cycle, waits))
        context.set(ring.requests, sum(1 << one for one in waits))
        ends = {one for one, end in until.items() if end == cycle}
        # of those that do not hold it, `ends` says nothing
        others = [one for one in range(len(ring.releases)) if one not in until] if cycle % 3 else []
        context.set(ring.releases, sum(1 << one for one in (*ends, *others)))
        for one in ends:
            del until[one]
        granted = context.get(ring.granted)
        for one in range(len(ring.requests)):
            if granted >> one & 1:
                assert one in waits
                waits.discard(one)
                grants.append((cycle, one))
                until[one] = cycle + hold()

    bench.simulate(ring, cycles, step)
    return grants, left


@pytest.mark.parametrize("stations", [1, 3, 8])
def test_an_idle_token_takes_a_cycle_a_station(stations):
    _, left = drive(Ring(stations, 2), 30, lambda *_: (), lambda: 1)
    assert left == [(cycle, (cycle - 1) % stations) for cycle in range(1, 30)]


def test_who_asks_as_it_comes_holds_it_in_the_next_cycle():
    """It is at station 2 of four in cycles 2, 6 and so on; held for five cycles it leaves in the next one."""
    grants, left = drive(Ring(4, 2), 30, lambda cycle, _: {6: [4]}.get(cycle, ()), lambda: 5)
    assert grants == [(6, 4)]
    assert (6, 1) in left  # it comes
    assert [cycle for cycle, place in left if place == 2] == [3, 12, 16, 20, 24, 28]


def test_it_goes_on_whoever_else_asks_there():
    """Both requesters of a station request twice, and one of the next station: the stations alternate."""
    asks = {0: [0, 1, 2], 8: [2]}
    grants, _ = drive(Ring(2, 2), 40, lambda cycle, _: asks.get(cycle, ()), lambda: 2)
    assert [one for _, one in grants] == [1, 2, 0, 2]


@pytest.mark.parametrize(("stations", "requesters"), [(1, 1), (1, 4), (3, 1), (4, 2), (3, 5)])
def test_all_that_always_ask_get_it_in_turn(stations, requesters):
    """Each as often, and between two grants of one come exactly all others: the bound is reached."""
    every = stations * requesters
    grants, _ = drive(Ring(stations, requesters), 9 * every + 20, lambda *_: range(every), lambda: 1)
    order = [one for _, one in grants]
    assert len(order) > 3 * every
    for at in range(every, len(order)):
        assert order[at] == order[at - every]
    assert set(order[:every]) == set(range(every))


@pytest.mark.parametrize(("stations", "requesters"), [(1, 3), (2, 2), (4, 2), (5, 4)])
def test_no_more_others_than_there_are_come_before_one(stations, requesters):
    """Any requests, held for any time: at most P*b*V - 1 other grants come before the grant of a request."""
    every, most = stations * requesters, 0
    for seed in range(3):
        rng, begun = random.Random(seed), []
        often, longest = rng.choice([0.02, 0.2, 0.9]), rng.choice([1, 4, 20])

        def asks(cycle, waits, rng=rng, often=often, begun=begun):
            new = [one for one in range(every) if one not in waits and rng.random() < often]
            begun += [(cycle, one) for one in new]
            return new

        grants, _ = drive(Ring(stations, requesters), 1500, asks, lambda rng=rng, longest=longest:
                          rng.randint(1, longest))
        for asked, one in begun:
            before = [who for cycle, who in grants if cycle >= asked]
            if one in before:
                most = max(most, before.index(one))
    assert every // 2 < most <= every - 1


@pytest.mark.parametrize("stations", [1, 4, 7])
def test_an_idle_walk_takes_half_a_round(stations):
    """On average over the cycles of the request: (P - 1) / 2 cycles."""
    waits = []
    for moment in range(stations):
        grants, _ = drive(Ring(stations, 1), 40, lambda cycle, _, moment=moment: [0] if cycle == 10 + moment else (),
                          lambda: 1)
        waits.append(grants[0][0] - 10 - moment)
    assert sorted(waits) == list(range(stations))
    assert sum(waits) / stations == (stations - 1) / 2


@pytest.mark.parametrize(("network", "mean"), [("min:b=2,stages=6", 28.5), ("min:b=2,stages=8", 123.5)])
def test_walks_through_all_stages(network, mean):
    """Of a worm that is copied in each stage, with one consumption channel a node."""
    net = topology(network)
    rings = token_groups(net, consumed=False).rings()
    assert sum((len(rings[stage, 0]) - 1) / 2 for stage in {stage for stage, _ in rings}) == mean


def test_a_station_of_one():
    station, seen = TokenStation(1), []

    def step(cycle, context):
        context.set(station.strap_first, 1)
        context.set(station.requests, cycle in (0, 1))
        context.set(station.releases, cycle == 4)
        seen.append((context.get(station.granted), context.get(station.holder), context.get(station.token_out.token)))

    bench.simulate(station, 7, step)
    assert seen == [(1, 0, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
