"""Hunts on the hardware: what is found, that nothing is where there is nothing, and that chance is the seed's alone."""

import pytest
from cases import slow

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.sim import Configuration, Message, hardware, run
from wormcast.sim.build.network import Network
from wormcast.sim.experiments.hunt import hunt
from wormcast.sim.experiments.hunt.batch_runs import BatchRunner, MessageLists, lanes_for
from wormcast.sim.experiments.hunt.cycle_candidates import draw_around_cycle, worms_of_a_cycle
from wormcast.sim.experiments.hunt.draw import LOADS, draw


def hunted(name, scheme, cycles=10**8, lengths=(1, 256), seed=0, workers=None, **options):
    network = topology(name)
    found = find_scheme(scheme, network, options.pop("relation", None))
    return hunt(network, found, configuration=hardware(network, found, options), cycles=cycles, lengths=lengths,
                seed=seed, workers=workers)


def sent(found):
    return [(one.at, one.source, one.destinations, one.length) for one in found.result.messages]


@pytest.mark.parametrize(("name", "scheme", "options"), [
    ("mesh:4x4", "column-path", {"consumption": 1}),
    slow("mesh:4x4", "dual-path", {"consumption": 1, "classes": ""}),
    slow("mesh:4x4", "multipath", {"consumption": 1, "classes": ""}),
    slow("mesh:2x2x3", "dual-path", {"consumption": 1}),
    slow("mesh:3x3x3", "column-path", {"consumption": 1}),
    slow("mesh:8x8", "column-path", {"consumption": 1}),
    slow("mesh:4x4", "e-mcast", {"consumption": 2}),
    slow("mesh:4x4", "column-path", {"consumption": 1, "buffer": 2, "readers": "independent", "vcs": 4}),
    slow("mesh:4x4", "column-path", {"consumption": 1, "t_hs": 50, "t_nr": 9, "delays": "fast"}),
])
def test_one_channel_deadlocks_as_in_figure_4(name, scheme, options):
    """Two worms that meet between two neighbours, each as long as it takes to hold what is behind it."""
    found = hunted(name, scheme, **options)
    messages, deadlock = found.result.messages, found.result.deadlock
    assert len(messages) == len(deadlock.cycle) == 2
    network = topology(name)
    a, b = messages[0].destinations
    assert messages[1].destinations == (b, a)
    assert b in network.neighbours[a]
    # L + 1 header flit > the buffers between the two: test_deadlock.py has the thresholds
    depth = options.get("buffer", 4) * (2 if options.get("readers") == "independent" else 1)
    assert [(one.at, one.length) for one in messages] == [(0, depth)] * 2


@pytest.mark.slow  # multicasts are, above
def test_unicasts_around_a_ring_are_found():
    found = hunted("ring:4", "individual", vcs=1, vc_classes="none")
    assert len(found.result.messages) == 4
    assert {held for hold in found.result.deadlock.cycle for held in hold.holds} == {
        "link:0>1:0", "link:1>2:0", "link:2>3:0", "link:3>0:0"}


@pytest.mark.slow  # the command is told so: test_hunt of cli
@pytest.mark.parametrize(("name", "scheme", "options"), [
    ("mesh:4x4", "column-path", {"consumption": 2}),
    slow("mesh:4x4", "e-mcast", {"consumption": 4}),
    slow("mesh:4x4", "u-mesh", {"consumption": 1}),
])
def test_none_is_found_where_there_is_none(name, scheme, options):
    found = hunted(name, scheme, cycles=2_000_000, **options)
    searched = found.searched
    assert found.result is None
    assert 2_000_000 <= searched.cycles < 6_000_000
    assert searched.unfinished == 0
    assert searched.networks % 64 == 0
    assert searched.messages > 2 * searched.networks
    assert LOADS[0] <= searched.loads[0] < 0.3 < 2 < searched.loads[1] <= LOADS[1]
    assert 1 <= searched.lengths[0] < 5 < 130 < searched.lengths[1] <= 256


@pytest.mark.slow  # side by side they deadlock as alone, as the next one shows
def test_the_seed_alone_says_what_is_found():
    one, two = (hunted("ring:4", "individual", vcs=1, vc_classes="none", seed=3, workers=workers) for workers in (1, 3))
    assert sent(one) == sent(two)
    assert (one.searched, one.tried, one.fewer) == (two.searched, two.tried, two.fewer)
    batches = [draw(topology("ring:4"), 4, (1, 256), None, *which)[0] for which in ((3, 0), (4, 0), (3, 1))]
    assert len({batch.source.tobytes() for batch in batches}) == 3


