"""Allocation: a request is granted whole or not at all, an output once per cycle, and no requester starves."""

import random

import pytest

from wormcast.hw.allocator import Allocator

from . import bench

REACH = [{1, 2, 3, 4}, {0, 2, 3, 4}, {0, 1, 3, 4}, {0, 1, 2, 4}, {0, 1, 2, 3}]
NAMED = dict(zip("abcde", REACH, strict=True))


def allocate(allocator, cycles, choose):
    """Present ``choose(cycle) -> [(vc, outputs)]``; return each cycle's (presented, won, granted)."""
    rounds = []

    def step(cycle, context):
        presented = choose(cycle)
        for request, (vc, outputs) in zip(allocator.request, presented, strict=True):
            context.set(request.turn, vc)
            context.set(request.outputs, sum(1 << o for o in outputs))
            context.set(request.complete, bool(outputs))
        rounds.append((
            presented,
            [bool(context.get(request.granted)) for request in allocator.request],
            [context.get(request.grant) for request in allocator.request],
        ))

    bench.simulate(allocator, cycles, step)
    return rounds


@pytest.mark.parametrize("vcs", [1, 2, 3])
def test_an_output_has_one_winner_and_a_worm_wins_all_or_none(vcs):
    rng = random.Random(vcs)
    allocator = Allocator(reach=NAMED, turns=[vcs] * 5, outputs=5)

    def choose(cycle):
        return [(rng.randrange(vcs), rng.sample(sorted(reach), rng.choice([0, 1, 1, 2]))) for reach in REACH]

    for presented, won, granted in allocate(allocator, 400, choose):
        for o in range(5):
            asked = [r for r, (_, outputs) in enumerate(presented) if o in outputs]
            first = [r for r in asked if granted[r] >> o & 1]
            assert len(first) == (1 if asked else 0)
        for r, (_, outputs) in enumerate(presented):
            assert won[r] == (bool(outputs) and all(granted[r] >> o & 1 for o in outputs))
        # the first of all in the common order wins whatever it asks for
        assert any(won[r] for r, (_, outputs) in enumerate(presented) if outputs) or not any(
            outputs for _, outputs in presented)


@pytest.mark.parametrize("vcs", [1, 2])
def test_who_keeps_asking_wins_before_any_other_channel_wins_twice_more(vcs):
    """A channel that requests whenever it can waits for at most one grant of each other channel."""
    rng = random.Random(5)
    allocator = Allocator(reach=NAMED, turns=[vcs] * 5, outputs=5)

    def choose(cycle):
        # requester 0, channel 0 wants two outputs at once, every time; the others press for the same ones
        return [(0, [3, 4])] + [(rng.randrange(vcs), rng.sample(sorted({3, 4} & reach), 1)) for reach in REACH[1:]]

    waited = longest = 0
    for _, won, _ in allocate(allocator, 400, choose):
        waited = 0 if won[0] else waited + 1
        longest = max(longest, waited)
    assert longest <= 4 * vcs


def test_a_request_that_is_not_complete_wins_nothing_and_keeps_its_place():
    allocator = Allocator(reach=NAMED, turns=[1] * 5, outputs=5)
    won = []

    def step(cycle, context):
        first, second = allocator.request[:2]
        context.set(first.outputs, 1 << 4)
        context.set(first.complete, cycle >= 5)
        context.set(second.outputs, 1 << 4)
        context.set(second.complete, 1)
        won.append((bool(context.get(first.granted)), bool(context.get(second.granted))))

    bench.simulate(allocator, 8, step)
    assert not any(first for first, _ in won[:5])
    assert won[5] == (True, False)