def test_lists_side_by_side_deadlock_as_alone():
    """The first of a batch's lists that deadlocks, whatever stands beside it."""
    network = topology("mesh:1x4")
    scheme = find_scheme("dual-path", network)
    configuration = Configuration(vcs=1, consumption=1)
    facing = [[Message(0, 0, (1, 2), length), Message(late, 3, (2, 1), length)]
              for length in (1, 3, 4, 9, 200) for late in (0, 1, 5, 40, 300)]
    outcomes = [run(network, scheme, one, configuration).outcome == "deadlock" for one in facing]
    assert 5 < sum(outcomes) < 20
    runner = BatchRunner(network, scheme, configuration, len(facing))
    for start in range(len(facing)):
        expected = next((k for k, stuck in enumerate(outcomes[start:]) if stuck), None)
        found = runner.run(MessageLists.of(facing[start:]))
        assert (found.lane, found.unfinished) == (expected, 0)
        if expected is not None:
            assert found.closed == 2
            assert sorted(place for place, _ in found.worms) == [0, 1]


def test_batches_are_drawn_within_their_bounds():
    network, spans = topology("mesh:4x4"), set()
    for number in range(60):
        batch, load = draw(network, 8, (5, 70), None, 1, number)
        assert [len(batch.messages(lane)) for lane in range(8)] == [len(batch.at) // 8] * 8
        assert 2 <= len(batch.at) // 8 <= 8 * 16
        assert 5 <= batch.length.min() <= batch.length.max() <= 70
        assert LOADS[0] <= load <= LOADS[1]
        for message in batch.messages(3):
            assert len({message.source, *message.destinations}) == len(message.destinations) + 1
        spans.add((len(batch.at), int(batch.length.max()), int(batch.at.max())))
    assert len(spans) > 50
    assert max(len(draw(network, 1, (5, 70), 3, 1, number)[0].at) for number in range(60)) == 3


def network_of(name, scheme, **options):
    mesh = topology(name)
    found = find_scheme(scheme, mesh)
    return Network(mesh, found, hardware(mesh, found, options))


@pytest.mark.parametrize(("name", "scheme", "options", "count"), [
    ("mesh:4x4", "column-path", {"consumption": 1}, 2),
    ("mesh:4x4", "column-path", {"consumption": 2}, 0),
    ("mesh:4x4", "column-path", {"consumption": 2, "classes": ""}, 2),
    ("mesh:1x4", "dual-path", {"absorb": "1"}, 2),
    ("ring:4", "individual", {"vcs": 1, "vc_classes": "none"}, 4),
    ("mesh:32x32", "column-path", {"consumption": 1}, 0),  # too large
])
def test_worms_of_a_cycle(name, scheme, options, count):
    assert len(worms_of_a_cycle(network_of(name, scheme, **options))) >= count
    assert bool(count) == bool(worms_of_a_cycle(network_of(name, scheme, **options)))


def test_staged_lists_hold_what_the_legs_hold():
    mesh, worms = topology("mesh:4x4"), ((0, (9, 13)), (8, (9, 1)), (8, (5, 1)), (6, (5, 9)))
    counts = set()
    for number in range(60):
        batch, load = draw_around_cycle(worms, mesh, 8, (5, 70), 9, 1, number)
        for lane in range(8):
            messages = batch.messages(lane)
            assert 2 <= len(messages) <= 9
            assert all(message.source not in message.destinations for message in messages)
            assert all(5 <= message.length <= 70 for message in messages)
            assert {stop for message in messages for stop in message.destinations} >= {9, 13, 1, 5}
            assert {message.source for message in messages} <= {0, 8, 6}
            counts.add(len(messages))
        flits = sum(message.length * len(message.destinations) for lane in range(8) for message in batch.messages(lane))
        assert flits / 8 / 16 / load == pytest.approx(round(flits / 8 / 16 / load))
        assert int(batch.at.max()) < flits / 8 / 16 / load <= 256
    assert counts == set(range(2, 10))
    joined = {(message.source, message.destinations) for number in range(60)
              for message in draw_around_cycle(worms, mesh, 1, (5, 70), 2, 1, number)[0].messages(0)}
    assert {(8, (9, 1, 5)), (6, (5, 9, 13))} <= joined


def test_lanes_are_as_many_as_flits_tell_worms_apart():
    mesh = topology("mesh:4x4")
    assert lanes_for(mesh, Configuration()) == 64
    assert lanes_for(topology("mesh:16x16"), Configuration()) == 16
    assert lanes_for(mesh, Configuration(flit_width=8)) == 4
    assert lanes_for(mesh, Configuration(flit_width=4)) == 1


@pytest.mark.parametrize(("options", "sentence"), [
    ({"cycles": 0}, "cycles: 0 is not valid. Allowed: 1 to"),
    ({"seed": -1}, "seed: -1 is not valid. Allowed: 0 to"),
    ({"lengths": (0, 4)}, "length: 0:4 is not valid. Allowed: A:B with 1 <= A <= B <= 65536"),
    ({"lengths": (5, 4)}, "length: 5:4 is not valid"),
    # three addresses of 3 bits fit into one header flit; the search did not reach its longest worm
    ({"absorb": "2"}, "a worm to 3 destinations with 256 payload flits takes 257 flits of a slot. Allowed: slot 257"),
    ({"absorb": "2", "packet": 128}, "a worm to 3 destinations with 128 payload flits takes 129 flits of a slot"),
])
def test_what_cannot_be_hunted_is_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        hunted("mesh:1x4", "dual-path", **options)
